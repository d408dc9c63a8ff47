"""Compiled functions that compare how many trees resolve triples of items."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.posterior.kernels import fill_table, least, logs, sort_by_place


@njit
def arrangements(place, gap, subsets, index, out):
    """Set ``out[t, c, q]`` to the member of triple q of subset c that tree t sets apart.

    The codes 0, 1 and 2 are the first, second and third member by position in the subset; 3 means
    that the tree does not resolve the triple. ``index[x, y, z]`` numbers the triples of positions
    x < y < z. ``out`` is uint8 (trees, L, q). O(trees (n log n + L s^3)).
    """
    trees, n = place.shape
    many, s = subsets.shape
    log = logs(n)
    table = np.empty((log[n] + 1, max(n - 1, 1)), np.int32)
    at = np.empty(s, np.int32)  # positions in the subset, by place in the tree
    where = np.empty(s, np.int32)
    low = np.empty((s, s), np.int32)  # LCA depth of the i-th and the j-th by place
    for t in range(trees):
        fill_table(gap[t], table)
        for c in range(many):
            sort_by_place(place[t], subsets[c], at, where)
            for i in range(s - 1):
                low[i, i + 1] = least(table, log, where[i], where[i + 1])
            for i in range(s - 2):
                for j in range(i + 2, s):
                    low[i, j] = min(low[i, j - 1], low[j - 1, j])
            for i in range(s - 2):
                for j in range(i + 1, s - 1):
                    for k in range(j + 1, s):
                        x, y, z = at[i], at[j], at[k]
                        a = min(x, y, z)
                        e = max(x, y, z)
                        q = index[a, x + y + z - a - e, e]
                        left, right = low[i, j], low[j, k]
                        if left == right:
                            out[t, c, q] = 3
                        else:
                            apart = z if left > right else x
                            out[t, c, q] = 0 if apart == a else (2 if apart == e else 1)


@njit
def expected_bits(found, shown, known, out):
    """Set ``out[c]`` to the bits that a correction of subset c is expected to bring, float64 (L,).

    ``found`` is uint8 (trees, L, q) from :func:`arrangements`. ``shown`` is uint8 (L, q), the codes
    of the shown tree. ``known`` is bool (L, q), the triples to leave out. The formula is in
    ``informative.py``. O(trees L q).
    """
    trees, many, width = found.shape
    count = np.empty(4, np.int64)
    bits = np.empty((width, 4))
    for c in range(many):
        for q in range(width):
            count[:] = 0
            for t in range(trees):
                count[found[t, c, q]] += 1
            for k in range(4):
                bits[q, k] = -np.log2(count[k] / trees) if count[k] else 0.0
        total = 0.0
        for t in range(trees):
            here = 0.0
            wrong = 0
            for q in range(width):
                k = found[t, c, q]
                if k != shown[c, q] and k < 3 and not known[c, q]:
                    here += bits[q, k]
                    wrong += 1
            if wrong:
                total += here / wrong
        out[c] = total / trees


@njit
def agreements(found, out):
    """Set ``out[s, t]`` to the number of columns of ``found`` in which trees s and t are equal.

    ``found`` is uint8 (trees, q).
    """
    trees, width = found.shape
    for s in range(trees):
        out[s, s] = width
        for t in range(s):
            same = np.int64(0)
            for q in range(width):
                same += found[s, q] == found[t, q]
            out[s, t] = same
            out[t, s] = same
