"""What a method yields: ``Snapshot``, and the closed set of views it may carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree


@dataclass(frozen=True)
class Series:
    """A line: ``y`` against ``x`` (both float64 (k,)), with the names of the axes."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    x_label: str = ""
    y_label: str = ""


@dataclass(frozen=True)
class Matrix:
    """A picture of numbers, float64 (r, c); ``items`` says that both sides are the items."""

    values: NDArray[np.float64]
    items: bool = False


@dataclass(frozen=True)
class Graph:
    """Nodes 0..k-1 with names, and int32 (e, 2) edges."""

    names: tuple[str, ...]
    edges: NDArray[np.int32]
    directed: bool = False


@dataclass(frozen=True)
class Points:
    """Positions of the items in the plane, float64 (n, 2)."""

    xy: NDArray[np.float64]


@dataclass(frozen=True)
class Mask:
    """Which pairs of items were looked at: requests, each all of its rows with all of its columns.

    Request q names the items ``rows[row_offsets[q]:row_offsets[q + 1]]`` (int32, offsets int64),
    and likewise ``cols``; so it takes bytes by the items named, not by their pairs.
    :mod:`hcviz.core.asked` counts and pools. Raises :class:`InvalidData` where the parts do not
    fit together.
    """

    rows: NDArray[np.int32]
    row_offsets: NDArray[np.int64]
    cols: NDArray[np.int32]
    col_offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        for items, offsets in ((self.rows, self.row_offsets), (self.cols, self.col_offsets)):
            if (
                items.ndim != 1
                or items.dtype != np.int32
                or offsets.ndim != 1
                or offsets.dtype != np.int64
                or len(offsets) != len(self.row_offsets)
                or not len(offsets)
                or offsets[0] != 0
                or offsets[-1] != len(items)
                or (np.diff(offsets) < 0).any()
                or (len(items) and items.min() < 0)
            ):
                raise InvalidData("A mask's requests do not fit together.")

    @classmethod
    def of(cls, log: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> Self:
        """Of pairs of item lists."""
        sides = []
        for lists in ([rows for rows, _ in log], [cols for _, cols in log]):
            offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
            sides += [np.concatenate([np.empty(0, np.int32), *lists]), offsets]
        return cls(*sides)


View = Series | Matrix | Graph | Points | Mask


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A tree on the way, or the last one.

    ``step`` of ``total`` is the work done, so progress is their ratio and the last snapshot has
    ``step == total``. ``metrics`` are numbers by name, for the trace. ``state`` is enough to go on
    from here bit for bit (None: nothing beyond the tree). ``labels`` is a flat partition, int32
    (n,); ``matrices`` are item-by-item, for the heatmap when the problem has no similarity;
    ``views`` are drawn by name, each by the renderer of its type.
    """

    tree: Tree
    step: int
    total: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    state: Any = None
    labels: NDArray[np.int32] | None = None
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
