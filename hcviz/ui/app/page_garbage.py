"""``PageGarbage``: collect garbage without stopping all pages for half a second again and again.

A full collection of Python visits all objects, and stops all threads. With thirty open pages it
takes half a second or more. CPython up to 3.13 starts one whenever a quarter of the objects is new.
So the objects of a page that has opened are excluded from collections (``gc.freeze``) until a page
closes. Then a full collection is made in an idle second, or after a minute without one.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextvars import Context
from typing import Any

#: Seconds between two checks, and the share of them in which an idle server works, at most.
INTERVAL, IDLE_SHARE = 1.0, 0.1
#: Seconds after which a page that opened is excluded although no second was idle.
MAX_WAIT_OPENED = 5.0
#: Seconds from the end of a page to its collection: at least, since runs and timers that are ending
#: still refer to it, and at most, although no second was idle.
MIN_WAIT_CLOSED, MAX_WAIT_CLOSED = 5.0, 60.0
#: Seconds between two full collections while no page closes.
FULL_INTERVAL = 600.0


class PageGarbage:
    """Decides when garbage is collected. All methods must be called on the thread of the pages.

    Parameters
    ----------
    clock, work
        Return seconds: those that have passed, and those in which the calling thread worked.

    Attributes
    ----------
    n_open : int
        The number of open pages.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        work: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock, self._work = clock, work
        self.n_open = 0
        self._loop: Any = None  # the loop that calls `_check` again
        self._opened: float | None = None  # when the first page opened that is not yet excluded
        # when the first and the last of the pages closed that are not yet collected
        self._closed: tuple[float, float] | None = None
        self._collected = clock()
        self._before = (0.0, 0.0)

    def open(self, loop: Any) -> None:
        """Exclude the objects of a page that opens, a little later; ``loop`` calls back."""
        self.n_open += 1
        self._opened = self._opened or self._clock()
        if loop is not self._loop:  # the first page, or another server of this process
            self._loop = loop
            self._before = (self._clock(), self._work())
            self._check_later(loop)

    def close(self) -> None:
        """Collect the objects of a closed page soon."""
        self.n_open -= 1
        now = self._clock()
        self._closed = (self._closed or (now,))[0], now

    def _check(self, loop: Any) -> None:
        if loop is not self._loop:
            return
        self.collect_if_due()
        if self.n_open or self._closed is not None:
            self._check_later(loop)
        else:
            self._loop = None

    def _check_later(self, loop: Any) -> None:
        # The loop keeps the caller's context, which has the document of the page, for ever.
        Context().run(loop.call_later, INTERVAL, self._check, loop)

    def collect_if_due(self) -> None:
        """Collect what is due."""
        now, worked = self._clock(), self._work()
        is_idle = worked - self._before[1] <= IDLE_SHARE * (now - self._before[0])
        if self._is_full_collection_due(now, is_idle):
            gc.unfreeze()
            self._closed = None
            self._collected = now
            self._collect()
        elif self._opened is not None and (is_idle or now - self._opened >= MAX_WAIT_OPENED):
            self._collect()
        self._before = (self._clock(), self._work())

    def _is_full_collection_due(self, now: float, is_idle: bool) -> bool:
        if self._closed is None:
            due = self._collected + FULL_INTERVAL
            return now >= due and (is_idle or now - due >= MAX_WAIT_CLOSED)
        first, last = self._closed
        return now - first >= MAX_WAIT_CLOSED or (is_idle and now - last >= MIN_WAIT_CLOSED)

    def _collect(self) -> None:
        """Free what is garbage, and exclude all other objects from the next collections."""
        gc.collect()
        self._opened = None
        if self.n_open:
            gc.freeze()


#: That of the server.
PAGE_GARBAGE = PageGarbage()

__all__ = ["PAGE_GARBAGE", "PageGarbage"]
