"""``Snapshot``: what a method yields during a run, and the types of views in it."""

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
    """A line, with the titles of the axes.

    Parameters
    ----------
    x, y : float64 (k,)
        The points, in their order along the line.
    x_label, y_label : str
        Titles of the axes.

    Examples
    --------
    >>> line = Series(np.array([2.0, 3.0]), np.array([0.4, 0.7]), "clusters", "quality")
    >>> line.x_label
    'clusters'
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    x_label: str = ""
    y_label: str = ""


@dataclass(frozen=True)
class Matrix:
    """A heatmap.

    Parameters
    ----------
    values : float64 (r, c)
        The cells.
    items : bool
        True if rows and columns are the items; then the page draws it as its heatmap.

    Examples
    --------
    >>> Matrix(np.eye(3), items=True).values.shape
    (3, 3)
    """

    values: NDArray[np.float64]
    items: bool = False


@dataclass(frozen=True)
class Graph:
    """A graph with named nodes.

    Parameters
    ----------
    names : tuple of str
        The names of nodes 0..k-1.
    edges : int32 (e, 2)
        The two nodes of each edge.
    directed : bool
        True: edges go from the first node to the second.

    Examples
    --------
    >>> Graph(("owl", "rook"), np.array([[0, 1]], np.int32)).directed
    False
    """

    names: tuple[str, ...]
    edges: NDArray[np.int32]
    directed: bool = False


@dataclass(frozen=True)
class Points:
    """Positions of the items in the plane.

    Parameters
    ----------
    xy : float64 (n, 2)
        The coordinates of each item.

    Examples
    --------
    >>> Points(np.zeros((4, 2))).xy.shape
    (4, 2)
    """

    xy: NDArray[np.float64]


@dataclass(frozen=True)
class Mask:
    """A query mask: the pairs of items whose similarity a method asked for.

    Parameters
    ----------
    rows : int32 (r,)
        Items of the first lists of all requests. Request q is for all pairs of an item in
        ``rows[row_offsets[q]:row_offsets[q + 1]]`` and an item of its second list.
    row_offsets : int64 (k + 1,)
        Where the first list of each of the k requests begins and ends in ``rows``.
    cols : int32 (c,)
        Items of the second lists: ``cols[col_offsets[q]:col_offsets[q + 1]]`` for request q.
    col_offsets : int64 (k + 1,)
        Where the second list of each request begins and ends in ``cols``.

    Raises
    ------
    InvalidData
        The arrays do not fit together.

    Notes
    -----
    Memory grows with the listed items, not with their pairs. :mod:`hcviz.core.query_counts` counts
    the pairs.

    Examples
    --------
    >>> mask = Mask.of([(np.array([0], np.int32), np.array([1, 2], np.int32))])
    >>> mask.rows.tolist(), mask.cols.tolist(), mask.col_offsets.tolist()
    ([0], [1, 2], [0, 2])
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
                raise InvalidData("The arrays of a query mask do not fit together.")

    @classmethod
    def of(cls, log: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> Self:
        """Create a mask from requests.

        Parameters
        ----------
        log : sequence of (int32 (r,), int32 (c,))
            For each request, the items of its two lists.

        Returns
        -------
        Mask
            The requests in their order.

        Examples
        --------
        >>> Mask.of([]).row_offsets.tolist()
        [0]
        """
        sides = []
        for lists in ([rows for rows, _ in log], [cols for _, cols in log]):
            offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
            sides += [np.concatenate([np.empty(0, np.int32), *lists]), offsets]
        return cls(*sides)


View = Series | Matrix | Graph | Points | Mask


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """The tree and the metrics at one moment of a run.

    Parameters
    ----------
    tree : Tree
        The tree so far, or the final one.
    step, total : int
        The work done, and all work. The last snapshot has ``step == total``.
    metrics : mapping of str to float
        Numbers for the trace.
    state : object
        With it, a run continues from here with exactly the same result. None: the tree is enough.
    labels : int32 (n,) or None
        A flat partition of the items.
    matrices : mapping of str to float64 (n, n)
        More matrices for the heatmap. The first is shown if the problem has no similarity.
    views : mapping of str to view
        Views by title: Series, Matrix, Graph, Points or Mask. A renderer for each type draws them.

    Examples
    --------
    >>> *_, last = run("average", [[0.0], [1.0], [5.0]])
    >>> last.tree.n_leaves, last.step == last.total
    (3, True)
    """

    tree: Tree
    step: int
    total: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    state: Any = None
    labels: NDArray[np.int32] | None = None
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)

    def __repr__(self) -> str:
        numbers = "".join(f", {name} {value:.6g}" for name, value in self.metrics.items())
        return f"Snapshot(step {self.step} of {self.total}, {self.tree!r}{numbers})"
