"""``Samples``: the posterior of a sampler's run, fed by the run's thread and read by the page's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hcviz.core.snapshot import Snapshot
from hcviz.posterior import Posterior, Verdict
from hcviz.posterior.summary import MAX_TREES

#: The share of a run's beginning that is not counted, as it still remembers the start, and the
#: most trees that are left out so: an endless run counts, too.
BURN_IN, MOST_LEFT_OUT = 0.25, 200


class Samples:
    """What a run, and those that went on from it, say about the trees.

    ``key`` is of what they are samples: method, parameters, data and constraints. Runs with another
    key have samples of their own.
    """

    def __init__(self, n_items: int, key: Any = None) -> None:
        self.key = key
        # as many trees as fit some 60 MB
        self._posterior = Posterior(n_items, max(16, min(MAX_TREES, 1_500_000 // n_items)))
        self._lock = threading.Lock()
        self._left_out = 0
        self._verdict: tuple[int, float, Verdict] | None = None

    def take(self, snapshot: Snapshot) -> None:
        """One more draw, or one of the first that are left out. O(n)."""
        if snapshot.step == 0:  # where the run begins: no draw of its own
            return
        with self._lock:
            early = snapshot.step < BURN_IN * snapshot.total and not len(self._posterior)
            if early and self._left_out < MOST_LEFT_OUT:
                self._left_out += 1
            else:
                self._posterior.add_snapshot(snapshot)

    @contextmanager
    def open(self) -> Iterator[Posterior | None]:
        """The posterior, which nobody changes meanwhile; None while it is empty."""
        with self._lock:
            yield self._posterior if len(self._posterior) else None

    def verdict(self, pace: float = 0.0) -> Verdict | None:
        """Whether the sampler has settled, looked at every ``pace`` seconds at most; some 10 ms."""
        with self.open() as posterior:
            if posterior is None:
                return None
            known, now = self._verdict, time.monotonic()
            if known is None or (known[0] != len(posterior) and now - known[1] >= pace):
                self._verdict = known = (len(posterior), now, posterior.verdict(burn_in=0.0))
            return known[2]
