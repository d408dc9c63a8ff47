"""Who is outside of all that was sampled, and how far: where there is no noise, that is known.

Without noise an item that is as similar to one sampled item as to another, and no more than the
least similar two of these are to each other, has parted from all of them. The set's root is where
those of the lowest such similarity part from the rest, whatever the sample's own division: its
items may all be of one branch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.placekernels import TIED

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: A set is not parted into who is like somebody sampled and who is like nobody where the former are
#: fewer than one in so many: to go on like that would cost n / s divisions.
FEWEST = 8
#: Similarities of one item that spread by less than this share of the largest are one.
SPREAD = 1e-6


def strata(
    tallies: tuple[Float, Float, Int], sample: Int, bounds: tuple[float, float], key: Int | None
) -> Int | None:
    """Of all items the stratum outside of the sample: int32 (m,), those of the lowest similarity
    -L, the next -L + 1, ..., -1, and 0 for who belongs among the sampled; None where all do.

    ``tallies``: sums, squares (float64) and counts (int32) of an item's similarities with the
    sampled ones, (m, k) each; ``sample``: the places of these; ``bounds``: the lowest of their own
    similarities, which are without noise, and the largest absolute one. Items as similar as the
    lowest are a stratum, too: of branches beside those that the sample parts into, unless nearly
    all are. ``key`` numbers items that are bound to each other: None where each of those outside is
    bound to one among the sampled. O(m log m).
    """
    sums, squares, counts = tallies
    low, most = bounds
    close = TIED * max(most, 1e-300)
    number = counts.sum(axis=1)
    level = sums.sum(axis=1) / number
    best = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf).max(axis=1)
    alone = best <= low + close  # like nobody sampled; some who were are, too
    out = alone.copy()
    out[sample] = False
    spread = squares.sum(axis=1) / number - level * level
    if not out.any() or spread[out].max() > (SPREAD * most) ** 2:
        return None
    equal = out & (level >= low - close)
    if FEWEST * np.count_nonzero(~alone) < len(out):
        out &= ~equal
    if not out.any() or (key is not None and np.bincount(key, ~out).all()):
        return None
    values = np.sort(level[out])
    firsts = values[np.diff(values, prepend=-np.inf) > close]
    found = np.zeros(len(out), np.int32)
    found[out] = np.searchsorted(firsts, level[out], side="right") - 1 - len(firsts)
    return found


__all__ = ["strata"]
