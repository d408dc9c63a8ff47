"""Whole numbers from whatever a caller gives: nothing is cut off, no mask is read as indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import HcvizError


def whole_numbers(values: ArrayLike, what: str, fault: type[HcvizError]) -> NDArray[Any]:
    """``values`` as an array of integers of any width (2.0 is 2); the same array if it is one.

    ``fault`` names ``what``: ragged rows, texts, fractions, NaN, true and false.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise fault(f"{what} must be whole numbers, in rows of one length.") from None
    if array.size == 0:
        return np.empty(array.shape, np.int64)
    if array.dtype.kind == "b":
        raise fault(
            f"{what} must be whole numbers, not true and false.",
            "For a mask give numpy.flatnonzero(mask).",
        )
    if array.dtype.kind == "f":
        wrong = array[~(np.abs(array) < 2.0**63) | (np.floor(array) != array)]
        if wrong.size:
            raise fault(f"{what} must be whole numbers, not {wrong[0]:g}.")
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise fault(f"{what} must be whole numbers.")
    return array


def whole_number(value: Any, what: str, fault: type[HcvizError], low: int = 0) -> int:
    """``value`` as an int of ``low`` or more; ``fault`` names ``what``."""
    array = whole_numbers(value, what, fault)
    if array.ndim or array.size != 1 or array < low:
        raise fault(f"{what} must be a whole number of {low} or more, not {value!r}.")
    return int(array)
