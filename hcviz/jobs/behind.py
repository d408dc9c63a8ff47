"""``Behind``: one run behind the scenes, of which only the end counts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from hcviz.algorithms import get
from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.courier import Message
from hcviz.jobs.pool import POOL, Pool
from hcviz.jobs.runner import Runner
from hcviz.jobs.samples import Samples
from hcviz.session.actions import Arrived, Failed

log = logging.getLogger(__name__)

#: ``(last snapshot, why there is no better one)``; one of them at least is not None.
Done = Callable[[Snapshot | None, HcvizError | None], None]


Schedule = Callable[[Callable[[], None]], None]


def hand_over(schedule: Schedule, callback: Callable[[], None], what: str) -> bool:
    """``schedule(callback)``, from a thread; False where the page went while ``what`` was made."""
    try:
        schedule(callback)
    except Exception:
        log.debug("Nobody waits for %s any more.", what, exc_info=True)
        return False
    return True


class Behind:
    """Runs a method beside the session's own and tells how it ended; the newest run wins.

    All methods are for the page's thread, and ``schedule(callback)`` runs a callback on it later.
    Always as run 0, like a session's own first one: under the same seed and settings it is that
    very run.
    """

    def __init__(self, schedule: Schedule, pool: Pool = POOL) -> None:
        self._schedule, self._pool = schedule, pool
        self._runner: Runner | None = None
        self._clock: threading.Timer | None = None

    @property
    def busy(self) -> bool:
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
        """Call ``done(last, fault)`` when the run is over, or stopped after ``limit`` seconds.

        ``fault`` says why it failed, or gave nothing, or that it was stopped; ``last`` is then the
        last snapshot before that, if there was one. Not called after :meth:`close` or another
        ``start``. Of a method that samples the last tree is the summary of its draws; ``seconds``:
        see :class:`hcviz.jobs.task.Task`.
        """
        self.close()
        last: list[Snapshot] = []

        def end(fault: HcvizError | None) -> None:
            self.close()
            if fault is None and not last:
                fault = HcvizError("It gave no tree.")
            done(last[0] if last else None, fault)

        def receive(message: Message) -> None:
            if self._runner is not runner:  # ended, or another is at work
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
            if not hand_over(self._schedule, callback, "the run's end"):
                runner.close()

        runner = Runner(lambda message: later(lambda: receive(message)), self._pool)
        self._runner = runner
        if limit is not None:
            self._clock = threading.Timer(limit, later, [expire])
            self._clock.daemon = True
            self._clock.start()
        samples = Samples(problem.n_items) if get(method).samples else None
        runner.start(0, method, problem, params, seed, samples=samples, seconds=seconds)

    def close(self) -> None:
        """Stop what is at work; nothing is told of it."""
        if self._clock is not None:
            self._clock.cancel()
        if self._runner is not None:
            self._runner.close()
        self._clock = self._runner = None
