"""The unfinished sessions of one visitor: each sees their own, and nobody else's.

A visitor is known by a token that only their browser has; the folder is named by its digest, so
that who can list the disk still cannot pretend to be them.
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

from hcviz.io.journal import About, Journal, about_journal, remove_journal
from hcviz.io.lock import is_locked

#: How long an unfinished session is kept, in seconds, and how many of a visitor's, and how much.
MAX_AGE = 30 * 86400.0
MAX_EACH = 10
MAX_BYTES = 2 * 2**30

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,64}\Z")
_ASIDE = ".damaged"


def state_folder(said: str | None = None) -> Path | None:
    """Where unfinished sessions are kept: ``said``, else ``HCVIZ_STATE``, else the user's own
    state folder on this system. None (``off``): nowhere."""
    wanted = said if said is not None else os.environ.get("HCVIZ_STATE", "")
    if wanted.strip().lower() == "off":
        return None
    return Path(wanted or platformdirs.user_state_dir("hcviz")).expanduser().absolute() / "sessions"


def new_token() -> str:
    """Unguessable: 192 random bits."""
    return secrets.token_urlsafe(24)


def is_token(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and bool(_TOKEN.match(text))


@dataclass(frozen=True)
class Unfinished:
    """A session that nobody is at work on; ``name`` is its folder's."""

    name: str
    about: About


class Shelf:
    """The folder of the visitor with this token, below ``root``."""

    def __init__(self, root: Path, token: str) -> None:
        if not is_token(token):
            raise ValueError("not a visitor's token")
        self.root = root
        self.folder = root / hashlib.sha256(token.encode()).hexdigest()[:40]

    def begin(self) -> Journal:
        """A journal in a new folder. Raises :class:`OSError` where the disk refuses."""
        prune(self.root)
        return Journal(self.folder / f"{time.time_ns():x}-{secrets.token_hex(4)}")

    def unfinished(self) -> list[Unfinished]:
        """Those with something to tell that nobody is at work on, the newest first."""
        found = []
        try:
            for folder in _sessions(self.folder):
                about = None if is_locked(folder / "lock") else about_journal(folder)
                if about is not None:
                    found.append(Unfinished(folder.name, about))
        except OSError:  # not ours to read, or pruned meanwhile
            pass
        return sorted(found, key=lambda each: each.about.time, reverse=True)

    def path(self, name: str) -> Path:
        """The folder of one of :meth:`unfinished`."""
        return self.folder / Path(name).name

    def discard(self, name: str) -> None:
        remove_journal(self.path(name))

    def set_aside(self, name: str) -> str:
        """Keep a damaged one, out of the way; its new name."""
        path = self.path(name)
        aside = path.with_name(path.name + _ASIDE)
        path.rename(aside)
        return aside.name


def prune(root: Path) -> None:
    """Remove what is too old or too much, the oldest first; never what somebody is at work on."""
    now = time.time()
    kept: list[tuple[float, int, Path]] = []
    try:
        visitors = [each for each in root.iterdir() if each.is_dir()] if root.is_dir() else []
        for visitor in visitors:
            aged = sorted(((_touched(f), f) for f in _all(visitor)), reverse=True)
            for rank, (touched, folder) in enumerate(aged):
                if (rank >= MAX_EACH or now - touched > MAX_AGE) and not is_locked(folder / "lock"):
                    remove_journal(folder)
                else:
                    kept.append((touched, size_of(folder), folder))
            if not any(visitor.iterdir()):
                visitor.rmdir()
        total = 0
        for _touch, size, folder in sorted(kept, reverse=True):
            total += size
            if total > MAX_BYTES and not is_locked(folder / "lock"):
                remove_journal(folder)
    except OSError:  # another server prunes the same shelf
        return


def _all(visitor: Path) -> list[Path]:
    return [each for each in visitor.iterdir() if each.is_dir()] if visitor.is_dir() else []


def _sessions(visitor: Path) -> list[Path]:
    return [each for each in _all(visitor) if not each.name.endswith(_ASIDE)]


def _touched(folder: Path) -> float:
    return max((each.stat().st_mtime for each in folder.iterdir()), default=0.0)


def size_of(folder: Path) -> int:
    """The bytes of an unfinished session."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
