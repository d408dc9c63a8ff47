"""``BackgroundRuns``: one run in the background, of which only the last snapshot counts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from hcviz.algorithms import get
from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.pool import POOL, Pool
from hcviz.jobs.runner import Runner
from hcviz.jobs.samples import Samples
from hcviz.jobs.snapshot_channel import Message
from hcviz.session.actions import Arrived, Failed

log = logging.getLogger(__name__)

#: Receives the last snapshot and the error; at least one of them is not None.
Done = Callable[[Snapshot | None, HcvizError | None], None]


Schedule = Callable[[Callable[[], None]], None]


def try_schedule(schedule: Schedule, callback: Callable[[], None], what: str) -> bool:
    """Call ``schedule(callback)``; return False if the page is closed. For threads."""
    try:
        schedule(callback)
    except Exception:
        log.debug("The page closed before it received %s.", what, exc_info=True)
        return False
    return True


class BackgroundRuns:
    """Runs a method in the background. A new run replaces the one in progress.

    All methods must be called on the page's thread. ``schedule(callback)`` runs a callback on that
    thread later. Each run has the number 0, like the first run of a session. With the same seed and
    settings it gives the same result.
    """

    def __init__(self, schedule: Schedule, pool: Pool = POOL) -> None:
        self._schedule, self._pool = schedule, pool
        self._runner: Runner | None = None
        self._clock: threading.Timer | None = None
        #: Seconds that the last run was computed, without the time until it could begin.
        self.seconds = 0.0

    @property
    def busy(self) -> bool:
        """True if a run is in progress."""
        return self._runner is not None

    def start(
        self,
        method: str,
        problem: Problem,
        params: Mapping[str, Any],
        seed: int,
        done: Done,
        limit: float | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Start a run, and call ``done(last, fault)`` at its end.

        Parameters
        ----------
        method, problem, params, seed
            The run.
        done : callable
            Receives the last snapshot and an error. It is not called after :meth:`close` or another
            ``start``.
        limit : float, optional
            The run is stopped after this number of seconds, with an error.
        seconds : float
            See :class:`hcviz.jobs.task.Task`.

        Notes
        -----
        For a sampler, the last tree is the summary of its draws.
        """
        self.close()
        last: list[Snapshot] = []

        def end(fault: HcvizError | None) -> None:
            self.seconds = runner.seconds
            self.close()
            if fault is None and not last:
                fault = HcvizError("The run gave no tree.")
            done(last[0] if last else None, fault)

        def receive(message: Message) -> None:
            if self._runner is not runner:  # the run has ended or was replaced
                return
            if isinstance(message, Arrived):
                last[:] = [message.snapshot]
                runner.acknowledge(message.run)
            elif isinstance(message, Failed):
                end(HcvizError(message.message, message.hint))
            else:
                end(None)

        def expire() -> None:
            if self._runner is runner:
                end(HcvizError(f"Stopped after {limit:.0f} seconds."))

        def later(callback: Callable[[], None]) -> None:
            if not try_schedule(self._schedule, callback, "the run's end"):
                runner.close()

        runner = Runner(
            lambda message: later(lambda: receive(message)), self._pool, background=True
        )
        self._runner = runner
        if limit is not None:
            self._clock = threading.Timer(limit, later, [expire])
            self._clock.daemon = True
            self._clock.start()
        samples = Samples(problem.n_items) if get(method).samples else None
        runner.start(0, method, problem, params, seed, samples=samples, seconds=seconds)

    def close(self) -> None:
        """Stop the run without a report."""
        if self._clock is not None:
            self._clock.cancel()
        if self._runner is not None:
            self._runner.close()
        self._clock = self._runner = None
