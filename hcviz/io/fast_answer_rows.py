"""Fast reading of files of answers in which all lines have the same form: a million lines a second.

Any unusual line (a quoted cell, an empty line, an unknown name, an item compared with itself, an
invalid count) is left to :mod:`hcviz.io.comparison_csv`. That module reads line by line and names
the wrong line in its error message.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Maximal length of a line, since the csv module takes no longer cell.
MAX_LINE = 100_000


#: A factorized column: the code of each cell, and the distinct cells.
Column = tuple[Any, Any]


@dataclass(frozen=True)
class AnswerLayout:
    """Layout of a file of answers.

    Attributes
    ----------
    separator : character between two cells
    header : names of all columns
    columns : the columns with names of items
    known_names : names of the items; None if the file's names are numbered in order of appearance
    item_name : function from a stripped cell to the name of the item
    has_header : True if the header is the first line of the file
    has_question : True if the column ``question`` says what each line answers
    """

    separator: str
    header: Sequence[str]
    columns: Sequence[str]
    known_names: Sequence[str] | None
    item_name: Callable[[str], str]
    has_header: bool = True
    has_question: bool = False


@dataclass(frozen=True)
class AnswerRows:
    """Rows of a file of answers.

    Attributes
    ----------
    items : int32 (m, 3 or 4), items of each row
    counts : int64 (m,), how often each answer was given
    questions : str (m,), the question of each row; None if the file has no such column
    index : number of each name
    """

    items: NDArray[np.int32]
    counts: NDArray[np.int64]
    questions: NDArray[Any] | None
    index: Mapping[str, int]


def read_uniform_rows(
    text: str,
    layout: AnswerLayout,
    parse_count: Callable[[str], int | None],
    parse_question: Callable[[str], str | None],
) -> AnswerRows | None:
    """Read the rows of ``text``, or return None if any line is unusual.

    ``parse_count`` and ``parse_question`` read a cell of the columns ``count`` and ``question``,
    or return None. O(characters); only distinct cells are handled in Python.
    """
    text, header = text.rstrip("\r\n"), list(layout.header)
    if len(set(header)) < len(header):  # columns without a name
        return None
    if not _is_uniform(text, layout.separator, len(header), 1 + layout.has_header):
        return None
    others = ["count"] * ("count" in header) + ["question"] * layout.has_question
    frame = pd.read_csv(
        io.StringIO(text), sep=layout.separator, header=None, skiprows=int(layout.has_header),
        names=header, usecols=[*layout.columns, *others], index_col=False, dtype=str,
        na_filter=False, quoting=csv.QUOTE_NONE, skip_blank_lines=False, low_memory=False,
    )  # fmt: skip
    cells = {name: pd.factorize(frame.pop(name)) for name in list(frame)}
    items, index = _number_items([cells[name] for name in layout.columns], layout)
    if items is None or _has_repeated_item(items):
        return None
    counts = np.ones(len(items), np.int64)
    if "count" in header:
        counts = _parse_column(cells["count"], parse_count, np.int64)
    questions = (
        _parse_column(cells["question"], parse_question, str) if layout.has_question else None
    )
    if counts is None or (layout.has_question and questions is None):
        return None
    return AnswerRows(items, counts, questions, index)


def _is_uniform(text: str, separator: str, width: int, min_lines: int) -> bool:
    """Return True for ``min_lines`` or more lines of ``width`` unquoted cells each."""
    if not text or '"' in text or "\0" in text or text.count("\r") != text.count("\r\n"):
        return False
    letters = np.frombuffer(text.encode(), np.uint8)
    ends = np.append(np.flatnonzero(letters == ord("\n")), letters.size)
    cuts = np.flatnonzero(letters == ord(separator))
    if ends.size < min_lines or cuts.size != ends.size * (width - 1):
        return False
    cuts_of_line = cuts.reshape(ends.size, width - 1)
    inside = (cuts_of_line[:, -1] < ends).all() and (cuts_of_line[1:, 0] > ends[:-1]).all()
    return bool(inside and np.diff(ends, prepend=-1).max() <= MAX_LINE)


def _number_items(columns: Sequence[Column], layout: AnswerLayout) -> tuple[Any, Mapping[str, int]]:
    """Return the items, int32 (m, width), and the number of each name.

    The items are None if a name is empty or unknown.
    """
    names = [[layout.item_name(cell.strip()) for cell in distinct] for _, distinct in columns]
    known = layout.known_names
    all_names = dict.fromkeys(chain.from_iterable(names)) if known is None else known
    index = {name: at for at, name in enumerate(all_names)}
    if any(not name or name not in index for name in chain.from_iterable(names)):
        return None, index
    items = np.stack(
        [
            np.array([index[name] for name in some], np.int32)[codes]
            for (codes, _), some in zip(columns, names, strict=True)
        ],
        axis=1,
    )
    if known is not None:
        return items, index
    numbers, order = pd.factorize(items.ravel())
    ordered = list(index)
    by_row = {ordered[item]: at for at, item in enumerate(order.tolist())}
    return numbers.astype(np.int32).reshape(items.shape), by_row


def _has_repeated_item(items: NDArray[np.int32]) -> bool:
    """Return True if a row compares an item with itself."""
    pairs = [(0, 1), (0, 2), (1, 2)] if items.shape[1] == 3 else [(0, 1), (2, 3)]
    return any((items[:, i] == items[:, j]).any() for i, j in pairs)


def _parse_column(column: Column, parse: Callable[[str], Any], dtype: Any) -> Any:
    """Return the value of each cell, or None if any cell has none."""
    codes, distinct = column
    values = [parse(cell) for cell in distinct]
    if any(value is None for value in values):
        return None
    return np.array(values, dtype=dtype)[codes]


__all__ = ["AnswerLayout", "AnswerRows", "read_uniform_rows"]
