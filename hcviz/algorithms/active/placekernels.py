"""Compiled parts of the recursion: averages by cluster, doubtful items, numbering of nodes."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.core.splitmixkernels import child_seed, mix64, uniform

#: Averages that differ by less than this share are equal except for rounding.
TIED = 1e-9


@njit
def tally(block, at, clusters, itself, sums, squares, counts):
    """Add similarities to the tallies ``sums``, ``squares`` and ``counts``, each (m, k).

    Row i of ``block`` is the item at place ``at[i]``. Column j is a member of cluster
    ``clusters[j]``. ``itself[i]`` is the column of the item itself, or -1.
    """
    for i in range(at.size):
        x = at[i]
        for j in range(clusters.size):
            if j != itself[i]:
                c = clusters[j]
                value = block[i, j]
                sums[x, c] += value
                squares[x, c] += value * value
                counts[x, c] += 1


@njit
def nearest(sums, counts, at, labels, seed):
    """Give each item of ``at`` the cluster of the highest average similarity.

    Ties, to a billionth, are broken by ``seed`` and the item's place, in proportion to ``counts``.
    If all tied items joined one cluster, a set of equal items would lose only the other cluster's
    sample at each division. In the end all its similarities would be queried.
    """
    stream = mix64(np.uint64(seed))  # distinct from the children's seeds
    for x in at:
        best = -np.inf
        for c in range(sums.shape[1]):
            if counts[x, c] > 0:
                best = max(best, sums[x, c] / counts[x, c])
        low = best - TIED * abs(best)
        equal, seen = 0, 0.0
        for c in range(sums.shape[1]):
            if counts[x, c] > 0 and sums[x, c] / counts[x, c] >= low:
                labels[x] = c
                equal += 1
                seen += counts[x, c]
        if equal < 2:
            continue
        left = uniform(child_seed(stream, x)) * seen
        for c in range(sums.shape[1]):
            if counts[x, c] > 0 and sums[x, c] / counts[x, c] >= low:
                labels[x] = c
                left -= counts[x, c]
                if left <= 0:
                    break


@njit
def doubts(sums, squares, counts, labels):
    """Return each item's margin of its own cluster in standard errors: float64 (m,).

    The margin is the average similarity with its own cluster minus that with the best other
    cluster. The standard error pools the variance within the two clusters, so it includes the
    spread of the hierarchy below. The margin is infinite if the item was compared with no other
    cluster, or if all its similarities with both are one value.
    """
    m, k = sums.shape
    out = np.empty(m)
    for x in range(m):
        c = labels[x]
        out[x] = np.inf
        if c >= k or counts[x, c] == 0:
            continue
        here = sums[x, c] / counts[x, c]
        for d in range(k):
            if d == c or counts[x, d] == 0:
                continue
            there = sums[x, d] / counts[x, d]
            spread = squares[x, c] - counts[x, c] * here * here
            spread += squares[x, d] - counts[x, d] * there * there
            spread = max(spread, 0.0) / max(counts[x, c] + counts[x, d] - 2, 1)
            error = np.sqrt(spread * (1.0 / counts[x, c] + 1.0 / counts[x, d]))
            margin = here - there
            floor = TIED * (abs(here) + abs(there)) + 1e-300
            if max(error, abs(margin)) > floor:
                out[x] = min(out[x], margin / max(error, floor))
    return out


@njit
def sizes_and_least(up, made, n):
    """Return the number of leaves below each node, and the least of them: both int32 (made,).

    ``up`` holds parents; every inner node except the first, n, has a parent made before it.
    """
    size = np.zeros(made, np.int32)
    least = np.full(made, n, np.int32)
    for x in range(n):
        size[x], least[x] = 1, x
        p = up[x]
        if p >= 0:
            size[p] += 1
            least[p] = min(least[p], x)
    for v in range(made - 1, n, -1):
        p = up[v]
        size[p] += size[v]
        least[p] = min(least[p], least[v])
    return size, least
