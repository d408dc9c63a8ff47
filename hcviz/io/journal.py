"""A write-ahead log of an unfinished session, with a session file from time to time.

The folder of a session has two kinds of files:

- ``log-N.jsonl`` has one action per line. A line is on the disk before its action takes effect, and
  has a number and a checksum.
- ``base-N.hcviz`` is a session file, written after the N-th action.

The newest base and the actions after it restore the session: its answers, its log, undo and redo.
Trees that arrived after the base are lost; a run computes them again. After a power failure the
last line may be incomplete. Its action had not taken effect.
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
from hcviz.io.lock import FileLock
from hcviz.io.session_codec import Decoder, Encoder
from hcviz.io.session_file import check_session, load_session, save_session
from hcviz.session import actions as act
from hcviz.session.methods import Methods
from hcviz.session.model import Session
from hcviz.session.update import initial_session, update

#: Actions by which runs report. A log omits them, since it has no trees.
RUN_REPORTS = (act.Finished, act.Failed, act.Stopped)


#: Names of files with tables and arrays of actions. Each is named by its digest.
_ENTRY = re.compile(r"tables/[0-9a-f]+|arrays/[0-9a-f]+\.npy")

#: Errors from parsing a damaged line.
_DAMAGE = (ValueError, KeyError, TypeError, OverflowError, RecursionError)


@dataclass(frozen=True)
class SessionSummary:
    """An unfinished session in an offer: its title, numbers of answers and groups, and time."""

    title: str = ""
    answers: int = 0
    time: str = ""
    groups: int = 0


class Journal:
    """Writes the folder of a session. It creates the folder and holds its lock.

    Attributes
    ----------
    folder : the folder
    number : number of actions written

    Raises
    ------
    OSError
        If the folder cannot be written.

    Notes
    -----
    Use a journal in one thread. Only the function that :meth:`rotate` returns may be called in
    another one.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.number = 0
        self._lock = FileLock(folder / "lock")
        self._lock.acquire()
        self._file = self._segment()

    @property
    def is_writable(self) -> bool:
        """True if the folder exists and this journal has its lock."""
        return self._lock.is_held and (self.folder / "lock").exists()

    def append(self, actions: list[act.Action], about: SessionSummary) -> None:
        """Write the actions to the disk and flush them. O(their size)."""
        lines = []
        for action in actions:
            encoder = Encoder()
            value = encoder.value(action)
            for name, content in encoder.entries.items():
                self._entry(name, content)
            self.number += 1
            lines.append(_line(self.number, about, {"shared": encoder.shared, "action": value}))
        self._write(b"".join(lines))

    def rotate(self, about: SessionSummary) -> Callable[[Session], None]:
        """Begin a new log. Return a function that writes the present session as a base.

        The function may be called in another thread. It removes older logs when the base is on the
        disk.
        """
        self._file.close()
        self._file = self._segment()
        self._write(_line(self.number, about, None))
        number = self.number
        return lambda session: self.write_base(number, save_session(session))

    def release(self) -> None:
        """Release the lock, so that another page can open the session."""
        self._lock.release()

    def reacquire(self) -> None:
        """Try to lock the folder again; :attr:`is_writable` tells if this has succeeded."""
        if (self.folder / "lock").exists():
            self._lock.acquire()

    def close(self) -> None:
        """Close the files and keep the folder. It may be called twice."""
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

    def write_base(self, number: int, content: bytes) -> None:
        """Write a base, and delete the older files of the journal."""
        _replace(self.folder / f"base-{number:08}.hcviz", content)
        for kind in ("log-*.jsonl", "base-*.hcviz"):
            for path in self.folder.glob(kind):
                if _number(path) < number:
                    path.unlink(missing_ok=True)


# ---------------------------------------------------------------------- reading


@dataclass(frozen=True)
class RecoveredSession:
    """The session in a folder; ``damaged`` if a part of it could not be read."""

    session: Session
    damaged: bool


def read_journal(folder: Path, methods: Methods) -> RecoveredSession:
    """Restore the session from a folder's base and log. The folder is not changed.

    Reading ends at the first line that is damaged, out of order or invalid. An incomplete last
    line does not count as damage.

    Raises
    ------
    SessionFileError
        If no part of the session can be read.
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
    except Exception:  # a damaged action may raise anything
        damaged = True
    if session is None or not session.labels:
        raise SessionFileError("The unfinished session cannot be read.")
    try:
        check_session(session)
    except HcvizError as fault:
        raise SessionFileError(fault.message, fault.hint) from None
    return RecoveredSession(session, damaged)


def read_summary(folder: Path) -> SessionSummary | None:
    """Return the summary in the newest line.

    Return an empty summary if no line can be read, or None if there are no lines.
    """
    found = None
    for path in sorted(folder.glob("log-*.jsonl"), reverse=True):
        for line in reversed(path.read_bytes().split(b"\n")[:-1]):
            try:
                return _parse_line(line).about
            except _DAMAGE:
                found = SessionSummary()
    return found


def remove_journal(folder: Path) -> None:
    """Remove the folder of a session."""
    shutil.rmtree(folder, ignore_errors=True)


def _apply(session: Session | None, action: act.Action, methods: Methods) -> Session:
    if session is not None:
        return update(session, action, methods)[0]
    if not isinstance(action, act.SessionStarted):
        raise SessionFileError("The first actions of the log are missing.")
    return initial_session(action)


def _action(document: Mapping[str, Any], folder: Path) -> act.Action:
    def entry(name: str) -> bytes:
        if not _ENTRY.fullmatch(name):
            raise SessionFileError(f"A log cannot have the part {name!r}.")
        return (folder / name).read_bytes()

    values = {"shared": document["shared"], "trees": [], "snapshots": []}
    action = Decoder(values, entry).value(document["action"])
    if not isinstance(action, act.Action):
        raise SessionFileError("A line of the log is not an action.")
    return action


# ---------------------------------------------------------------------- lines


@dataclass(frozen=True)
class _Line:
    number: int
    about: SessionSummary
    action: Mapping[str, Any] | None


def _line(number: int, about: SessionSummary, action: Mapping[str, Any] | None) -> bytes:
    body = json.dumps(
        {"n": number, "about": vars(about), "action": action}, separators=(",", ":")
    ).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _lines(folder: Path) -> Iterator[_Line]:
    for path in sorted(folder.glob("log-*.jsonl")):
        yield from _read(path)


def _read(path: Path) -> Iterator[_Line]:
    """Yield the lines of a log. A damaged line raises one of ``_DAMAGE``."""
    *whole, _incomplete = path.read_bytes().split(b"\n")
    yield from map(_parse_line, whole)


def _parse_line(line: bytes) -> _Line:
    digest, body = line[:8], line[9:]
    if int(digest, 16) != zlib.crc32(body):
        raise ValueError("the checksum is wrong")
    document = json.loads(body)
    about = SessionSummary(**document["about"])
    if any(
        type(value) is not type(getattr(SessionSummary, name))
        for name, value in vars(about).items()
    ):
        raise TypeError("the summary has values of the wrong type")
    return _Line(int(document["n"]), about, document["action"])


# ---------------------------------------------------------------------- the disk


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _replace(path: Path, content: bytes) -> None:
    """Write a file atomically: after a crash it is either complete or unchanged."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb", opener=_private) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Flush the folder, so that a new file's name is on the disk. Only POSIX needs this."""
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
