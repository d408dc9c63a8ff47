"""Reading of a square matrix of similarities or distances from a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.similarity import from_distance
from hcviz.core.text import count_noun
from hcviz.io.cells import (
    MAX_NUMBER,
    cell_text,
    is_missing,
    parse,
    quote,
    with_first_row,
)
from hcviz.io.rawtable import RawTable

Float = NDArray[np.float64]
Rows = NDArray[np.int64]

_USE_SIMILARITY = "If larger means more alike, open it as a similarity matrix."


def read_matrix(
    raw: RawTable, kind: str, notes: list[str]
) -> tuple[tuple[str, ...], Float, Float | None]:
    """Return ``(labels, similarity, distance)`` of a table of the kind similarity or distance.

    Both matrices are float64 (n, n); ``distance`` is None for a table of similarities. Labels are
    in the first row, the first column, both (in any order) or neither. The diagonal may be empty.
    The function adds sentences to ``notes``. O(n^2).

    Raises
    ------
    InvalidData
        If the matrix is not square, symmetric and complete, or a distance is negative.
    """
    labels, column_names, columns, rows = _split(raw, notes)
    n = len(labels)
    if len(columns) != n:
        raise InvalidData(
            f"A {kind} matrix must be square; this one has {count_noun(n, 'row')} and "
            f"{count_noun(len(columns), 'column')} of numbers.",
            "Rows and columns must be the same items, with names in the first row and column.",
        )
    if n < 2:
        raise InvalidData("The matrix has only one item.", "A hierarchy needs two or more.")
    _check_names(labels, rows, "row")
    if column_names is not None and column_names != labels:
        _check_names(column_names, np.arange(1, n + 1), "column")
        if set(column_names) != set(labels):
            k = next(k for k in range(n) if column_names[k] != labels[k])
            raise InvalidData(
                f"Row {rows[k]} is {quote(labels[k])}, but its column is {quote(column_names[k])}.",
                "Rows and columns must be the same items.",
            )
        place = {name: k for k, name in enumerate(column_names)}
        columns = [columns[place[name]] for name in labels]
        notes.append("The columns were put into the order of the rows.")
    matrix = np.column_stack([parse(cells, raw.separator) for cells in columns])
    for k in range(n):
        if is_missing(columns[k][k]):
            matrix[k, k] = 0.0 if kind == "distance" else np.nanmax(matrix, initial=-np.inf)
    _check_numbers(matrix, columns, labels, rows, kind)
    if kind == "distance":
        _check_distances(matrix, labels, rows)
    matrix = (matrix + matrix.T) / 2.0
    if kind == "distance":
        notes.append(
            "The heatmap shows distances d as similarities (max d - d) / max d. Linkages and "
            "methods for dissimilarities use the distances."
        )
        np.fill_diagonal(matrix, 0.0)
        return tuple(labels), from_distance(matrix), matrix
    return tuple(labels), matrix, None


def _split(raw: RawTable, notes: list[str]) -> tuple[list[str], list[str] | None, list[Any], Rows]:
    """Return ``(row names, column names or None, columns of numbers, row numbers)``."""
    columns, rows = raw.columns, raw.rows
    column_names = raw.names
    if raw.first_cells is not None:
        number = ~np.isnan(parse(np.array(raw.first_cells, dtype=object), raw.separator))
        square_without = len(columns) == len(rows) + (0 if number[0] else 1)
        # A first row of numbers holds names if the rest is square without it.
        if square_without or not number[1:].any():
            column_names = list(raw.first_cells)
        else:
            columns, rows = with_first_row(raw)
    if rows.size and np.isnan(parse(columns[0], raw.separator)[1:]).any():
        named = True
    else:
        named = len(columns) == len(rows) + 1
    if named:
        labels = [cell_text(cell) for cell in columns[0]]
        return labels, None if column_names is None else [*column_names[1:]], columns[1:], rows
    if column_names is not None and len(column_names) == len(rows):
        return [name.strip() for name in column_names], None, columns, rows
    if len(columns) == len(rows):
        notes.append("The matrix has no names, so items are named by their row numbers.")
    return [f"row {row}" for row in rows], None, columns, rows


def _check_names(names: list[str], rows: Rows, what: str) -> None:
    seen: dict[str, int] = {}
    for name, row in zip(names, rows.tolist(), strict=True):
        if not name:
            raise InvalidData(f"The {what} {row} has no name.", "Give every item a name.")
        if name in seen:
            raise InvalidData(
                f"The name {quote(name)} occurs twice, in {what}s {seen[name]} and {row}.",
                "Give each item a different name.",
            )
        seen[name] = row


def _check_numbers(
    matrix: Float, columns: list[Any], labels: list[str], rows: Rows, kind: str
) -> None:
    wrong = np.argwhere(~np.isfinite(matrix) | (np.abs(matrix) > MAX_NUMBER))
    if wrong.size:
        i, j = (int(k) for k in wrong[0])
        cell = columns[j][i]
        what = (
            "is empty" if is_missing(cell) else f"is {quote(cell_text(cell))}, not a usable number"
        )
        raise InvalidData(
            f"Row {rows[i]} ({quote(labels[i])}), column {quote(labels[j])} of the matrix {what}.",
            f"A {kind} matrix needs a number for each pair of items.",
        )
    gap = np.abs(matrix - matrix.T)
    if gap.max() > 1e-6 * np.abs(matrix).max():  # smaller gaps come from rounding in print
        i, j = sorted(int(k) for k in np.unravel_index(int(gap.argmax()), gap.shape))
        raise InvalidData(
            f"The matrix is not symmetric: from {quote(labels[i])} to {quote(labels[j])} it has "
            f"{matrix[i, j]:g} (row {rows[i]}), and back {matrix[j, i]:g} (row {rows[j]}).",
            "Make it symmetric, for instance by averaging both directions.",
        )


def _check_distances(matrix: Float, labels: list[str], rows: Rows) -> None:
    negative = np.argwhere(matrix < 0)
    if negative.size:
        i, j = (int(k) for k in negative[0])
        raise InvalidData(
            f"The distance in row {rows[i]} ({quote(labels[i])}), column {quote(labels[j])} is "
            f"negative: {matrix[i, j]:g}.",
            _USE_SIMILARITY,
        )
    own = np.flatnonzero(np.diag(matrix) > 1e-6 * matrix.max())
    if own.size:
        i = int(own[0])
        raise InvalidData(
            f"In row {rows[i]}, the distance of {quote(labels[i])} to itself is "
            f"{matrix[i, i]:g}, not 0.",
            _USE_SIMILARITY,
        )


__all__ = ["read_matrix"]
