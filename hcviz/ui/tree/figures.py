"""``Figures``: the Bokeh figures of the tree beside its heatmap, and their layout."""

from __future__ import annotations

from typing import Any

from hcviz.ui.compat.figure_size import pixel_size
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree.click_preview import ClickPreview
from hcviz.ui.tree.debouncer import Debouncer
from hcviz.ui.tree.dendrogram import TreeFigure
from hcviz.ui.tree.drag import LeafDrag, OnDrag
from hcviz.ui.tree.draw_confirmation import DrawConfirmation
from hcviz.ui.tree.figure_grid import FigureGrid
from hcviz.ui.tree.heatmap import HeatFigure
from hcviz.ui.tree.labels import LabelFigure
from hcviz.ui.tree.minimap import MiniMap
from hcviz.ui.tree.motion import move_together
from hcviz.ui.tree.row_window import RowWindow
from hcviz.ui.tree.strips import StripFigure

#: Pixels of a figure until the browser has sent its size.
ASSUMED_HEIGHT, ASSUMED_WIDTH = 640, 420


class Figures:
    """All figures of one page. Each part has its own public methods; this class connects them."""

    def __init__(self, window: RowWindow, theme: Theme, on_drag: OnDrag) -> None:
        self._window = window
        #: Pixels of the rows until the browser reports them.
        self.assumed_height = ASSUMED_HEIGHT
        self.dendrogram = TreeFigure(window.range, theme)
        self.labels = LabelFigure(window.range, theme)
        move_together(
            self.dendrogram.tree,
            (*self.dendrogram.moving, *self.labels.moving),
            self.dendrogram.figure,
        )
        self.strips = StripFigure(window.range, theme)
        self.heat = HeatFigure(window.range, theme)
        self.debouncer = Debouncer(self.dendrogram.figure)
        self.minimap = MiniMap(self.dendrogram, window.range, theme)
        self.by_name: dict[str, Any] = {
            "tree": self.dendrogram.figure,
            "labels": self.labels.figure,
            "strips": self.strips.figure,
            "heat": self.heat.figure,
        }
        for name, plot in self.by_name.items():  # tests and benchmarks find models by name
            plot.name = name
        self.dendrogram.tree.name = "tree-lines"
        self.drawn = DrawConfirmation(self.dendrogram.tree)
        self.preview = ClickPreview(self.by_name, self.dendrogram, self.labels, self.heat)
        self.drag = LeafDrag(self.dendrogram, self.labels, self.preview, on_drag)
        self.drag.set_theme(theme)
        self.dendrogram.layers["selection"].name = "selection-lines"
        self.labels.text.name = "label-text"
        self.labels.pictures.name = "label-pictures"
        self.grid = FigureGrid(
            self.by_name, self.dendrogram, self.labels, self.heat, self.minimap.figure, theme
        )
        self.dendrogram.show_frame(False)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours. The pictures with colours of their own must be drawn again."""
        for part in (
            self.dendrogram, self.labels, self.strips, self.heat, self.minimap, self.drag,
            self.grid,
        ):  # fmt: skip
            part.set_theme(theme)

    def clear(self) -> None:
        """Remove the tree, its labels and its strips."""
        self.dendrogram.clear()
        self.labels.clear()
        self.strips.clear()

    @property
    def tree_width(self) -> int:
        """Pixels of the dendrogram from root to leaves."""
        return pixel_size(self.dendrogram.figure, "inner_width", ASSUMED_WIDTH)

    @property
    def tree_height(self) -> int:
        """Pixels of all rows in view."""
        return pixel_size(self.dendrogram.figure, "inner_height", self.assumed_height)

    @property
    def heat_width(self) -> int:
        """Pixels of the heatmap's columns."""
        return pixel_size(self.heat.figure, "inner_width", ASSUMED_WIDTH)

    @property
    def row_px(self) -> float:
        """Pixels of one row."""
        top, bottom = self._window.rows
        return self.tree_height / max(bottom - top, 1e-9)


__all__ = ["Figures"]
