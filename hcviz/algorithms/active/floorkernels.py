"""Items that their lowest similarity parts: where there is no noise, the division is written there.

In a hierarchical block matrix without noise, items on either side of the root have one similarity,
the lowest of all, and no others have it. A spectral cut of such a matrix may all the same prefer a
larger division further down, and so may k-means, where the root parts a few from many: then a
cluster is cut in two.

With noise the lowest similarity may part items, too: those that are equally unlike all others, as
an empty row is under the cosine. That is no division, only items without a place, so nothing is
parted unless all of the matrix is without noise: an ultrametric, in which each group is parted by
its own lowest again.
"""

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
def apart(weights, key, count):
    """Supernodes that must stay together, numbered by their first: ``(group, groups)``, int32
    (count,) and how many.

    The groups are maximal sets of items such that pairs of one set are all above the lowest of
    ``weights`` (float64 (m, m), symmetric, the diagonal meaning nothing), and all other pairs are
    equal to it; ``key`` int32 (m,) numbers supernodes, which join the sets they bridge. Where they
    are all one, or ``weights`` are not :func:`ultrametric`, each supernode is a group. O(m^2), O(m)
    with noise but for finding the lowest.
    """
    m = key.size
    alone = np.arange(count).astype(np.int32)
    if m < 3:
        return alone, count
    least, most = np.inf, 0.0
    for i in range(m):
        for j in range(i):
            least = min(least, weights[i, j])
            most = max(most, abs(weights[i, j]))
    if not ultrametric(weights, ROUNDING * most):
        return alone, count
    limit = least + ROUNDING * most
    block = np.full(m, -1, np.int32)
    blocks = 0
    for i in range(m):
        if block[i] >= 0:
            continue
        block[i] = blocks
        for j in range(i + 1, m):
            if weights[i, j] > limit:
                block[j] = blocks
        blocks += 1
    if blocks < 2 or blocks == m:
        return alone, count
    # Supernodes join blocks; a block's representative is the first that it was joined with.
    joined = np.arange(blocks).astype(np.int32)
    first = np.full(count, -1, np.int32)
    for i in range(m):
        at = key[i]
        if first[at] < 0:
            first[at] = block[i]
            continue
        one, other = find(joined, first[at]), find(joined, block[i])
        joined[max(one, other)] = min(one, other)
    name = np.full(blocks, -1, np.int32)
    group = np.empty(count, np.int32)
    groups = 0
    for at in range(count):
        one = find(joined, first[at])
        if name[one] < 0:
            name[one] = groups
            groups += 1
        group[at] = name[one]
    if groups < 2:
        return alone, count
    return group, groups


__all__ = ["apart", "ultrametric"]
