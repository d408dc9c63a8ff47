"""``CladeTable``: counts of the clades in a stream of trees, with bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.posterior import kernels
from hcviz.posterior.draws import Draws

Codes = NDArray[np.uint64]

#: Number of counters: this number for each item, within these bounds. 60 to 120 bytes each.
CAPACITY_PER_ITEM, MIN_CAPACITY, MAX_CAPACITY = 128, 4096, 2**18


class CladeTable:
    """Counts of the clades in a stream of trees; roots and leaves are not counted.

    Parameters
    ----------
    n_items : int
        Number of items, n.
    capacity : int or None
        Largest number of counted clades; None: 128 for each item, from 4,096 to 262,144.

    Attributes
    ----------
    trees : int
        Number of trees so far.
    n_clades : int
        Number of clades in the table.
    error : int
        Counts are too low by at most this; 0: exact.

    Notes
    -----
    *Codes.* The code of a clade has 128 bits: the exclusive or of random keys of its items. The
    keys are fixed, so tables of different runs have the same codes. Among K different clades, two
    have the same code with a probability below K^2 / 2^129 (10^-26 for ten million clades).

    *Counts.* When the table is full, half of the clades are removed: those with the smallest
    ``count + missed``, of equal ones those seen longest ago. ``error`` becomes the maximum of the
    removed sums, and a clade that is added later starts with ``missed = error``. So always

        count <= occurrences <= count + missed <= count + error,
        occurrences <= error for a clade that is not in the table.

    As a share of the trees, the error is at most 2 (n - 2) / capacity; in practice far less.

    References
    ----------
    Misra and Gries (1982), "Finding repeated elements". Manku and Motwani (2002), "Approximate
    frequency counts over data streams".

    Examples
    --------
    >>> table = CladeTable(3)
    >>> tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 0.5, 1.0], 3)
    >>> table.add(tree, table.codes(tree))
    >>> table.counts(table.codes(tree)).tolist()
    [1]
    """

    def __init__(self, n_items: int, capacity: int | None = None) -> None:
        self.n_items = n_items
        self.capacity = capacity or min(
            max(CAPACITY_PER_ITEM * n_items, MIN_CAPACITY), MAX_CAPACITY
        )
        self.capacity = max(self.capacity, 2 * n_items)
        bits = np.random.PCG64(0xD1FF)  # fixed, and independent of the chains' random numbers
        self.keys: Codes = np.random.Generator(bits).integers(
            0, 2**64, (n_items, 2), dtype=np.uint64
        )
        self.trees = 0
        self.error = 0
        self.n_clades = 0
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
        self.height = np.zeros(slots)  # sum over the counted trees
        self.row = np.full(slots, -1, np.int32)  # row of the stored members, or -1

    def codes(self, tree: Tree) -> Codes:
        """Return the codes of the inner nodes except the root, uint64 (n_internal - 1, 2). O(m)."""
        found: Codes = kernels.clade_codes(tree.parent.copy(), tree.n_leaves, self.keys)
        return found[tree.n_leaves : -1]

    def add(self, tree: Tree, codes: Codes) -> None:
        """Count the clades of one more tree. O(m), amortised."""
        room = min(len(self.used) // 2, self.capacity)
        if self.n_clades + len(codes) > room:
            self._make_room(len(codes))
        self.trees += 1
        heights = np.ascontiguousarray(tree.height[tree.n_leaves : -1]).copy()
        slots, new = kernels.count_clades(
            self.key, self.used, self.count, self.missed, self.last, self.height,
            codes, heights, self.error, self.trees,
        )  # fmt: skip
        self.n_clades += new
        self._write_members(tree, slots)

    def add_draws(self, draws: Draws, chosen: slice) -> None:
        """Count the clades of many draws in compiled code. O(draws * n)."""
        n = self.n_items
        block = max(1, self.capacity // (4 * n))
        for begin in range(chosen.start, chosen.stop, block):
            rows = slice(begin, min(begin + block, chosen.stop))
            parent, nodes = draws.parent[rows], draws.nodes[rows]
            if self.n_clades + len(parent) * n > min(len(self.used) // 2, self.capacity):
                self._make_room(len(parent) * n)
            slots = np.full((len(parent), max(n - 2, 0)), -1, np.int64)
            self.n_clades += kernels.count_draws(
                self.key, self.used, self.count, self.missed, self.last, self.height, parent,
                nodes, draws.height[rows], n, self.keys, self.error, self.trees + 1, slots,
            )  # fmt: skip
            self.trees += len(parent)
            # Start with the last tree: after a few trees all frequent clades are stored.
            missing = (2 * self.count > self.trees) & (self.row < 0)
            for k in reversed(np.flatnonzero((missing[slots] & (slots >= 0)).any(axis=1)).tolist()):
                held = slots[k][: nodes[k] - n - 1]
                if np.any((2 * self.count[held] > self.trees) & (self.row[held] < 0)):
                    self._write_members(Tree(*draws.tree_arrays(begin + k), n), held)

    def _make_room(self, more: int) -> None:
        at = np.flatnonzero(self.used)
        if at.size + more > self.capacity:
            # sort by count + missed, then by the last occurrence, combined in one number
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
        self.n_clades = at.size
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
        """Store the items of the clades that more than half of the trees so far have.

        A clade with a majority at the end had one at its last occurrence, so none is missed. At
        most n - 2 clades have a majority at a time, so 2n rows are enough (n^2 / 4 bytes).
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

    # ------------------------------------------------------------------ counts and supports

    def counts(self, codes: Codes) -> NDArray[np.int64]:
        """Return a lower bound for the occurrences of each code: int64 (k,); 0 if not counted."""
        slots = kernels.look_up(self.key, self.used, np.ascontiguousarray(codes))
        return np.asarray(np.where(slots >= 0, self.count[slots], 0))

    def count_of(self, items: NDArray[np.int32]) -> int:
        """Return a lower bound for the number of trees with the clade of exactly these items."""
        return int(self.counts(self.code_of(items)[None])[0])

    def code_of(self, items: NDArray[np.int32]) -> Codes:
        """Return the code of the clade of exactly these items: uint64 (2,)."""
        code: Codes = np.bitwise_xor.reduce(self.keys[items], axis=0)
        return code

    def frequent(self, share: float) -> tuple[list[NDArray[np.intp]], NDArray[Any], NDArray[Any]]:
        """Return the clades in more than ``share`` >= 1/2 of the trees, the largest first.

        ``(items of each, support (k,), mean height (k,))``.
        """
        at = np.flatnonzero(self.used & (self.count > share * self.trees))
        bits = self._members[self.row[at]].view(np.uint8)
        inside = np.unpackbits(bits, axis=1, bitorder="little")[:, : self.n_items].astype(bool)
        order = np.argsort(-inside.sum(axis=1), kind="stable")
        at, inside = at[order], inside[order]
        count = self.count[at]
        return [np.flatnonzero(row) for row in inside], count / self.trees, self.height[at] / count

    def most_uncertain(self, number: int, one_in: int | np.uint64 = 1) -> NDArray[np.uint64]:
        """Return the first halves of the codes of ``number`` clades with support nearest to 1/2.

        Only clades with a support between 0.05 and 0.95 are used, and only those whose code has a
        multiple of ``one_in`` as its second half.
        """
        at = np.flatnonzero(self.used & (self.count > 0.05 * self.trees))
        at = at[self.key[at, kernels.SECOND] % np.uint64(one_in) == 0]
        at = at[self.count[at] < 0.95 * self.trees]
        gap = np.abs(self.count[at] / max(self.trees, 1) - 0.5)
        order = np.lexsort((self.key[at, kernels.FIRST], gap))[:number]
        found: NDArray[np.uint64] = self.key[at[order], kernels.FIRST].copy()
        return found
