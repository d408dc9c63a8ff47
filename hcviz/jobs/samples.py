"""``Samples``: the posterior of a sampler's runs, written by the run and read by the page."""

from __future__ import annotations

import pickle
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
from hcviz.posterior.burn_in import SAFETY, arrival
from hcviz.posterior.chain_comparison import ChainComparison
from hcviz.posterior.summary import MAX_TREES
from hcviz.posterior.thinned_stream import ThinnedStream

#: Limit of trees times items that a posterior keeps: about 40 MB for each of two posteriors.
MAX_STORED_NUMBERS = 1_000_000
#: Number of the newest snapshots that are recognised when a run continues from one of them.
MAX_FINGERPRINTS = 8192
#: Number of thinned log joints of each chain by which its burn-in is judged.
MAX_JOINTS = 1024
#: Summary trees take at most this share of a run's time.
SUMMARY_TIME_SHARE = 0.1
#: A new summary is computed when the draws have grown by this factor.
SUMMARY_GROWTH = 1.4
#: Attributes that are not sent between a worker and the server.
LOCAL = frozenset({"key", "writer", "_lock"})
#: Seconds between two assessments of the accuracy during a run.
ASSESS_SECONDS = 1.0


class Samples:
    """The draws of a run and of the runs that continue it.

    Parameters
    ----------
    n_items : int
        The number of items.
    key : object
        Method, parameters, data and constraints. Runs with another key have their own samples.

    Notes
    -----
    A chain remembers its start for an unknown time. So a first part of *all* draws is burn-in. Two
    posteriors are fed. When the number of draws has grown by four, the second replaces the first,
    and another begins: the draws that count are the latest 3/4 to 15/16. While the log joints have
    not long reached their level (:func:`hcviz.posterior.burn_in.arrival`), this is done when the
    number has grown by two: the latest 1/2 to 3/4.

    A run that continues from an earlier snapshot uses that snapshot's random numbers. It repeats
    the same draws exactly. They are recognised by their total number of proposals, and counted
    once.
    """

    def __init__(self, n_items: int, key: Any = None) -> None:
        self.key = key
        #: The job whose worker sends the draws; other jobs' draws are ignored.
        self.writer: object = None
        #: Seconds of the runs that had a budget, without pauses.
        self.seconds = 0.0
        self._n_items = n_items
        self._shown, self._next = self._empty(), self._empty()
        self._lock = threading.Lock()
        self.n_offered = 0
        self._joints = ThinnedStream(MAX_JOINTS)
        self._begun, self._next_begun = 0, 0  # draws before the first one of each posterior
        #: Number of proposals up to the furthest draw; -1 before the first.
        self.reached = -1.0
        self._fingerprints: dict[bytes, None] = {}
        self._verdict: tuple[tuple[int, int], float, Verdict] | None = None
        self._settling: tuple[int, float, ChainComparison] | None = None
        self._is_assessed = False
        self._summary: Tree | None = None
        self.before: Tree | None = None  # the shown tree before the constraints changed
        self._next_summary = 0.0  # monotonic seconds
        self._next_draws = 0.0

    def _empty(self) -> Posterior:
        return Posterior(
            self._n_items, max(16, min(MAX_TREES, MAX_STORED_NUMBERS // self._n_items))
        )

    def contains_start(self, start: Any) -> bool:
        """Return True if ``start`` is one of the snapshots in these samples.

        A run from it continues these samples, and repeats the draws that came after it.
        """
        if not isinstance(start, Snapshot):
            return False
        fingerprint = _fingerprint(start)
        with self._lock:
            return fingerprint is not None and fingerprint in self._fingerprints

    def packed(self) -> bytes:
        """Return the draws as bytes, for another process; about 5 ms for 100 items."""
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name not in LOCAL}
            return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)

    def adopt(self, packed: bytes) -> None:
        """Replace the draws by those of :meth:`packed`; ``key`` and ``writer`` stay."""
        state = pickle.loads(packed)
        with self._lock:
            vars(self).update(state)

    def remember(self, snapshot: Snapshot) -> None:
        """Recognise a snapshot as one of these samples; its draws come by :meth:`adopt`."""
        with self._lock:
            self._remember(_fingerprint(snapshot))

    def _remember(self, fingerprint: bytes | None) -> None:
        if fingerprint is not None:
            self._fingerprints.pop(fingerprint, None)
            self._fingerprints[fingerprint] = None
            if len(self._fingerprints) > MAX_FINGERPRINTS:
                del self._fingerprints[next(iter(self._fingerprints))]

    def take(self, snapshot: Snapshot) -> None:
        """Add a draw, unless it is the start of a run or was added before. O(n)."""
        fingerprint = _fingerprint(snapshot)
        made = snapshot.metrics.get("proposals")
        with self._lock:
            self._remember(fingerprint)
            known = made is not None and made <= self.reached
            if made is not None and not known:
                self.reached = made
            if snapshot.step > 0 and not known:  # at step 0 no draw was made
                self._add(snapshot)

    def _add(self, snapshot: Snapshot) -> None:
        joints = [each.log_joint for each in getattr(snapshot.state, "chains", ())]
        self._joints.add(
            0, self.n_offered, joints or [snapshot.metrics.get("log_joint", float("nan"))]
        )
        self.n_offered += 1
        if self.n_offered == 1:
            return
        if self.n_offered & (self.n_offered - 1) == 0 and self._replaces():
            self._shown, self._next = self._next, self._empty()
            self._begun, self._next_begun = self._next_begun, self.n_offered
        else:
            self._next.add_snapshot(snapshot)
        self._shown.add_snapshot(snapshot)

    def _replaces(self) -> bool:
        """Return True if the second posterior is to replace the first. O(chains)."""
        if self.n_offered >= 4 * self._next_begun:
            return True
        reached = max(arrival(each) for each in zip(*self._joints.value, strict=False))
        return self._begun < SAFETY * reached * self._joints.stride

    @contextmanager
    def open(self) -> Iterator[Posterior | None]:
        """Lock the posterior and yield it; None while it is empty."""
        with self._lock:
            yield self._shown if len(self._shown) else None

    def with_summary_tree(
        self, snapshot: Snapshot, first: Tree | None = None, keep: bool = False
    ) -> Snapshot:
        """Return ``snapshot`` with the summary tree of the draws in place of its own tree.

        At step 0 the run has made no draw. The tree is then the summary that the run continues
        from, else ``first``, else the snapshot's own tree. A new summary is computed when the draws
        have grown by ``SUMMARY_GROWTH``, so the picture changes less and less often. The last
        snapshot of a run always has a new one. Summaries take at most a tenth of a run's time.

        With ``keep``, clades of ``first`` stay unless the draws contradict them; see
        :meth:`Posterior.summary_tree`.
        """
        if snapshot.step == 0:
            if self._summary is None and keep and first is not None and first.is_binary:
                self.before = first
            tree = first if self._summary is None else self._summary
            return snapshot if tree is None else replace(snapshot, tree=tree)
        now = time.monotonic()
        due = self.n_offered >= self._next_draws and now >= self._next_summary
        if due or snapshot.step == snapshot.total or self._summary is None:
            with self.open() as posterior:
                if posterior is None:
                    return snapshot
                self._summary = posterior.summary_tree(before=self.before)
            done, self._next_draws = time.monotonic(), SUMMARY_GROWTH * self.n_offered
            self._next_summary = done + (done - now) / SUMMARY_TIME_SHARE
        return replace(snapshot, tree=self._summary)

    def assess(self, labels: Sequence[str] | None, last: bool) -> None:
        """Update what the page shows of the accuracy, on the thread of the run.

        It is at most :data:`ASSESS_SECONDS` old, and new for the ``last`` snapshot of a run. The
        page then never computes it while a run is in progress.
        """
        pace = 0.0 if last else ASSESS_SECONDS
        self.settling(pace)
        self.verdict(pace, labels)
        self._is_assessed = True

    def settling(self, pace: float = 0.0, by_run: bool = False) -> ChainComparison | None:
        """Return the accuracy of the supports, at most ``pace`` seconds old; about 20 ms.

        With ``by_run``, it is what :meth:`assess` found, if a run calls that.
        """
        known = self._settling
        if by_run and self._is_assessed and known is not None:
            return known[2]
        with self.open() as posterior:
            if posterior is None:
                return None
            known, now = self._settling, time.monotonic()
            if known is None or (known[0] != self.n_offered and now - known[1] >= pace):
                found = posterior.compare_chains()
                self._settling = known = (self.n_offered, time.monotonic(), found)
            return known[2]

    def verdict(
        self, pace: float = 0.0, labels: Sequence[str] | None = None, by_run: bool = False
    ) -> Verdict | None:
        """Return the convergence verdict of the counted draws, at most ``pace`` seconds old.

        ``labels`` name the items in its texts. About 10 ms. With ``by_run``, it is what
        :meth:`assess` found, if a run calls that.
        """
        known = self._verdict
        if by_run and self._is_assessed and known is not None:
            return known[2]
        with self.open() as posterior:
            if posterior is None:
                return None
            known, now = self._verdict, time.monotonic()
            drawn = (self.n_offered, len(posterior))
            if known is None or (known[0] != drawn and now - known[1] >= pace):
                found = posterior.verdict(burn_in=0.0, labels=labels)
                self._verdict = known = (drawn, now, found)
            return known[2]


def _fingerprint(snapshot: Snapshot) -> bytes | None:
    """Return a hash of a snapshot's chains: their trees and the state of their random numbers.

    The snapshot's own tree is not used, because a background run keeps an earlier one.
    """
    chains = getattr(snapshot.state, "chains", ())
    if not chains:
        return None
    found = blake2b(digest_size=16)
    for state in chains:
        found.update(state.parent.tobytes() + state.u.tobytes())
        found.update(str(state.generator).encode())
    return found.digest()
