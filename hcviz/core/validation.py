"""Check that a caller's values are integers. Fractions and boolean masks are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import HcvizError


def check_integers(values: ArrayLike, what: str, error: type[HcvizError]) -> NDArray[Any]:
    """Return ``values`` as an array of integers.

    Parameters
    ----------
    values : array-like
        Integers of any width, or floats without a fraction (2.0 is 2).
    what : str
        What the values are; the subject of the error message.
    error : type
        The exception to raise.

    Returns
    -------
    ndarray of an integer type
        The same array if ``values`` is an integer array.

    Raises
    ------
    error
        For ragged rows, texts, fractions, NaN, and booleans.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise error(f"{what} must be whole numbers, in rows of one length.") from None
    if array.size == 0:
        return np.empty(array.shape, np.int64)
    if array.dtype.kind == "b":
        raise error(
            f"{what} must be whole numbers, not true and false.",
            "For a mask give numpy.flatnonzero(mask).",
        )
    if array.dtype.kind == "f":
        wrong = array[~(np.abs(array) < 2.0**63) | (np.floor(array) != array)]
        if wrong.size:
            raise error(f"{what} must be whole numbers, not {wrong[0]:g}.")
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise error(f"{what} must be whole numbers.")
    return array


def check_integer(value: Any, what: str, error: type[HcvizError], low: int = 0) -> int:
    """Return ``value`` as an int of at least ``low``, or raise ``error``.

    ``what`` is the subject of the error message.
    """
    array = check_integers(value, what, error)
    if array.ndim or array.size != 1 or array < low:
        raise error(f"{what} must be a whole number of {low} or more, not {value!r}.")
    return int(array)
