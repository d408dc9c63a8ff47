"""Compiled passes of BUILD over flat arrays: union-find, Aho components, the Aho tree.

Rows are triplets (a, b, c), or group rows (a, b, -k) of :mod:`hcviz.core.groups`. Both join a and b
in a set. A triplet does so while c is in the set, and a group row while the set has more than k
items.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def find(link, x):
    """Return the representative of x in a union-find forest, with path halving."""
    while link[x] != x:
        link[x] = link[link[x]]
        x = link[x]
    return x


@njit
def components(n, rows):
    """Return each item's component under the edges a-b of all rows, by first item: int32 (n,)."""
    link = np.arange(n).astype(np.int32)
    for t in range(rows.shape[0]):
        a, b = find(link, rows[t, 0]), find(link, rows[t, 1])
        link[max(a, b)] = min(a, b)
    number = np.full(n, -1, np.int32)
    count = 0
    for x in range(n):
        root = find(link, x)  # the lowest item of the component, so it has a number unless it is x
        if number[root] < 0:
            number[root] = count
            count += 1
        number[x] = number[root]
    return number


@njit
def aho_tree(n, rows):
    """Return ``(parent, failed)``: the Aho tree, or the rows inside a set that cannot be split."""
    m = rows.shape[0]
    none = np.empty(0, np.int32)
    top = np.full(2 * n - 1, -1, np.int32)  # parents; inner nodes in the order of their creation
    if n == 1:
        return top, none
    items = np.arange(n).astype(np.int32)  # each set is a slice of this array,
    active = np.arange(m).astype(np.int32)  # and its triplets are a slice of this one
    spare_items = np.empty(n, np.int32)
    spare_active = np.empty(m, np.int32)
    link = np.empty(n, np.int32)
    number = np.empty(n, np.int32)  # component of an item, by first item of the slice
    item_at = np.empty(n + 1, np.int32)
    active_at = np.empty(n + 1, np.int32)
    room = np.empty(n + 1, np.int32)  # number of items of each component
    pending = np.empty((n, 5), np.int32)  # slice of items, slice of triplets, node
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3], pending[0, 4] = 0, n, 0, m, n
    waiting = 1
    made = n + 1
    while waiting:
        waiting -= 1
        begin, end = pending[waiting, 0], pending[waiting, 1]
        t_begin, t_end, node = pending[waiting, 2], pending[waiting, 3], pending[waiting, 4]
        if t_begin == t_end:
            for k in range(begin, end):
                top[items[k]] = node
            continue
        for k in range(begin, end):
            link[items[k]] = items[k]
            number[items[k]] = -1
        left = end - begin
        for k in range(t_begin, t_end):
            a = find(link, rows[active[k], 0])
            b = find(link, rows[active[k], 1])
            if a != b:
                link[max(a, b)] = min(a, b)
                left -= 1
        if left == 1:
            return top, active[t_begin:t_end].copy()
        count = 0
        for k in range(begin, end):
            root = find(link, items[k])  # slices are increasing, so the lowest item comes first
            if number[root] < 0:
                number[root] = count
                item_at[count] = 0
                active_at[count] = 0
                count += 1
            number[items[k]] = number[root]
            item_at[number[root]] += 1
        for side in range(count):
            room[side] = item_at[side]
        for k in range(t_begin, t_end):
            side = number[rows[active[k], 0]]
            c = rows[active[k], 2]
            if (c >= 0 and side == number[c]) or (c < 0 and room[side] > -c):
                active_at[side] += 1
        item_next, active_next = begin, t_begin
        for side in range(count):
            size, inside = item_at[side], active_at[side]
            item_at[side], active_at[side] = item_next, active_next
            if size > 1:
                top[made] = node
                pending[waiting, 0], pending[waiting, 1] = item_next, item_next + size
                pending[waiting, 2], pending[waiting, 3] = active_next, active_next + inside
                pending[waiting, 4] = made
                waiting += 1
                made += 1
            item_next += size
            active_next += inside
        for k in range(begin, end):
            x = items[k]
            side = number[x]
            spare_items[item_at[side]] = x
            item_at[side] += 1
        for k in range(t_begin, t_end):
            side = number[rows[active[k], 0]]
            c = rows[active[k], 2]
            if (c >= 0 and side == number[c]) or (c < 0 and room[side] > -c):
                spare_active[active_at[side]] = active[k]
                active_at[side] += 1
        item_next = begin
        for side in range(count):
            if item_at[side] - item_next == 1:
                top[spare_items[item_next]] = node
            item_next = item_at[side]
        for k in range(begin, end):  # loops compile faster in numba than slice assignments
            items[k] = spare_items[k]
        for k in range(t_begin, active_next):
            active[k] = spare_active[k]
    return renumbered(top[:made], n), none


@njit(shared=True)
def renumbered(top, n):
    """Renumber inner nodes by clade size, so that parents come after children.

    In ``top``, inner nodes are numbered with parents first; ``top[n]`` is the root's entry, -1. Of
    nodes with equal size, the later one comes first.
    """
    m = top.size
    size = np.zeros(m, np.int64)
    size[:n] = 1
    for x in range(n):
        size[top[x]] += 1
    for v in range(m - 1, n, -1):
        size[top[v]] += size[v]
    begin = np.zeros(n + 2, np.int64)
    for v in range(n, m):
        begin[size[v] + 1] += 1
    for s in range(n + 1):
        begin[s + 1] += begin[s]
    new = np.empty(m, np.int32)
    for x in range(n):
        new[x] = x
    for v in range(m - 1, n - 1, -1):
        new[v] = n + begin[size[v]]
        begin[size[v]] += 1
    parent = np.full(m, -1, np.int32)
    for v in range(m):
        if top[v] >= 0:
            parent[new[v]] = new[top[v]]
    return parent
