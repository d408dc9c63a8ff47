"""``HeatFigure``: a coarse picture of the whole matrix, and a sharp one of the rows in view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, CustomJS, LinearColorMapper, Range1d
from numpy.typing import NDArray

from hcviz.ui.compat.bounded_range import show_range
from hcviz.ui.parts.palette import Theme, diverging, sequential
from hcviz.ui.tree import geometry, label_fitting
from hcviz.ui.tree.bare_figure import FONT, OUTLINES, bare_figure, f32
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.heatmap_cells import HeatmapCells, column_path
from hcviz.ui.tree.plain_glyphs import PlainGlyphs
from hcviz.ui.tree.query_mask import QueryMaskLayer, clear

#: Texels of one picture at most, each way.
MAX_TEXELS = 600
TREE_PX, MAX_NAMES_PX = 46, 90

#: Columns that are items follow the range of the rows.
FOLLOW_ROWS = """
if (x_range.tags[0] === "rows") x_range.setv({start: -rows.end, end: -rows.start})
"""
#: Texels of one picture each way while the trees of a run arrive.
STREAM_TEXELS = 300
EMPTY: dict[str, Any] = {"image": [], "x": [], "y": [], "dw": [], "dh": []}


class HeatFigure:
    """The heatmap, the columns' dendrogram above it and their names below."""

    def __init__(self, y_range: Range1d, theme: Theme) -> None:
        self.x_range: Any = Range1d(start=0, end=1, min_interval=1.0, tags=["columns"])
        self.y_range: Any = y_range
        follow = CustomJS(args={"x_range": self.x_range, "rows": y_range}, code=FOLLOW_ROWS)
        y_range.js_on_change("start", follow)
        y_range.js_on_change("end", follow)
        self.figure = bare_figure(
            self.x_range, y_range, drag=True, min_border_right=2, cut_off=OUTLINES
        )
        self._pan = self.figure.toolbar.active_drag
        self.mapper = LinearColorMapper(palette=sequential(theme), low=0, high=256)
        self.whole = ColumnDataSource(dict(EMPTY), name="heat-cells")
        self.sharp = ColumnDataSource(dict(EMPTY))
        self.mask, self.mask_sources = QueryMaskLayer(theme), []
        for source, name in ((self.whole, "query-mask"), (self.sharp, "sharp-query-mask")):
            PlainGlyphs(self.figure).image(
                "image", "x", "y", "dw", "dh", source=source, color_mapper=self.mapper,
                origin="top_left", anchor="top_left",
            )  # fmt: skip
            self.mask_sources.append(self.mask.over(self.figure, name))
        self.frames = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": []})
        self.hovered = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": []})
        # Below each outline is a wider line in the background's colour: visible on any colour.
        self._hover_case = self._outline_of(self.hovered, 3)
        self._hover = self._outline_of(self.hovered, 1)
        self._frame_case = self._outline_of(self.frames, 4)
        self._frame = self._outline_of(self.frames, 2)
        self.tree = bare_figure(
            self.x_range, Range1d(start=-0.02, end=1.06), min_border_top=2, min_border_bottom=0,
            min_border_right=2,
        )  # fmt: skip
        self.tree_source = ColumnDataSource({"x": [], "y": []})
        self._tree_line = PlainGlyphs(self.tree).line(
            "x", "y", source=self.tree_source, line_width=1
        )
        self.names = bare_figure(
            self.x_range, Range1d(start=-1, end=0), min_border_top=0, min_border_bottom=0,
            min_border_right=2,
        )  # fmt: skip
        self.names_source = ColumnDataSource({"x": [], "text": []})
        self._names = PlainGlyphs(self.names).text(
            "x",
            0,
            "text",
            source=self.names_source,
            text_font=value(FONT),
            text_font_size="11px",
            y_offset=2,
        )
        for plot in (self.tree, self.names):  # the wheel zooms the columns here
            plot.toolbar.active_drag.dimensions = "width"
            plot.toolbar.active_scroll.dimensions = "width"
        self.cells: HeatmapCells | None = None
        #: ``worker(work, done)`` calls ``done(work())`` later; ``work`` runs on another thread, and
        #: ``done`` gets None if it failed. Without a worker everything is computed at once.
        self.worker: Callable[[Callable[[], Any], Callable[[Any], None]], None] | None = None
        self._requests: dict[ColumnDataSource, tuple[HeatmapCells, Layout, tuple[int, int]]] = {}
        self._is_busy = False
        self.names_px = 0
        self.set_theme(theme)

    def _outline_of(self, source: ColumnDataSource, width: float) -> Any:
        return PlainGlyphs(self.figure).quad(
            "left", "right", "top", "bottom", source=source, fill_color=None, line_width=width,
            level="overlay",
        )  # fmt: skip

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self.theme = theme
        self._tree_line.glyph.line_color = theme.branch
        self._names.glyph.text_color = theme.soft
        self._frame.glyph.line_color = theme.accent
        self._hover.glyph.line_color = theme.ink
        self._hover_case.glyph.line_color = self._frame_case.glyph.line_color = theme.paper
        self.mask.set_theme(theme)
        self._set_palette()

    def _set_palette(self) -> None:
        apart = self.cells is not None and self.cells.diverging
        self.mapper.palette = diverging(self.theme) if apart else sequential(self.theme)

    def set_cells(self, cells: HeatmapCells | None) -> None:
        """Show another matrix: colours, columns, and the columns' tree and names."""
        self.cells = cells
        self._set_palette()
        self.tree_source.data = {"x": [], "y": []}
        self.names_source.data = {"x": [], "text": []}
        self.draw_nothing()
        if cells is None:
            return
        # Columns that are items must stay at the same places as the rows.
        self._pan.dimensions = "height" if cells.order is None else "both"
        if cells.order is None:  # between items
            self.follow_rows()
        else:
            width = float(cells.width)
            self.x_range.tags = ["columns"]
            show_range(self.x_range, 0.0, width, (0.0, width))
            if cells.tree is not None and cells.order is not None:
                x, y = column_path(cells.tree, cells.order)
                self.tree_source.data = {"x": x, "y": y}

    @property
    def has_tree(self) -> bool:
        """Return True if the columns have a tree."""
        return self.cells is not None and self.cells.tree is not None

    def draw_nothing(self) -> None:
        """Remove all pictures and outlines."""
        self._requests.clear()
        self.whole.data, self.sharp.data = dict(EMPTY), dict(EMPTY)
        for source in self.mask_sources:
            clear(source)
        for source in (self.frames, self.hovered):
            source.data = {"left": [], "right": [], "top": [], "bottom": []}

    def show_all_columns(self) -> None:
        """Zoom out sideways. Columns that are items follow the rows instead."""
        if self.cells is not None and self.cells.kind == "features":
            self.x_range.update(start=0.0, end=float(self.cells.width))

    def follow_rows(self) -> None:
        """Show the same items in the columns as in the rows."""
        rows = self.y_range
        self.x_range.tags = ["rows"]
        show_range(self.x_range, -rows.end, -rows.start, None)

    def draw(
        self, layout: Layout, window: tuple[float, float], zoomed: bool, streaming: bool = False
    ) -> None:
        """Draw both pictures; the sharp one only if some rows are out of view.

        ``streaming``: draw fewer texels, because the next tree follows soon.
        """
        cells = self.cells
        if cells is None:
            return
        texels = STREAM_TEXELS if streaming else MAX_TEXELS
        self._show(self.whole, cells, layout, (0, layout.n_rows), texels)
        self.draw_mask(layout, streaming)
        self.draw_sharp(layout, window, zoomed)

    @property
    def is_masked(self) -> bool:
        """Return True if the cells are similarities and a query mask is set."""
        return (
            self.cells is not None
            and self.cells.unit == "similarity"
            and self.mask.mask is not None
        )

    def draw_mask(self, layout: Layout, streaming: bool = False) -> None:
        """Draw the query mask over the whole picture; :meth:`draw_sharp` draws its own part."""
        if self.is_masked:
            coarse = streaming and layout.n_rows > MAX_TEXELS
            texels = STREAM_TEXELS if coarse else MAX_TEXELS
            self.mask.draw(self.mask_sources[0], layout, (0, layout.n_rows), texels)
        else:
            clear(self.mask_sources[0])

    def to_print(self, layout: Layout) -> NDArray[np.float64] | None:
        """Return the values (n, d) for a picture file, with all clades expanded.

        For lazy similarities these are the values on the screen, (k, k) over the leaves in their
        order, k at most :data:`MAX_TEXELS`; None if nothing is drawn yet.
        """
        cells = self.cells
        if cells is None or not cells.lazy:
            return None if cells is None else cells.values
        images, n = self.whole.data["image"], layout.order.size
        if not len(images) or not images[0].size:
            return None
        image = np.asarray(images[0])
        edges = geometry.bins(layout.row_start, 0, layout.n_rows, image.shape[0])
        count = min(n, max(MAX_TEXELS, image.shape[0]))
        places = (2 * np.arange(count) + 1) * n // (2 * count)  # the middles of equal shares
        texel = np.searchsorted(edges, places, side="right") - 1
        values = cells.low + image[np.ix_(texel, texel)] * ((cells.high - cells.low) / 254)
        return np.where(image[np.ix_(texel, texel)] > 254, np.nan, values)

    def mask_to_print(self, layout: Layout) -> tuple[Any, Sequence[str]]:
        """Return the mask's levels (k, k) over the leaves in their order, and their colours."""
        if not self.is_masked:
            return None, ()
        return self.mask.levels(layout, MAX_TEXELS), self.mask.colours

    def draw_sharp(self, layout: Layout, window: tuple[float, float], zoomed: bool) -> None:
        """Draw the rows in view, and a tenth as many above and below, at full resolution."""
        cells = self.cells
        coarse = layout.n_rows > MAX_TEXELS or (
            cells is not None and cells.order is not None and cells.width > MAX_TEXELS
        )
        if cells is None or not zoomed or not coarse:
            self._requests.pop(self.sharp, None)
            if len(self.sharp.data["x"]):
                self.sharp.data = dict(EMPTY)
            clear(self.mask_sources[1])
            return
        margin = 0.1 * (window[1] - window[0])
        first = max(0, int(window[0] - margin))
        last = min(layout.n_rows, int(np.ceil(window[1] + margin)))
        self._show(self.sharp, cells, layout, (first, last))
        if self.is_masked:
            self.mask.draw(self.mask_sources[1], layout, (first, last), MAX_TEXELS)
        else:
            clear(self.mask_sources[1])

    def _show(
        self,
        source: ColumnDataSource,
        cells: HeatmapCells,
        layout: Layout,
        rows: tuple[int, int],
        texels: int = MAX_TEXELS,
    ) -> None:
        """Draw one picture: at once, or on another thread if the similarity is expensive."""
        self._requests.pop(source, None)
        if cells.expensive and not cells.scaled:
            return  # their scale is being computed
        if cells.expensive and self.worker is not None:
            self._requests[source] = (cells, layout, rows)
            self._compute_next()
        else:
            source.data = self._image(cells, layout, rows, texels)

    def _compute_next(self) -> None:
        """Compute the next picture that is still wanted, one at a time."""
        if self._is_busy or not self._requests or self.worker is None:
            return
        source, request = next(iter(self._requests.items()))
        self._is_busy = True

        def done(image: Any) -> None:
            self._is_busy = False
            if self._requests.get(source) is request:
                del self._requests[source]
                if image is not None and self.cells is request[0]:
                    source.data = image
            self._compute_next()

        self.worker(lambda: self._image(*request), done)

    def _image(
        self, cells: HeatmapCells, layout: Layout, rows: tuple[int, int], texels: int = MAX_TEXELS
    ) -> dict[str, Any]:
        first, last = rows
        row_bins = geometry.bins(layout.row_start, first, last, texels)
        if cells.lazy:
            image = cells.pooled(layout, first, last)
            x, width = float(first), float(last - first)
        elif cells.order is None:
            image = geometry.pool(cells.levels, row_bins, layout.order, row_bins, layout.order)
            x, width = float(first), float(last - first)
        else:
            edges = np.arange(cells.width + 1, dtype=np.int32)
            columns = geometry.bins(edges, 0, cells.width, MAX_TEXELS)
            image = geometry.pool(cells.levels, row_bins, layout.order, columns, cells.order)
            x, width = 0.0, float(cells.width)
        return {
            "image": [image], "x": [x], "y": [float(-first)],
            "dw": [width], "dh": [float(last - first)],
        }  # fmt: skip

    def draw_names(self, width_px: float) -> None:
        """The columns' names: level where they fit, upright where they do not, thinned at last."""
        cells = self.cells
        if cells is None or cells.order is None or not cells.names or width_px <= 0:
            return
        shown = max(1.0, self.x_range.end - self.x_range.start)
        pitch = width_px / shown
        font = float(min(11, max(8, np.floor(pitch / label_fitting.LEADING))))
        names = [cells.names[k] for k in cells.order]
        level = max(label_fitting.text_width(name, 11.0) for name in names) <= pitch - 6
        every = 1 if level else max(1, int(np.ceil((font * label_fitting.LEADING) / pitch)))
        at = range(0, len(names), every)
        room = pitch * every - 4 if level else MAX_NAMES_PX - 6
        size = 11.0 if level else font
        texts = [label_fitting.shorten(names[k], size, room) for k in at]
        tallest = 14.0 if level else max(label_fitting.text_width(text, size) for text in texts)
        needed = int(tallest + 5)  # a zoom does not make the room smaller: nothing jumps
        self.names_px = needed if shown == cells.width else max(needed, self.names_px)
        self._names.glyph.update(
            angle=0.0 if level else np.pi / 2,
            text_align="center" if level else "right",
            text_baseline="top" if level else "middle",
            text_font_size=f"{size:g}px",
        )
        self.names_source.data = {
            "x": f32([k + 0.5 for k in at]),
            "text": texts,
        }

    def draw_frames(self, runs: Sequence[tuple[float, float]], n_rows: int) -> None:
        """Outline the selected rows (and, between items, the same columns)."""
        cells = self.cells
        if cells is None or (not runs and len(self.frames.data["left"]) == 0):
            return
        square = cells.order is None and len(runs) == 1
        right = float(cells.width if cells.order is not None else n_rows)
        self.frames.data = {
            "left": [float(a) if square else 0.0 for a, _ in runs],
            "right": [float(b) if square else right for _, b in runs],
            "top": [-float(a) for a, _ in runs],
            "bottom": [-float(b) for _, b in runs],
        }

    def outline(self, rows: tuple[float, float] | None, cell: Any, n_rows: int) -> None:
        """Outline the rows under the pointer, or one cell (column, row); None for nothing."""
        if self.cells is None or rows is None:
            box: dict[str, Any] = {"left": [], "right": [], "top": [], "bottom": []}
        else:
            width = n_rows if self.cells.order is None else self.cells.width
            left, right = (cell[0], cell[0] + 1) if cell else (0, width)
            top, bottom = (cell[1], cell[1] + 1) if cell else rows
            box = {
                "left": [float(left)], "right": [float(right)],
                "top": [-float(top)], "bottom": [-float(bottom)],
            }  # fmt: skip
        if dict(self.hovered.data) != box:
            self.hovered.data = box


__all__ = ["TREE_PX", "HeatFigure"]
