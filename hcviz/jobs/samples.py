"""``Samples``: the posterior of a sampler's run, fed by the run's thread and read by the page's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior, Verdict
from hcviz.posterior.chain_comparison import ChainComparison
from hcviz.posterior.summary import MAX_TREES

#: Numbers of all trees that are kept, over their items: some 40 MB for each of two posteriors.
ROOM = 1_000_000
#: Snapshots, the newest, that are known again when a run goes on from one of them.
KNOWN = 8192
#: The share of a run's time that summary trees may take.
SUMMARIES = 0.1
#: Between two summaries the number of draws grows by this factor.
GROWTH = 1.4


class Samples:
    """What a run, and those that went on from it, say about the trees.

    ``key`` is of what they are samples: method, parameters, data and constraints. Runs with another
    key have samples of their own.

    A chain remembers its start for longer than anybody can know, so the first part of *all* draws
    is set aside, again and again: what is shown are the draws since half of the last power of two,
    the latest 1/2 to 3/4 of all. (Two posteriors are fed; at each power of two the second takes
    the first one's place, and another begins.)

    A run that goes on from an earlier snapshot has that snapshot's random numbers and makes the
    same draws once more, bit for bit. They are known by how many proposals were made in all, and
    count once.
    """

    def __init__(self, n_items: int, key: Any = None) -> None:
        self.key = key
        #: Seconds that the runs took, without pauses, where they have a budget.
        self.seconds = 0.0
        self._n_items = n_items
        self._shown, self._next = self._empty(), self._empty()
        self._lock = threading.Lock()
        self._taken = 0
        self._reached = -1.0  # proposals of the furthest draw
        self._marks: dict[bytes, None] = {}
        self._verdict: tuple[tuple[int, int], float, Verdict] | None = None
        self._settling: tuple[int, float, ChainComparison] | None = None
        self._summary: Tree | None = None
        self._before: Tree | None = None  # what was on the screen before the constraints changed
        self._next_summary = 0.0  # monotonic seconds
        self._next_draws = 0.0

    def _empty(self) -> Posterior:
        return Posterior(self._n_items, max(16, min(MAX_TREES, ROOM // self._n_items)))

    def leads_through(self, start: Any) -> bool:
        """Whether ``start`` is one of the snapshots that were taken: what goes on from it belongs
        here, and repeats what was taken since."""
        if not isinstance(start, Snapshot):
            return False
        mark = _mark(start)
        with self._lock:
            return mark is not None and mark in self._marks

    def take(self, snapshot: Snapshot) -> None:
        """One more draw, unless it is the start of a run or was taken before. O(n)."""
        mark = _mark(snapshot)
        made = snapshot.metrics.get("proposals")
        with self._lock:
            if mark is not None:
                self._marks.pop(mark, None)
                self._marks[mark] = None
                if len(self._marks) > KNOWN:
                    del self._marks[next(iter(self._marks))]
            known = made is not None and made <= self._reached
            if made is not None and not known:
                self._reached = made
            if snapshot.step > 0 and not known:  # at step 0 a run only begins
                self._add(snapshot)

    def _add(self, snapshot: Snapshot) -> None:
        self._taken += 1
        if self._taken == 1:
            return
        if self._taken & (self._taken - 1) == 0:
            self._shown, self._next = self._next, self._empty()
        else:
            self._next.add_snapshot(snapshot)
        self._shown.add_snapshot(snapshot)

    @contextmanager
    def open(self) -> Iterator[Posterior | None]:
        """The posterior, which nobody changes meanwhile; None while it is empty."""
        with self._lock:
            yield self._shown if len(self._shown) else None

    def summarised(
        self, snapshot: Snapshot, first: Tree | None = None, keep: bool = False
    ) -> Snapshot:
        """``snapshot`` with the summary tree of the draws in the place of its own tree.

        At step 0 a run has made no draw. It then shows the summary that it goes on from, else
        ``first``, else the snapshot's own tree. A new summary is made when the draws have grown by
        ``GROWTH``, so the picture changes less and less often; the last snapshot of a run has its
        own. Summaries take a tenth of a run's time at most.

        ``keep``: clades of ``first`` stay where the draws do not contradict them; see
        :meth:`Posterior.summary_tree`.
        """
        if snapshot.step == 0:
            if self._summary is None and keep and first is not None and first.is_binary:
                self._before = first
            tree = first if self._summary is None else self._summary
            return snapshot if tree is None else replace(snapshot, tree=tree)
        now = time.monotonic()
        due = self._taken >= self._next_draws and now >= self._next_summary
        if due or snapshot.step == snapshot.total or self._summary is None:
            with self.open() as posterior:
                if posterior is None:
                    return snapshot
                self._summary = posterior.summary_tree(before=self._before)
            done, self._next_draws = time.monotonic(), GROWTH * self._taken
            self._next_summary = done + (done - now) / SUMMARIES
        return replace(snapshot, tree=self._summary)

    def settling(self, pace: float = 0.0) -> ChainComparison | None:
        """How accurate the supports are, computed every ``pace`` seconds at most; some 20 ms."""
        with self.open() as posterior:
            if posterior is None:
                return None
            known, now = self._settling, time.monotonic()
            if known is None or (known[0] != self._taken and now - known[1] >= pace):
                found = posterior.compare_chains()
                self._settling = known = (self._taken, time.monotonic(), found)
            return known[2]

    def verdict(self, pace: float = 0.0, labels: Sequence[str] | None = None) -> Verdict | None:
        """Whether the sampler has settled, looked at every ``pace`` seconds at most; some 10 ms.

        Of the draws that are shown, all of them. ``labels`` name the items in what is said.
        """
        with self.open() as posterior:
            if posterior is None:
                return None
            known, now = self._verdict, time.monotonic()
            drawn = (self._taken, len(posterior))
            if known is None or (known[0] != drawn and now - known[1] >= pace):
                found = posterior.verdict(burn_in=0.0, labels=labels)
                self._verdict = known = (drawn, now, found)
            return known[2]


def _mark(snapshot: Snapshot) -> bytes | None:
    """What a snapshot is known by: its chains' trees and where their random numbers stand.

    The snapshot's own tree may be an earlier one, which a run in the background left as it was.
    """
    chains = getattr(snapshot.state, "chains", ())
    if not chains:
        return None
    found = blake2b(digest_size=16)
    for state in chains:
        found.update(state.parent.tobytes() + state.u.tobytes())
        found.update(str(state.generator).encode())
    return found.digest()
