"""``CladeTable``: how often each clade was seen, within a bound on memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.posterior import kernels
from hcviz.posterior.draws import Draws

Codes = NDArray[np.uint64]

#: Counters: this many for each item, within these bounds (some 60 bytes each, twice at most).
PER_ITEM, FEWEST, MOST = 128, 4096, 2**18


class CladeTable:
    """Counts of the clades of a stream of trees over ``n_items``; roots and leaves are not counted.

    A clade is known by 128 bits, the exclusive or of its items' random keys. The keys are fixed, so
    tables of different runs agree, and were drawn without regard to any data: among K different
    clades two share a code with probability below K^2 / 2^129 (10^-26 for ten million clades).

    At most ``capacity`` clades are counted. When there are more, half of them go: those with the
    least ``count + missed``, of equals those seen longest ago; ``error`` is raised to the most that
    one of them had, and a clade that comes (back) later begins with ``missed = error``. So always

        count <= times seen <= count + missed <= count + error,  times seen <= error if not held,

    and since each raise of ``error`` by 1 takes 1 from the excess over ``error`` of capacity / 2
    clades, error <= 2 (clades counted) / capacity: as a share of the trees at most
    2 (n - 2) / capacity (Misra and Gries 1982; Manku and Motwani 2002), in practice far less.
    """

    def __init__(self, n_items: int, capacity: int | None = None) -> None:
        self.n_items = n_items
        self.capacity = capacity or min(max(PER_ITEM * n_items, FEWEST), MOST)
        self.capacity = max(self.capacity, 2 * n_items)
        bits = np.random.PCG64(0xD1FF)  # fixed: not a source of the chain's randomness
        self.keys: Codes = np.random.Generator(bits).integers(
            0, 2**64, (n_items, 2), dtype=np.uint64
        )
        self.trees = 0
        self.error = 0
        self.held = 0
        self._allocate(1024)
        self._words = (n_items + 63) // 64
        self._members = np.zeros((0, self._words), np.uint64)
        self._free: list[int] = []

    def _allocate(self, slots: int) -> None:
        self.key = np.zeros((slots, 2), np.uint64)
        self.used = np.zeros(slots, np.bool_)
        self.count = np.zeros(slots, np.int64)
        self.missed = np.zeros(slots, np.int64)
        self.last = np.zeros(slots, np.int64)
        self.height = np.zeros(slots)  # summed over the trees counted
        self.row = np.full(slots, -1, np.int32)  # where the members are written down

    def codes(self, tree: Tree) -> Codes:
        """Codes of ``tree``'s inner nodes but the root, uint64 (n_internal - 1, 2). O(m)."""
        found: Codes = kernels.clade_codes(tree.parent.copy(), tree.n_leaves, self.keys)
        return found[tree.n_leaves : -1]

    def add(self, tree: Tree, codes: Codes) -> None:
        """Count the clades of one more tree. O(m), with O(capacity) now and then."""
        room = min(len(self.used) // 2, self.capacity)
        if self.held + len(codes) > room:
            self._make_room(len(codes))
        self.trees += 1
        heights = np.ascontiguousarray(tree.height[tree.n_leaves : -1]).copy()
        slots, new = kernels.count_clades(
            self.key, self.used, self.count, self.missed, self.last, self.height,
            codes, heights, self.error, self.trees,
        )  # fmt: skip
        self.held += new
        self._write_members(tree, slots)

    def add_draws(self, draws: Draws, chosen: slice) -> None:
        """Count the clades of many trees in compiled code. O(trees * n)."""
        n = self.n_items
        at_once = max(1, self.capacity // (4 * n))
        for begin in range(chosen.start, chosen.stop, at_once):
            rows = slice(begin, min(begin + at_once, chosen.stop))
            parent, nodes = draws.parent[rows], draws.nodes[rows]
            if self.held + len(parent) * n > min(len(self.used) // 2, self.capacity):
                self._make_room(len(parent) * n)
            slots = np.empty((len(parent), max(n - 2, 0)), np.int64)
            self.held += kernels.count_draws(
                self.key, self.used, self.count, self.missed, self.last, self.height, parent,
                nodes, draws.height[rows], n, self.keys, self.error, self.trees + 1, slots,
            )  # fmt: skip
            self.trees += len(parent)
            # Latest first: after a few trees nothing is left to write.
            for k in reversed(range(len(parent))):
                held = slots[k][: nodes[k] - n - 1]
                if np.any((2 * self.count[held] > self.trees) & (self.row[held] < 0)):
                    self._write_members(Tree(*draws.arrays(begin + k), n), held)

    def _make_room(self, more: int) -> None:
        at = np.flatnonzero(self.used)
        if at.size + more > self.capacity:
            # least count + missed first, then longest ago: one number for both
            rank = (self.count[at] + self.missed[at]) * np.int64(2**31) + self.last[at]
            gone = at.size - min(self.capacity // 2, self.capacity - more)
            order = np.argpartition(rank, gone - 1)
            dropped = at[order[:gone]]
            self.error = max(self.error, int((self.count + self.missed)[dropped].max()))
            self._free += self.row[dropped][self.row[dropped] >= 0].tolist()
            at = np.sort(at[order[gone:]])
        slots = len(self.used)
        while slots < min(3 * (at.size + more), 2 * self.capacity):
            slots *= 2
        old = self._columns()
        self._allocate(slots)
        self.held = at.size
        codes = np.ascontiguousarray(old["key"][at])
        nothing = np.zeros(at.size)
        where, _ = kernels.count_clades(
            self.key, self.used, self.count, self.missed, self.last, self.height,
            codes, nothing, 0, 0,
        )  # fmt: skip
        for name, column in self._columns().items():
            column[where] = old[name][at]

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("key", "used", "count", "missed", "last", "height", "row")
        return {name: getattr(self, name) for name in names}

    def _write_members(self, tree: Tree, slots: NDArray[np.int64]) -> None:
        """Write down the items of clades that more than half of the trees so far have.

        A clade that has a majority in the end had one when it was last seen, so none is missed; at
        most n - 2 have one at a time, so 2n rows suffice (n^2 / 4 bytes).
        """
        fresh = np.flatnonzero((2 * self.count[slots] > self.trees) & (self.row[slots] < 0))
        if not fresh.size:
            return
        if len(self._free) < fresh.size:
            self._free_members(fresh.size)
        start, order, size = tree.leaf_start, tree.leaf_order.copy(), tree.size
        for i in fresh.tolist():
            node = tree.n_leaves + i
            row = self._free.pop()
            self._members[row] = 0
            begin = int(start[node])
            kernels.set_bits(order, begin, begin + int(size[node]), self._members[row])
            self.row[slots[i]] = row

    def _free_members(self, wanted: int) -> None:
        at = np.flatnonzero(self.row >= 0)
        lost = at[2 * self.count[at] <= self.trees]
        self._free += self.row[lost].tolist()
        self.row[lost] = -1
        missing = max(wanted, 2 * self.n_items - len(self._members)) - len(self._free)
        if len(self._free) < wanted:
            have = len(self._members)
            self._free += range(have, have + missing)
            self._members = np.concatenate(
                [self._members, np.zeros((missing, self._words), np.uint64)]
            )

    # ------------------------------------------------------------------ what was seen

    def counts(self, codes: Codes) -> NDArray[np.int64]:
        """How often each code was seen, at least: int64 (k,); 0 for clades that are not held."""
        slots = kernels.look_up(self.key, self.used, np.ascontiguousarray(codes))
        return np.asarray(np.where(slots >= 0, self.count[slots], 0))

    def count_of(self, items: NDArray[np.int32]) -> int:
        """How often exactly these items were a clade, at least."""
        code = np.bitwise_xor.reduce(self.keys[items], axis=0)
        return int(self.counts(code[None])[0])

    def above(self, share: float) -> tuple[list[NDArray[np.intp]], NDArray[Any], NDArray[Any]]:
        """Clades in more than ``share`` >= 1/2 of the trees, the largest first.

        ``(items of each, support (k,), mean height (k,))``.
        """
        at = np.flatnonzero(self.used & (self.count > share * self.trees))
        bits = self._members[self.row[at]].view(np.uint8)
        inside = np.unpackbits(bits, axis=1, bitorder="little")[:, : self.n_items].astype(bool)
        order = np.argsort(-inside.sum(axis=1), kind="stable")
        at, inside = at[order], inside[order]
        count = self.count[at]
        return [np.flatnonzero(row) for row in inside], count / self.trees, self.height[at] / count

    def uncertain(self, number: int, one_in: int | np.uint64 = 1) -> NDArray[np.uint64]:
        """First halves of the codes of the ``number`` clades whose support is nearest to 1/2.

        Only of those with a support between 0.05 and 0.95: the others say little by themselves.
        And only of those whose codes' second halves are multiples of ``one_in``.
        """
        at = np.flatnonzero(self.used & (self.count > 0.05 * self.trees))
        at = at[self.key[at, 1] % np.uint64(one_in) == 0]
        at = at[self.count[at] < 0.95 * self.trees]
        gap = np.abs(self.count[at] / max(self.trees, 1) - 0.5)
        order = np.lexsort((self.key[at, 0], gap))[:number]
        found: NDArray[np.uint64] = self.key[at[order], 0].copy()
        return found
