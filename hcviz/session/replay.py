"""Replay a session's log exactly, which proves that the log is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot
from hcviz.session.actions import Action, Arrived, SessionStarted
from hcviz.session.effects import StartRun
from hcviz.session.methods import Methods
from hcviz.session.model import DataSpec, Session
from hcviz.session.update import initial_session, update

#: Runs the method of a StartRun on the data of a DataSpec, as the runner does.
RunMethod = Callable[[DataSpec, StartRun], Iterator[Snapshot | None]]


def replay(session: Session, run_method: RunMethod, methods: Methods) -> Session:
    """Return the session that the log of ``session`` leads to.

    Before each entry, the run continues to the step that was shown then. The result equals
    ``session`` if methods are deterministic: the same seed, run number and start give the same
    snapshots. The cost is that of all runs, as far as they were shown.

    Raises
    ------
    HcvizError
        If a run does not reach a step that the log names.
    """
    *_, last = replay_steps(session, run_method, methods)
    return last


def replay_steps(session: Session, run_method: RunMethod, methods: Methods) -> Iterator[Session]:
    """Yield the session after each entry of the log, and at the end the present session."""
    player = _Player(run_method, methods)
    for entry in session.log:
        if isinstance(entry.action, SessionStarted):  # `update` logs it again
            player.session = initial_session(entry.action)
        else:
            player.advance(entry.run, entry.step)
            player.apply(entry.action)
        yield player.session
    step = -1 if session.snapshot is None else session.snapshot.step
    player.advance(session.run, step if session.shown == session.run else -1)
    yield player.session


class _Player:
    """Applies the actions of a log and runs the methods."""

    def __init__(self, run_method: RunMethod, methods: Methods) -> None:
        self.session = Session()
        self._methods = methods
        self._run_method = run_method
        self._stream: Iterator[Snapshot | None] = iter(())

    def advance(self, run: int, step: int) -> None:
        """Continue the run until ``step``, and show that snapshot."""
        here = self.session
        if step < 0 or here.status != "sampling" or run != here.run:
            return
        if here.shown == run and here.snapshot is not None and here.snapshot.step == step:
            return
        for snapshot in self._stream:
            if snapshot is not None and snapshot.step == step:
                self.apply(Arrived(run, snapshot))
                return
        raise HcvizError(
            f"Run {run} of the log does not reach step {step} here.",
            "The data or the method's code differ from those of the session.",
        )

    def apply(self, action: Action) -> None:
        self.session, effects = update(self.session, action, self._methods)
        for effect in effects:
            if isinstance(effect, StartRun):
                self._stream = self._run_method(self.session.data, effect)
