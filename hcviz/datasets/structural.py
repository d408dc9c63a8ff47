"""Instances of Chatziafratis et al. (2018) that say something about a method."""

from __future__ import annotations

import numpy as np

from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.validation import check_integer


def densest_cut_trap(clique: int, weight: float | None = None, epsilon: float = 1e-3) -> Problem:
    """Figure 4: one triplet ab|c that makes recursive densest cut worse by a factor of order n.

    Dissimilarities over n = ``clique`` + 3 items: a clique of 1s, ``weight`` W between a and b
    (default ``clique``^2), ``epsilon`` between b and c, else 0; the triplet ab|c. Setting c apart
    first costs next to nothing and frees the edge a-b in a cluster of n - 1 items: about n W. But
    the densest cut of a clique takes its nodes one by one, and only when all but one are gone is c
    parted from a and b: O(clique^3 + W). (The paper leaves the clique's weights open; 1s will do.)
    """
    n = check_integer(clique, "clique", InvalidParameter, 2) + 3
    large = float(clique) ** 2 if weight is None else float(weight)
    if not (np.isfinite(large) and large > 0 and 0 < epsilon < 1):
        raise InvalidParameter("The weight must be positive, and epsilon between 0 and 1.")
    matrix = np.zeros((n, n))
    matrix[3:, 3:] = 1.0
    matrix[0, 1] = matrix[1, 0] = large
    matrix[1, 2] = matrix[2, 1] = epsilon
    np.fill_diagonal(matrix, 0.0)
    labels = ["a", "b", "c", *(f"clique {i + 1}" for i in range(clique))]
    return Problem(labels=labels, similarity=matrix, triplets=[[0, 1, 2]])
