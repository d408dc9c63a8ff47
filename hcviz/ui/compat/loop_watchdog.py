"""``LoopWatchdog``: logs calls on the event loop that keep other pages waiting.

Internals of Python 3.10 to 3.13: ``asyncio.events.Handle._run`` runs each callback of the loop, and
``_callback`` is the callback. asyncio's own debug mode reports slow callbacks, too, but makes every
call slower.
"""

from __future__ import annotations

import functools
import logging
import time
from asyncio.events import Handle
from collections.abc import Callable
from typing import Any

#: Seconds after which a call is logged for debugging, and as a warning.
LONG, TOO_LONG = 0.02, 0.1

log = logging.getLogger("hcviz.loop")

HANDLE: Any = Handle


class LoopWatchdog:
    """Measures each call on the event loops of this process.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._plain: Any = None
        self._noted: Callable[..., Any] | None = None

    def install(self) -> None:
        """Begin to measure. Further calls do nothing."""
        if self._plain is not None:
            return
        self._plain = plain = HANDLE._run

        def run(handle: Any) -> None:
            self._noted = None
            began = self._clock()
            plain(handle)
            took = self._clock() - began
            if took >= LONG:
                level = logging.WARNING if took >= TOO_LONG else logging.DEBUG
                name = callback_name(self._noted or handle._callback)
                log.log(level, "A call on the event loop took %.0f ms: %s", 1e3 * took, name)

        HANDLE._run = run

    def remove(self) -> None:
        """Stop measuring."""
        if self._plain is not None:
            HANDLE._run = self._plain
            self._plain = None

    def note(self, callback: Callable[..., Any]) -> None:
        """Name the function that the present call is for."""
        self._noted = callback


def callback_name(callback: Any) -> str:
    """Return name and place of a callback, without what wraps it."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    coroutine = getattr(getattr(callback, "__self__", None), "get_coro", None)  # of a task
    if coroutine is not None:
        callback = coroutine()
    code = getattr(callback, "__code__", None) or getattr(callback, "cr_code", None)
    name = getattr(callback, "__qualname__", None) or repr(callback)
    return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"


#: The watchdog of the server.
WATCHDOG = LoopWatchdog()

__all__ = ["WATCHDOG", "LoopWatchdog", "callback_name"]
