"""Branches of a noise-free set that have no item in its sample.

Without noise, an item outside all sampled branches is equally similar to all sampled items, and at
most as similar as the two least similar of these. The set's root separates the items with the
lowest such similarity from the rest. The sample alone cannot show this: it may lie in one branch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.placekernels import TIED

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: Items that are alike to sampled items are not separated from the others if they are fewer than
#: one in this many: repeating that would cost n / s divisions.
MIN_SHARE = 8
#: An item's similarities are equal if they spread by less than this share of the largest.
SPREAD = 1e-6


def unsampled_branches(
    tallies: tuple[Float, Float, Int], sample: Int, bounds: tuple[float, float], key: Int | None
) -> Int | None:
    """Label the branches outside the sample: -L for the lowest similarity, then -L + 1, ..., -1.

    Items of sampled branches have the label 0. Items as similar as the lowest similarity of the
    sample form a branch too, unless nearly all items are such: they are beside the branches into
    which the sample divides. O(m log m).

    Parameters
    ----------
    tallies : (float64, float64, int32), each (m, k)
        Sums, squares and counts of each item's similarities with the sampled ones.
    sample : int32 (s,)
        Places of the sampled items.
    bounds : (float, float)
        The lowest similarity in the sample, which is free of noise, and the largest absolute one.
    key : int32 (m,) or None
        The supernode of each item.

    Returns
    -------
    int32 (m,) or None
        None if all items belong to sampled branches, or are bound to items that do.
    """
    sums, squares, counts = tallies
    low, most = bounds
    close = TIED * max(most, 1e-300)
    number = counts.sum(axis=1)
    level = sums.sum(axis=1) / number
    best = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf).max(axis=1)
    alone = best <= low + close  # similar to no sampled item; sampled items may be so too
    out = alone.copy()
    out[sample] = False
    spread = squares.sum(axis=1) / number - level * level
    if not out.any() or spread[out].max() > (SPREAD * most) ** 2:
        return None
    equal = out & (level >= low - close)
    if MIN_SHARE * np.count_nonzero(~alone) < len(out):
        out &= ~equal
    if not out.any() or (key is not None and np.bincount(key, ~out).all()):
        return None
    values = np.sort(level[out])
    firsts = values[np.diff(values, prepend=-np.inf) > close]
    labels = np.zeros(len(out), np.int32)
    labels[out] = np.searchsorted(firsts, level[out], side="right") - 1 - len(firsts)
    return labels


__all__ = ["unsampled_branches"]
