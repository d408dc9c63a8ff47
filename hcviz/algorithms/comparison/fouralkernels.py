"""Compiled steps of 4-AL; see :mod:`hcviz.algorithms.comparison.foural` for the algebra.

Slots are clusters as in :mod:`hcviz.core.agglomeratekernels`; ``value`` (n, n) holds V(p, q).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.algorithms.comparison.kernels import pair_number
from hcviz.core.agglomeratekernels import can_merge
from hcviz.core.jit import njit

#: Values that differ by less than this share of the largest similarity are tied.
TIED = 1e-9
#: Share of the largest initial V that may be left of a 0 after updates.
UPDATE_ERROR = 1e-13


@njit
def begin(slot):
    """Return ``(size, alive)`` of every slot, int64 and bool (n,)."""
    size = np.zeros(len(slot), np.int64)
    for i in range(len(slot)):
        size[slot[i]] += 1
    return size, size > 0


@njit
def _spread(offsets, low, high, sign, pair, change, slot, value):
    """Apply a change of w at ``pair`` to V: s(i, j; k, l) = -s(k, l; i, j)."""
    for t in range(offsets[pair], offsets[pair + 1]):
        p = slot[low[t]]
        q = slot[high[t]]
        if p < q:
            value[p, q] -= sign[t] * change
        else:
            value[q, p] -= sign[t] * change


@njit
def sums_of_list(offsets, low, high, sign, slot, size, value):
    """Write V of all pairs of clusters into ``value``'s upper triangle."""
    n = len(slot)
    for l in range(n):  # noqa: E741
        for k in range(l):
            if slot[k] != slot[l]:
                weight = 1.0 / (size[slot[k]] * size[slot[l]])
                _spread(offsets, low, high, sign, pair_number(k, l), weight, slot, value)


@njit
def choose(value, size, alive, slot, rows, scratch, scale):
    """Return the pair of clusters p < q to merge: the first of the best that triplets allow.

    ``value[p, q]`` for p < q is V; ``scratch`` int32 (n,) is all -1; ``scale`` is the largest V at
    the start.
    """
    n = len(slot)
    refused = np.zeros((1, 1), np.bool_)
    if len(rows):
        refused = np.zeros((n, n), np.bool_)
    while True:
        best = -np.inf
        largest = 0.0
        for p in range(n):
            if alive[p]:
                for q in range(p + 1, n):
                    if alive[q]:
                        w = value[p, q] / (size[p] * size[q])
                        largest = max(largest, abs(w))
                        if w > best and not (len(rows) and refused[p, q]):
                            best = w
        bar = best - TIED * largest - UPDATE_ERROR * scale
        for p in range(n):
            if alive[p]:
                for q in range(p + 1, n):
                    if alive[q] and value[p, q] / (size[p] * size[q]) >= bar:
                        if len(rows) == 0:
                            return p, q
                        if not refused[p, q]:
                            if can_merge(slot, rows, p, q, scratch):
                                return p, q
                            refused[p, q] = True


@njit
def _join(p, q, slot, size, alive):
    """Join cluster q to p."""
    for i in range(len(slot)):
        if slot[i] == q:
            slot[i] = p
    size[p] += size[q]
    alive[q] = False


@njit
def merge_from_list(
    offsets, low, high, sign, slot, size, alive, value, rows, first, second, made, until, scale
):
    """Merge until ``until`` merges are made or one cluster is left; return how many are made."""
    n = len(slot)
    scratch = np.full(n, -1, np.int32)
    left = 0
    for p in range(n):
        left += alive[p]
    while made < until and left > 1:
        p, q = choose(value, size, alive, slot, rows, scratch, scale)
        first[made], second[made] = p, q
        made += 1
        left -= 1
        for x in range(n):
            if alive[x] and x != p and x != q:
                total = value[min(p, x), max(p, x)] + value[min(q, x), max(q, x)]
                value[min(p, x), max(p, x)] = total
        a, b = size[p], size[q]
        was = slot.copy()
        _join(p, q, slot, size, alive)
        for k in range(n):
            if was[k] != p and was[k] != q:
                continue
            own = a if was[k] == p else b
            for l in range(n):  # noqa: E741
                if was[l] == was[k]:
                    continue
                if was[l] == p or was[l] == q:
                    if k < l:
                        change = -1.0 / (a * b)
                        _spread(offsets, low, high, sign, pair_number(k, l), change, slot, value)
                else:
                    change = (1.0 / (a + b) - 1.0 / own) / size[was[l]]
                    _spread(offsets, low, high, sign, pair_number(k, l), change, slot, value)
    return made


@njit
def most_answers(offsets, cluster, groups):
    """Return the most answers about any one pair of the clusters.

    No sum of rows of :func:`matrix_of_list` has a larger entry, since that matrix is antisymmetric.
    """
    answers = np.zeros(max(groups * (groups - 1) // 2, 1), np.int64)
    n = len(cluster)
    for l in range(n):  # noqa: E741
        for k in range(l):
            if cluster[k] != cluster[l]:
                pair = pair_number(k, l)
                answers[pair_number(cluster[k], cluster[l])] += offsets[pair + 1] - offsets[pair]
    return answers.max()


@njit
def matrix_of_list(offsets, low, high, sign, cluster, matrix):
    """Add net answers between pairs of clusters numbered 0..k-1 to ``matrix``."""
    n = len(cluster)
    for l in range(n):  # noqa: E741
        for k in range(l):
            if cluster[k] == cluster[l]:
                continue
            row = matrix[pair_number(cluster[k], cluster[l])]
            pair = pair_number(k, l)
            for t in range(offsets[pair], offsets[pair + 1]):
                p, q = cluster[low[t]], cluster[high[t]]
                if p != q:
                    row[pair_number(p, q)] += sign[t]


@njit
def matrix_of_table(table, order, cluster, matrix):
    """Do the same from a dense sign matrix over pairs of items; ``order[place]`` is the item."""
    n = len(cluster)
    m = table.shape[0]
    target = np.full(m, -1, np.int64)
    for l in range(n):  # noqa: E741
        for k in range(l):
            if cluster[k] != cluster[l]:
                pair = pair_number(order[k], order[l])
                target[pair] = pair_number(cluster[k], cluster[l])
    for pair in range(m):
        if target[pair] >= 0:
            row = matrix[target[pair]]
            for other in range(m):
                if target[other] >= 0:
                    row[target[other]] += table[pair, other]


@njit
def _add_row(v, row, change):
    """Add ``change`` times ``row`` to v."""
    for c in range(len(v)):
        v[c] += change * row[c]


@njit
def sums_of_matrix(matrix, clusters, size, v):
    """Subtract the rows R_pq / (|p| |q|) from v: one number for each pair of the first clusters."""
    for b in range(len(clusters)):
        for a in range(b):
            weight = 1.0 / (size[clusters[a]] * size[clusters[b]])
            _add_row(v, matrix[pair_number(a, b)], -weight)


@njit
def _fold(v, own, other, change, other_change):
    """Do v += change own + other_change other, and own += other, in one pass."""
    for c in range(len(v)):
        x, y = np.int64(own[c]), np.int64(other[c])
        v[c] += change * x + other_change * y
        own[c] = x + y


@njit
def _fold_into(v, own, other, into, change, other_change):
    """Do the same with a third row for the sum, so that the compiler sees no aliasing."""
    for c in range(len(v)):
        x, y = np.int64(own[c]), np.int64(other[c])
        v[c] += change * x + other_change * y
        into[c] = x + y


@njit
def merge_from_matrix(
    matrix, store, at, free, left, v, clusters, number, slot, size, alive, rows, first, second,
    made, until, scale,
):  # fmt: skip
    """Do the same as :func:`merge_from_list` by sums of rows; columns and ``v`` are not merged.

    ``clusters`` are the slots that were alive when the columns were made, and ``number`` is their
    inverse. The row of a pair of clusters is ``store[at[pair]]``. If ``at`` is -1 it is the row of
    ``matrix``, which is not changed. ``free[: left]`` are the free rows of ``store``. Returns how
    many merges are made, and ``left``.
    """
    n = len(slot)
    k = len(clusters)
    scratch = np.full(n, -1, np.int32)
    value = np.empty((n, n))
    groups = 0
    for p in range(n):
        groups += alive[p]
    while made < until and groups > 1:
        for p in range(n):
            for q in range(p + 1, n):
                value[p, q] = 0.0
        c = 0
        for b in range(k):
            for a in range(b):
                p, q = slot[clusters[a]], slot[clusters[b]]
                if p != q:
                    value[min(p, q), max(p, q)] += v[c]
                c += 1
        p, q = choose(value, size, alive, slot, rows, scratch, scale)
        first[made], second[made] = p, q
        made += 1
        groups -= 1
        a, b = 1.0 * size[p], 1.0 * size[q]
        within = pair_number(number[p], number[q])
        if at[within] < 0:
            _add_row(v, matrix[within], 1.0 / (a * b))
        else:
            _add_row(v, store[at[within]], 1.0 / (a * b))
            free[left] = at[within]
            left += 1
        for x in range(n):
            if alive[x] and x != p and x != q:
                own = pair_number(number[p], number[x])
                other = pair_number(number[q], number[x])
                change = (1.0 / a - 1.0 / (a + b)) / size[x]
                other_change = (1.0 / b - 1.0 / (a + b)) / size[x]
                here, there = at[own], at[other]
                if here >= 0 and there >= 0:
                    _fold(v, store[here], store[there], change, other_change)
                    free[left] = there
                    left += 1
                elif here >= 0:
                    _fold(v, store[here], matrix[other], change, other_change)
                elif there >= 0:
                    _fold(v, store[there], matrix[own], other_change, change)
                    at[own] = there
                else:
                    left -= 1
                    at[own] = free[left]
                    into = store[at[own]]
                    _fold_into(v, matrix[own], matrix[other], into, change, other_change)
        _join(p, q, slot, size, alive)
    return made, left
