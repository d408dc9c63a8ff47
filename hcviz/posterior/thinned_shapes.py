"""Variances of distances and depths, from the shapes of thinned trees.

The shapes of k trees over n items are ``(place, gap, depth)``: int32 (k, n), (k, n - 1), (k, n), as
in :mod:`hcviz.posterior.kernels`. They never change, so another thread may call these functions
while trees are added to a posterior.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.posterior import kernels

Float = NDArray[np.float64]
Int = NDArray[np.int32]

#: Limit of the entries of n x n matrices that one call adds up.
MATRIX_WORK = 2e8


def distance_variances(place: Int, gap: Int, depth: Int, subsets: Int, induced: bool) -> Float:
    """Return the variance of the distance of each pair in each subset: float64 (L, s, s).

    See :meth:`hcviz.posterior.Posterior.distance_variance`. ``subsets`` has L rows of s items.
    """
    many, s = subsets.shape
    total = np.zeros((many, s, s), np.int64)
    square = np.zeros((many, s, s), np.int64)
    kernels.count_distances(place, gap, depth, subsets, induced, total, square)
    number = len(place)
    # The population variance, exact in integers until the division.
    variance = (number * square - total * total) / float(number) ** 2
    return np.asarray(variance + variance.transpose(0, 2, 1))


def depth_moments(place: Int, gap: Int, depth: Int) -> tuple[Float, Float]:
    """Return mean and variance of the depth of the LCA of each two items: float64 (n, n) each.

    They are those of :meth:`Posterior.depth_moments`.
    """
    n = place.shape[1]
    many = min(len(place), max(int(MATRIX_WORK / n**2), 8))
    chosen = np.unique(np.linspace(0, len(place) - 1, many).round().astype(int))
    place, gap, depth = place[chosen], gap[chosen], depth[chosen]
    order = np.argsort(place, axis=1).astype(np.int32)
    mean, variance = np.empty((n, n)), np.empty((n, n))
    for begin in range(0, n, 64):  # about 10 ms each, without the GIL
        rows = slice(begin, min(begin + 64, n))
        kernels.depth_rows(place, order, gap, depth, begin, mean[rows], variance[rows])
    return mean, variance
