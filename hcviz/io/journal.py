"""An unfinished session on disk: a log that is written ahead, and now and then the whole of it.

A folder holds ``log-N.jsonl`` (one action a line, each on the disk before anything that it causes
is started) and ``base-N.hcviz`` (a session file as of the N-th action). The newest base and the
actions after it give the session back: all answers, the log, undo and redo. What is lost are trees
that arrived after the base; a run computes them again. A line has a checksum and a number. The last
line may be torn (the power went): nothing that it says had begun.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hcviz.core.errors import HcvizError, SessionFileError
from hcviz.io.lock import Lock
from hcviz.io.session_codec import Decoder, Encoder
from hcviz.io.session_file import check_session, load_session, save_session
from hcviz.session import actions as act
from hcviz.session.methods import Methods
from hcviz.session.model import Session
from hcviz.session.update import initial_session, update

#: Reports of runs: they speak of trees that the log does not hold.
REPORTS = (act.Finished, act.Failed, act.Stopped)


#: What an action may keep beside its line: tables and arrays, each named by its digest.
_ENTRY = re.compile(r"tables/[0-9a-f]+|arrays/[0-9a-f]+\.npy")

_NONSENSE = (ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class About:
    """What a person would know an unfinished session by."""

    title: str = ""
    answers: int = 0
    time: str = ""


class Journal:
    """The one writer of a folder, which it makes and locks. Not thread-safe but for :meth:`base`.

    ``number`` counts the actions written. Raises :class:`OSError` where the disk refuses.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.number = 0
        self._lock = Lock(folder / "lock")
        self._lock.take()
        self._file = self._segment()

    @property
    def live(self) -> bool:
        """Whether the folder is still there, and ours to write."""
        return self._lock.held and (self.folder / "lock").exists()

    def append(self, actions: list[act.Action], about: About) -> None:
        """Write the actions, which are on the disk when this returns. O(their size)."""
        lines = []
        for action in actions:
            encoder = Encoder()
            said = encoder.value(action)
            for name, content in encoder.entries.items():
                self._entry(name, content)
            self.number += 1
            lines.append(_line(self.number, about, {"shared": encoder.shared, "action": said}))
        self._write(b"".join(lines))

    def turn(self, about: About) -> Callable[[Session], None]:
        """Begin a new log here; the call that writes the base that the old one led to.

        The call may be made on another thread, with the session as it is now; when the base is on
        the disk the older logs go.
        """
        self._file.close()
        self._file = self._segment()
        self._write(_line(self.number, about, None))
        number = self.number
        return lambda session: self._base(number, save_session(session))

    def release(self) -> None:
        """Nobody is at work on it for now: others may have the folder."""
        self._lock.release()

    def hold(self) -> None:
        """Somebody is again; :attr:`live` tells whether it is still there."""
        if (self.folder / "lock").exists():
            self._lock.take()

    def close(self) -> None:
        """The end; the folder stays. May be called twice."""
        self._file.close()
        self._lock.release()

    # ------------------------------------------------------------------ inside

    def _segment(self) -> Any:
        path = self.folder / f"log-{self.number:08}.jsonl"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        _sync_folder(self.folder)
        return os.fdopen(handle, "ab", buffering=0)

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        os.fsync(self._file.fileno())

    def _entry(self, name: str, content: bytes) -> None:
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _replace(path, content)

    def _base(self, number: int, content: bytes) -> None:
        _replace(self.folder / f"base-{number:08}.hcviz", content)
        for kind in ("log-*.jsonl", "base-*.hcviz"):
            for path in self.folder.glob(kind):
                if _number(path) < number:
                    path.unlink(missing_ok=True)


# ---------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Found:
    """What a folder gave back. ``damaged``: not all of it could be read."""

    session: Session
    damaged: bool


def read_journal(folder: Path, methods: Methods) -> Found:
    """The session that a folder's base and log lead to. Nothing on the disk is changed.

    Reads as far as it can be believed: up to the first line that is damaged, out of order or
    refused. A torn last line is no damage. Raises :class:`SessionFileError` where not even a
    beginning can be read.
    """
    session, number, damaged = None, 0, False
    for path in sorted(folder.glob("base-*.hcviz"), reverse=True):
        try:
            session, number = load_session(path.read_bytes()), _number(path)
            break
        except (SessionFileError, OSError):
            damaged = True
    try:
        for line in _lines(folder):
            if line.action is None or line.number <= number:
                continue
            if line.number != number + 1:
                raise SessionFileError("An action is missing.")
            session = _apply(session, _action(line.action, folder), methods)
            number = line.number
    except (HcvizError, OSError, IndexError, *_NONSENSE):
        damaged = True
    if session is None or not session.labels:
        raise SessionFileError("The unfinished session cannot be read.")
    check_session(session)
    return Found(session, damaged)


def about_journal(folder: Path) -> About | None:
    """What the newest line says; ``About()`` where none can be read, None where there is none."""
    found = None
    for path in sorted(folder.glob("log-*.jsonl"), reverse=True):
        for line in reversed(path.read_bytes().split(b"\n")[:-1]):
            try:
                return _parsed(line).about
            except _NONSENSE:
                found = About()
    return found


def remove_journal(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _apply(session: Session | None, action: act.Action, methods: Methods) -> Session:
    if session is not None:
        return update(session, action, methods)[0]
    if not isinstance(action, act.SessionStarted):
        raise SessionFileError("The log does not begin at the beginning.")
    return initial_session(action)


def _action(said: Mapping[str, Any], folder: Path) -> act.Action:
    def entry(name: str) -> bytes:
        if not _ENTRY.fullmatch(name):
            raise SessionFileError(f"There is no part {name!r} in a log.")
        return (folder / name).read_bytes()

    document = {"shared": said["shared"], "trees": [], "snapshots": []}
    made = Decoder(document, entry).value(said["action"])
    if not isinstance(made, act.Action):
        raise SessionFileError("A line of the log is no action.")
    return made


# ---------------------------------------------------------------------- lines


@dataclass(frozen=True)
class _Line:
    number: int
    about: About
    action: Mapping[str, Any] | None


def _line(number: int, about: About, action: Mapping[str, Any] | None) -> bytes:
    body = json.dumps(
        {"n": number, "about": vars(about), "action": action}, separators=(",", ":")
    ).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _lines(folder: Path) -> Iterator[_Line]:
    for path in sorted(folder.glob("log-*.jsonl")):
        yield from _read(path)


def _read(path: Path) -> Iterator[_Line]:
    """The lines of a log; ValueError and the like at one that is not as it was written."""
    *whole, _torn = path.read_bytes().split(b"\n")
    yield from map(_parsed, whole)


def _parsed(line: bytes) -> _Line:
    digest, body = line[:8], line[9:]
    if int(digest, 16) != zlib.crc32(body):
        raise ValueError("a line was changed")
    said = json.loads(body)
    return _Line(int(said["n"]), About(**said["about"]), said["action"])


# ---------------------------------------------------------------------- the disk


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _replace(path: Path, content: bytes) -> None:
    """The file as a whole or not at all, whatever happens meanwhile."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb", opener=_private) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """A new name in a folder is on the disk when the folder is (POSIX; elsewhere at once)."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _number(path: Path) -> int:
    digits = path.stem.partition("-")[2]
    return int(digits) if digits.isdigit() else -1
