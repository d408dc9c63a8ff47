"""``TreeRenderer``: draws the state in the figures, and decides what is drawn again and when.

What depends on the rows in view (labels, the sharp picture, how finely the tree is drawn) is drawn
again a moment after a zoom. Everything else is drawn when the layout changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from hcviz.core.text import count_noun
from hcviz.ui.parts.palette import Theme, class_colours
from hcviz.ui.tree import geometry
from hcviz.ui.tree.bare_figure import PULSE_MS
from hcviz.ui.tree.cell_source import CellSource
from hcviz.ui.tree.figures import Figures
from hcviz.ui.tree.motion import View, coming_from
from hcviz.ui.tree.row_window import RowWindow
from hcviz.ui.tree.scene import TreeScene, build_scene
from hcviz.ui.tree.strips import MAX_TEXELS as STRIP_TEXELS
from hcviz.ui.tree.tree_state import TreeState

#: Seconds. A tree that follows the last one sooner is drawn without a transition.
TRANSITION_AFTER = 0.3
#: Milliseconds for which a changed clade is emphasised.
NEW_NODES_MS = 1800
#: Where rows have fewer pixels, branches to leaves are drawn apart from the other branches.
DENSE = 2.5
#: Where rows have fewer pixels than ``FOLD_BELOW``, clades of less than ``FOLD`` pixels are folded
#: into triangles. These are ``LEAST`` pixels long if the branch above leaves the room.
FOLD_BELOW, FOLD, LEAST = 1.0, 6.0, 9.0
#: Trees with so few rows are drawn whole if their rows have room. A zoom need not draw them again.
FEW = 200
#: Least height in pixels of a band that marks selected rows.
LEAST_BAND = 2.0
#: Bands that are sent wherever they are. Of more, those near the window are sent.
MAX_BANDS = 400
#: Milliseconds between two checks whether a run's trees still arrive.
SETTLE_MS = 450


def fold_rows(row_px: float) -> float:
    """Return the rows below which a clade is folded, given a row's pixels; 0 for no folding."""
    return FOLD / row_px if row_px < FOLD_BELOW else 0.0


class TreeRenderer:
    """Draws ``state`` and the cells of ``source`` in ``figures``, for the rows of ``window``."""

    #: The slots drawn; set with the first layout.
    scene: TreeScene

    def __init__(
        self,
        state: TreeState,
        window: RowWindow,
        figures: Figures,
        source: CellSource,
        theme: Theme,
    ) -> None:
        self._state, self._window, self._figures, self._source = state, window, figures, source
        self._theme = theme
        self._last_tree = 0.0  # when a tree was last shown
        self._is_streaming = False
        window.on_move(lambda: self._later("window", self.refresh_window, 60))
        heat = figures.heat
        for name in ("start", "end"):
            heat.x_range.on_change(name, self._columns_moved)
        for plot in figures.by_name.values():
            plot.on_change("inner_width", self._resized)
        figures.dendrogram.figure.on_change("inner_height", self._resized)
        self.set_tracks()
        self.show_placeholder()

    # ------------------------------------------------------------------ trees and rows

    def begin_tree(self, animate: bool, last: bool) -> View | None:
        """Note that another tree comes; return the view from which it may move, if it should.

        Trees of a run that come in quick succession do not move. The ``last`` tree always does.
        """
        now = time.monotonic()
        follows = now - self._last_tree < TRANSITION_AFTER
        self._is_streaming = follows and self._figures.debouncer.has_clock and not last
        self._last_tree = now
        return self.view() if last or (animate and not follows) else None

    def view(self) -> View | None:
        """Return what is shown now, as the start of a transition; None without a tree."""
        if self._state.layout is None:
            return None
        return View(self.scene, self._figures.dendrogram.top, self._window.rows)

    def lay_out(self, order: Any, before: View | None = None, at_rest: bool = False) -> None:
        """Lay the tree out in a leaf order, int (n,), and draw it, moving from ``before``.

        ``at_rest``: draw in full detail, even while trees of a run arrive.
        """
        state, window, tree = self._state, self._window, self._state.tree
        if tree is None:
            return
        if at_rest:
            self._is_streaming = False
        was_zoomed = window.is_zoomed
        layout = state.lay_out(order)
        rows = window.clamp(*window.rows) if was_zoomed else window.whole
        self._go_to(rows, window.whole)
        self._figures.dendrogram.set_height(float(tree.height[-1]), keep=self._is_streaming)
        self._draw_axis()
        self._figures.minimap.draw(layout.n_rows, window.padding)
        self._draw_all(before)

    def show_rows(self, top: float, bottom: float) -> None:
        """Zoom to these rows."""
        self._go_to(self._window.clamp(top, bottom), self._window.whole)
        self.refresh_window()

    def clear(self) -> None:
        """Remove all pictures and show the rows that other items will have."""
        rows = max(1, self._state.items.n)
        self._go_to((0.0, float(rows)), None)
        self._figures.clear()
        self._figures.minimap.draw(rows, 0.0)

    def _go_to(self, rows: tuple[float, float], within: tuple[float, float] | None) -> None:
        heat = self._figures.heat
        if self._window.show(*rows, within) and heat.x_range.tags == ["rows"]:
            heat.follow_rows()
        self._update_map()

    def _update_map(self) -> None:
        if self._figures.minimap.show(self._window.is_zoomed):
            self.set_tracks()

    def refresh_window(self) -> None:
        """Draw again what depends on the rows in view."""
        layout = self._state.layout
        if layout is None:
            return
        self._update_map()
        if not self._is_whole:
            self.draw_branches()
        if layout.n_rows > STRIP_TEXELS:
            self.draw_strips()
        else:
            self.draw_cluster_numbers()
        self._figures.heat.draw_sharp(layout, self._window.rows, self._window.is_zoomed)
        self.draw_labels()
        self.draw_group_names()
        self.draw_support()

    # ------------------------------------------------------------------ sizes

    def _later(self, name: str, call: Callable[[], Any], milliseconds: int) -> None:
        self._figures.debouncer(name, call, milliseconds)

    def _columns_moved(self, _attribute: str, _old: Any, _new: Any) -> None:
        if self._source.cells is not None and self._source.cells.order is not None:
            self._later("names", self._draw_names, 60)

    def _resized(self, _attribute: str, _old: Any, _new: Any) -> None:
        self._later("size", self.fit_size, 40)

    def fit_size(self) -> None:
        """Fit axis, names and cells to the size of the figures."""
        self._draw_axis()
        self._draw_names()
        self.draw_head()
        self.refresh_window()

    def _draw_axis(self) -> None:
        axis = self._state.axis
        self._figures.dendrogram.draw_axis(
            "" if axis is None else axis.title,
            self._figures.tree_width,
            "{:.6g}".format if axis is None else axis.tick,
            levels=axis is not None and axis.even,
        )

    def _draw_names(self) -> None:
        self._figures.heat.draw_names(float(self._figures.heat_width))
        self.set_tracks()

    def set_tracks(self) -> None:
        """Give each figure its width and height in the grid."""
        count = len(self._state.strips) + (self._state.partition is not None)
        if self._figures.grid.arrange(self._source.cells, count, self._figures.minimap.width):
            self.draw_head()

    def draw_head(self) -> None:
        """Write the line above the figures."""
        shown = self._source.cells if self._state.tree is not None else None
        named = self._state.named_clusters(self._theme.clusters)
        self._figures.grid.draw_head(self._state.items, (*self._state.strips, *named), shown)

    def show_placeholder(self) -> None:
        """Write the line above the figures, and a hint in place of a tree that is missing."""
        self.draw_head()
        self._figures.grid.show_placeholder(self._state.items.n > 0, self._state.tree is not None)

    # ------------------------------------------------------------------ the whole picture

    def when_drawn(self, call: Callable[[], None]) -> None:
        """Call ``call`` when the browser has drawn the last tree; at once without a server."""
        document = self._figures.dendrogram.figure.document
        if document is not None and document.session_context is not None:
            self._figures.drawn.wait(call)
        else:
            call()

    def set_theme(self, theme: Theme) -> None:
        """Draw everything in other colours."""
        self._theme = theme
        self._figures.set_theme(theme)
        self.show_placeholder()
        self._draw_tree()
        self.draw_marks()
        self.draw_clusters()
        self.draw_labels()
        self.draw_strips()

    def set_scale(self, scale: float) -> None:
        """Multiply the size of the type and the width of the lines."""
        figures = self._figures
        figures.dendrogram.set_scale(scale)
        figures.labels.set_scale(scale, self._state.items)
        figures.grid.set_scale(scale)
        self.set_tracks()
        self.fit_size()

    def load_cells(self) -> None:
        """Make the cells of the chosen matrix and draw them."""
        heat, layout = self._figures.heat, self._state.layout
        heat.set_cells(self._source.load(self._state.items))
        self._draw_names()
        self.draw_head()
        if layout is not None:
            heat.draw(layout, self._window.rows, self._window.is_zoomed)
            self._draw_preview()
            self.draw_selection()

    def draw_query_mask(self) -> None:
        """Draw the query mask again over both pictures of the heatmap."""
        layout = self._state.layout
        if layout is not None:
            self._figures.heat.draw_mask(layout)
            self._figures.heat.draw_sharp(layout, self._window.rows, self._window.is_zoomed)

    def _draw_all(self, before: View | None) -> None:
        heat, layout = self._figures.heat, self._state.layout
        assert layout is not None
        self._draw_tree(before)
        self.draw_clusters()
        self.draw_selection()
        self.draw_marks()
        self.draw_labels()
        if self._source.rescale(self._state.items):
            heat.cells = self._source.cells
            self.draw_head()
        heat.draw(layout, self._window.rows, self._window.is_zoomed, self._is_streaming)
        if self._is_streaming:
            self._later("settle", self._settle, SETTLE_MS)
        self.draw_group_names()
        self.draw_support()
        self.show_new_nodes(())
        self._figures.dendrogram.draw_paths()

    def _settle(self) -> None:
        """Draw in full detail if no tree has come for a while; else check again later."""
        layout = self._state.layout
        if time.monotonic() - self._last_tree < TRANSITION_AFTER:
            self._later("settle", self._settle, SETTLE_MS)
        elif layout is not None:
            self._is_streaming = False
            self._figures.dendrogram.set_height(float(layout.tree.height[-1]))
            self._draw_axis()
            if not self._is_whole:
                self._draw_tree()
                self.draw_selection()
                self.draw_marks()
            self.draw_clusters(strips=False)
            self.draw_group_names()
            self._figures.heat.draw(layout, self._window.rows, self._window.is_zoomed)

    # ------------------------------------------------------------------ the tree

    @property
    def _is_dense(self) -> bool:
        return FOLD_BELOW <= self._figures.row_px < DENSE

    @property
    def _is_whole(self) -> bool:
        """True if the tree is drawn whole, and stays so: a zoom does not draw it again.

        A tree that was folded in a low window is drawn again when the window grows.
        """
        return (
            self.scene.layout.n_rows <= FEW
            and self.scene.triangles.size == 0
            and self._figures.row_px >= FOLD_BELOW
        )

    def _build_scene(self) -> TreeScene:
        layout = self._state.layout
        assert layout is not None
        top, bottom = self._window.rows
        reach = 0.5 * (bottom - top)
        return build_scene(
            layout,
            (max(0.0, top - reach), min(float(layout.n_rows), bottom + reach)),
            fold_rows(self._figures.row_px),
            fold_rows(self._figures.tree_height / layout.n_rows),
            LEAST / self._figures.tree_width * float(layout.tree.height[-1]),
            self._state.merged,
        )

    def _draw_tree(self, before: View | None = None) -> None:
        if self._state.layout is None:
            return
        self.scene = self._build_scene()
        now = View(self.scene, self._figures.dendrogram.top, self._window.rows)
        self.scene = coming_from(now, before)
        self._figures.dendrogram.draw(self.scene, self._is_dense)
        self._draw_preview()

    def draw_branches(self) -> None:
        """Draw the tree, and what is drawn along its branches."""
        self._draw_tree()
        self.draw_selection()
        self.draw_marks()
        self.draw_clusters(strips=False)

    def _draw_preview(self) -> None:
        if self._state.layout is not None:
            cells = self._source.cells
            self._figures.preview.draw(self.scene, 0 if cells is None else cells.width)
            self._figures.drag.draw(self._state.layout)

    def draw_selection(self) -> None:
        """Emphasise the selected leaves in all figures."""
        layout, figures = self._state.layout, self._figures
        if layout is None:
            return
        figures.dendrogram.draw_layer("selection", self.scene, self._state.selected)
        least = LEAST_BAND / max(figures.row_px, 1e-9)
        bands = geometry.row_ranges(layout, self._state.selected, least)
        if len(bands) > MAX_BANDS:
            top, bottom = self._window.rows
            reach = bottom - top
            bands = [band for band in bands if band[1] > top - reach and band[0] < bottom + reach]
        figures.dendrogram.draw_bands(bands)
        figures.labels.draw_bands(bands)
        figures.heat.draw_frames(bands, layout.n_rows)

    def draw_marks(self) -> None:
        """Mark the leaves of the constraint that is being built."""
        if self._state.layout is not None:
            for name, leaves in (("together", self._state.together), ("apart", self._state.apart)):
                self._figures.dendrogram.draw_layer(name, self.scene, leaves)

    def show_new_nodes(self, nodes: Any) -> None:
        """Emphasise these nodes for a moment; without any, stop emphasising."""
        if self._state.layout is None:
            return
        self._figures.dendrogram.draw_nodes("new", self.scene, nodes)
        if len(nodes) and self._figures.debouncer.has_clock:
            self._later("new", lambda: self.show_new_nodes(()), NEW_NODES_MS)

    def pulse(self, paths: Sequence[tuple[int, Sequence[int], str]]) -> None:
        """Let the branches from a node down to some leaves pulse, each path in its colour."""
        if self._state.layout is None:
            return
        dendrogram = self._figures.dendrogram
        dendrogram.draw_paths(
            [(*self.scene.path_down(top, leaves), colour) for top, leaves, colour in paths]
        )
        if paths and self._figures.debouncer.has_clock:
            self._later("paths", dendrogram.draw_paths, PULSE_MS + 2000)

    def draw_labels(self) -> None:
        """Write the labels of the rows in view."""
        state = self._state
        if state.layout is not None:
            self._figures.labels.draw(
                self.scene,
                state.items,
                self._window.rows,
                self._figures.row_px,
                selected=state.selected,
                together=state.together,
                apart=state.apart,
                names=self._names_of_labels(),
            )

    def draw_clusters(self, strips: bool = True) -> int:
        """Draw the cut line and the clusters' colours; return the number of clusters."""
        state, dendrogram, theme = self._state, self._figures.dendrogram, self._theme
        if state.tree is None or state.layout is None:
            return 0
        count, colour_of = state.colour_clusters(len(theme.clusters))
        text = "" if state.partition is None else count_noun(count, "cluster")
        dendrogram.show_cut(state.cut, text)
        if state.levels is not None:
            dendrogram.draw_levels(self.scene, state.levels, theme.costs)
        else:
            limit = float("inf") if state.cut is None else state.cut
            dendrogram.draw_clusters(self.scene, colour_of, limit, theme.clusters, self._is_dense)
        if strips:
            self.set_tracks()
            self.draw_strips()
        return count

    def draw_strips(self) -> None:
        """Draw the classes and the clusters beside the labels."""
        state = self._state
        if state.layout is None:
            return
        shown: list[tuple[Any, Sequence[str]]] = [
            (strip.codes, class_colours(len(strip.names))) for strip in state.strips
        ]
        if state.partition is not None:
            shown.append((state.cluster_codes, self._theme.clusters))
        self._figures.strips.draw(state.layout, shown, self._window.rows)
        self.draw_cluster_numbers()

    def draw_cluster_numbers(self) -> None:
        """Write the numbers of clusters without a name, as in the CSV, on the last strip."""
        state, rows = self._state, self._window.rows
        if state.layout is not None:
            of_item = None if state.partition is None else state.partition.of_item
            colours = (state.cluster_codes, self._theme.clusters)
            self._figures.strips.draw_numbers(
                state.layout, of_item, colours, rows, self._figures.row_px, state.cluster_names
            )

    def draw_group_names(self) -> None:
        """Write the names of groups at their branches."""
        state, figures = self._state, self._figures
        if state.layout is not None:
            figures.dendrogram.draw_names(
                self.scene, state.names, self._names_of_labels(), self._window.rows,
                figures.row_px, figures.tree_width,
            )  # fmt: skip

    def _names_of_labels(self) -> dict[int, str]:
        """Return the names of groups that are written beside triangles."""
        figures = self._figures
        return figures.labels.names_with_room(self._state.names, self.scene, figures.row_px)

    def draw_support(self) -> None:
        """Write the support of the clades in view, and draw uncertain splits lighter."""
        state, rows = self._state, self._window.rows
        if state.layout is not None:
            self._figures.dendrogram.draw_support(
                self.scene, state.support, state.below, rows, self._figures.row_px,
                self._figures.tree_width,
            )  # fmt: skip


__all__ = ["FOLD", "TreeRenderer", "fold_rows"]
