"""A clock that tests move."""

from __future__ import annotations


class Clock:
    """Returns ``now``, in seconds."""

    now = 0.0

    def __call__(self) -> float:
        return self.now
