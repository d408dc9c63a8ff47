"""Dasgupta's cost: what several methods minimise, and :mod:`hcviz.metrics` offers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hcviz.core import treekernels as kernels
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets


def dasgupta_cost(tree: Tree, similarity: ArrayLike) -> float:
    """The sum over unordered pairs of w_ij |T[i,j]|, |T[i,j]| being the leaves of their smallest
    clade. Low is good for a similarity, high for a dissimilarity.

    ``similarity`` is float (n, n); the diagonal is ignored, and w_ij is the mean of both triangles.
    Polytomies are allowed. One pass over the matrix, O(n^2) time and O(n) memory. Raises
    :class:`InvalidData` for a matrix of another size or with cells that are not finite.
    """
    matrix = np.asarray(similarity)
    n = tree.n_leaves
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


def regularised_cost(tree: Tree, similarity: ArrayLike, triplets: Any, lam: float) -> float:
    """Dasgupta's cost plus ``lam`` times the sum of c_k |T[a_k,b_k]| over the violated triplets.

    c_k are the triplets' weights (paper 001, equation 4, the regularised objective for conflicting
    constraints). ``lam`` is 0 or more.
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
