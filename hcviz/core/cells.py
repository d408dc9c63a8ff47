"""Cells of a table: which are missing, which are numbers, and how sentences quote them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

#: No cell may be larger: squares, and sums of them, must stay finite.
LARGEST = 1e100
#: What an empty cell may look like.
MISSING_WORDS = frozenset({"", "?", "-", "na", "n/a", "#n/a", "nan", "null", "none", "missing"})

_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")


def parse(cells: Any, separator: str) -> Float:
    """The numbers of a column, float64, NaN where a cell is missing or no number."""
    if cells.dtype != object:
        return np.asarray(cells, dtype=np.float64)
    values = _numbers(cells)
    if separator != ",":
        odd = np.flatnonzero(np.isnan(values))
        turned = [_with_point(cells[row]) for row in odd.tolist()]
        if any(turned):
            values[odd] = _numbers(np.array(turned, dtype=object))
    return values


def _numbers(cells: Any) -> Float:
    import pandas as pd  # slow to import, and only tables need it

    # Without a pandas.Series around the cells: that takes longer than to read a few of them.
    return np.array(pd.to_numeric(np.asarray(cells, dtype=object), errors="coerce"), np.float64)


def _with_point(cell: Any) -> str:
    """1,5 as 1.5; "" for what is no number with a decimal comma."""
    return cell.replace(",", ".") if isinstance(cell, str) and _COMMA.fullmatch(cell) else ""


def is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING_WORDS
    return isinstance(cell, float) and cell != cell


def shown(cell: Any) -> str:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace").strip()
    return word(cell).strip()


def word(cell: Any) -> str:
    """A cell as people write it: 3, not 3.0."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return "" if isinstance(cell, float) and cell != cell else str(cell)


def quote(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."
    return repr(" ".join(short.split()))


def unused(name: str, taken: dict[str, Any]) -> str:
    made, k = name, 2
    while made in taken:
        made, k = f"{name} ({k})", k + 1
    return made


__all__ = ["LARGEST", "MISSING_WORDS", "is_missing", "parse", "quote", "shown", "unused", "word"]
