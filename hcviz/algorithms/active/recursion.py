"""``Recursion``: steps 1 and 5 of Algorithm 1 of Krishnamurthy et al. (2012), on some items.

It stops at small sets, divides larger ones (:mod:`hcviz.algorithms.active.algorithm1`), and repeats
this for their clusters. A step divides the largest pending set. The random numbers of a set depend
only on its path from the root. So the tree does not depend on the order of the steps, nor on where
they run.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active import algorithm1, flatkernels, placekernels, queries
from hcviz.algorithms.active.algorithm1 import Steps
from hcviz.algorithms.active.executor import TaskExecutor
from hcviz.algorithms.active.flat import COMPILED
from hcviz.algorithms.active.settings import DivisionSettings, PendingSet, work
from hcviz.core.buildkernels import aho_tree, components
from hcviz.core.splitmixkernels import child_seed

Int = NDArray[np.int32]


class Recursion:
    """The tree of some items, which grows with each step.

    Parameters
    ----------
    oracle : SimilarityOracle
        Where similarities are queried.
    settings : DivisionSettings
        How sets are divided.
    items : int32 (n,)
        The items, as the oracle numbers them.
    seed : int
        The root's seed.
    rows : int32 (t, 3)
        Triplets, in places among ``items``.
    budget : int, optional
        How many similarities repair may query; by default what the settings give.

    Attributes
    ----------
    up : int32 (2n - 1,)
        Parents. Leaves 0..n-1 are places in ``items``; inner nodes follow in the order in which
        they were made, the root first.
    made : int
        Number of nodes so far.
    left : int
        Work in pending sets, in units of :func:`settings.work`.
    """

    def __init__(
        self,
        oracle: Any,
        settings: DivisionSettings,
        items: Int,
        seed: int,
        rows: Int,
        budget: int | None = None,
    ) -> None:
        self.oracle, self.settings, self.items = oracle, settings, items
        n = len(items)
        self.up = np.full(2 * n - 1, -1, np.int32)
        self.made = n
        self.left = 0
        self._elsewhere: dict[int, PendingSet] = {}  # sets that tasks divide, by least place
        self._rechecks = 0  # queries of rechecks in divisions that have ended
        self._current: PendingSet | None = None
        self._division: algorithm1.Division | None = None
        self._queried = 0  # queries of the current division
        self._pending: list[tuple[int, int, PendingSet]] = []
        self._local = np.empty(n, np.int32)
        budget = settings.repair_budget(n) if budget is None else budget
        self.add(PendingSet(np.arange(n, dtype=np.int32), -1, seed, rows, budget=budget))

    # ------------------------------------------------------------------ steps 1 and 5

    def step(self, executor: TaskExecutor | None = None) -> Iterator[None]:
        """Divide the largest set; yield None at places to stop. An executor shares queries."""
        self._current, self._queried = self.take(), 0
        for count in self._divide(self._current, executor):
            self._queried += count or 0
            yield
        self._current = None

    def _divide(self, pending: PendingSet, executor: TaskExecutor | None) -> Steps:
        settings, m = self.settings, len(pending.places)
        if m == 2 or (settings.stop and m <= settings.s):  # step 1
            self.leave_undivided(pending)
            return
        if pending.matrix is None and self._is_small(pending):
            pending = yield from self.with_matrix(pending)
        if pending.matrix is None:
            labels, budget = yield from self._by_sample(pending, executor)
        elif settings.compiled and m <= COMPILED and not len(pending.rows):
            self._divide_to_leaves(pending)
            return
        else:
            labels, budget = (yield from self._by_matrix(pending)), pending.budget
        if labels.min() < 0:
            self._split_off_branches(pending, labels, budget)
            return
        parent, labels = self.add_node(pending.parent), flatkernels.renamed(labels)
        for part in self._parts(pending, parent, labels, budget):  # step 5
            self.add(part)

    def _by_sample(self, pending: PendingSet, executor: TaskExecutor | None) -> Steps:
        """Return the labels by steps 2 to 4, and what is left of the budget."""
        division = self._division = algorithm1.Division(
            self.oracle, self.settings, self.items[pending.places], self.local_rows(pending),
            pending.seed, pending.budget, executor,
        )  # fmt: skip
        labels = yield from division.labels()
        self._rechecks += division.rechecks
        self._division = None
        return labels, pending.budget - division.rechecks

    def _by_matrix(self, pending: PendingSet) -> Steps:
        """Return the labels by all similarities of the set."""
        rows = self.local_rows(pending)
        return (
            yield from algorithm1.divide_matrix(
                self.settings, pending.full_matrix, rows, pending.seed
            )
        )

    def _divide_to_leaves(self, pending: PendingSet) -> None:
        """Divide a set down to its leaves by one kernel, from all its similarities."""
        settings = self.settings
        up, made = flatkernels.divide_whole(
            pending.full_matrix, settings.flat.kernel, np.uint64(pending.seed),
            settings.s if settings.stop else 1, settings.k or 0, settings.max_k,
            settings.exact_split,
        )  # fmt: skip
        self.graft(pending.places, up, made, pending.parent)

    def first_division(self) -> Steps:
        """Return the clusters of the first division, int32 (n,), numbered by their first items."""
        pending = self.take()
        if self._is_small(pending):
            pending = yield from self.with_matrix(pending)
            labels = yield from self._by_matrix(pending)
        else:
            labels, _ = yield from self._by_sample(pending, None)
            if labels.min() < 0:  # unsampled branches
                labels = (labels > labels.min()).astype(np.int32)
        return flatkernels.renamed(labels)

    def _is_small(self, pending: PendingSet) -> bool:
        """Return True if the set is to be divided by all its similarities, within its budget."""
        settings, m = self.settings, len(pending.places)
        if m <= settings.s:
            return True
        return m <= settings.full_size and settings.full_query_excess(m) <= pending.budget

    def with_matrix(self, pending: PendingSet) -> Steps:
        """Query all similarities of a set, and return the set with them."""
        matrix = yield from queries.query(self.oracle, self.items[pending.places])
        rows = np.arange(len(pending.places), dtype=np.int32)
        return replace(pending, matrix=matrix, matrix_rows=rows, budget=0)

    def _parts(
        self, pending: PendingSet, parent: int, labels: Int, budget: int
    ) -> list[PendingSet]:
        """Return the parts of a set by label, below ``parent``; they share ``budget``."""
        places = self.local_rows(pending)
        budgets = self.settings.shared_budget(budget, np.bincount(labels).tolist())
        parts = []
        for label, own in enumerate(budgets):
            here = labels == label
            rows = pending.rows[_joined(places, here)]
            seed = int(child_seed(np.uint64(pending.seed), label))
            inside = None if pending.matrix_rows is None else pending.matrix_rows[here]
            parts.append(
                PendingSet(pending.places[here], parent, seed, rows, pending.matrix, inside, own)
            )
        return parts

    def _split_off_branches(self, pending: PendingSet, labels: Int, budget: int) -> None:
        """Split off each unsampled branch (labels below 0), the lowest first; add the rest.

        The rest is divided by another sample, since it has fewer triplets.
        """
        pending = replace(pending, budget=budget)
        for branch in range(int(labels.min()), 0):
            here = labels <= branch
            if len(pending.rows):  # items that triplets bind to others stay with them
                key = components(len(here), self.local_rows(pending))
                here &= ~np.isin(key, key[~here])
            if here.any():
                node = self.add_node(pending.parent)
                sides = (~here).astype(np.int32)
                part, pending = self._parts(pending, node, sides, pending.budget)
                self.add(part)
                labels = labels[~here]
        self.add(pending)

    # ------------------------------------------------------------------ pending sets

    def add(self, pending: PendingSet) -> None:
        """Add a set to those that are to be divided; a single item becomes a leaf."""
        size = len(pending.places)
        if size == 1:
            self.up[pending.places[0]] = pending.parent
            return
        heapq.heappush(self._pending, (-size, int(pending.places[0]), pending))
        self.left += work(size)

    def take(self) -> PendingSet:
        """Remove and return the largest pending set; of equals the one with the least item."""
        pending = heapq.heappop(self._pending)[2]
        self.left -= work(len(pending.places))
        return pending

    def send(self) -> PendingSet:
        """Remove and return the largest set, for a task; :meth:`receive` takes its result."""
        pending = self.take()
        self.left += work(len(pending.places))
        self._elsewhere[int(pending.places[0])] = pending
        return pending

    def receive(self, pending: PendingSet, result: SubtreeResult) -> None:
        """Graft the subtree that a task made of a set."""
        del self._elsewhere[int(pending.places[0])]
        self.left -= work(len(pending.places))
        self.graft(pending.places, result.up, result.made, pending.parent)
        self._rechecks += result.rechecks

    def largest(self) -> int:
        """Return the size of the largest pending set; 0 if there is none."""
        return -self._pending[0][0] if self._pending else 0

    @property
    def rechecks(self) -> int:
        """How many similarities rechecks of doubtful items have queried."""
        return self._rechecks + (0 if self._division is None else self._division.rechecks)

    @property
    def current_work(self) -> int:
        """Estimate the work left in the set that is being divided, by :func:`settings.work`."""
        if self._current is None:
            return 0
        m, s = len(self._current.places), self.settings.s
        small = self._is_small(self._current)
        wanted = m * (m - 1) / 2 if small else s * (m - s) + s * (s - 1) / 2
        return work(m) - int((work(m) if small else m) * min(1.0, self._queried / wanted))

    # ------------------------------------------------------------------ the tree

    def add_node(self, parent: int) -> int:
        """Add an inner node below ``parent``, and return its number."""
        self.up[self.made] = parent
        self.made += 1
        return self.made - 1

    def graft(self, places: Int, up: Int, made: int, parent: int) -> None:
        """Attach a tree over ``places`` below ``parent``.

        In ``up`` its leaves are 0..m-1; its inner nodes follow, with -1 for the root.
        """
        m = len(places)
        shift = self.made - m
        moved = np.where(up[:made] >= 0, up[:made] + shift, parent)
        self.up[places] = moved[:m]
        self.up[self.made : shift + made] = moved[m:]
        self.made = shift + made

    def leave_undivided(self, pending: PendingSet) -> None:
        """Make a star of a set, or the Aho tree of its triplets."""
        if not len(pending.rows):
            self.up[pending.places] = self.add_node(pending.parent)
            return
        m = len(pending.places)
        up = aho_tree(m, self.local_rows(pending))[0]
        turned = np.where(up >= 0, len(up) - 1 + m - up, -1)  # the root first
        up = np.concatenate([turned[:m], turned[m:][::-1]])
        self.graft(pending.places, up, len(up), pending.parent)

    def local_rows(self, pending: PendingSet) -> Int:
        """Return the triplets and group rows of a set, in places within the set."""
        self._local[pending.places] = np.arange(len(pending.places), dtype=np.int32)
        rows = pending.rows
        return np.where(rows < 0, rows, self._local[np.maximum(rows, 0)])

    def parents(self, n: int) -> Int:
        """Return the tree so far, int32, its nodes numbered by clade size and least item.

        Pending sets are stars, or Aho trees of their triplets. The numbers do not depend on the
        order in which the nodes were made.
        """
        done = self
        current = [] if self._current is None else [self._current]
        if self._pending or self._elsewhere or current:
            done = Recursion.__new__(Recursion)
            done.up, done.made, done._local = self.up.copy(), self.made, self._local
            waiting = [entry[2] for entry in self._pending]
            for pending in [*waiting, *self._elsewhere.values(), *current]:
                done.leave_undivided(pending)
        size, least = placekernels.sizes_and_least(done.up, done.made, n)
        number = np.arange(done.made, dtype=np.int32)
        number[n + np.lexsort((least[n:], size[n:]))] = np.arange(n, done.made, dtype=np.int32)
        parent = np.empty(done.made, np.int32)
        up = done.up[: done.made]
        parent[number] = np.where(up >= 0, number[up], -1)
        return parent


def _joined(rows: Int, here: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return True for rows that still join a and b in the part ``here`` (m,) of a set.

    A triplet does so while c is in the part, and a group row while the part is larger than the
    group. ``rows`` are in places within the set.
    """
    a, b, c = rows.T
    larger = np.count_nonzero(here) > -c
    return here[a] & here[b] & np.where(c < 0, larger, here[c])


@dataclass(frozen=True, eq=False)
class SubtreeResult:
    """The tree of a set, as in :class:`Recursion`, and the queries of its rechecks."""

    up: Int
    made: int
    rechecks: int


def build_subtree(
    oracle: Any,
    settings: DivisionSettings,
    items: Int,
    seed: int,
    rows: Int,
    budget: int | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SubtreeResult | None:
    """Return the whole tree of some items; None if ``cancelled()`` returned True on the way."""
    recursion = Recursion(oracle, settings, items, seed, rows, budget)
    while recursion.largest():
        for _ in recursion.step():
            if cancelled is not None and cancelled():
                return None
    return SubtreeResult(recursion.up, recursion.made, recursion.rechecks)
