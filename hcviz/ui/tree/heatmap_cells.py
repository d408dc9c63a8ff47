"""``HeatmapCells``: a similarity or a scaled table as levels 0 to 254, and its columns' tree."""

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
#: With more columns their tree is not computed: its cost is quadratic in their number.
MAX_TREE_COLUMNS = 2_000
#: Items of one picture of a lazy similarity at most, and of one with an expensive oracle.
LAZY, LAZY_EXPENSIVE = 600, 200
#: Items whose similarities set the colour scale, likewise.
SCALED_BY, SCALED_BY_EXPENSIVE = 400, 16
#: Entries that are read to choose the colour scale.
SAMPLE = 400_000


@dataclass(frozen=True, eq=False)
class HeatmapCells:
    """A matrix ready to draw: ``levels`` uint8 (n, d), and what a level means."""

    kind: Kind
    raw: Any  # (n, d): the values in the data, for the tooltip; or a similarity oracle
    values: Any  # (n, d): the values of the levels; None for an oracle
    levels: NDArray[np.uint8]  # (0, n) for an oracle, which computes only what is drawn
    low: float  # value of level 0
    high: float  # value of level 254
    diverging: bool
    unit: str  # the name of the values in the legend
    names: tuple[str, ...]  # of the columns; empty if these are the items
    order: NDArray[np.int32] | None  # of the columns; None if these are the items
    tree: Tree | None  # of the columns
    scaled: bool = True  # False until low and high are known; nothing can be drawn before

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.levels.shape[1])

    @property
    def lazy(self) -> bool:
        """Return True if an oracle computes the similarities that are drawn."""
        return self.values is None

    @property
    def expensive(self) -> bool:
        """Return True if a picture may take longer than a click should wait."""
        return self.lazy and is_expensive(self.raw)

    def block(self, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the values of a block, NaN where missing."""
        if self.lazy:
            return np.asarray(self.raw.similarity(rows, columns))
        return np.asarray(self.raw[np.ix_(rows, columns)], dtype=np.float64)

    def pooled(self, layout: Layout, first: int, last: int) -> NDArray[np.uint8]:
        """Return the rows [first, last) of a lazy similarity as a square of levels.

        At most ``LAZY`` squared similarities are computed (``LAZY_EXPENSIVE``, for an expensive
        oracle). With few rows each row's item is used. With more rows a texel is the mean of two by
        two items, evenly spaced, over the pairs that are known.
        """
        side, each = (LAZY_EXPENSIVE, 1) if self.expensive else (LAZY, 2)
        rows = last - first
        each = each if rows > side else 1
        edges = geometry.bins(layout.row_start, first, last, rows if rows <= side else side // each)
        at, bins = geometry.sample_evenly(edges, each)
        items = np.ascontiguousarray(layout.order[at], dtype=np.int32)
        begin = np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]])

        def summed(block: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(np.add.reduceat(np.add.reduceat(block, begin, 0), begin, 1))

        block = self.block(items, items)
        known = np.isfinite(block)
        with np.errstate(invalid="ignore"):  # a texel without known pairs has no level
            means = summed(np.where(known, block, 0.0)) / summed(known.astype(np.int64))
        return geometry.quantise(means, self.low, self.high)


def is_expensive(similarity: Any) -> bool:
    """Return True if ``similarity`` is an oracle that may be slow."""
    return hasattr(similarity, "similarity") and not getattr(similarity, "cheap", False)


def similarity_cells(items: Items, scale: tuple[float, float] | None = None) -> HeatmapCells | None:
    """Return the cells of the similarity; the scale spans the middle 99 % off the diagonal.

    An oracle computes some entries for the scale, unless ``scale`` is the result of
    :func:`lazy_scale`. A similarity that a method made of signs (:attr:`Items.similarity_name`) has
    0 in the middle of the colours.
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
        low = 0.0  # a solver's rounding error
    diverging = made and low < 0 < high
    if diverging:
        high = max(-low, high)
        low = -high
    levels = geometry.quantise(matrix, low, high)
    return HeatmapCells(
        "similarity", matrix, matrix, levels, low, high, diverging, items.similarity_name, (),
        None, None,
    )  # fmt: skip


def unscaled_cells(items: Items) -> HeatmapCells:
    """Return the cells of an oracle before their scale is known."""
    oracle, nothing = items.similarity, np.empty((0, items.n), np.uint8)
    return HeatmapCells(
        "similarity", oracle, None, nothing, 0.0, 1.0, False, items.similarity_name, (), None, None,
        scaled=False,
    )  # fmt: skip


def lazy_scale(oracle: Any) -> tuple[float, float]:
    """Return the range of an oracle's colours, from the similarities of a few items.

    The oracle computes these. For ``CachedSimilarities`` only cached values are used.
    """
    if isinstance(oracle, CachedSimilarities):
        return _spread(oracle.sample(SAMPLE), 0.5)
    n = int(oracle.n_items)
    count = min(n, SCALED_BY_EXPENSIVE if is_expensive(oracle) else SCALED_BY)
    some = (np.arange(count) * n // count).astype(np.int32)
    try:
        known = np.asarray(oracle.similarity(some, some))
    except HcvizError:  # a run reports the error
        known = np.zeros((count, count))
    return _spread(_sample(known, off_diagonal=True), 0.5)


def uncertainty_cells(variance: NDArray[np.float64]) -> HeatmapCells:
    """Return the cells of the variances of LCA depths, float64 (n, n).

    The scale goes from 0 to the 99.5th percentile. The diagonal has the variances of the items'
    own depths.
    """
    high = max(_spread(_sample(variance, off_diagonal=True), 0.5)[1], 1e-9)
    levels = geometry.quantise(variance, 0.0, high)
    unit = "variance of the LCA's depth"
    return HeatmapCells(
        "uncertainty", variance, variance, levels, 0.0, high, False, unit, (), None, None
    )


def feature_cells(
    items: Items, scaling: Scaling, columns: Literal["dendrogram", "file"]
) -> HeatmapCells | None:
    """Return the cells of the features, scaled by column.

    Columns are in file order or in the order of their tree. The tree is average linkage over
    Euclidean distances of the scaled columns, with missing cells at the column's mean. Its leaf
    order is as near to the file's as possible.
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
    return HeatmapCells(
        "features", raw, values, levels, low, high, diverging, unit, items.columns(), order, tree
    )


def scaled(raw: NDArray[np.float64], scaling: Scaling) -> NDArray[np.float64]:
    """Scale each column. Missing cells stay missing; a constant column becomes 0 (0.5)."""
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
    if not 2 <= width <= MAX_TREE_COLUMNS:
        return None
    known = np.isfinite(values)
    mean = np.where(known, values, 0.0).sum(0) / np.maximum(known.sum(0), 1)
    columns = np.where(known, values, mean).T
    if columns.shape[1] > 2_000:  # a sample of the rows is enough for distances of columns
        columns = columns[:, :: -(-columns.shape[1] // 2_000)]
    return Tree.from_linkage(average(pdist(columns)))


def column_path(tree: Tree, order: NDArray[np.int32]) -> tuple[Any, Any]:
    """Return ``(x, y)`` of the columns' tree: places, and heights from 0 to 1."""
    height, place = elbows(tree, order)
    return place, height / (tree.height[-1] or 1.0)


def _sample(matrix: NDArray[Any], off_diagonal: bool = False) -> NDArray[np.float64]:
    flat = matrix.reshape(-1)
    step = max(1, flat.size // SAMPLE) | 1  # odd, so that every column is sampled
    picked = np.arange(0, flat.size, step)
    if off_diagonal:
        picked = picked[picked // matrix.shape[1] != picked % matrix.shape[1]]
    values = np.asarray(flat[picked], dtype=np.float64)
    return values[np.isfinite(values)]


def _spread(values: NDArray[np.float64], tail: float) -> tuple[float, float]:
    """Return the range without ``tail`` per cent at each end; the whole range if that is empty."""
    if values.size == 0:
        return 0.0, 1.0
    low, high = np.percentile(values, [tail, 100 - tail])
    if high <= low:
        low, high = values.min(), values.max()
    return (float(low), float(high)) if high > low else (float(low), float(low) + 1.0)
