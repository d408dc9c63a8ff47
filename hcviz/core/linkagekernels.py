"""Compiled agglomeration of a distance matrix under triplets: the merges of a constrained linkage.

Clusters are *slots*: a cluster has the number of its lowest item. A negative entry of the matrix is
a forbidden pair; its size is still the pair's distance (so -0.0 is a forbidden pair at distance 0).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

import numpy as np

from hcviz.core.buildkernels import find
from hcviz.core.jit import njit

AVERAGE, SINGLE, COMPLETE, WARD = 0, 1, 2, 3


@njit
def nearest(distance, i, live, begin, end):
    """The nearest allowed ``live[t]``, begin <= t < end, to slot i: (distance, slot); -1: none."""
    best = np.inf
    at = -1
    for t in range(begin, end):
        j = live[t]
        value = distance[i, j]
        if value < best and math.copysign(1.0, value) > 0.0:
            best = value
            at = j
    return best, at


@njit
def merged(method, to_p, to_q, between, p, q, k):
    """The distance of the union of two clusters to a third, by Lance and Williams (1967).

    ``to_p``, ``to_q``, ``between``: the distances of the two to the third, and of the two. ``p``,
    ``q`` and ``k`` are the numbers of items of the three. Ward's distances are squared ones.
    """
    if method == AVERAGE:
        return (p * to_p + q * to_q) / (p + q)
    if method == SINGLE:
        return min(to_p, to_q)
    if method == COMPLETE:
        return max(to_p, to_q)
    return max(0.0, ((p + k) * to_p + (q + k) * to_q - k * between) / (p + q + k))


@njit
def contract(rows, open_count, named, p, q):
    """Rename slot q to p in the open triplets, drop those with a and b together, renew ``named``.

    Returns how many triplets are still open; ``named[s]`` tells whether one of them names slot s.
    """
    for t in range(open_count):
        for side in range(3):
            named[rows[t, side]] = False
    left = 0
    for t in range(open_count):
        a, b, c = rows[t, 0], rows[t, 1], rows[t, 2]
        a = p if a == q else a
        b = p if b == q else b
        c = p if c == q else c
        if a != b:
            rows[left, 0], rows[left, 1], rows[left, 2] = a, b, c
            left += 1
    for t in range(left):
        for side in range(3):
            named[rows[t, side]] = True
    return left


@njit
def can_merge(rows, open_count, p, q, work, link):
    """Whether the open triplets still have a tree once slots p and q are one cluster.

    They have one before the merge. So BUILD (Aho et al. 1981) is followed only along the sets that
    contain the union: the triplets inside any other set are as they were. ``work`` int32 (m, 3) and
    ``link`` int32 (n,) are scratch. O(m) for each of these sets.
    """
    count = 0
    for t in range(open_count):
        a, b, c = rows[t, 0], rows[t, 1], rows[t, 2]
        a = p if a == q else a
        b = p if b == q else b
        c = p if c == q else c
        if a == b:
            continue
        if a == c or b == c:
            return False
        work[count, 0], work[count, 1], work[count, 2] = a, b, c
        count += 1
    while count:
        for t in range(count):
            for side in range(3):
                link[work[t, side]] = -1
        link[p] = -1
        parts = 0
        for t in range(count):
            for side in range(3):
                x = work[t, side]
                if link[x] < 0:
                    link[x] = x
                    parts += 1
        if link[p] < 0:  # no triplet names the union
            return True
        for t in range(count):
            a, b = find(link, work[t, 0]), find(link, work[t, 1])
            if a != b:
                link[a] = b
                parts -= 1
        if parts == 1:
            return False
        root = find(link, p)
        left = 0
        for t in range(count):
            if find(link, work[t, 0]) == root and find(link, work[t, 2]) == root:
                for side in range(3):
                    work[left, side] = work[t, side]
                left += 1
        count = left
    return True


@njit
def merges(distance, method, rows):
    """All merges of slots 0..n-1: always the nearest allowed pair, the lowest slots first in a tie.

    Parameters
    ----------
    distance : float64 (n, n)
        Symmetric, 0 or more (squared for Ward). It is overwritten; the diagonal is not read.
    method : int
        ``AVERAGE``, ``SINGLE``, ``COMPLETE`` or ``WARD``.
    rows : int32 (m, 3)
        Triplets ab|c that have a tree; overwritten.

    Returns ``(first, second, value, tests)``: for each merge its slots, first < second (the union
    stays in ``first``) and the distance, and how many pairs had to be tested by BUILD.

    A merge is allowed if the triplets, with clusters contracted, still have a tree. So some pair is
    always allowed: one of the lowest of that tree. A cluster that no open triplet names may merge
    with any other, hence only pairs of named clusters are tested, when they are the nearest pair. A
    forbidden pair stays forbidden until one of its clusters merges with a named one.

    Each slot keeps a lower bound of its distance to the later slots, and a bound is renewed only
    when it is the lowest of all (the generic algorithm of Müllner 2011). O(n^2) memory; O(n^2) time
    mostly, O(n^3) at worst, and BUILD for each tested pair.
    """
    n = len(distance)
    first = np.empty(n - 1, np.int32)
    second = np.empty(n - 1, np.int32)
    height = np.empty(n - 1)
    sizes = np.ones(n)
    live = np.arange(n).astype(np.int32)
    work = np.empty((len(rows), 3), np.int32)
    link = np.empty(n, np.int32)
    moved = np.empty(n, np.int32)
    named = np.zeros(n, np.bool_)
    open_count = contract(rows, len(rows), named, -1, -1)
    bound = np.full(n, np.inf)
    at = np.full(n, -1, np.int32)
    stale = np.zeros(n, np.bool_)
    for i in range(n):
        bound[i], at[i] = nearest(distance, i, live, i + 1, n)
    tests = 0
    for step in range(n - 1):
        alive = n - step
        while True:
            place = 0
            for t in range(1, alive):
                if bound[live[t]] < bound[live[place]]:
                    place = t
            p = live[place]
            q = at[p]
            if not stale[p]:
                if not (named[p] and named[q]):
                    break
                tests += 1
                if can_merge(rows, open_count, p, q, work, link):
                    break
                distance[p, q] = -distance[p, q]
                distance[q, p] = distance[p, q]
            bound[p], at[p] = nearest(distance, p, live, place + 1, alive)
            stale[p] = False
        between = bound[p]
        first[step], second[step], height[step] = p, q, between
        keep_p = not named[q]  # which of the two clusters' forbidden pairs are forbidden still
        keep_q = not named[p]
        bound[p] = np.inf
        at[p] = -1
        changes = 0
        for t in range(alive):
            k = live[t]
            if k in (p, q):
                continue
            to_p, to_q = distance[p, k], distance[q, k]
            forbidden = (keep_p and math.copysign(1.0, to_p) < 0.0) or (
                keep_q and math.copysign(1.0, to_q) < 0.0
            )
            value = merged(method, abs(to_p), abs(to_q), between, sizes[p], sizes[q], sizes[k])
            stored = -value if forbidden else value
            distance[p, k] = stored
            moved[changes] = k
            changes += stored != to_p or value == 0.0
            if k > p:
                if not forbidden and value < bound[p]:
                    bound[p] = value
                    at[p] = k
                if at[k] == q:
                    stale[k] = True
            elif not forbidden and (value < bound[k] or (value == bound[k] and p <= at[k])):
                bound[k] = value
                at[k] = p
                stale[k] = False
            elif at[k] == p or at[k] == q:
                stale[k] = True
        for t in range(changes):  # the column in a loop of its own: a fifth faster
            distance[moved[t], p] = distance[p, moved[t]]
        left = 0
        for t in range(alive):
            live[left] = live[t]
            left += live[t] != q
        stale[p] = False
        sizes[p] += sizes[q]
        if named[q]:
            open_count = contract(rows, open_count, named, p, q)
    return first, second, height, tests


__all__ = ["AVERAGE", "COMPLETE", "SINGLE", "WARD", "merges"]
