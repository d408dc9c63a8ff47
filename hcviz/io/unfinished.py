"""Folders with the unfinished sessions of each visitor.

A visitor is identified by a token that only their browser has. The folder's name is a digest of
the token, so a person who can list the disk cannot use the name as a token.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import platformdirs

from hcviz.io.journal import Journal, SessionSummary, read_summary, remove_journal
from hcviz.io.lock import is_locked

#: Seconds for which an unfinished session is kept, sessions per visitor, and bytes of all.
MAX_AGE = 30 * 86400.0
MAX_PER_VISITOR = 10
MAX_BYTES = 2 * 2**30

#: The time when the clock ``time.monotonic`` was 0.
_START = time.time() - time.monotonic()

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,64}\Z")
_DAMAGED_SUFFIX = ".damaged"


def state_folder(folder: str | None = None) -> Path | None:
    """Return the folder for unfinished sessions, or None if saving is off.

    It is ``folder``, or else the environment variable ``HCVIZ_STATE``, or else the user's state
    folder on this system. The value ``off`` switches saving off.
    """
    wanted = folder if folder is not None else os.environ.get("HCVIZ_STATE", "")
    if wanted.strip().lower() == "off":
        return None
    return Path(wanted or platformdirs.user_state_dir("hcviz")).expanduser().absolute() / "sessions"


def new_token() -> str:
    """Return a token of 192 random bits."""
    return secrets.token_urlsafe(24)


def is_token(text: object) -> TypeGuard[str]:
    """Return True if the text has the form of a visitor's token."""
    return isinstance(text, str) and bool(_TOKEN.match(text))


@dataclass(frozen=True)
class UnfinishedSession:
    """A session that is not open on any page; ``name`` is the name of its folder."""

    name: str
    about: SessionSummary


class UnfinishedSessions:
    """The folder, below ``root``, of the visitor with this token."""

    def __init__(self, root: Path, token: str) -> None:
        if not is_token(token):
            raise ValueError("not a visitor's token")
        self.root = root
        self.folder = root / hashlib.sha256(token.encode()).hexdigest()[:40]

    def new_journal(self) -> Journal:
        """Return a journal in a new folder. Raises :class:`OSError` if it cannot be written."""
        prune(self.root)
        return Journal(self.folder / f"{time.time_ns():x}-{secrets.token_hex(4)}")

    def unfinished(self) -> list[UnfinishedSession]:
        """Return the sessions that have a summary and are not open, the newest first."""
        found = []
        try:
            for folder in _sessions(self.folder):
                about = None if is_locked(folder / "lock") else read_summary(folder)
                if about is not None:
                    found.append(UnfinishedSession(folder.name, about))
        except OSError:  # not readable, or removed by another server
            pass
        return sorted(found, key=lambda each: each.about.time, reverse=True)

    def path(self, name: str) -> Path:
        """Return the folder of one of :meth:`unfinished`."""
        return self.folder / Path(name).name

    def discard(self, name: str) -> None:
        """Remove one of :meth:`unfinished`."""
        remove_journal(self.path(name))

    def keep_damaged(self, name: str) -> str:
        """Rename a damaged session, so that it is not offered again. Return the new name."""
        path = self.path(name)
        renamed = path.with_name(path.name + _DAMAGED_SUFFIX)
        path.rename(renamed)
        return renamed.name


def prune(root: Path) -> None:
    """Remove sessions beyond the limits, the oldest first. Open sessions are kept."""
    now = _steady_now()
    kept: list[tuple[float, int, Path]] = []
    try:
        visitors = [each for each in root.iterdir() if each.is_dir()] if root.is_dir() else []
        for visitor in visitors:
            by_age = sorted(((_modified(f), f) for f in _folders(visitor)), reverse=True)
            for rank, (modified, folder) in enumerate(by_age):
                exceeds = rank >= MAX_PER_VISITOR or now - modified > MAX_AGE
                if exceeds and not is_locked(folder / "lock"):
                    remove_journal(folder)
                else:
                    kept.append((modified, size_of(folder), folder))
            if not any(visitor.iterdir()):
                visitor.rmdir()
        total = 0
        for _, size, folder in sorted(kept, reverse=True):
            total += size
            if total > MAX_BYTES and not is_locked(folder / "lock"):
                remove_journal(folder)
    except OSError:  # another server may prune the same folders
        return


def _steady_now() -> float:
    """Return the time, without the jumps forward of a clock that was set since the start.

    After such a jump all sessions would seem old.
    """
    return min(time.time(), _START + time.monotonic())


def _folders(visitor: Path) -> list[Path]:
    return [each for each in visitor.iterdir() if each.is_dir()] if visitor.is_dir() else []


def _sessions(visitor: Path) -> list[Path]:
    return [each for each in _folders(visitor) if not each.name.endswith(_DAMAGED_SUFFIX)]


def _modified(folder: Path) -> float:
    return max((each.stat().st_mtime for each in folder.iterdir()), default=0.0)


def size_of(folder: Path) -> int:
    """Return the bytes of an unfinished session."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
