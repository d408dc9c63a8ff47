"""Compiled sums over comparisons.

A quadruplet (i, j, k, l) is a row of four columns. The pair {i, j} has the number high (high - 1) /
2 + low, as in :func:`hcviz.datasets.sampling.unrank_pairs`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.buildkernels import find
from hcviz.core.jit import njit


@njit
def pair_number(i, j):
    """Return the number of {i, j}: 0 is {0, 1}, 1 is {0, 2}, 2 is {1, 2}."""
    if i < j:
        return j * (j - 1) // 2 + i
    return i * (i - 1) // 2 + j


@njit
def add_quadruplets(rows, total):
    """AddS-4: each (i, j, k, l) adds 1 to S_ij = S_ji, and subtracts 1 from S_kl = S_lk."""
    for t in range(len(rows)):
        i, j, k, m = rows[t, 0], rows[t, 1], rows[t, 2], rows[t, 3]
        total[i, j] += 1
        total[j, i] += 1
        total[k, m] -= 1
        total[m, k] -= 1


@njit
def by_pair(rows, n):
    """Sort comparisons by pair: ``(offsets (M + 1,), low, high, sign)``.

    Entries offsets[kl] .. offsets[kl + 1] are the pairs {low, high} with which {k, l} was compared,
    with sign +1 where {k, l} is the more similar. Each comparison is stored twice. Comparisons of a
    pair with itself are left out. O(m + n^2).
    """
    m = n * (n - 1) // 2
    offsets = np.zeros(m + 2, np.int64)
    for t in range(len(rows)):
        a = pair_number(rows[t, 0], rows[t, 1])
        b = pair_number(rows[t, 2], rows[t, 3])
        if a != b:
            offsets[a + 2] += 1
            offsets[b + 2] += 1
    for k in range(1, m + 2):
        offsets[k] += offsets[k - 1]
    low = np.empty(offsets[m + 1], np.int16)
    high = np.empty(offsets[m + 1], np.int16)
    sign = np.empty(offsets[m + 1], np.int8)
    for t in range(len(rows)):
        i, j, k, h = rows[t, 0], rows[t, 1], rows[t, 2], rows[t, 3]
        a = pair_number(i, j)
        b = pair_number(k, h)
        if a != b:
            at = offsets[a + 1]
            low[at], high[at], sign[at] = min(k, h), max(k, h), 1
            offsets[a + 1] += 1
            at = offsets[b + 1]
            low[at], high[at], sign[at] = min(i, j), max(i, j), -1
            offsets[b + 1] += 1
    return offsets[: m + 1], low, high, sign


def kernel_scratch(n: int) -> tuple[NDArray[np.int32], ...]:
    """Return the work space of :func:`quadruplet_kernel`.

    It holds the comparisons of one pair as lists by item. ``listed`` and ``net`` (n, n) are the
    lists. ``filled`` (n,) holds their lengths, all 0 before and after. ``items`` (n,) are the items
    with a list. ``mark`` and ``place`` (n, n) say in which pair's lists an item is, and where.
    """
    square = [np.zeros((n, n), np.int32) for _ in range(4)]
    return (*square, np.zeros(n, np.int32), np.arange(n, dtype=np.int32))


@njit
def _append(r, i, value, listed, net, filled):
    """Append item i with a net value to the list of r."""
    listed[r, filled[r]] = i
    net[r, filled[r]] = value
    filled[r] += 1


@njit
def _add_products(kernel, listed, net, filled, items):
    """Add A A^T to ``kernel``, each pair of items in one of its two cells; add the transpose later.

    A is the n x n matrix of one pair's comparisons. A_ir is the net number of answers that {i, r}
    is less similar than the pair (its sign cancels in products). It is stored where r lists i.
    """
    for r in items:
        own = listed[r]
        values = net[r]
        for u in range(filled[r]):
            value = values[u]
            target = kernel[own[u]]
            for v in range(u):
                target[own[v]] += value * values[v]
        filled[r] = 0


@njit
def quadruplet_kernel(offsets, low, high, sign, kernel, first, last, scratch):
    """Sum the passive kernel over the pairs first .. last - 1 of :func:`by_pair`."""
    listed, net, mark, place, filled, items = scratch
    for pair in range(first, last):
        count = 0
        for t in range(offsets[pair], offsets[pair + 1]):
            for side in range(2):
                r = low[t] if side == 0 else high[t]
                i = high[t] if side == 0 else low[t]
                if mark[r, i] == pair + 1:
                    net[r, place[r, i]] += sign[t]
                else:
                    mark[r, i] = pair + 1
                    place[r, i] = filled[r]
                    if filled[r] == 0:
                        items[count] = r
                        count += 1
                    _append(r, i, sign[t], listed, net, filled)
        _add_products(kernel, listed, net, filled, items[:count])


@njit
def quadruplet_kernel_of_table(table, kernel, first, last, scratch):
    """Do the same from a dense (M, M) matrix of signs."""
    listed, net, _, _, filled, items = scratch
    for pair in range(first, last):
        column = table[pair]
        at = 0
        for j in range(1, len(filled)):
            for i in range(j):
                value = column[at]
                at += 1
                if value != 0:
                    _append(i, j, value, listed, net, filled)
                    _append(j, i, value, listed, net, filled)
        _add_products(kernel, listed, net, filled, items)


#: Sums in vector registers; NaN and infinity are kept.
FAST = {"reassoc", "contract"}


@njit(fastmath=FAST)
def admm_step(both, x, s, rho, relax, target):
    """Do the rest of an ADMM step after the spectral projection ``x``, in one pass.

    ``both`` (n, n) holds Z = max(both, 0) and the scaled multipliers U = min(both, 0), and is
    overwritten. ``target`` becomes Z - U + s / rho, which is projected next. Returns the norms |x -
    Z| and |Z - previous Z|, and (|Z|, |U|).
    """
    n = len(both)
    primal = 0.0
    moved = 0.0
    of_split = 0.0
    of_dual = 0.0
    for i in range(n):
        for j in range(n):
            before = max(both[i, j], 0.0)
            now = relax * x[i, j] + (1.0 - relax) * before + min(both[i, j], 0.0)
            split = max(now, 0.0)
            primal += (x[i, j] - split) ** 2
            moved += (split - before) ** 2
            of_split += split * split
            of_dual += (now - split) ** 2
            both[i, j] = now
            target[i, j] = abs(now) + s[i, j] / rho
    return np.sqrt(primal), np.sqrt(moved), (np.sqrt(of_split), np.sqrt(of_dual))


@njit
def rescale_dual(both, by, s, rho, target):
    """Keep the multipliers under another ``rho``, which is ``by`` times the last."""
    n = len(both)
    for i in range(n):
        for j in range(n):
            if both[i, j] < 0.0:
                both[i, j] /= by
            target[i, j] = abs(both[i, j]) + s[i, j] / rho


@njit(fastmath=FAST)
def shortfall(x, mix):
    """Return how far (1 - mix) x + mix / n is from nonnegative off the diagonal.

    Returns the sum of its negative entries as a positive number, and how fast it falls with
    ``mix``.
    """
    n = len(x)
    keep = 1.0 - mix
    more = mix / n
    short = 0.0
    fall = 0.0
    for i in range(n):
        for j in range(n):
            value = keep * x[i, j] + more
            lacks = value < 0.0 and i != j
            short -= value if lacks else 0.0
            fall += 1.0 / n - x[i, j] if lacks else 0.0
    return short, fall


@njit
def lift(x, mix, out):
    """Write (1 - mix) x + mix / n to ``out``, and repair its negative entries off the diagonal.

    An entry -t < 0 at (i, j) becomes 0 by adding t (e_i + e_j)(e_i + e_j)^T.
    """
    n = len(x)
    keep = 1.0 - mix
    more = mix / n
    for i in range(n):
        lacking = 0.0
        for j in range(n):
            value = keep * x[i, j] + more
            if value < 0.0 and i != j:
                lacking -= value
                value = 0.0
            out[i, j] = value
        out[i, i] = max(out[i, i], 0.0) + lacking


@njit
def parts(split, share, labels):
    """Find connected components of items; write them to ``labels`` int64 (n,), return their number.

    Two items are linked if their entry is above ``share`` of the geometric mean of their diagonal
    entries.
    """
    n = len(split)
    for i in range(n):
        labels[i] = i
    for i in range(n):
        for j in range(i):
            value = split[i, j]
            if value > 0.0 and value * value > share * share * split[i, i] * split[j, j]:
                a, b = find(labels, i), find(labels, j)
                labels[max(a, b)] = min(a, b)
    count = 0
    for i in range(n):  # a root comes before the items below it
        if labels[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[labels[i]]
    return count


@njit
def plus_multipliers(s, both, rho, out):
    """Write S + N to ``out``, where N are the multipliers of X >= 0; symmetric to rounding."""
    n = len(s)
    for i in range(n):
        for j in range(n):
            out[i, j] = s[i, j] + rho * max(-both[i, j], 0.0)
