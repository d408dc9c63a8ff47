"""Convert new rows of a table to the features that its items have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.column_kinds import TRUTH
from hcviz.core.errors import InvalidData
from hcviz.core.table_cells import cell_text, is_missing, parse, quote
from hcviz.core.text import count_noun, join_names

Float = NDArray[np.float64]

#: Names of columns in a sentence, at most.
NAMES = 5


def matching_rows(
    columns: Mapping[str, Any],
    rows: Sequence[str],
    features: Sequence[str],
    separator: str,
    notes: list[str],
) -> Float:
    """Return the features of new rows, in the order of the features of the table.

    Parameters
    ----------
    columns : mapping of str to ndarray (m,)
        The cells of each column of the new rows: float64, or str ("" where missing).
    rows : sequence of m str
        Names of the new rows, for messages.
    features : sequence of str
        Names of the table's features. ``column=value`` is one value of a category.
    separator : str
        The separator of the new table; see :func:`hcviz.core.table_columns.column_features`.
    notes : list of str
        Sentences are appended about extra columns, missing ones and unknown values.

    Returns
    -------
    float64 (m, d)
        NaN for missing cells and missing columns.

    Raises
    ------
    InvalidData
        If a cell of a numeric column is a text, or no column is one of the table.
    """
    found = np.full((len(rows), len(features)), np.nan)
    values: dict[str, dict[str, int]] = {}  # column -> its values -> their features
    used: set[str] = set()
    missing: list[str] = []
    for k, feature in enumerate(features):
        if feature in columns:
            found[:, k] = _numbers(feature, columns[feature], rows, separator, notes)
            used.add(feature)
            continue
        parts = feature.split("=")
        ends = ["=".join(parts[:cut]) for cut in range(len(parts) - 1, 0, -1)]
        column = next((end for end in ends if end in columns), None)
        if column is not None:
            values.setdefault(column, {})[feature[len(column) + 1 :]] = k
        else:
            missing.append(ends[-1] if ends else feature)
    for column, places in values.items():
        used.add(column)
        _fill_category(column, columns[column], places, found, notes)
    if not used:
        raise InvalidData(
            f"The new rows have none of the columns of the table: {_listed(missing)}.",
            "Name the columns as they are named there.",
        )
    extra = [name for name in columns if name not in used]
    if extra:
        notes.append(f"{count_noun(len(extra), 'other column')} ignored: {_listed(extra)}.")
    if missing:
        unique = list(dict.fromkeys(missing))
        notes.append(
            f"{count_noun(len(unique), 'column')} missing in the new rows: {_listed(unique)}. "
            "The means of the table are used."
        )
    return found


def _numbers(name: str, cells: Any, rows: Sequence[str], separator: str, notes: list[str]) -> Float:
    values = parse(cells, separator)
    unread = [k for k in np.flatnonzero(np.isnan(values)).tolist() if not is_missing(cells[k])]
    for row in unread:
        values[row] = TRUTH.get(cell_text(cells[row]).lower(), np.nan)
    wrong = [row for row in unread if np.isnan(values[row])]
    if wrong and np.isnan(values).all():  # dates or texts, which only the table's reader knows
        notes.append(f"The column {quote(name)} has no numbers in the new rows and is not used.")
    elif wrong:
        raise InvalidData(
            f"{quote(rows[wrong[0]])}, column {quote(name)} holds the text "
            f"{quote(cell_text(cells[wrong[0]]))}, where the table has numbers.",
            "Correct the cell, or leave it empty.",
        )
    return values


def _fill_category(
    name: str, cells: Any, places: Mapping[str, int], found: Float, notes: list[str]
) -> None:
    """Set the 0/1 features of a category; a value that the table lacks is 0 in all of them."""
    unknown: list[str] = []
    for row, cell in enumerate(cells):
        if is_missing(cell):
            continue
        found[row, list(places.values())] = 0.0
        text = cell_text(cell)
        if text in places:
            found[row, places[text]] = 1.0
        else:
            unknown.append(text)
    if unknown:
        notes.append(
            f"The column {quote(name)} has values that the table lacks: "
            f"{_listed(list(dict.fromkeys(unknown)))}."
        )


def _listed(names: Sequence[str]) -> str:
    return join_names([quote(name) for name in names[:NAMES]], NAMES, len(names))


__all__ = ["matching_rows"]
