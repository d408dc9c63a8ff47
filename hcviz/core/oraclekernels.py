"""Compiled parts of the similarity oracles: similarities, counts of pairs, and the cache."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def group_requests(members, offsets, n):
    """Return ``(start, request)``: item x is in the requests ``request[start[x]:start[x + 1]]``.

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
    col_request, group, between,
):  # fmt: skip
    """Count the distinct pairs {x, y}, begin <= x < end, x < y, in the requests.

    Each pair is added to ``between[group[x], group[y]]`` (int64 (k, k), upper triangle), unless
    ``between`` is empty. Each similarity in a request is visited twice; 4 bytes for each item.
    """
    n = row_start.size - 1
    seen = np.full(n, -1, np.int32)
    grouped = between.size > 0
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
                        if grouped:
                            a, b = group[x], group[y]
                            between[min(a, b), max(a, b)] += 1
    return count


@njit
def known_shares(between, sizes):
    """Return the share of known similarities between groups, float64 (k, k), symmetric.

    ``between`` is from :func:`distinct_pairs`; ``sizes`` are the numbers of items. The similarity
    of an item to itself counts as known. A group without items has the share 1.
    """
    k = sizes.size
    out = np.ones((k, k))
    for a in range(k):
        if sizes[a] == 0:
            continue
        for b in range(a, k):
            if sizes[b] == 0:
                continue
            known = 2 * between[a, a] + sizes[a] if a == b else between[a, b]
            out[a, b] = out[b, a] = known / (sizes[a] * sizes[b])
    return out


@njit
def first_invalid(block, largest):
    """Return the flat index of the first value that is not a number up to ``largest``, or -1."""
    for i in range(block.shape[0]):
        row = block[i]
        for j in range(row.size):
            if not abs(row[j]) <= largest:
                return i * block.shape[1] + j
    return -1


@njit
def gather_columns(vectors, cols):
    """Return the vectors of ``cols`` with one row for each feature: float64 (d, c), contiguous."""
    across = np.empty((vectors.shape[1], cols.size))
    for j in range(cols.size):
        for t in range(across.shape[0]):
            across[t, j] = vectors[cols[j], t]
    return across


@njit
def scaled_dots(units, rows, cols, shift, factor):
    """``shift + factor * <units[i], units[j]>`` for i in rows, j in cols: float64 (r, c).

    Sums are over the features in order, so the value of a pair does not depend on the block.
    """
    across = gather_columns(units, cols)
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
    across = gather_columns(points, cols)
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
# A hash table with linear probing. ``keys`` int64 (a power of two) is -1 in a free slot; ``values``
# has the similarity in the same slot. The key of a pair is min * n + max.


@njit
def find_slot(keys, key):
    """Return the slot of ``key``, or the free slot for it."""
    mask = keys.size - 1
    at = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
    while keys[at] >= 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit
def read_cache(keys, values, n, rows, cols, out, known):
    """Fill ``out`` and ``known`` (both (r, c)) from the cache; return the number of missing cells.

    An item with itself is never asked for: it counts as known, with the value 0.
    """
    missing = 0
    for i in range(rows.size):
        x = np.int64(rows[i])
        for j in range(cols.size):
            y = np.int64(cols[j])
            if x == y:
                known[i, j] = True
                out[i, j] = 0.0
                continue
            key = min(x, y) * n + max(x, y)
            at = find_slot(keys, key)
            known[i, j] = keys[at] == key
            if known[i, j]:
                out[i, j] = values[at]
            else:
                missing += 1
    return missing


@njit
def first_requests(n, rows, cols, known, slots):
    """Return the flat index of the first cell with the same pair, for each cell: int64 (r, c).

    -1 where ``known``. ``slots`` is the size of a hash table: a power of two, more than twice the
    number of unknown cells.
    """
    keys = np.full(slots, -1, np.int64)
    places = np.empty(slots, np.int64)
    out = np.full(known.shape, -1, np.int64)
    for i in range(rows.size):
        x = np.int64(rows[i])
        for j in range(cols.size):
            if known[i, j]:
                continue
            y = np.int64(cols[j])
            key = min(x, y) * n + max(x, y)
            at = find_slot(keys, key)
            if keys[at] < 0:
                keys[at] = key
                places[at] = i * cols.size + j
            out[i, j] = places[at]
    return out


@njit
def write_cache(keys, values, n, rows, cols, block, known, count, most):
    """Add the cells of a block that are not ``known`` (r, c), up to ``most`` pairs in all.

    ``count`` is the number of pairs in the cache; the new number is returned. At least half of the
    slots must stay free.
    """
    for i in range(rows.size):
        x = np.int64(rows[i])
        for j in range(cols.size):
            y = np.int64(cols[j])
            if known[i, j] or count >= most:
                continue
            key = min(x, y) * n + max(x, y)
            at = find_slot(keys, key)
            if keys[at] < 0:
                keys[at] = key
                values[at] = block[i, j]
                count += 1
    return count


@njit
def resize_cache(keys, values, slots):
    """Copy the cache to a table with ``slots`` slots: ``(keys, values)``."""
    new_keys = np.full(slots, -1, np.int64)
    new_values = np.empty(slots)
    for k in range(keys.size):
        if keys[k] >= 0:
            at = find_slot(new_keys, keys[k])
            new_keys[at] = keys[k]
            new_values[at] = values[k]
    return new_keys, new_values
