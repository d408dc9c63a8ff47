"""``ComputeCache``: values that a page needs besides its run, computed in turn and stored."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hcviz.core.errors import HcvizError
from hcviz.core.interpreter_exit import log_fault
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.background_runs import BackgroundRuns, try_schedule

log = logging.getLogger(__name__)

#: Maximal number of stored values; the least recently requested are dropped first.
MAX_ANSWERS = 128


@dataclass(frozen=True)
class BackgroundRun:
    """A run whose value is ``read(last snapshot)``, on the page's thread.

    ``problem()`` is called when the run starts, because checking a large problem takes time.
    """

    method: str
    problem: Callable[[], Problem]
    read: Callable[[Snapshot], Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0


#: A run, or a function that releases the GIL or is short.
Computation = BackgroundRun | Callable[[], Any]


class ComputeCache:
    """Values by key, computed one at a time.

    All methods must be called on the page's thread. A value may be an :class:`HcvizError` that
    explains why there is none.

    Parameters
    ----------
    schedule : callable
        ``schedule(callback)`` runs a callback on the page's thread later.
    changed : callable
        Is called on that thread after each new value.
    """

    def __init__(
        self,
        schedule: Callable[[Callable[[], None]], None],
        changed: Callable[[], None],
    ) -> None:
        self._schedule, self._changed = schedule, changed
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()
        self._requests: dict[str, dict[Hashable, Computation]] = {}
        self._current: tuple[int, Hashable] | None = None
        self._request_number = 0
        self._background = BackgroundRuns(schedule)
        self._closed = False

    @property
    def idle(self) -> bool:
        """True if nothing is being computed."""
        return self._current is None

    def ask(self, topic: str, wanted: Mapping[Hashable, Computation]) -> dict[Hashable, Any]:
        """Return the stored values, and request the others.

        The request replaces earlier ones under the same ``topic``. Topics with few requests come
        first.
        """
        for key in wanted:
            if key in self._answers:
                self._answers.move_to_end(key)
        now = None if self._current is None else self._current[1]
        self._requests[topic] = {
            key: work for key, work in wanted.items() if key not in self._answers and key != now
        }
        self._start_next()
        return self.known(wanted)

    def known(self, keys: Iterable[Hashable]) -> dict[Hashable, Any]:
        """The answers there are; nothing is asked for."""
        return {key: self._answers[key] for key in keys if key in self._answers}

    def forget(self) -> None:
        """Drop all values and requests, because the data have changed."""
        self._answers.clear()
        self._requests.clear()
        if self._current is not None:
            self._current = None
            self._background.close()

    def close(self) -> None:
        """Stop all computations."""
        self._closed = True
        self.forget()

    # ------------------------------------------------------------------ inside

    def _start_next(self) -> None:
        if self._current is not None or self._closed:
            return
        waiting = [each for each in self._requests.values() if each]
        if not waiting:
            return
        first = min(waiting, key=len)
        key = next(iter(first))
        work = first.pop(key)
        self._request_number += 1
        turn = self._request_number
        self._current = (turn, key)
        if isinstance(work, BackgroundRun):
            read = work.read

            def done(last: Snapshot | None, fault: HcvizError | None) -> None:
                self._finish(
                    turn, fault if fault or last is None else _value_or_error(lambda: read(last))
                )

            def begin() -> bool:
                self._background.start(work.method, work.problem(), work.params, work.seed, done)
                return True

            started = _value_or_error(begin)
            if isinstance(started, HcvizError):  # reported later, not within this call
                self._schedule(lambda: self._finish(turn, started))
            return

        def calculate() -> None:
            answer = _value_or_error(work)
            try_schedule(self._schedule, lambda: self._finish(turn, answer), "an answer")

        threading.Thread(target=calculate, name="hcviz-compute", daemon=True).start()

    def _finish(self, turn: int, answer: Any) -> None:
        if self._current is None or self._current[0] != turn:
            return
        self._answers[self._current[1]] = answer
        while len(self._answers) > MAX_ANSWERS:
            self._answers.popitem(last=False)
        self._current = None
        self._changed()
        self._start_next()


def _value_or_error(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except HcvizError as fault:
        return fault
    except Exception as fault:
        log_fault(log, fault, "A background computation failed.")
        return HcvizError("This could not be computed.", "The server's log has the details.")
