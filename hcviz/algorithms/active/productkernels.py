"""Compiled: products of a sample's columns, which show its clusters in more noise.

Take a noisy hierarchical block matrix. The s x s similarities of a sample show its division if the
noise is below about sqrt(s) times the step between two levels. Its similarities with R other items
have the same division in their right singular vectors. They show it up to about (R s)^(1/4) times
that step (the threshold of spiked rectangular matrices: Benaych-Georges and Nadakuditi 2012). These
R s similarities are queried in any case, to place the others.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from hcviz.core.jit import njit

Float = NDArray[np.float64]

#: Values below this share of the largest similarity are rounding.
ROUNDING = 1e-12
#: Products between two places to stop: about 10 ms.
CHUNK = 20_000_000


@njit
def add_products(block, means, column, out):
    """Add the products of the centred columns to ``out`` (s, s). O(R s^2).

    Each row of ``block`` (R, s) is centred by its mean in ``means`` (R,) and by ``column`` (s,).
    """
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


def column_products(core: Float, seen: Float) -> Generator[None, None, Float]:
    """Return products of the sampled items' double-centred columns: float64 (s, s).

    Let C be the s + R rows of both matrices, centred by row and by column. The result is C' C. Its
    top eigenvectors are the right singular vectors of C, and its eigenvalues their squares. Values
    of rounding size become 0. Yields None at places to stop. O((R + s) s^2) time, O(s^2) memory.

    Parameters
    ----------
    core : float64 (s, s)
        The sample's own similarities. The diagonal is not used: each row's mean replaces it.
    seen : float64 (R, s)
        Similarities of R other items with the sample.
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
    """Return the mean similarity inside clusters minus that across: 0 if there are not both.

    ``core``: float64 (s, s), without its diagonal; ``labels``: int32 (s,).
    """
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
