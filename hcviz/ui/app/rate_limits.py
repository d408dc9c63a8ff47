"""Limits of how often a visitor opens pages, tries passwords and uploads files."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from hcviz.core.errors import HcvizError
from hcviz.core.text import count_noun

#: Visitors that a limit remembers. Then it forgets those that may do everything again.
REMEMBERED = 10_000


class RateLimit:
    """A token bucket for each key: ``burst`` at once, then ``per_minute``.

    Examples
    --------
    >>> limit = RateLimit(burst=2, per_minute=60, clock=lambda: 0.0)
    >>> [limit.wait("ann"), limit.wait("ann"), limit.wait("ann"), limit.wait("bob")]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(
        self, burst: float, per_minute: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst, self._rate, self._clock = burst, per_minute / 60, clock
        self._left: dict[str, tuple[float, float]] = {}  # key -> (tokens, time)

    def __len__(self) -> int:
        """Return the number of keys that are remembered."""
        return len(self._left)

    def wait(self, key: str, cost: float = 1.0) -> float:
        """Return 0 and take ``cost`` tokens, or return the seconds until there are so many."""
        now = self._clock()
        if missing := self.seconds_until(key, cost):
            return missing
        if len(self._left) >= REMEMBERED and key not in self._left:
            self._forget(now)
        self._left[key] = (self._tokens(key, now) - cost, now)
        return 0.0

    def seconds_until(self, key: str, cost: float = 1.0) -> float:
        """Return the seconds until there are ``cost`` tokens, 0 if there are."""
        return max(0.0, min(cost, self._burst) - self._tokens(key, self._clock())) / self._rate

    def _tokens(self, key: str, now: float) -> float:
        left, then = self._left.get(key, (self._burst, now))
        return min(self._burst, left + (now - then) * self._rate)

    def _forget(self, now: float) -> None:
        """Drop the keys with full buckets; if there are none, the oldest half."""
        kept = {key: at for key, at in self._left.items() if self._tokens(key, now) < self._burst}
        if len(kept) >= REMEMBERED:
            newest = sorted(kept.items(), key=lambda each: each[1][1])[REMEMBERED // 2 :]
            kept = dict(newest)
        self._left = kept


class UploadLimit:
    """Limits the files and the bytes that each visitor uploads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._files = RateLimit(burst=30, per_minute=10, clock=clock)
        self._bytes = RateLimit(burst=2**30, per_minute=2**28, clock=clock)

    def take(self, visitor: str, files: int, size: int) -> None:
        """Count files and bytes of a visitor.

        Raises
        ------
        HcvizError
            If the visitor must wait.
        """
        wait = self._files.wait(visitor, files) if files else 0.0
        wait = max(wait, self._bytes.wait(visitor, size) if size else 0.0)
        if wait:
            raise HcvizError(f"You uploaded many files. Try again in {seconds(wait)}.")


def seconds(wait: float) -> str:
    """Return a time to wait as text: ``1 second``, ``90 seconds``."""
    return count_noun(max(1, math.ceil(wait)), "second")


__all__ = ["RateLimit", "UploadLimit", "seconds"]
