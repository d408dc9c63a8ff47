"""A sample seen through others: how alike two of its items look to all that are compared with both.

In a noisy hierarchical block matrix the s x s similarities of a sample show its division while the
noise is below the order of sqrt(s) times the step between two levels. Its similarities with R
others have the same division in their right singular vectors, and show it up to the order of
(R s)^(1/4) times that step (the threshold of spiked rectangular matrices: Benaych-Georges and
Nadakuditi 2012). These R s are asked for in any case, to place the others.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from hcviz.core.jit import njit

Float = NDArray[np.float64]

#: Less than this share of the largest similarity is rounding.
ROUNDING = 1e-12
#: Products between two places to stop: some 10 ms.
CHUNK = 20_000_000


@njit
def add_products(block, means, column, out):
    """Add the rows' products to ``out`` (s, s), each row of ``block`` (R, s) less its mean in
    ``means`` (R,) and less ``column`` (s,). O(R s^2)."""
    s = block.shape[1]
    row = np.empty(s)
    for i in range(block.shape[0]):
        for j in range(s):
            row[j] = block[i, j] - means[i] - column[j]
        for j in range(s):
            x, line = row[j], out[j]
            if x != 0.0:
                for t in range(s):
                    line[t] += x * row[t]


def alike(core: Float, seen: Float) -> Generator[None, None, Float]:
    """Products of the sampled items' columns, double-centred: float64 (s, s).

    ``core`` float64 (s, s): the sample's own similarities, the diagonal meaning nothing; ``seen``
    float64 (R, s): those of R others with it. With C the s + R rows of both, centred by row and by
    column (in a row of ``core`` the item itself counts as the mean), this is C' C, whose top
    eigenvectors are C's right singular vectors, and its eigenvalues their squares. What rounding
    leaves of equal similarities is 0. Yields None at places to stop. O((R + s) s^2) time, O(s^2)
    memory.
    """
    s = len(core)
    core = core.copy()
    np.fill_diagonal(core, 0.0)
    np.fill_diagonal(core, core.sum(axis=1) / max(1, s - 1))
    means = [block.mean(axis=1) for block in (core, seen)]
    column = (core.sum(axis=0) + seen.sum(axis=0) - means[0].sum() - means[1].sum()) / (
        s + len(seen)
    )
    least = ROUNDING * max(np.abs(block).max(initial=0.0) for block in (core, seen))
    column[np.abs(column) <= least] = 0.0
    out = np.zeros((s, s))
    stride = 1 + CHUNK // (s * s)
    for block, own in zip((core, seen), means, strict=True):
        for begin in range(0, len(block), stride):
            end = begin + stride
            add_products(block[begin:end], own[begin:end], column, out)
            yield
    out[np.abs(out) <= least * least * (s + len(seen))] = 0.0
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
