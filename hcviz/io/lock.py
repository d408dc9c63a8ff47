"""File locks that end with the process that holds them, even after a crash."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: only one process serves, so _held_here is enough
    fcntl = None  # type: ignore[assignment]

#: The locks that this process holds. ``flock`` alone would let it lock one file twice.
_held_here: set[Path] = set()


class FileLock:
    """An exclusive lock on a file, among all processes of this machine.

    It does not work on network file systems without ``flock``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    @property
    def is_held(self) -> bool:
        """True while this object holds the lock."""
        return self._handle is not None

    def acquire(self) -> bool:
        """Take the lock without waiting. Return False if another holder has it."""
        if self.is_held:
            return True
        if self.path in _held_here:
            return False
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                return False
        self._handle = handle
        _held_here.add(self.path)
        return True

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            _held_here.discard(self.path)


def is_locked(path: Path) -> bool:
    """Return True if a process holds the lock of this file. The file may be missing."""
    if not path.exists():
        return False
    probe = FileLock(path)
    if not probe.acquire():
        return True
    probe.release()
    return False
