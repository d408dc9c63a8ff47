"""Dasgupta's cost: what several methods minimise, and :mod:`hcviz.metrics` offers."""

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
    """The sum over unordered pairs of w_ij |T[i,j]|, |T[i,j]| being the leaves of their smallest
    clade. Low is good for a similarity, high for a dissimilarity.

    ``similarity`` is float (n, n); the diagonal is ignored, and w_ij is the mean of both triangles.
    Polytomies are allowed. One pass over the matrix, O(n^2) time and O(n) memory; of a scipy.sparse
    one O(nnz). Raises :class:`InvalidData` for a matrix of another size or with cells that are not
    finite.
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
    matrix.flags.writeable = False  # numba compiles one variant, whatever comes in
    cost = float(kernels.dasgupta(tree.parent, tree.size, tree.leaf_start, tree.leaf_order, matrix))
    if not np.isfinite(cost):
        if not np.all(np.isfinite(np.diagonal(matrix))):  # the kernel multiplies it by 0
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
    """Rows, columns and *half* weights of a sparse matrix, off the diagonal: pairs stand twice."""
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
    """Dasgupta's cost plus ``lam`` times the sum of c_k |T[a_k,b_k]| over the violated triplets.

    c_k are the triplets' weights (Chatziafratis et al. 2018, equation 4, the regularised objective
    for conflicting constraints). ``lam`` is 0 or more.
    """
    return dasgupta_cost(tree, similarity) + penalty(tree, triplets, lam)


def penalty(tree: Tree, triplets: Any, lam: float) -> float:
    """What the violated triplets add to the regularised cost. O(1) each."""
    if not lam >= 0:
        raise InvalidParameter(f"lam must be 0 or more, not {lam}.")
    known = Triplets.of(triplets, tree.n_leaves)
    broken = ~tree.satisfies(known)
    a, b = known.rows[broken, 0], known.rows[broken, 1]
    return lam * float(known.weights[broken] @ tree.size[tree.lca(a, b)]) if len(a) else 0.0
