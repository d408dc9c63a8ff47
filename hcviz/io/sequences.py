"""Reading of texts for edit distances: FASTA, plain lines, or a column of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.text_lines import nonempty_lines
from hcviz.io.cells import cell_text, is_missing, parse, quote
from hcviz.io.rawtable import MAX_ROWS, MAX_UPLOAD_BYTES, NAME_WORDS, RawTable, read_as_text

FORMATS = (
    "Use FASTA, plain text with one sequence per line, or a table (CSV, TSV, Parquet) of names and "
    "sequences."
)
#: Suffixes of files that are FASTA, whatever kind of table the user has named.
FASTA_SUFFIXES = frozenset({".fasta", ".fas", ".fa", ".fna", ".ffn", ".faa", ".frn"})
#: Suffixes of files that are tables, whatever their first bytes are.
TABLE_SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".parquet", ".pq"})
#: Usual headers of the column of texts.
TEXT_WORDS = frozenset(
    {"sequence", "sequences", "seq", "text", "texts", "string", "strings", "dna", "rna", "protein"}
)
#: Texts up to this length serve as names, if all differ.
MAX_NAME_LENGTH = 40


def is_fasta(filename: str) -> bool:
    """Return True if the suffix of the file's name is one of FASTA."""
    return PurePath(filename).suffix.lower() in FASTA_SUFFIXES


def is_table(content: bytes, filename: str) -> bool:
    """Return True if a file of sequences is a table rather than text."""
    return PurePath(filename).suffix.lower() in TABLE_SUFFIXES or content.startswith(b"PAR1")


def read_texts(
    content: bytes, filename: str, notes: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return ``(names, texts)`` of a FASTA file, or of plain lines. O(bytes).

    A file is FASTA if its first line begins with ``>``. The function adds sentences to ``notes``.

    Raises
    ------
    InvalidData
        If a name or a text is missing or repeated. The message names the line.
    TooLarge
        If the file exceeds the limits of tables.
    """
    source = f"The file {filename!r}" if filename else "The file"
    if len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(f"{source} has more than {MAX_UPLOAD_BYTES >> 20} MB.", "Take a sample.")
    if not content.strip():
        raise InvalidData(f"{source} is empty.", FORMATS)
    lines = read_as_text(content, source, notes, "text", FORMATS).split("\n")
    content_lines = (line for line in lines if line.strip() and not line.startswith(";"))
    if next(content_lines, "").startswith(">"):
        names, texts = _read_fasta(lines, source, notes)
    else:
        texts = nonempty_lines(lines, source)
        own = len(set(texts)) == len(texts) and max(map(len, texts)) <= MAX_NAME_LENGTH
        names = texts if own else [f"line {k}" for k in range(1, len(texts) + 1)]
    check_count(len(texts), source)
    return tuple(names), tuple(texts)


def check_count(count: int, source: str) -> None:
    """Raise an error unless there are enough sequences, and not too many."""
    if count < 2:
        raise InvalidData(f"{source} holds only one sequence.", "A hierarchy needs two or more.")
    if count > MAX_ROWS:
        raise TooLarge(f"{source} holds more than {MAX_ROWS:,} sequences.", "Take a sample.")


def _read_fasta(lines: Sequence[str], source: str, notes: list[str]) -> tuple[list[str], list[str]]:
    """Read records of a line ``>name description`` and lines of letters; ``;`` begins a comment."""
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
                    f"{source} has a sequence without a name in line {number}.",
                    "Write the name after the '>'.",
                )
        elif line.strip() and not line.startswith(";"):
            parts[-1].append("".join(line.split()))
    texts = ["".join(part) for part in parts]
    for head, start, text in zip(heads, starts, texts, strict=True):
        if not text:
            raise InvalidData(
                f"The sequence {quote(head)}, line {start} of {source[0].lower()}{source[1:]}, has "
                "no letters.",
                "Give its letters in the lines below its name, or remove it.",
            )
    names = [head.split()[0] for head in heads]
    if len(set(names)) < len(names):  # not unique without the descriptions
        names = heads
    first: dict[str, int] = {}
    for name, start in zip(names, starts, strict=True):
        if name in first:
            raise InvalidData(
                f"The name {quote(name)} occurs twice, in lines {first[name]} and {start}.",
                "Give each sequence a different name.",
            )
        first[name] = start
    upper = [text.upper() for text in texts]
    if upper != texts:
        notes.append("Lowercase letters were read as capitals.")
    return names, upper


def first_is_header(raw: RawTable) -> bool:
    """Return True if the first row of a table of texts holds the names of its columns.

    Any of these is enough: the first cell is empty or a word such as "name"; another cell is a
    word such as "sequence"; a column with three or more rows has a letter in its first cell only.
    """
    assert raw.first_cells is not None
    if raw.first_cells[0].strip().lower() in {"", *NAME_WORDS}:
        return True
    for cell, below in zip(raw.first_cells[1:], raw.columns[1:], strict=True):
        letters = {letter for text in below for letter in cell_text(text)}
        if cell.strip().lower() in TEXT_WORDS or (len(below) > 2 and set(cell) - letters):
            return True
    return False


def text_column(
    columns: Mapping[str, Any], labels: Sequence[str], rows: NDArray[np.int64], notes: list[str]
) -> tuple[str, ...]:
    """Return the texts of the table.

    Their column has one of :data:`TEXT_WORDS` as its name, or is the only one without numbers.
    The function notes which columns are ignored, and raises InvalidData if there is no such column.
    """
    named = [name for name in columns if name.lower() in TEXT_WORDS]
    found = named or [name for name, cells in columns.items() if not _is_numeric(cells)]
    if len(found) != 1:
        listed = ", ".join(quote(name) for name in found[:5])
        raise InvalidData(
            f"Several columns hold texts: {listed}." if found else "No column holds texts.",
            "Name the column to compare 'sequence'."
            if found
            else "The first column must hold names, another one the sequences.",
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


def _is_numeric(cells: Any) -> bool:
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
