"""Items that their lowest similarity parts: where there is no noise, the division is written there.

In a hierarchical block matrix without noise, items on either side of the root have one similarity,
the lowest of all, and no others have it. A spectral cut of such a matrix may all the same prefer a
larger division further down, and so may k-means, where the root parts a few from many: then a
cluster is cut in two.

With noise the lowest similarity may part items, too: those that are equally unlike all others, as
an empty row is under the cosine. That is no division, only items without a place, so nothing is
parted unless all of the matrix is without noise: an ultrametric, in which each group is parted by
its own lowest again. A sample of sparse similarities is soon one by chance, a few pairs and nothing
else, so others' similarities with it must agree (:func:`noise_free`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.buildkernels import find
from hcviz.core.jit import njit

#: Closer than this share of the largest similarity is equal.
ROUNDING = 1e-12


@njit
def ultrametric(weights, close):
    """Whether of the similarities of any three items the two lowest are equal, to within ``close``.

    ``weights``: float64 (m, m), symmetric, the diagonal meaning nothing. Items join a maximum
    spanning tree (Prim 1957); one that joins by its similarity e with p is as similar to each other
    u of the tree as the lower of e and that of p with u. Rounding may add up along the tree: where
    the answer is yes, three items may be off by ``close`` times its depth; where any three are off
    by more than ``close`` because of noise, the first to join tell. O(m^2), O(m) with noise.
    """
    m = weights.shape[0]
    order = np.arange(m).astype(np.int32)  # those of the tree first
    most = np.full(m, -np.inf)
    over = np.zeros(m, np.int32)
    for size in range(1, m):
        last = order[size - 1]
        best = size
        for at in range(size, m):
            i = order[at]
            if weights[last, i] > most[i]:
                most[i], over[i] = weights[last, i], last
            if most[i] > most[order[best]]:
                best = at
        order[size], order[best] = order[best], order[size]
        i = order[size]
        p = over[i]
        for at in range(size):
            u = order[at]
            if u != p and abs(weights[i, u] - min(most[i], weights[p, u])) > close:
                return False
    return True


@njit
def fit(weights, rows, close):
    """Whether others' similarities with the items, ``rows`` float64 (R, m), are those of an
    :func:`ultrametric` ``weights``: to whom an item is as similar as e at most, p, is as similar to
    each other u as the lower of e and that of p with u. O(R m)."""
    m = weights.shape[0]
    for i in range(rows.shape[0]):
        p = 0
        for u in range(1, m):
            if rows[i, u] > rows[i, p]:
                p = u
        for u in range(m):
            if u != p and abs(rows[i, u] - min(rows[i, p], weights[p, u])) > close:
                return False
    return True


@njit
def bounds(weights):
    """The lowest similarity of two items, and the largest absolute one; 0 and 0 of one item."""
    m = weights.shape[0]
    least, most = np.inf, 0.0
    for i in range(m):
        for j in range(i):
            least = min(least, weights[i, j])
            most = max(most, abs(weights[i, j]))
    return (least, most) if m > 1 else (0.0, 0.0)


@njit
def noise_free(weights, rows):
    """Whether similarities, float64 (m, m), and those of others with them, float64 (R, m), are
    without noise, but for rounding. O((m + R) m), mostly much less with noise."""
    close = ROUNDING * bounds(weights)[1]
    return ultrametric(weights, close) and fit(weights, rows, close)


@njit
def linked(weights, rows, key, count):
    """Supernodes that similarities above the lowest link, numbered by their first: ``(group,
    groups)``, int32 (count,) and how many.

    ``weights`` float64 (m, m), symmetric, the diagonal meaning nothing; ``rows`` float64 (R, m):
    others' similarities, who link all to whom they are more similar than the lowest of ``weights``;
    ``key`` int32 (m,) numbers supernodes. O((m + R) m), O(m) where one item links all.
    """
    m = key.size
    least, most = bounds(weights)
    limit = least + ROUNDING * most
    link = np.arange(count).astype(np.int32)
    groups = count
    for i in range(m + rows.shape[0]):
        if groups == 1:
            break
        row = weights[i] if i < m else rows[i - m]
        one = find(link, key[i]) if i < m else -1
        for j in range(m):
            if j != i and row[j] > limit:
                other = find(link, key[j])
                if one >= 0 and one != other:
                    link[max(one, other)] = min(one, other)
                    groups -= 1
                one = other if one < 0 else min(one, other)
    name = np.full(count, -1, np.int32)
    group = np.empty(count, np.int32)
    used = 0
    for at in range(count):
        one = find(link, at)
        if name[one] < 0:
            name[one] = used
            used += 1
        group[at] = name[one]
    return group, groups


@njit
def apart(weights, key, count):
    """Supernodes that must stay together, numbered by their first: ``(group, groups)``, int32
    (count,) and how many.

    The groups are maximal sets of items such that pairs of one set are all above the lowest of
    ``weights`` (float64 (m, m), symmetric, the diagonal meaning nothing), and all other pairs are
    equal to it; ``key`` int32 (m,) numbers supernodes, which join the sets they bridge. Where they
    are all one, or ``weights`` are not :func:`ultrametric`, each supernode is a group. O(m^2), O(m)
    with noise but for finding the lowest.
    """
    nobody = np.empty((0, key.size))
    if key.size > 2 and noise_free(weights, nobody):
        group, groups = linked(weights, nobody, key, count)
        if groups > 1:
            return group, groups
    return np.arange(count).astype(np.int32), count


__all__ = ["apart", "bounds", "linked", "noise_free", "ultrametric"]
