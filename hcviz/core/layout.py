"""The layout of a dendrogram: a leaf order, a row for each node, and branches as one path.

Rows grow downward. The leaf at position p of the order occupies [p, p + 1), so its centre is
p + 0.5. The page (:mod:`hcviz.ui.tree.geometry`) and exported pictures (:mod:`hcviz.io.picture`)
use this module. Each function is a pass over parent arrays, without recursion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import treekernels
from hcviz.core.errors import InvalidData
from hcviz.core.jit import njit
from hcviz.core.layoutkernels import (
    depth_first,
    elbow_path,
    ordered_leaves,
    outer_children,
    stem_path,
)
from hcviz.core.tree import Tree

Int = NDArray[np.int32]
Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]


def leaf_order(tree: Tree, near: ArrayLike | None = None) -> Int:
    """Return the leaves from top to bottom, int32 (n,): a depth-first order of ``tree``.

    ``near`` float (n,) has a preferred position for each item, such as its former position or a
    seriation; None: its number. The children of each node are sorted by the mean preferred
    position of their leaves, ties by node index. So a small change of the tree moves few leaves.
    O(m log k) for nodes with k children.
    """
    if near is None:
        preferred = np.arange(tree.n_leaves, dtype=np.float64)
    else:
        preferred = np.array(near, dtype=np.float64)
        if preferred.shape != (tree.n_leaves,) or not np.all(np.isfinite(preferred)):
            raise InvalidData(
                f"A leaf order needs one finite position for each of the {tree.n_leaves} items."
            )
    offsets, items = treekernels.children_csr(tree.parent)
    order: Int = ordered_leaves(tree.parent, tree.size, offsets, items, preferred)
    return order


def places(order: ArrayLike) -> NDArray[np.int64]:
    """Return the position of each item in a leaf order, int64 (n,)."""
    order = np.asarray(order)
    found = np.empty(order.size, np.int64)
    found[order] = np.arange(order.size)
    return found


def elbows(tree: Tree, order: ArrayLike) -> tuple[Float32, Float32]:
    """Return all branches of a tree as one path ``(height, row)`` with NaN separators, float32."""
    leaf_y = np.empty(tree.n_leaves, np.float64)
    leaf_y[np.asarray(order)] = np.arange(tree.n_leaves) + 0.5
    low, high, y = outer_children(tree.parent, leaf_y)
    open_ = np.arange(tree.n_nodes) >= tree.n_leaves
    every = np.ones(tree.n_nodes, np.bool_)
    x, rows = elbow_path(
        tree.parent, tree.height, y, low, high, open_, ~every, every, float(tree.height[-1]), True
    )
    return x, rows


def with_even_heights(tree: Tree) -> Tree:
    """Replace the height of each node by its largest number of edges to a leaf below. O(m).

    This makes trees readable whose heights are nearly equal.
    """
    return Tree(tree.parent, _levels(tree.parent), tree.n_leaves)


def with_balanced_heights(tree: Tree) -> Tree:
    """Replace the height of each node by its place on the longest path through it. O(m).

    The height is the edges to the deepest leaf below, as a share of these and of the edges to the
    root: 1 at the root, 0 at the leaves. So branches near the root get as much room as those near
    the leaves, also if one path is much longer than the others.
    """
    below, parent = _levels(tree.parent), tree.parent
    above = np.zeros(tree.n_nodes)
    for v in range(tree.n_nodes - 2, -1, -1):
        above[v] = above[parent[v]] + 1.0
    return Tree(parent, below / np.maximum(below + above, 1.0), tree.n_leaves)


@njit
def _levels(parent: Int) -> Any:
    level = np.zeros(parent.size)
    for v in range(parent.size - 1):
        level[parent[v]] = max(level[parent[v]], level[v] + 1.0)
    return level


def without_nodes(tree: Tree, gone: ArrayLike) -> tuple[Tree, Int]:
    """Remove some inner nodes; their children become children of the node above.

    Parameters
    ----------
    tree : Tree
        The tree.
    gone : array_like of bool, shape (n_internal,)
        Inner nodes to remove. The root is kept.

    Returns
    -------
    tree : Tree
        Heights are unchanged.
    kept : ndarray of int32
        For each node of the result, its index in the given tree.

    Raises
    ------
    InvalidData
        ``gone`` has the wrong length.

    Notes
    -----
    O(m).

    Examples
    --------
    >>> tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
    >>> without_nodes(tree, [True, False])[0] == Tree([3, 3, 3, -1], [0, 0, 0, 2], 3)
    True
    """
    removed = np.zeros(tree.n_nodes, np.bool_)
    marked = np.asarray(gone, dtype=np.bool_)
    if marked.shape != (tree.n_internal,):
        raise InvalidData(f"{marked.size} marks were given for {tree.n_internal} inner nodes.")
    removed[tree.n_leaves : -1] = marked[:-1]
    kept = np.flatnonzero(~removed).astype(np.int32)
    rank = np.cumsum(~removed) - 1
    above = _nearest_kept_ancestor(tree.parent, removed)[kept]
    parent = np.where(above < 0, -1, rank[above])
    return Tree(parent, tree.height[kept], tree.n_leaves), kept


@njit
def _nearest_kept_ancestor(parent: Int, removed: Bool) -> Any:
    """Return the nearest ancestor of each node that is not ``removed``, -1 for the root."""
    above = parent.copy()
    for v in range(parent.size - 2, -1, -1):
        if removed[parent[v]]:
            above[v] = above[parent[v]]
    return above


def cut_clusters(tree: Tree, height: float) -> Int:
    """Return for each node the top of its maximal clade at or below ``height``: int32 (m,).

    -1 for nodes above the cut.
    """
    top: Int = _cut(tree.parent, tree.height, float(height))
    return top


@njit
def _cut(parent: Int, height: Float, level: float) -> Any:
    m = parent.size
    top = np.full(m, -1, np.int32)
    for v in range(m - 1, -1, -1):
        p = parent[v]
        if p >= 0 and top[p] >= 0:
            top[v] = top[p]
        elif height[v] <= level:
            top[v] = v
    return top


__all__ = [
    "cut_clusters",
    "depth_first",
    "elbow_path",
    "elbows",
    "leaf_order",
    "outer_children",
    "places",
    "stem_path",
    "with_balanced_heights",
    "with_even_heights",
    "without_nodes",
]
