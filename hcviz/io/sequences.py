"""Texts that are compared by edit distance: FASTA, one a line, or a column of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.text_lines import nonempty_lines
from hcviz.io.cells import cell_text, is_missing, parse, quote
from hcviz.io.rawtable import MAX_ROWS, MAX_UPLOAD_BYTES, NAME_WORDS, RawTable, text_of

FORMATS = (
    "Use FASTA, plain text with a sequence a line, or a table (CSV, TSV, Parquet) of names and "
    "sequences."
)
#: Files of these kinds are FASTA without being asked.
FASTA = frozenset({".fasta", ".fas", ".fa", ".fna", ".ffn", ".faa", ".frn"})
#: Files of these kinds are tables, whatever they begin with.
TABLES = frozenset({".csv", ".tsv", ".tab", ".parquet", ".pq"})
#: What the column of texts may be called.
TEXT_WORDS = frozenset(
    {"sequence", "sequences", "seq", "text", "texts", "string", "strings", "dna", "rna", "protein"}
)
#: Texts up to this length are their own names, where they differ.
SHORT = 40


def is_fasta(filename: str) -> bool:
    """Whether a file's name says that it holds sequences."""
    return PurePath(filename).suffix.lower() in FASTA


def is_table(content: bytes, filename: str) -> bool:
    """Whether a file of sequences is a table rather than text."""
    return PurePath(filename).suffix.lower() in TABLES or content.startswith(b"PAR1")


def read_texts(
    content: bytes, filename: str, notes: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``(names, texts)`` of a FASTA file (its first line begins with ``>``), else of plain lines.

    O(bytes). Adds to ``notes``; raises :class:`InvalidData` with the line, :class:`TooLarge`.
    """
    said = f"The file {filename!r}" if filename else "The file"
    if len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(f"{said} has more than {MAX_UPLOAD_BYTES >> 20} MB.", "Take a sample.")
    if not content.strip():
        raise InvalidData(f"{said} is empty.", FORMATS)
    lines = text_of(content, said, notes, "text", FORMATS).split("\n")
    said_first = (line for line in lines if line.strip() and not line.startswith(";"))
    if next(said_first, "").startswith(">"):
        names, texts = _fasta(lines, said, notes)
    else:
        texts = nonempty_lines(lines, said)
        own = len(set(texts)) == len(texts) and max(map(len, texts)) <= SHORT
        names = texts if own else [f"line {k}" for k in range(1, len(texts) + 1)]
    check_count(len(texts), said)
    return tuple(names), tuple(texts)


def check_count(count: int, said: str) -> None:
    if count < 2:
        raise InvalidData(f"{said} holds only one sequence.", "A hierarchy needs two or more.")
    if count > MAX_ROWS:
        raise TooLarge(f"{said} holds more than {MAX_ROWS:,} sequences.", "Take a sample.")


def _fasta(lines: Sequence[str], said: str, notes: list[str]) -> tuple[list[str], list[str]]:
    """Records of a line ``>name what it is`` and lines of letters; ``;`` begins a remark."""
    heads: list[str] = []
    starts: list[int] = []
    parts: list[list[str]] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith(">"):
            heads.append(" ".join(line[1:].split()))
            starts.append(number)
            parts.append([])
            if not heads[-1]:
                raise InvalidData(
                    f"{said} has a sequence without a name in line {number}.",
                    "Write the name behind the '>'.",
                )
        elif line.strip() and not line.startswith(";"):
            parts[-1].append("".join(line.split()))
    texts = ["".join(part) for part in parts]
    for head, start, text in zip(heads, starts, texts, strict=True):
        if not text:
            raise InvalidData(
                f"The sequence {quote(head)}, line {start} of {said[0].lower()}{said[1:]}, has no "
                "letters.",
                "Give its letters in the lines below its name, or take it out.",
            )
    names = [head.split()[0] for head in heads]
    if len(set(names)) < len(names):  # then only all that is said tells them apart
        names = heads
    first: dict[str, int] = {}
    for name, start in zip(names, starts, strict=True):
        if name in first:
            raise InvalidData(
                f"The name {quote(name)} stands twice, in lines {first[name]} and {start}.",
                "Every sequence needs a name of its own.",
            )
        first[name] = start
    upper = [text.upper() for text in texts]
    if upper != texts:
        notes.append("Small letters were read as capital ones.")
    return names, upper


def first_is_header(raw: RawTable) -> bool:
    """Whether a table of texts begins with the names of its columns.

    It does where the first cell says "name" or is empty, another says "sequence" or the like, or
    some column's first cell has a letter that no cell below it has, of three or more.
    """
    assert raw.first is not None
    if raw.first[0].strip().lower() in {"", *NAME_WORDS}:
        return True
    for cell, below in zip(raw.first[1:], raw.columns[1:], strict=True):
        letters = {letter for text in below for letter in cell_text(text)}
        if cell.strip().lower() in TEXT_WORDS or (len(below) > 2 and set(cell) - letters):
            return True
    return False


def text_column(
    columns: Mapping[str, Any], labels: Sequence[str], rows: NDArray[np.int64], notes: list[str]
) -> tuple[str, ...]:
    """The texts: of the column with one of :data:`TEXT_WORDS` for its name, else of the only one
    that holds no numbers. Notes what is left out; :class:`InvalidData` where there is no such."""
    named = [name for name in columns if name.lower() in TEXT_WORDS]
    found = named or [name for name, cells in columns.items() if not _numbers(cells)]
    if len(found) != 1:
        listed = ", ".join(quote(name) for name in found[:5])
        raise InvalidData(
            f"Several columns hold texts: {listed}." if found else "No column holds texts.",
            "Call the one to compare 'sequence'."
            if found
            else "The first column names the items, another one holds their sequences.",
        )
    texts = tuple(cell_text(cell) for cell in columns[found[0]])
    for text, label, row in zip(texts, labels, rows.tolist(), strict=True):
        if not text:
            raise InvalidData(
                f"Row {row} ({quote(label)}) has no text in the column {quote(found[0])}.",
                "Give every item a sequence.",
            )
    others = [quote(name) for name in columns if name != found[0]]
    if others:
        verb = "was" if len(others) == 1 else "were"
        notes.append(f"Only texts are compared: {', '.join(others)} {verb} left out.")
    return texts


def _numbers(cells: Any) -> bool:
    values = parse(cells, ",")
    known = [not is_missing(cell) for cell in cells]
    return not np.isnan(values[known]).any()


__all__ = [
    "check_count",
    "first_is_header",
    "is_fasta",
    "is_table",
    "read_texts",
    "text_column",
]
