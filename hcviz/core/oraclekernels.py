"""Compiled parts of the similarity oracles: answers, which pairs were asked, and their cache."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def group_requests(members, offsets, n):
    """``(start, request)``: item x stands in the requests ``request[start[x]:start[x + 1]]``.

    Request q names the items ``members[offsets[q]:offsets[q + 1]]``.
    """
    start = np.zeros(n + 1, np.int64)
    for k in range(members.size):
        start[members[k] + 1] += 1
    for x in range(n):
        start[x + 1] += start[x]
    fill = start[:n].copy()
    request = np.empty(members.size, np.int32)
    for q in range(offsets.size - 1):
        for k in range(offsets[q], offsets[q + 1]):
            x = members[k]
            request[fill[x]] = q
            fill[x] += 1
    return start, request


@njit
def distinct_pairs(
    begin, end, rows, row_offsets, row_start, row_request, cols, col_offsets, col_start,
    col_request, place, cells,
):  # fmt: skip
    """Distinct pairs {x, y}, begin <= x < end, x < y, that some request holds.

    Every one is added to ``cells[place[x], place[y]]`` (int64 (k, k), its upper triangle), unless
    that has no cells. Time: the requests' area, twice; memory: 4 bytes an item.
    """
    n = row_start.size - 1
    seen = np.full(n, -1, np.int32)
    drawn = cells.size > 0
    count = 0
    for x in range(begin, end):
        for side in range(2):
            if side == 0:
                first, last = row_start[x], row_start[x + 1]
            else:
                first, last = col_start[x], col_start[x + 1]
            for r in range(first, last):
                if side == 0:
                    q = row_request[r]
                    others, low, high = cols, col_offsets[q], col_offsets[q + 1]
                else:
                    q = col_request[r]
                    others, low, high = rows, row_offsets[q], row_offsets[q + 1]
                for k in range(low, high):
                    y = others[k]
                    if y > x and seen[y] != x:
                        seen[y] = x
                        count += 1
                        if drawn:
                            a, b = place[x], place[y]
                            cells[min(a, b), max(a, b)] += 1
    return count


@njit
def known_shares(cells, held):
    """The share of similarities between groups that is known, float64 (k, k), symmetric.

    ``cells`` as of :func:`distinct_pairs`, ``held`` the groups' sizes. An item's similarity to
    itself is known, and so are those of a group without items.
    """
    k = held.size
    out = np.ones((k, k))
    for a in range(k):
        if held[a] == 0:
            continue
        for b in range(a, k):
            if held[b] == 0:
                continue
            known = 2 * cells[a, a] + held[a] if a == b else cells[a, b]
            out[a, b] = out[b, a] = known / (held[a] * held[b])
    return out


@njit
def first_bad(block, largest):
    """Place of the first value that is not a number up to ``largest``, row by row; -1 if none."""
    for i in range(block.shape[0]):
        row = block[i]
        for j in range(row.size):
            if not abs(row[j]) <= largest:
                return i * block.shape[1] + j
    return -1


@njit
def columns_of(vectors, cols):
    """The vectors of ``cols``, feature by feature: float64 (width, c), rows that lie in a line."""
    across = np.empty((vectors.shape[1], cols.size))
    for j in range(cols.size):
        for t in range(across.shape[0]):
            across[t, j] = vectors[cols[j], t]
    return across


@njit
def scaled_dots(units, rows, cols, shift, factor):
    """``shift + factor * <units[i], units[j]>`` for i in rows, j in cols: float64 (r, c).

    Sums run over the features in order, whatever the block, so that a pair has one value.
    """
    across = columns_of(units, cols)
    out = np.empty((rows.size, cols.size))
    for i in range(rows.size):
        unit = units[rows[i]]
        line = out[i]
        for j in range(cols.size):
            line[j] = 0.0
        for t in range(across.shape[0]):
            u = unit[t]
            other = across[t]
            for j in range(cols.size):
                line[j] += u * other[j]
        for j in range(cols.size):
            line[j] = shift + factor * line[j]
    return out


@njit
def gaussians(points, rows, cols, width):
    """``exp(-d^2 / 2 width^2)`` for i in rows, j in cols, d Euclidean: float64 (r, c)."""
    across = columns_of(points, cols)
    out = np.empty((rows.size, cols.size))
    for i in range(rows.size):
        point = points[rows[i]]
        line = out[i]
        for j in range(cols.size):
            line[j] = 0.0
        for t in range(across.shape[0]):
            u = point[t]
            other = across[t]
            for j in range(cols.size):
                line[j] += (u - other[j]) * (u - other[j])
        for j in range(cols.size):
            line[j] = np.exp(-line[j] / (2.0 * width * width))
    return out


# ---------------------------------------------------------------------- the cache
#
# Open addressing with linear probing: ``keys`` int64 (a power of two), -1 where free, ``values``
# beside. A pair's key is min * n + max.


@njit
def slot_of(keys, key):
    """Where ``key`` stands, or the free place where it would."""
    mask = keys.size - 1
    at = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
    while keys[at] >= 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit
def recall(keys, values, n, rows, cols, out, known):
    """Fill ``out`` and ``known`` (both (r, c)) with what the cache has; returns how much it lacks.

    An item's similarity to itself is nobody's question: known, and 0.
    """
    lacking = 0
    for i in range(rows.size):
        x = np.int64(rows[i])
        for j in range(cols.size):
            y = np.int64(cols[j])
            if x == y:
                known[i, j] = True
                out[i, j] = 0.0
                continue
            key = min(x, y) * n + max(x, y)
            at = slot_of(keys, key)
            known[i, j] = keys[at] == key
            if known[i, j]:
                out[i, j] = values[at]
            else:
                lacking += 1
    return lacking


@njit
def first_cells(n, rows, cols, known, room):
    """Which cell is asked for each one that is not ``known``: int64 (r, c), -1 where it is.

    The first one, row by row, of the same pair, counted row by row. ``room``: a power of two, more
    than twice as many as there are such cells.
    """
    keys = np.full(room, -1, np.int64)
    places = np.empty(room, np.int64)
    out = np.full(known.shape, -1, np.int64)
    for i in range(rows.size):
        x = np.int64(rows[i])
        for j in range(cols.size):
            if known[i, j]:
                continue
            y = np.int64(cols[j])
            key = min(x, y) * n + max(x, y)
            at = slot_of(keys, key)
            if keys[at] < 0:
                keys[at] = key
                places[at] = i * cols.size + j
            out[i, j] = places[at]
    return out


@njit
def remember(keys, values, n, rows, cols, block, known, held, most):
    """Keep the block's pairs that are not ``known`` (r, c) while fewer than ``most`` are held;
    returns how many are.

    The caller sees to it that the table stays half empty.
    """
    for i in range(rows.size):
        x = np.int64(rows[i])
        for j in range(cols.size):
            y = np.int64(cols[j])
            if known[i, j] or held >= most:
                continue
            key = min(x, y) * n + max(x, y)
            at = slot_of(keys, key)
            if keys[at] < 0:
                keys[at] = key
                values[at] = block[i, j]
                held += 1
    return held


@njit
def moved(keys, values, room):
    """The same cache in a table of ``room`` places: ``(keys, values)``."""
    new_keys = np.full(room, -1, np.int64)
    new_values = np.empty(room)
    for k in range(keys.size):
        if keys[k] >= 0:
            at = slot_of(new_keys, keys[k])
            new_keys[at] = keys[k]
            new_values[at] = values[k]
    return new_keys, new_values
