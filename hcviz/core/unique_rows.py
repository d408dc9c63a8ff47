"""Find the unique rows of an integer array, faster than ``np.unique(axis=0)``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


def unique_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Indices, Indices]:
    """Return the unique rows of an integer array.

    Parameters
    ----------
    rows : int (m, width)
        An array of any integer type.

    Returns
    -------
    unique : (u, width), of the same dtype
        Each row once, in increasing order.
    first : int64 (u,)
        The index of the first occurrence of each.
    inverse : int64 (m,)
        ``unique[inverse]`` equals ``rows``.

    Notes
    -----
    The result is that of ``np.unique(rows, axis=0, return_index=True, return_inverse=True)``. If
    all numbers are 0 or more and a row fits into 63 bits, rows are sorted as single numbers;
    otherwise column by column. O(m log m).
    """
    m, width = rows.shape
    base = int(rows.max(initial=0)) + 1
    if rows.min(initial=0) >= 0 and base**width < 2**63:
        key = np.zeros(m, np.int64)
        for column in rows.T:
            # The values fit into int64; a sum of uint64 and int64 would be a float.
            key = key * base + column.astype(np.int64, casting="same_kind")
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        is_new = ordered[1:] != ordered[:-1]
    else:
        order = np.lexsort(rows.T[::-1])
        is_new = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    is_new = np.concatenate([np.ones(min(m, 1), bool), is_new])
    inverse = np.empty(m, np.int64)
    inverse[order] = np.cumsum(is_new) - 1
    first = order[is_new]
    return rows[first], first, inverse


__all__ = ["unique_rows"]
