"""Files of answers as data sets, and their relation to the answers and items known before."""

from __future__ import annotations

import csv
import io
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hcviz.core.csv_cells import unescape_cell, write_csv
from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.triplets import Comparisons
from hcviz.core.unique_rows import unique_rows
from hcviz.datasets import Dataset
from hcviz.io.comparison_csv import (
    MIXED_HEADER,
    SIGNATURE_COLUMNS,
    AnswersFile,
    read_comparison_csv,
    read_rows,
)
from hcviz.io.decoding import decode_text
from hcviz.io.rawtable import MAX_UPLOAD_BYTES, NAME_WORDS, SEPARATORS, RawTable

#: A file is about the given items if they have at least this share of its names. The other names
#: are then misspelt. With a lower share, the file is about other items.
MIN_SHARE = 0.5

#: An answer about three items: question, names (the chosen one first), author, time.
SignedAnswer = tuple[str, tuple[str, ...], str, str]
SIGNED_HEADER = (*MIXED_HEADER, *SIGNATURE_COLUMNS)


def dataset_of_answers(
    content: bytes, filename: str = "", labels: Sequence[str] | None = None
) -> Dataset:
    """Return a file of answers as a data set. The items are ``labels``, or the names in the file.

    Raises
    ------
    TooLarge
        If the file exceeds the limit of tables.
    InvalidConstraint
        If :func:`hcviz.io.comparison_csv.read_comparison_csv` cannot read the file.
    """
    found = _read(content, labels)
    return Dataset(
        name=Path(filename).stem or "answers",
        title=filename or "Answers",
        labels=found.labels,
        comparisons=found.comparisons,
        asked=found.asked,
        provenance=f"Your answers {filename!r}." if filename else "Your answers.",
        notes=found.notes,
    )


def with_answers(dataset: Dataset, content: bytes, filename: str = "") -> Dataset:
    """Return the data set with the answers of a file added to its comparisons.

    Raises
    ------
    InvalidConstraint
        If a name is not one of the items. The message has line and column.
    """
    found = _read(content, dataset.labels)
    known, asked = dataset.comparisons, Counter(dataset.asked or {})
    note = f"{count_comparisons(len(found.comparisons))} came from {filename!r}."
    return replace(
        dataset,
        comparisons=found.comparisons if known is None else known + found.comparisons,
        asked=asked + Counter(found.asked),
        notes=(*dataset.notes, *([note] if filename else []), *found.notes),
    )


def count_comparisons(number: int) -> str:
    """Return "1 comparison", "2 comparisons" and so on."""
    return "1 comparison" if number == 1 else f"{number:,} comparisons"


def count_answers(content: bytes) -> int:
    """Return the number of answers in a file, with repeats."""
    return sum(_read(content).asked.values())


@dataclass(frozen=True)
class AnswerMatch:
    """How a file of answers matches given items.

    Attributes
    ----------
    n_names : number of names in the file
    n_matched : number of these that are names of the given items
    comparisons : the answers as comparisons of the given items; None if the file is about others
    """

    n_names: int
    n_matched: int
    comparisons: Comparisons | None


def match_answers(content: bytes, labels: Sequence[str]) -> AnswerMatch:
    """Return the answers as comparisons of these items, if half of the names or more match.

    Raises
    ------
    InvalidConstraint
        If the file cannot be read, or half of the names match but not all.
    """
    alone = _read(content, spellings=labels)
    index = {name: item for item, name in enumerate(labels)}
    items = [index.get(name) for name in alone.labels]
    n_names, n_matched = len(items), sum(item is not None for item in items)
    if n_matched < MIN_SHARE * n_names:
        return AnswerMatch(n_names, n_matched, None)
    if n_matched < n_names:  # reading with the labels raises an error that names the wrong line
        return AnswerMatch(n_names, n_names, read_comparison_csv(content, labels).comparisons)
    rows = np.array(items, np.int32)[alone.comparisons.rows]
    return AnswerMatch(n_names, n_matched, Comparisons(rows))


def new_comparisons(found: Comparisons, known: Comparisons) -> Comparisons | None:
    """Return the comparisons in ``found`` that are not in ``known``, with repeats. O(m log m).

    Return None if ``found`` lacks any of ``known``. The order of the items in a pair is ignored.
    """
    both = known + found
    pairs = np.sort(both.as_quadruplets().rows.reshape(-1, 2, 2), axis=2)
    _, first, which = unique_rows(pairs.reshape(-1, 4))
    more = np.bincount(which[len(known) :], minlength=len(first))
    more -= np.bincount(which[: len(known)], minlength=len(first))
    if (more < 0).any():
        return None
    return Comparisons(np.repeat(both.rows[first], more, axis=0))


def answer_hashes(answers: Iterable[SignedAnswer]) -> array[int]:
    """Return hashes of the answers that have a time, for comparisons within this process.

    A hash takes 8 bytes, an answer about 100. Two of 10 million hashes collide with a probability
    of 1 in 400,000.
    """
    return array("q", (hash(each) for each in answers if each[3]))


def drop_repeated(content: bytes, known: Iterable[int]) -> tuple[bytes, int]:
    """Remove known signed answers from a file. Return the rest and the number removed. O(m).

    Two answers are the same if question, items, author and time agree; ``known`` are their hashes.
    Answers without a time are kept, since people may give an answer twice.
    """
    remaining = Counter(known)
    header, rows, columns = _signed_rows(content) if remaining else ([], [], None)
    if columns is None:
        return content, 0
    kept = []
    for row in rows:
        answer = _signed_answer(row, columns)
        key = hash(answer)
        if answer is not None and remaining.get(key):
            remaining[key] -= 1
        else:
            kept.append(row)
    if len(kept) == len(rows):
        return content, 0
    plain = [[unescape_cell(cell) for cell in row] for row in (header, *kept)]
    return write_csv(plain).encode(), len(rows) - len(kept)


def read_signed_answers(content: bytes) -> list[SignedAnswer]:
    """Return the answers with author and time; an empty list for a file without these. O(m)."""
    _, rows, columns = _signed_rows(content)
    found = [] if columns is None else [_signed_answer(row, columns) for row in rows]
    return [each for each in found if each is not None]


def _signed_rows(content: bytes) -> tuple[list[str], list[list[str]], list[int] | None]:
    """Return header, rows and column numbers; no rows and None for unsigned answers."""
    header, rows = read_rows(content)
    columns = _signed_columns(header)
    return header, [] if columns is None else rows, columns


def _signed_columns(header: Sequence[str]) -> list[int] | None:
    """Return the numbers of the columns in :data:`SIGNED_HEADER`, or None."""
    if "count" in header or not set(SIGNED_HEADER) <= set(header):
        return None
    return [header.index(column) for column in SIGNED_HEADER]


def _signed_answer(row: Sequence[str], columns: Sequence[int]) -> SignedAnswer | None:
    """Return the answer in a row, or None if it has no time."""
    if len(row) <= max(columns):
        return None
    cells = (unescape_cell(row[column].strip()) for column in columns)
    question, *items, author, time = cells
    return (question.lower(), tuple(items), author, time) if time else None


def read_items(content: bytes) -> tuple[str, ...]:
    """Read names of items, one per line or in the first column of a CSV text.

    A first line such as ``name`` or ``item;year`` is a header, and determines the separator. The
    default separator is a comma. Empty lines are ignored.

    Raises
    ------
    InvalidData
        If a name is repeated, or there are fewer than two names.
    """
    text = decode_text(content, "The list of items", [], "a text", "Give one name per line.")
    seen: dict[str, int] = {}
    first = text.lstrip().splitlines()[0].lower()
    before = {each: first.partition(each)[0].strip(' "') for each in SEPARATORS if each in first}
    separator = next((each for each, name in before.items() if name in NAME_WORDS), ",")
    try:
        lines = io.StringIO(text, newline="")
        has_names = False
        for row in (reader := csv.reader(lines, delimiter=separator, strict=True)):
            name = unescape_cell(row[0].strip()) if row else ""
            header = not has_names and name.lower() in NAME_WORDS
            has_names = has_names or bool(name)
            if header or not name:
                continue
            if name in seen:
                raise InvalidData(
                    f"The list of items names {name!r} twice, in lines {seen[name]} and "
                    f"{reader.line_num}."
                )
            seen[name] = reader.line_num
    except csv.Error as fault:
        raise InvalidData(f"Line {reader.line_num} of the items is not CSV: {fault}.") from None
    if len(seen) < 2:
        raise InvalidData("The list of items names fewer than two.", "Give one name per line.")
    return tuple(seen)


def resembles_answers(raw: RawTable) -> bool:
    """Return True if a table may hold answers, but lacks their header.

    Such a table has three or four names per row. Three names in a row all differ, and half of all
    names or more occur in several columns.
    """
    if raw.first_cells is None or len(raw.columns) not in (3, 4):
        return False
    columns = [
        [first, *map(str, cells)] for first, cells in zip(raw.first_cells, raw.columns, strict=True)
    ]
    if any(not cell for cells in columns for cell in cells):
        return False
    if len(columns) == 3 and any(len(set(row)) < 3 for row in zip(*columns, strict=True)):
        return False
    occurrences = Counter(name for cells in columns for name in set(cells))
    return sum(count > 1 for count in occurrences.values()) >= MIN_SHARE * len(occurrences)


def _read(
    content: bytes, labels: Sequence[str] | None = None, spellings: Sequence[str] | None = None
) -> AnswersFile:
    if len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(f"The file has more than {MAX_UPLOAD_BYTES // 2**20} MB.")
    found = read_comparison_csv(content, labels, spellings)
    if not len(found.comparisons):
        raise InvalidData("The file of answers has no answers.")
    return found


__all__ = [
    "AnswerMatch",
    "SignedAnswer",
    "answer_hashes",
    "count_answers",
    "count_comparisons",
    "dataset_of_answers",
    "drop_repeated",
    "match_answers",
    "new_comparisons",
    "read_items",
    "read_signed_answers",
    "resembles_answers",
    "with_answers",
]
