"""``Centre``: one browser session's tree, labels, strips and heatmap, kept in line and patched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import panel as pn
from bokeh.events import DoubleTap, Tap
from bokeh.models import GridBox, Range1d
from numpy.typing import ArrayLike

from hcviz.core.errors import InvalidData
from hcviz.core.layout import leaf_order
from hcviz.core.tree import Tree
from hcviz.io.picture import Heat, Ink
from hcviz.io.picture import Strip as PrintStrip
from hcviz.ui import geometry
from hcviz.ui.centre import labels as lettering
from hcviz.ui.centre.cells import Cells, Scaling, feature_cells, similarity_cells
from hcviz.ui.centre.clusters import coloured_clusters
from hcviz.ui.centre.dendrogram import AXIS_PX, TreeFigure
from hcviz.ui.centre.frames import pixels
from hcviz.ui.centre.heatmap import TREE_PX, HeatFigure
from hcviz.ui.centre.hover import Hover
from hcviz.ui.centre.items import Items, Pick, Strip
from hcviz.ui.centre.labels import LabelFigure
from hcviz.ui.centre.legend import legend
from hcviz.ui.centre.minimap import MAP_PX, MiniMap
from hcviz.ui.centre.seriation import seriation
from hcviz.ui.centre.strips import StripFigure
from hcviz.ui.geometry import Layout
from hcviz.ui.palette import THEMES, class_colours, diverging, sequential

HTML: Any = pn.pane.HTML
Bokeh: Any = pn.pane.Bokeh
#: Below this width (px) the tree stands alone.
ALONE = 560
#: A tree that comes this soon (s) after the last is not tweened: the eye follows the stream.
TWEEN_AFTER = 0.3
#: A changed clade is emphasised this long (ms).
FRESH_MS = 1800
#: Rows below this many pixels draw the branches to leaves apart from the structure.
DENSE = 2.5
#: A clade less tall than this (px) is one line.
SMALLEST = 1.0
#: Air above the first row and below the last, as a share of all rows: letters are taller.
PADDING = 0.005
#: Until the browser has told its size.
ASSUMED_HEIGHT, ASSUMED_WIDTH = 640, 420


class Centre:
    """The live dendrogram beside the heatmap. One per browser session; all methods on its thread.

    ``on_pick(Pick)`` is called for every click, ``on_cut(height or None, clusters)`` while the cut
    line is dragged, ``on_toggle(leaves)`` after a double click has collapsed or expanded a clade,
    ``on_hover(Pick)`` when what is under the pointer changes.
    """

    def __init__(
        self,
        *,
        on_pick: Callable[[Pick], None],
        on_cut: Callable[[float | None, int], None] | None = None,
        on_toggle: Callable[[tuple[int, ...]], None] | None = None,
        on_hover: Callable[[Pick], None] | None = None,
        theme: Literal["light", "dark"] = "light",
    ) -> None:
        self._on_pick, self._on_cut = on_pick, on_cut
        self._on_toggle, self._on_hover = on_toggle, on_hover
        self._theme = THEMES[theme]
        self._items = Items(())
        self._strip_data: tuple[Strip, ...] = ()
        self._tree: Tree | None = None
        self._layout: Layout | None = None
        self._cells: Cells | None = None
        self._matrix: tuple[str, Scaling, Literal["dendrogram", "file"]] = (
            "similarity", "zscore", "dendrogram",
        )  # fmt: skip
        self._collapsed: dict[bytes, np.ndarray] = {}
        self._selected: tuple[int, ...] = ()
        self._together: tuple[int, ...] = ()
        self._apart: tuple[int, ...] = ()
        self._cut: float | None = None
        self._cluster_code: Any = None
        self._support: Any = None
        self._wish: Any = None
        self._last_tree = 0.0
        self._hovered: tuple[Any, ...] = ()
        self._waiting: set[str] = set()
        self._quiet = False
        self._streaming = False

        self._rows: Any = Range1d(start=-1, end=0)
        self._dendrogram = TreeFigure(self._rows, self._theme)
        self._labels = LabelFigure(self._rows, self._theme)
        self._strips = StripFigure(self._rows, self._theme)
        self._heat = HeatFigure(self._rows, self._theme)
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
        self._dendrogram.layers["selection"].name = "selection-lines"
        self._labels.text.name = "label-text"
        self._hover = Hover(self._figures, self._describe, self._theme)
        for name, plot in self._figures.items():
            plot.on_event(Tap, lambda event, name=name: self._tapped(name, event))
            plot.on_event(DoubleTap, lambda event, name=name: self._double_tapped(name, event))
        self._grid: Any = GridBox(
            children=[
                (self._heat.tree, 0, 3),
                (self._dendrogram.figure, 1, 0),
                (self._labels.figure, 1, 1),
                (self._strips.figure, 1, 2),
                (self._heat.figure, 1, 3),
                (self._map.figure, 1, 4),
                (self._dendrogram.axis, 2, 0),
                (self._heat.names, 2, 3),
            ],
            sizing_mode="stretch_both",
        )
        self._head = HTML("", sizing_mode="stretch_width", height=26, margin=0)
        self._empty = HTML(
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
        self._pane = Bokeh(self._grid, sizing_mode="stretch_both", margin=0)
        self.view = pn.Column(
            self._head,
            self._pane,
            self._empty,
            sizing_mode="stretch_both",
            margin=0,
            styles={"position": "relative", "overflow": "hidden"},
        )
        self._rows.on_change("start", self._moved)
        self._rows.on_change("end", self._moved)
        self._dendrogram.cut_grip.on_change("location", self._cut_dragged)
        for plot in self._figures.values():
            plot.on_change("inner_width", self._resized)
        self._dendrogram.figure.on_change("inner_height", self._resized)
        self._dendrogram.show_frame(False)
        self._set_tracks()
        self._say_empty()

    # ------------------------------------------------------------------ what the page calls

    @property
    def order(self) -> np.ndarray:
        """The leaf order shown, int32 (n,), from top to bottom; empty without a tree."""
        return np.empty(0, np.int32) if self._layout is None else self._layout.order

    def set_items(self, items: Items) -> None:
        """Other data: everything that was about the old items goes, the theme stays."""
        self._items = items
        self._tree = self._layout = self._cut = self._cluster_code = self._support = None
        self._selected = self._together = self._apart = ()
        self._collapsed.clear()
        self._wish = seriation(items)
        self._strip_data = items.strips()
        self._labels.set_width(lettering.column_width(items))
        self._rows.bounds = None
        self._go_to(0.0, float(max(1, items.n)))
        self._dendrogram.clear()
        self._labels.clear()
        self._strips.clear()
        self._map.draw(max(1, items.n), 0.0)
        self._load_cells()
        self._say_empty()

    def set_tree(
        self, tree: Tree | None, *, new_nodes: ArrayLike | None = None, animate: bool = True
    ) -> None:
        """Show ``tree``, with its leaves as near as possible to where they are.

        Zoom, selection and collapsed clades stay (the last two by leaf set). ``new_nodes`` are
        emphasised for a moment. Support belongs to a tree: it is cleared. Raises
        :class:`InvalidData` when the tree is not over the items shown.
        """
        if tree is None:
            self._tree = self._layout = None
            self._dendrogram.clear()
            self._labels.clear()
            self._strips.clear()
            self._heat.draw_nothing()
            self._say_empty()
            return
        if tree.n_leaves != self._items.n:
            raise InvalidData(
                f"The tree has {tree.n_leaves} leaves, and there are {self._items.n} items."
            )
        now = time.monotonic()
        before = None
        soon = now - self._last_tree < TWEEN_AFTER
        self._streaming = soon and self._document is not None
        if self._layout is not None:
            self._wish = self._layout.place.astype(np.float64)
            if animate and not soon and tree.n_leaves <= 3_000:
                before = self._layout.leaf_y
        self._last_tree = now
        first = self._tree is None
        self._tree, self._support = tree, None
        self._lay_out(leaf_order(tree, self._wish), before)
        if first:
            self._say_empty()
        fresh: Any = () if new_nodes is None else np.asarray(new_nodes, dtype=np.int64)
        self._show_fresh(fresh)

    def set_matrix(
        self,
        kind: Literal["similarity", "features", "none"],
        *,
        scaling: Scaling = "zscore",
        columns: Literal["dendrogram", "file"] = "dendrogram",
    ) -> None:
        """What the heatmap shows; what the items do not have falls back to nothing."""
        if (kind, scaling, columns) == self._matrix:
            return
        self._matrix = (kind, scaling, columns)
        self._load_cells()

    def set_selection(self, leaves: Sequence[int] | ArrayLike) -> None:
        """Emphasise these leaves, and every clade that lies within them."""
        self._selected = _leaves(leaves)
        self._draw_selection()
        self._draw_labels()

    def set_marks(self, together: Any = (), apart: Any = ()) -> None:
        """The leaves of the constraint being built: a disc for together, a triangle for apart."""
        self._together, self._apart = _leaves(together), _leaves(apart)
        self._draw_marks()
        self._draw_labels()

    def set_cut(self, height: float | None) -> int:
        """Cut at ``height`` (None: no cut); returns the number of clusters."""
        self._cut = None if height is None else float(height)
        if self._cut is None:
            self._cluster_code = None
        return self._draw_cut()

    def set_support(self, support: ArrayLike | None) -> None:
        """Numbers for the inner nodes of the tree shown (or all nodes), written beside them."""
        if support is None or self._tree is None:
            self._support = None
        else:
            values = np.asarray(support, dtype=np.float64)
            if values.size == self._tree.n_internal:
                values = np.concatenate((np.full(self._tree.n_leaves, np.nan), values))
            if values.shape != (self._tree.n_nodes,):
                raise InvalidData(
                    f"Support needs a number for each of {self._tree.n_internal} inner nodes."
                )
            self._support = values
        self._draw_support()

    def set_theme(self, theme: Literal["light", "dark"]) -> None:
        self._theme = THEMES[theme]
        for part in (self._dendrogram, self._labels, self._strips, self._heat, self._map):
            part.set_theme(self._theme)
        self._hover.theme = self._theme
        self._say_empty()
        if self._layout is not None:
            self._draw_tree()
            self._draw_marks()
            self._draw_cut()
            self._draw_labels()
            self._draw_strips()

    def focus(self, leaves: Sequence[int] | ArrayLike) -> None:
        """Zoom so that these leaves are in view, with some of their surroundings."""
        if self._layout is None or not len(_leaves(leaves)):
            return
        runs = geometry.runs(self._layout, np.asarray(_leaves(leaves)))
        first, last = runs[0][0], runs[-1][1]
        span = max(1.5 * (last - first), min(16, self._layout.n_rows))
        middle = (first + last) / 2
        self._show_rows(middle - span / 2, middle + span / 2)

    def reset_zoom(self) -> None:
        if self._layout is not None:
            self._show_rows(-self._padding, self._layout.n_rows + self._padding)
            if self._cells is not None and self._cells.kind == "features":
                self._heat.x_range.update(start=0.0, end=float(self._cells.width))

    def toggle_collapse(self, leaves: Sequence[int] | ArrayLike) -> bool:
        """Collapse the smallest clade with ``leaves``, or expand it; False when it is a leaf."""
        chosen = _leaves(leaves)
        if self._tree is None or self._layout is None or not chosen:
            return False
        node = geometry.clade_node(self._tree, chosen)
        if node is None:
            node = chosen[0]
            for leaf in chosen[1:]:
                node = self._tree.lca(node, leaf)
        owner = int(self._layout.owner[node])
        node = owner if owner >= 0 else node
        if node < self._tree.n_leaves or node == self._tree.root:
            return False
        members = np.sort(self._tree.leaves(node))
        key = members.tobytes()
        if key in self._collapsed:
            del self._collapsed[key]
        else:
            self._collapsed[key] = members
        before = self._layout.leaf_y if self._tree.n_leaves <= 3_000 else None
        self._streaming = False
        self._lay_out(self._layout.order, before)
        if self._on_toggle:
            self._on_toggle(tuple(members.tolist()))
        return True

    def picture_data(self) -> dict[str, Any]:
        """What is shown, whole and uncollapsed, as the arguments of :func:`hcviz.io.picture`.

        Raises :class:`InvalidData` when there is no tree.
        """
        tree, layout, cells, theme = self._tree, self._layout, self._cells, self._theme
        if tree is None or layout is None:
            raise InvalidData("There is no tree to draw yet.")
        data: dict[str, Any] = {
            "tree": tree,
            "labels": [str(label) for label in self._items.labels],
            "order": layout.order,
            "title": self._items.title,
            "ink": Ink(theme.ink, theme.soft, theme.branch, theme.paper, theme.missing),
            "strips": [
                PrintStrip(s.name, s.codes, s.names, class_colours(len(s.names)))
                for s in self._strip_data
            ],
        }
        if cells is not None:
            scale = (diverging if cells.diverging else sequential)(theme)[:-1]
            data["heat"] = Heat(
                cells.values, cells.low, cells.high, scale, cells.unit,
                cells.names, cells.order, cells.tree,
            )  # fmt: skip
        if self._cut is not None:
            _, codes, _ = coloured_clusters(
                tree, self._cut, len(theme.clusters), layout.order, self._cluster_code
            )
            data |= {"cut": self._cut, "clusters": codes, "cluster_colours": theme.clusters}
            data["strips"].append(PrintStrip("clusters", self._cluster_code, (), theme.clusters))
        return data

    # ------------------------------------------------------------------ layout and window

    @property
    def _window(self) -> tuple[float, float]:
        return -float(self._rows.end), -float(self._rows.start)

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

    def _lay_out(self, order: np.ndarray, before: Any = None) -> None:
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
        self._rows.update(
            bounds=(-layout.n_rows - self._padding, self._padding),
            min_interval=float(min(4, layout.n_rows)),
            max_interval=layout.n_rows + 2 * self._padding,
        )
        if not (was_zoomed and had):
            self._go_to(-self._padding, layout.n_rows + self._padding)
        else:
            self._go_to(*self._inside(*self._window))
        self._dendrogram.set_height(float(tree.height[-1]))
        self._map.draw(layout.n_rows, self._padding)
        self._draw_all(before)

    def _inside(self, top: float, bottom: float) -> tuple[float, float]:
        rows, padding = float(self._layout.n_rows if self._layout else 1), self._padding
        span = min(bottom - top, rows + 2 * padding)
        top = min(max(top, -padding), rows + padding - span)
        return top, top + span

    def _go_to(self, top: float, bottom: float) -> None:
        if self._window != (top, bottom):
            self._quiet = True
            self._rows.update(start=-bottom, end=-top)
            self._quiet = False
            if self._heat.x_range.tags == ["rows"]:
                self._heat.follow_rows()
        self._map.show(self._zoomed)

    def _show_rows(self, top: float, bottom: float) -> None:
        self._go_to(*self._inside(top, bottom))
        self._refresh_window()

    def _moved(self, _attribute: str, _old: Any, _new: Any) -> None:
        if not self._quiet:
            self._soon("window", self._refresh_window, 60)

    def _refresh_window(self) -> None:
        """After a zoom or a pan: what depends on the rows in view."""
        if self._layout is None:
            return
        self._map.show(self._zoomed)
        if self._layout.tree.n_leaves > 600:
            self._draw_tree()
            self._draw_selection()
            self._draw_marks()
            self._draw_cut(strips=False)
        self._heat.draw_sharp(self._layout, self._window, self._zoomed)
        self._draw_labels()
        self._draw_support()

    def _resized(self, _attribute: str, _old: Any, _new: Any) -> None:
        self._soon("size", self._refit, 40)

    def _refit(self) -> None:
        self._draw_names()
        self._refresh_window()

    def _draw_names(self) -> None:
        self._heat.draw_names(float(pixels(self._heat.figure, "inner_width", ASSUMED_WIDTH)))
        self._set_tracks()

    @property
    def _document(self) -> Any:
        """The server's document, where things can be done later; None in a notebook or a test."""
        document = self._dendrogram.figure.document
        served = document is not None and document.session_context is not None
        return document if served else None

    def _soon(self, name: str, call: Callable[[], Any], milliseconds: int) -> None:
        """Call once, a little later, however often it is asked; at once without a server."""
        document = self._document
        if document is None:
            call()
            return
        if name in self._waiting:
            return
        self._waiting.add(name)

        def run() -> None:
            self._waiting.discard(name)
            call()

        document.add_timeout_callback(run, milliseconds)

    def _set_tracks(self) -> None:
        """The grid's columns and rows: the tree alone when it is narrow or nothing is beside it."""
        widths = [pixels(plot, "outer_width") for plot in self._figures.values() if plot.visible]
        whole = sum(widths) + MAP_PX
        narrow = MAP_PX < whole < ALONE
        heat = self._cells is not None and not narrow
        features = heat and self._cells is not None and self._cells.kind == "features"
        count = len(self._strip_data) + (self._cut is not None)
        strips = StripFigure.width(count)
        label = self._labels.width
        columns = [
            "minmax(0, 5fr)", f"{label}px", f"{strips}px", "minmax(0, 6fr)" if heat else "0px",
            f"{MAP_PX}px",
        ]  # fmt: skip
        rows = [
            f"{TREE_PX}px" if features and self._heat.has_tree else "0px",
            "minmax(0, 1fr)",
            f"{max(AXIS_PX, self._heat.names_px if features else 0)}px",
        ]
        if self._heat.figure.visible != heat:
            self._heat.figure.visible = heat
            self._draw_head()
        self._heat.tree.visible = bool(features and self._heat.has_tree)
        self._heat.names.visible = bool(features)
        self._strips.figure.visible = count > 0
        if self._grid.cols != columns:
            self._grid.cols = columns
        if self._grid.rows != rows:
            self._grid.rows = rows

    # ------------------------------------------------------------------ drawing

    def _draw_all(self, before: Any = None) -> None:
        self._draw_tree(before)
        self._draw_cut()
        self._draw_selection()
        self._draw_marks()
        self._draw_labels(before)
        if self._layout is not None and not self._heat.draw(
            self._layout, self._window, self._zoomed, self._streaming
        ):
            self._soon("settle", self._settle, 450)
        self._draw_support()
        self._show_fresh(())

    def _settle(self) -> None:
        """The stream has paused, or it is looked at again a little later."""
        if time.monotonic() - self._last_tree < TWEEN_AFTER:
            self._soon("settle", self._settle, 450)
        elif self._layout is not None:
            self._heat.draw(self._layout, self._window, self._zoomed)

    def _open(self) -> Any:
        assert self._layout is not None
        fine = SMALLEST / max(self._row_px, 1e-9)
        height = pixels(self._dendrogram.figure, "inner_height", ASSUMED_HEIGHT)
        coarse = SMALLEST * self._layout.n_rows / height
        top, bottom = self._window
        reach = 0.5 * (bottom - top)
        return geometry.open_nodes(self._layout, (top - reach, bottom + reach), fine, coarse)

    def _draw_tree(self, before: Any = None) -> None:
        if self._layout is not None:
            self._drawn_open = self._open()
            self._dendrogram.draw(self._layout, self._drawn_open, before, self._row_px < DENSE)

    def _draw_selection(self) -> None:
        if self._layout is None:
            return
        self._dendrogram.draw_layer("selection", self._layout, self._drawn_open, self._selected)
        runs = geometry.runs(self._layout, self._selected) if self._selected else []
        self._dendrogram.draw_bands(runs)
        self._labels.draw_bands(runs)
        self._heat.draw_frames(runs, self._layout.n_rows)

    def _draw_marks(self) -> None:
        if self._layout is not None:
            for name, leaves in (("together", self._together), ("apart", self._apart)):
                self._dendrogram.draw_layer(name, self._layout, self._drawn_open, leaves)

    def _show_fresh(self, nodes: Any) -> None:
        if self._layout is None:
            return
        self._dendrogram.draw_nodes("fresh", self._layout, self._drawn_open, nodes)
        if len(nodes) and self._document is not None:
            self._soon("fresh", lambda: self._show_fresh(()), FRESH_MS)

    def _draw_labels(self, before: Any = None) -> None:
        if self._layout is not None:
            self._labels.draw(
                self._layout,
                self._items,
                self._window,
                self._row_px,
                selected=set(self._selected),
                together=dict.fromkeys(self._together),
                apart=dict.fromkeys(self._apart),
                before=before,
            )

    def _draw_cut(self, strips: bool = True) -> int:
        tree, layout = self._tree, self._layout
        if tree is None or layout is None:
            return 0
        top = float(tree.height[-1])
        clusters = 0
        if self._cut is None:
            colour_of = np.full(tree.n_nodes, -1)
            self._dendrogram.show_cut(None, top)
        else:
            clusters, colour_of, self._cluster_code = coloured_clusters(
                tree, self._cut, len(self._theme.clusters), layout.order, self._cluster_code
            )
            text = f"{clusters:,} cluster{'s' * (clusters != 1)}"
            self._quiet = True
            self._dendrogram.show_cut(self._cut, top, text)
            self._quiet = False
        self._dendrogram.draw_clusters(
            layout, self._drawn_open, colour_of, np.inf if self._cut is None else self._cut,
            self._theme.clusters, self._row_px < DENSE,
        )  # fmt: skip
        if strips:
            self._set_tracks()
            self._draw_strips()
        return clusters

    def _draw_strips(self) -> None:
        if self._layout is None:
            return
        strips: list[tuple[Any, Sequence[str]]] = [
            (strip.codes, class_colours(len(strip.names))) for strip in self._strip_data
        ]
        if self._cluster_code is not None:
            strips.append((self._cluster_code, self._theme.clusters))
        self._strips.draw(self._layout, strips)

    def _draw_support(self) -> None:
        if self._layout is not None:
            self._dendrogram.draw_support(
                self._layout, self._drawn_open, self._support, self._window, self._row_px
            )

    def _load_cells(self) -> None:
        kind, scaling, columns = self._matrix
        if kind == "similarity":
            self._cells = similarity_cells(self._items)
        elif kind == "features":
            self._cells = feature_cells(self._items, scaling, columns)
        else:
            self._cells = None
        self._heat.set_cells(self._cells)
        self._draw_names()
        self._draw_head()
        if self._layout is not None:
            self._heat.draw(self._layout, self._window, self._zoomed)
            self._draw_selection()

    def _draw_head(self) -> None:
        if self._items.n == 0:
            self._head.object = ""
            return
        self._head.object = legend(
            self._items.title,
            self._items.n,
            self._strip_data,
            self._cells if self._heat.figure.visible and self._tree is not None else None,
            self._theme,
        )

    def _say_empty(self) -> None:
        self._draw_head()
        if self._tree is not None:
            self._empty.object = ""
            return
        title, hint = (
            ("No data yet", "Choose a data set above, or bring a table of your own.")
            if self._items.n == 0
            else ("No tree yet", "Choose a method and run it: the tree grows here.")
        )
        self._empty.object = (
            '<div style="position:absolute;inset:0;display:grid;place-content:center;'
            f"text-align:center;font:14px/1.6 system-ui,'Segoe UI',Arial,sans-serif;"
            f'color:{self._theme.soft}"><div style="font-size:17px;color:{self._theme.ink}">'
            f"{title}</div>{hint}</div>"
        )

    # ------------------------------------------------------------------ pointer

    def _node_at(self, figure: str, x: float, y: float) -> int:
        assert self._layout is not None
        assert self._tree is not None
        if figure != "tree":
            return geometry.pick(self._layout, -1.0, -y)
        width = pixels(self._dendrogram.figure, "inner_width", ASSUMED_WIDTH)
        slack = 4 * float(self._tree.height[-1]) / width
        return geometry.pick(self._layout, x, -y, slack)

    def _pick(self, figure: str, x: float, y: float, shift: bool) -> Pick:
        if self._layout is None or self._tree is None or not np.isfinite(x + y):
            return Pick((), "none", x, -y, shift)
        node = self._node_at(figure, x, y)
        leaves = tuple(self._layout.leaves(node).tolist())
        return Pick(leaves, "leaf" if len(leaves) == 1 else "clade", x, -y, shift)

    def _tapped(self, figure: str, event: Any) -> None:
        shift = bool(getattr(event.modifiers, "shift", False)) if event.modifiers else False
        if isinstance(event.modifiers, dict):
            shift = bool(event.modifiers.get("shift"))
        if event.x is not None and event.y is not None:
            self._on_pick(self._pick(figure, float(event.x), float(event.y), shift))

    def _double_tapped(self, figure: str, event: Any) -> None:
        if self._layout is not None and event.x is not None and event.y is not None:
            pick = self._pick(figure, float(event.x), float(event.y), False)
            self.toggle_collapse(pick.leaves)

    def _cut_dragged(self, _attribute: str, _old: Any, _new: Any) -> None:
        if not self._quiet:
            self._soon("cut", self._take_cut, 30)

    def _take_cut(self) -> None:
        if self._tree is None:
            return
        where = float(self._dendrogram.cut_grip.location)
        top = float(self._tree.height[-1])
        height = None if where >= top else max(where, 0.0)
        if height == self._cut:
            self._draw_cut(strips=False)
            return
        clusters = self.set_cut(height)
        if self._on_cut:
            self._on_cut(height, clusters)

    def _describe(self, figure: str, x: float, y: float) -> tuple[str, str, str]:
        """The tooltip for a point, and the outline of what a click there would take."""
        layout, tree = self._layout, self._tree
        if not figure or layout is None or tree is None:
            self._outline(None, None)
            return "", "", ""
        names = self._items.labels
        node = self._node_at(figure, x, y)
        leaves = layout.leaves(node)
        picture = (self._items.picture(node) or "") if node < tree.n_leaves else ""
        rows = (float(layout.top[node]), float(layout.bottom[node]))
        text = self._classes_of(leaves)
        if tree.size[node] == 1:
            title = str(names[node])
        else:
            title = f"{tree.size[node]:,} items"
            text = (
                geometry.summary([str(names[i]) for i in leaves[:4]], leaves.size, 4)
                + (f"\nheight {tree.height[node]:.4g}")
                + ("\n" + text if text else "")
            )
            if self._support is not None and np.isfinite(self._support[node]):
                text += f"\nsupport {self._support[node]:.0%}"
        cell = None
        if figure == "heat" and self._cells is not None:
            title, text, cell = self._describe_cell(x, y, title, text)
        self._outline(node if figure == "tree" else None, rows, cell)
        if self._on_hover and self._hovered != (node, figure):
            self._hovered = (node, figure)
            self._on_hover(self._pick(figure, x, y, False))
        return title, text, picture

    def _describe_cell(
        self, x: float, y: float, title: str, text: str
    ) -> tuple[str, str, tuple[float, ...]]:
        layout, cells = self._layout, self._cells
        assert layout is not None
        assert cells is not None
        row = geometry.row_at(layout, -y)
        items = layout.row_leaves(row)
        if cells.order is None:
            column = geometry.row_at(layout, x)
            others = layout.row_leaves(column)
            name = str(self._items.labels[others[0]])
            if others.size > 1:
                name = f"{others.size:,} items ({name}…)"
        else:
            column = int(min(max(np.floor(x), 0), cells.width - 1))
            others = cells.order[column : column + 1]
            name = cells.names[others[0]]
        block = np.asarray(cells.raw[np.ix_(items, others)], dtype=np.float64)
        known = block[np.isfinite(block)]
        value = "missing" if known.size == 0 else f"{known.mean():.4g}"
        mean = " (mean)" if block.size > 1 else ""
        if cells.order is None:
            return f"{title} · {name}", f"similarity {value}{mean}", (column, row)
        return f"{title}", f"{name}: {value}{mean}", (column, row)

    def _classes_of(self, leaves: np.ndarray) -> str:
        lines = []
        for strip in self._strip_data:
            counts = np.bincount(strip.codes[leaves], minlength=256)[: len(strip.names)]
            common = np.argsort(-counts, kind="stable")[:3]
            told = [
                strip.names[k] if leaves.size == 1 else f"{strip.names[k]} {counts[k]:,}"
                for k in common
                if counts[k]
            ]
            if told:
                lines.append(f"{strip.name}: {', '.join(told)}")
        return "\n".join(lines)

    def _outline(
        self, node: int | None, rows: tuple[float, float] | None, cell: Any = None
    ) -> None:
        self._dendrogram.outline(self._layout, node)
        self._heat.outline(rows, cell, self._layout.n_rows if self._layout else 0)


def warm() -> None:
    """Compile every kernel of the centre on three items, so that no first picture pays for it."""
    centre = Centre(on_pick=lambda _pick: None)
    features = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, np.nan]])
    centre.set_items(Items(["a", "b", "c"], features, None, ["x", "x", "y"], None, np.eye(3)))
    for tree in (Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3), Tree.star(3)):
        centre.set_tree(tree)
    centre.set_cut(0.5)
    centre.set_selection([0])
    centre.set_matrix("features")
    layout = geometry.lay_out(Tree.star(3), [0, 1, 2])
    geometry.stem_path(layout, geometry.open_nodes(layout, (0, 3)))
    geometry.pick(layout, 0.0, 0.0)


def _leaves(leaves: Any) -> tuple[int, ...]:
    return tuple(int(leaf) for leaf in np.asarray(leaves, dtype=np.int64).ravel())
