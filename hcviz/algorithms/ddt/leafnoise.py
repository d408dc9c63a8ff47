"""The leaf noise of a run: given, learnt, or none; and its floor in each column."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.algorithms.ddt.parameters import number_or_auto
from hcviz.algorithms.ddt.work import Float
from hcviz.core.errors import InvalidData

#: Leaf noise of data with ties if it is not learnt, in units of sigma^2.
FIXED = 0.01
#: The range of the first value of a learnt noise.
FIRST = (0.01, 1.0)
#: Values of a column that differ by less than this share of its range are equal except for
#: rounding.
EQUAL = 1e-9


def resolutions(data: Float) -> Float:
    """Return the resolution of columns with ties, float64 (d,). O(n d log n).

    It is the smallest distance from a value that occurs twice or more to another value of its
    column. It is 0 for columns without ties, and inf for constant ones.

    Examples
    --------
    >>> resolutions(np.array([[0.0, 1.0, 0.5], [0.0, 1.0, 0.7], [3.0, 1.0, 0.4], [4.0, 1.0, 0.1]]))
    array([ 3., inf,  0.])
    """
    dims = data.shape[1]
    found = np.zeros(dims)
    for d in range(dims):
        values = np.sort(data[:, d])
        steps = np.diff(values)
        larger = steps > EQUAL * (values[-1] - values[0])
        if larger.all():
            continue
        if not larger.any():
            found[d] = np.inf
            continue
        group = np.concatenate([[0], np.cumsum(larger)])
        shared = np.bincount(group) > 1
        gaps = steps[larger]  # gap k is between groups k and k + 1
        found[d] = gaps[shared[:-1] | shared[1:]].min()
    return found


def floors(data: Float, scale: Float) -> Float:
    """Return the least noise variance of each column if the noise is learnt, float64 (d,).

    This is the variance of rounding to the column's resolution, resolution^2 / 12; 0 for columns
    without ties. A constant column has no resolution, and ``scale`` replaces its square. Such
    columns are used only if sigma is given.
    """
    resolution = resolutions(data)
    square = np.where(np.isinf(resolution), scale, np.where(resolution > 0, resolution, 0.0) ** 2)
    return square / 12.0


def equal_rows(data: Float) -> tuple[int, int] | None:
    """Return the first row that equals an earlier one, after that earlier one. O(n d)."""
    seen: dict[bytes, int] = {}
    for row, values in enumerate(data):
        first = seen.setdefault(values.tobytes(), row)
        if first != row:
            return first, row
    return None


def check_noise(data: Float, leaf_noise: Any) -> None:
    """Raise :class:`InvalidData` if the leaf noise is given as 0 and rows are equal. O(n d)."""
    if data.shape[1] and number_or_auto("leaf_noise", leaf_noise) == 0:
        rows = equal_rows(data)
        if rows is not None:
            raise InvalidData(
                f"Rows {rows[0]} and {rows[1]} of the features are equal: without leaf noise the "
                "density has no bound.",
                'Set leaf_noise to "auto" or to a positive number.',
            )


def unsaved_noise(data: Float) -> float:
    """Return the leaf noise of states without one, from files before it was learnt. O(n d)."""
    return FIXED if data.shape[1] and equal_rows(data) else 0.0


def is_learnt(data: Float, leaf_noise: Any, learn: bool) -> bool:
    """Return True if the leaf noise is learnt: "auto", sigma learnt, and a column with ties."""
    automatic = number_or_auto("leaf_noise", leaf_noise) is None
    return automatic and learn and bool(np.any(resolutions(data) > 0))


def first_noise(
    data: Float, leaf_noise: Any, learn: bool, scale: Float, saved: float | None
) -> tuple[float, Float | None]:
    """Return the first leaf noise of a chain, and the floors of its columns if it is learnt.

    ``saved`` is the noise of the state from which the chain continues. Without ties the noise is 0.
    If sigma is fixed (``learn`` is False), the noise is fixed, too.
    """
    number = number_or_auto("leaf_noise", leaf_noise)
    if number is not None:
        return number, None
    if not learn:
        resolution = resolutions(data)
        ties = np.any((resolution > 0) & np.isfinite(resolution)) or unsaved_noise(data) > 0
        return (saved or FIXED) if ties else 0.0, None
    if not is_learnt(data, leaf_noise, learn):
        return 0.0, None
    floor = floors(data, scale)
    tied = floor > 0
    return saved or float(np.clip(np.median(floor[tied] / scale[tied]), *FIRST)), floor
