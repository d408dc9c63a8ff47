"""pandas DataFrames as items and features; pandas itself is not imported here."""

from __future__ import annotations

import datetime
import decimal
import numbers
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.cells import quote, shown, unused
from hcviz.core.columns import column_features, column_mean, is_classes
from hcviz.core.errors import InvalidData

Float = NDArray[np.float64]

_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_PLAIN = (str, bytes, bool, numbers.Real, decimal.Decimal, np.bool_)


@dataclass(frozen=True)
class FrameCells:
    """The cells of a DataFrame: ``cells`` holds an array (n,) for each of ``names``, of float64 or
    of str. ``categories`` are the columns whose values are categories even where they are
    numbers."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    cells: list[Any]
    categories: frozenset[str]


@dataclass(frozen=True)
class FrameFeatures:
    """Features out of a DataFrame: float64 (n, d) without gaps, and the names of rows and
    columns."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    features: Float


def is_frame(value: Any) -> bool:
    """Whether the value is a pandas DataFrame."""
    pandas = sys.modules.get("pandas")  # no DataFrame exists before pandas is imported
    return pandas is not None and isinstance(value, pandas.DataFrame)


# ---------------------------------------------------------------------- columns


def cells_of_column(column: Any) -> Any:
    """A pandas Series as cells: numbers as float64; anything else as text, "" where missing; bytes
    stay bytes."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    out = np.empty(len(column), dtype=object)
    for row, value in enumerate(column.to_numpy(dtype=object)):
        if isinstance(value, dict) and isinstance(value.get("bytes"), bytes):
            value = value["bytes"]  # how data-set libraries keep pictures
        if isinstance(value, bytes):
            out[row] = value
        elif isinstance(value, (list, dict, np.ndarray)):
            out[row] = str(value)
        else:
            out[row] = "" if pd.isna(value) else str(value).strip()
    return out


def categorical(frame: Any) -> frozenset[str]:
    """The names of the columns of pandas' type ``category``."""
    import pandas as pd

    kinds = zip(frame.columns, frame.dtypes, strict=True)
    return frozenset(
        str(name).strip() for name, kind in kinds if isinstance(kind, pd.CategoricalDtype)
    )


# ---------------------------------------------------------------------- frames


def cells_of_frame(frame: Any) -> FrameCells:
    """The cells of a DataFrame; its index holds the items' names. O(cells).

    Raises
    ------
    InvalidData
        Where the index or the columns have several levels or repeat a name, where there is no row
        or no column, and where a column holds dates, complex numbers, or objects that are neither
        numbers nor text.
    """
    labels = _axis(frame.index, "index")
    if not labels:
        raise InvalidData("The DataFrame has no rows.", "Give each item a row.")
    names = _axis(frame.columns, "columns")
    if not names:
        raise InvalidData("The DataFrame has no columns.", "Give each feature a column.")
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    for name, column in zip(names, columns, strict=True):
        _check_column(name, column, labels)
    return FrameCells(labels, names, [cells_of_column(c) for c in columns], categorical(frame))


def features_of_frame(frame: Any) -> FrameFeatures:
    """The features in a DataFrame, as a table of features in a file is read.

    Numbers stay as they are, yes/no and true/false become one 0/1 column, and each value of a
    category a 0/1 column ``column=value``. A missing cell gets the mean of its column. Classes and
    pictures (the columns called ``class``, ``label``, ``species`` or ``image``) are no features,
    nor are empty columns and texts that are no categories; a UserWarning names what is left out.

    Raises
    ------
    InvalidData
        What :func:`cells_of_frame` and :func:`hcviz.core.columns.column_features` raise, and where
        no column is left.
    """
    table = cells_of_frame(frame)
    rows = [quote(label) for label in table.labels]
    made: dict[str, Float] = {}
    notes: list[str] = []
    for name, cells in zip(table.names, table.cells, strict=True):
        if is_classes(name, cells) or name.lower() == "image":
            what = "a picture" if name.lower() == "image" else "a class"
            notes.append(f"The column {quote(name)} holds {what} of each item and was left out.")
            continue
        category = name in table.categories
        for key, values, _ in column_features(name, cells, rows, ",", notes, category=category):
            made[unused(key, made)] = values
    if not made:
        raise InvalidData(
            " ".join(["The DataFrame has no column of numbers or categories.", *notes[:3]]),
            "Items are compared by such columns: give one or more. The index holds the names.",
        )
    if notes:
        warnings.warn(" ".join(notes), stacklevel=5)
    return FrameFeatures(
        table.labels, tuple(made), column_mean(np.column_stack(list(made.values())))
    )


def matrix_of_frame(frame: Any, noun: str) -> tuple[tuple[str, ...], Any]:
    """The items' names and the numbers of a square DataFrame; its columns, where they are named,
    are put into the order of its rows."""
    labels, across = _axis(frame.index, "index"), _axis(frame.columns, "columns")
    unnamed = tuple(str(k) for k in range(len(labels)))
    values = frame.to_numpy()
    if across in (labels, unnamed) or len(across) != len(labels):
        return labels, values
    if labels == unnamed:
        return across, values
    if set(across) != set(labels):
        row, column = next(each for each in zip(labels, across, strict=True) if each[0] != each[1])
        raise InvalidData(
            f"Row {quote(row)} of the {noun} has the column {quote(column)}.",
            "Rows and columns must be the same items.",
        )
    place = {name: k for k, name in enumerate(across)}
    return labels, values[:, [place[name] for name in labels]]


def _axis(index: Any, what: str) -> tuple[str, ...]:
    """The names in a DataFrame's index or columns, each once."""
    if index.nlevels > 1:
        raise InvalidData(
            f"The {what} of the DataFrame {'has' if what == 'index' else 'have'} {index.nlevels} "
            "levels (a MultiIndex).",
            f"Join them: frame.{what} = frame.{what}.map(lambda each: ' '.join(map(str, each))).",
        )
    names = ["" if _is_gap(each) else shown(each) for each in index.tolist()]
    noun = "row" if what == "index" else "column"
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        if not name:
            raise InvalidData(f"The {noun} {at} of the DataFrame (from 0) has no name.")
        if name in seen:
            raise InvalidData(
                f"The name {quote(name)} stands twice in the {what} of the DataFrame: {noun}s "
                f"{seen[name]} and {at} (from 0).",
                f"Each {noun} needs a name of its own"
                + ("; frame.reset_index(drop=True) numbers them." if noun == "row" else "."),
            )
        seen[name] = at
    return tuple(names)


def _check_column(name: str, column: Any, labels: tuple[str, ...]) -> None:
    """Refuse what is neither a number nor a category."""
    import pandas as pd

    types = pd.api.types
    times = types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column)
    if times or isinstance(column.dtype, pd.PeriodDtype):
        raise _no_times(f"The column {quote(name)}")
    if types.is_complex_dtype(column):
        raise InvalidData(
            f"The column {quote(name)} holds complex numbers.", "Give real ones, or leave it out."
        )
    if column.dtype != object:
        return
    for label, value in zip(labels, column, strict=True):
        if isinstance(value, _PLAIN) or _is_gap(value) or name.lower() == "image":
            continue
        where = f"Row {quote(label)}, column {quote(name)}"
        if isinstance(value, _TIMES):
            raise _no_times(where)
        raise InvalidData(
            f"{where} holds {type(value).__name__} {quote(str(value))}, which is neither a number "
            "nor a category.",
            "Turn it into numbers or text, or leave the column out.",
        )


def _no_times(where: str) -> InvalidData:
    return InvalidData(
        f"{where} holds dates or times, which are neither numbers nor categories.",
        "Turn them into numbers (days since the first, say), or leave the column out.",
    )


def _is_gap(value: Any) -> bool:
    """Whether it is None, NaN, NaT or pandas' NA."""
    import pandas as pd

    gap = pd.isna(value)
    return gap is True or (isinstance(gap, np.bool_) and bool(gap))


__all__ = [
    "FrameCells",
    "FrameFeatures",
    "categorical",
    "cells_of_column",
    "cells_of_frame",
    "features_of_frame",
    "is_frame",
    "matrix_of_frame",
]
