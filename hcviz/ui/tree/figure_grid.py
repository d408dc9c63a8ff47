"""``FigureGrid``: the layout of the figures, the line above them, and a hint without a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import panel as pn
from bokeh.models import GridBox

from hcviz.ui.compat.figure_size import pixel_size
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree.dendrogram import AXIS_PX, TreeFigure
from hcviz.ui.tree.heatmap import TREE_PX, HeatFigure
from hcviz.ui.tree.heatmap_cells import HeatmapCells
from hcviz.ui.tree.items import Items, Strip
from hcviz.ui.tree.labels import LabelFigure
from hcviz.ui.tree.legend import legend
from hcviz.ui.tree.minimap import MARGIN_PX
from hcviz.ui.tree.strips import StripFigure

HTML: Any = pn.pane.HTML
Bokeh: Any = pn.pane.Bokeh
#: In a page of fewer pixels the heatmap is hidden.
ALONE = 560
#: Pixels of the header line until the browser has sent its size.
ASSUMED_HEAD = 900


class FigureGrid:
    """``view`` is a column of a header line and a grid of the figures.

    The grid holds ``tree``, ``labels``, ``strips`` and ``heat``, with the ``minimap`` beside them.
    """

    def __init__(
        self,
        figures: Mapping[str, Any],
        dendrogram: TreeFigure,
        labels: LabelFigure,
        heat: HeatFigure,
        minimap: Any,
        theme: Theme,
    ) -> None:
        self._figures, self._labels, self._heat, self._theme = figures, labels, heat, theme
        self._map_px = MARGIN_PX
        self.scale = 1.0  # of the type; large type has no room for strips and heatmap
        self.grid: Any = GridBox(
            children=[
                (heat.tree, 0, 3),
                (figures["tree"], 1, 0),
                (figures["labels"], 1, 1),
                (figures["strips"], 1, 2),
                (figures["heat"], 1, 3),
                (minimap, 1, 4),
                (dendrogram.axis, 2, 0),
                (heat.names, 2, 3),
            ],
            sizing_mode="stretch_both",
        )
        self.head = HTML("", sizing_mode="stretch_width", height=26, margin=0)
        self.placeholder = HTML(
            "",
            margin=0,
            sizing_mode="stretch_both",
            styles={
                "position": "absolute",
                "left": "0",
                "top": "0",
                "width": "100%",
                "height": "100%",
                "pointer-events": "none",
            },
        )
        self.view = pn.Column(
            self.head,
            Bokeh(self.grid, sizing_mode="stretch_both", margin=0),
            self.placeholder,
            sizing_mode="stretch_both",
            margin=0,
            styles={"position": "relative", "overflow": "hidden"},
        )

    def set_scale(self, scale: float) -> None:
        """Multiply the size of the type; the line above the figures is hidden in large type."""
        self.scale = scale
        self.head.visible = scale == 1

    def set_theme(self, theme: Theme) -> None:
        """Use other colours for the texts that are written from now on."""
        self._theme = theme

    @property
    def _width(self) -> int:
        """Pixels of all figures; of the map alone until the browser has sent its sizes."""
        widths = [
            pixel_size(plot, "outer_width") for plot in self._figures.values() if plot.visible
        ]
        return sum(widths) + self._map_px

    def arrange(self, cells: HeatmapCells | None, strips: int, map_px: int) -> bool:
        """Set the columns and rows of the grid.

        The heatmap is hidden in a narrow page, in large type, and without ``cells``. Returns True
        if the heatmap was shown or hidden.
        """
        narrow = self._map_px < self._width < ALONE
        self._map_px = map_px
        large = self.scale > 1
        strips = 0 if large else strips
        heat = cells is not None and not narrow and not large
        features = heat and cells is not None and cells.kind == "features"
        columns = [
            "minmax(0, 5fr)", f"{self._labels.width}px", f"{StripFigure.width(strips)}px",
            "minmax(0, 6fr)" if heat else "0px", f"{map_px}px",
        ]  # fmt: skip
        rows = [
            f"{TREE_PX}px" if features and self._heat.has_tree else "0px",
            "minmax(0, 1fr)",
            f"{max(self.scale * AXIS_PX, self._heat.names_px if features else 0):g}px",
        ]
        changed: bool = self._heat.figure.visible != heat
        if changed:
            self._heat.figure.visible = heat
        self._heat.tree.visible = bool(features and self._heat.has_tree)
        self._heat.names.visible = bool(features)
        self._figures["strips"].visible = strips > 0
        if self.grid.cols != columns:
            self.grid.cols = columns
        if self.grid.rows != rows:
            self.grid.rows = rows
        return changed

    def draw_head(self, items: Items, strips: Sequence[Strip], cells: HeatmapCells | None) -> None:
        """Write what is shown above the figures.

        The line explains the colours of ``cells`` if these are visible and their scale is known.
        """
        if items.n == 0:
            self.head.object = ""
            return
        width = self._width
        explained = cells is not None and cells.scaled and self._heat.figure.visible
        self.head.object = legend(
            items.title,
            items.n,
            strips,
            cells if explained else None,
            self._theme,
            width if width > self._map_px else ASSUMED_HEAD,
        )

    def show_placeholder(self, has_items: bool, has_tree: bool) -> None:
        """Show a hint in place of the tree, as long as there is none."""
        if has_tree:
            self.placeholder.object = ""
            return
        title, hint = (
            ("No tree yet", "It grows here as soon as the method has one.")
            if has_items
            else ("No data yet", "Choose a data set above, or bring a table of your own.")
        )
        self.placeholder.object = (
            '<div style="position:absolute;inset:0;display:grid;place-content:center;'
            f"text-align:center;font:14px/1.6 system-ui,'Segoe UI',Arial,sans-serif;"
            f'color:{self._theme.soft}"><div style="font-size:17px;color:{self._theme.ink}">'
            f"{title}</div>{hint}</div>"
        )
