"""Linkages under constraints: agglomerative clustering with only the merges that they allow."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import is_valid_y, squareform

from hcviz.core import linkagekernels as kernels
from hcviz.core.build import build
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.groups import Groups, Nesting
from hcviz.core.triplets import Triplets

Int = NDArray[np.int32]
Float = NDArray[np.float64]

Method = Literal["average", "single", "complete", "ward"]
_CODES = {
    "average": kernels.AVERAGE,
    "single": kernels.SINGLE,
    "complete": kernels.COMPLETE,
    "ward": kernels.WARD,
}

#: The largest distance. Its square, times the number of items, is a finite float64.
MAX_DISTANCE = 1e150


def constrained_linkage(
    distances: ArrayLike, method: Method, triplets: Any = None, groups: Any = None
) -> Float:
    """Compute a linkage matrix (as scipy's) whose tree satisfies all triplets and groups.

    Parameters
    ----------
    distances : float64 (n (n - 1) / 2,)
        Condensed distances from 0 to 1e150. Ward's linkage reads them as Euclidean distances.
    method : str
        ``"average"``, ``"single"``, ``"complete"`` or ``"ward"``.
    triplets : Triplets or int (m, 3), optional
        ab|c rows over items 0..n-1.
    groups : Groups or sets of items, optional
        Sets of items that must be clades.

    Returns
    -------
    float64 (n - 1, 4)
        A linkage matrix, rows in order of height. ``Tree.from_linkage`` reads it.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all triplets and groups. The error has a minimal conflict.
    InvalidConstraint
        A row or a group is not valid.
    InvalidData, InvalidParameter
        The distances are not condensed, or the method is unknown.

    Notes
    -----
    A merge is allowed if the triplets, with clusters contracted, still have a tree (BUILD), and if
    both clusters are parts of the same smallest group (or of none) that is not yet merged. The
    nearest allowed pair is merged; of equally near pairs the one with the lowest first items. Some
    pair is always allowed. Without triplets the merges are those of scipy, up to ties.

    A pair that is forbidden at first may be merged later, when the tree is already higher than the
    pair's linkage value. Therefore the height of a node is the maximum of its linkage value and
    the heights of its children.

    O(n^2) memory: one float64 (n, n). Usually O(n^2) time, at worst O(n^3), plus BUILD for each
    tested pair. A pair is tested only if it is the nearest and triplets name both clusters.

    References
    ----------
    Aho, Sagiv, Szymanski and Ullman (1981); Müllner (2011).

    Examples
    --------
    The triplet 12|0 forbids to merge the nearest pair, 0 and 1, first:

    >>> from hcviz.core.constrained import constrained_linkage
    >>> constrained_linkage([1.0, 4.0, 3.0], "single", [[1, 2, 0]])
    array([[1., 2., 3., 2.],
           [0., 3., 3., 3.]])
    """
    if method not in _CODES:
        raise InvalidParameter(
            f"There is no linkage {method!r}.", f"Choose one of: {', '.join(_CODES)}."
        )
    try:
        condensed = np.asarray(distances, dtype=np.float64)
    except (TypeError, ValueError):
        condensed = np.full(1, np.nan)
    if (
        not condensed.size
        or not is_valid_y(condensed)
        or not (condensed.min() >= 0 and condensed.max() <= MAX_DISTANCE)
    ):
        raise InvalidData(
            "A linkage needs condensed distances: n (n - 1) / 2 numbers from 0 to "
            f"{MAX_DISTANCE:g}.",
            "scipy.spatial.distance.pdist and squareform make them.",
        )
    square = squareform(condensed, checks=False)
    if method == "ward":
        np.square(square, out=square)
    elif np.signbit(condensed).any():
        np.abs(square, out=square)  # in the kernel, -0.0 means a forbidden pair
    known = Groups.of(groups, len(square))
    rows = Triplets.of(triplets, len(square)).rows.copy()
    if len(rows) or len(known):
        build(len(square), rows, known)  # raises InconsistentTriplets
    nesting = Nesting(known, len(square))
    if len(known):
        rows = nesting.slots(rows)
    first, second, value, _ = kernels.merges(
        square, _CODES[method], rows, nesting.home, nesting.over, nesting.size
    )
    return _linkage_matrix(first, second, np.sqrt(value) if method == "ward" else value)


def _linkage_matrix(first: Int, second: Int, value: Float) -> Float:
    """Convert the merges of :mod:`linkagekernels` to a linkage matrix with monotone heights."""
    n = len(first) + 1
    slots = list(zip(first.tolist(), second.tolist(), strict=True))
    height = []
    top = [0.0] * n
    for (p, q), each in zip(slots, value.tolist(), strict=True):
        top[p] = max(each, top[p], top[q])
        height.append(top[p])
    cluster = list(range(n))
    size = [1] * n
    table: list[tuple[float, ...]] = []
    for step in np.argsort(height, kind="stable").tolist():
        p, q = slots[step]
        size[p] += size[q]
        low, high = sorted((cluster[p], cluster[q]))
        cluster[p] = n + len(table)
        table.append((low, high, height[step], size[p]))
    return np.array(table, dtype=np.float64)


def warm() -> None:
    """Compile the kernels, or load them from the cache."""
    constrained_linkage([1.0, 4.0, 3.0], "ward", [[1, 2, 0]])


__all__ = ["Method", "constrained_linkage"]
