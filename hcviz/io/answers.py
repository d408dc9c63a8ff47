"""Answers from a file as data: of the items that it names, or beside what is known of others."""

from __future__ import annotations

import csv
import io
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.triplets import Comparisons
from hcviz.core.unique_rows import unique_rows
from hcviz.datasets import Dataset
from hcviz.io.comparison_csv import (
    MIXED,
    SIGNATURE,
    AnswersFile,
    read_comparison_csv,
    read_rows,
)
from hcviz.io.plaintext import decoded
from hcviz.io.rawtable import MAX_UPLOAD_BYTES, NAME_WORDS, SEPARATORS, RawTable

#: A file is about given items if so many of the names in it are theirs; fewer, and it is about
#: others. A misspelt name or two are then found in any file of answers that is not of one row.
SHARE = 0.5

#: An answer about three: the question, the items' names (the chosen one first), author, time.
Signed = tuple[str, tuple[str, ...], str, str]
SIGNED = (*MIXED, *SIGNATURE)


def dataset_of_answers(
    content: bytes, filename: str = "", labels: Sequence[str] | None = None
) -> Dataset:
    """A file of answers as a data set: the items are ``labels``, else those that it names.

    Raises :class:`TooLarge` above the limit of tables, and what :func:`read_comparison_csv` does.
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
    """The same items, images, features and so on, with a file's answers beside those there were.

    Raises :class:`InvalidConstraint` that names line and column where a name is none of the items.
    """
    found = _read(content, dataset.labels)
    known, asked = dataset.comparisons, Counter(dataset.asked or {})
    said = f"{counted(len(found.comparisons))} came from {filename!r}." if filename else ""
    return replace(
        dataset,
        comparisons=found.comparisons if known is None else known + found.comparisons,
        asked=asked + Counter(found.asked),
        notes=(*dataset.notes, *([said] if said else []), *found.notes),
    )


def counted(comparisons: int) -> str:
    return "1 comparison" if comparisons == 1 else f"{comparisons:,} comparisons"


def how_many(content: bytes) -> int:
    """The answers that a file holds, each as often as it counts."""
    return sum(_read(content).asked.values())


@dataclass(frozen=True)
class Meant:
    """Whom a file of answers is about: ``theirs`` of its ``named`` names are those of given items.

    ``comparisons``, over those items, where they are meant; else None: the file stands for itself.
    """

    named: int
    theirs: int
    comparisons: Comparisons | None


def meant(content: bytes, labels: Sequence[str]) -> Meant:
    """Whether a file's answers are about these items: half of its names or more are theirs.

    Raises what :func:`read_comparison_csv` does; where the items are meant, also for a name that is
    none of them, which is then a misspelt one.
    """
    alone = _read(content, spellings=labels)
    place = {name: item for item, name in enumerate(labels)}
    items = [place.get(name) for name in alone.labels]
    named, theirs = len(items), sum(item is not None for item in items)
    if theirs < SHARE * named:
        return Meant(named, theirs, None)
    if theirs < named:  # says which, and where
        return Meant(named, named, read_comparison_csv(content, labels).comparisons)
    return Meant(named, theirs, Comparisons(np.array(items, np.int32)[alone.comparisons.rows]))


def beyond(found: Comparisons, known: Comparisons) -> Comparisons | None:
    """What a list holds beside all that is known already, repeats counted; None where it does not
    hold all of that. Triplets where all are; the order within a pair means nothing. O(m log m)."""
    both = known + found
    pairs = np.sort(both.as_quadruplets().rows.reshape(-1, 2, 2), axis=2)
    _, first, which = unique_rows(pairs.reshape(-1, 4))
    more = np.bincount(which[len(known) :], minlength=len(first))
    more -= np.bincount(which[: len(known)], minlength=len(first))
    if (more < 0).any():
        return None
    return Comparisons(np.repeat(both.rows[first], more, axis=0))


def marks(said: Iterable[Signed]) -> array[int]:
    """What tells answers apart as long as this process lives, 8 bytes each (they themselves take
    some hundred): hashes, of which two of 10 million are the same once in 400,000 times. None of an
    answer without a time."""
    return array("q", (hash(each) for each in said if each[3]))


def unsaid(content: bytes, said: Iterable[int]) -> tuple[bytes, int]:
    """A file of signed answers without those whose marks are among ``said``, and how many these
    were.

    The same question, items, author and time make the same answer. A file without authors and
    times, and rows whose time is empty, are left as they are: people may say the same twice. O(m).
    """
    known = Counter(said)
    header, rows, places = _signed_rows(content) if known else ([], [], None)
    if places is None:
        return content, 0
    kept = []
    for row in rows:
        answer = _signed(row, places)
        mark = hash(answer)
        if answer is not None and known.get(mark):
            known[mark] -= 1
        else:
            kept.append(row)
    if len(kept) == len(rows):
        return content, 0
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows([header, *kept])
    return buffer.getvalue().encode(), len(rows) - len(kept)


def signed(content: bytes) -> list[Signed]:
    """The answers of a file that says of each who gave it and when; none of another file. O(m)."""
    _, rows, places = _signed_rows(content)
    found = [] if places is None else [_signed(row, places) for row in rows]
    return [each for each in found if each is not None]


def _signed_rows(content: bytes) -> tuple[list[str], list[list[str]], list[int] | None]:
    """Header, rows and places of the columns; of another file the header at most."""
    header, rows = read_rows(content)
    places = _signed_columns(header)
    return header, [] if places is None else rows, places


def _signed_columns(header: Sequence[str]) -> list[int] | None:
    """Where :func:`hcviz.io.comparison_csv.write_answers_csv` put what; None in other files."""
    if "count" in header or not set(SIGNED) <= set(header):
        return None
    return [header.index(column) for column in SIGNED]


def _signed(row: Sequence[str], places: Sequence[int]) -> Signed | None:
    if len(row) <= max(places):
        return None
    kind, *items, author, time = (row[place].strip() for place in places)
    return (kind.lower(), tuple(items), author, time) if time else None


def read_items(content: bytes) -> tuple[str, ...]:
    """Items' names, one a line or in the first column of a CSV text, for answers about them.

    A first line such as ``name`` or ``item`` is a header, and tells what separates the cells
    (``item;year``), else it is commas; empty lines are passed over. Raises
    :class:`InvalidData` where a name stands twice, or there are fewer than two.
    """
    text = decoded(content, "The list of items", [], "a text", "Give one name a line.")
    seen: dict[str, int] = {}
    first = text.lstrip().splitlines()[0].lower()
    before = {each: first.partition(each)[0].strip(' "') for each in SEPARATORS if each in first}
    separator = next((each for each, name in before.items() if name in NAME_WORDS), ",")
    try:
        lines = io.StringIO(text, newline="")
        begun = False
        for row in (reader := csv.reader(lines, delimiter=separator, strict=True)):
            name = row[0].strip() if row else ""
            header = not begun and name.lower() in NAME_WORDS
            begun = begun or bool(name)
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
        raise InvalidData("The list of items names fewer than two.", "Give one a line.")
    return tuple(seen)


def like_answers(raw: RawTable) -> bool:
    """Whether a table's rows might be answers without a header: three or four names each, no name
    twice among three, and half of all the names or more in several of the columns."""
    if raw.first is None or len(raw.columns) not in (3, 4):
        return False
    columns = [
        [first, *map(str, cells)] for first, cells in zip(raw.first, raw.columns, strict=True)
    ]
    if any(not cell for cells in columns for cell in cells):
        return False
    if len(columns) == 3 and any(len(set(row)) < 3 for row in zip(*columns, strict=True)):
        return False
    among = Counter(name for cells in columns for name in set(cells))
    return sum(count > 1 for count in among.values()) >= SHARE * len(among)


def _read(
    content: bytes, labels: Sequence[str] | None = None, spellings: Sequence[str] | None = None
) -> AnswersFile:
    if len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(f"The file has more than {MAX_UPLOAD_BYTES // 2**20} MB.")
    found = read_comparison_csv(content, labels, spellings)
    if not len(found.comparisons):
        raise InvalidData("The file of answers holds no answer.")
    return found


__all__ = [
    "Meant",
    "Signed",
    "beyond",
    "counted",
    "dataset_of_answers",
    "how_many",
    "like_answers",
    "marks",
    "meant",
    "read_items",
    "signed",
    "unsaid",
    "with_answers",
]
