"""The readers of files and links, each with documents that it can read."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from PIL import Image

from hcviz import HcvizError, Taxonomy
from hcviz.algorithms import get
from hcviz.core.file_oracle import FileOracle
from hcviz.datasets.pictures import thumbnail
from hcviz.io.added_rows import read_added_rows
from hcviz.io.answer_merging import KnownAnswers, merge_answers
from hcviz.io.answers import read_items
from hcviz.io.file_kinds import detect_file
from hcviz.io.journal import RUN_REPORTS, Journal, SessionSummary, read_journal, read_summary
from hcviz.io.lesson_script import check_items, read_lesson
from hcviz.io.reference_tree import read_reference_tree
from hcviz.io.session_file import load_session, save_session
from hcviz.io.tables import read_table
from hcviz.io.triplet_csv import ORDERS, read_triplet_csv, write_triplet_csv
from hcviz.io.unpacking import unpacked_size
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP
from hcviz.session.model import DataSpec
from hcviz.ui.app.link import from_query
from hcviz.ui.features.groups.taxonomy_files import read_groups_file
from hcviz.ui.features.lesson_player.prepared import prepared_scripts, prepared_text
from hcviz.ui.state.data_sources import data_of, resolve
from hcviz.ui.state.saved_look import looks, marks
from tests.sessions import ANIMALS, Driver

CSV = b"name,legs,wings,kind,born\nbat,4,yes,a,2001-02-03\nwhale,0,no,b,\nowl,2,yes,a,1999-01-01\n"
SEMICOLONS = "name;größe\nbat;1,5\nwhale;200,0\nowl;NA\n".encode("cp1252")
MATRIX = b",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n"
FASTA = b">a one\nGATTACA\n>b\nGATT\nACC\n>c\nTTTACA\n"
ANSWERS = b"anchor,near,far,count\nbat,whale,owl,1\nowl,bat,whale,2\n"
SIGNED = (
    b"question,chosen,other_1,other_2,author,time\n"
    b"odd,bat,whale,owl,Ann,2026-01-01T00:00:00\ncentral,owl,bat,whale,Bo,2026-01-02\n"
)
NEWICK = b"((bat:1,owl:2.5e-1)Fliers:1[a],'wha''le':3,(newt,trout)x)root;\n"
CARDS = b"participant,card,pile\np1,bat,A\np1,owl,A\np1,whale,B\np2,bat,x\np2,owl,y\np2,whale,x\n"
WIDE = b"participant,bat,owl,whale\np1,A,A,B\np2,x,y,x\n"
LABELS = tuple(f"{name}" for name in ("bat", "owl", "wha'le", "newt", "trout"))


class Parts(NamedTuple):
    """How a file is taken apart into named parts, and put together again."""

    split: Callable[[bytes], dict[str, bytes]]
    join: Callable[[dict[str, bytes]], bytes]


@dataclass(frozen=True)
class Reader:
    """A reader with documents that it can read, made when they are first used.

    ``parts``: the parts of its files, for formats with checksums, which random changes never pass.
    """

    name: str
    read: Callable[[bytes], object]
    make: Callable[[], tuple[bytes, ...]]
    parts: Parts | None = None

    @cached_property
    def documents(self) -> tuple[bytes, ...]:
        return self.make()


# ---------------------------------------------------------------------- parts


def _unzip(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zip(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return made.getvalue()


def _unzip_session(content: bytes) -> dict[str, bytes]:
    return {name: body for name, body in _unzip(content).items() if name != "manifest.json"}


def _zip_session(parts: dict[str, bytes]) -> bytes:
    digests = {name: hashlib.sha256(body).hexdigest() for name, body in parts.items()}
    manifest = {"format": "hcviz session", "version": 1, "digests": digests}
    return _zip({"manifest.json": json.dumps(manifest).encode(), **parts})


def _split_log(content: bytes) -> dict[str, bytes]:
    return {f"{k:04}": line[9:] for k, line in enumerate(content.split(b"\n")[:-1])}


def _join_log(parts: dict[str, bytes]) -> bytes:
    bodies = [parts[name].replace(b"\n", b" ") for name in sorted(parts)]
    return b"".join(b"%08x %s\n" % (zlib.crc32(body), body) for body in bodies)


ZIP = Parts(_unzip, _zip)
SESSION = Parts(_unzip_session, _zip_session)
LOG = Parts(_split_log, _join_log)


# ---------------------------------------------------------------------- documents


def _frame() -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(CSV))


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    made = io.BytesIO()
    save(made)
    return made.getvalue()


def workbooks() -> tuple[bytes, ...]:
    """Return a workbook with two sheets."""

    def save(made: io.BytesIO) -> None:
        with pd.ExcelWriter(made) as writer:
            _frame().to_excel(writer, sheet_name="one", index=False)
            _frame().to_excel(writer, sheet_name="two")

    return (_saved(save),)


def arrays() -> tuple[bytes, ...]:
    """Return arrays of features, and a linkage."""
    table = np.arange(12.0).reshape(4, 3)
    linkage = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]])
    return tuple(
        _saved(lambda made, each=each: np.save(made, each))
        for each in (table, table.astype(np.int8), linkage, np.asfortranarray(table))
    )


def archives() -> tuple[bytes, ...]:
    """Return archives of arrays."""
    table = np.arange(12.0).reshape(4, 3)
    labels, names = np.array(list("abcd")), np.array([b"x", b"y", b"z"])
    return (
        _saved(lambda made: np.savez(made, features=table, labels=labels, feature_names=names)),
        _saved(lambda made: np.savez_compressed(made, table)),
    )


def pictures() -> tuple[bytes, ...]:
    """Return a small picture in each format."""
    picture = Image.fromarray(np.arange(300, dtype=np.uint8).reshape(10, 10, 3))
    return tuple(
        _saved(lambda made, form=form: picture.save(made, form))
        for form in ("PNG", "JPEG", "GIF", "WEBP", "BMP")
    )


def driven(table: bool = True) -> Driver:
    """Return a session with answers of several kinds, groups, undo, and trees."""
    rows = b"".join(f"{name},{k}\n".encode() for k, name in enumerate(ANIMALS))
    spec = DataSpec(kind="table", filename="my.csv", content=b"name,legs\n" + rows)
    made = Driver(labels=())
    made(act.LoadedData(spec if table else DataSpec(), ANIMALS))
    made.settle()
    made(act.AddConstraint((0, 1), 3, author="Ada", note="mammals"))
    made(act.AddConstraint((0, 2), EVERYTHING_ELSE))
    made(act.AddConstraint((1, 4), NOT_A_GROUP))
    made(act.NameGroup((0, 1), "Mammals", id="g1"))
    made.settle()
    made(act.Undo())
    return made


def sessions() -> tuple[bytes, ...]:
    """Return two session files."""
    made = driven()
    first = save_session(made.session)
    made(act.SetParams({"c": 0.1}))
    made.settle()
    return first, save_session(made.session)


def logs() -> tuple[bytes, ...]:
    """Return the log of an unfinished session."""
    log = driven(table=False).session.log
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "log")
        actions = [each.action for each in log if not isinstance(each.action, RUN_REPORTS)]
        journal.append(actions, SessionSummary("Zoo", 2, "2026-01-01"))
        journal.close()
        (file,) = journal.folder.glob("log-*.jsonl")
        return (file.read_bytes(),)


def taxonomy() -> Taxonomy:
    """Return nested groups with notes and other names, over :data:`LABELS`."""
    text = "Animals\n  Fliers\n    bat\n    owl\n  wha'le\nWater\n  newt\n  trout\n"
    found = Taxonomy.from_text(text)
    groups = [replace(each, note="a note", alternatives=("other",)) for each in found.groups]
    return Taxonomy(found.labels, found.tree, groups)


def taxonomies(form: str) -> Callable[[], tuple[bytes, ...]]:
    """Return a function that writes the taxonomy in a format."""

    def make() -> tuple[bytes, ...]:
        made = taxonomy()
        texts = {
            "md": lambda: [made.to_markdown()],
            "csv": lambda: [made.to_csv(), made.to_csv("paths")],
            "txt": lambda: [made.to_text()],
            "json": lambda: [made.to_json()],
            "opml": lambda: [made.to_opml()],
            "ttl": lambda: [made.to_skos()],
            "jsonld": lambda: [made.to_skos("json-ld")],
            "nwk": lambda: [made.to_newick(), made.to_newick("nhx"), NEWICK.decode()],
        }[form]()
        return tuple(text.encode() for text in texts)

    return make


# ---------------------------------------------------------------------- readers


def _table(filename: str, kind: str = "features") -> Callable[[bytes], object]:
    def read(content: bytes) -> object:
        unpacked_size(content)
        detect_file(content, filename, LABELS)
        return read_table(content, filename, kind).problem()

    return read


def _session(content: bytes) -> object:
    session = load_session(content)
    looks(session.look)
    marks(session.look, session.n_items)
    return data_of(session)


def _log(content: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "log-00000000.jsonl").write_bytes(content)
        read_summary(Path(folder))
        return read_journal(Path(folder), get)


def _array_file(content: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        path.write_bytes(content)
        return FileOracle(path)


def _answers(content: bytes) -> object:
    known = KnownAnswers(("bat", "whale", "owl"), None, [], [SIGNED], {})
    return merge_answers("answers.csv", content, known)


def _constraints(content: bytes) -> object:
    return read_triplet_csv(content, ANIMALS)


def _ordered(content: bytes) -> object:
    for order in ORDERS[1:]:
        with suppress(HcvizError):
            read_triplet_csv(content, ANIMALS, order)
    return read_triplet_csv(content, ANIMALS, ORDERS[0])


def _link(content: bytes) -> object:
    return from_query(content.decode("utf-8", "replace"))


def _lesson(content: bytes) -> object:
    lesson = read_lesson(content.decode("utf-8", "replace"))
    if lesson.data.kind == "table":
        check_items(lesson, resolve(lesson.data).labels)
    return lesson


def _groups(suffix: str) -> Callable[[bytes], object]:
    return lambda content: read_groups_file(content, f"groups.{suffix}", LABELS)


_LIST = [
    Reader("csv", _table("t.csv"), lambda: (CSV, SEMICOLONS, WIDE)),
    Reader("matrix", _table("t.csv", "distance"), lambda: (MATRIX,)),
    Reader("card-sort", _table("t.csv", "card-sort"), lambda: (CARDS, WIDE)),
    Reader("texts", _table("t.fasta", "sequences"), lambda: (FASTA, b"GATTACA\nGATT\nTTT\n")),
    Reader("answers", _answers, lambda: (ANSWERS, SIGNED)),
    Reader("comparisons", _table("t.csv", "comparisons"), lambda: (ANSWERS, SIGNED)),
    Reader("items", read_items, lambda: (b"name\nbat\nwhale\nowl\n", b"item;x\na;1\nb;2\n")),
    Reader("new-items", lambda content: read_added_rows(content, "t.csv"), lambda: (CSV, WIDE)),
    Reader(
        "constraints", _constraints,
        lambda: (write_triplet_csv(driven().session.constraints, ANIMALS).encode(),),
    ),
    Reader("ordered", _ordered, lambda: (b"bat,whale,trout\nlion,crow,pike\n",)),
    Reader("xlsx", _table("t.xlsx"), workbooks, ZIP),
    Reader("parquet", _table("t.parquet"), lambda: (_saved(_frame().to_parquet),)),
    Reader("npy", _table("t.npy"), arrays),
    Reader("npy-file", _array_file, lambda: arrays()[:1]),
    Reader("npz", _table("t.npz"), archives, ZIP),
    Reader("linkage", _table("t.npy", "tree"), lambda: arrays()[2:3]),
    Reader("tree", _table("t.nwk", "tree"), lambda: (NEWICK, b"((a,b),(c,d));")),
    Reader("reference", lambda content: read_reference_tree(content, LABELS), lambda: (NEWICK,)),
    Reader("picture", thumbnail, pictures),
    Reader("session", _session, sessions, SESSION),
    Reader("log", _log, logs, LOG),
    Reader(
        "link", _link,
        lambda: (b'?data=zoo&method=ddt&seed=3&params={"c":0.5}&c=3.7-20~ 1.2-*&chosen=1.2', b"?"),
    ),
    *(
        Reader(suffix, _groups(suffix), taxonomies(suffix))
        for suffix in ("md", "txt", "json", "opml", "ttl", "jsonld", "nwk")
    ),
    Reader(
        "lesson", _lesson,
        lambda: tuple(prepared_text(name).encode() for name, _ in prepared_scripts()[:3]),
    ),
    Reader("levels", _groups("csv"), taxonomies("csv")),
]  # fmt: skip

READERS: dict[str, Reader] = {reader.name: reader for reader in _LIST}
