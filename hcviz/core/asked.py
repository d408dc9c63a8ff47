"""What of all pairs of items was asked for: counted, and pooled into small pictures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core import oraclekernels as kernels
from hcviz.core.snapshot import Mask

Int = NDArray[np.int32]


def count(mask: Mask, n: int) -> int:
    """Distinct pairs of n items, those of an item with itself left out.

    Some 3 ns for each similarity in a request; O(n) memory.
    """
    return _sweep(mask, np.zeros(n, np.int32), 0)[0]


def cells(mask: Mask, place: Int, size: int) -> NDArray[np.int64]:
    """How many distinct pairs are asked for between groups, int64 (size, size), upper triangle.

    Item x is of group ``place[x]``, of none where that is -1. Time as :func:`count`, of the
    requests without the items of no group, and a look at every item named; O(n + size^2) memory.
    """
    if (place < 0).any():
        mask = _within(mask, place >= 0)
    return _sweep(mask, place, size)[1]


def shares(mask: Mask, place: Int, size: int) -> NDArray[np.float64]:
    """The share of the similarities between groups that is known: float64 (size, size), symmetric.

    As :func:`cells`; an item's similarity to itself is known, and a group without items knows all
    of its own.
    """
    held = np.bincount(place[place >= 0], minlength=size)
    return np.asarray(kernels.known_shares(cells(mask, place, size), held))


def _within(mask: Mask, kept: NDArray[np.bool_]) -> Mask:
    """The requests, of items that are kept."""
    sides: list[NDArray[np.int32] | NDArray[np.int64]] = []
    for items, offsets in ((mask.rows, mask.row_offsets), (mask.cols, mask.col_offsets)):
        stays = kept[items]
        sides += [items[stays], np.concatenate([[0], np.cumsum(stays)]).astype(np.int64)[offsets]]
    return Mask(*sides)  # type: ignore[arg-type]


def _sweep(mask: Mask, place: Int, size: int) -> tuple[int, NDArray[np.int64]]:
    n = len(place)
    row_start, row_request = kernels.group_requests(mask.rows, mask.row_offsets, n)
    col_start, col_request = kernels.group_requests(mask.cols, mask.col_offsets, n)
    drawn = np.zeros((size, size), np.int64)
    found = kernels.distinct_pairs(
        0, n, mask.rows, mask.row_offsets, row_start, row_request,
        mask.cols, mask.col_offsets, col_start, col_request, place, drawn,
    )  # fmt: skip
    return int(found), drawn


__all__ = ["cells", "count", "shares"]
