"""``Centre``: what the page calls, and what a pointer does; the drawing is the canvas's."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from bokeh.events import DoubleTap, Tap
from numpy.typing import ArrayLike, NDArray

from hcviz.core.alignment import aligned_order
from hcviz.core.errors import InvalidData
from hcviz.core.seriation import seriation
from hcviz.core.snapshot import Mask
from hcviz.core.tree import Tree
from hcviz.io.picture import LOW_SUPPORT, ClassStrip, HeatmapData, PageColours
from hcviz.ui.compat.message_batch import as_one
from hcviz.ui.parts.palette import THEMES, class_colours, diverging, sequential
from hcviz.ui.tree import geometry, labels, partition
from hcviz.ui.tree.axis import Axis
from hcviz.ui.tree.canvas import ASSUMED_WIDTH, TWEEN_AFTER, Canvas
from hcviz.ui.tree.cells import Cells, Scaling
from hcviz.ui.tree.clusters import coloured_clusters
from hcviz.ui.tree.describe import describe_cell, describe_slot
from hcviz.ui.tree.drag import OnDrag, Phase
from hcviz.ui.tree.frames import pixels
from hcviz.ui.tree.hover import Hover
from hcviz.ui.tree.items import Items, Pick
from hcviz.ui.tree.partition import Partition
from hcviz.ui.tree.scene import BUNDLE, FOLD, LEAF, see

#: Pixels between the two clicks of a double click at most.
SAME_PLACE = 6


class Centre(Canvas):
    """The live dendrogram beside the heatmap. One per browser session; all methods on its thread.

    ``on_pick(Pick)`` is called for every click, ``on_cut(height or None, clusters)`` while the cut
    line is dragged, ``on_toggle(leaves)`` after a double click has collapsed or expanded a clade,
    ``on_hover(Pick)`` when what is under the pointer changes, ``on_drag(phase, leaf, members)``
    when a leaf is taken ("begin"), dropped on the clade of ``members`` ("drop") or let go
    ("leave").
    """

    def __init__(
        self,
        *,
        on_pick: Callable[[Pick], None],
        on_cut: Callable[[float | None, int], None] | None = None,
        on_toggle: Callable[[tuple[int, ...]], None] | None = None,
        on_hover: Callable[[Pick], None] | None = None,
        on_drag: OnDrag | None = None,
        theme: Literal["light", "dark"] = "light",
    ) -> None:
        self._on_pick, self._on_cut = on_pick, on_cut
        self._on_toggle, self._on_hover, self._on_drag = on_toggle, on_hover, on_drag
        self._hovered: tuple[Any, ...] = ()
        self._last_tap: tuple[str, float, float] = ("", 0.0, 0.0)
        super().__init__(theme)
        self._hover = Hover(self._figures, self._describe, self._theme, self._dendrogram.tree)
        for name, plot in self._figures.items():
            plot.on_event(Tap, lambda event, name=name: self._tapped(name, event))
            plot.on_event(DoubleTap, lambda event, name=name: self._double_tapped(name, event))
        self._dendrogram.cut_grip.on_change("location", self._cut_dragged)

    # ------------------------------------------------------------------ what the page calls

    def work_with(
        self, later: Callable[[Callable[[], Any], Callable[[Any], None]], None] | None
    ) -> None:
        """How pictures that take long are worked out: ``later(work, done)``."""
        self._heat.later = later

    @property
    def order(self) -> np.ndarray:
        """The leaf order shown, int32 (n,), from top to bottom; empty without a tree."""
        return np.empty(0, np.int32) if self._layout is None else self._layout.order

    def set_items(self, items: Items) -> None:
        """Other data: everything that was about the old items goes, the theme stays."""
        self._items = items
        self._tree = self._layout = self._partition = self._cluster_code = self._support = None
        self._levels = self._merged = None
        self._colours.restore(None)
        self._selected = self._together = self._apart = _leaves(())
        self._uncertain = None
        self._collapsed.clear()
        self._heat.veil.mask = None
        self._strip_data = items.strips()
        self._labels.set_width(labels.column_width(items))
        self._go_to(0.0, float(max(1, items.n)))
        self._dendrogram.clear()
        self._labels.clear()
        self._strips.clear()
        self._map.draw(max(1, items.n), 0.0)
        self._load_cells()
        self._say_empty()

    def set_tree(
        self,
        tree: Tree | None,
        *,
        order: np.ndarray | None = None,
        new_nodes: ArrayLike | None = None,
        animate: bool = True,
        last: bool = False,
        parted: Partition | None = None,
        axis: Axis | None = None,
        merged: ArrayLike | None = None,
    ) -> None:
        """Show ``tree`` with its leaves in ``order``, int (n,), or as near as can be to where they
        are (in the first tree: to the order that the data suggest).

        Zoom, selection and collapsed clades stay (the last two by leaf set). ``animate``: branches
        and names move to their new places, unless trees come in quick succession; of a run's
        ``last`` tree they always do. ``new_nodes`` are emphasised for a moment. ``parted``: the
        tree's clusters; None: those below the line, if there is one. ``axis``: what its heights
        mean. ``merged``: see :meth:`set_merged`. Support belongs to a tree: it is cleared.
        Raises :class:`InvalidData` when the tree is not over the items shown.
        """
        if tree is None:
            self._tree = self._layout = self._partition = None
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
        follows = now - self._last_tree < TWEEN_AFTER
        self._streaming = follows and self.soon.has_clock and not last
        before = self._view if last or (animate and not follows) else None
        self._last_tree = now
        first = self._tree is None
        self._colours.passing = not animate
        self._tree, self._support, self._levels = tree, None, None
        self._merged = _of_nodes(tree, merged)
        if parted is None and self._cut is not None:
            parted = partition.under(tree, self._cut)
        self._partition, self._axis = parted, axis
        self._heat.outline(None, None, 0)  # of the tree before
        self._lay_out(self._near(tree) if order is None else order, before)
        if first:
            self._say_empty()
        fresh: Any = () if new_nodes is None else np.asarray(new_nodes, dtype=np.int64)
        self._show_fresh(fresh)

    def _near(self, tree: Tree) -> np.ndarray:
        """The leaf order that differs least from the one on the screen."""
        if self._layout is not None:
            return aligned_order(tree, self._layout.order)
        items = self._items
        return aligned_order(tree, seriation(items.n, items.similarity, items.features))

    def set_matrix(
        self,
        kind: Literal["similarity", "features", "uncertainty", "none"],
        *,
        scaling: Scaling = "zscore",
        columns: Literal["dendrogram", "file"] = "dendrogram",
    ) -> None:
        """What the heatmap shows; what the items do not have falls back to nothing."""
        if (kind, scaling, columns) == self._matrix:
            return
        self._matrix = (kind, scaling, columns)
        self._load_cells()

    def set_similarity(self, matrix: Any, name: str = "similarity") -> None:
        """Another similarity of the same items for the heatmap; the tree stays as it is."""
        if matrix is self._items.similarity and name == self._items.similarity_name:
            return
        self._items = replace(self._items, similarity=matrix, similarity_name=name)
        if self._matrix[0] == "similarity":
            self._load_cells()

    def set_asked(self, mask: Mask | None, *, draw: bool = True) -> None:
        """Veil the similarities that were not asked for, in this tree and those to come; with None,
        none. ``draw=False``: a tree follows, and it is drawn with that."""
        if mask is self._heat.veil.mask:
            return
        self._heat.veil.mask = mask
        if draw and self._layout is not None:
            self._heat.draw_veil(self._layout)
            self._heat.draw_sharp(self._layout, self._window, self._zoomed)

    @property
    def has_uncertainty(self) -> bool:
        """Whether :meth:`set_uncertainty` gave these items any."""
        return self._uncertain is not None

    def set_uncertainty(self, cells: Cells | None) -> None:
        """What the heatmap "uncertainty" shows, from now on; with None, nothing."""
        if cells is not None and cells.width != self._items.n:
            raise InvalidData(
                f"The uncertainty is of {cells.width} items, and there are {self._items.n}."
            )
        self._uncertain = cells
        if self._matrix[0] == "uncertainty":
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

    def set_selecting(self, selecting: bool) -> None:
        """Whether clicks select: then the browser shows at once what they take."""
        self._touch.set_selecting(selecting)

    def set_cut(self, height: float | None) -> int:
        """Cut at ``height`` (None: no cut); returns the number of clusters."""
        if height is None or self._tree is None:
            return self.set_partition(None)
        return self.set_partition(partition.under(self._tree, float(height)))

    def set_partition(self, parted: Partition | None) -> int:
        """Colour the clusters of a partition of the tree shown; returns their number."""
        self._partition = parted
        if parted is None:
            self._cluster_code = None
        return self._draw_cut()

    def clusters(self) -> Any:
        """The number of each item's cluster, int (n,), from 1. None where none are shown."""
        return None if self._partition is None else self._partition.of_item

    def pulse(self, answers: Sequence[tuple[Sequence[int], int]]) -> None:
        """Let the ways of these answers, (group, apart) each, pulse for about a second: from the
        smallest clade with all of its items down to the group's, and to the odd one out."""
        tree, ways = self._tree, []
        if tree is None:
            return
        for group, apart in answers:
            top = tree.smallest_clade([*group, apart])
            ways.append((top, tuple(group), self._theme.together))
            ways.append((top, (apart,), self._theme.apart))
        self._show_ways(ways)

    def set_merged(self, merged: ArrayLike | None) -> None:
        """Draw these inner nodes of the tree shown as a part of the node above them.

        ``merged`` bool (n_internal,). Only the picture changes: what is selected, cut or collapsed
        is of the tree as it is. As support it belongs to a tree.
        """
        marked = None if self._tree is None else _of_nodes(self._tree, merged)
        before, self._merged = self._merged, marked
        if self._layout is None or np.array_equal(before, marked):  # type: ignore[arg-type]
            return
        self._draw_branches()
        self._draw_labels()
        self._draw_support()
        self._show_fresh(())
        self._dendrogram.draw_ways()

    def set_support(self, support: ArrayLike | None, below: float = LOW_SUPPORT) -> None:
        """Numbers for the inner nodes of the tree shown (or all nodes), written beside them.

        The branches above clades of less support than ``below`` are lighter.
        """
        self._below = below
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

    def set_levels(self, levels: ArrayLike | None) -> None:
        """Colour the branches by a number of each node of the tree shown, int (m,), -1 for none.

        They take the place of the clusters' colours. As support they belong to a tree.
        """
        values = None if levels is None else np.asarray(levels)
        if values is not None and (self._tree is None or values.shape != (self._tree.n_nodes,)):
            raise InvalidData("Levels need a number for each node of the tree shown.")
        if values is None and self._levels is None:
            return
        self._levels = values
        self._draw_cut(strips=False)

    def set_theme(self, theme: Literal["light", "dark"]) -> None:
        self._theme = THEMES[theme]
        for part in (
            self._dendrogram, self._labels, self._strips, self._heat, self._map, self._drag,
            self._stage,
        ):  # fmt: skip
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
        if self._layout is None or not _leaves(leaves).size:
            return
        runs = geometry.runs(self._layout, _leaves(leaves))
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
        if self._tree is None or self._layout is None or not chosen.size:
            return False
        node = self._tree.smallest_clade(chosen)
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
        self._streaming = False
        self._lay_out(self._layout.order, self._view)
        if self._on_toggle:
            self._on_toggle(tuple(members.tolist()))
        return True

    def rest(self) -> None:
        """The run is over: the next tree is coloured like the one that is shown."""
        self._colours.rest()

    def look(self) -> dict[str, Any]:
        """What a session file keeps of the picture: collapsed clades, colours of the clusters, and
        the rows in view if it is zoomed."""
        kept: dict[str, Any] = {}
        if self._collapsed:
            kept["collapsed"] = tuple(each.astype(np.int32) for each in self._collapsed.values())
        if self._cluster_code is not None:
            kept["colours"] = self._cluster_code
        if self._zoomed:
            kept["rows"] = self._window
        return kept

    def put_look(self, look: Mapping[str, Any]) -> None:
        """The picture as :meth:`look` had it; parts that do not fit the items are left out."""
        n, layout = self._items.n, self._layout
        clades = [c for c in _tuple(look.get("collapsed")) if _is_items(c, n)]
        self._collapsed = {
            members.tobytes(): members
            for members in (np.sort(each).astype(np.int32) for each in clades)
        }
        codes = look.get("colours")
        fits = isinstance(codes, np.ndarray) and codes.dtype == np.uint8 and codes.shape == (n,)
        self._colours.restore(codes if fits else None)
        if layout is None:
            return
        self._streaming = False
        self._lay_out(layout.order)
        rows = _tuple(look.get("rows"))
        if len(rows) == 2 and all(isinstance(row, float) and np.isfinite(row) for row in rows):
            self._show_rows(*rows)
        else:
            self.reset_zoom()

    def open_branches(self, leaves: Sequence[int] | ArrayLike) -> None:
        """Expand every collapsed clade that holds one of these leaves, so that all are rows."""
        chosen = _leaves(leaves)
        shut = [key for key, held in self._collapsed.items() if np.isin(held, chosen).any()]
        if not shut or self._layout is None:
            return
        opened = [self._collapsed.pop(key) for key in shut]
        self._streaming = False
        self._lay_out(self._layout.order, None)
        if self._on_toggle:
            for members in opened:
                self._on_toggle(tuple(members.tolist()))

    def picture_data(self) -> dict[str, Any]:
        """What is shown, whole and uncollapsed: arguments of :func:`hcviz.io.picture.draw_picture`.

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
            "ink": PageColours(
                theme.ink, theme.soft, theme.branch, theme.paper, theme.missing, theme.rule
            ),
            "axis_title": "" if self._axis is None else self._axis.title,
            "support": None if self._support is None else self._support[tree.n_leaves :],
            "low_support": self._below,
            "merged": None if self._merged is None else self._merged[tree.n_leaves :],
            "strips": [
                ClassStrip(s.name, s.codes, s.names, class_colours(len(s.names)))
                for s in self._strip_data
            ],
        }
        values = None if cells is None else self._heat.to_print(layout)
        if cells is not None and values is not None:
            scale = (diverging if cells.diverging else sequential)(theme)[:-1]
            data["heat"] = HeatmapData(
                values, cells.low, cells.high, scale, cells.unit, cells.names, cells.order,
                cells.tree, cells.lazy, *self._heat.veil_to_print(layout),
            )  # fmt: skip
        if self._partition is not None:
            _, codes, _ = coloured_clusters(
                tree, self._partition, len(theme.clusters), layout.order, self._cluster_code
            )
            data |= {"cut": self._cut, "clusters": codes, "cluster_colours": theme.clusters}
            data["strips"].append(ClassStrip("clusters", self._cluster_code, (), theme.clusters))
        return data

    # ------------------------------------------------------------------ pointer

    def _slot_at(self, figure: str, x: float, y: float) -> int:
        """The slot of the scene under the pointer."""
        if figure == "labels":
            return self._scene.pick(-1.0, self._labels.row_at(x, -y, self._row_px))
        if figure != "tree":
            return self._scene.pick(-1.0, -y)
        width = pixels(self._dendrogram.figure, "inner_width", ASSUMED_WIDTH)
        return self._scene.pick(x, -y, 4 * float(self._scene.height[-1]) / width)

    def _pick(self, figure: str, x: float, y: float, shift: bool) -> Pick:
        if self._layout is None or not np.isfinite(x + y):
            return Pick((), "none", x, -y, shift)
        leaves = tuple(self._scene.leaves(self._slot_at(figure, x, y)).tolist())
        return Pick(leaves, "leaf" if len(leaves) == 1 else "clade", x, -y, shift)

    def _tapped(self, figure: str, event: Any) -> None:
        with as_one(self._dendrogram.figure.document):
            try:
                if event.x is not None and event.y is not None:
                    self._clicked(figure, event)
            finally:  # the browser's own picture of the click must not outlive its answer
                self._touch.answered()

    def _clicked(self, figure: str, event: Any) -> None:
        self._last_tap = (figure, event.sx, event.sy)
        shift = event.modifiers
        shift = shift.get("shift") if isinstance(shift, dict) else getattr(shift, "shift", False)
        self._on_pick(self._pick(figure, float(event.x), float(event.y), bool(shift)))

    def _double_tapped(self, figure: str, event: Any) -> None:
        # Two quick clicks in two places come as a double tap too: they are two clicks.
        name, sx, sy = self._last_tap
        if name != figure or max(abs(event.sx - sx), abs(event.sy - sy)) > SAME_PLACE:
            self._clicked(figure, event)
        elif self._layout is not None and event.x is not None and event.y is not None:
            slot = self._slot_at(figure, float(event.x), float(event.y))
            if self._scene.kind[slot] in (FOLD, BUNDLE):  # so small a clade opens by a nearer look
                self.focus(self._scene.leaves(slot))
            else:
                self.toggle_collapse(self._scene.leaves(slot))

    def _dragged(self, phase: Phase, leaf: int, members: tuple[int, ...]) -> None:
        if self._on_drag:
            self._on_drag(phase, leaf, members)

    def _cut_dragged(self, _attribute: str, _old: Any, _new: Any) -> None:
        if not self._quiet:
            self.soon("cut", self._take_cut, 30)

    def _take_cut(self) -> None:
        if self._tree is None:
            return
        where = float(self._dendrogram.cut_grip.location)
        top = float(self._tree.height[-1])
        height = None if where >= top else max(where, 0.0)
        if self._cut in (where, height):  # the line of one cluster stands above the root
            self._draw_cut(strips=False)
            return
        clusters = self.set_cut(height)
        if self._on_cut:
            self._on_cut(height, clusters)

    def _describe(self, figure: str, x: float, y: float) -> tuple[str, str, str]:
        """The tooltip for a point, and the outline of what a click there would take."""
        layout, tree = self._layout, self._tree
        if not figure or layout is None or tree is None:
            self._heat.outline(None, None, 0)
            return "", "", ""
        scene, slot = self._scene, self._slot_at(figure, x, y)
        leaf = int(scene.node[slot]) if scene.kind[slot] == LEAF else -1
        picture = (self._items.picture(leaf) or "") if leaf >= 0 else ""
        title, text = describe_slot(
            scene, self._items, self._strip_data, slot, self._support, self._axis, self._partition,
            self._merged,
        )  # fmt: skip
        cell = None
        if figure == "heat" and self._cells is not None:
            row = geometry.row_at(layout, -y)
            if scene.kind[slot] in (FOLD, BUNDLE):  # the cell is an item's
                title = str(self._items.labels[layout.row_leaves(row)[0]])
            title, text, cell = describe_cell(layout, self._items, self._cells, title, x, row)
            known = self._heat.veil.describe(layout, *cell) if self._heat.veiled else ""
            text = f"{text}\n{known}" if known else text
        rows = (float(scene.top[slot]), float(scene.bottom[slot]))
        self._heat.outline(rows, cell, layout.n_rows)
        key = (int(scene.first[slot]), int(scene.count[slot]), figure)
        if self._on_hover and self._hovered != key:
            self._hovered = key
            self._on_hover(self._pick(figure, x, y, False))
        return title, text, picture


def warm() -> None:
    """Compile every kernel of the centre on three items, so that no first picture pays for it."""
    centre = Centre(on_pick=lambda _pick: None)
    features = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, np.nan]])
    centre.set_items(Items(["a", "b", "c"], features, None, ["x", "x", "y"], None, np.eye(3)))
    for tree in (Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3), Tree.star(3)):
        centre.set_tree(tree)
    centre.set_cut(0.5)
    centre.set_selection([0])
    row = np.arange(3, dtype=np.int32)
    centre.set_asked(Mask.of([(row, row)]))
    centre.set_matrix("features")
    see(geometry.lay_out(Tree.star(3), [0, 1, 2])).stems()


def _of_nodes(tree: Tree, marks: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Marks of the inner nodes as marks of all nodes; None where none is marked."""
    if marks is None:
        return None
    found = np.asarray(marks, dtype=np.bool_)
    if found.shape != (tree.n_internal,):
        raise InvalidData(f"{found.size} marks were given for {tree.n_internal} inner nodes.")
    return np.concatenate((np.zeros(tree.n_leaves, np.bool_), found)) if found.any() else None


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def _is_items(value: Any, n: int) -> bool:
    """Whether an array from a file names two or more different items."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind != "i":
        return False
    inside = value.size > 1 and value.min() >= 0 and value.max() < n
    return bool(inside and np.unique(value).size == value.size)


def _leaves(leaves: Any) -> np.ndarray:
    return np.asarray(leaves, dtype=np.int64).ravel()
