"""``CellSource``: which matrix the heatmap shows, and its cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from hcviz.core.cached_similarities import CachedSimilarities
from hcviz.core.errors import InvalidData
from hcviz.ui.tree.heatmap_cells import (
    HeatmapCells,
    Kind,
    Scaling,
    feature_cells,
    is_expensive,
    lazy_scale,
    similarity_cells,
    unscaled_cells,
)
from hcviz.ui.tree.items import Items

Columns = Literal["dendrogram", "file"]
#: ``worker(work, done)`` calls ``done(work())`` later. ``work`` runs on another thread; ``done``
#: gets None if it failed.
Worker = Callable[[Callable[[], Any], Callable[[Any], None]], None]

#: The colour scale is chosen again when the number of known similarities has grown by this factor.
RESCALE_GROWTH = 1.2


class CellSource:
    """The cells of the chosen matrix. ``on_scale`` is called when a colour scale has been found."""

    def __init__(self, on_scale: Callable[[], None]) -> None:
        self.cells: HeatmapCells | None = None
        #: Computes a colour scale that takes long. None: everything is computed at once.
        self.worker: Worker | None = None
        self._on_scale = on_scale
        self._choice: tuple[Kind, Scaling, Columns] = ("similarity", "zscore", "dendrogram")
        self._uncertainty: HeatmapCells | None = None
        self._scaling: Any = None  # the oracle whose scale is being computed
        self._scale: tuple[Any, tuple[float, float]] | None = None  # an oracle and its scale
        self._known_count = 0  # similarities that were known when the scale was chosen

    @property
    def kind(self) -> Kind:
        """The matrix chosen."""
        return self._choice[0]

    @property
    def has_uncertainty(self) -> bool:
        """Return True if the uncertainty of these items is known."""
        return self._uncertainty is not None

    def choose(self, kind: Kind, scaling: Scaling, columns: Columns) -> bool:
        """Choose a matrix; return True if it is another one."""
        if (kind, scaling, columns) == self._choice:
            return False
        self._choice = (kind, scaling, columns)
        return True

    def set_uncertainty(self, cells: HeatmapCells | None, n_items: int) -> None:
        """Set the cells of the matrix "uncertainty"."""
        if cells is not None and cells.width != n_items:
            raise InvalidData(
                f"The uncertainty is of {cells.width} items, and there are {n_items}."
            )
        self._uncertainty = cells

    def load(self, items: Items) -> HeatmapCells | None:
        """Make the cells of the chosen matrix; None where the items do not have it."""
        kind, scaling, columns = self._choice
        if kind == "similarity":
            self.cells = self._similarity(items)
        elif kind == "features":
            self.cells = feature_cells(items, scaling, columns)
        elif kind == "uncertainty":
            self.cells = self._uncertainty
        else:
            self.cells = None
        return self.cells

    def rescale(self, items: Items) -> bool:
        """Choose the colour scale again if many more similarities are known; True if done."""
        cells = self.cells
        known = cells.raw if cells is not None and cells.kind == "similarity" else None
        if (
            not isinstance(known, CachedSimilarities)
            or known.n_cached <= RESCALE_GROWTH * self._known_count
        ):
            return False
        self._known_count = known.n_cached
        self.cells = similarity_cells(items)
        return True

    def _similarity(self, items: Items) -> HeatmapCells | None:
        """Make the similarity's cells.

        The scale of an expensive oracle is computed once, on another thread. The cells are empty
        until then.
        """
        oracle = items.similarity
        if isinstance(oracle, CachedSimilarities):
            self._known_count = oracle.n_cached
            if not oracle.n_cached:  # there are no values to scale by
                return unscaled_cells(items)
        if self.worker is None or not is_expensive(oracle):
            return similarity_cells(items)
        if self._scale is not None and self._scale[0] is oracle:
            return similarity_cells(items, self._scale[1])

        def done(found: tuple[float, float] | None) -> None:
            if self._scaling is not oracle:  # the similarity was replaced meanwhile
                return
            self._scaling = None
            self._scale = (oracle, found or (0.0, 1.0))
            if self.cells is not None and self.cells.raw is oracle:
                self._on_scale()

        if self._scaling is not oracle:
            self._scaling = oracle
            self.worker(lambda: lazy_scale(oracle), done)
        return unscaled_cells(items)


__all__ = ["CellSource", "Columns", "Worker"]
