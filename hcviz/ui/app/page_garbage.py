"""``PageGarbage``: collect garbage without stopping all pages for half a second.

A full collection of Python looks at all objects, and stops all threads. With thirty open pages it
takes half a second or more, and Python starts one whenever a quarter of the objects is new. So the
objects of a page that has opened are excluded from collections (``gc.freeze``) until a page closes.
Then all objects are looked at, as soon as the server rests.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextvars import Context
from typing import Any

#: Seconds between two looks at the server, and the share of the time in which it works at rest.
PACE, REST = 1.0, 0.1
#: Seconds after which a page that opened, and after which a closed one, waits for no rest any more.
OPENED, CLOSED = 5.0, 60.0
#: Seconds between two full collections while no page closes.
SELDOM = 600.0


class PageGarbage:
    """Decides when garbage is collected. All methods must be called on the thread of the pages.

    Parameters
    ----------
    clock, work
        Return seconds: those that have passed, and those in which the calling thread worked.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        work: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock, self._work = clock, work
        self._n_open, self._ticks = 0, False
        self._opened: float | None = None  # when the first page opened that is not yet excluded
        self._closed: float | None = None  # when the first page closed whose objects may be left
        self._swept = clock()
        self._before = (0.0, 0.0)

    def open(self, loop: Any) -> None:
        """Exclude the objects of a page that opens, a little later; ``loop`` calls back."""
        self._n_open += 1
        self._opened = self._opened or self._clock()
        if not self._ticks:
            self._ticks = True
            self._before = (self._clock(), self._work())
            self._tick_later(loop)

    def close(self) -> None:
        """Collect the objects of a closed page soon."""
        self._n_open -= 1
        self._closed = self._closed or self._clock()

    def _tick(self, loop: Any) -> None:
        self.look()
        self._ticks = bool(self._n_open or self._closed)
        if self._ticks:
            self._tick_later(loop)

    def _tick_later(self, loop: Any) -> None:
        # The loop keeps the caller's context, which has the document of the page, for ever.
        Context().run(loop.call_later, PACE, self._tick, loop)

    def look(self) -> None:
        """Collect what is due."""
        now, worked = self._clock(), self._work()
        rests = worked - self._before[1] <= REST * (now - self._before[0])
        if self._closed is None and now - self._swept >= SELDOM:
            self._closed = now
        if self._closed is not None and (rests or now - self._closed >= CLOSED):
            gc.unfreeze()
            self._closed, self._swept = None, now
            self._exclude()
        elif self._opened is not None and (rests or now - self._opened >= OPENED):
            self._exclude()
        self._before = (self._clock(), self._work())

    def _exclude(self) -> None:
        """Free what is garbage, and exclude all other objects from the next collections."""
        gc.collect()
        gc.freeze()
        self._opened = None


#: That of the server.
PAGE_GARBAGE = PageGarbage()

__all__ = ["PAGE_GARBAGE", "PageGarbage"]
