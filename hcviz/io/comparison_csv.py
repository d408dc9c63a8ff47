"""Answers as CSV: one a row, by the items' names, under a header that says what was asked.

    anchor,near,far             the anchor is closer to near than to far
    first,second,third,fourth   first and second are more alike than third and fourth
    central,other_1,other_2     which of the three is most central
    odd,other_1,other_2         which of the three is the odd one out
    question,chosen,other_1,other_2   either of the last two, as the question column says

A column ``count`` says how often an answer was given (default 1); other columns, such as who
answered and when, are left out, and the notes say so. Cells are separated by commas, semicolons,
tabs or bars, and the file may be in UTF-8, UTF-16 or Windows-1252, as with tables. Names are the
same whatever way their accents are composed, and blanks around them are no part of them.

One file has no header and is known all the same: that of the Food100 data, three pictures a line,
``images/a.jpg;images/b.jpg;images/c.jpg``, which says that a tastes more like b than like c. Its
items are called by the pictures' names, ``a``.

What is written here comes back whole. Where the answers would not name all items in their order,
rows that count 0 do so before them: they are no answers, and items never compared are not lost.
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

from hcviz.core.errors import HcvizError, InvalidConstraint
from hcviz.core.text import closest_name, join_names, shorten
from hcviz.core.triplets import Comparisons
from hcviz.core.unique_rows import unique_rows
from hcviz.io.plaintext import beginning, decoded
from hcviz.io.rawtable import SEPARATORS
from hcviz.io.regularrows import Layout, Rows, regular_rows

#: Header -> what its rows become.
FORMS: dict[tuple[str, ...], Callable[[ArrayLike], Comparisons]] = {
    ("anchor", "near", "far"): Comparisons,
    ("first", "second", "third", "fourth"): Comparisons,
    ("central", "other_1", "other_2"): Comparisons.from_most_central,
    ("odd", "other_1", "other_2"): Comparisons.from_odd_one_out,
}

#: Header -> the kind of question, as :class:`hcviz.datasets.Dataset` names it.
_KINDS = dict(zip(FORMS, ("triplets", "quadruplets", "central", "odd"), strict=True))
#: The header of answers to both questions about three: its first column is ``central`` or ``odd``.
MIXED = ("question", "chosen", "other_1", "other_2")
#: Columns that say whose answer it is, and since when.
SIGNATURE = ("author", "time")
#: A cell of Food100's answers, and how they are read; told with the data.
_PICTURE = re.compile(r"images/([^/;]+)\.jpg")
FOOD = (
    "The file has no header; three pictures a line, divided by semicolons, are read as in the "
    "Food100 data: the first is nearer to the second than to the third."
)
_OF_MIXED = {kind: form for form, kind in _KINDS.items() if kind in ("central", "odd")}

#: What to do about a file of answers that does not say what was asked.
HEADERS = "Its first row must be one of: {}.".format(
    "; ".join(",".join(form) for form in (*FORMS, MIXED))
)

CSV = "Save it as CSV."
#: What tells how a file is to be read stands in so many of its first bytes.
LOOKED_AT = 10_000

#: No answer counts more often: a row is repeated in memory.
MAX_COUNT = 1_000_000
#: Nor do all together count more often than so much for a row, and one row that counts most.
MEAN_COUNT = 100
#: Columns of a file of answers; all but a few are left out.
MAX_COLUMNS = 1_000


@dataclass(frozen=True)
class AnswersFile:
    """``comparisons`` over items 0..n-1 named by ``labels``; ``notes`` as sentences; ``asked``:
    how many answers to each kind of question (``central`` and ``odd`` are two comparisons each)."""

    comparisons: Comparisons
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    asked: Mapping[str, int]


def read_comparison_csv(
    content: str | bytes,
    labels: Sequence[str] | None = None,
    spellings: Sequence[str] | None = None,
) -> AnswersFile:
    """The answers in a CSV text.

    ``labels`` are the items, so that those never compared are there too, and a name that is none of
    them is refused; without them the items are the names in the file, in order of appearance. O(m)
    for m rows, and as many answers as the counts add up to are held.

    Where there are no ``labels``, ``spellings`` are names that the file may use: a name in another
    Unicode form of one of them gets that spelling, and two of them never become one item.

    Raises :class:`InvalidConstraint` that names line and column: no known header, an item that is
    not there (with the nearest name), one named twice, a count that is none.
    """
    notes: list[str] = []
    text = decoded(
        content, "The file of answers", notes, "answers", f"{CSV} {HEADERS}", InvalidConstraint
    )
    pictures = _is_of_pictures(text[:LOOKED_AT], len(text) > LOOKED_AT)
    separator = ";" if pictures else _separator(text[:LOOKED_AT])
    form = header = next(iter(FORMS))
    if pictures:
        notes.append(FOOD)
    else:
        header = tuple(_header(text, separator))
        form = _form(header, notes)
    names = Names(spellings if labels is None else labels)

    def called(name: str) -> str:
        found = names.called(name)
        return found if not pictures or found in names.known else names.called(_called(name))

    mixed = form == MIXED
    columns = form[1:] if mixed else form
    layout = Layout(separator, header, columns, labels, called, not pictures, mixed)
    found = regular_rows(text, layout, _counted, _asked)
    if found is None:
        found = _line_by_line(text, layout)
    if found.counts.sum() > MAX_COUNT + MEAN_COUNT * len(found.counts):
        raise InvalidConstraint(
            f"The counts add up to {found.counts.sum():,} answers, too many to hold."
        )
    table = np.repeat(found.items, found.counts, axis=0)
    items = tuple(found.index)
    if found.kinds is None:
        return AnswersFile(FORMS[form](table), items, tuple(notes), {_KINDS[form]: len(table)})
    of = np.repeat(found.kinds, found.counts)
    made = [FORMS[form](table[of == kind]).rows for kind, form in _OF_MIXED.items()]
    asked = {kind: int((of == kind).sum()) for kind in _OF_MIXED if (of == kind).any()}
    return AnswersFile(Comparisons(np.concatenate(made)), items, tuple(notes), asked)


def _line_by_line(text: str, layout: Layout) -> Rows:
    """The rows of any file; what is wrong is told with its line."""
    header, columns, separator = layout.header, layout.columns, layout.separator
    reader = _reader(text, separator)
    filled = _filled(reader)
    rows: list[list[int]] = []
    counts: list[int] = []
    kinds: list[str] = []
    index = {name: item for item, name in enumerate(layout.known or ())}
    try:
        if layout.headed:
            next(filled)
        for cells in filled:
            line = reader.line_num
            if len(cells) > len(header) and not any(map(str.strip, cells[len(header) :])):
                cells = cells[: len(header)]  # of spreadsheets: columns that have nothing in them
            if len(cells) != len(header):
                raise InvalidConstraint(
                    f"Line {line} of the answers has {len(cells)} cells, the "
                    f"{'header' if layout.headed else 'first line'} {len(header)}.",
                    f"Cells were separated by {SEPARATORS[separator]}; put names that hold one "
                    "into double quotes.",
                )
            row = dict(zip(header, cells, strict=True))
            if layout.asks:
                kinds.append(_kind(row["question"], line))
            names = [layout.called(row[column].strip()) for column in columns]
            rows.append(
                [
                    _item(name, line, column, index, layout.known is None)
                    for name, column in zip(names, columns, strict=True)
                ]
            )
            _different(rows[-1], names, line)
            counts.append(_count(row.get("count", ""), line))
    except csv.Error as fault:
        raise InvalidConstraint(
            f"Line {reader.line_num} of the answers is not CSV: {fault}."
        ) from None
    return Rows(
        np.array(rows, np.int32).reshape(-1, len(columns)),
        np.array(counts, np.int64),
        np.array(kinds, dtype="<U7") if layout.asks else None,
        index,
    )


def is_answers(content: bytes) -> bool:
    """Whether a file's first row is the header of one of :data:`FORMS`, or its rows are Food's."""
    first = beginning(content, LOOKED_AT)
    if _forms(_header(first, _separator(first))):
        return True
    return _is_of_pictures(first, len(content) > LOOKED_AT)


def _is_of_pictures(text: str, more: bool) -> bool:
    """Whether these lines name three of Food100's pictures each; ``more``: the last is cut off."""
    lines = text.splitlines()[: -1 if more else None]
    rows = [[cell.strip() for cell in line.split(";")] for line in lines if line.strip()]
    return bool(rows) and all(len(row) == 3 and all(map(_PICTURE.fullmatch, row)) for row in rows)


def _called(name: str) -> str:
    """What an item is called whose picture this is."""
    found = _PICTURE.fullmatch(name)
    return found[1] if found else name


def write_comparison_csv(comparisons: Comparisons, labels: Sequence[str]) -> str:
    """(anchor, near, far) or quadruplets as CSV text, repeats as counts, in order of appearance.

    :func:`read_comparison_csv` without labels finds the same items in it, those that were never
    compared too (the module says how), and as many answers of each kind; but of items whose names
    are :func:`two_forms` of one name only with labels. O(m log m).
    """
    form = list(FORMS)[int(comparisons.is_quadruplets)]
    rows, first, which = unique_rows(comparisons.rows)
    counts = np.bincount(which)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([*form, "count"])
    order = np.argsort(first)
    if list(dict.fromkeys(rows[order].ravel().tolist())) != list(range(len(labels))):
        writer.writerows([*row, 0] for row in _naming(labels, len(form)))
    for at in order:
        writer.writerow([*(labels[item] for item in rows[at]), int(counts[at])])
    return buffer.getvalue()


def _naming(labels: Sequence[str], width: int) -> Iterable[list[str]]:
    """Rows that name all in their order and compare none with itself; none where that cannot be."""
    enough = len(labels) >= (3 if width == 3 else 2)
    for start in range(0, len(labels) if enough else 0, width):
        yield [labels[at % len(labels)] for at in range(start, start + width)]


def write_answers_csv(
    answers: Iterable[tuple[str, Sequence[int], str, str]], labels: Sequence[str]
) -> str:
    """Answers about three as CSV text under :data:`MIXED`, with who said so and when.

    Each is (``central`` or ``odd``, the item chosen and the other two, author, time).
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([*MIXED, *SIGNATURE])
    for kind, items, author, time in answers:
        writer.writerow([kind, *(labels[item] for item in items), author, time])
    return buffer.getvalue()


def _kind(cell: str, line: int) -> str:
    found = _asked(cell)
    if found is None:
        raise InvalidConstraint(
            f"Line {line}, column question: {cell!r} is neither central nor odd."
        )
    return found


def _asked(cell: str) -> str | None:
    """The question that a cell names; None where it is none."""
    said = cell.strip().lower()
    return said if said in _OF_MIXED else None


def read_rows(content: bytes) -> tuple[list[str], list[list[str]]]:
    """The header, as it is compared with others, and the rows as they stand; none of what is no
    CSV."""
    try:
        text = decoded(content, "", [], "", "")
        rows = list(_filled(_reader(text, _separator(text[:LOOKED_AT]))))
    except (HcvizError, csv.Error):
        return [], []
    return _named(rows[0]) if rows else [], rows[1:]


def _reader(text: str, separator: str) -> Any:
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)


def _filled(reader: Iterable[list[str]]) -> Iterator[list[str]]:
    """The rows with anything in them."""
    return (cells for cells in reader if any(cell.strip() for cell in cells))


def _named(cells: Sequence[str]) -> list[str]:
    """A header's names, without empty cells at its end."""
    names = [cell.strip().lower() for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names


def _header(text: str, separator: str) -> list[str]:
    """The cells of the first row; none where it is no CSV."""
    try:
        return _named(next(_filled(_reader(text, separator)), []))
    except csv.Error:
        return []


def _forms(header: Sequence[str]) -> list[tuple[str, ...]]:
    return [form for form in (*FORMS, MIXED) if set(form) <= set(header)]


def _separator(text: str) -> str:
    """The one under which the first row is a header; else the one that cuts it most often."""
    headers = {separator: _header(text, separator) for separator in SEPARATORS}
    return max(headers, key=lambda each: (bool(_forms(headers[each])), len(headers[each])))


def _form(header: tuple[str, ...], notes: list[str]) -> tuple[str, ...]:
    found = _forms(header)
    if len(found) != 1:
        said = "no header that says what was asked" if not found else "headers of two questions"
        raise InvalidConstraint(
            f"The file of answers has {said}: {shorten(str(list(header[:20])), 400)}.", HEADERS
        )
    if len(header) > MAX_COLUMNS:
        raise InvalidConstraint(f"The file of answers has more than {MAX_COLUMNS:,} columns.")
    for name, often in Counter(header).items():
        if name and often > 1:
            raise InvalidConstraint(f"The file of answers has the column {name!r} twice.")
    left = [name for name in header if name and name not in (*found[0], "count")]
    if left:
        notes.append(f"Columns left out: {join_names(left, 20)}.")
    return found[0]


class Names:
    """What items are called whose names stand in a file: ``known`` ones, or any.

    A name is the same however its accents are composed, where that leaves no doubt: other programs
    save "ë" as one character or as two.
    """

    def __init__(self, known: Sequence[str] | None) -> None:
        self.known = frozenset(known or ())
        self._alike: dict[str, str] = {}
        self._ambiguous = set()
        for name in self.known:
            alike = composed(name)
            self._ambiguous |= {alike} if alike in self._alike else set()
            self._alike[alike] = name

    def called(self, name: str) -> str:
        """The known name that is meant; of others their composed form.

        A name that could be either of two known ones stays as it is, and is none of them.
        """
        if name in self.known:
            return name
        alike = composed(name)
        return name if alike in self._ambiguous else self._alike.get(alike, alike)


def two_forms(names: Iterable[str]) -> str | None:
    """A name that several of the names are, in different Unicode forms; None if there is none."""
    seen: set[str] = set()
    for name in names:
        alike = composed(name)
        if alike in seen:
            return alike
        seen.add(alike)
    return None


def composed(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip())


def _item(name: str, line: int, column: str, index: dict[str, int], fresh: bool) -> int:
    if name in index:
        return index[name]
    if not name:
        raise InvalidConstraint(f"Line {line}, column {column}: the name is missing.")
    if fresh:
        return index.setdefault(name, len(index))
    if sum(composed(each) == composed(name) for each in index) > 1:
        raise InvalidConstraint(
            f"Line {line}, column {column}: {name!r} is the name of several items, and has here "
            "the Unicode form of none of them.",
            "Copy the name from the data, or rename one of the items.",
        )
    near = closest_name(name, index)
    raise InvalidConstraint(
        f"Line {line}, column {column}: there is no item {shorten(name)!r}.",
        f"The nearest is {near!r}." if near else "Answers name items of the data shown.",
    )


def _different(row: list[int], names: list[str], line: int) -> None:
    wrong = len(set(row)) < 3 if len(row) == 3 else row[0] == row[1] or row[2] == row[3]
    if wrong:
        raise InvalidConstraint(
            f"Line {line} of the answers compares an item with itself: {', '.join(names)}."
        )


def _count(cell: str, line: int) -> int:
    found = _counted(cell)
    if found is None:
        raise InvalidConstraint(
            f"Line {line}, column count: {cell.strip()!r} is not a whole number from 0 to "
            f"{MAX_COUNT:,}."
        )
    return found


def _counted(cell: str) -> int | None:
    """How often a cell says; None where it does not."""
    cell = cell.strip() or "1"
    whole = cell.isascii() and cell.isdigit() and len(cell) < 8 and int(cell) <= MAX_COUNT
    return int(cell) if whole else None
