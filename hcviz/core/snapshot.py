"""What a method yields: ``Snapshot``, and the closed set of views it may carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """Which pairs of items were looked at, bool (n, n)."""

    values: NDArray[np.bool_]


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
