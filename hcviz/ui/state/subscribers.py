"""``Subscribers``: call a view when the slice of the state that it depends on changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

S = TypeVar("S")

log = logging.getLogger("hcviz")


@dataclass(eq=False)
class _Subscriber(Generic[S]):
    select: Callable[[S], Any]
    call: Callable[[Any], None]
    before: Any


class Subscribers(Generic[S]):
    """The views of one ``state``.

    Parameters
    ----------
    state
        The object that slices are selected from.
    batch
        Returns a context. All changes of a page inside it reach the browser as one message.
    failed
        Called after a view raised an exception. The other views are still called.
    """

    def __init__(
        self,
        state: S,
        batch: Callable[[], AbstractContextManager[None]],
        failed: Callable[[], None],
    ) -> None:
        self._state, self._batch, self._failed = state, batch, failed
        self._subscribers: list[_Subscriber[S]] = []
        self._notifying = False

    def add(self, select: Callable[[S], Any], call: Callable[[Any], None]) -> None:
        """Call ``call(slice)`` now, and after each change of ``select(state)``."""
        now = select(self._state)
        self._subscribers.append(_Subscriber(select, call, now))
        call(now)

    def notify(self) -> None:
        """Call the views whose slices changed, until no slice changes any more.

        A view may change the state. Its own call of ``notify`` returns at once, and the outer call
        continues with the new state. A view that fails is not called again until the next call.
        """
        if self._notifying:
            return
        self._notifying = True
        try:
            broken: set[_Subscriber[S]] = set()
            with self._batch():
                while self._one_round(broken):
                    pass
        finally:
            self._notifying = False

    def _one_round(self, broken: set[_Subscriber[S]]) -> bool:
        """Call each view whose slice changed once; return True if any was called.

        Views in ``broken`` are left out. A view that fails is added to it.
        """
        called = False
        for subscriber in self._subscribers:
            now = subscriber.select(self._state)
            if same(subscriber.before, now):
                continue
            subscriber.before = now
            if subscriber in broken:
                continue
            called = True
            try:
                subscriber.call(now)
            except Exception:
                log.exception("A part of the page could not be drawn.")
                broken.add(subscriber)
                self._failed()
        return called


def same(before: Any, now: Any) -> bool:
    """Return True if two slices are equal: plain values by value, other objects by identity."""
    if before is now:
        return True
    kind = type(now)
    if kind is not type(before):
        return kind in _PLAIN and type(before) in _PLAIN and bool(before == now)
    if kind is tuple:
        return len(before) == len(now) and all(
            x is y or same(x, y) for x, y in zip(before, now, strict=True)
        )
    return kind in _PLAIN and bool(before == now)


#: Types that are compared by value.
_PLAIN = frozenset((str, int, float, bool, type(None)))
