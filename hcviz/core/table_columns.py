"""Convert the columns of a table to features: numbers, and categories as 0/1 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.table_cells import MAX_NUMBER, cell_text, is_missing, parse, quote

Float = NDArray[np.float64]

#: A text column with more different values is not a category and is left out.
MAX_CATEGORIES = 50
#: A text column with a longer text (in characters) is not a category and is left out.
MAX_TEXT = 100
#: Columns with these names are classes: drawn as colours, and not used by methods.
CLASS_NAMES = frozenset({"class", "classes", "label", "labels", "species"})

_TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def column_features(
    name: str,
    cells: Any,
    rows: Sequence[Any] | NDArray[Any],
    separator: str,
    notes: list[str],
    category: bool = False,
) -> list[tuple[str, Float, str]]:
    """Convert one column of a table to feature columns.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : ndarray (n,)
        Of float64 (NaN where missing), or of str ("" where missing).
    rows : sequence of n
        Names of the rows, for messages.
    separator : str
        The separator of the table. Decimal commas are read unless it is a comma.
    notes : list of str
        A sentence is appended if the column is left out.
    category : bool
        True: the values are categories even if they are numbers.

    Returns
    -------
    list of (name, float64 (n,), kind)
        One column of the kind ``number`` or ``binary``, or one of the kind ``category`` for each
        value. Empty if the column is left out.

    Raises
    ------
    InvalidData
        A column of numbers has a text, or a number is too large.
    """
    values = parse(cells, separator)
    missing = np.isnan(values)
    missing[missing] = [is_missing(cell) for cell in cells[missing]]
    present = int((~missing).sum())
    if not present:
        notes.append(f"The column {quote(name)} is empty and was left out.")
        return []
    wrong = np.flatnonzero(np.isnan(values) & ~missing)
    if not wrong.size and not category:
        kind = "binary" if np.isin(values[~missing], (0.0, 1.0)).all() else "number"
        return [(name, _check_size(name, values, rows), kind)]
    words = [None if gap else cell_text(cell) for gap, cell in zip(missing, cells, strict=True)]
    if all(w is None or w.lower() in _TRUTH for w in words):
        truth = [np.nan if w is None else _TRUTH[w.lower()] for w in words]
        return [(name, np.array(truth), "binary")]
    if wrong.size <= present / 2 and not category:
        row = int(wrong[0])
        more = f" ({wrong.size} such cells in all)" if wrong.size > 1 else ""
        raise InvalidData(
            f"Row {rows[row]}, column {quote(name)} holds the text {quote(cell_text(cells[row]))} "
            f"among numbers{more}.",
            "Correct the cell, or leave it empty where the number is not known.",
        )
    found = sorted({w for w in words if w is not None})
    long_texts = max(map(len, found)) > MAX_TEXT
    if long_texts or len(found) > MAX_CATEGORIES or (len(found) == present and present > 2):
        notes.append(
            f"The column {quote(name)} holds {len(found)} different texts and was left out."
        )
        return []
    place = {value: k for k, value in enumerate(found)}
    codes = np.array([-1 if w is None else place[w] for w in words])
    return [
        (f"{name}={value}", np.where(missing, np.nan, (codes == k).astype(float)), "category")
        for value, k in place.items()
    ]


def is_classes(name: str, cells: Any) -> bool:
    """Return True if a column has the name of a class column and few different values."""
    if name.lower() not in CLASS_NAMES:
        return False
    different = len({cell_text(cell) for cell in cells if not is_missing(cell)})
    return 0 < different <= max(MAX_CATEGORIES, 2) and (different < len(cells) or different <= 2)


def column_mean(features: Float) -> Float:
    """Replace each NaN by the mean of its column, or by 0 if the column is empty."""
    present = ~np.isnan(features)
    total = np.where(present, features, 0.0).sum(axis=0)
    return np.where(present, features, total / np.maximum(present.sum(axis=0), 1))


def _check_size(name: str, values: Float, rows: Sequence[Any] | NDArray[Any]) -> Float:
    wrong = np.flatnonzero(np.abs(values) > MAX_NUMBER)
    if wrong.size:
        row = int(wrong[0])
        raise InvalidData(
            f"Row {rows[row]}, column {quote(name)} holds {values[row]:g}, which is too large.",
            f"Numbers may go up to {MAX_NUMBER:g}.",
        )
    return values


__all__ = ["CLASS_NAMES", "MAX_CATEGORIES", "column_features", "column_mean", "is_classes"]
