"""Compiled: divisions of similarities without noise.

In a hierarchical block matrix without noise, all pairs across the root have one similarity. It is
the lowest, and no other pairs have it. A spectral cut or k-means may prefer a larger division
further down if the root separates few items from many. Then it cuts a cluster in two.

With noise, the lowest similarity may also separate items: those that are equally dissimilar to all
others, such as empty rows under the cosine. This is no division. So nothing is separated unless the
whole matrix is free of noise: an ultrametric, in which each group is again divided by its own
lowest similarity. A sample of sparse similarities is often an ultrametric by chance, so
similarities of other items with the sample must agree (:func:`noise_free`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.buildkernels import find
from hcviz.core.jit import njit

#: Values closer than this share of the largest similarity are equal.
ROUNDING = 1e-12


@njit
def is_ultrametric(weights, tolerance):
    """Return True if the two lowest similarities of any three items are equal.

    ``weights``: float64 (m, m), symmetric; the diagonal is not used. Values closer than
    ``tolerance`` are equal. Items join a maximum spanning
    tree (Prim 1957). Let an item join by its similarity e with p. Then its similarity with each
    other u of the tree must be the lower of e and that of p with u. Rounding may add up along the
    tree: the result can be True if three items are off by ``tolerance`` times the tree's depth. If
    noise is larger than that, the first items show it. O(m^2) time, O(m) with noise.
    """
    m = weights.shape[0]
    order = np.arange(m).astype(np.int32)  # the items of the tree come first
    highest = np.full(m, -np.inf)
    over = np.zeros(m, np.int32)
    for size in range(1, m):
        last = order[size - 1]
        best = size
        for at in range(size, m):
            i = order[at]
            if weights[last, i] > highest[i]:
                highest[i], over[i] = weights[last, i], last
            if highest[i] > highest[order[best]]:
                best = at
        order[size], order[best] = order[best], order[size]
        i = order[size]
        p = over[i]
        for at in range(size):
            u = order[at]
            if u != p and abs(weights[i, u] - min(highest[i], weights[p, u])) > tolerance:
                return False
    return True


@njit
def rows_fit(weights, rows, tolerance):
    """Return True if other items' similarities ``rows``, float64 (R, m), fit an ultrametric.

    Let p be the item to which another item is most similar, by e. Then its similarity with each u
    must be the lower of e and that of p with u. O(R m).
    """
    m = weights.shape[0]
    for i in range(rows.shape[0]):
        p = 0
        for u in range(1, m):
            if rows[i, u] > rows[i, p]:
                p = u
        for u in range(m):
            if u != p and abs(rows[i, u] - min(rows[i, p], weights[p, u])) > tolerance:
                return False
    return True


@njit
def lowest_and_largest(weights):
    """Return the lowest similarity of two items and the largest absolute one; 0 and 0 for one
    item."""
    m = weights.shape[0]
    lowest, largest = np.inf, 0.0
    for i in range(m):
        for j in range(i):
            lowest = min(lowest, weights[i, j])
            largest = max(largest, abs(weights[i, j]))
    return (lowest, largest) if m > 1 else (0.0, 0.0)


@njit(shared=True)
def noise_free(weights, rows):
    """Return True if ``weights`` (m, m), and other items' similarities ``rows`` (R, m), have no
    noise.

    Rounding is allowed. O((m + R) m), usually far less with noise.
    """
    tolerance = ROUNDING * lowest_and_largest(weights)[1]
    return is_ultrametric(weights, tolerance) and rows_fit(weights, rows, tolerance)


@njit(shared=True)
def linked_groups(weights, rows, key, count):
    """Group the supernodes that similarities above the lowest link: ``(group, groups)``.

    ``group`` int32 (count,) numbers the groups by their first supernodes; ``groups`` is their
    number. ``weights`` float64 (m, m) is symmetric; its diagonal is not used. ``rows`` float64 (R,
    m): each other item links all items to which it is more similar than the lowest of ``weights``.
    ``key`` int32 (m,) numbers supernodes. O((m + R) m), O(m) if one item links all.
    """
    m = key.size
    least, most = lowest_and_largest(weights)
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
def lowest_similarity_groups(weights, key, count):
    """Group the supernodes that must stay together: ``(group, groups)``, as :func:`linked_groups`.

    Pairs inside a group are above the lowest of ``weights`` (float64 (m, m)), and pairs across
    groups are equal to it. Supernodes join the groups that they bridge. If there is only one group,
    or ``weights`` have noise, each supernode is a group. O(m^2), O(m) with noise after finding the
    lowest similarity.
    """
    none = np.empty((0, key.size))
    if key.size > 2 and noise_free(weights, none):
        group, groups = linked_groups(weights, none, key, count)
        if groups > 1:
            return group, groups
    return np.arange(count).astype(np.int32), count


__all__ = [
    "is_ultrametric",
    "linked_groups",
    "lowest_and_largest",
    "lowest_similarity_groups",
    "noise_free",
]
