"""Features made of the columns of a table: numbers as they are, categories as 0/1 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.cells import LARGEST, is_missing, parse, quote, shown
from hcviz.core.errors import InvalidData

Float = NDArray[np.float64]

#: A text column with more different values than this is no category, and is left out.
MAX_CATEGORIES = 50
#: Nor is one that holds longer texts.
MAX_WORD = 100
#: Columns with these names are classes: shown as colours, not given to any method.
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
    """The feature columns, (name, values, kind), that one column of a table makes.

    Parameters
    ----------
    name : str
    cells : array (n,)
        Of float64 (NaN where missing), or of str ("" where missing).
    rows : sequence of n
        What a sentence calls each row.
    separator : str
        What stands between cells; a decimal comma is understood unless it is a comma.
    notes : list of str
        Gets a sentence where the column is left out.
    category : bool
        Its values are categories even where they are numbers.

    Returns
    -------
    list of (str, float64 (n,), str)
        One of kind ``number`` or ``binary``, or one of kind ``category`` for each value; none where
        the column is left out.

    Raises
    ------
    InvalidData
        Where text stands among numbers, or a number is too large.
    """
    values = parse(cells, separator)
    gaps = np.isnan(values)
    gaps[gaps] = [is_missing(cell) for cell in cells[gaps]]
    present = int((~gaps).sum())
    if not present:
        notes.append(f"The column {quote(name)} is empty and was left out.")
        return []
    wrong = np.flatnonzero(np.isnan(values) & ~gaps)
    if not wrong.size and not category:
        what = "binary" if np.isin(values[~gaps], (0.0, 1.0)).all() else "number"
        return [(name, _checked(name, values, rows), what)]
    words = [None if gap else shown(cell) for gap, cell in zip(gaps, cells, strict=True)]
    if all(w is None or w.lower() in _TRUTH for w in words):
        truth = [np.nan if w is None else _TRUTH[w.lower()] for w in words]
        return [(name, np.array(truth), "binary")]
    if wrong.size <= present / 2 and not category:
        row = int(wrong[0])
        more = f" ({wrong.size} such cells in all)" if wrong.size > 1 else ""
        raise InvalidData(
            f"Row {rows[row]}, column {quote(name)} holds the text {quote(shown(cells[row]))} "
            f"among numbers{more}.",
            "Correct the cell, or leave it empty where the number is not known.",
        )
    found = sorted({w for w in words if w is not None})
    prose = max(map(len, found)) > MAX_WORD
    if prose or len(found) > MAX_CATEGORIES or (len(found) == present and present > 2):
        notes.append(
            f"The column {quote(name)} holds {len(found)} different texts and was left out."
        )
        return []
    place = {value: k for k, value in enumerate(found)}
    codes = np.array([-1 if w is None else place[w] for w in words])
    return [
        (f"{name}={value}", np.where(gaps, np.nan, (codes == k).astype(float)), "category")
        for value, k in place.items()
    ]


def is_classes(name: str, cells: Any) -> bool:
    """Whether a column holds classes: by its name, and since few of its values differ."""
    if name.lower() not in CLASS_NAMES:
        return False
    different = len({shown(cell) for cell in cells if not is_missing(cell)})
    return 0 < different <= max(MAX_CATEGORIES, 2) and (different < len(cells) or different <= 2)


def column_mean(features: Float) -> Float:
    """The features with each NaN replaced by the mean of its column, or 0 in an empty column."""
    present = ~np.isnan(features)
    total = np.where(present, features, 0.0).sum(axis=0)
    return np.where(present, features, total / np.maximum(present.sum(axis=0), 1))


def _checked(name: str, values: Float, rows: Sequence[Any] | NDArray[Any]) -> Float:
    wrong = np.flatnonzero(np.abs(values) > LARGEST)
    if wrong.size:
        row = int(wrong[0])
        raise InvalidData(
            f"Row {rows[row]}, column {quote(name)} holds {values[row]:g}, too large to reckon "
            "with.",
            f"Numbers may go up to {LARGEST:g}.",
        )
    return values


__all__ = ["CLASS_NAMES", "MAX_CATEGORIES", "column_features", "column_mean", "is_classes"]
