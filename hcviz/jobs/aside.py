"""What a page wants to know beside its run: worked out in turn, off its thread, and kept."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.behind import Behind, hand_over
from hcviz.jobs.pool import POOL, Pool

log = logging.getLogger(__name__)

#: Answers kept; the longest unasked go first.
KEPT = 128


@dataclass(frozen=True)
class SideRun:
    """A run whose last snapshot, as ``read`` reads it on the page's thread, is the answer.

    ``problem()`` is called when its turn comes: to check a large problem takes a while.
    """

    method: str
    problem: Callable[[], Problem]
    read: Callable[[Snapshot], Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0


#: A run, or a calculation that lets go of the GIL or is short.
Work = SideRun | Callable[[], Any]


class Aside:
    """Answers by key, worked out one at a time; all methods are for the page's thread.

    ``schedule(callback)`` runs a callback on that thread later; ``changed()`` is called there after
    each answer. An answer may be an :class:`HcvizError`: why there is none.
    """

    def __init__(
        self,
        schedule: Callable[[Callable[[], None]], None],
        changed: Callable[[], None],
        pool: Pool = POOL,
    ) -> None:
        self._schedule, self._changed = schedule, changed
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._wanted: dict[str, dict[Hashable, Work]] = {}
        self._doing: tuple[int, Hashable] | None = None
        self._turn = 0
        self._behind = Behind(schedule, pool)
        self._closed = False

    @property
    def idle(self) -> bool:
        """Nothing is being worked out."""
        return self._doing is None

    def ask(self, about: str, wanted: Mapping[Hashable, Work]) -> dict[Hashable, Any]:
        """The answers there are. The others are worked out, instead of what was asked before under
        the same ``about``; where few are asked for comes first.
        """
        for key in wanted:
            if key in self._known:
                self._known.move_to_end(key)
        now = None if self._doing is None else self._doing[1]
        self._wanted[about] = {
            key: work for key, work in wanted.items() if key not in self._known and key != now
        }
        self._next()
        return self.known(wanted)

    def known(self, keys: Iterable[Hashable]) -> dict[Hashable, Any]:
        """The answers there are; nothing is asked for."""
        return {key: self._known[key] for key in keys if key in self._known}

    def forget(self) -> None:
        """Other data: no answer is about it."""
        self._known.clear()
        self._wanted.clear()
        if self._doing is not None:
            self._doing = None
            self._behind.close()

    def close(self) -> None:
        """Nothing more is worked out or told."""
        self._closed = True
        self.forget()

    # ------------------------------------------------------------------ inside

    def _next(self) -> None:
        if self._doing is not None or self._closed:
            return
        waiting = [each for each in self._wanted.values() if each]
        if not waiting:
            return
        first = min(waiting, key=len)
        key = next(iter(first))
        work = first.pop(key)
        self._turn += 1
        turn = self._turn
        self._doing = (turn, key)
        if isinstance(work, SideRun):
            read = work.read

            def done(last: Snapshot | None, fault: HcvizError | None) -> None:
                self._done(turn, fault if fault or last is None else _answer(lambda: read(last)))

            def begin() -> bool:
                self._behind.start(work.method, work.problem(), work.params, work.seed, done)
                return True

            begun = _answer(begin)
            if isinstance(begun, HcvizError):  # told later: who asks is not to be called back now
                self._schedule(lambda: self._done(turn, begun))
            return

        def calculate() -> None:
            answer = _answer(work)
            hand_over(self._schedule, lambda: self._done(turn, answer), "an answer")

        threading.Thread(target=calculate, name="hcviz-aside", daemon=True).start()

    def _done(self, turn: int, answer: Any) -> None:
        if self._doing is None or self._doing[0] != turn:
            return
        self._known[self._doing[1]] = answer
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        self._doing = None
        self._changed()
        self._next()


def _answer(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except HcvizError as fault:
        return fault
    except Exception:
        log.exception("Something beside the run could not be worked out.")
        return HcvizError("This could not be worked out.", "The server's log has the details.")
