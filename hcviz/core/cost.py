"""Dasgupta's cost of a tree (Dasgupta 2016), and its form with a price for violated triplets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse

from hcviz.core import treekernels as kernels
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets


def dasgupta_cost(tree: Tree, similarity: Any) -> float:
    """Compute Dasgupta's cost: the sum over pairs of ``w_ij |T[i,j]|``.

    ``|T[i,j]|`` is the number of leaves below the LCA of i and j. A low cost is good for a
    similarity, and a high cost for a dissimilarity.

    Parameters
    ----------
    tree : Tree
        The tree; polytomies are allowed.
    similarity : float (n, n) or scipy.sparse
        The weights. The diagonal is ignored; w_ij is the mean of both triangles.

    Returns
    -------
    float
        The cost.

    Raises
    ------
    InvalidData
        The matrix has another size, or cells that are not finite.

    Notes
    -----
    O(n^2) time and O(n) memory; O(nnz) for a sparse matrix.

    References
    ----------
    Dasgupta (2016), "A cost function for similarity-based hierarchical clustering".

    Examples
    --------
    >>> import numpy as np
    >>> import hcviz
    >>> dasgupta_cost(hcviz.Tree.star(3), np.ones((3, 3)))
    9.0
    """
    n = tree.n_leaves
    if issparse(similarity):
        rows, columns, weights = sparse_pairs(similarity, n)
        return float(weights @ tree.size[tree.lca(rows, columns)]) if len(rows) else 0.0
    matrix = np.asarray(similarity)
    if matrix.shape != (n, n):
        raise InvalidData(
            f"The similarity has shape {matrix.shape}, and the tree {n} leaves: {(n, n)} is needed."
        )
    if matrix.dtype not in (np.float32, np.float64) or not matrix.flags.c_contiguous:
        matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    matrix = matrix.view()
    matrix.flags.writeable = False  # so numba compiles only one variant
    cost = float(kernels.dasgupta(tree.parent, tree.size, tree.leaf_start, tree.leaf_order, matrix))
    if not np.isfinite(cost):
        if not np.all(np.isfinite(np.diagonal(matrix))):  # the kernel multiplies the diagonal by 0
            matrix = matrix.copy()
            np.fill_diagonal(matrix, 0.0)
            return dasgupta_cost(tree, matrix)
        wrong = np.argwhere(~np.isfinite(matrix))
        where = f"row {wrong[0][0]}, column {wrong[0][1]}" if len(wrong) else "the sum overflows"
        raise InvalidData(f"The similarity is not finite: {where}.")
    return cost


def sparse_pairs(
    similarity: Any, n: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return rows, columns and *half* weights off the diagonal; each pair occurs twice."""
    if similarity.shape != (n, n):
        raise InvalidData(
            f"The similarity has shape {similarity.shape}, and the tree {n} leaves: "
            f"{(n, n)} is needed."
        )
    found = coo_array(similarity)
    apart = found.coords[0] != found.coords[1]
    rows, columns = (axis[apart].astype(np.int32) for axis in found.coords)
    weights = np.asarray(found.data[apart], np.float64) / 2.0
    wrong = np.flatnonzero(~np.isfinite(weights))
    if wrong.size:
        where = f"row {rows[wrong[0]]}, column {columns[wrong[0]]}"
        raise InvalidData(f"The similarity is not finite: {where}.")
    return rows, columns, weights


def regularised_cost(tree: Tree, similarity: Any, triplets: Any, lam: float) -> float:
    """Compute Dasgupta's cost plus a price for each violated triplet.

    Parameters
    ----------
    tree : Tree
        The tree.
    similarity : float (n, n) or scipy.sparse
        As in :func:`dasgupta_cost`.
    triplets : Triplets or int (m, 3)
        Rows ab|c with weights c_k.
    lam : float
        The price, 0 or more. A violated triplet adds ``lam c_k |T[a_k,b_k]|``.

    Returns
    -------
    float
        The regularised cost.

    References
    ----------
    Chatziafratis et al. (2018), equation 4.

    Examples
    --------
    >>> import numpy as np
    >>> import hcviz
    >>> regularised_cost(hcviz.Tree.star(3), np.ones((3, 3)), [[0, 1, 2]], 2.0)
    15.0
    """
    return dasgupta_cost(tree, similarity) + penalty(tree, triplets, lam)


def penalty(tree: Tree, triplets: Any, lam: float) -> float:
    """Compute what the violated triplets add to the regularised cost. O(1) for each triplet."""
    if not lam >= 0:
        raise InvalidParameter(f"lam must be 0 or more, not {lam}.")
    known = Triplets.of(triplets, tree.n_leaves)
    broken = ~tree.satisfies(known)
    a, b = known.rows[broken, 0], known.rows[broken, 1]
    return lam * float(known.weights[broken] @ tree.size[tree.lca(a, b)]) if len(a) else 0.0
