"""Compiled passes of the posterior summaries: shapes for LCA depths, clade codes and their table.

The *shape* of a tree determines the depths of all LCAs: ``place`` (n,) is the position of each leaf
in a depth-first order; ``gap`` (n - 1,) is the depth, in edges, of the LCA of the leaves at the
positions k and k + 1; ``depth`` (n,) is the depth of each leaf. The depth of the LCA of two leaves
is the minimum gap between them. For many trees, the first axis is the tree.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.core.treekernels import depths, first_leaf_positions, subtree_sizes

# Columns of codes of clades: the two halves of 64 bits
FIRST, SECOND = 0, 1


@njit
def shape_of(parent, n):
    """Return the shape ``(place, gap, depth)`` of one tree, int32. O(m)."""
    size = subtree_sizes(parent, n)
    start = first_leaf_positions(parent, size)
    depth = depths(parent)
    gap = np.empty(max(n - 1, 0), np.int32)
    for v in range(parent.size - 1):
        p = parent[v]
        if start[v] > start[p]:  # v is not the first child, so p is the LCA at its left boundary
            gap[start[v] - 1] = depth[p]
    return start[:n].copy(), gap, depth[:n].copy()


@njit
def logs(n):
    """Return floor(log2(k)) for k = 0..n (0 at 0), int32."""
    out = np.zeros(n + 1, np.int32)
    for k in range(2, n + 1):
        out[k] = out[k // 2] + 1
    return out


@njit
def fill_table(gap, table):
    """Set ``table[k, i]`` to the minimum of ``gap[i : i + 2^k]``. O(n log n)."""
    width = gap.size
    table[0, :width] = gap
    k = 1
    while (1 << k) <= width:
        half = 1 << (k - 1)
        for i in range(width - (1 << k) + 1):
            table[k, i] = min(table[k - 1, i], table[k - 1, i + half])
        k += 1


@njit
def least(table, log, low, high):
    """Return the minimum gap at low .. high - 1: the LCA depth of the leaves at low < high."""
    k = log[high - low]
    return min(table[k, low], table[k, high - (1 << k)])


@njit
def sort_by_place(place, subset, at, where):
    """Sort the items of ``subset`` by position in one tree.

    Writes their indices in ``subset`` to ``at`` and their positions to ``where``. Insertion sort,
    since subsets are small: O(s^2).
    """
    for i in range(subset.size):
        here = place[subset[i]]
        j = i
        while j > 0 and where[j - 1] > here:
            where[j] = where[j - 1]
            at[j] = at[j - 1]
            j -= 1
        where[j] = here
        at[j] = i


@njit
def count_triplets(place, gap, rows, out, satisfied):
    """Count ab|c, ac|b and bc|a over many trees for each row a, b, c, in ``out`` (k, 3).

    ``satisfied[t]`` becomes True if tree t has ab|c for all rows. For three leaves in depth-first
    order, the LCA depths of the first two and of the last two determine the nearer pair.
    O(trees (n log n + k)).
    """
    trees, n = place.shape
    log = logs(n)
    table = np.empty((log[n] + 1, max(n - 1, 1)), np.int32)
    for t in range(trees):
        fill_table(gap[t], table)
        here = place[t]
        every = True
        for r in range(rows.shape[0]):
            p, q, s = here[rows[r, 0]], here[rows[r, 1]], here[rows[r, 2]]
            low = min(p, q, s)
            high = max(p, q, s)
            middle = p + q + s - low - high
            left = least(table, log, low, middle)
            right = least(table, log, middle, high)
            # The position of the leaf outside the nearer pair; -1 if unresolved. Arithmetic is
            # faster here than unpredictable branches.
            outside = high * (left > right) + low * (left < right) - (left == right)
            out[r, 0] += outside == s
            out[r, 1] += outside == q
            out[r, 2] += outside == p
            every &= outside == s
        satisfied[t] = every


@njit
def count_distances(place, gap, depth, subsets, induced, total, square):
    """Sum the numbers of edges between each two leaves of each subset, and their squares.

    The sums over trees are added to the upper triangles of ``total`` and ``square``, int64
    (L, s, s). ``induced``: count edges in the tree restricted to the subset, instead of in the
    whole tree. O(trees (n log n + L s^2)).
    """
    trees, n = place.shape
    many, s = subsets.shape
    log = logs(n)
    table = np.empty((log[n] + 1, max(n - 1, 1)), np.int32)
    at = np.empty(s, np.int32)  # indices in the subset, sorted by position
    where = np.empty(s, np.int32)
    deep = np.empty(s, np.int32)  # LCA depth of neighbours, in the whole or the induced tree
    level = np.empty(s, np.int32)  # -1 if the gap belongs to the node of an earlier gap
    stack = np.empty(s, np.int32)
    above = np.empty(s, np.int32)
    leaf = np.empty(s, np.int32)
    for t in range(trees):
        fill_table(gap[t], table)
        for c in range(many):
            sort_by_place(place[t], subsets[c], at, where)
            for i in range(s - 1):
                deep[i] = least(table, log, where[i], where[i + 1])
            if induced:
                # Build a Cartesian tree of the gaps. Equal gaps without a smaller gap between
                # them are one node. Then count the nodes above each gap.
                top = 0
                for i in range(s - 1):
                    last = -1
                    while top > 0 and deep[stack[top - 1]] > deep[i]:
                        if last >= 0:
                            above[last] = stack[top - 1]
                        last = stack[top - 1]
                        top -= 1
                    if top > 0 and deep[stack[top - 1]] == deep[i]:
                        above[i] = stack[top - 1]  # the same node, identified by its first gap
                        if last >= 0:
                            above[last] = stack[top - 1]
                        level[i] = -1
                        continue
                    if last >= 0:
                        above[last] = i
                    level[i] = 0
                    stack[top] = i
                    top += 1
                for x in range(1, top):
                    above[stack[x]] = stack[x - 1]
                above[stack[0]] = -1
                for i in range(s - 1):  # at most s steps to the root
                    x = above[i] if level[i] < 0 else i
                    steps = 0
                    while above[x] >= 0:
                        x = above[x]
                        steps += 1
                    deep[i] = steps
                for i in range(s):
                    before = deep[i - 1] if i > 0 else -1
                    after = deep[i] if i < s - 1 else -1
                    leaf[i] = max(before, after) + 1
            else:
                for i in range(s):
                    leaf[i] = depth[t, subsets[c, at[i]]]
            for i in range(s - 1):
                low = deep[i]
                for j in range(i + 1, s):
                    low = min(low, deep[j - 1])
                    edges = np.int64(leaf[i] + leaf[j] - 2 * low)
                    x, y = min(at[i], at[j]), max(at[i], at[j])
                    total[c, x, y] += edges
                    square[c, x, y] += edges * edges


@njit
def depth_rows(place, order, gap, depth, begin, mean, variance):
    """Compute mean and variance over trees of the depth of LCA(i, j), for i = begin, begin + 1, ...

    Fills ``mean`` and ``variance``, float64 (rows, n). O(rows * trees * n). The loop goes outward
    from each item, so that a row of sums stays in the CPU cache.
    """
    trees, n = place.shape
    total = np.empty(n, np.int64)
    square = np.empty(n, np.int64)
    for r in range(mean.shape[0]):
        i = begin + r
        total[:] = 0
        square[:] = 0
        for t in range(trees):
            low = np.int64(depth[t, i])
            total[i] += low
            square[i] += low * low
            here = place[t, i]
            low = np.int64(n)
            for q in range(here + 1, n):
                low = min(low, np.int64(gap[t, q - 1]))
                j = order[t, q]
                total[j] += low
                square[j] += low * low
            low = np.int64(n)
            for q in range(here - 1, -1, -1):
                low = min(low, np.int64(gap[t, q]))
                j = order[t, q]
                total[j] += low
                square[j] += low * low
        for j in range(n):
            mean[r, j] = total[j] / trees
            variance[r, j] = (trees * square[j] - total[j] * total[j]) / (trees * trees)


# ---------------------------------------------------------------------- clades


@njit(shared=True)
def clade_codes(parent, n, keys):
    """Return the exclusive or of the keys of the leaves below each node, uint64 (m, 2). O(m)."""
    code = np.zeros((parent.size, 2), np.uint64)
    code[:n] = keys
    for v in range(parent.size - 1):
        p = parent[v]
        code[p, FIRST] ^= code[v, FIRST]
        code[p, SECOND] ^= code[v, SECOND]
    return code


@njit
def find(key, used, first, second):
    """Return the slot of a code, or the free slot for it (linear probing)."""
    mask = np.uint64(key.shape[0] - 1)
    slot = np.int64(first & mask)
    while used[slot] and not (key[slot, FIRST] == first and key[slot, SECOND] == second):
        slot += 1
        if slot == key.shape[0]:
            slot = 0
    return slot


@njit
def look_up(key, used, codes):
    """Return the slots of ``codes`` (k, 2), -1 for those not in the table: int64 (k,)."""
    out = np.empty(codes.shape[0], np.int64)
    for i in range(codes.shape[0]):
        slot = find(key, used, codes[i, FIRST], codes[i, SECOND])
        out[i] = slot if used[slot] else -1
    return out


@njit(shared=True)
def count_clades(key, used, count, missed, last, height, codes, heights, error, now):
    """Count each of ``codes``; return their slots and the number of new ones.

    The table must have free slots for all codes.
    """
    slots = np.empty(codes.shape[0], np.int64)
    new = 0
    for i in range(codes.shape[0]):
        slot = find(key, used, codes[i, FIRST], codes[i, SECOND])
        if not used[slot]:
            used[slot] = True
            key[slot] = codes[i]
            count[slot] = 0
            height[slot] = 0.0
            missed[slot] = error
            new += 1
        count[slot] += 1
        height[slot] += heights[i]
        last[slot] = now
        slots[i] = slot
    return slots, new


@njit
def contained(codes, targets, out):
    """Set ``out[k, j]`` to True if row k of ``codes`` (r, w) contains ``targets[j]``."""
    for k in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            x = codes[k, i]
            for j in range(targets.size):
                if x == targets[j]:
                    out[k, j] = True


@njit
def contained_sorted(codes, targets, out):
    """Set ``out[j, k]`` to True if row k of ``codes`` (r, w) contains ``targets[j]``.

    The targets must increase. O(r w log k) for k of them.
    """
    for k in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            low, high = 0, targets.size
            while low < high:
                middle = (low + high) // 2
                if targets[middle] < codes[k, i]:
                    low = middle + 1
                else:
                    high = middle
            if low < targets.size and targets[low] == codes[k, i]:
                out[low, k] = True


@njit
def set_bits(leaf_order, begin, end, row):
    """Set the bits of the items at positions begin .. end - 1 in ``row``, uint64 words."""
    for k in range(begin, end):
        item = leaf_order[k]
        row[item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@njit
def draw_codes(parent, nodes, n, keys, one_in, out):
    """Write the first halves of the clades' codes of many trees to ``out`` (draws, n - 2).

    ``out`` must be filled with 0. ``parent`` (draws, 2n - 1) has ``nodes`` entries for each tree.
    Only codes whose second half is a multiple of ``one_in`` are written. O(draws * n).
    """
    for k in range(parent.shape[0]):
        code = clade_codes(parent[k, : nodes[k]], n, keys)
        place = 0
        for v in range(n, nodes[k] - 1):
            if code[v, SECOND] % one_in == 0:
                out[k, place] = code[v, FIRST]
                place += 1


@njit
def draw_credibilities(key, used, count, parent, nodes, n, keys, trees, out):
    """Write each tree's sum of log supports to ``out`` (draws,). O(draws * n).

    An uncounted clade has the support of half a tree; ``trees`` is their number.
    """
    for k in range(parent.shape[0]):
        code = clade_codes(parent[k, : nodes[k]], n, keys)
        total = 0.0
        for v in range(n, nodes[k] - 1):
            slot = find(key, used, code[v, FIRST], code[v, SECOND])
            total += np.log(max(count[slot] if used[slot] else 0.0, 0.5) / trees)
        out[k] = total


@njit
def count_draws(
    key, used, count, missed, last, height, parent, nodes, heights, n, keys, error, now, slots
):
    """Count the clades of many trees as :func:`count_clades` does; return the number of new ones.

    The slots of their clades are written to ``slots`` (draws, n - 2). ``heights`` (draws, n - 1)
    are those of inner nodes; ``now`` is the number of the first tree. The table must have free
    slots for all clades.
    """
    new = 0
    for k in range(parent.shape[0]):
        code = clade_codes(parent[k, : nodes[k]], n, keys)
        end = nodes[k] - 1
        found, fresh = count_clades(
            key, used, count, missed, last, height,
            code[n:end], heights[k, : end - n], error, now + k,
        )  # fmt: skip
        slots[k, : end - n] = found
        slots[k, end - n :] = -1
        new += fresh
    return new
