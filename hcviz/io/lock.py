"""A lock that goes when its process goes, however it went."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there one process serves all, and knows its own
    fcntl = None  # type: ignore[assignment]

_ours: set[Path] = set()


class Lock:
    """A file that one holder has at a time, in this process or another on this machine.

    Not for network file systems that do not know ``flock``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        return self._handle is not None

    def take(self) -> bool:
        """Take it, unless somebody has it; whether it is ours now."""
        if self.held:
            return True
        if self.path in _ours:
            return False
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                return False
        self._handle = handle
        _ours.add(self.path)
        return True

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            _ours.discard(self.path)


def is_locked(path: Path) -> bool:
    """Whether somebody has the lock of this file (which need not be there)."""
    if not path.exists():
        return False
    probe = Lock(path)
    if not probe.take():
        return True
    probe.release()
    return False
