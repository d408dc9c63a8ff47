"""``COMPILING``: how far the compilation of the kernels is, at the first start of a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hcviz.core.jit import cached_share

#: With a larger share of the kernels in the cache at the start, nothing is shown: a few kernels are
#: compiled only when they are used.
NEARLY_ALL = 0.75
#: Seconds between two looks at the cache.
INTERVAL = 1.0


class CompilingProgress:
    """The share of the kernels that are compiled, while a server compiles them.

    Parameters
    ----------
    share : function that returns the share of the kernels in the cache
    clock : seconds, never set back

    Examples
    --------
    >>> progress = CompilingProgress(lambda: 0.25)
    >>> with progress.running():
    ...     progress.percent
    25
    >>> progress.percent is None
    True
    """

    def __init__(
        self, share: Callable[[], float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._share, self._clock = share, clock
        self._lock = threading.Lock()
        self._percent: int | None = None
        self._read = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the progress meanwhile, unless nearly all kernels are in the cache already."""
        share = self._share()
        if share < NEARLY_ALL:
            with self._lock:
                self._percent, self._read = _whole(share), self._clock()
        try:
            yield
        finally:
            with self._lock:
                self._percent = None

    @property
    def is_running(self) -> bool:
        """True while kernels are compiled that were not in the cache at the start."""
        with self._lock:
            return self._percent is not None

    @property
    def percent(self) -> int | None:
        """The per cent of the kernels that are compiled; None if nothing is being compiled."""
        with self._lock:
            if self._percent is not None and self._clock() - self._read >= INTERVAL:
                self._percent, self._read = _whole(self._share()), self._clock()
            return self._percent


def _whole(share: float) -> int:
    return min(99, round(100 * share))


#: The progress of this server.
COMPILING = CompilingProgress(cached_share)

__all__ = ["COMPILING", "CompilingProgress"]
