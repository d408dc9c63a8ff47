"""Convert the columns of a table to features: numbers, and categories as 0/1 columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.column_kinds import (
    CLASS_NAMES,
    MAX_CATEGORIES,
    MAX_TEXT,
    TRUTH,
    ParsedColumn,
    is_classes,
)
from hcviz.core.column_options import ColumnKind
from hcviz.core.errors import InvalidData
from hcviz.core.table_cells import MAX_NUMBER, cell_text, quote
from hcviz.core.table_dates import parse_dates
from hcviz.core.text_features import text_features

Float = NDArray[np.float64]
Rows = Sequence[Any] | NDArray[Any]
#: Name, values and kind of a feature column.
Feature = tuple[str, Float, str]


def column_features(
    column: ParsedColumn,
    rows: Rows,
    notes: list[str],
    kind: ColumnKind | None = None,
    category: bool = False,
) -> list[Feature]:
    """Convert one column of a table to feature columns.

    Parameters
    ----------
    column : ParsedColumn
        The column.
    rows : sequence of n
        Names of the rows, for messages.
    notes : list of str
        A sentence is appended if the column is left out, or its numbers are read as categories.
    kind : str or None
        What the column is read as; None: what it holds.
    category : bool
        True: the values are categories even if they are numbers.

    Returns
    -------
    list of (name, float64 (n,), kind)
        One column of the kind ``number`` or ``binary``, or one of the kind ``category`` or ``text``
        for each value or term. A date is the number of days since the first one. Empty if the
        column is left out.

    Raises
    ------
    InvalidData
        A column of numbers has a text, a number is too large, or the column cannot be read as
        ``kind``. Without ``kind``, :meth:`ParsedColumn.detect` says which texts are refused.
    """
    name = column.name
    if not column.n_present:
        notes.append(f"The column {quote(name)} is empty and was left out.")
        return []
    wanted = kind or column.detect(category)
    if wanted == "number":
        return [(name, _numbers(column, rows), "number")]
    if wanted == "binary":
        return [(name, _truths(column), "binary")]
    if wanted == "date":
        return [(name, _days(column), "number")]
    if wanted == "text":
        return [(key, values, "text") for key, values in text_features(name, column.words, notes)]
    if wanted == "category":
        if kind is None and not category and column.is_mixed:
            notes.append(
                f"{_mixed(column)}, so it is read as categories. Empty such cells to read numbers."
            )
        return _categories(column)
    if kind is None and not category and column.is_mixed:
        notes.append(f"{_mixed(column)} and too many different values, so it was left out.")
    elif kind is None:
        what = f"{column.n_different} different {'texts' if column.wrong.size else 'numbers'}"
        notes.append(f"The column {quote(name)} holds {what} and was left out.")
    return []


def _mixed(column: ParsedColumn) -> str:
    """Return the beginning of a sentence about the texts of a column of numbers."""
    text = quote(cell_text(column.cells[int(column.wrong[0])]))
    count = column.wrong.size
    what = f"the text {text}" if count == 1 else f"{count:,} texts such as {text}"
    return f"The column {quote(column.name)} has {what} among numbers"


def _numbers(column: ParsedColumn, rows: Rows) -> Float:
    wrong, name = column.wrong, column.name
    if wrong.size:
        row = int(wrong[0])
        text = cell_text(column.cells[row])
        more = f" ({wrong.size} such cells in all)" if wrong.size > 1 else ""
        raise InvalidData(
            f"Row {rows[row]}, column {quote(name)} holds the text "
            f"{quote(text)} among numbers{more}.",
            "Write decimal points, and commas between thousands only."
            if re.fullmatch(r"[+-]?\d*(,\d+)+", text)
            else "Correct the cell, or leave it empty where the number is not known.",
        )
    large = np.flatnonzero(np.abs(column.values) > MAX_NUMBER)
    if large.size:
        row = int(large[0])
        raise InvalidData(
            f"Row {rows[row]}, column {quote(name)} holds {column.values[row]:g}, which is too "
            "large.",
            f"Numbers may go up to {MAX_NUMBER:g}.",
        )
    return column.values


def _truths(column: ParsedColumn) -> Float:
    """Return 1 for yes or true, 0 for no or false; of two other values, 1 for the later one."""
    if not column.wrong.size and np.isin(column.values[~column.missing], (0.0, 1.0)).all():
        return column.values
    place = TRUTH
    if not all(word.lower() in TRUTH for word in column.different):
        if len(column.different) > 2:
            raise InvalidData(
                f"The column {quote(column.name)} has {len(column.different)} different values.",
                "A yes/no column has two. Read it as a category.",
            )
        place = {word.lower(): float(k) for k, word in enumerate(column.different)}
    return np.array([np.nan if word is None else place[word.lower()] for word in column.words])


def _days(column: ParsedColumn) -> Float:
    days = parse_dates(column.words)
    unread = np.flatnonzero(np.isnan(days) & ~column.missing)
    if unread.size:
        raise InvalidData(
            f"The column {quote(column.name)} holds {quote(str(column.words[int(unread[0])]))}, "
            "which is not a date.",
            "Dates look like 2024-03-31, 31.3.2024 or 3/31/2024.",
        )
    return days - np.nanmin(days)


def _categories(column: ParsedColumn) -> list[Feature]:
    if not column.can_be_category:
        raise InvalidData(
            f"The column {quote(column.name)} has {len(column.different)} different values.",
            f"A category has at most {MAX_CATEGORIES}, of up to {MAX_TEXT} letters.",
        )
    place = {value: k for k, value in enumerate(column.different)}
    codes = np.array([-1 if word is None else place[word] for word in column.words])
    return [
        (
            f"{column.name}={value}",
            np.where(column.missing, np.nan, (codes == k).astype(float)),
            "category",
        )
        for value, k in place.items()
    ]


def column_mean(features: Float) -> Float:
    """Replace each NaN by the mean of its column, or by 0 if the column is empty."""
    present = ~np.isnan(features)
    total = np.where(present, features, 0.0).sum(axis=0)
    return np.where(present, features, total / np.maximum(present.sum(axis=0), 1))


__all__ = ["CLASS_NAMES", "MAX_CATEGORIES", "column_features", "column_mean", "is_classes"]
