"""Dasgupta's cost by node: how much each node of a tree contributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from hcviz.core.cost import dasgupta_cost, sparse_pairs
from hcviz.core.jit import njit
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets


def node_costs(
    tree: Tree, similarity: Any, triplets: Any = None, lam: float = 0.0
) -> NDArray[np.float64]:
    """Compute the contribution of each node to Dasgupta's cost.

    Parameters
    ----------
    tree : Tree
        The tree, with m nodes.
    similarity : float (n, n) or scipy.sparse
        As for :func:`dasgupta_cost`.
    triplets : Triplets or int (k, 3), optional
        Constraints ab|c with weights c_k.
    lam : float
        The price of violated triplets, as for :func:`regularised_cost`.

    Returns
    -------
    float64 (m,)
        Node v of size s contributes s times the similarity of the pairs whose LCA is v. Each
        violated ab|c with LCA(a, b) = v adds ``lam c_k s``. 0 for leaves. The sum is
        :func:`dasgupta_cost`, or :func:`regularised_cost`.

    Raises
    ------
    InvalidData
        As :func:`dasgupta_cost`.

    Notes
    -----
    O(n^2 + n depth) time, O(n) memory.

    Examples
    --------
    >>> node_costs(Tree.star(3), np.ones((3, 3))).tolist()
    [0.0, 0.0, 0.0, 9.0]
    """
    if issparse(similarity):
        cut = np.zeros(tree.n_nodes)
        rows, columns, weights = sparse_pairs(similarity, tree.n_leaves)
        np.add.at(cut, tree.lca(rows, columns), weights)
    else:
        dasgupta_cost(tree, similarity)  # raises InvalidData for a bad matrix
        matrix = np.ascontiguousarray(similarity, dtype=np.float64).view()
        matrix.flags.writeable = False
        within = clade_weights(tree.parent, tree.size, tree.leaf_start, tree.leaf_order, matrix)
        cut = within.copy()
        np.subtract.at(cut, tree.parent[:-1], within[:-1])
    known = Triplets.of(triplets, tree.n_leaves)
    broken = ~tree.satisfies(known)
    a, b = known.rows[broken, 0], known.rows[broken, 1]
    np.add.at(cut, tree.lca(a, b), lam * known.weights[broken])
    return np.asarray(tree.size * cut, np.float64)


@njit
def clade_weights(parent: Any, size: Any, start: Any, leaf_order: Any, matrix: Any) -> Any:
    """Return the sum of the weights of all pairs inside each clade, float64 (m,)."""
    n = leaf_order.size
    within = np.zeros(parent.size)
    before = np.empty(n + 1)
    for k in range(n):
        i = leaf_order[k]
        row = matrix[i]
        before[0] = 0.0
        for j in range(n):
            other = leaf_order[j]
            before[j + 1] = before[j] + (0.0 if other == i else row[other])
        v = parent[i]
        while v >= 0:
            within[v] += (before[start[v] + size[v]] - before[start[v]]) / 2.0
            v = parent[v]
    return within


def warm() -> None:
    """Compile the kernel, or load it from the cache."""
    node_costs(Tree.star(3), np.ones((3, 3)))
