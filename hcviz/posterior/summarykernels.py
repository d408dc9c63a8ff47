"""Compiled search for the tree of the greatest clade credibility among sampled clades."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.posterior.kernels import FIRST, SECOND, find


@njit
def best_splits(n, size, log_support, codes, seen_at, begin, above, candidates, key, used, owner):
    """Split each clade so that the clades below it have the greatest sum of log supports.

    Clades are numbered by increasing size: the items 0..n-1 first, then the sampled clades.

    Parameters
    ----------
    n : int
        Number of items.
    size, log_support : (K,)
        Size and log support of each clade.
    codes : uint64 (K, 2)
        Codes of the clades.
    seen_at, above : int64 (occurrences,)
        The clade of each occurrence in a tree, and the occurrence of its parent (-1 for roots).
    begin : int64 (K + 1,)
        Clade c has the occurrences ``begin[c]`` to ``begin[c + 1] - 1``.
    candidates : int64, increasing
        Clades of which two may be joined although they are siblings in no tree.
    key, used, owner
        The hash table of the candidates.

    Returns
    -------
    value : float64 (K,)
        The greatest sum of log supports of each clade and the clades below it.
    chosen : int64 (K,)
        The occurrence with the best children, or -1 if two candidates are joined.
    left, right : int64 (K,)
        The joined candidates.

    Notes
    -----
    O(occurrences + candidates^2).
    """
    many = size.size
    value = np.zeros(many)
    chosen = np.full(many, -1, np.int64)
    left = np.full(many, -1, np.int64)
    right = np.full(many, -1, np.int64)
    below = np.zeros(seen_at.size)  # sum of the values of an occurrence's children
    low, high = 0, 0  # candidates of at least half the size, and of less than the size
    place = 0
    for c in range(n, many):
        best = -np.inf
        for k in range(begin[c], begin[c + 1]):
            if below[k] > best:
                best = below[k]
                chosen[c] = k
        while place < candidates.size and candidates[place] < c:
            place += 1
        if place < candidates.size and candidates[place] == c:
            while 2 * size[candidates[low]] < size[c]:
                low += 1
            while size[candidates[high]] < size[c]:
                high += 1
            for i in range(low, high):
                a = candidates[i]
                first = codes[c, FIRST] ^ codes[a, FIRST]
                second = codes[c, SECOND] ^ codes[a, SECOND]
                slot = find(key, used, first, second)
                # Equal sizes confirm that the second clade is the complement of the first.
                if used[slot] and size[owner[slot]] + size[a] == size[c]:
                    b = owner[slot]
                    if value[a] + value[b] > best + 1e-9:
                        best = value[a] + value[b]
                        chosen[c] = -1
                        left[c], right[c] = a, b
        value[c] = log_support[c] + best
        for k in range(begin[c], begin[c + 1]):
            if above[k] >= 0:
                below[above[k]] += value[c]
    return value, chosen, left, right
