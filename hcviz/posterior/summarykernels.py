"""Compiled search for the tree of greatest clade credibility among sampled clades."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.posterior.kernels import find


@njit
def best_splits(n, size, log_support, codes, seen_at, begin, above, candidates, key, used, owner):
    """Split every clade so that the clades below it have the greatest sum of log supports.

    Clades are numbered by rising size: the items 0..n-1 first, then the sampled ones.

    Parameters: ``size``, ``log_support`` (K,), ``codes`` (K, 2) of each clade. The occurrences of
    clade ``C`` in the trees are ``begin[C]`` to ``begin[C + 1]``; ``seen_at`` (occurrences,) is
    the clade of each, ``above`` the occurrence of its parent, -1 at roots. ``candidates``: clades
    (rising) of which two may be joined although no tree has them side by side; ``key``, ``used``
    and ``owner`` are their hash table.

    Returns ``value`` (K,), and for each clade either the occurrence whose children are best
    (``chosen``), or -1 there and the two clades that are joined (``left``, ``right``).
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
                first, second = codes[c, 0] ^ codes[a, 0], codes[c, 1] ^ codes[a, 1]
                slot = find(key, used, first, second)
                # The sizes add up only where the second is the first's complement in the clade.
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
