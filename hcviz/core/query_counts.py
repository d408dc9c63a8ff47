"""Count the pairs of items whose similarity a method asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core import oraclekernels as kernels
from hcviz.core.snapshot import Mask

Int = NDArray[np.int32]


def count_pairs(mask: Mask, n: int) -> int:
    """Count the distinct pairs of ``n`` items in a query mask.

    Parameters
    ----------
    mask : Mask
        The requests.
    n : int
        Number of items.

    Returns
    -------
    int
        Pairs of an item with itself are not counted.

    Notes
    -----
    About 3 ns for each similarity in a request; O(n) memory.
    """
    return _count(mask, np.zeros(n, np.int32), 0)[0]


def pairs_between_groups(mask: Mask, group: Int, n_groups: int) -> NDArray[np.int64]:
    """Count the distinct pairs in a query mask for every two groups of items.

    Parameters
    ----------
    mask : Mask
        The requests.
    group : int32 (n,)
        The group of each item, from 0; -1 for an item without a group.
    n_groups : int
        Number of groups, k.

    Returns
    -------
    int64 (k, k)
        Only the upper triangle is filled.

    Notes
    -----
    Time as for :func:`count_pairs`; O(n + k^2) memory.
    """
    if (group < 0).any():
        mask = _restrict(mask, group >= 0)
    return _count(mask, group, n_groups)[1]


def known_shares(mask: Mask, group: Int, n_groups: int) -> NDArray[np.float64]:
    """Compute the share of known similarities for every two groups of items.

    Parameters are those of :func:`pairs_between_groups`.

    Returns
    -------
    float64 (k, k)
        Symmetric. The similarity of an item to itself counts as known. A group without items has
        the share 1.
    """
    sizes = np.bincount(group[group >= 0], minlength=n_groups)
    return np.asarray(kernels.known_shares(pairs_between_groups(mask, group, n_groups), sizes))


def _restrict(mask: Mask, kept: NDArray[np.bool_]) -> Mask:
    """Remove the items that are not ``kept`` from all requests."""
    sides: list[NDArray[np.int32] | NDArray[np.int64]] = []
    for items, offsets in ((mask.rows, mask.row_offsets), (mask.cols, mask.col_offsets)):
        stays = kept[items]
        sides += [items[stays], np.concatenate([[0], np.cumsum(stays)]).astype(np.int64)[offsets]]
    return Mask(*sides)  # type: ignore[arg-type]


def _count(mask: Mask, group: Int, n_groups: int) -> tuple[int, NDArray[np.int64]]:
    """Return the number of distinct pairs, and their numbers between groups."""
    n = len(group)
    row_start, row_request = kernels.group_requests(mask.rows, mask.row_offsets, n)
    col_start, col_request = kernels.group_requests(mask.cols, mask.col_offsets, n)
    between = np.zeros((n_groups, n_groups), np.int64)
    found = kernels.distinct_pairs(
        0, n, mask.rows, mask.row_offsets, row_start, row_request,
        mask.cols, mask.col_offsets, col_start, col_request, group, between,
    )  # fmt: skip
    return int(found), between


__all__ = ["count_pairs", "known_shares", "pairs_between_groups"]
