"""Comparisons as CSV: one answer per row, with names of items under a header.

The header says what the question was:

    anchor,near,far             the anchor is closer to near than to far
    first,second,third,fourth   first and second are more alike than third and fourth
    central,other_1,other_2     which of the three is the most central
    odd,other_1,other_2         which of the three is the odd one out
    question,chosen,other_1,other_2   either of the last two, as the question column says

A column ``count`` says how often an answer was given (default 1). Other columns, such as author and
time, are ignored, with a note. Cells are separated by commas, semicolons, tabs or bars, and the
text is UTF-8, UTF-16 or Windows-1252, as for tables. Names are compared without spaces around them,
and in one Unicode form.

Files of the Food100 data have no header. Their lines have three pictures,
``images/a.jpg;images/b.jpg;images/c.jpg``: the taste of a is more like b than like c. The items are
named ``a``, ``b`` and ``c``.

A written file can be read back completely. If its answers do not name all items in their order,
rows with the count 0 do so before them, so that items without comparisons are kept.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hcviz.core.csv_cells import unescape_cell, write_csv
from hcviz.core.errors import HcvizError, InvalidConstraint
from hcviz.core.text import closest_name, join_names, shorten
from hcviz.core.triplets import Comparisons
from hcviz.core.unique_rows import unique_rows
from hcviz.io.decoding import decode_head, decode_text
from hcviz.io.fast_answer_rows import AnswerLayout, AnswerRows, read_uniform_rows
from hcviz.io.rawtable import SEPARATORS

#: For each header, the function that makes comparisons of its rows.
READERS: dict[tuple[str, ...], Callable[[ArrayLike], Comparisons]] = {
    ("anchor", "near", "far"): Comparisons,
    ("first", "second", "third", "fourth"): Comparisons,
    ("central", "other_1", "other_2"): Comparisons.from_most_central,
    ("odd", "other_1", "other_2"): Comparisons.from_odd_one_out,
}

#: For each header, the kind of question, as in :class:`hcviz.datasets.Dataset`.
_QUESTIONS = dict(zip(READERS, ("triplets", "quadruplets", "central", "odd"), strict=True))
#: The header of answers to both questions about three items. Its first column names the question.
MIXED_HEADER = ("question", "chosen", "other_1", "other_2")
#: Columns with the author and the time of an answer.
SIGNATURE_COLUMNS = ("author", "time")
#: For each question of :data:`MIXED_HEADER`, the header of answers to this question alone.
_HEADERS_OF_THREE = {
    name: header for header, name in _QUESTIONS.items() if name in ("central", "odd")
}

#: A cell of Food100's files.
_FOOD_PICTURE = re.compile(r"images/([^/;]+)\.jpg")
FOOD_NOTE = (
    "The file has no header. It is read as Food100 data: each line has three pictures, and the "
    "first is nearer to the second than to the third."
)

#: What to do about a file without a known header.
HEADER_HINT = "Its first row must be one of: {}.".format(
    "; ".join(",".join(header) for header in (*READERS, MIXED_HEADER))
)
SAVE_HINT = "Save it as CSV."

#: Characters at the start of a file that determine its separator and header.
HEAD_CHARACTERS = 10_000
#: Largest count of a row. Rows are repeated in memory.
MAX_COUNT = 1_000_000
#: Largest mean count of all rows, not counting one row with ``MAX_COUNT``.
MAX_MEAN_COUNT = 100
#: Columns of a file, with those that are ignored.
MAX_COLUMNS = 1_000


@dataclass(frozen=True)
class AnswersFile:
    """The content of a file of answers.

    Attributes
    ----------
    comparisons : comparisons of items 0..n-1
    labels : names of the items
    notes : sentences for the user about what was ignored
    asked : number of answers per kind of question (an answer ``central`` or ``odd`` gives two
        comparisons)
    """

    comparisons: Comparisons
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    asked: Mapping[str, int]


def read_comparison_csv(
    content: str | bytes,
    labels: Sequence[str] | None = None,
    spellings: Sequence[str] | None = None,
) -> AnswersFile:
    """Read the answers in a CSV text.

    Parameters
    ----------
    content : the file
    labels : names of the items, among them items without comparisons; any other name is an error.
        Without them, the items are the names in the file, in order of appearance.
    spellings : names that the file may use, if there are no ``labels``. A name in another Unicode
        form of one of these gets its spelling. Two of these names never become one item.

    Returns
    -------
    AnswersFile
        Comparisons and items. Answers with a count are repeated.

    Raises
    ------
    InvalidConstraint
        If the header or an item is unknown, a row compares an item with itself, or a count is
        invalid. The message has line and column, and the nearest name.

    Notes
    -----
    O(m) for m rows.
    """
    notes: list[str] = []
    text = decode_text(
        content,
        "The file of answers",
        notes,
        "answers",
        f"{SAVE_HINT} {HEADER_HINT}",
        InvalidConstraint,
    )
    pictures = _is_food100(text[:HEAD_CHARACTERS], len(text) > HEAD_CHARACTERS)
    separator = ";" if pictures else _separator(text[:HEAD_CHARACTERS])
    known_header = header = next(iter(READERS))
    if pictures:
        notes.append(FOOD_NOTE)
    else:
        header = tuple(_read_header(text, separator))
        known_header = _choose_header(header, notes)
    names = NameMatcher(spellings if labels is None else labels)

    def item_name(cell: str) -> str:
        plain = unescape_cell(cell)
        found = names.match(cell if cell in names.known and plain not in names.known else plain)
        return found if not pictures or found in names.known else names.match(_picture_name(cell))

    mixed = known_header == MIXED_HEADER
    columns = known_header[1:] if mixed else known_header
    layout = AnswerLayout(separator, header, columns, labels, item_name, not pictures, mixed)
    rows = read_uniform_rows(text, layout, _parse_count, _parse_question)
    if rows is None:
        rows = read_line_by_line(text, layout)
    if rows.counts.sum() > MAX_COUNT + MAX_MEAN_COUNT * len(rows.counts):
        raise InvalidConstraint(
            f"The counts add up to {rows.counts.sum():,} answers, which is too many."
        )
    table = np.repeat(rows.items, rows.counts, axis=0)
    items = tuple(rows.index)
    if rows.questions is None:
        asked = {_QUESTIONS[known_header]: len(table)}
        return AnswersFile(READERS[known_header](table), items, tuple(notes), asked)
    questions = np.repeat(rows.questions, rows.counts)
    parts = [READERS[h](table[questions == name]).rows for name, h in _HEADERS_OF_THREE.items()]
    counts = {name: int((questions == name).sum()) for name in _HEADERS_OF_THREE}
    asked = {name: count for name, count in counts.items() if count}
    return AnswersFile(Comparisons(np.concatenate(parts)), items, tuple(notes), asked)


def read_line_by_line(text: str, layout: AnswerLayout) -> AnswerRows:
    """Read the rows of any file. Errors name the line."""
    header, columns, separator = layout.header, layout.columns, layout.separator
    reader = _reader(text, separator)
    filled = _non_empty(reader)
    rows: list[list[int]] = []
    counts: list[int] = []
    questions: list[str] = []
    index = {name: item for item, name in enumerate(layout.known_names or ())}
    try:
        if layout.has_header:
            next(filled)
        for cells in filled:
            line = reader.line_num
            if len(cells) > len(header) and not any(map(str.strip, cells[len(header) :])):
                cells = cells[: len(header)]  # spreadsheets add empty columns
            if len(cells) != len(header):
                raise InvalidConstraint(
                    f"Line {line} of the answers has {len(cells)} cells, the "
                    f"{'header' if layout.has_header else 'first line'} {len(header)}.",
                    f"The cells are separated by {SEPARATORS[separator]}. Put names that contain "
                    "one of these into double quotes.",
                )
            row = dict(zip(header, cells, strict=True))
            if layout.has_question:
                questions.append(_read_question(row["question"], line))
            names = [layout.item_name(row[column].strip()) for column in columns]
            rows.append(
                [
                    _item(name, line, column, index, layout.known_names is None)
                    for name, column in zip(names, columns, strict=True)
                ]
            )
            _check_items(rows[-1], names, line)
            counts.append(_read_count(row.get("count", ""), line))
    except csv.Error as fault:
        raise InvalidConstraint(
            f"Line {reader.line_num} of the answers is not CSV: {fault}."
        ) from None
    return AnswerRows(
        np.array(rows, np.int32).reshape(-1, len(columns)),
        np.array(counts, np.int64),
        np.array(questions, dtype="<U7") if layout.has_question else None,
        index,
    )


def is_answers(content: bytes) -> bool:
    """Return True if the first row is a header of answers, or the rows are Food100's."""
    head = decode_head(content, HEAD_CHARACTERS)
    if _matching_headers(_read_header(head, _separator(head))):
        return True
    return _is_food100(head, len(content) > HEAD_CHARACTERS)


def _is_food100(text: str, last_line_cut: bool) -> bool:
    """Return True if each line names three of Food100's pictures."""
    lines = text.splitlines()[: -1 if last_line_cut else None]
    rows = [[cell.strip() for cell in line.split(";")] for line in lines if line.strip()]
    three = bool(rows) and all(len(row) == 3 for row in rows)
    return three and all(_FOOD_PICTURE.fullmatch(cell) for row in rows for cell in row)


def _picture_name(name: str) -> str:
    """Return the name of the item in a picture of Food100."""
    found = _FOOD_PICTURE.fullmatch(name)
    return found[1] if found else name


def write_comparison_csv(comparisons: Comparisons, labels: Sequence[str]) -> str:
    """Return comparisons as CSV text in order of appearance, with repeats as counts. O(m log m).

    :func:`read_comparison_csv` without labels gives the same items and the same number of answers
    of each kind. If :func:`find_ambiguous_name` finds a name, reading needs the labels.
    """
    header = list(READERS)[int(comparisons.is_quadruplets)]
    rows, first, which = unique_rows(comparisons.rows)
    counts = np.bincount(which)
    table: list[list[str | int]] = [[*header, "count"]]
    order = np.argsort(first)
    if list(dict.fromkeys(rows[order].ravel().tolist())) != list(range(len(labels))):
        table += [[*row, 0] for row in _rows_with_all_names(labels, len(header))]
    for at in order:
        table.append([*(labels[item] for item in rows[at]), int(counts[at])])
    return write_csv(table)


def _rows_with_all_names(labels: Sequence[str], width: int) -> Iterable[list[str]]:
    """Yield rows that name all items in their order, unless there are too few for a valid row."""
    enough = len(labels) >= (3 if width == 3 else 2)
    for start in range(0, len(labels) if enough else 0, width):
        yield [labels[at % len(labels)] for at in range(start, start + width)]


def write_answers_csv(
    answers: Iterable[tuple[str, Sequence[int], str, str]], labels: Sequence[str]
) -> str:
    """Return answers about three items as CSV text, with authors and times.

    Parameters
    ----------
    answers : (``central`` or ``odd``, the chosen item and the other two, author, time)
    labels : names of the items
    """
    rows = (
        [question, *(labels[k] for k in items), *signed] for question, items, *signed in answers
    )
    return write_csv([[*MIXED_HEADER, *SIGNATURE_COLUMNS], *rows])


def _read_question(cell: str, line: int) -> str:
    found = _parse_question(cell)
    if found is None:
        raise InvalidConstraint(
            f"Line {line}, column question: {cell!r} is neither central nor odd."
        )
    return found


def _parse_question(cell: str) -> str | None:
    """Return the question that a cell names, or None."""
    word = cell.strip().lower()
    return word if word in _HEADERS_OF_THREE else None


def read_rows(content: bytes) -> tuple[list[str], list[list[str]]]:
    """Return the header, in lower case, and the other rows. Both are empty for invalid CSV."""
    try:
        text = decode_text(content, "", [], "", "")
        rows = list(_non_empty(_reader(text, _separator(text[:HEAD_CHARACTERS]))))
    except (HcvizError, csv.Error):
        return [], []
    return _normalize_header(rows[0]) if rows else [], rows[1:]


def _reader(text: str, separator: str) -> Any:
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)


def _non_empty(reader: Iterable[list[str]]) -> Iterator[list[str]]:
    return (cells for cells in reader if any(cell.strip() for cell in cells))


def _normalize_header(cells: Sequence[str]) -> list[str]:
    """Return the header's names in lower case, without empty cells at its end."""
    names = [cell.strip().lower() for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names


def _read_header(text: str, separator: str) -> list[str]:
    """Return the names in the first row, or an empty list for invalid CSV."""
    try:
        return _normalize_header(next(_non_empty(_reader(text, separator)), []))
    except csv.Error:
        return []


def _matching_headers(header: Sequence[str]) -> list[tuple[str, ...]]:
    return [known for known in (*READERS, MIXED_HEADER) if set(known) <= set(header)]


def _separator(text: str) -> str:
    """Return the separator that makes the first row a known header, or else the most cells."""
    headers = {separator: _read_header(text, separator) for separator in SEPARATORS}
    return max(
        headers, key=lambda each: (bool(_matching_headers(headers[each])), len(headers[each]))
    )


def _choose_header(header: tuple[str, ...], notes: list[str]) -> tuple[str, ...]:
    """Return the known header whose columns the file has, and note the ignored columns."""
    found = _matching_headers(header)
    if len(found) != 1:
        problem = "no header that names the question" if not found else "headers of two questions"
        raise InvalidConstraint(
            f"The file of answers has {problem}: {shorten(str(list(header[:20])), 400)}.",
            HEADER_HINT,
        )
    if len(header) > MAX_COLUMNS:
        raise InvalidConstraint(f"The file of answers has more than {MAX_COLUMNS:,} columns.")
    for name, often in Counter(header).items():
        if name and often > 1:
            raise InvalidConstraint(f"The file of answers has the column {name!r} twice.")
    ignored = [name for name in header if name and name not in (*found[0], "count")]
    if ignored:
        notes.append(f"Columns left out: {join_names(ignored, 20)}.")
    return found[0]


class NameMatcher:
    """Matches names in a file with known names, in any Unicode form.

    Some programs save "ë" as one character, others as two.
    """

    def __init__(self, known: Sequence[str] | None) -> None:
        self.known = frozenset(known or ())
        self._by_normal_form: dict[str, str] = {}
        self._ambiguous = set()
        for name in self.known:
            normal = normalize_name(name)
            self._ambiguous |= {normal} if normal in self._by_normal_form else set()
            self._by_normal_form[normal] = name

    def match(self, name: str) -> str:
        """Return the known name, or the normal form of an unknown name.

        A name that could be either of two known names is returned unchanged.
        """
        if name in self.known:
            return name
        normal = normalize_name(name)
        return name if normal in self._ambiguous else self._by_normal_form.get(normal, normal)


def find_ambiguous_name(names: Iterable[str]) -> str | None:
    """Return a name that occurs in two Unicode forms, or None."""
    seen: set[str] = set()
    for name in names:
        normal = normalize_name(name)
        if normal in seen:
            return normal
        seen.add(normal)
    return None


def normalize_name(name: str) -> str:
    """Return the name in Unicode's composed form (NFC), without spaces around it."""
    return unicodedata.normalize("NFC", name.strip())


def _item(name: str, line: int, column: str, index: dict[str, int], may_add: bool) -> int:
    """Return the number of an item. An unknown name gets a new number, if ``may_add``."""
    if name in index:
        return index[name]
    if not name:
        raise InvalidConstraint(f"Line {line}, column {column}: the name is missing.")
    if may_add:
        return index.setdefault(name, len(index))
    if sum(normalize_name(each) == normalize_name(name) for each in index) > 1:
        raise InvalidConstraint(
            f"Line {line}, column {column}: {name!r} is the name of several items, and has the "
            "Unicode form of none of them.",
            "Copy the name from the data, or rename one of the items.",
        )
    near = closest_name(name, index)
    raise InvalidConstraint(
        f"Line {line}, column {column}: there is no item {shorten(name)!r}.",
        f"The nearest is {near!r}." if near else "Answers must name items of the data.",
    )


def _check_items(row: list[int], names: list[str], line: int) -> None:
    repeated = len(set(row)) < 3 if len(row) == 3 else row[0] == row[1] or row[2] == row[3]
    if repeated:
        raise InvalidConstraint(
            f"Line {line} of the answers compares an item with itself: {', '.join(names)}."
        )


def _read_count(cell: str, line: int) -> int:
    found = _parse_count(cell)
    if found is None:
        raise InvalidConstraint(
            f"Line {line}, column count: {cell.strip()!r} is not a whole number from 0 to "
            f"{MAX_COUNT:,}."
        )
    return found


def _parse_count(cell: str) -> int | None:
    """Return the count in a cell, 1 for an empty cell, or None for an invalid one."""
    cell = cell.strip() or "1"
    valid = cell.isascii() and cell.isdigit() and len(cell) < 8 and int(cell) <= MAX_COUNT
    return int(cell) if valid else None
