"""Compiled agglomeration. A cluster is stored in the lowest *slot* of its items."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.buildkernels import aho_tree
from hcviz.core.jit import njit

AVERAGE, SINGLE, COMPLETE = 0, 1, 2


@njit
def can_merge(slot, rows, p, q, number):
    """Return True if some tree satisfies every ab|c after a merge of clusters ``p`` and ``q``.

    A triplet is satisfied if a and b are in one cluster, and violated if c is with only one of
    them; otherwise it is open. The open triplets, with clusters contracted, must have a tree
    (BUILD). ``number`` (n,) is a temporary array of -1.
    """
    has_p = False
    has_q = False
    for t in range(len(rows)):
        a, b, c = slot[rows[t, 0]], slot[rows[t, 1]], slot[rows[t, 2]]
        if a != b:
            has_p = has_p or a == p or b == p or c == p
            has_q = has_q or a == q or b == q or c == q
    if not (has_p and has_q):  # a cluster that no triplet names can merge with any other
        return True
    open_rows = np.empty((len(rows), 3), np.int32)
    open_count = 0
    names = 0
    broken = False
    for t in range(len(rows)):
        a, b, c = slot[rows[t, 0]], slot[rows[t, 1]], slot[rows[t, 2]]
        a = p if a == q else a
        b = p if b == q else b
        c = p if c == q else c
        if a == b:
            continue
        if a == c or b == c:
            broken = True
            break
        for side in range(3):
            x = a if side == 0 else (b if side == 1 else c)
            if number[x] < 0:
                number[x] = names
                names += 1
            open_rows[open_count, side] = number[x]
        open_count += 1
    for t in range(len(rows)):
        for side in range(3):
            x = slot[rows[t, side]]
            number[p if x == q else x] = -1
    if broken:
        return False
    if open_count == 0:
        return True
    return aho_tree(names, open_rows[:open_count].copy())[1].size == 0


@njit
def _scan(values, sizes, alive, blocked, i, method):
    """Return (value, j) of the most similar allowed slot j > i, the first one in a tie."""
    best = -np.inf
    at = -1
    for j in range(i + 1, len(alive)):
        if alive[j] and not blocked[i, j]:
            value = values[i, j]
            if method == AVERAGE:
                value /= sizes[i] * sizes[j]
            if value > best:
                best = value
                at = j
    return best, at


@njit
def merge_all(values, method, rows, group):
    """Merge slots 0..n-1: always the most similar allowed pair.

    Parameters
    ----------
    values : float64 (n, n)
        Symmetric similarities; overwritten. For average linkage they are stored as sums, so that
        ties between integers stay exact.
    method : int
        ``AVERAGE``, ``SINGLE`` or ``COMPLETE``.
    rows : int32 (m, 3)
        Triplets that have a tree.
    group : int32 (n,)
        Slots of one group merge before slots of different groups.

    Returns
    -------
    first, second : int32 (n - 1,)
        The slots of each merge, first < second; the union is stored in ``first``.
    value : float64 (n - 1,)
        The similarity of each merge.
    """
    n = len(values)
    first = np.empty(n - 1, np.int32)
    second = np.empty(n - 1, np.int32)
    height = np.empty(n - 1)
    sizes = np.ones(n)
    alive = np.ones(n, np.bool_)
    slot = np.arange(n).astype(np.int32)
    number = np.full(n, -1, np.int32)
    blocked = np.zeros((n, n), np.bool_)
    for i in range(n):
        for j in range(n):
            blocked[i, j] = group[i] != group[j]
    grouped = True
    best = np.empty(n)
    at = np.empty(n, np.int32)
    for i in range(n):
        best[i], at[i] = _scan(values, sizes, alive, blocked, i, method)
    step = 0
    while step < n - 1:
        p = -1
        for i in range(n):
            if alive[i] and at[i] >= 0 and (p < 0 or best[i] > best[p]):
                p = i
        if p < 0:  # no merge inside a group is left; now all slots may merge
            grouped = False
            blocked[:] = False
            for i in range(n):
                if alive[i]:
                    best[i], at[i] = _scan(values, sizes, alive, blocked, i, method)
            continue
        q = at[p]
        if len(rows) and not can_merge(slot, rows, p, q, number):
            blocked[p, q] = True
            blocked[q, p] = True
            best[p], at[p] = _scan(values, sizes, alive, blocked, p, method)
            continue
        first[step], second[step], height[step] = p, q, best[p]
        step += 1
        alive[q] = False
        for i in range(n):
            if slot[i] == q:
                slot[i] = p
        for k in range(n):
            if not alive[k] or k == p:
                continue
            if method == AVERAGE:
                value = values[p, k] + values[q, k]
            elif method == SINGLE:
                value = max(values[p, k], values[q, k])
            else:
                value = min(values[p, k], values[q, k])
            values[p, k] = value
            values[k, p] = value
            other_group = grouped and group[k] != group[p]  # triplets must be tested again for p
            blocked[p, k] = other_group
            blocked[k, p] = other_group
        sizes[p] += sizes[q]
        for k in range(n):
            if not alive[k]:
                continue
            if k == p or (k < p and at[k] == p) or at[k] == q:
                best[k], at[k] = _scan(values, sizes, alive, blocked, k, method)
            elif k < p and not blocked[k, p]:
                value = values[k, p]
                if method == AVERAGE:
                    value /= sizes[k] * sizes[p]
                if value > best[k] or (value == best[k] and p < at[k]):
                    best[k] = value
                    at[k] = p
    return first, second, height
