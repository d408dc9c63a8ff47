"""The heatmap's cells: a similarity or a scaled table as levels 0..254, and its columns' tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import average
from scipy.spatial.distance import pdist
from scipy.stats import rankdata

from hcviz.core.cached_similarities import CachedSimilarities
from hcviz.core.errors import HcvizError
from hcviz.core.layout import elbows, leaf_order
from hcviz.core.tree import Tree
from hcviz.ui.tree import geometry
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.items import Items

Kind = Literal["similarity", "features", "uncertainty", "none"]
Scaling = Literal["zscore", "none", "range", "rank"]
#: Above this many columns their own dendrogram is not computed: it is quadratic in them.
MOST_TREE_COLUMNS = 2_000
#: Items of one picture of a lazy similarity at most, and of one whose oracle is not cheap; items
#: whose similarities set the colour scale, likewise.
LAZY, LAZY_DEAR = 600, 200
SCALED_BY, SCALED_BY_DEAR = 400, 16
#: Entries looked at when the colour scale is chosen.
SAMPLE = 400_000


@dataclass(frozen=True, eq=False)
class Cells:
    """A matrix ready to draw: ``levels`` uint8 (n, d), and what a level means."""

    kind: Kind
    raw: Any  # (n, d): the values as they came, for the tooltip; or a similarity oracle
    values: Any  # (n, d): the values that the levels stand for
    levels: NDArray[np.uint8]  # (0, n) of an oracle: asked for what a picture shows, no more
    low: float  # value of level 0
    high: float  # value of level 254
    diverging: bool
    unit: str  # what the colour says, for the legend
    names: tuple[str, ...]  # columns; empty when they are the items
    order: NDArray[np.int32] | None  # of the columns; None when they follow the leaves
    tree: Tree | None  # of the columns
    scaled: bool = True  # whether low and high are known: until then nothing can be drawn

    @property
    def width(self) -> int:
        return int(self.levels.shape[1])

    @property
    def lazy(self) -> bool:
        """Whether similarities are computed as they are looked at."""
        return self.values is None

    @property
    def dear(self) -> bool:
        """Whether a picture of them may take longer than a click may wait."""
        return self.lazy and is_dear(self.raw)

    def block(self, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> NDArray[np.float64]:
        """The values of a block, NaN where missing."""
        if self.lazy:
            return np.asarray(self.raw.similarity(rows, columns))
        return np.asarray(self.raw[np.ix_(rows, columns)], dtype=np.float64)

    def pooled(self, layout: Layout, first: int, last: int) -> NDArray[np.uint8]:
        """The rows [first, last) of a lazy similarity as a square of levels.

        At most ``LAZY`` squared similarities (``LAZY_DEAR``, where they are dear): each row's item
        while they suffice, else the means of two by two items a texel, evenly spaced, of those that
        are known.
        """
        side, each = (LAZY_DEAR, 1) if self.dear else (LAZY, 2)
        rows = last - first
        each = each if rows > side else 1
        edges = geometry.bins(layout.row_start, first, last, rows if rows <= side else side // each)
        at, bins = geometry.evenly(edges, each)
        items = np.ascontiguousarray(layout.order[at], dtype=np.int32)
        begin = np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]])

        def summed(block: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(np.add.reduceat(np.add.reduceat(block, begin, 0), begin, 1))

        block = self.block(items, items)
        known = np.isfinite(block)
        with np.errstate(invalid="ignore"):  # nothing known, no level
            means = summed(np.where(known, block, 0.0)) / summed(known.astype(np.int64))
        return geometry.quantise(means, self.low, self.high)


def is_dear(similarity: Any) -> bool:
    """Whether it is an oracle whose answers may take long."""
    return hasattr(similarity, "similarity") and not getattr(similarity, "cheap", False)


def similarity_cells(items: Items, scale: tuple[float, float] | None = None) -> Cells | None:
    """The similarity matrix; its scale spans the middle 99 % of the off-diagonal entries.

    An oracle is asked for some of them, unless ``scale`` says what :func:`lazy_scale` found. One
    that a method made of signs (:attr:`Items.similarity_name`) is drawn with 0 in the middle.
    """
    if items.similarity is None:
        return None
    if hasattr(items.similarity, "similarity"):
        low, high = scale or lazy_scale(items.similarity)
        return replace(unscaled_cells(items), low=low, high=high, scaled=True)
    matrix = np.asarray(items.similarity)
    low, high = _spread(_sample(matrix, off_diagonal=True), 0.5)
    made = items.similarity_name != "similarity"
    if made and 0 < low < high / 1000:
        low = 0.0  # what a solver leaves of it
    diverging = made and low < 0 < high
    if diverging:
        high = max(-low, high)
        low = -high
    levels = geometry.quantise(matrix, low, high)
    return Cells(
        "similarity", matrix, matrix, levels, low, high, diverging, items.similarity_name, (),
        None, None,
    )  # fmt: skip


def unscaled_cells(items: Items) -> Cells:
    """Those of an oracle that was not asked for anything yet."""
    oracle, nothing = items.similarity, np.empty((0, items.n), np.uint8)
    return Cells(
        "similarity", oracle, None, nothing, 0.0, 1.0, False, items.similarity_name, (), None, None,
        scaled=False,
    )  # fmt: skip


def lazy_scale(oracle: Any) -> tuple[float, float]:
    """The range of an oracle's colours, from the similarities of a few items: asks for them. Of a
    :class:`hcviz.core.cached_similarities.CachedSimilarities` that of what it knows."""
    if isinstance(oracle, CachedSimilarities):
        return _spread(oracle.sample(SAMPLE), 0.5)
    n = int(oracle.n_items)
    count = min(n, SCALED_BY_DEAR if is_dear(oracle) else SCALED_BY)
    some = (np.arange(count) * n // count).astype(np.int32)
    try:
        known = np.asarray(oracle.similarity(some, some))
    except HcvizError:  # said where it is run; here there is nothing to scale by
        known = np.zeros((count, count))
    return _spread(_sample(known, off_diagonal=True), 0.5)


def uncertainty_cells(variance: NDArray[np.float64]) -> Cells:
    """Variances of LCA depths, float64 (n, n); the scale goes from none to their 99.5th percentile.

    The diagonal has those of the items' own depths.
    """
    high = max(_spread(_sample(variance, off_diagonal=True), 0.5)[1], 1e-9)
    levels = geometry.quantise(variance, 0.0, high)
    unit = "variance of the LCA's depth"
    return Cells("uncertainty", variance, variance, levels, 0.0, high, False, unit, (), None, None)


def feature_cells(
    items: Items, scaling: Scaling, columns: Literal["dendrogram", "file"]
) -> Cells | None:
    """The features, scaled by column; columns in file order or in that of their own dendrogram.

    The columns' tree is average linkage over Euclidean distances of the scaled columns, missing
    cells at the column's mean, each column's wish being its place in the file.
    """
    if items.features is None or np.shape(items.features)[1] == 0:
        return None
    raw = np.asarray(items.features, dtype=np.float64)
    values = scaled(raw, scaling)
    if scaling == "zscore":
        extent = max(_spread(np.abs(_sample(values)), 1.0)[1], 1e-9)
        low, high, unit = -extent, extent, "z-score"
    elif scaling == "none":
        low, high = _spread(_sample(values), 0.5)
        unit = "value"
    else:
        low, high, unit = 0.0, 1.0, "share of range" if scaling == "range" else "rank"
    tree = _column_tree(values) if columns == "dendrogram" else None
    order = np.arange(raw.shape[1], dtype=np.int32) if tree is None else leaf_order(tree)
    levels = geometry.quantise(values, low, high)
    diverging = scaling == "zscore"
    return Cells(
        "features", raw, values, levels, low, high, diverging, unit, items.columns(), order, tree
    )


def scaled(raw: NDArray[np.float64], scaling: Scaling) -> NDArray[np.float64]:
    """Each column by itself; missing cells stay missing, a constant column becomes 0 (0.5)."""
    if scaling == "none":
        return raw
    known = np.isfinite(raw)
    values = np.where(known, raw, np.nan)
    count = np.maximum(known.sum(0), 1)
    filled = np.where(known, raw, 0.0)
    if scaling == "zscore":
        mean = filled.sum(0) / count
        deviation = np.sqrt((np.where(known, raw - mean, 0.0) ** 2).sum(0) / count)
        return np.asarray((values - mean) / np.where(deviation > 0, deviation, 1.0))
    if scaling == "range":
        low = np.where(known, raw, np.inf).min(0)
        high = np.where(known, raw, -np.inf).max(0)
        span = high - low
        usable = np.isfinite(span) & (span > 0)
        share = (values - np.where(usable, low, 0)) / np.where(usable, span, 1.0)
        return np.where(known & ~usable, 0.5, share)
    ranks = rankdata(values, axis=0, nan_policy="omit")
    share = (ranks - 1) / np.maximum(count - 1, 1)
    constant = np.nanmax(np.where(known, share, -1), 0) == np.nanmin(np.where(known, share, 2), 0)
    return np.where(known & constant, 0.5, np.where(known, share, np.nan))


def _column_tree(values: NDArray[np.float64]) -> Tree | None:
    width = values.shape[1]
    if not 2 <= width <= MOST_TREE_COLUMNS:
        return None
    known = np.isfinite(values)
    mean = np.where(known, values, 0.0).sum(0) / np.maximum(known.sum(0), 1)
    columns = np.where(known, values, mean).T
    if columns.shape[1] > 2_000:  # distances of columns need no more rows than this to be told
        columns = columns[:, :: -(-columns.shape[1] // 2_000)]
    return Tree.from_linkage(average(pdist(columns)))


def column_path(tree: Tree, order: NDArray[np.int32]) -> tuple[Any, Any]:
    """``(x, y)`` of the columns' dendrogram: places and heights in 0..1."""
    height, place = elbows(tree, order)
    return place, height / (tree.height[-1] or 1.0)


def _sample(matrix: NDArray[Any], off_diagonal: bool = False) -> NDArray[np.float64]:
    flat = matrix.reshape(-1)
    step = max(1, flat.size // SAMPLE) | 1  # odd, so that no column is skipped for good
    picked = np.arange(0, flat.size, step)
    if off_diagonal:
        picked = picked[picked // matrix.shape[1] != picked % matrix.shape[1]]
    values = np.asarray(flat[picked], dtype=np.float64)
    return values[np.isfinite(values)]


def _spread(values: NDArray[np.float64], tail: float) -> tuple[float, float]:
    """The range without ``tail`` per cent at either end; the whole range when that is nothing."""
    if values.size == 0:
        return 0.0, 1.0
    low, high = np.percentile(values, [tail, 100 - tail])
    if high <= low:
        low, high = values.min(), values.max()
    return (float(low), float(high)) if high > low else (float(low), float(low) + 1.0)
