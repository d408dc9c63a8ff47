"""``RunControl``: starts and stops the runs of one session, and receives their reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import RunLocation, Runner, Samples
from hcviz.session import actions as act

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

Callback = Callable[[], None]


class RunControl:
    """The runs of one session, one at a time.

    Parameters
    ----------
    schedule
        ``schedule(callback)`` runs a callback on the document's thread.
    report
        Called on that thread with each message of the current runner, an action of the session. It
        returns True if the tree of an ``Arrived`` was drawn.
    placed
        Called on that thread with the :class:`hcviz.jobs.RunLocation` where a run is computed.
    lined_up
        Called on that thread with the number of runs before this one, and None when it runs again.
    cluster
        Where runs are computed, if not on this machine.
    seconds
        Budget of a sampler's run; 0 means a fixed number of steps.
    """

    def __init__(
        self,
        schedule: Callable[[Callback], None],
        report: Callable[[Any], bool],
        placed: Callable[[RunLocation], None],
        lined_up: Callable[[int | None], None],
        cluster: Cluster | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.seconds = seconds if cluster is None else 0.0
        #: Number of runs before this one in the server's line; None while it does not wait there.
        self.ahead: int | None = None
        #: Calls back after the browser has drawn the newest tree.
        self.when_drawn: Callable[[Callback], None] = _at_once
        self._schedule, self._report, self._placed = schedule, report, placed
        self.on_lined_up = lined_up
        self._cluster = cluster
        self.runner = self._new_runner()

    def start(
        self,
        run: int,
        method: str,
        problem: Problem,
        params: Mapping[str, Any],
        seed: int,
        start: Snapshot | None,
        samples: Samples | None,
    ) -> None:
        """Start a run, which replaces the current one."""
        self.ahead = None
        self.runner.start(
            run, method, problem, dict(params), seed, start, samples, self.seconds,
        )  # fmt: skip

    def cancel(self) -> None:
        """End the current run."""
        self.runner.cancel()

    def pause(self, paused: bool) -> None:
        """Pause the current run, or let it continue."""
        (self.runner.pause if paused else self.runner.resume)()

    def restart(self) -> None:
        """End the current run and ignore all reports of earlier runs."""
        self.runner.close()
        self.runner = self._new_runner()

    def close(self) -> None:
        """End the current run for good."""
        self.runner.close()

    def _new_runner(self) -> Runner:
        made: list[Runner] = []

        def receive(message: Any) -> None:
            if made and made[0] is self.runner:  # else of a session that was replaced
                self.receive(message)

        runner = Runner(
            lambda message: self._schedule(lambda: receive(message)),
            cluster=self._cluster,
            on_location=lambda place: self._schedule(lambda: self._placed(place)),
            on_position=lambda ahead: self._schedule(lambda: self.on_lined_up(ahead)),
        )
        made.append(runner)
        return runner

    def receive(self, message: Any) -> None:
        """Report a message of the runner, and acknowledge its tree once it is drawn."""
        drawn = self._report(message)
        if isinstance(message, act.Arrived):
            when = self.when_drawn if drawn else _at_once
            when(lambda: self.runner.acknowledge(message.run))


def _at_once(call: Callback) -> None:
    call()
