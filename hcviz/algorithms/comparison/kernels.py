"""Compiled sums over comparisons.

A quadruplet (i, j, k, l) is a row of four columns; the pair {i, j} has the number
high (high - 1) / 2 + low, as :func:`hcviz.datasets.sampling.unrank_pairs` has it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.buildkernels import find
from hcviz.core.jit import njit


@njit
def pair_number(i, j):
    """The number of {i, j}: 0 is {0, 1}, 1 is {0, 2}, 2 is {1, 2}."""
    if i < j:
        return j * (j - 1) // 2 + i
    return i * (i - 1) // 2 + j


@njit
def add_quadruplets(rows, total):
    """AddS-4: each (i, j, k, l) adds 1 to S_ij = S_ji and takes 1 from S_kl = S_lk."""
    for t in range(len(rows)):
        i, j, k, m = rows[t, 0], rows[t, 1], rows[t, 2], rows[t, 3]
        total[i, j] += 1
        total[j, i] += 1
        total[k, m] -= 1
        total[m, k] -= 1


@njit
def by_pair(rows, n):
    """Comparisons by pair: ``(offsets (M + 1,), low, high, sign)``.

    For the pair {k, l}, entries offsets[kl] .. offsets[kl + 1] are the pairs {low, high} that it
    was compared with, +1 where {k, l} was said to be the more alike. Every comparison stands twice,
    but for those of a pair with itself, which say nothing. O(m + n^2).
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
    """What :func:`quadruplet_kernel` works in: the comparisons of one pair as lists by item, here
    ``listed`` and ``net`` (n, n), of which ``filled`` (n,) says how much is used (it comes and goes
    all 0) and ``items`` (n,) which are. ``mark`` and ``place`` (n, n): in which pair's lists an
    item is, and where."""
    square = [np.zeros((n, n), np.int32) for _ in range(4)]
    return (*square, np.zeros(n, np.int32), np.arange(n, dtype=np.int32))


@njit
def _append(r, i, value, listed, net, filled):
    listed[r, filled[r]] = i
    net[r, filled[r]] = value
    filled[r] += 1


@njit
def _add_products(kernel, listed, net, filled, items):
    """Add A A^T to ``kernel``, each pair of items in one of its two cells: add its transpose later.

    A is the n x n matrix of one pair's comparisons: A_ir the net number of times that {i, r} was
    said to be less alike than the pair (the sign squares away), not 0 where r lists i.
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
    """The passive kernel's sum over the pairs first .. last - 1 of :func:`by_pair`."""
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
    """The same from a dense (M, M) matrix of signs."""
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


#: Sums in vector registers; nan and inf still show.
FAST = {"reassoc", "contract"}


@njit(fastmath=FAST)
def admm_step(both, x, s, rho, relax, target):
    """What follows the spectral projection ``x`` in a step of ADMM, in one pass.

    ``both`` (n, n), overwritten: Z = max(both, 0), the scaled multipliers U = min(both, 0).
    ``target`` becomes Z - U + s / rho, which is projected next. Returns the norms |x - Z| and
    |Z - Z before|, and (|Z|, |U|).
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
    """The same multipliers under another ``rho``, ``by`` times the last."""
    n = len(both)
    for i in range(n):
        for j in range(n):
            if both[i, j] < 0.0:
                both[i, j] /= by
            target[i, j] = abs(both[i, j]) + s[i, j] / rho


@njit(fastmath=FAST)
def shortfall(x, mix):
    """What (1 - mix) x + mix / n still lacks to be >= 0 off the diagonal: the sum of its negative
    entries, as a positive number, and how fast that falls with ``mix``."""
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
    """``out`` = (1 - mix) x + mix / n, where an entry -t < 0 at (i, j) goes by adding
    t (e_i + e_j)(e_i + e_j)^T."""
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
    """The connected components of the items whose entry is above ``share`` of the geometric mean
    of their diagonal entries; returns how many. ``labels`` int64 (n,)."""
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
    for i in range(n):  # a root comes before all that hang on it
        if labels[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[labels[i]]
    return count


@njit
def plus_multipliers(s, both, rho, out):
    """``out`` = S + N, N the multipliers of X >= 0 as they stand: symmetric to rounding."""
    n = len(s)
    for i in range(n):
        for j in range(n):
            out[i, j] = s[i, j] + rho * max(-both[i, j], 0.0)
