"""Session files: zip archives that hold a complete session.

An archive has these entries:

- ``manifest.json``: format, version, and the SHA-256 digest of every other entry,
- ``session.json``: the session without arrays,
- ``arrays/*.npy``: trees and states of samplers,
- ``tables/*``: uploaded tables, unchanged.

There are no pickles. Reading checks digests, types and the invariants of sessions. The digests
detect accidental changes, not intended ones, so all content is checked like any other input.
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
from hcviz.io.unpacking import max_unpacked_bytes
from hcviz.session.assessment import check_items
from hcviz.session.choice import check_choice
from hcviz.session.chosen_clusters import check_clusters
from hcviz.session.constraint_rules import enabled_are_consistent
from hcviz.session.experts import check_weight
from hcviz.session.group_rules import check_groups
from hcviz.session.history import MAX_STEPS, MAX_TREES, without_large_arrays
from hcviz.session.model import Checkpoint, Session

FORMAT = "hcviz session"

#: Version of the format. It increases when the meaning of a file's content changes.
VERSION = 1

#: Bytes that a file may unpack to, and the number of its entries.
MAX_BYTES = 512 * 2**20
MAX_ENTRIES = 50_000

#: Limit for JSON: this many bytes, or this many times the size of the file. The limit is lower than
#: that for arrays, since JSON needs 25 times its bytes as Python objects.
JSON_FREE, JSON_RATIO = 2**20, 100

#: Limit for all uses of arrays, which may be used more than once: bytes, or times the size of the
#: file. (A session with 300 equal trees reaches 500 times.)
ARRAYS_FREE, ARRAYS_RATIO = 32 * 2**20, 1_000

#: Bytes of the largest matrix or view that is saved with the current snapshot.
MAX_VIEW_BYTES = 32 * 2**20

_HINT = "Nothing was changed. Save the session again and open that file."


def save_session(session: Session) -> bytes:
    """Return the session as a file. The same session gives the same bytes.

    The file has data (with uploaded tables), constraints, tree, state of the sampler, undo and
    redo, history and log. If it exceeds ``MAX_BYTES``, the oldest half of undo and history is
    removed until it fits. It omits matrices above ``MAX_VIEW_BYTES``, and states of methods that
    are neither arrays nor plain data. Without its state, a continued run begins from the tree.

    Raises
    ------
    SessionFileError
        If the session is too large even without undo and history.
    """
    if session.snapshot is not None:
        session = replace(session, snapshot=without_large_arrays(session.snapshot, MAX_VIEW_BYTES))
    while True:
        encoder = Encoder()
        document = encoder.document(session)
        entries = {"session.json": _json(document), **dict(sorted(encoder.entries.items()))}
        size = sum(map(len, entries.values()))
        if size <= MAX_BYTES and len(entries) < MAX_ENTRIES:
            return zipped(entries)
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
    """Read the session in a file that :func:`save_session` has written.

    Raises
    ------
    SessionFileError
        If the file is of another version, incomplete, changed, too large when unpacked, or not a
        session file.
    """
    try:
        entries = _unzipped(content)
        document = json.loads(entries["session.json"])
        max_bytes = max_unpacked_bytes(len(content), ARRAYS_FREE, ARRAYS_RATIO)
        session = Decoder(document, entries.__getitem__, max_bytes).session()
        check_session(session)
        return session
    except SessionFileError:
        raise
    except HcvizError as fault:
        raise SessionFileError(
            f"The session file does not hold a session: {fault.message}", _HINT
        ) from None
    except Exception:  # zipfile, json and numpy raise many types for broken bytes
        raise SessionFileError(
            "This is not a session file, or it is incomplete or was changed.", _HINT
        ) from None


# ---------------------------------------------------------------------- the zip


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """Return the archive. It is uncompressed if the limits of reading require it."""
    packed = _archive(entries, zipfile.ZIP_DEFLATED)
    json_size = len(entries["session.json"])
    if _fits(len(packed), sum(map(len, entries.values())), json_size):
        return packed
    return _archive(entries, zipfile.ZIP_STORED)


def _fits(packed: int, unpacked: int, json_size: int) -> bool:
    """Return True if a file of ``packed`` bytes may unpack to these sizes."""
    within = unpacked <= max_unpacked_bytes(packed)
    return within and json_size <= max_unpacked_bytes(packed, JSON_FREE, JSON_RATIO)


def _archive(entries: Mapping[str, bytes], compression: int) -> bytes:
    digests = {name: hashlib.sha256(body).hexdigest() for name, body in entries.items()}
    manifest = _json({"format": FORMAT, "version": VERSION, "digests": digests})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in {"manifest.json": manifest, **entries}.items():
            info = zipfile.ZipInfo(name)  # a fixed date, so that equal sessions give equal bytes
            info.compress_type = compression
            archive.writestr(info, body, compresslevel=1)
    return buffer.getvalue()


def _unzipped(content: bytes) -> dict[str, bytes]:
    """Return all entries but the manifest, after a check of their digests."""
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
                f"{size // len(content):,} times its size, which no session does.",
                _HINT,
            )
        names = [info.filename for info in infos]
        manifest = json.loads(archive.read("manifest.json"))
        if manifest["format"] != FORMAT:
            raise SessionFileError("This is a zip file, but not a session file of hcviz.", _HINT)
        if manifest["version"] != VERSION:
            raise SessionFileError(
                f"The session file is of version {manifest['version']}; this hcviz reads version "
                f"{VERSION}.",
                "Open it with the version of hcviz that saved it.",
            )
        digests = manifest["digests"]
        if sorted(names) != sorted(["manifest.json", *digests]):
            raise SessionFileError("The session file has missing or additional parts.", _HINT)
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
    """Check a session from a file for what ``update`` ensures of every session.

    Raises
    ------
    SessionFileError
        If items, constraints, trees, parameters or views of the page are invalid.
    """
    steps = max(len(session.past), len(session.future))
    if steps > MAX_STEPS or len(session.history) > 2 * MAX_TREES:
        raise SessionFileError("The session file holds more steps or trees than sessions keep.")
    ids = [each.id for each in session.constraints]
    if len(set(ids)) < len(ids) or max(ids, default=0) >= session.next_id:
        raise SessionFileError("The constraints in the session file are not numbered as ours are.")
    _check_moment(session)
    checked = {id(session.labels)}  # most steps share their labels
    for moment in (*session.past, *session.future):
        _check_moment(moment, checked)
    # Here only the types are checked. The page checks the values.
    parts = [y for x in session.look.values() for y in (x if isinstance(x, tuple) else (x,))]
    if not all(isinstance(part, np.ndarray) or _is_plain(part) for part in parts):
        raise SessionFileError("In the session file, the settings of the page have wrong types.")


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
    added = tuple(label for rows in moment.data.added for label in rows.labels)
    if added and added != labels[-len(added) :]:
        raise SessionFileError("The added items in the session file are not its last items.")
    bare = Session(labels=labels)
    for weight in moment.author_weights.values():
        check_weight(weight)
    for choice in moment.choices:
        check_choice(choice, len(labels))
    for each in moment.constraints:
        check_items(bare, each.group, each.apart)
    check_groups(moment.groups, len(labels))
    check_clusters(moment.chosen_clusters, len(labels))
    if moment.second_version is not None:
        moment.second_version.check(len(labels))
    if moment.constraint_mode != "soft" and not enabled_are_consistent(
        moment.constraints, len(labels)
    ):
        raise SessionFileError("The constraints in the session file contradict each other.")


def _check_params(params: Mapping[str, Any]) -> None:
    """Check that each parameter is a plain value or a list of these. The method checks the rest."""
    for name, value in params.items():
        inside = value if isinstance(value, (list, tuple)) else (value,)
        if not all(map(_is_plain, inside)):
            raise SessionFileError(
                f"In the session file, the parameter {name[:40]!r} is not a number, a text or a "
                "list of these."
            )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))
