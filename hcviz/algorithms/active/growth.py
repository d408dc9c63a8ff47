"""``Growth``: the recursion of ``ActiveCluster(A, s, k)`` on some items, in steps.

Sets that are still to be divided wait; a step divides the largest. What a set draws depends on the
way down to it alone, so that neither the order of the steps nor who does them has a say in the
tree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active import asking, flatkernels, floorkernels, placekernels, sharpkernels
from hcviz.algorithms.active.crew import Crew
from hcviz.algorithms.active.flat import COMPILED, eigengap
from hcviz.algorithms.active.plan import Plan, Waiting, work
from hcviz.algorithms.active.sampling import (
    joined,
    low_limits,
    numbered,
    supernodes,
    well_linked,
    with_two,
)
from hcviz.algorithms.active.strata import strata
from hcviz.core.buildkernels import aho_tree, components
from hcviz.core.splitmixkernels import child_seed

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Yields, at places to stop, how many similarities it has asked for since the last, if any.
Steps = Generator[int | None, None, Any]

#: Second looks at one division, each at ``s`` more items.
ROUNDS = 4
#: Times ``s`` items whose similarities with the sample sharpen it.
WITNESSES = 16
#: Similarities of these, at most (32 MB): beyond s = 500 there are fewer of them.
SEEN = 4_000_000
#: Who stands fewer standard errors than this from another cluster is looked at again. Of those who
#: belong three errors away, 30 % do, and of their wrong placements (1 in 700) all but one in
#: 70,000: to be missed, a placement must be wrong by 2.5 errors.
DOUBT = 2.5


class Growth:
    """The tree of ``items`` (int32 (n,)), as far as it is grown.

    ``up`` int32 (2n - 1,): parents; leaves 0..n-1 are places in ``items``, inner nodes from n in
    the order made, the first the root; ``made``: how many nodes there are.
    """

    def __init__(
        self, oracle: Any, plan: Plan, items: Int, seed: int, rows: Int, room: int | None = None
    ) -> None:
        self.oracle, self.plan, self.items = oracle, plan, items
        n = len(items)
        self.up = np.full(2 * n - 1, -1, np.int32)
        self.made = n
        self.left = 0  # work in sets that wait, by :func:`work`
        self.away: dict[int, Waiting] = {}  # sets that somebody else divides, by least place
        self.second = 0  # similarities asked for by second looks
        self.now: Waiting | None = None  # the set that is being divided
        self.heard = 0  # similarities asked for to divide it
        self._waiting: list[tuple[int, int, Waiting]] = []
        self._room = np.empty(n, np.int32)
        room = plan.room(n) if room is None else room
        self.add(Waiting(np.arange(n, dtype=np.int32), -1, seed, rows, room=room))

    # ------------------------------------------------------------------ sets

    def add(self, one: Waiting) -> None:
        size = len(one.own)
        if size == 1:
            self.up[one.own[0]] = one.over
            return
        heapq.heappush(self._waiting, (-size, int(one.own[0]), one))
        self.left += work(size)

    def take(self) -> Waiting:
        """The largest set that waits; of equals the one with the least item."""
        one = heapq.heappop(self._waiting)[2]
        self.left -= work(len(one.own))
        return one

    def send(self) -> Waiting:
        """The largest set, to be divided elsewhere; :meth:`fetch` brings it back."""
        one = self.take()
        self.left += work(len(one.own))
        self.away[int(one.own[0])] = one
        return one

    def fetch(self, one: Waiting, grown: Grown) -> None:
        """What became of a set that was sent."""
        del self.away[int(one.own[0])]
        self.left -= work(len(one.own))
        self.graft(one.own, grown.up, grown.made, one.over)
        self.second += grown.second

    def largest(self) -> int:
        """Items of the largest set that waits; 0 where none does."""
        return -self._waiting[0][0] if self._waiting else 0

    def node(self, over: int) -> int:
        self.up[self.made] = over
        self.made += 1
        return self.made - 1

    def graft(self, own: Int, up: Int, made: int, over: int) -> None:
        """Hang a tree over ``own`` (leaves 0..m-1, then inner nodes, the root's entry -1) below
        ``over``."""
        m = len(own)
        shift = self.made - m
        moved = np.where(up[:made] >= 0, up[:made] + shift, over)
        self.up[own] = moved[:m]
        self.up[self.made : shift + made] = moved[m:]
        self.made = shift + made

    def leave(self, one: Waiting) -> None:
        """A set that is not divided: a star, or what its triplets ask for."""
        if not len(one.rows):
            self.up[one.own] = self.node(one.over)
            return
        parent = aho_tree(len(one.own), self.local(one))[0]
        m = len(one.own)
        turned = np.where(parent >= 0, len(parent) - 1 + m - parent, -1)  # the root first
        self.graft(one.own, np.concatenate([turned[:m], turned[m:][::-1]]), len(parent), one.over)

    def local(self, one: Waiting) -> Int:
        """The triplets in places within the set."""
        self._room[one.own] = np.arange(len(one.own), dtype=np.int32)
        return np.ascontiguousarray(self._room[one.rows])

    def parents(self, n: int) -> Int:
        """The tree so far, numbered by clade size and least item: whoever made it, whenever."""
        done = self
        now = [] if self.now is None else [self.now]
        if self._waiting or self.away or now:
            done = Growth.__new__(Growth)
            done.up, done.made, done._room = self.up.copy(), self.made, self._room
            for one in [*(entry[2] for entry in self._waiting), *self.away.values(), *now]:
                done.leave(one)
        size, least = placekernels.sizes_and_least(done.up, done.made, n)
        number = np.arange(done.made, dtype=np.int32)
        number[n + np.lexsort((least[n:], size[n:]))] = np.arange(n, done.made, dtype=np.int32)
        parent = np.empty(done.made, np.int32)
        over = done.up[: done.made]
        parent[number] = np.where(over >= 0, number[over], -1)
        return parent

    # ------------------------------------------------------------------ a step

    def step(self, crew: Crew | None = None) -> Iterator[None]:
        """Divide the largest set; yields None at places to stop; ``crew`` shares placements."""
        self.now, self.heard = self.take(), 0
        for heard in self._step(self.now, crew):
            self.heard += heard or 0
            yield
        self.now = None

    @property
    def under_way(self) -> int:
        """About how much of the set that is being divided is still to do, by :func:`work`."""
        if self.now is None:
            return 0
        m, s = len(self.now.own), self.plan.s
        whole = self._small(self.now)
        wanted = m * (m - 1) / 2 if whole else s * (m - s) + s * (s - 1) / 2
        return work(m) - int((work(m) if whole else m) * min(1.0, self.heard / wanted))

    def _step(self, one: Waiting, crew: Crew | None) -> Iterator[int | None]:
        plan, m = self.plan, len(one.own)
        if m == 2 or (plan.stop and m <= plan.s):
            self.leave(one)
            return
        before = self.second
        if one.matrix is None and self._small(one):
            one = yield from self._looked_at(one)
        if one.matrix is None:
            labels = yield from self._sampled(one, crew)
        elif plan.compiled and m <= COMPILED and not len(one.rows):
            matrix = one.matrix if len(one.matrix) == m else _part(one)
            least = plan.s if plan.stop else 1
            up, made = flatkernels.divide_whole(
                matrix, plan.flat.kernel, np.uint64(one.seed), least, plan.k or 0, plan.most,
                plan.apart,
            )  # fmt: skip
            self.graft(one.own, up, made, one.over)
            return
        else:
            labels = yield from self._whole(one)
        self._divide(one, labels, one.room - (self.second - before))

    def first_division(self) -> Steps:
        """The clusters of all items, int32 (n,), numbered by first item, and nothing below."""
        one = self.take()
        if self._small(one):
            one = yield from self._looked_at(one)
            labels = yield from self._whole(one)
        else:
            labels = yield from self._sampled(one, None)
            if labels.min() < 0:  # strata
                labels = (labels > labels.min()).astype(np.int32)
        return flatkernels.renamed(labels)

    def _small(self, one: Waiting) -> bool:
        """Whether it is to be looked at whole, and there is room for that."""
        m = len(one.own)
        return m <= self.plan.s or (m <= self.plan.whole and self.plan.beyond(m) <= one.room)

    def _looked_at(self, one: Waiting) -> Steps:
        """The same set with all its similarities."""
        matrix = yield from asking.asked(self.oracle, self.items[one.own])
        inside = np.arange(len(one.own), dtype=np.int32)
        return Waiting(one.own, one.over, one.seed, one.rows, matrix, inside)

    def _divide(self, one: Waiting, labels: Int, room: int) -> None:
        """Its clusters wait; they share the ``room`` that repair has left."""
        if labels.min() < 0:
            self._peel(one, labels, room)
            return
        over, labels = self.node(one.over), flatkernels.renamed(labels)
        for part in self._parts(one, over, labels, room):
            self.add(part)

    def _parts(self, one: Waiting, over: int, labels: Int, room: int) -> list[Waiting]:
        """The parts of a set by their labels 0.., below ``over``."""
        places, rooms = self.local(one), self.plan.shared(room, np.bincount(labels).tolist())
        parts = []
        for label, own in enumerate(rooms):
            here = labels == label
            rows = one.rows[here[places].all(axis=1)]
            seed = int(child_seed(np.uint64(one.seed), label))
            inside = None if one.inside is None else one.inside[here]
            parts.append(Waiting(one.own[here], over, seed, rows, one.matrix, inside, own))
        return parts

    def _peel(self, one: Waiting, outside: Int, room: int) -> None:
        """Part a set by its :func:`strata`: the lowest from all others, the next from what is left,
        and so on. That is divided by a sample of its own, since its triplets are fewer."""
        one = replace(one, room=room)
        for stratum in range(int(outside.min()), 0):
            here = outside <= stratum
            if len(one.rows):  # whom triplets bind to others stays with them
                key = components(len(here), self.local(one))
                here &= ~np.isin(key, key[~here])
            if here.any():
                labels = (~here).astype(np.int32)
                part, one = self._parts(one, self.node(one.over), labels, one.room)
                self.add(part)
                outside = outside[~here]
        self.add(one)

    def _whole(self, one: Waiting) -> Steps:
        """Divide by all similarities: the labels."""
        matrix = _part(one)
        yield None
        m = len(one.own)
        key, count = np.arange(m, dtype=np.int32), m
        if len(one.rows):
            key = components(m, self.local(one))
            count = int(key.max()) + 1
        group, count = self._apart(matrix, key, count)
        key = group[key]
        labels = yield from self._flat(matrix, key, count, one.seed)
        return labels[key]

    def _apart(self, matrix: Float, key: Int, count: int) -> tuple[Int, int]:
        """Groups of supernodes that the flat method is not to divide, and how many."""
        if not self.plan.apart:
            return np.arange(count, dtype=np.int32), count
        found: tuple[Int, int] = floorkernels.apart(matrix, key, count)
        return found

    def _flat(self, matrix: Float, key: Int, count: int, seed: int, k: int | None = None) -> Steps:
        """The flat method's clusters of the supernodes, ``k`` or as the plan has it; two at
        least."""
        plan = self.plan
        k = plan.k if k is None else k
        labels = yield from plan.flat.clusters(matrix, key, count, k, plan.most, seed)
        if count > 1 and flatkernels.one_sided(labels):
            labels = flatkernels.halves(np.bincount(key, minlength=count).astype(np.float64))
        return labels

    # ------------------------------------------------------------------ by a sample

    def _sampled(self, one: Waiting, crew: Crew | None) -> Steps:
        """Algorithm 1 of Krishnamurthy et al. (2012), one division: sample, cluster, place; then
        second looks."""
        plan, m = self.plan, len(one.own)
        who = self.items[one.own]
        rng = np.random.default_rng(one.seed)
        most = min(WITNESSES * plan.s, SEEN // plan.s) if plan.sharpen else 0
        most = min(m, plan.s + max(most, ROUNDS * plan.s))
        drawn = rng.choice(m, most, replace=False).astype(np.int32)
        sample, later = np.sort(drawn[: plan.s]), drawn[plan.s :]
        key = None
        if len(one.rows):
            key = components(m, self.local(one))
            sample = with_two(sample, key, rng)
            later = later[~np.isin(later, sample)]  # who has joined it counts once
        block = yield from asking.asked(self.oracle, who[sample])
        kept = np.arange(len(sample), dtype=np.int32)
        free = plan.apart and floorkernels.noise_free(block, block[:0])
        if plan.drop and not free:
            kept = well_linked(block, sample, key)
        heard = min((WITNESSES if plan.sharpen else ROUNDS * free) * plan.s, SEEN // plan.s)
        witnesses = np.sort(later[:heard])
        seen = yield from asking.block(self.oracle, who[witnesses], who[sample[kept]], crew)
        if free and not floorkernels.noise_free(block, seen):
            free = False
            if plan.drop:
                kept = well_linked(block, sample, key)
                seen = np.ascontiguousarray(seen[:, kept])
        members = sample[kept]
        own_key = supernodes(key, members)
        core = np.ascontiguousarray(block[np.ix_(kept, kept)])
        found = yield from self._clustered(core, seen, own_key, free, one.seed)
        clusters = numbered(found[own_key])
        k = int(clusters.max()) + 1

        sums, squares = np.zeros((m, k)), np.zeros((m, k))
        counts = np.zeros((m, k), np.int32)
        column = np.full(len(sample), -1, np.int32)
        column[kept] = np.arange(len(kept), dtype=np.int32)
        placekernels.tally(
            np.ascontiguousarray(block[:, kept]), sample, clusters, column, sums, squares, counts
        )
        nobody = np.full(len(witnesses), -1, np.int32)
        placekernels.tally(seen, witnesses, clusters, nobody, sums, squares, counts)
        rest = np.ones(m, bool)
        rest[sample] = rest[witnesses] = False
        others = np.flatnonzero(rest).astype(np.int32)
        yield from asking.averages(
            self.oracle, who, others, members, clusters, (sums, squares, counts), crew
        )

        if free:
            outside = strata((sums, squares, counts), sample, floorkernels.bounds(block), key)
            if outside is not None:
                return outside
        labels = np.zeros(m, np.int32)
        everyone = np.arange(m, dtype=np.int32)
        mean = sums / np.maximum(counts, 1)
        if key is None:
            placekernels.nearest(sums, counts, everyone, labels, np.uint64(one.seed))
            best = mean[everyone, labels]
        else:
            labels, best = joined(mean, counts, key, one.seed)
        if plan.fresh and not free:  # without noise it would take small branches for outliers
            limits = low_limits(mean[members], clusters, m)
            labels = np.where(best < limits[labels], np.int32(k), labels)
        labels[members] = clusters
        if key is not None:  # who is bound to a sampled item goes with it
            bound = np.full(int(key.max()) + 1, -1, np.int32)
            bound[key[members]] = clusters
            labels = np.where(bound[key] >= 0, bound[key], labels).astype(np.int32)
        if plan.repair > 0 and not free:
            loose = np.ones(m, bool) if key is None else np.bincount(key)[key] == 1
            tallies = (sums, squares, counts)
            yield from self._second(who, later, loose, labels, tallies, one, crew)
        if flatkernels.one_sided(labels):
            labels[members] = clusters
        return labels

    def _clustered(self, core: Float, seen: Float, key: Int, free: bool, seed: int) -> Steps:
        """The clusters of the sample's supernodes, int32 (count,). ``core``: its own similarities,
        which are without noise if ``free``; ``seen``: those of the witnesses with it."""
        plan, count = self.plan, int(key.max()) + 1
        if plan.apart:
            group, groups = floorkernels.linked(core, seen[:0] if free else seen, key, count)
            held = np.bincount(group[key])
            if 2 * np.count_nonzero(held == 1) > len(core):  # nearly all would be parted one by one
                return flatkernels.halves(held.astype(np.float64))[group]
            if free and 1 < groups < count:  # nothing hides it
                found = yield from self._flat(core, group[key], groups, seed)
                return found[group]
        if len(seen) and plan.sharpen:
            products = yield from sharpkernels.alike(core, seen)
            k = plan.k
            if k is None:
                k = yield from eigengap(products, key, count, False, plan.most, roots=True)
            found = yield from self._flat(products, key, count, seed, k)
            # Products do not tell like from opposite: that is for the similarities to say.
            if sharpkernels.contrast(core, found[key]) >= 0:
                return found
        return (yield from self._flat(core, key, count, seed))

    def _second(
        self,
        who: Int,
        later: Int,
        loose: NDArray[np.bool_],
        labels: Int,
        tallies: tuple[Float, Float, Int],
        one: Waiting,
        crew: Crew | None,
    ) -> Iterator[int | None]:
        """Look again at those whose place is in doubt, at ``s`` more items each time: ``later``,
        in turn, which are not of the sample.

        The most doubtful first, as far as the budget goes; sampled items among them. What they are
        compared with are items that are in no doubt.
        """
        s, m = self.plan.s, len(labels)
        room = min(one.room, int(self.plan.repair * (s * (m - s) + s * (s - 1) // 2)))
        for turn in range(ROUNDS):
            clear = placekernels.doubts(*tallies, labels)
            clear[~loose] = np.inf
            doubted = clear < DOUBT
            more = later[s * turn : s * (turn + 1)]
            more = np.sort(more[~doubted[more] & (labels[more] < tallies[0].shape[1])])
            again = np.flatnonzero(doubted).astype(np.int32)
            most = room // max(1, len(more))
            if len(again) > most:
                again = np.sort(again[np.argsort(clear[again], kind="stable")[:most]])
            if not len(again) or not len(more):
                return
            room -= len(again) * len(more)
            self.second += len(again) * len(more)
            yield from asking.averages(self.oracle, who, again, more, labels[more], tallies, crew)
            placekernels.nearest(tallies[0], tallies[2], again, labels, np.uint64(one.seed))


def _part(one: Waiting) -> Float:
    assert one.matrix is not None
    assert one.inside is not None
    if len(one.inside) == len(one.matrix):
        return one.matrix
    return np.ascontiguousarray(one.matrix[np.ix_(one.inside, one.inside)])


@dataclass(frozen=True, eq=False)
class Grown:
    """What became of a set: parents (see :class:`Growth`), and what second looks asked for."""

    up: Int
    made: int
    second: int


def finished(
    oracle: Any,
    plan: Plan,
    items: Int,
    seed: int,
    rows: Int,
    room: int | None = None,
    unless: Callable[[], bool] | None = None,
) -> Grown | None:
    """The tree of some items, to the end; None if ``unless()`` came true on the way."""
    growth = Growth(oracle, plan, items, seed, rows, room)
    while growth.largest():
        for _ in growth.step():
            if unless is not None and unless():
                return None
    return Grown(growth.up, growth.made, growth.second)
