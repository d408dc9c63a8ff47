"""Compiled agglomeration of a distance matrix under triplets and groups.

A cluster is stored in the *slot* of its lowest item. A negative entry of the matrix means that the
pair is forbidden; its absolute value is the distance. So -0.0 is a forbidden pair at distance 0.

Groups are nested or disjoint. The ``home`` of a slot is the smallest group that contains its
cluster and more items. Only clusters with the same home may merge. So each group is merged to one
cluster before it merges with others.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

import numpy as np

from hcviz.core.buildkernels import find
from hcviz.core.jit import njit

AVERAGE, SINGLE, COMPLETE, WARD = 0, 1, 2, 3


@njit
def nearest(distance, i, live, begin, end, home):
    """Return (distance, slot) of the nearest allowed slot in ``live[begin:end]``, or slot -1."""
    best = np.inf
    at = -1
    for t in range(begin, end):
        j = live[t]
        value = distance[i, j]
        if value < best and home[i] == home[j] and math.copysign(1.0, value) > 0.0:
            best = value
            at = j
    return best, at


@njit
def merged(method, to_p, to_q, between, p, q, k):
    """Return the distance of the union of clusters p and q to cluster k (Lance and Williams 1967).

    ``to_p`` and ``to_q`` are the distances of p and q to k, and ``between`` is that of p and q.
    ``p``, ``q`` and ``k`` are numbers of items. Ward's distances are squared.
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
    """Rename slot q to p in the open triplets, remove those with a = b, and update ``named``.

    Returns the number of open triplets. ``named[s]`` is True if one of them names slot s.
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
    """Return True if the open triplets have a tree after a merge of slots p and q.

    They have a tree before the merge. So BUILD (Aho et al. 1981) needs to visit only the sets that
    contain the union; the triplets inside other sets are unchanged. ``work`` int32 (m, 3) and
    ``link`` int32 (n,) are temporary arrays. O(m) for each visited set.
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
        if link[p] < 0:  # no remaining triplet names the union
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
def merges(distance, method, rows, home, over, group_size):
    """Merge slots 0..n-1: always the nearest allowed pair, in a tie the one with the lowest slots.

    Parameters
    ----------
    distance : float64 (n, n)
        Symmetric, 0 or more (squared for Ward). Overwritten; the diagonal is not read.
    method : int
        ``AVERAGE``, ``SINGLE``, ``COMPLETE`` or ``WARD``.
    rows : int32 (m, 3)
        Triplets ab|c that have a tree, with items named by :meth:`hcviz.core.groups.Nesting.slots`;
        overwritten.
    home : int32 (n,)
        The smallest group of each item, or -1; overwritten.
    over, group_size : int32 (g,)
        The smallest larger group that contains each group, or -1; numbers of items.

    Returns
    -------
    first, second : int32 (n - 1,)
        The slots of each merge, first < second; the union is stored in ``first``.
    value : float64 (n - 1,)
        The distance of each merge.
    tests : int
        Number of pairs that were tested with BUILD.

    Notes
    -----
    A merge is allowed if the triplets, with clusters contracted, still have a tree. Some pair is
    always allowed: two siblings in that tree. A cluster that no open triplet names may merge with
    any cluster. So only pairs of named clusters are tested, and only when they are the nearest
    pair. A forbidden pair stays forbidden until one of its clusters merges with a named cluster.

    Each slot has a lower bound of its distance to the later slots. A bound is recomputed only when
    it is the lowest of all (the generic algorithm of Müllner 2011). O(n^2) memory; usually O(n^2)
    time, at worst O(n^3), plus BUILD for each tested pair.
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
        bound[i], at[i] = nearest(distance, i, live, i + 1, n, home)
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
            bound[p], at[p] = nearest(distance, p, live, place + 1, alive, home)
            stale[p] = False
        between = bound[p]
        first[step], second[step], height[step] = p, q, between
        keep_p = not named[q]  # the pairs that were forbidden for p stay forbidden
        keep_q = not named[p]  # the pairs that were forbidden for q stay forbidden
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
                if not forbidden and value < bound[p] and home[k] == home[p]:
                    bound[p] = value
                    at[p] = k
                if at[k] == q:
                    stale[k] = True
            elif (
                not forbidden
                and home[k] == home[p]
                and (value < bound[k] or (value == bound[k] and p <= at[k]))
            ):
                bound[k] = value
                at[k] = p
                stale[k] = False
            elif at[k] == p or at[k] == q:
                stale[k] = True
        for t in range(changes):  # a separate loop for the column is 20 % faster
            distance[moved[t], p] = distance[p, moved[t]]
        left = 0
        for t in range(alive):
            live[left] = live[t]
            left += live[t] != q
        stale[p] = False
        sizes[p] += sizes[q]
        if named[q]:
            open_count = contract(rows, open_count, named, p, q)
        if home[p] >= 0 and sizes[p] == group_size[home[p]]:
            home[p] = over[home[p]]
            place = 0
            for t in range(left):
                k = live[t]
                if k == p:
                    place = t
                elif k < p and home[k] == home[p]:
                    value = distance[k, p]
                    if math.copysign(1.0, value) > 0.0 and (
                        value < bound[k] or (value == bound[k] and p <= at[k])
                    ):
                        bound[k] = value
                        at[k] = p
                        stale[k] = False
            bound[p], at[p] = nearest(distance, p, live, place + 1, left, home)
    return first, second, height, tests


__all__ = ["AVERAGE", "COMPLETE", "SINGLE", "WARD", "merges"]
