"""The compiled repair of a tree, for :func:`hcviz.core.build.build_guided`.

Sets of items are slices of one array, in the leaf order of the old tree. So the old tree restricted
to a set is computed with a stack from the LCAs of neighbouring items. A node of the restricted tree
has the index of its old node.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.buildkernels import find
from hcviz.core.jit import njit
from hcviz.core.treekernels import lca_many, pair_lca

# Columns of the sets that wait: a slice of the items, a slice of the triplets, the new parent, and
# 1 if the set is divided again, 0 if the old tree is copied
ITEMS_BEGIN, ITEMS_END, ROWS_BEGIN, ROWS_END, OVER, DIVIDE = range(6)


@njit
def induced(items, begin, end, between, stack, nodes, above, first, last):
    """Restrict the old tree to ``items[begin:end]``, two items or more; return the number of nodes.

    ``between[k]`` is the LCA of items k and k+1. Fills ``nodes`` with the inner nodes, children
    before parents; ``above`` with their parents (-1 at the top); and ``first`` and ``last`` with
    their slices of ``items``, both ends included.
    """
    count = 0
    depth = 0
    for k in range(begin, end):
        v = between[k] if k < end - 1 else -1
        start = k
        # v and the nodes on the stack are ancestors of item k; deeper ones have smaller indices.
        while depth > 0 and (v < 0 or stack[depth - 1] < v):
            depth -= 1
            u = stack[depth]
            start = first[u]
            last[u] = k
            nodes[count] = u
            count += 1
            above[u] = v
            if depth > 0 and (v < 0 or stack[depth - 1] < v):
                above[u] = stack[depth - 1]
        if v >= 0 and (depth == 0 or stack[depth - 1] != v):
            first[v] = start
            stack[depth] = v
            depth += 1
    return count


@njit
def common_key(key, room, row):
    """Return the key of the set in which a row still joins a and b, or -1.

    For a triplet it is the common key of its items. For a group row it is that of a and b, if the
    set has more items than the group.
    """
    s = key[row[0]]
    if s < 0 or s != key[row[1]]:
        return -1
    if row[2] < 0:
        return s if room[s] > -row[2] else -1
    return s if s == key[row[2]] else -1


@njit
def gather(key, room, rows, active, begin, end, count, spare, at):
    """Group the rows in ``active[begin:end]`` by their sets (:func:`common_key`).

    ``key`` is -1 or 0..count-1 for each item, and ``room`` (count,) the number of items with each
    key. Rows without a set are removed. Then the rows with key s are ``active[at[s]:at[s + 1]]``.
    """
    for s in range(count + 1):
        at[s] = 0
    for k in range(begin, end):
        s = common_key(key, room, rows[active[k]])
        if s >= 0:
            at[s + 1] += 1
    at[0] = begin
    for s in range(count):
        at[s + 1] += at[s]
    for k in range(begin, end):
        s = common_key(key, room, rows[active[k]])
        if s >= 0:
            spare[at[s]] = active[k]
            at[s] += 1
    for s in range(count, 0, -1):
        at[s] = at[s - 1]
    at[0] = begin
    for k in range(begin, at[count]):
        active[k] = spare[k]


@njit
def add_group_clashes(
    items, begin, end, nodes, count, above, first, last, between, rows, active, t_begin, t_end,
    violated, unit, place, below, clash,
):  # fmt: skip
    """Add 1 to ``clash`` of each old clade that a violated group overlaps without nesting.

    The rows of a group are neighbours in ``active``, and have the same ``unit``. O(items + nodes)
    for each group.
    """
    t = t_begin
    while t < t_end:
        row = active[t]
        x, third = rows[row, 0], rows[row, 2]  # the third of a group's rows is minus its size
        if third >= 0 or not violated[row]:
            t += 1
            continue
        for k in range(begin, end):
            place[items[k]] = k
        for k in range(count):
            below[nodes[k]] = 0
        group = unit[row]
        size = -third
        while True:  # each member, from the first row's a to the last row's b
            k = place[x]
            low = clash.size
            if k > begin:
                low = between[k - 1]
            if k < end - 1 and between[k] < low:
                low = between[k]
            below[low] += 1
            if t == t_end or unit[active[t]] != group:
                break
            x = rows[active[t], 1]
            t += 1
        for k in range(count):
            u = nodes[k]
            inside = below[u]
            if 0 < inside < size and inside < last[u] + 1 - first[u]:
                clash[u] += 1
            if above[u] >= 0:
                below[above[u]] += inside


@njit
def pieces_of(
    items, begin, end, nodes, count, above, first, last, between, rows, active, t_begin, t_end,
    violated, unit, position, table, link, number, clash, below, glued, anchor,
):  # fmt: skip
    """Divide a set into pieces that any tree over them keeps consistent.

    Fills ``number`` with the piece of each item. Returns the number of pieces, and True if clades
    that no triplet contradicts had to be divided.

    Old clades that no triplet contradicts are kept whole ("glued"), as large as the Aho graph stays
    disconnected. The anchor of a piece is the first item of its largest glued clade, or its first
    item. It determines the position of the piece in the old tree; pieces are numbered in the order
    of their anchors.
    """
    for k in range(count):
        clash[nodes[k]] = 0
    for k in range(t_begin, t_end):
        t = active[k]
        a, b, c = rows[t, 0], rows[t, 1], rows[t, 2]
        if violated[t] and c >= 0:
            ac = pair_lca(a, c, position, table)
            bc = pair_lca(b, c, position, table)
            if ac != bc:  # clades from the lower LCA up to below the higher one separate a and b
                clash[min(ac, bc)] += 1
                clash[max(ac, bc)] -= 1
    for k in range(count - 1):
        clash[above[nodes[k]]] += clash[nodes[k]]
    add_group_clashes(
        items, begin, end, nodes, count, above, first, last, between, rows, active, t_begin, t_end,
        violated, unit, number, below, clash,
    )  # fmt: skip

    pieces = 1
    limit = end - begin - 1
    coarse = False
    while True:
        pieces = end - begin
        for k in range(begin, end):
            link[items[k]] = items[k]
            anchor[items[k]] = 1
        glued[nodes[count - 1]] = False
        for k in range(count - 2, -1, -1):
            u = nodes[k]
            glued[u] = glued[above[u]]
            if not glued[u] and clash[u] == 0 and last[u] - first[u] < limit:
                glued[u] = True
                anchor[items[first[u]]] = last[u] + 1 - first[u]
                pieces -= last[u] - first[u]
                for j in range(first[u] + 1, last[u] + 1):
                    link[items[j]] = items[first[u]]
                    anchor[items[j]] = 0
        for k in range(t_begin, t_end):
            a = find(link, rows[active[k], 0])
            b = find(link, rows[active[k], 1])
            if a != b:
                link[a] = b
                pieces -= 1
        if pieces > 1 or limit == 0:  # without glued clades, consistent triplets give two or more
            break
        limit //= 2
        coarse = True
    for k in range(begin, end):
        number[items[k]] = -1
    for k in range(begin, end):  # for each component, the item with the largest glued clade
        x = items[k]
        root = find(link, x)
        if number[root] < 0 or anchor[x] > anchor[number[root]]:
            number[root] = x
    for k in range(begin, end):
        x = items[k]
        anchor[x] = number[find(link, x)]
    pieces = 0
    for k in range(begin, end):
        x = items[k]
        if anchor[x] == x:
            number[x] = pieces
            pieces += 1
    for k in range(begin, end):
        number[items[k]] = number[anchor[items[k]]]
    return pieces, coarse


@njit
def by_size(size, made, n):
    """Return new numbers 0..made-1 of the nodes, by size and stable; leaves keep their numbers."""
    begin = np.zeros(n + 2, np.int32)
    for v in range(made):
        begin[size[v] + 1] += 1
    for s in range(n + 1):
        begin[s + 1] += begin[s]
    new = np.empty(made, np.int32)
    for v in range(made):
        new[v] = begin[size[v]]
        begin[size[v]] += 1
    return new


@njit
def repair(parent, n, leaf_order, position, table, rows, unit, group_top, group_violated):
    """Return ``(parent, origin)`` of a tree that satisfies the consistent ``rows``.

    ``origin`` is the old LCA of the items below each node. Inner nodes are numbered by size.
    ``unit[t]`` is the group of a group row, and -1 for a triplet. ``group_top`` is the old LCA of
    each group, and ``group_violated`` is True if it has other items, too.
    """
    m = rows.shape[0]
    old = parent.size
    a = np.ascontiguousarray(rows[:, 0])
    outer = lca_many(a, np.ascontiguousarray(rows[:, 1]), position, table)
    violated = np.zeros(m, np.bool_)
    for t in range(m):
        if unit[t] >= 0:
            outer[t] = group_top[unit[t]]
            violated[t] = group_violated[unit[t]]
            continue
        top = pair_lca(outer[t], rows[t, 2], position, table)
        violated[t] = top == outer[t]
        outer[t] = top

    items = leaf_order.copy()
    between = np.empty(n, np.int32)
    active = np.arange(m).astype(np.int32)
    spare_items = np.empty(n, np.int32)
    spare_active = np.empty(m, np.int32)
    at = np.empty(n + 2, np.int32)
    item_at = np.empty(n + 2, np.int32)
    stack = np.empty(n, np.int32)
    nodes = np.empty(n, np.int32)
    above = np.empty(old, np.int32)
    first = np.empty(old, np.int32)
    last = np.empty(old, np.int32)
    bad = np.zeros(old, np.bool_)
    number_of = np.empty(old, np.int32)  # restricted node -> new node; -2 below a bad node
    key = np.empty(n, np.int32)
    link = np.empty(n, np.int32)
    clash = np.empty(old, np.int32)
    below = np.empty(old, np.int32)
    room = np.empty(n + 1, np.int32)
    glued = np.empty(old, np.bool_)
    anchor = np.empty(n, np.int32)
    anchors = np.empty(n, np.int32)
    piece_side = np.empty(n, np.int32)

    up = np.full(2 * n - 1, -1, np.int32)  # the new tree; inner nodes in the order of creation
    origin = np.arange(2 * n - 1).astype(np.int32)
    size = np.ones(2 * n - 1, np.int32)
    made = n
    pending = np.empty((n + 1, 6), np.int32)
    pending[0, ITEMS_BEGIN], pending[0, ITEMS_END] = 0, n
    pending[0, ROWS_BEGIN], pending[0, ROWS_END] = 0, m
    pending[0, OVER], pending[0, DIVIDE] = -1, 0
    waiting = 1
    while waiting:
        waiting -= 1
        begin, end = pending[waiting, ITEMS_BEGIN], pending[waiting, ITEMS_END]
        t_begin, t_end = pending[waiting, ROWS_BEGIN], pending[waiting, ROWS_END]
        over, divide = pending[waiting, OVER], pending[waiting, DIVIDE]
        if end - begin == 1:
            up[items[begin]] = over
            continue
        for k in range(begin, end - 1):
            between[k] = pair_lca(items[k], items[k + 1], position, table)
        count = induced(items, begin, end, between, stack, nodes, above, first, last)
        if divide == 0:
            # Copy the old tree down to the topmost nodes with a violated triplet.
            for k in range(t_begin, t_end):
                if violated[active[k]]:
                    bad[outer[active[k]]] = True
            for k in range(begin, end):
                key[items[k]] = -1
            subs = 0
            kept = waiting
            for k in range(count - 1, -1, -1):
                u = nodes[k]
                node_above = over if above[u] < 0 else number_of[above[u]]
                if node_above == -2:
                    number_of[u] = -2
                elif bad[u]:
                    number_of[u] = -2
                    room[subs] = last[u] + 1 - first[u]
                    for j in range(first[u], last[u] + 1):
                        key[items[j]] = subs
                    pending[waiting, ITEMS_BEGIN] = first[u]
                    pending[waiting, ITEMS_END] = last[u] + 1
                    pending[waiting, OVER], pending[waiting, DIVIDE] = node_above, 1
                    waiting += 1
                    subs += 1
                else:
                    number_of[u] = made
                    up[made], origin[made], size[made] = node_above, u, last[u] + 1 - first[u]
                    made += 1
            for k in range(begin, end):
                if key[items[k]] < 0:
                    low = old
                    if k > begin:
                        low = between[k - 1]
                    if k < end - 1 and between[k] < low:
                        low = between[k]
                    up[items[k]] = number_of[low]
            for k in range(t_begin, t_end):
                bad[outer[active[k]]] = False
            gather(key, room, rows, active, t_begin, t_end, subs, spare_active, at)
            for s in range(subs):
                pending[kept + s, ROWS_BEGIN], pending[kept + s, ROWS_END] = at[s], at[s + 1]
            continue
        pieces, coarse = pieces_of(
            items, begin, end, nodes, count, above, first, last, between, rows, active,
            t_begin, t_end, violated, unit, position, table, link, key, clash, below, glued, anchor,
        )  # fmt: skip
        for k in range(begin, end):
            x = items[k]
            if anchor[x] == x:
                anchors[key[x]] = x
        for s in range(pieces - 1):
            between[s] = pair_lca(anchors[s], anchors[s + 1], position, table)
        if coarse:  # pieces may be larger in later divisions, so keep only the topmost division
            high = -1
            for s in range(pieces - 1):
                high = max(high, between[s])
            sides = 0
            for s in range(pieces):
                if s > 0 and between[s - 1] == high:
                    sides += 1
                    anchors[sides] = anchors[s]
                piece_side[s] = sides
            for k in range(begin, end):
                key[items[k]] = piece_side[key[items[k]]]
            pieces = sides + 1
            for s in range(pieces - 1):
                between[s] = high
        for s in range(pieces + 1):
            item_at[s] = 0
        for k in range(begin, end):
            item_at[key[items[k]] + 1] += 1
        item_at[0] = begin
        for s in range(pieces):
            item_at[s + 1] += item_at[s]
        for k in range(begin, end):
            s = key[items[k]]
            spare_items[item_at[s]] = items[k]
            item_at[s] += 1
        for s in range(pieces, 0, -1):
            item_at[s] = item_at[s - 1]
        item_at[0] = begin
        for k in range(begin, end):
            items[k] = spare_items[k]
        for s in range(pieces):
            room[s] = item_at[s + 1] - item_at[s]
        gather(key, room, rows, active, t_begin, t_end, pieces, spare_active, at)
        # Join the pieces as the old tree joins their anchors.
        count = induced(anchors, 0, pieces, between, stack, nodes, above, first, last)
        for k in range(count - 1, -1, -1):
            u = nodes[k]
            number_of[u] = made
            up[made] = over if above[u] < 0 else number_of[above[u]]
            size[made] = item_at[last[u] + 1] - item_at[first[u]]
            origin[made] = u
            made += 1
        for s in range(pieces):
            low = old
            if s > 0:
                low = between[s - 1]
            if s < pieces - 1 and between[s] < low:
                low = between[s]
            node = number_of[low]
            top = pair_lca(items[item_at[s]], items[item_at[s + 1] - 1], position, table)
            origin[node] = pair_lca(origin[node], top, position, table)
            pending[waiting, ITEMS_BEGIN], pending[waiting, ITEMS_END] = item_at[s], item_at[s + 1]
            pending[waiting, ROWS_BEGIN], pending[waiting, ROWS_END] = at[s], at[s + 1]
            pending[waiting, OVER], pending[waiting, DIVIDE] = node, 0
            waiting += 1
        for k in range(count - 1):
            node, over = number_of[nodes[k]], number_of[above[nodes[k]]]
            origin[over] = pair_lca(origin[over], origin[node], position, table)
    new = by_size(size, made, n)
    new_parent = np.full(made, -1, np.int32)
    new_origin = np.empty(made, np.int32)
    for v in range(made):
        new_origin[new[v]] = origin[v]
        if up[v] >= 0:
            new_parent[new[v]] = new[up[v]]
    return new_parent, new_origin


@njit
def repaired_heights(parent, origin, n, old_height):
    """Return the height of each node: that of its old LCA, spread evenly where several share one.

    A chain of nodes with the same LCA divides the interval between its height and the highest node
    below evenly. Heights do not decrease toward the root, as the LCA of a subset is never higher.
    """
    m = parent.size
    height = np.zeros(m)
    below = np.zeros(m)  # height of the highest node below the chain
    ahead = np.zeros(m, np.int32)  # longest path down inside the chain
    for v in range(n, m):
        height[v] = old_height[origin[v]]
    for v in range(n, m - 1):
        p = parent[v]
        if origin[v] == origin[p]:
            ahead[p] = max(ahead[p], ahead[v] + 1)
            below[p] = max(below[p], below[v])
        else:
            below[p] = max(below[p], height[v])
    rank = np.zeros(m, np.int32)
    for v in range(m - 2, n - 1, -1):
        if origin[v] == origin[parent[v]]:
            rank[v] = rank[parent[v]] + 1
            room = old_height[origin[v]] - below[v]
            height[v] = old_height[origin[v]] - room * rank[v] / (rank[v] + ahead[v] + 1)
    return height
