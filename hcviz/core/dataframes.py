"""Read items and features from pandas DataFrames. Importing this module does not import pandas."""

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

from hcviz.core.column_kinds import ParsedColumn, is_classes
from hcviz.core.errors import InvalidData
from hcviz.core.table_cells import cell_text, quote, unused_name
from hcviz.core.table_columns import column_features, column_mean

Float = NDArray[np.float64]

_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_PLAIN = (str, bytes, bool, numbers.Real, decimal.Decimal, np.bool_)


@dataclass(frozen=True)
class FrameCells:
    """The cells of a DataFrame.

    Attributes
    ----------
    labels : tuple of str
        The names of the rows.
    names : tuple of str
        The names of the columns.
    cells : list of ndarray (n,)
        For each column, float64 or str.
    categories : frozenset of str
        Names of the columns whose values are categories even if they are numbers.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    cells: list[Any]
    categories: frozenset[str]


@dataclass(frozen=True)
class FrameFeatures:
    """Features from a DataFrame: float64 (n, d) without NaN, and the names of rows and columns."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    features: Float


def is_frame(value: Any) -> bool:
    """Return True if the value is a pandas DataFrame."""
    pandas = sys.modules.get("pandas")  # no DataFrame exists before pandas is imported
    return pandas is not None and isinstance(value, pandas.DataFrame)


# ---------------------------------------------------------------------- columns


def cells_of_column(column: Any) -> Any:
    """Convert a pandas Series to cells.

    Numbers become float64, bytes stay bytes, and other values become texts ("" where missing).
    """
    import pandas as pd

    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    out = np.empty(len(column), dtype=object)
    for row, value in enumerate(column.to_numpy(dtype=object)):
        if isinstance(value, dict) and isinstance(value.get("bytes"), bytes):
            value = value["bytes"]  # data-set libraries store pictures like this
        if isinstance(value, bytes):
            out[row] = value
        elif isinstance(value, (list, dict, np.ndarray)):
            out[row] = str(value)
        else:
            out[row] = "" if pd.isna(value) else str(value).strip()
    return out


def categorical_columns(frame: Any) -> frozenset[str]:
    """Return the names of the columns of pandas' type ``category``."""
    import pandas as pd

    kinds = zip(frame.columns, frame.dtypes, strict=True)
    return frozenset(
        str(name).strip() for name, kind in kinds if isinstance(kind, pd.CategoricalDtype)
    )


# ---------------------------------------------------------------------- frames


def cells_of_frame(frame: Any) -> FrameCells:
    """Read the cells of a DataFrame; its index has the names of the items. O(cells).

    Raises
    ------
    InvalidData
        The index or the columns have several levels or the same name twice; there is no row or no
        column; or a column has dates, complex numbers, or objects that are not numbers or texts.
    """
    labels = _axis_names(frame.index, "index")
    if not labels:
        raise InvalidData("The DataFrame has no rows.", "Give each item a row.")
    names = _axis_names(frame.columns, "columns")
    if not names:
        raise InvalidData("The DataFrame has no columns.", "Give each feature a column.")
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    for name, column in zip(names, columns, strict=True):
        _check_column(name, column, labels)
    return FrameCells(
        labels, names, [cells_of_column(c) for c in columns], categorical_columns(frame)
    )


def features_of_frame(frame: Any) -> FrameFeatures:
    """Read features from a DataFrame, with the rules for a table in a file.

    Numbers are used as they are. Yes/no and true/false become one 0/1 column; each value of a
    category becomes a 0/1 column ``column=value``. A missing cell gets the mean of its column.
    These columns are left out, with a UserWarning: classes and pictures (named ``class``,
    ``label``, ``species`` or ``image``), empty columns, and texts that are not categories.

    Raises
    ------
    InvalidData
        As :func:`cells_of_frame` and :func:`hcviz.core.table_columns.column_features`; also if
        all columns are left out.
    """
    table = cells_of_frame(frame)
    rows = [quote(label) for label in table.labels]
    if _is_matrix(table):
        warnings.warn(
            "The rows and columns of the DataFrame are the same items; it was read as features. "
            "For a matrix, write Problem(dissimilarity=frame) or Problem(similarity=frame).",
            stacklevel=5,
        )
    made: dict[str, Float] = {}
    notes: list[str] = []
    for name, cells in zip(table.names, table.cells, strict=True):
        if is_classes(name, cells) or name.lower() == "image":
            what = "a picture" if name.lower() == "image" else "a class"
            notes.append(f"The column {quote(name)} holds {what} of each item and was left out.")
            continue
        category = name in table.categories
        column = ParsedColumn(name, cells, ",")
        kind = column.detect(category) if column.n_present else None
        if kind == "identifier" and not column.wrong.size and not category:
            kind = "number"  # in a DataFrame, numbers are features even if all differ
        elif column.is_mixed and not category:
            kind = None  # column_features adds a note
        elif kind in ("text", "identifier"):
            count = len(column.different)
            notes.append(
                f"The column {quote(name)} holds {count} different texts and was left out."
            )
            continue
        for key, values, _ in column_features(column, rows, notes, kind, category):
            made[unused_name(key, made)] = values
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


def _is_matrix(table: FrameCells) -> bool:
    """Return True if a table has a symmetric matrix, with the items' names as columns."""
    numeric = all(cells.dtype == np.float64 for cells in table.cells)
    if len(table.labels) < 3 or table.labels != table.names or not numeric:
        return False
    matrix = np.array(table.cells)
    return bool(np.array_equal(matrix, matrix.T))


def matrix_of_frame(frame: Any, noun: str) -> tuple[tuple[str, ...], Any]:
    """Return the names of the items and the numbers of a square DataFrame.

    If the columns have names, they are put into the order of the rows.
    """
    labels, across = _axis_names(frame.index, "index"), _axis_names(frame.columns, "columns")
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


def _axis_names(index: Any, what: str) -> tuple[str, ...]:
    """Return the names in a DataFrame's index or columns; refuse repeated or empty ones."""
    if index.nlevels > 1:
        raise InvalidData(
            f"The {what} of the DataFrame {'has' if what == 'index' else 'have'} {index.nlevels} "
            "levels (a MultiIndex).",
            f"Join them: frame.{what} = frame.{what}.map(lambda each: ' '.join(map(str, each))).",
        )
    names = ["" if _is_missing(each) else cell_text(each) for each in index.tolist()]
    noun = "row" if what == "index" else "column"
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        if not name:
            raise InvalidData(f"The {noun} {at} of the DataFrame (from 0) has no name.")
        if name in seen:
            raise InvalidData(
                f"The name {quote(name)} occurs twice in the {what} of the DataFrame: {noun}s "
                f"{seen[name]} and {at} (from 0).",
                f"Each {noun} needs a different name"
                + ("; frame.reset_index(drop=True) numbers them." if noun == "row" else "."),
            )
        seen[name] = at
    return tuple(names)


def _check_column(name: str, column: Any, labels: tuple[str, ...]) -> None:
    """Raise an error if a value is not a number and not a category."""
    import pandas as pd

    types = pd.api.types
    times = types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column)
    if times or isinstance(column.dtype, pd.PeriodDtype):
        raise _dates_error(f"The column {quote(name)}")
    if types.is_complex_dtype(column):
        raise InvalidData(
            f"The column {quote(name)} holds complex numbers.", "Give real ones, or leave it out."
        )
    if column.dtype != object:
        return
    for label, value in zip(labels, column, strict=True):
        if isinstance(value, _PLAIN) or _is_missing(value) or name.lower() == "image":
            continue
        where = f"Row {quote(label)}, column {quote(name)}"
        if isinstance(value, _TIMES):
            raise _dates_error(where)
        raise InvalidData(
            f"{where} holds {type(value).__name__} {quote(str(value))}, which is neither a number "
            "nor a category.",
            "Turn it into numbers or text, or leave the column out.",
        )


def _dates_error(where: str) -> InvalidData:
    return InvalidData(
        f"{where} holds dates or times, which are neither numbers nor categories.",
        "Turn them into numbers (days since the first, say), or leave the column out.",
    )


def _is_missing(value: Any) -> bool:
    """Return True for None, NaN, NaT and pandas' NA."""
    import pandas as pd

    gap = pd.isna(value)
    return gap is True or (isinstance(gap, np.bool_) and bool(gap))


__all__ = [
    "FrameCells",
    "FrameFeatures",
    "categorical_columns",
    "cells_of_column",
    "cells_of_frame",
    "features_of_frame",
    "is_frame",
    "matrix_of_frame",
]
