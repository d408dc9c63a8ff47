"""Different rows of whole numbers: what ``np.unique(axis=0)`` finds, many times faster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def different_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Places, Places]:
    """``(unique, first, which)`` of ``rows``, whole numbers (m, width).

    ``unique`` (u, width), of the same dtype: each row once, in increasing order; ``first`` int64
    (u,): where each stands first; ``which`` int64 (m,): ``unique[which]`` are the rows. As
    ``np.unique(rows, axis=0, return_index=True, return_inverse=True)`` has them, which compares
    rows byte by byte. A row is sorted as one number where all fit into 63 bits, none negative;
    column by column otherwise. O(m log m).
    """
    m, width = rows.shape
    base = int(rows.max(initial=0)) + 1
    if rows.min(initial=0) >= 0 and base**width < 2**63:
        key = np.zeros(m, np.int64)
        for column in rows.T:
            # What fits is the same as int64; with uint64 itself the sum would be of floats.
            key = key * base + column.astype(np.int64, casting="same_kind")
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        fresh = ordered[1:] != ordered[:-1]
    else:
        order = np.lexsort(rows.T[::-1])
        fresh = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    fresh = np.concatenate([np.ones(min(m, 1), bool), fresh])
    which = np.empty(m, np.int64)
    which[order] = np.cumsum(fresh) - 1
    first = order[fresh]
    return rows[first], first, which


__all__ = ["different_rows"]
