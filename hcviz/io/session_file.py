"""Session files: one zip with everything in it, and the identical session back.

``manifest.json`` (format, version, the SHA-256 of every other entry), ``session.json``,
``arrays/*.npy`` (trees, sampler states) and ``tables/*`` (uploaded tables, as they came). Nothing
in it is a pickle; a file is believed only after its digests, its types and its invariants agree.
The digests guard against accident and careless editing, not against a forger: what is made from
a file is checked as any other input is.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError, SessionFileError
from hcviz.io.session_codec import Decoder, Encoder
from hcviz.io.unpacking import most_unpacked
from hcviz.session.assessment import check_items
from hcviz.session.choice import check_choice
from hcviz.session.constraint_rules import enabled_are_consistent
from hcviz.session.experts import check_weight
from hcviz.session.history import MAX_STEPS, MAX_TREES, without_large_arrays
from hcviz.session.model import Checkpoint, Session

FORMAT = "hcviz session"

#: Raised when the meaning of what is in a file changes.
VERSION = 1

#: The most that a file may unpack to, and the most entries it may have.
MAX_BYTES = 512 * 2**20
MAX_ENTRIES = 50_000

#: JSON takes 25 times its bytes as Python objects, so it may unpack to less than arrays: to so many
#: bytes, or so many times the size of the file.
JSON_FREE, JSON_RATIO = 2**20, 100

#: Arrays may be used more than once: all uses together take so many bytes, or so many times the
#: size of the file. (A session whose 300 trees are all equal reaches 500 times.)
ARRAYS_FREE, ARRAYS_RATIO = 32 * 2**20, 1_000

#: Matrices and views above this size are not saved with the snapshot shown (bytes each).
MAX_PICTURE = 32 * 2**20

_HINT = "Nothing was changed. Save the session again and open that file."


def save_session(session: Session) -> bytes:
    """The session as a file; the same session gives the same bytes.

    All of it: data (an upload's bytes too), constraints, tree, sampler state, undo and redo,
    history, log. Where that would pass ``MAX_BYTES`` the oldest half of undo and history goes, as
    often as needed. A matrix above ``MAX_PICTURE``, and a method's state that is neither arrays nor
    plain data, are left out: a run that continues begins from the tree then. Raises
    :class:`SessionFileError` where even the bare session is too large.
    """
    if session.snapshot is not None:
        session = replace(session, snapshot=without_large_arrays(session.snapshot, MAX_PICTURE))
    while True:
        encoder = Encoder()
        document = encoder.document(session)
        entries = {"session.json": _json(document), **dict(sorted(encoder.entries.items()))}
        size = sum(map(len, entries.values()))
        if size <= MAX_BYTES and len(entries) < MAX_ENTRIES:
            return _zipped(entries)
        if not (session.past or session.future or session.history):
            raise SessionFileError(
                f"The session takes {size / 2**20:,.0f} MB; a session file holds at most "
                f"{MAX_BYTES / 2**20:,.0f} MB."
            )
        session = replace(
            session,
            past=_newer_half(session.past),
            future=_newer_half(session.future),
            history=_newer_half(session.history),
        )


def load_session(content: bytes) -> Session:
    """The session in a file that :func:`save_session` made.

    Raises :class:`SessionFileError` with a sentence for anything else: another version, a file cut
    short or changed, one that would unpack to more than ``MAX_BYTES``, or no session file at all.
    """
    try:
        entries = _unzipped(content)
        document = json.loads(entries["session.json"])
        most_bytes = most_unpacked(len(content), ARRAYS_FREE, ARRAYS_RATIO)
        session = Decoder(document, entries.__getitem__, most_bytes).session()
        check_session(session)
        return session
    except SessionFileError:
        raise
    except HcvizError as fault:
        raise SessionFileError(
            f"The session file does not hold a session: {fault.message}", _HINT
        ) from None
    except Exception:  # zipfile, json and numpy raise a dozen kinds for broken bytes
        raise SessionFileError(
            "This is not a session file, or it was cut short or changed.", _HINT
        ) from None


# ---------------------------------------------------------------------- the zip


def _zipped(entries: Mapping[str, bytes]) -> bytes:
    """The file; uncompressed where it would unpack to more than is read from so small a file."""
    packed = _archive(entries, zipfile.ZIP_DEFLATED)
    json_size = len(entries["session.json"])
    if _fits(len(packed), sum(map(len, entries.values())), json_size):
        return packed
    return _archive(entries, zipfile.ZIP_STORED)


def _fits(packed: int, unpacked: int, json_size: int) -> bool:
    """Whether a file of ``packed`` bytes may unpack to so many, of them so many of JSON."""
    within = unpacked <= most_unpacked(packed)
    return within and json_size <= most_unpacked(packed, JSON_FREE, JSON_RATIO)


def _archive(entries: Mapping[str, bytes], compression: int) -> bytes:
    digests = {name: hashlib.sha256(body).hexdigest() for name, body in entries.items()}
    manifest = _json({"format": FORMAT, "version": VERSION, "digests": digests})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in {"manifest.json": manifest, **entries}.items():
            info = zipfile.ZipInfo(name)  # dated 1980: the same session, the same bytes
            info.compress_type = compression
            archive.writestr(info, body, compresslevel=1)
    return buffer.getvalue()


def _unzipped(content: bytes) -> dict[str, bytes]:
    """All entries but the manifest, whose word on each of them has been checked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
        size = sum(info.file_size for info in infos)
        if size > MAX_BYTES or len(infos) > MAX_ENTRIES:
            raise SessionFileError(
                f"The session file would unpack to {size / 2**20:,.0f} MB in {len(infos)} parts; "
                f"the limit is {MAX_BYTES / 2**20:,.0f} MB."
            )
        json_size = sum(info.file_size for info in infos if info.filename.endswith(".json"))
        if not _fits(len(content), size, json_size):
            raise SessionFileError(
                f"The session file would unpack to {size / 2**20:,.0f} MB, "
                f"{size // len(content):,} times its size: no session does.",
                _HINT,
            )
        names = [info.filename for info in infos]
        manifest = json.loads(archive.read("manifest.json"))
        if manifest["format"] != FORMAT:
            raise SessionFileError("This is a zip file, but no session file of hcviz.", _HINT)
        if manifest["version"] != VERSION:
            raise SessionFileError(
                f"The session file is of version {manifest['version']}; this hcviz reads version "
                f"{VERSION}.",
                "Open it with the version of hcviz that saved it.",
            )
        digests = manifest["digests"]
        if sorted(names) != sorted(["manifest.json", *digests]):
            raise SessionFileError("The session file lacks parts, or has too many.", _HINT)
        entries = {name: archive.read(name) for name in digests}
    for name, body in entries.items():
        if hashlib.sha256(body).hexdigest() != digests[name]:
            raise SessionFileError(f"The session file was changed: {name} is not as saved.", _HINT)
    return entries


def _json(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def _newer_half(stack: tuple[Any, ...]) -> tuple[Any, ...]:
    return stack[(len(stack) + 1) // 2 :]


# ---------------------------------------------------------------------- invariants


def check_session(session: Session) -> None:
    """What ``update`` keeps true of every session, held against one from outside."""
    steps = max(len(session.past), len(session.future))
    if steps > MAX_STEPS or len(session.history) > 2 * MAX_TREES:
        raise SessionFileError("The session file holds more steps or trees than sessions keep.")
    ids = [each.id for each in session.constraints]
    if len(set(ids)) < len(ids) or max(ids, default=0) >= session.next_id:
        raise SessionFileError("The constraints in the session file are not numbered as ours are.")
    _check_moment(session)
    checked = {id(session.labels)}  # most steps share them
    for moment in (*session.past, *session.future):
        _check_moment(moment, checked)
    # The page checks what these values mean.
    parts = [y for x in session.look.values() for y in (x if isinstance(x, tuple) else (x,))]
    if not all(isinstance(part, np.ndarray) or _is_plain(part) for part in parts):
        raise SessionFileError("In the session file the look of the page is of the wrong kind.")


def _check_moment(moment: Session | Checkpoint, checked: set[int] | None = None) -> None:
    labels = moment.labels
    if checked is None or id(labels) not in checked:
        if len(set(labels)) < len(labels):
            raise SessionFileError("The session file names an item twice.")
        if checked is not None:
            checked.add(id(labels))
    for params in (moment.params, *moment.other_params.values()):
        _check_params(params)
    if len({each.id for each in moment.constraints}) < len(moment.constraints):
        raise SessionFileError("The constraints in the session file are not numbered as ours are.")
    if moment.snapshot is not None and moment.snapshot.tree.n_leaves != len(labels):
        raise SessionFileError("A tree in the session file is not over its items.")
    if moment.reference is not None and (
        moment.reference.dtype != np.int32
        or not np.array_equal(np.sort(moment.reference), np.arange(len(labels)))
    ):
        raise SessionFileError("A leaf order in the session file does not name each item once.")
    bare = Session(labels=labels)
    for weight in moment.author_weights.values():
        check_weight(weight)
    for choice in moment.choices:
        check_choice(choice, len(labels))
    for each in moment.constraints:
        check_items(bare, each.group, each.apart)
    if moment.constraint_mode != "soft" and not enabled_are_consistent(moment.constraints):
        raise SessionFileError("The constraints in the session file contradict each other.")


def _check_params(params: Mapping[str, Any]) -> None:
    """A parameter's value is plain, or a list of plain values. (Which one, the method checks.)"""
    for name, value in params.items():
        inside = value if isinstance(value, (list, tuple)) else (value,)
        if not all(map(_is_plain, inside)):
            raise SessionFileError(
                f"In the session file the parameter {name[:40]!r} is neither a number nor a text "
                "nor a list of them."
            )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))
