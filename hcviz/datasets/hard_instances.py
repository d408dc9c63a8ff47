"""Problems from papers on which a method is provably bad."""

from __future__ import annotations

import numpy as np

from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.validation import check_integer


def densest_cut_trap(clique: int, weight: float | None = None, epsilon: float = 1e-3) -> Problem:
    """Return a problem in which one triplet makes recursive densest cut worse by a factor O(n).

    Parameters
    ----------
    clique : int
        Number of items in the clique; n = ``clique`` + 3.
    weight : float, optional
        Dissimilarity W of a and b. Default: ``clique ** 2``.
    epsilon : float
        Dissimilarity of b and c.

    Returns
    -------
    Problem
        Dissimilarities are 1 within the clique and 0 for all other pairs. The triplet is ab|c.

    Raises
    ------
    InvalidParameter
        If the clique has fewer than two items, or the weight or epsilon is out of range.

    Notes
    -----
    A tree that separates c first has the pair ab in a cluster of n - 1 items, with a value of about
    n W. The densest cut removes items of the clique one by one, and separates c last, with a value
    of O(clique^3 + W). The paper does not specify the weights in the clique.

    References
    ----------
    Chatziafratis, Niazadeh and Charikar (2018), figure 4.

    Examples
    --------
    >>> densest_cut_trap(3).labels
    ('a', 'b', 'c', 'clique 1', 'clique 2', 'clique 3')
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
