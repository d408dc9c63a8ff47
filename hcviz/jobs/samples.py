"""``Samples``: the posterior of a sampler's runs, written by the run and read by the page."""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior, Verdict
from hcviz.posterior.chain_comparison import LIMIT, ChainComparison, compare_chains
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.draws import Draws

#: Limit of draws times items for each chain: about 16 MB.
MAX_STORED_NUMBERS = 1_000_000
#: Number of the newest snapshots that are recognised when a run continues from one of them.
MAX_FINGERPRINTS = 8192
#: The first check is after this number of draws of each chain. Between two checks, the number grows
#: by a factor within these bounds: to this share of the number that is expected to settle.
FIRST_CHECK, LEAST_GROWTH, MOST_GROWTH, EXPECTED_SHARE = 8, 1.2, 1.5, 0.6
#: A new posterior and its summary tree are made when the draws have grown by this factor.
SUMMARY_GROWTH = 2.0
#: Attributes that are not sent between a worker and the server.
LOCAL = frozenset({"key", "writer", "_lock", "_waiting", "_checked"})
#: Attributes that are sent only when they have changed, or when a run ends.
POSTERIOR = frozenset({"_posterior", "_summary", "_verdict"})
DRAWS = frozenset({"_draws", "_fingerprints"})


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
    The draws of each chain are :class:`hcviz.posterior.draws.Draws`, with the same burn-in. At
    fixed numbers of draws they are *checked*: the chains are compared, and now and then a new
    posterior is made. So what is shown does not depend on the clock.

    A run that continues from an earlier snapshot uses that snapshot's random numbers. It repeats
    the draws that came after it, so these are removed first.
    """

    def __init__(self, n_items: int, key: Any = None) -> None:
        self.key = key
        #: The job whose worker sends the draws; other jobs' draws are ignored.
        self.writer: object = None
        #: Seconds of the runs that had a budget, without pauses.
        self.seconds = 0.0
        self._n_items = n_items
        self._lock = threading.Lock()
        self._fingerprints: dict[bytes, None] = {}
        self.before: Tree | None = None  # the shown tree before the constraints changed
        self._posterior: Posterior | None = None
        self._summary: Tree | None = None
        self._verdict: Verdict | None = None
        self._begin()

    def _begin(self) -> None:
        """Begin without draws."""
        self._draws: list[Draws] = []
        #: Number of proposals of the first chain up to the last snapshot; -1 before the first.
        self.reached = -1.0
        self._first = 0  # number of proposals of the first chain when its draws began
        self._is_recorded = False  # the chains themselves add the draws
        self._waiting: list[Draws] | None = None  # draws of the next check
        self._checked: list[Draws] | None = None  # draws of the last check
        self._settling: ChainComparison | None = None  # its result
        self._next_check = self._next_posterior = 0.0  # proposals of a chain

    # ------------------------------------------------------------------ where runs continue

    def contains_start(self, start: Any) -> bool:
        """Return True if ``start`` is one of the snapshots in these samples.

        A run from it continues these samples, and repeats the draws that came after it.
        """
        if not isinstance(start, Snapshot):
            return False
        fingerprint = _fingerprint(start)
        with self._lock:
            return fingerprint is not None and fingerprint in self._fingerprints

    def remember(self, snapshot: Snapshot) -> None:
        """Recognise a snapshot as one of these samples; its draws come by :meth:`adopt`."""
        fingerprint = _fingerprint(snapshot)
        if fingerprint is None:
            return
        with self._lock:
            self._fingerprints.pop(fingerprint, None)
            self._fingerprints[fingerprint] = None
            if len(self._fingerprints) > MAX_FINGERPRINTS:
                del self._fingerprints[next(iter(self._fingerprints))]

    def packed(self, with_posterior: bool = True, with_draws: bool = True) -> bytes:
        """Return everything as bytes, for another process; about 10 ms for 100 items.

        What is left out stays as it is there.
        """
        left_out = LOCAL
        if not with_posterior:
            left_out |= POSTERIOR
        if not with_draws:
            left_out |= DRAWS
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name not in left_out}
            return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)

    def adopt(self, packed: bytes) -> None:
        """Replace everything by what :meth:`packed` returned; ``key`` and ``writer`` stay."""
        state = pickle.loads(packed)
        with self._lock:
            vars(self).update(state)

    # ------------------------------------------------------------------ draws

    def record(self, start: Snapshot, chains: int, thin: int | None) -> list[Draws]:
        """Return the draws to which the chains of a run add.

        They continue the draws so far if ``start`` is one of their snapshots. Otherwise they are
        new, and without a draw.

        Parameters
        ----------
        start : Snapshot
            The chains at their first trees.
        chains : int
            Their number.
        thin : int or None
            Proposals between two draws at the start; see :class:`Draws`.
        """
        made = int(start.metrics["proposals"])
        continues = self._is_recorded and len(self._draws) == chains and made >= self._first
        if continues and self.contains_start(start):
            # Copies, since the threads of a run that is being stopped may still add to these.
            self._draws = [each.first(made - self._first) for each in self._draws]
        else:
            self._begin()
            self._draws = [self._empty(thin) for _ in range(chains)]
            self._first, self._is_recorded = made, True
        self.reached = made
        self.remember(start)
        return self._draws

    def _empty(self, thin: int | None) -> Draws:
        return Draws(self._n_items, thin, MAX_STORED_NUMBERS // self._n_items)

    def take(self, snapshot: Snapshot, draws: list[Draws], is_last: bool) -> None:
        """Take a snapshot for which the chains have added to ``draws``. O(n).

        If a check is due, or if the snapshot ``is_last``, the draws are copied for :meth:`check`.
        Meanwhile the chains may go on. Nothing is taken if another run has called :meth:`record`.
        """
        if draws is not self._draws:
            return
        self.reached = snapshot.metrics["proposals"]
        self.remember(snapshot)
        if self._is_due() or is_last:
            self._waiting = [each.copy() for each in self._draws]

    def take_tree(self, snapshot: Snapshot, is_last: bool = False) -> None:
        """Add the trees of a snapshot to the draws, for a run that only yields snapshots.

        A snapshot counts as one proposal. The start of a run, and draws that were added before, are
        left out.
        """
        self.remember(snapshot)
        made = snapshot.metrics.get("proposals", math.inf)
        if snapshot.step > 0 and made > self.reached:
            states = getattr(snapshot.state, "chains", ())[1:]
            if self._is_recorded or len(self._draws) != 1 + len(states):
                self._begin()
                self._draws = [self._empty(1) for _ in range(1 + len(states))]
            self._add(self._draws[0], snapshot.tree, snapshot.metrics.get("log_joint", math.nan))
            for draws, state in zip(self._draws[1:], states, strict=True):
                self._add(draws, state.tree(), state.log_joint)
        if made < math.inf:
            self.reached = max(self.reached, made)
        if self._draws and (self._is_due() or is_last):
            self._waiting = self._draws

    @staticmethod
    def _add(draws: Draws, tree: Tree, log_joint: float) -> None:
        if draws.is_full:
            draws.thin_out()
        if draws.n_proposals % draws.thin == 0:
            draws.append(tree, log_joint)
        draws.n_proposals += 1

    def _is_due(self) -> bool:
        """Return True if a check is due."""
        first = self._draws[0]
        return first.n_draws >= FIRST_CHECK and first.n_proposals >= self._next_check

    # ------------------------------------------------------------------ checks

    def check(self, labels: Sequence[str] | None = None, is_last: bool = False) -> None:
        """Check the draws that wait for it, on the thread of the run; about 40 ms.

        If the draws have grown enough, or if this is the last check of a run, there is a new
        posterior as well; about 150 ms. ``labels`` name the items in its verdict.
        """
        draws, self._waiting = self._waiting, None
        if draws is not None:
            keys = CladeTable(self._n_items).keys
            settling = compare_chains([each.clade_codes(keys) for each in draws])
            # The accuracy grows with the square root of the draws.
            rest = EXPECTED_SHARE * (settling.accuracy / LIMIT) ** 2
            growth = min(max(rest, LEAST_GROWTH), MOST_GROWTH) if rest >= 0.0 else MOST_GROWTH
            self._next_check = growth * draws[0].n_proposals
            with self._lock:
                self._checked, self._settling = draws, settling
        draws = self._checked
        if draws is not None and (is_last or draws[0].n_proposals >= self._next_posterior):
            posterior = Posterior.from_draws(draws, self._settling)
            summary = posterior.summary_tree(before=self.before)
            verdict = posterior.verdict(labels=labels)
            with self._lock:
                self._posterior, self._summary, self._verdict = posterior, summary, verdict
                self._checked, self._next_posterior = None, SUMMARY_GROWTH * draws[0].n_proposals

    @contextmanager
    def open(self) -> Iterator[Posterior | None]:
        """Lock the posterior and yield it; None while there is none."""
        with self._lock:
            yield self._posterior

    def settling(self) -> ChainComparison | None:
        """Return the accuracy of the supports at the last check; None before the first."""
        return self._settling

    def verdict(self) -> Verdict | None:
        """Return the convergence verdict of the posterior; None while there is none."""
        return self._verdict

    def with_summary_tree(
        self, snapshot: Snapshot, first: Tree | None = None, keep: bool = False
    ) -> Snapshot:
        """Return ``snapshot`` with the summary tree of the posterior in place of its own tree.

        At step 0 the run has made no draw. The tree is then the summary that the run continues
        from, else ``first``, else the snapshot's own tree.

        With ``keep``, clades of ``first`` stay unless the draws contradict them; see
        :meth:`Posterior.summary_tree`.
        """
        if snapshot.step == 0 and self._summary is None:
            if keep and first is not None and first.is_binary:
                self.before = first
            return snapshot if first is None else replace(snapshot, tree=first)
        return snapshot if self._summary is None else replace(snapshot, tree=self._summary)


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
