"""A sample seen through others: how alike two of its items look to all that are compared with both.

In a noisy hierarchical block matrix the s x s similarities of a sample show its division while the
noise is below the order of sqrt(s) times the step between two levels. Its similarities with R
others have the same division in their right singular vectors, and show it up to the order of
(R s)^(1/4) times that step (the threshold of spiked rectangular matrices: Benaych-Georges and
Nadakuditi 2012). These R s are asked for in any case, to place the others.
"""

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit

#: Less than this share of the largest deviation is rounding.
ROUNDING = 1e-12


@njit
def alike(core, seen):
    """Products of the sampled items' columns, double-centred: float64 (s, s).

    ``core`` float64 (s, s): the sample's own similarities, the diagonal meaning nothing; ``seen``
    float64 (R, s): those of R others with it. With C the s + R rows of both, centred by row and by
    column (in a row of ``core`` the item itself counts as the mean), this is C' C, whose top
    eigenvectors are C's right singular vectors. O((R + s) s^2) time, O((R + s) s) memory.
    """
    s = core.shape[0]
    rows = s + seen.shape[0]
    centred = np.empty((rows, s))
    largest = 0.0
    for r in range(rows):
        row = centred[r]
        mean = 0.0
        for j in range(s):
            row[j] = core[r, j] if r < s else seen[r - s, j]
            if j != r:
                mean += row[j]
        mean /= s - 1 if r < s else s
        if r < s:
            row[r] = mean
        for j in range(s):
            largest = max(largest, abs(row[j]))
            row[j] -= mean
    means = np.zeros(s)
    for r in range(rows):
        means += centred[r]
    means /= rows
    out = np.zeros((s, s))
    for r in range(rows):
        row = centred[r]
        for j in range(s):
            row[j] -= means[j]
            if abs(row[j]) <= ROUNDING * largest:
                row[j] = 0.0
        for i in range(s):
            line, x = out[i], row[i]
            if x != 0.0:
                for j in range(s):
                    line[j] += x * row[j]
    return out


@njit
def contrast(core, labels):
    """How much more alike items of one cluster are than items of two, on average: ``core`` float64
    (s, s), the diagonal left out; ``labels`` int32 (s,). 0 where there are not both."""
    inside, across = 0.0, 0.0
    held, apart = 0, 0
    for i in range(labels.size):
        for j in range(i):
            if labels[i] == labels[j]:
                inside += core[i, j]
                held += 1
            else:
                across += core[i, j]
                apart += 1
    if held == 0 or apart == 0:
        return 0.0
    return inside / held - across / apart
