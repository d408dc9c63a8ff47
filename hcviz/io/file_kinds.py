"""Detect what an opened file holds."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from typing import Literal

from hcviz.core.convert import parse_newick
from hcviz.core.errors import HcvizError
from hcviz.io.rawtable import SEPARATORS
from hcviz.io.sequences import is_fasta
from hcviz.io.tree_data import is_linkage, is_newick
from hcviz.io.workbook import is_workbook

#: What the page does with a file. ``reference`` is a tree over the items shown.
OpenedKind = Literal[
    "session", "reference", "tree", "features", "similarity", "distance", "sequences"
]
#: Bytes of a table that are read to detect a matrix.
HEAD = 2**20
#: The same, if the first rows are longer.
LONG_HEAD = 2**23
#: A matrix is detected by its header and two rows or more.
FIRST_ROWS = 3


def detect_file(content: bytes, filename: str, labels: Sequence[str] = ()) -> OpenedKind:
    """Return what a file holds, by its content and then by its name.

    ``labels`` are the names of the items shown. Answers and card sorts are ``features``, which
    :func:`hcviz.io.tables.read_table` recognizes by their headers.
    """
    if content.startswith(b"PK\x03\x04") and not is_workbook(content):
        return "session" if _is_session(content) else "features"
    if is_newick(content):
        return "reference" if _about(content, labels) else "tree"
    if is_linkage(content):
        return "tree"
    if is_fasta(filename):
        return "sequences"
    return _detect_matrix(content)


def _is_session(content: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "session.json" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError):
        return False


def _about(content: bytes, labels: Sequence[str]) -> bool:
    """Return True if all leaves of a Newick tree are among the items."""
    known = {*labels, *(label.replace(" ", "_") for label in labels)}
    try:
        names, _, _ = parse_newick(content.decode("utf-8", "replace").strip("\ufeff"))
    except HcvizError:
        return False
    return {name for name, is_leaf in names if is_leaf} <= known


def _detect_matrix(content: bytes) -> OpenedKind:
    """Return the kind of a table whose rows and columns have the same names.

    It holds distances if the first items have the distance 0 to themselves.
    """
    lines = _first_lines(content)
    for separator in SEPARATORS:
        if lines[0].count(separator) < 2:
            continue
        try:
            rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=True))
        except csv.Error:
            return "features"
        rows = [row for row in rows if row]
        if not rows:
            continue
        names = [cell.strip() for cell in rows[0][1:]]
        body = rows[1 : len(names) + 1]
        square = len(rows) <= len(names) + 1 and len(body) > 1
        if square and [row[0].strip() for row in body] == names[: len(body)]:
            own = [row[k + 1].strip() for k, row in enumerate(body) if k + 1 < len(row)]
            return "distance" if all(_is_zero(cell) for cell in own) else "similarity"
    return "features"


def _first_lines(content: bytes) -> list[str]:
    """Return the first lines, without one that is cut off. There is one at least, maybe empty."""
    end = HEAD if content.count(b"\n", 0, HEAD) >= FIRST_ROWS else LONG_HEAD
    text = content[:end].decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] or [""] if len(content) > end else lines


def _is_zero(cell: str) -> bool:
    try:
        return float(cell.replace(",", ".")) == 0
    except ValueError:
        return False


__all__ = ["OpenedKind", "detect_file"]
