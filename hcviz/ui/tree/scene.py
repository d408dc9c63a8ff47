"""The part of a tree that is drawn: a small tree whose size depends on the window, not on n.

A tree of a million leaves does not fit on a screen branch by branch. A clade that takes less than
a *fold* (some rows, a few pixels) is drawn as one triangle. The browser gets only this small tree.
Zooming in shows more of it. The fold is fine inside the window and coarse outside. In folds:

- A clade of one fold or more is **open**: it is drawn with its children. The root always is.
- A smaller clade is **folded** into a triangle with the number of its leaves.
- In a chain of open clades whose sizes differ by less than one fold, only the first and the last
  are drawn. What branches off between them is attached to the first.
- Neighbours below one open clade that take at most one fold together are one **bundle**.

A *merged* clade is not drawn: its children are attached to the nearest clade above that is drawn.
The scene is then that of the tree without it, and the pointer cannot pick it. A collapsed clade is
never merged.

Open clades and triangles together are at most 16 (folds + 1), for any tree (tested in
``tests/test_scene.py``). Nothing is further than one fold from its place. Where the fold is less
than a row, every branch is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import layout as paper
from hcviz.core.jit import njit
from hcviz.ui.tree.geometry import Bool, Float, Int, Layout, row_at

Path = tuple[NDArray[np.float32], NDArray[np.float32]]

#: Kinds of closed slots: an item; a clade folded for its size; a bundle of neighbours; a collapsed
#: clade. ``OPEN``: a clade drawn with its children.
LEAF, FOLD, BUNDLE, COLLAPSED = 0, 1, 2, 3
OPEN = 4
#: The fold where nothing is folded: half a row, because nothing is smaller.
NO_FOLD = 0.5


@dataclass(frozen=True, eq=False)
class TreeScene:
    """The slots that are drawn. Arrays have length k.

    Slots 0..c-1 are closed, from top to bottom. The others are open, parents after children, the
    root last. So the slots are a tree whose leaves are the closed slots.
    """

    layout: Layout
    n_closed: int
    node: Int  # the tree's node; -1 for a bundle
    kind: NDArray[np.int8]
    parent: Int  # a slot; -1 for the root
    first: Int  # place of the first leaf
    count: Int  # leaves
    height: Float  # where its stem ends: its own height; a triangle's apex
    top: Float
    bottom: Float
    low: Int
    high: Int
    y: Float
    #: The same slots at their places in the picture before; None: the tree does not move.
    start: TreeScene | None = None

    @property
    def n_slots(self) -> int:
        """The number of slots."""
        return int(self.node.size)

    @property
    def open(self) -> slice:
        """The open slots."""
        return slice(self.n_closed, None)

    @cached_property
    def is_open(self) -> Bool:
        """True for open slots, bool (k,)."""
        return np.asarray(self.kind == OPEN)

    @cached_property
    def triangles(self) -> NDArray[np.int64]:
        """Closed slots that were folded or bundled, from top to bottom."""
        return np.flatnonzero((self.kind == FOLD) | (self.kind == BUNDLE))

    def leaves(self, slot: int) -> Int:
        """Return the items of a slot from top to bottom, a view of the layout's order."""
        start = self.first[slot]
        return self.layout.order[start : start + self.count[slot]]

    def as_in(
        self, before: TreeScene, across: float = 1.0, down: float = 1.0, shift: float = 0.0
    ) -> TreeScene:
        """Return these slots at the places of the same items and clades in ``before``. O(n + k).

        Heights of ``before`` are multiplied by ``across``; its row r is ``down * r + shift`` here.
        A clade that ``before`` does not show keeps its height. Its row follows its outer children,
        so that its branches stay joined while they move.
        """
        layout, c = self.layout, self.n_closed
        leaf_y = down * before.layout.leaf_y + shift
        y, height = self.y.copy(), self.height.copy()
        first = leaf_y[layout.order[self.first[:c]]]
        last = leaf_y[layout.order[self.first[:c] + self.count[:c] - 1]]
        y[:c] = 0.5 * (first + last)
        half = np.where(self.kind[:c] == COLLAPSED, 0.5 * (self.bottom - self.top)[:c], 0.5)
        top, bottom = self.top.copy(), self.bottom.copy()
        top[:c], bottom[:c] = first - half, last + half
        # A clade is found by its leaves' places in the picture before, if these have no gap.
        known = {
            (int(a), int(n)): k
            for k, (a, n) in enumerate(zip(before.first, before.count, strict=True))
        }
        places = before.layout.place[layout.order]
        least, most = np.full(self.n_slots, places.size), np.zeros(self.n_slots, np.int64)
        least[:c] = np.minimum.reduceat(places, self.first[:c])
        most[:c] = np.maximum.reduceat(places, self.first[:c])
        for slot in range(self.n_slots):
            if slot >= c:
                gapless = most[slot] - least[slot] + 1 == self.count[slot]
                was = known.get((int(least[slot]), int(self.count[slot]))) if gapless else None
                if was is None:
                    y[slot] = 0.5 * (y[self.low[slot]] + y[self.high[slot]])
                else:
                    y[slot] = down * before.y[was] + shift
                    height[slot] = across * before.height[was]
            up = self.parent[slot]
            if up >= 0:
                least[up] = min(least[up], least[slot])
                most[up] = max(most[up], most[slot])
        return replace(self, y=y, height=height, top=top, bottom=bottom, start=None)

    # ------------------------------------------------------------------ paths

    def path(self, mask: Bool | None = None, limit: float = np.inf, stems: bool = True) -> Path:
        """Return the tree, or its masked slots, as one path ``(height, row)`` float32 with NaNs.

        A piece of four points is an open clade's bar with the branches to its outer children, in
        the order of the slots. A piece of three points is a triangle's two sides, from top to
        bottom. A piece of two points is another branch. ``limit`` cuts the path at a height.
        Without ``stems`` the branches to closed slots are left to :meth:`stems`.
        """
        chosen = np.ones(self.n_slots, np.bool_) if mask is None else mask
        y, top, bottom = self.y, self.top, self.bottom
        none = np.zeros(self.n_slots, np.bool_)
        x, rows = paper.elbow_path(
            self.parent, self.height, y, self.low, self.high, self.is_open, none, chosen,
            float(limit), stems,
        )  # fmt: skip
        sides = self.triangles[chosen[self.triangles]]
        if not sides.size:
            return x, rows
        edges = np.full((sides.size, 4), np.nan, np.float32)
        edges[:, 0] = edges[:, 2] = 0.0
        edges[:, 1] = np.minimum(self.height[sides], limit)
        across = np.full((sides.size, 4), np.nan, np.float32)
        inset = 0.08 * (self.bottom - self.top)[sides]
        across[:, 0], across[:, 1] = top[sides] + inset, y[sides]
        across[:, 2] = bottom[sides] - inset
        return np.concatenate((x, edges.ravel())), np.concatenate((rows, across.ravel()))

    def stems(self) -> Path:
        """Return the branches to closed slots, as :meth:`path` does."""
        every = np.ones(self.n_slots, np.bool_)
        return paper.stem_path(self.parent, self.height, self.y, self.is_open, every)

    def filled(self, slots: ArrayLike) -> Path:
        """Return these slots (folded, bundled or collapsed) as filled triangles."""
        at = np.asarray(slots, dtype=np.int64)
        inset = np.minimum(0.08 * (self.bottom - self.top)[at], 0.1)
        x, y = np.full((2, at.size, 4), np.nan)
        x[:, 0], x[:, 1], x[:, 2] = self.height[at], 0.0, 0.0
        y[:, 0], y[:, 1], y[:, 2] = self.y[at], self.top[at] + inset, self.bottom[at] - inset
        return x.astype(np.float32).ravel()[:-1], y.astype(np.float32).ravel()[:-1]

    def bars(self, slots: ArrayLike) -> Path:
        """Return each open slot's bar with the branches to its outer children."""
        at = np.asarray(slots, dtype=np.int64)
        low, high, height = self.low[at], self.high[at], self.height
        gap = np.full(at.size, np.nan)
        x = np.stack([height[low], height[at], height[at], height[high], gap], 1)
        y = np.stack([self.y[low], self.y[low], self.y[high], self.y[high], gap], 1)
        return x.astype(np.float32).ravel(), y.astype(np.float32).ravel()

    def branches_above(self, slots: ArrayLike) -> Path:
        """Return the branch above each of these slots; the root has none."""
        at = np.asarray(slots, dtype=np.int64)
        at = at[self.parent[at] >= 0]
        gap = np.full(at.size, np.nan)
        x = np.stack([self.height[at], self.height[self.parent[at]], gap], 1)
        y = np.stack([self.y[at], self.y[at], gap], 1)
        return x.astype(np.float32).ravel(), y.astype(np.float32).ravel()

    def path_down(self, top: int, leaves: Iterable[int]) -> Path:
        """Return the branches from the tree's node ``top`` down to each of ``leaves``.

        They end at closed slots.
        """
        layout, upper = self.layout, self.slot_of(top)
        on = np.zeros(self.n_slots, np.bool_)
        on[upper] = True
        for leaf in leaves:
            slot = self.closed_at(int(layout.place[leaf]))
            while slot >= 0 and not on[slot]:
                on[slot] = True
                slot = int(self.parent[slot])
        on[upper] = False
        slots = np.flatnonzero(on)
        slots = slots[self.parent[slots] >= 0]
        up = self.parent[slots]
        gap = np.full(slots.size, np.nan)
        x = np.stack([self.height[slots], self.height[up], self.height[up], gap], 1)
        y = np.stack([self.y[slots], self.y[slots], self.y[up], gap], 1)
        return x.astype(np.float32).ravel(), y.astype(np.float32).ravel()

    # ------------------------------------------------------------------ what is where

    def closed_at(self, place: int) -> int:
        """Return the closed slot with the leaf at ``place``. O(log k)."""
        return int(np.searchsorted(self.first[: self.n_closed], place, side="right")) - 1

    def slot_of(self, node: int) -> int:
        """Return the smallest slot with all leaves of the tree's ``node``."""
        first, size = self.layout.first[node], self.layout.tree.size[node]
        slot = self.closed_at(int(first))
        while self.first[slot] + self.count[slot] < first + size:
            slot = int(self.parent[slot])
        return slot

    def pick(self, x: float, y: float, slack: float = 0.0) -> int:
        """Return the slot under height ``x`` and row ``y``, by slab picking.

        Start at the row's closed slot and go up while the parent is not higher than ``x + slack``.
        The slabs [height(v), height(parent)) x rows(v) tile the picture; a triangle is one piece.
        Left of the root this is the root. For x < 0, beyond the leaves, it is the closed slot.
        """
        row = row_at(self.layout, y)
        slot = self.closed_at(int(self.layout.row_start[row]))
        if x < 0:
            return slot
        while self.parent[slot] >= 0 and self.height[self.parent[slot]] <= x + slack:
            slot = int(self.parent[slot])
        return slot

    def slots_within(self, leaves: ArrayLike) -> Bool:
        """Return the slots whose leaves are all among ``leaves``: bool (k,). O(n)."""
        chosen = np.zeros(self.layout.order.size, np.bool_)
        chosen[np.asarray(leaves, dtype=np.int64)] = True
        before = np.concatenate(([0], np.cumsum(chosen[self.layout.order])))
        inside = before[self.first + self.count] - before[self.first]
        return np.asarray(inside == self.count)

    def codes(self, of_node: ArrayLike) -> NDArray[np.int64]:
        """Return a number of each slot for a number of each node, int (m,).

        For a bundle it is the number of its outer leaves if these agree, else -1.
        """
        values = np.asarray(of_node)
        found = values[np.maximum(self.node, 0)].astype(np.int64)
        for slot in np.flatnonzero(self.kind == BUNDLE).tolist():
            inside = self.leaves(slot)
            a, b = values[inside[0]], values[inside[-1]]
            found[slot] = a if a == b else -1
        return found


def build_scene(
    layout: Layout,
    window: tuple[float, float] | None = None,
    fine: float = 0.0,
    coarse: float = 0.0,
    least: float = 0.0,
    merged: Bool | None = None,
) -> TreeScene:
    """Return the scene of ``layout``.

    Parameters
    ----------
    layout : the tree in rows
    window : the rows in view; None for all
    fine, coarse : rows of a fold inside and outside the window
    least : the height of a triangle at least, up to its parent
    merged : bool (m,), inner nodes that are drawn as a part of the node above them

    Notes
    -----
    O(nodes of open slots, their children, and merged nodes below these); O(m) for a caterpillar or
    a star.
    """
    tree = layout.tree
    hidden = np.zeros(tree.n_nodes, np.bool_)
    if merged is not None:
        hidden[tree.n_leaves : -1] = merged[tree.n_leaves : -1]
        hidden &= ~layout.collapsed
    first, last = (0.0, float(layout.n_rows)) if window is None else window
    offsets, items = tree.children_csr
    node, kind, parent, place, count = _collect_slots(
        offsets, items, tree.size, layout.first, layout.top, layout.bottom, layout.collapsed,
        hidden, tree.n_leaves, float(first), float(last),
        1.0 / max(fine, NO_FOLD), 1.0 / max(coarse, NO_FOLD),
    )  # fmt: skip
    closed = np.flatnonzero(kind != OPEN)
    closed = closed[np.argsort(place[closed], kind="stable")]
    slots = np.concatenate((closed, np.flatnonzero(kind == OPEN)[::-1]))  # parents after children
    rank = np.empty(slots.size, np.int32)
    rank[slots] = np.arange(slots.size, dtype=np.int32)
    node, kind, place, count = node[slots], kind[slots], place[slots], count[slots]
    parent = parent[slots]
    parent = np.where(parent >= 0, rank[np.maximum(parent, 0)], -1).astype(np.int32)
    known = np.maximum(node, 0)
    ends = layout.order[place], layout.order[place + count - 1]
    loose = node < 0
    top = np.where(loose, layout.top[ends[0]], layout.top[known])
    bottom = np.where(loose, layout.bottom[ends[1]], layout.bottom[known])
    above = np.where(parent >= 0, tree.height[np.maximum(node[parent], 0)], np.inf)
    height = np.where(loose, above, tree.height[known])
    folded = kind == FOLD
    height[folded] = np.minimum(np.maximum(height[folded], least), above[folded])
    y = np.where(loose, 0.5 * (top + bottom), layout.y[known])
    low, high, y = paper.outer_children(parent, y[: closed.size])
    return TreeScene(
        layout, int(closed.size), node, kind, parent, place, count, height, top, bottom, low, high,
        y,
    )  # fmt: skip


@njit
def _extent_in_folds(row: Any, first: Any, last: Any, fine: Any, coarse: Any) -> Any:
    inside = min(max(row, first), last) - first
    return inside * fine + (row - inside) * coarse


@njit
def _drawn_children(node: Any, offsets: Any, items: Any, hidden: Any, found: Any) -> Any:
    """Write to ``found`` the children of ``node`` that are drawn; return their number."""
    held = 0
    waiting = 0  # hidden children, stored from the end of ``found``
    at = node
    while True:
        for j in range(offsets[at], offsets[at + 1]):
            if hidden[items[j]]:
                waiting += 1
                found[found.size - waiting] = items[j]
            else:
                found[held] = items[j]
                held += 1
        if waiting == 0:
            return held
        at = found[found.size - waiting]
        waiting -= 1


@njit
def _collect_slots(
    offsets: Any, items: Any, size: Any, place: Any, top: Any, bottom: Any, collapsed: Any,
    hidden: Any, n: Any, first: Any, last: Any, fine: Any, coarse: Any,
) -> Any:  # fmt: skip
    """Return the slots in preorder: ``(node, kind, parent, first place, leaves)``."""
    m = size.size
    node = np.empty(m, np.int32)
    kind = np.empty(m, np.int8)
    parent = np.empty(m, np.int32)
    start = np.empty(m, np.int32)
    count = np.empty(m, np.int32)
    parts = np.empty(m, np.int32)
    kids = np.empty(m, np.int32)
    waiting = np.empty(m, np.int32)
    root = m - 1
    node[0], parent[0], start[0], count[0] = root, -1, place[root], size[root]
    kind[0] = OPEN
    if root < n:
        kind[0] = LEAF
    elif collapsed[root]:
        kind[0] = COLLAPSED
    k = 1
    depth = 0
    if kind[0] == OPEN:
        waiting[0] = 0
        depth = 1
    while depth:
        depth -= 1
        slot = waiting[depth]
        p = node[slot]
        extent = _extent_in_folds(bottom[p], first, last, fine, coarse) - _extent_in_folds(
            top[p], first, last, fine, coarse
        )
        # Follow the chain of open clades of nearly the same size; its end is drawn.
        held = 0
        at = p
        links = 0
        while True:
            following = -1
            n_drawn = _drawn_children(at, offsets, items, hidden, kids)
            for j in range(n_drawn):
                c = kids[j]
                if c < n or collapsed[c]:
                    continue
                takes = _extent_in_folds(bottom[c], first, last, fine, coarse) - _extent_in_folds(
                    top[c], first, last, fine, coarse
                )
                if takes >= 1.0 and extent - takes < 1.0:
                    following = c
                    break
            for j in range(n_drawn):
                if kids[j] != following or following < 0:
                    parts[held] = kids[j]
                    held += 1
            if following < 0:
                break
            links += 1
            at = following
        if links:
            # The end of the chain is a slot of its own, so its children are removed again.
            held -= n_drawn
            parts[held] = at
            held += 1
        ranked = np.argsort(place[parts[:held]], kind="mergesort")
        i = 0
        while i < held:
            c = parts[ranked[i]]
            here = _extent_in_folds(top[c], first, last, fine, coarse)
            takes = _extent_in_folds(bottom[c], first, last, fine, coarse) - here
            node[k], parent[k], start[k], count[k] = c, slot, place[c], size[c]
            i += 1
            if collapsed[c]:
                kind[k] = COLLAPSED
            elif c >= n and takes >= 1.0:
                kind[k] = OPEN
                waiting[depth] = k
                depth += 1
            else:
                kind[k] = LEAF if c < n else FOLD
                while i < held:
                    d = parts[ranked[i]]
                    end = _extent_in_folds(bottom[d], first, last, fine, coarse)
                    takes = end - _extent_in_folds(top[d], first, last, fine, coarse)
                    if collapsed[d] or (d >= n and takes >= 1.0) or end - here > 1.0:
                        break
                    node[k], kind[k] = -1, BUNDLE
                    count[k] += size[d]
                    i += 1
            k += 1
    return node[:k].copy(), kind[:k].copy(), parent[:k].copy(), start[:k].copy(), count[:k].copy()


__all__ = ["BUNDLE", "COLLAPSED", "FOLD", "LEAF", "OPEN", "TreeScene", "build_scene"]
