"""Compiled passes of the posterior summaries: shapes for LCA look-ups, clade codes and their table.

The *shape* of a tree is what its LCAs need: ``place`` (n,), each leaf's position in a depth-first
order; ``gap`` (n - 1,), the depth in edges of the LCA of the leaves at places k and k + 1; and
``depth`` (n,) of each leaf. The depth of the LCA of any two leaves is the least gap between them.
Many trees at once: the same with the tree as the first axis.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.core.treekernels import depths, first_leaf_positions, subtree_sizes


@njit
def shape_of(parent, n):
    """``(place, gap, depth)`` of one tree, int32. O(m)."""
    size = subtree_sizes(parent, n)
    start = first_leaf_positions(parent, size)
    depth = depths(parent)
    gap = np.empty(max(n - 1, 0), np.int32)
    for v in range(parent.size - 1):
        p = parent[v]
        if start[v] > start[p]:  # not the first child: a boundary lies before it
            gap[start[v] - 1] = depth[p]
    return start[:n].copy(), gap, depth[:n].copy()


@njit
def logs(n):
    """floor(log2(k)) for k = 0..n (0 at 0), int32."""
    out = np.zeros(n + 1, np.int32)
    for k in range(2, n + 1):
        out[k] = out[k // 2] + 1
    return out


@njit
def fill_table(gap, table):
    """``table[k, i]`` = the least of ``gap[i : i + 2^k]``. O(n log n)."""
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
    """The least gap at places low .. high - 1: LCA depth of the leaves at ``low`` < ``high``."""
    k = log[high - low]
    return min(table[k, low], table[k, high - (1 << k)])


@njit
def sort_by_place(place, subset, at, where):
    """Positions in ``subset`` by place in one tree, into ``at``; those places into ``where``.

    Insertion: subsets are small. O(s^2).
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
def count_triplets(place, gap, rows, out, held):
    """For many trees: ``out`` (k, 3) += ab|c, ac|b, bc|a; ``held[t]``: whether all rows' ab|c hold.

    O(trees (n log n + k)). Of three leaves in depth-first order the nearer pair is told by two
    LCAs: first with second against second with third.
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
            # x, y: which item is first, which last; the third is in the middle
            low = min(p, q, s)
            high = max(p, q, s)
            middle = p + q + s - low - high
            left = least(table, log, low, middle)
            right = least(table, log, middle, high)
            # Without branches, which nobody could predict. The place of the leaf that stands apart:
            outside = high * (left > right) + low * (left < right) - (left == right)
            out[r, 0] += outside == s
            out[r, 1] += outside == q
            out[r, 2] += outside == p
            every &= outside == s
        held[t] = every


@njit
def count_distances(place, gap, depth, subsets, induced, total, square):
    """Sums and sums of squares over trees of the edges between every two leaves of every subset.

    ``total``, ``square``: int64 (L, s, s), upper triangles. ``induced``: in the tree restricted to
    the subset, whose nodes with one child vanish, instead of in the whole tree.
    O(trees (n log n + L s^2)).
    """
    trees, n = place.shape
    many, s = subsets.shape
    log = logs(n)
    table = np.empty((log[n] + 1, max(n - 1, 1)), np.int32)
    at = np.empty(s, np.int32)  # members by place
    where = np.empty(s, np.int32)
    deep = np.empty(s, np.int32)  # LCA depth of neighbours: in the whole tree,
    level = np.empty(s, np.int32)  # and in the induced one
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
                # Equal gaps with nothing higher between are one node: link each gap to the next
                # higher node (a Cartesian tree), then count nodes from the top.
                top = 0
                for i in range(s - 1):
                    last = -1
                    while top > 0 and deep[stack[top - 1]] > deep[i]:
                        if last >= 0:
                            above[last] = stack[top - 1]
                        last = stack[top - 1]
                        top -= 1
                    if top > 0 and deep[stack[top - 1]] == deep[i]:
                        above[i] = stack[top - 1]  # the same node, named by its first gap
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
                for i in range(s - 1):  # climb: at most s nodes
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
    """Mean and variance over trees of the depth of LCA(i, j), for items begin, begin + 1, ...

    ``mean``, ``variance``: float64 (rows, n). From each item outward, so that a row of sums stays
    in the cache. O(rows * trees * n).
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


@njit
def clade_codes(parent, n, keys):
    """The exclusive or of the leaves' random keys below each node, uint64 (m, 2). O(m)."""
    code = np.zeros((parent.size, 2), np.uint64)
    code[:n] = keys
    for v in range(parent.size - 1):
        p = parent[v]
        code[p, 0] ^= code[v, 0]
        code[p, 1] ^= code[v, 1]
    return code


@njit
def find(key, used, first, second):
    """The slot of a code, or of the empty place where it would go (linear probing)."""
    mask = np.uint64(key.shape[0] - 1)
    slot = np.int64(first & mask)
    while used[slot] and not (key[slot, 0] == first and key[slot, 1] == second):
        slot += 1
        if slot == key.shape[0]:
            slot = 0
    return slot


@njit
def look_up(key, used, codes):
    """Slots of ``codes`` (k, 2), -1 for those not held: int64 (k,)."""
    out = np.empty(codes.shape[0], np.int64)
    for i in range(codes.shape[0]):
        slot = find(key, used, codes[i, 0], codes[i, 1])
        out[i] = slot if used[slot] else -1
    return out


@njit
def count_clades(key, used, count, missed, last, height, codes, heights, error, now):
    """Count each of ``codes``; ``(slots, how many were new)``. There must be room for all."""
    slots = np.empty(codes.shape[0], np.int64)
    new = 0
    for i in range(codes.shape[0]):
        slot = find(key, used, codes[i, 0], codes[i, 1])
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
    """``out[k, j]``: whether row k of ``codes`` (r, w) has ``targets[j]``."""
    for k in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            x = codes[k, i]
            for j in range(targets.size):
                if x == targets[j]:
                    out[k, j] = True


@njit
def set_bits(leaf_order, begin, end, row):
    """The items at places begin .. end - 1 as bits of ``row``, uint64 words."""
    for k in range(begin, end):
        item = leaf_order[k]
        row[item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@njit
def draw_codes(parent, nodes, n, keys, one_in, out):
    """First halves of the codes of many trees' clades, into ``out`` (draws, n - 2), filled with 0.

    ``parent`` (draws, 2n - 1) holds ``nodes`` of each tree. Only the codes whose second half is a
    multiple of ``one_in`` are written. O(draws * n).
    """
    for k in range(parent.shape[0]):
        code = clade_codes(parent[k, : nodes[k]], n, keys)
        place = 0
        for v in range(n, nodes[k] - 1):
            if code[v, 1] % one_in == 0:
                out[k, place] = code[v, 0]
                place += 1


@njit
def count_draws(
    key, used, count, missed, last, height, parent, nodes, heights, n, keys, error, now, slots
):
    """:func:`count_clades` of many trees; the slots of their clades into ``slots`` (draws, n - 2).

    ``heights`` (draws, n - 1) are those of inner nodes; ``now`` is the number of the first tree.
    Returns how many clades were new. There must be room for all.
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
