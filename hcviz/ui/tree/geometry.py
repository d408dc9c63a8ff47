"""Rows, collapsed clades, picking and pooling of the drawn tree, without Bokeh.

*Places* count leaves in the shown order, 0..n-1. *Rows* are what a person sees: a leaf takes one
row, and a collapsed clade takes a few (:func:`wedge_rows`), whatever its size. What is too small to
be drawn is handled by :mod:`hcviz.ui.tree.scene`. Rows grow downward; the figures negate them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import layout as paper
from hcviz.core.jit import njit
from hcviz.core.tree import Tree

Int = NDArray[np.int32]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

#: Rows of a collapsed clade at most. In a large tree it is 1 / ``WEDGE_SHARE`` of all leaves, since
#: fewer rows would not be visible.
WEDGE_ROWS, WEDGE_SHARE = 3, 50
#: Value of a missing cell in a quantised matrix.
MISSING = 255
#: Cells that one pooled texel reads at most in each direction. So the work is bounded for any n.
MAX_SAMPLES = 4


@dataclass(frozen=True, eq=False)
class Layout:
    """A tree in rows. Arrays over nodes have length m, over places n, over rows R."""

    tree: Tree
    order: Int  # (n,) leaf at each place
    collapsed: Bool  # (m,) True for collapsed nodes that are not inside another
    row_start: Int  # (R+1,) first place of each row
    place_row: Int  # (n,) row of each place
    owner: Int  # (m,) the collapsed node at or above each node, or -1
    leaf_y: Float  # (n,) centre of each leaf, or of its collapsed clade
    low: Int
    high: Int
    y: Float  # (m,) row of each node
    top: Float  # (m,) first row edge of each node's clade
    bottom: Float  # (m,) last row edge
    first: Int  # (m,) place of each node's first leaf

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.row_start.size - 1)

    @cached_property
    def place(self) -> Int:
        """The place of each leaf, int32 (n,)."""
        place = np.empty(self.order.size, np.int32)
        place[self.order] = np.arange(self.order.size, dtype=np.int32)
        return place

    def row_leaves(self, row: int) -> Int:
        """Return the leaves of one row: one leaf, or a part of a collapsed clade."""
        return self.order[self.row_start[row] : self.row_start[row + 1]]

    def leaves(self, node: int) -> Int:
        """Return the leaves below ``node`` from top to bottom, a view of :attr:`order`."""
        first = self.first[node]
        return self.order[first : first + self.tree.size[node]]


def wedge_rows(n: int) -> int:
    """Return the rows of a collapsed clade at most, in a tree of ``n`` leaves."""
    return max(WEDGE_ROWS, -(-n // WEDGE_SHARE))


def lay_out(
    tree: Tree, order: ArrayLike, collapsed: ArrayLike = (), most: int | None = None
) -> Layout:
    """Return the rows for ``tree`` in a leaf order, int (n,). O(m).

    ``collapsed`` lists the collapsed inner nodes. One inside another has no effect. A collapsed
    clade takes at most ``most`` rows; by default as many as :func:`wedge_rows` says.
    """
    places = np.array(order, dtype=np.int32)
    marked = np.zeros(tree.n_nodes, np.bool_)
    marked[np.asarray(collapsed, dtype=np.int64)] = True
    marked[: tree.n_leaves] = False
    topmost, owner = _owners(tree.parent, marked)
    row_start, place_row, leaf_top, leaf_bottom = _rows(
        places, owner, tree.size, wedge_rows(tree.n_leaves) if most is None else most
    )
    leaf_y = 0.5 * (leaf_top + leaf_bottom)
    low, high, y = paper.outer_children(tree.parent, leaf_y)
    top, bottom = _extents(tree.parent, leaf_top, leaf_bottom)
    return Layout(
        tree, places, topmost, row_start, place_row, owner, leaf_y, low, high, y, top, bottom,
        _first_places(tree.parent, places),
    )  # fmt: skip


@njit
def _owners(parent: Any, marked: Any) -> Any:
    m = parent.size
    collapsed = np.zeros(m, np.bool_)
    owner = np.full(m, -1, np.int32)
    for v in range(m - 1, -1, -1):
        p = parent[v]
        if p >= 0 and owner[p] >= 0:
            owner[v] = owner[p]
        elif marked[v]:
            owner[v] = v
            collapsed[v] = True
    return collapsed, owner


@njit
def _rows(order: Any, owner: Any, size: Any, wedge_rows: Any) -> Any:
    n = order.size
    row_start = np.zeros(n + 1, np.int32)
    place_row = np.zeros(n, np.int32)
    leaf_top = np.zeros(n, np.float64)
    leaf_bottom = np.zeros(n, np.float64)
    rows = 0
    p = 0
    while p < n:
        node = owner[order[p]]
        count = size[node] if node >= 0 else 1
        height = min(wedge_rows, count)
        for k in range(height):
            row_start[rows + k] = p + (k * count) // height
        row = 0
        for q in range(count):
            while row + 1 < height and q >= ((row + 1) * count) // height:
                row += 1
            leaf = order[p + q]
            place_row[p + q] = rows + row
            leaf_top[leaf] = rows
            leaf_bottom[leaf] = rows + height
        rows += height
        p += count
    row_start[rows] = n
    return row_start[: rows + 1].copy(), place_row, leaf_top, leaf_bottom


@njit
def _first_places(parent: Any, order: Any) -> Any:
    first = np.full(parent.size, order.size, np.int32)
    for place in range(order.size):
        first[order[place]] = place
    for v in range(parent.size - 1):
        first[parent[v]] = min(first[parent[v]], first[v])
    return first


@njit
def _extents(parent: Any, leaf_top: Any, leaf_bottom: Any) -> Any:
    m = parent.size
    n = leaf_top.size
    top = np.full(m, np.inf)
    bottom = np.full(m, -np.inf)
    top[:n] = leaf_top
    bottom[:n] = leaf_bottom
    for v in range(m - 1):
        p = parent[v]
        top[p] = min(top[p], top[v])
        bottom[p] = max(bottom[p], bottom[v])
    return top, bottom


# ---------------------------------------------------------------------- clades and stretches


def clade_node(tree: Tree, leaves: ArrayLike) -> int | None:
    """Return the node whose leaves are exactly ``leaves``, or None. O(their number)."""
    wanted = np.unique(np.asarray(leaves, dtype=np.int64))
    if wanted.size == 0 or wanted[0] < 0 or wanted[-1] >= tree.n_leaves:
        return None
    node = tree.smallest_clade(wanted)
    return node if tree.size[node] == wanted.size else None


def row_ranges(layout: Layout, leaves: ArrayLike, least: float = 0.0) -> list[tuple[float, float]]:
    """Return the rows of ``leaves`` as maximal ranges [first, last). O(n).

    Ranges are ``least`` rows high at least. Ranges nearer to each other than that are joined.
    """
    chosen = np.asarray(leaves, dtype=np.int64)
    if chosen.size == 0:
        return []
    on = np.zeros(layout.n_rows, np.bool_)
    on[layout.place_row[layout.place[chosen]]] = True
    rows = np.flatnonzero(on)
    breaks = np.flatnonzero(np.diff(rows) > max(1.0, least))
    firsts = rows[np.concatenate(([0], breaks + 1))].astype(np.float64)
    lasts = rows[np.concatenate((breaks, [rows.size - 1]))] + 1.0
    short = np.maximum(0.0, 0.5 * (least - (lasts - firsts)))
    return list(zip((firsts - short).tolist(), (lasts + short).tolist(), strict=True))


# ---------------------------------------------------------------------- picking


def row_at(layout: Layout, y: float) -> int:
    """Return the row under y, or the nearest one, so that every click selects something."""
    return int(min(max(np.floor(y), 0), layout.n_rows - 1))


# ---------------------------------------------------------------------- matrices as small pictures


def quantise(matrix: ArrayLike, low: float, high: float) -> Bytes:
    """Return levels 0 to 254 over [low, high] (clipped), 255 where not finite: uint8."""
    values = np.asarray(matrix)
    span = high - low
    scale = 254.0 / span if span > 0 else 0.0
    out = np.empty(values.shape, np.uint8)
    step = max(1, 4_000_000 // max(1, values.shape[-1]))
    for a in range(0, values.shape[0], step):  # in bands: no second matrix of floats
        band = np.asarray(values[a : a + step], np.float64)
        with np.errstate(invalid="ignore"):
            level = np.clip(np.rint((band - low) * scale), 0, 254)
        out[a : a + step] = np.where(np.isfinite(band), level, MISSING)
    return out


def bins(starts: Int, first: int, last: int, limit: int) -> Int:
    """Return the first places of at most ``limit`` bins over rows [first, last), and the end."""
    count = min(limit, last - first)
    edges = first + (np.arange(count + 1) * (last - first)) // count
    return np.ascontiguousarray(starts[edges], dtype=np.int32)


def pool(levels: Bytes, rows: Int, row_order: Int, columns: Int, column_order: Int) -> Bytes:
    """Return the mean level of each bin of cells, without missing ones: uint8 (len(rows)-1, ...).

    A bin with more than ``MAX_SAMPLES`` rows or columns is sampled evenly. So a texel reads at most
    ``MAX_SAMPLES`` squared cells for any n. A bin without known cells is missing.
    """
    return _pool(
        levels, rows, np.ascontiguousarray(row_order, dtype=np.int32),
        columns, np.ascontiguousarray(column_order, dtype=np.int32), MAX_SAMPLES,
    )  # fmt: skip


def sample_evenly(edges: Int, most: int) -> tuple[Int, Int]:
    """Return evenly spaced places of each bin between ``edges``, at most ``most``, and their bins.

    Both are int32. :func:`pool` reads the same items with another ``most``.
    """
    offsets, places = _samples(edges, np.arange(edges[-1], dtype=np.int32), most)
    return places, np.repeat(np.arange(edges.size - 1, dtype=np.int32), np.diff(offsets))


@njit
def _samples(edges: Any, order: Any, most: Any) -> Any:
    """Return the items that each bin reads: ``(offsets, items)``."""
    offsets = np.zeros(edges.size, np.int32)
    items = np.empty((edges.size - 1) * most, np.int32)
    k = 0
    for b in range(edges.size - 1):
        count = edges[b + 1] - edges[b]
        taken = min(count, most)
        for s in range(taken):
            items[k] = order[edges[b] + (2 * s + 1) * count // (2 * taken)]
            k += 1
        offsets[b + 1] = k
    return offsets, items[:k]


@njit
def _pool(
    levels: Any, rows: Any, row_order: Any, columns: Any, column_order: Any, most: Any
) -> Any:
    row_off, row_items = _samples(rows, row_order, most)
    col_off, col_items = _samples(columns, column_order, most)
    height, width = rows.size - 1, columns.size - 1
    out = np.empty((height, width), np.uint8)
    total = np.empty(width, np.int32)
    count = np.empty(width, np.int32)
    for r in range(height):
        total[:] = 0
        count[:] = 0
        for a in range(row_off[r], row_off[r + 1]):
            line = levels[row_items[a]]
            for c in range(width):
                for b in range(col_off[c], col_off[c + 1]):
                    level = line[col_items[b]]
                    if level != 255:
                        total[c] += level
                        count[c] += 1
        for c in range(width):
            out[r, c] = (2 * total[c] + count[c]) // (2 * count[c]) if count[c] else 255
    return out


def majority(codes: Bytes, layout: Layout, edges: Int | None = None) -> Bytes:
    """Return the commonest code (ties: the smallest) of each row, or of each bin of places."""
    starts = layout.row_start if edges is None else edges
    return _majority(codes, layout.order, starts)


@njit
def _majority(codes: Any, order: Any, row_start: Any) -> Any:
    out = np.empty(row_start.size - 1, np.uint8)
    seen = np.zeros(256, np.int32)
    for r in range(out.size):
        best = codes[order[row_start[r]]]
        if row_start[r + 1] - row_start[r] > 1:
            for p in range(row_start[r], row_start[r + 1]):
                seen[codes[order[p]]] += 1
            for p in range(row_start[r], row_start[r + 1]):
                code = codes[order[p]]
                if seen[code] > seen[best] or (seen[code] == seen[best] and code < best):
                    best = code
            for p in range(row_start[r], row_start[r + 1]):
                seen[codes[order[p]]] = 0
        out[r] = best
    return out
