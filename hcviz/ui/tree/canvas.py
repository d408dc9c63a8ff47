"""Everything that is drawn, from one layout: figures, window, and what is redrawn when."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from bokeh.models import Range1d

from hcviz.core.cached_similarities import CachedSimilarities
from hcviz.core.tree import Tree
from hcviz.io.picture import LOW_SUPPORT
from hcviz.ui.parts.palette import THEMES, class_colours
from hcviz.ui.tree import geometry
from hcviz.ui.tree.axis import Axis
from hcviz.ui.tree.cells import (
    Cells,
    Scaling,
    feature_cells,
    is_dear,
    lazy_scale,
    similarity_cells,
    unscaled_cells,
)
from hcviz.ui.tree.clusters import ClusterColours
from hcviz.ui.tree.debounce import Soon
from hcviz.ui.tree.dendrogram import TreeFigure
from hcviz.ui.tree.drag import Drag, Phase
from hcviz.ui.tree.echo import Echo
from hcviz.ui.tree.frames import PULSE_MS, pixels, show_range
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.heatmap import HeatFigure
from hcviz.ui.tree.items import Items, Strip
from hcviz.ui.tree.labels import LabelFigure
from hcviz.ui.tree.minimap import MiniMap
from hcviz.ui.tree.motion import View, coming_from, move_together
from hcviz.ui.tree.partition import Partition
from hcviz.ui.tree.scene import Scene, see
from hcviz.ui.tree.stage import Stage
from hcviz.ui.tree.strips import MOST_TEXELS as STRIP_TEXELS
from hcviz.ui.tree.strips import StripFigure
from hcviz.ui.tree.touch import Touch

#: The wheel zooms down to so many rows; fewer than these are not zoomed.
FEWEST_ROWS = 4.0
#: A tree that comes this soon (s) after the last does not move there: the eye follows the stream.
TWEEN_AFTER = 0.3
#: A changed clade is emphasised this long (ms).
FRESH_MS = 1800
#: Rows below this many pixels draw the branches to leaves apart from the structure.
DENSE = 2.5
#: Rows below this many pixels are not told apart: clades less tall than ``FOLD`` px are folded
#: into triangles, which are ``LEAST`` px long where there is room before their parent.
FOLD_BELOW, FOLD, LEAST = 1.0, 6.0, 9.0
#: Trees of so few rows are drawn whole in any window: a zoom leaves them as they are.
FEW = 200
#: A selection is seen from this many pixels.
SEEN = 2.0
#: Stretches of a selection that are sent wherever they are; of more those near the window.
MOST_BANDS = 400
#: Colours of similarities that come to be known are chosen anew for so many times as many.
MORE = 1.2
#: Air above the first row and below the last, as a share of all rows: letters are taller.
PADDING = 0.005
#: Until the browser has told its size.
ASSUMED_HEIGHT, ASSUMED_WIDTH = 640, 420


def fold_rows(row_px: float) -> float:
    """Rows below which a clade is folded where a row takes ``row_px`` pixels; 0 for none."""
    return FOLD / row_px if row_px < FOLD_BELOW else 0.0


class Canvas:
    """The figures of one browser session and the state that they show; :class:`Centre` drives it.

    Rows are shown between ``-end`` and ``-start`` of one range that all figures share. What depends
    on the rows in view (labels, the sharp picture, how finely the tree is drawn) is redrawn a
    moment after they moved; everything else when a layout comes.
    """

    def __init__(self, theme: Literal["light", "dark"]) -> None:
        self._theme = THEMES[theme]
        self._items = Items(())
        self._strip_data: tuple[Strip, ...] = ()
        self._tree: Tree | None = None
        self._layout: Layout | None = None
        self._scene: Scene
        self._cells: Cells | None = None
        self._scaling: Any = None  # the oracle that is being asked for its colours' scale
        self._scale: tuple[Any, tuple[float, float]] | None = None  # and the last that told it
        self._scaled_by = 0  # similarities that were known when it was told
        self._matrix: tuple[str, Scaling, Literal["dendrogram", "file"]] = (
            "similarity", "zscore", "dendrogram",
        )  # fmt: skip
        self._uncertain: Cells | None = None
        self._collapsed: dict[bytes, np.ndarray] = {}
        self._selected = self._together = self._apart = np.empty(0, np.int64)
        self._partition: Partition | None = None
        self._axis: Axis | None = None
        self._cluster_code: Any = None
        self._colours = ClusterColours()
        self._support: Any = None
        self._below = LOW_SUPPORT  # supports below this are of uncertain splits
        self._merged: np.ndarray | None = None  # bool (m,)
        self._levels: Any = None
        self._last_tree = 0.0
        self._quiet = False
        self._streaming = False

        self._rows: Any = Range1d(start=-1, end=0, min_interval=FEWEST_ROWS)
        self._dendrogram = TreeFigure(self._rows, self._theme)
        self._labels = LabelFigure(self._rows, self._theme)
        move_together(
            self._dendrogram.tree,
            (*self._dendrogram.moving, *self._labels.moving),
            self._dendrogram.figure,
        )
        self._strips = StripFigure(self._rows, self._theme)
        self._heat = HeatFigure(self._rows, self._theme)
        self.soon = Soon(self._dendrogram.figure)
        self._map = MiniMap(self._dendrogram, self._rows, self._theme)
        self._figures = {
            "tree": self._dendrogram.figure,
            "labels": self._labels.figure,
            "strips": self._strips.figure,
            "heat": self._heat.figure,
        }
        for name, plot in self._figures.items():  # tests and benchmarks find them by name
            plot.name = name
        self._dendrogram.tree.name = "tree-lines"
        self._echo = Echo(self._dendrogram.tree)
        self._touch = Touch(self._figures, self._dendrogram, self._labels, self._heat)
        self._drag = Drag(self._dendrogram, self._labels, self._touch, self._dragged)
        self._drag.set_theme(self._theme)
        self._dendrogram.layers["selection"].name = "selection-lines"
        self._labels.text.name = "label-text"
        self._labels.pictures.name = "label-pictures"
        self._stage = Stage(
            self._figures, self._dendrogram, self._labels, self._heat, self._map.figure, self._theme
        )
        self.view = self._stage.view
        self._rows.on_change("start", self._moved)
        self._rows.on_change("end", self._moved)
        self._heat.x_range.on_change("start", self._columns_moved)
        self._heat.x_range.on_change("end", self._columns_moved)
        for plot in self._figures.values():
            plot.on_change("inner_width", self._resized)
        self._dendrogram.figure.on_change("inner_height", self._resized)
        self._dendrogram.show_frame(False)
        self._set_tracks()
        self._say_empty()

    def _dragged(self, phase: Phase, leaf: int, members: tuple[int, ...]) -> None:
        """A leaf was taken, dropped on a clade or let go."""

    # ------------------------------------------------------------------ layout and window

    @property
    def _window(self) -> tuple[float, float]:
        return -float(self._rows.end), -float(self._rows.start)

    @property
    def _cut(self) -> float | None:
        """Where the line stands that parts the tree; None without one."""
        return None if self._partition is None else self._partition.cut

    @property
    def _padding(self) -> float:
        return PADDING * (self._layout.n_rows if self._layout else 1)

    @property
    def _zoomed(self) -> bool:
        top, bottom = self._window
        return self._layout is not None and bottom - top < self._layout.n_rows

    @property
    def _row_px(self) -> float:
        top, bottom = self._window
        height = pixels(self._dendrogram.figure, "inner_height", ASSUMED_HEIGHT)
        return height / max(bottom - top, 1e-9)

    @property
    def _view(self) -> View | None:
        """What is shown now, for a transition from it."""
        if self._layout is None:
            return None
        return View(self._scene, self._dendrogram.top, self._window)

    def _lay_out(self, order: np.ndarray, before: View | None = None) -> None:
        tree = self._tree
        if tree is None:
            return
        was_zoomed, had = self._zoomed, self._layout is not None
        nodes = []
        for members in self._collapsed.values():
            node = geometry.clade_node(tree, members)
            if node is not None:
                nodes.append(node)
        self._layout = layout = geometry.lay_out(tree, order, nodes)
        whole = (-self._padding, layout.n_rows + self._padding)
        self._go_to(*(self._inside(*self._window) if was_zoomed and had else whole), whole)
        self._dendrogram.set_height(float(tree.height[-1]), keep=self._streaming)
        self._draw_axis()
        self._map.draw(layout.n_rows, self._padding)
        self._draw_all(before)

    def _inside(self, top: float, bottom: float) -> tuple[float, float]:
        rows, padding = float(self._layout.n_rows if self._layout else 1), self._padding
        span = min(bottom - top, rows + 2 * padding)
        top = min(max(top, -padding), rows + padding - span)
        return top, top + span

    def _go_to(self, top: float, bottom: float, within: Any = None) -> None:
        """Show these rows, ``within`` these for a pointer's zoom; None: wherever it is."""
        bounds = None if within is None else (-within[1], -within[0])
        if self._window != (top, bottom) or self._rows.bounds != bounds:
            self._quiet = True
            show_range(self._rows, -bottom, -top, bounds)
            self._quiet = False
            if self._heat.x_range.tags == ["rows"]:
                self._heat.follow_rows()
        if self._map.show(self._zoomed):
            self._set_tracks()

    def _show_rows(self, top: float, bottom: float) -> None:
        rows = self._layout.n_rows if self._layout else 1
        whole = (-self._padding, rows + self._padding)
        self._go_to(*self._inside(top, bottom), whole)
        self._refresh_window()

    def _moved(self, _attribute: str, _old: Any, _new: Any) -> None:
        if not self._quiet:
            self.soon("window", self._refresh_window, 60)

    def _refresh_window(self) -> None:
        """After a zoom or a pan: what depends on the rows in view."""
        if self._layout is None:
            return
        if self._map.show(self._zoomed):
            self._set_tracks()
        if self._layout.n_rows > FEW:
            self._draw_branches()
        if self._layout.n_rows > STRIP_TEXELS:
            self._draw_strips()
        else:
            self._draw_numbers()
        self._heat.draw_sharp(self._layout, self._window, self._zoomed)
        self._draw_labels()
        self._draw_support()

    def _columns_moved(self, _attribute: str, _old: Any, _new: Any) -> None:
        if self._cells is not None and self._cells.order is not None:
            self.soon("names", self._draw_names, 60)

    def _resized(self, _attribute: str, _old: Any, _new: Any) -> None:
        self.soon("size", self._refit, 40)

    def _draw_axis(self) -> None:
        title = "" if self._axis is None else self._axis.title
        width = pixels(self._dendrogram.figure, "inner_width", ASSUMED_WIDTH)
        self._dendrogram.draw_title(title, width)

    def _refit(self) -> None:
        self._draw_axis()
        self._draw_names()
        self._draw_head()
        self._refresh_window()

    def _draw_names(self) -> None:
        self._heat.draw_names(float(pixels(self._heat.figure, "inner_width", ASSUMED_WIDTH)))
        self._set_tracks()

    def _set_tracks(self) -> None:
        count = len(self._strip_data) + (self._partition is not None)
        if self._stage.arrange(self._cells, count, self._map.width):
            self._draw_head()

    # ------------------------------------------------------------------ drawing

    def when_drawn(self, call: Callable[[], None]) -> None:
        """Call when the browser has drawn the tree it was sent last; at once without a server."""
        document = self._dendrogram.figure.document
        if document is not None and document.session_context is not None:
            self._echo.ask(call)
        else:
            call()

    def _draw_all(self, before: View | None = None) -> None:
        self._draw_tree(before)
        self._draw_cut()
        self._draw_selection()
        self._draw_marks()
        self._draw_labels()
        if self._layout is not None:
            self._rescale()
            self._heat.draw(self._layout, self._window, self._zoomed, self._streaming)
        if self._streaming:
            self.soon("settle", self._settle, 450)
        self._draw_support()
        self._show_fresh(())
        self._dendrogram.draw_ways()

    def _settle(self) -> None:
        """The stream has paused, or it is looked at again a little later."""
        if time.monotonic() - self._last_tree < TWEEN_AFTER:
            self.soon("settle", self._settle, 450)
        elif self._layout is not None:
            self._streaming = False
            self._dendrogram.set_height(float(self._layout.tree.height[-1]))
            self._draw_axis()
            if self._layout.n_rows > FEW:
                self._draw_tree()
                self._draw_selection()
                self._draw_marks()
            self._draw_cut(strips=False)
            self._heat.draw(self._layout, self._window, self._zoomed)

    def _seen(self) -> Scene:
        assert self._layout is not None
        layout = self._layout
        height = pixels(self._dendrogram.figure, "inner_height", ASSUMED_HEIGHT)
        width = pixels(self._dendrogram.figure, "inner_width", ASSUMED_WIDTH)
        top, bottom = self._window
        reach = 0.5 * (bottom - top)
        return see(
            layout,
            (max(0.0, top - reach), min(float(layout.n_rows), bottom + reach)),
            fold_rows(self._row_px),
            fold_rows(height / layout.n_rows),
            LEAST / width * float(layout.tree.height[-1]),
            self._merged,
        )

    def _draw_tree(self, before: View | None = None) -> None:
        if self._layout is not None:
            self._scene = self._seen()
            now = View(self._scene, self._dendrogram.top, self._window)
            self._scene = coming_from(now, before)
            self._dendrogram.draw(self._scene, FOLD_BELOW <= self._row_px < DENSE)
            self._draw_touch()

    def _draw_branches(self) -> None:
        """The tree, and what is drawn along its branches."""
        self._draw_tree()
        self._draw_selection()
        self._draw_marks()
        self._draw_cut(strips=False)

    def _draw_touch(self) -> None:
        if self._layout is not None:
            width = 0 if self._cells is None else self._cells.width
            self._touch.draw(self._scene, width)
            self._drag.draw(self._layout)

    def _draw_selection(self) -> None:
        if self._layout is None:
            return
        self._dendrogram.draw_layer("selection", self._scene, self._selected)
        runs = geometry.runs(self._layout, self._selected, SEEN / max(self._row_px, 1e-9))
        if len(runs) > MOST_BANDS:
            top, bottom = self._window
            reach = bottom - top
            runs = [run for run in runs if run[1] > top - reach and run[0] < bottom + reach]
        self._dendrogram.draw_bands(runs)
        self._labels.draw_bands(runs)
        self._heat.draw_frames(runs, self._layout.n_rows)

    def _draw_marks(self) -> None:
        if self._layout is not None:
            for name, leaves in (("together", self._together), ("apart", self._apart)):
                self._dendrogram.draw_layer(name, self._scene, leaves)

    def _show_fresh(self, nodes: Any) -> None:
        if self._layout is None:
            return
        self._dendrogram.draw_nodes("fresh", self._scene, nodes)
        if len(nodes) and self.soon.has_clock:
            self.soon("fresh", lambda: self._show_fresh(()), FRESH_MS)

    def _show_ways(self, ways: Sequence[tuple[int, Sequence[int], str]]) -> None:
        """Let the branches from a node down to some leaves pulse, each in a colour."""
        if self._layout is None:
            return
        self._dendrogram.draw_ways(
            [(*self._scene.way(top, leaves), colour) for top, leaves, colour in ways]
        )
        if ways and self.soon.has_clock:
            self.soon("ways", self._dendrogram.draw_ways, PULSE_MS + 2000)

    def _draw_labels(self) -> None:
        if self._layout is not None:
            self._labels.draw(
                self._scene,
                self._items,
                self._window,
                self._row_px,
                selected=self._selected,
                together=self._together,
                apart=self._apart,
            )

    def _draw_cut(self, strips: bool = True) -> int:
        tree, layout = self._tree, self._layout
        if tree is None or layout is None:
            return 0
        part, clusters = self._partition, 0
        if part is None:
            colour_of = np.full(tree.n_nodes, -1)
            self._dendrogram.show_cut(None)
        else:
            clusters, colour_of, self._cluster_code = self._colours.of(
                tree, part, len(self._theme.clusters), layout.order
            )
            text = f"{clusters:,} cluster{'s' * (clusters != 1)}"
            self._quiet = True
            self._dendrogram.show_cut(part.cut, text)
            self._quiet = False
        if self._levels is not None:
            self._dendrogram.draw_levels(self._scene, self._levels, self._theme.costs)
        else:
            self._dendrogram.draw_clusters(
                self._scene, colour_of, np.inf if self._cut is None else self._cut,
                self._theme.clusters, FOLD_BELOW <= self._row_px < DENSE,
            )  # fmt: skip
        if strips:
            self._set_tracks()
            self._draw_strips()
        return clusters

    def _draw_strips(self) -> None:
        if self._layout is None:
            return
        shown: list[tuple[Any, Sequence[str]]] = [
            (strip.codes, class_colours(len(strip.names))) for strip in self._strip_data
        ]
        if self._partition is not None:
            shown.append((self._cluster_code, self._theme.clusters))
        self._strips.draw(self._layout, shown, self._window)
        self._draw_numbers()

    def _draw_numbers(self) -> None:
        """The clusters' numbers, as in the CSV, on the last strip."""
        if self._layout is not None:
            of_item = None if self._partition is None else self._partition.of_item
            colours = (self._cluster_code, self._theme.clusters)
            self._strips.draw_numbers(self._layout, of_item, colours, self._window, self._row_px)

    def _draw_support(self) -> None:
        if self._layout is not None:
            self._dendrogram.draw_support(
                self._scene, self._support, self._below, self._window, self._row_px
            )

    def _load_cells(self) -> None:
        kind, scaling, columns = self._matrix
        if kind == "similarity":
            self._cells = self._similarity_cells()
        elif kind == "features":
            self._cells = feature_cells(self._items, scaling, columns)
        elif kind == "uncertainty":
            self._cells = self._uncertain
        else:
            self._cells = None
        self._heat.set_cells(self._cells)
        self._draw_names()
        self._draw_head()
        if self._layout is not None:
            self._heat.draw(self._layout, self._window, self._zoomed)
            self._draw_touch()
            self._draw_selection()

    def _rescale(self) -> None:
        """More similarities are known than when the colours' scale was chosen."""
        cells = self._cells
        known = cells.raw if cells is not None and cells.kind == "similarity" else None
        if isinstance(known, CachedSimilarities) and known.n_cached > MORE * self._scaled_by:
            self._scaled_by = known.n_cached
            self._cells = self._heat.cells = similarity_cells(self._items)
            self._draw_head()

    def _similarity_cells(self) -> Cells | None:
        """Of an oracle that may take long the colours' scale is asked for off this thread, once;
        until it is known the cells are there, and empty."""
        items, later = self._items, self._heat.later
        oracle = items.similarity
        if isinstance(oracle, CachedSimilarities):
            self._scaled_by = oracle.n_cached
            if not oracle.n_cached:  # no scale is known, either
                return unscaled_cells(items)
        if later is None or not is_dear(oracle):
            return similarity_cells(items)
        if self._scale is not None and self._scale[0] is oracle:
            return similarity_cells(items, self._scale[1])

        def done(found: tuple[float, float] | None) -> None:
            if self._scaling is not oracle:  # another one meanwhile
                return
            self._scaling = None
            self._scale = (oracle, found or (0.0, 1.0))
            if self._cells is not None and self._cells.raw is oracle:
                self._load_cells()

        if self._scaling is not oracle:
            self._scaling = oracle
            later(lambda: lazy_scale(oracle), done)
        return unscaled_cells(items)

    def _draw_head(self) -> None:
        shown = self._cells if self._tree is not None else None
        self._stage.draw_head(self._items, self._strip_data, shown)

    def _say_empty(self) -> None:
        self._draw_head()
        self._stage.say_empty(self._items.n > 0, self._tree is not None)
