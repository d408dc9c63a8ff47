"""``Centre``: the tree beside its heatmap, as the page uses it.

The work is done by parts: :class:`TreeState` holds what is shown, :class:`RowWindow` the rows in
view, :class:`CellSource` the heatmap's cells, :class:`Figures` the Bokeh models,
:class:`TreeRenderer` draws, and :class:`Pointer` handles clicks and the tooltip. No part reads
another's private attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.snapshot import Mask
from hcviz.core.tree import Tree
from hcviz.io.picture import LOW_SUPPORT
from hcviz.session.constraint import Statement, outsiders
from hcviz.ui.parts.palette import THEMES, muted
from hcviz.ui.tree import geometry, labels, partition
from hcviz.ui.tree.axis import Axis
from hcviz.ui.tree.cell_source import CellSource, Columns, Worker
from hcviz.ui.tree.drag import OnDrag
from hcviz.ui.tree.figures import Figures
from hcviz.ui.tree.heatmap_cells import HeatmapCells, Kind, Scaling
from hcviz.ui.tree.items import Items, Pick
from hcviz.ui.tree.partition import Partition
from hcviz.ui.tree.picture_data import picture_data
from hcviz.ui.tree.pointer import Pointer
from hcviz.ui.tree.renderer import TreeRenderer
from hcviz.ui.tree.row_window import RowWindow
from hcviz.ui.tree.scene import build_scene
from hcviz.ui.tree.tree_state import TreeState, leaf_array

ThemeName = Literal["light", "dark"]

#: Rows are assumed to be at least this high in all, in pixels.
LEAST_HEIGHT = 80


class Centre:
    """The live dendrogram beside the heatmap.

    A browser session has one. All methods must be called on the thread of its document.

    Parameters
    ----------
    on_pick : called with a :class:`Pick` for every click
    on_cut : called with ``(height or None, clusters)`` while the cut line is dragged
    on_toggle : called with the leaves of a clade that was collapsed or expanded
    on_double_click : called after a double click has collapsed or expanded a clade
    on_hover : called with a :class:`Pick` when the pointer reaches another clade or item
    on_drag : called with ``(phase, leaf, members)`` when a leaf is picked up ("begin"), dropped on
        the clade of ``members`` ("drop") or dropped elsewhere ("leave")
    theme : the colours

    Attributes
    ----------
    state, window, source, figures, renderer, pointer : the parts
    view : what Panel shows
    debouncer : delays what is drawn; a notebook sets its timer
    """

    def __init__(
        self,
        *,
        on_pick: Callable[[Pick], None],
        on_cut: Callable[[float | None, int], None] | None = None,
        on_toggle: Callable[[tuple[int, ...]], None] | None = None,
        on_double_click: Callable[[], None] | None = None,
        on_hover: Callable[[Pick], None] | None = None,
        on_drag: OnDrag | None = None,
        theme: ThemeName = "light",
    ) -> None:
        self._on_cut, self._on_toggle = on_cut, on_toggle
        self._on_double_click = on_double_click
        self._theme, self._is_muted = THEMES[theme], False
        self.state = TreeState()
        self.window = RowWindow(self.state)
        self.source = CellSource(lambda: self.renderer.load_cells())
        self.figures = Figures(self.window, self._theme, on_drag or (lambda *_: None))
        self.renderer = TreeRenderer(
            self.state, self.window, self.figures, self.source, self._theme
        )
        self.pointer = Pointer(
            self.state, self.figures, self.renderer, self.source, self._theme,
            on_pick=on_pick, on_open=self._open_clade, on_cut=self.take_cut, on_hover=on_hover,
        )  # fmt: skip
        self.debouncer = self.figures.debouncer
        self.view = self.figures.grid.view

    def set_worker(self, worker: Worker | None) -> None:
        """Set what computes pictures of expensive similarities on another thread.

        ``worker(work, done)`` calls ``done(work())`` later on this thread. Without one everything
        is computed at once.
        """
        self.figures.heat.worker = self.source.worker = worker

    def assume_height(self, pixels: int) -> None:
        """Fit the names to rows of this height in all, until the browser reports the height."""
        self.figures.assumed_height = max(pixels, LEAST_HEIGHT)
        if self.state.layout is not None:
            self.renderer.fit_size()

    def when_drawn(self, call: Callable[[], None]) -> None:
        """Call ``call`` when the browser has drawn the last tree; at once without a server."""
        self.renderer.when_drawn(call)

    @property
    def order(self) -> NDArray[np.int32]:
        """The leaf order shown, int32 (n,), from top to bottom; empty without a tree."""
        layout = self.state.layout
        return np.empty(0, np.int32) if layout is None else layout.order

    # ------------------------------------------------------------------ items and trees

    def set_items(self, items: Items) -> None:
        """Show other items. Only the theme and the matrix chosen stay."""
        self.state.reset(items)
        self.source.set_uncertainty(None, items.n)
        self.figures.heat.mask.mask = None
        scale = self.figures.labels.scale
        self.figures.labels.set_width(labels.column_width(items, scale))
        self.renderer.clear()
        self.renderer.load_cells()
        self.renderer.show_placeholder()

    def set_tree(
        self,
        tree: Tree | None,
        *,
        order: ArrayLike | None = None,
        new_nodes: ArrayLike | None = None,
        animate: bool = True,
        last: bool = False,
        clusters: Partition | None = None,
        axis: Axis | None = None,
        merged: ArrayLike | None = None,
        names: Mapping[int, str] | None = None,
        collapsed: Iterable[ArrayLike] | None = None,
    ) -> None:
        """Show a tree, or none.

        Zoom, selection and collapsed clades stay, the last two by their leaves.

        Parameters
        ----------
        tree : the tree, over the items shown
        order : int (n,), a leaf order; None for the order nearest to the one on the screen
        new_nodes : inner nodes that are emphasised for a moment
        animate : move branches and names to their new places, unless trees come in quick succession
        last : this is the last tree of a run; it is always animated
        clusters : the tree's clusters; None for those below the present cut line, if any
        axis : what the heights mean
        merged : bool (n_internal,), see :meth:`set_merged`
        names : see :meth:`set_names`
        collapsed : the leaves of each clade to collapse; None for those that are collapsed now

        Raises
        ------
        InvalidData
            The tree does not have one leaf for each item.
        """
        state, renderer = self.state, self.renderer
        if tree is None:
            state.remove_tree()
            self.figures.clear()
            self.figures.heat.draw_nothing()
            renderer.show_placeholder()
            return
        is_first = state.tree is None
        state.set_tree(tree, clusters, axis, merged)
        state.names = names or {}
        if collapsed is not None:
            state.set_collapsed(collapsed)
        before = renderer.begin_tree(animate, last)
        state.colours.is_streaming = not animate
        self.figures.heat.outline(None, None, 0)  # of the tree before
        renderer.lay_out(state.nearest_order(tree) if order is None else order, before)
        if is_first:
            renderer.show_placeholder()
        nodes: Any = () if new_nodes is None else np.asarray(new_nodes, dtype=np.int64)
        renderer.show_new_nodes(nodes)

    def end_run(self) -> None:
        """Note that a run has ended: the next tree gets colours like those on the screen."""
        self.state.colours.keep_colours()

    # ------------------------------------------------------------------ the heatmap

    def set_matrix(
        self, kind: Kind, *, scaling: Scaling = "zscore", columns: Columns = "dendrogram"
    ) -> None:
        """Choose what the heatmap shows. It is empty if the items do not have it."""
        if self.source.choose(kind, scaling, columns):
            self.renderer.load_cells()

    def set_similarity(self, matrix: Any, name: str = "similarity") -> None:
        """Show another similarity of the same items in the heatmap; the tree stays."""
        items = self.state.items
        if matrix is items.similarity and name == items.similarity_name:
            return
        self.state.items = replace(items, similarity=matrix, similarity_name=name)
        if self.source.kind == "similarity":
            self.renderer.load_cells()

    def set_query_mask(self, mask: Mask | None, *, draw: bool = True) -> None:
        """Darken the similarities that were not queried, in this tree and those to come.

        ``draw=False``: a tree follows, and the mask is drawn with it.
        """
        if mask is self.figures.heat.mask.mask:
            return
        self.figures.heat.mask.mask = mask
        if draw:
            self.renderer.draw_query_mask()

    @property
    def has_uncertainty(self) -> bool:
        """Return True if :meth:`set_uncertainty` was called for these items."""
        return self.source.has_uncertainty

    def set_uncertainty(self, cells: HeatmapCells | None) -> None:
        """Set what the matrix "uncertainty" shows; None for nothing."""
        self.source.set_uncertainty(cells, self.state.items.n)
        if self.source.kind == "uncertainty":
            self.renderer.load_cells()

    # ------------------------------------------------------------------ marks

    def set_selection(self, leaves: Sequence[int] | ArrayLike) -> None:
        """Emphasise these leaves, and every clade that contains only such leaves."""
        self.state.selected = leaf_array(leaves)
        self.renderer.draw_selection()
        self.renderer.draw_labels()

    def set_marks(self, together: Any = (), apart: Any = ()) -> None:
        """Mark the leaves of the constraint being built: discs together, triangles apart."""
        self.state.together, self.state.apart = leaf_array(together), leaf_array(apart)
        self.renderer.draw_marks()
        self.renderer.draw_labels()

    def set_selecting(self, selecting: bool) -> None:
        """Set whether a click selects. If so, the browser shows the selection at once."""
        self.figures.preview.set_selecting(selecting)

    def set_cut(self, height: float | None) -> int:
        """Cut the tree at a height, or not at all; return the number of clusters."""
        if height is None or self.state.tree is None:
            return self.set_partition(None)
        return self.set_partition(partition.at_height(self.state.tree, float(height)))

    def set_partition(self, clusters: Partition | None) -> int:
        """Colour the clusters of a partition; return their number."""
        self.state.set_partition(clusters)
        return self.renderer.draw_clusters()

    def clusters(self) -> NDArray[np.int64] | None:
        """Return the number of each item's cluster, int (n,), from 1; None without clusters."""
        return None if self.state.partition is None else self.state.partition.of_item

    def pulse(self, answers: Sequence[Statement]) -> None:
        """Let the branches of these answers, ``(group, apart)`` each, pulse for about a second.

        The branches lead from the smallest clade of all items of an answer down to its group and to
        its items apart.
        """
        tree, paths = self.state.tree, []
        if tree is None:
            return
        for group, apart in answers:
            odd = outsiders(apart)
            top = tree.smallest_clade((*group, *odd))
            paths.append((top, tuple(group), self._theme.together))
            if odd:
                paths.append((top, odd, self._theme.apart))
        self.renderer.pulse(paths)

    # ------------------------------------------------------------------ numbers of the nodes

    def set_merged(self, merged: ArrayLike | None) -> None:
        """Draw these inner nodes, bool (n_internal,), as a part of the node above them.

        Only the picture changes. Selection, cut and collapsed clades belong to the whole tree. The
        next tree removes the marks.
        """
        if not self.state.set_merged(merged) or self.state.layout is None:
            return
        self.renderer.draw_branches()
        self.renderer.draw_labels()
        self.renderer.draw_group_names()
        self.renderer.draw_support()
        self.renderer.show_new_nodes(())
        self.figures.dendrogram.draw_paths()

    def set_support(self, support: ArrayLike | None, below: float = LOW_SUPPORT) -> None:
        """Write numbers of the inner nodes (or of all nodes) beside them.

        The branches above clades with less support than ``below`` are lighter. The next tree
        removes the numbers.
        """
        self.state.set_support(support, below)
        self.renderer.draw_support()

    def set_names(self, names: Mapping[int, str]) -> None:
        """Write names (node -> name) at the branches and triangles of nodes.

        The next tree removes them.
        """
        if names != self.state.names:
            self.state.names = names
            self.renderer.draw_group_names()
            self.renderer.draw_support()
            self.renderer.draw_labels()

    def set_cluster_names(self, names: Mapping[int, str]) -> None:
        """Write names (number of a cluster -> name) in the legend and in the tooltip."""
        if names != self.state.cluster_names:
            self.state.cluster_names = names
            self.renderer.draw_head()
            self.renderer.draw_cluster_numbers()

    def set_levels(self, levels: ArrayLike | None) -> None:
        """Colour the branches by a number of each node, int (m,), -1 for none.

        These colours replace those of the clusters. The next tree removes them.
        """
        if self.state.set_levels(levels):
            self.renderer.draw_clusters(strips=False)

    # ------------------------------------------------------------------ what is in view

    def set_theme(self, theme: ThemeName) -> None:
        """Draw everything in other colours."""
        self._theme = THEMES[theme]
        self.pointer.set_theme(self._theme)
        self.renderer.set_theme(muted(self._theme) if self._is_muted else self._theme)

    def set_scale(self, scale: float) -> None:
        """Multiply the size of the type. A larger one hides strips, heatmap and header line.

        Collapsed clades then take one row each.
        """
        if scale == self.figures.grid.scale:
            return
        self.state.is_compact = scale > 1
        self.renderer.set_scale(scale)
        if self.state.layout is not None:
            self.renderer.lay_out(self.state.layout.order, at_rest=True)

    def set_muted(self, is_muted: bool) -> None:
        """Draw all but the selection in faint colours, or in the theme's colours again."""
        if is_muted != self._is_muted:
            self._is_muted = is_muted
            self.renderer.set_theme(muted(self._theme) if is_muted else self._theme)

    def focus(self, leaves: Sequence[int] | ArrayLike) -> None:
        """Zoom until these leaves and some rows around them are in view."""
        layout, chosen = self.state.layout, leaf_array(leaves)
        if layout is None or not chosen.size:
            return
        rows = geometry.row_ranges(layout, chosen)
        first, last = rows[0][0], rows[-1][1]
        span = max(1.5 * (last - first), min(16, layout.n_rows))
        middle = (first + last) / 2
        self.renderer.show_rows(middle - span / 2, middle + span / 2)

    def reveal(self, leaves: Sequence[int] | ArrayLike) -> None:
        """Expand collapsed clades around these leaves; zoom to the leaves if none is in view."""
        chosen = leaf_array(leaves)
        for held in self.state.collapsed:
            if held.size > chosen.size and np.isin(chosen, held).all():
                self.toggle_collapse(held)
        layout = self.state.layout
        if layout is None or not chosen.size or not self.window.is_zoomed:
            return
        top, bottom = self.window.rows
        rows = layout.leaf_y[chosen]
        if not ((rows > top) & (rows < bottom)).any():
            self.focus(leaves)

    def show_rows(self, top: float, bottom: float) -> None:
        """Zoom to the rows from ``top`` to ``bottom``."""
        self.renderer.show_rows(top, bottom)

    def reset_zoom(self) -> None:
        """Show all rows and all columns."""
        if self.state.layout is not None:
            self.renderer.show_rows(*self.window.whole)
            self.figures.heat.show_all_columns()

    def toggle_collapse(self, leaves: Sequence[int] | ArrayLike) -> bool:
        """Collapse or expand the smallest clade with ``leaves``; return False for a leaf."""
        members, layout = self.state.toggle_collapsed(leaves), self.state.layout
        if members is None or layout is None:
            return False
        self.renderer.lay_out(layout.order, self.renderer.view(), at_rest=True)
        if self._on_toggle:
            self._on_toggle(tuple(members.tolist()))
        return True

    def set_collapsed(self, clades: Iterable[ArrayLike]) -> None:
        """Collapse exactly these clades, each given by its leaves."""
        layout = self.state.layout
        if self.state.set_collapsed(clades) and layout is not None:
            self.renderer.lay_out(layout.order, self.renderer.view(), at_rest=True)

    def expand(self, leaves: Sequence[int] | ArrayLike) -> None:
        """Expand every collapsed clade that contains one of these leaves."""
        expanded, layout = self.state.expand(leaves), self.state.layout
        if not expanded or layout is None:
            return
        self.renderer.lay_out(layout.order, at_rest=True)
        if self._on_toggle:
            for members in expanded:
                self._on_toggle(tuple(members.tolist()))

    # ------------------------------------------------------------------ files

    def view_settings(self) -> dict[str, Any]:
        """Return what a session file keeps of the view.

        These are the collapsed clades, the clusters' colours, and the rows in view if zoomed.
        """
        rows = {"rows": self.window.rows} if self.window.is_zoomed else {}
        return self.state.settings() | rows

    def restore_view_settings(self, settings: Mapping[str, Any]) -> None:
        """Restore what :meth:`view_settings` returned; what does not fit the items is ignored."""
        self.state.restore_settings(settings)
        layout, rows = self.state.layout, settings.get("rows")
        if layout is None:
            return
        self.renderer.lay_out(layout.order, at_rest=True)
        if not isinstance(rows, tuple):
            rows = ()
        if len(rows) == 2 and all(isinstance(row, float) and np.isfinite(row) for row in rows):
            self.renderer.show_rows(*rows)
        else:
            self.reset_zoom()

    def picture_data(self) -> dict[str, Any]:
        """Return the whole picture, with all clades expanded, as arguments of ``draw_picture``."""
        return picture_data(self.state, self.figures.heat, self._theme)

    # ------------------------------------------------------------------ the pointer

    def _open_clade(self, leaves: Any, is_folded: bool) -> None:
        """Zoom to a clade that is too small to be drawn; collapse or expand any other."""
        if is_folded:
            self.focus(leaves)
        elif self.toggle_collapse(leaves) and self._on_double_click:
            self._on_double_click()

    def take_cut(self, where: float) -> None:
        """Cut where the line was dragged; not at all above the root."""
        tree = self.state.tree
        if tree is None:
            return
        height = None if where >= float(tree.height[-1]) else max(where, 0.0)
        if self.state.cut in (where, height):  # the line of one cluster is above the root
            self.renderer.draw_clusters(strips=False)
            return
        clusters = self.set_cut(height)
        if self._on_cut:
            self._on_cut(height, clusters)


def warm() -> None:
    """Compile every kernel of this package on three items, before the first page needs them."""
    centre = Centre(on_pick=lambda _pick: None)
    features = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, np.nan]])
    centre.set_items(Items(["a", "b", "c"], features, None, ["x", "x", "y"], None, np.eye(3)))
    for tree in (Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3), Tree.star(3)):
        centre.set_tree(tree)
    centre.set_cut(0.5)
    centre.set_selection([0])
    row = np.arange(3, dtype=np.int32)
    centre.set_query_mask(Mask.of([(row, row)]))
    centre.set_matrix("features")
    build_scene(geometry.lay_out(Tree.star(3), [0, 1, 2])).stems()
