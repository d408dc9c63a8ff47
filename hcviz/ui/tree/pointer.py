"""``Pointer``: what clicks, double clicks, drags and the tooltip do in the figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bokeh.events import DoubleTap, Tap

from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree import geometry
from hcviz.ui.tree.cell_source import CellSource
from hcviz.ui.tree.figures import Figures
from hcviz.ui.tree.items import Pick
from hcviz.ui.tree.renderer import TreeRenderer
from hcviz.ui.tree.scene import BUNDLE, FOLD, LEAF
from hcviz.ui.tree.tooltip import Tooltip
from hcviz.ui.tree.tooltip_text import describe_cell, describe_slot
from hcviz.ui.tree.tree_state import TreeState

#: Pixels between the two clicks of a double click at most.
DOUBLE_CLICK_PX = 6


class Pointer:
    """Finds what is under the pointer and calls the handlers.

    ``on_pick(pick)`` is called for a click, ``on_open(leaves, is_folded)`` for a double click on a
    clade, ``on_cut(height)`` when the cut line was dragged to a height, ``on_hover(pick)`` when
    the pointer reaches another clade or item.
    """

    def __init__(
        self,
        state: TreeState,
        figures: Figures,
        renderer: TreeRenderer,
        source: CellSource,
        theme: Theme,
        *,
        on_pick: Callable[[Pick], None],
        on_open: Callable[[Any, bool], None],
        on_cut: Callable[[float], None],
        on_hover: Callable[[Pick], None] | None,
    ) -> None:
        self._state, self._figures, self._renderer = state, figures, renderer
        self._source = source
        self._on_pick, self._on_open, self._on_hover = on_pick, on_open, on_hover
        self._hovered: tuple[Any, ...] = ()
        self._last_tap: tuple[str, float, float] = ("", 0.0, 0.0)
        self._tooltip = Tooltip(figures.by_name, self.describe, theme, figures.dendrogram.tree)
        for name, plot in figures.by_name.items():
            plot.on_event(Tap, lambda event, name=name: self.tap(name, event))
            plot.on_event(DoubleTap, lambda event, name=name: self.double_tap(name, event))

        def dragged() -> None:
            figures.debouncer("cut", lambda: on_cut(figures.dendrogram.cut_location), 30)

        figures.dendrogram.on_cut_dragged(dragged)

    def set_theme(self, theme: Theme) -> None:
        """Draw the tooltip in other colours."""
        self._tooltip.theme = theme

    def slot_at(self, figure: str, x: float, y: float) -> int:
        """Return the slot of the scene at a point of a figure."""
        scene, figures = self._renderer.scene, self._figures
        if figure == "labels":
            return scene.pick(-1.0, figures.labels.row_at(x, -y, figures.row_px))
        if figure != "tree":
            return scene.pick(-1.0, -y)
        return scene.pick(x, -y, 4 * float(scene.height[-1]) / figures.tree_width)

    def pick(self, figure: str, x: float, y: float, shift: bool) -> Pick:
        """Return what a click at a point of a figure takes."""
        if self._state.layout is None or not np.isfinite(x + y):
            return Pick((), "none", x, -y, shift)
        leaves = tuple(self._renderer.scene.leaves(self.slot_at(figure, x, y)).tolist())
        return Pick(leaves, "leaf" if len(leaves) == 1 else "clade", x, -y, shift)

    def tap(self, figure: str, event: Any) -> None:
        """Handle a click."""
        with as_one_message(self._figures.dendrogram.figure.document):
            try:
                if event.x is not None and event.y is not None:
                    self._click(figure, event)
            finally:  # the browser removes its preview of the click when the answer arrives
                self._figures.preview.confirm()

    def _click(self, figure: str, event: Any) -> None:
        self._last_tap = (figure, event.sx, event.sy)
        keys = event.modifiers
        shift = keys.get("shift") if isinstance(keys, dict) else getattr(keys, "shift", False)
        self._on_pick(self.pick(figure, float(event.x), float(event.y), bool(shift)))

    def double_tap(self, figure: str, event: Any) -> None:
        """Handle a double click. Two quick clicks in different places are two clicks."""
        name, sx, sy = self._last_tap
        if name != figure or max(abs(event.sx - sx), abs(event.sy - sy)) > DOUBLE_CLICK_PX:
            self._click(figure, event)
        elif self._state.layout is not None and event.x is not None and event.y is not None:
            scene = self._renderer.scene
            slot = self.slot_at(figure, float(event.x), float(event.y))
            self._on_open(scene.leaves(slot), bool(scene.kind[slot] in (FOLD, BUNDLE)))

    def describe(self, figure: str, x: float, y: float) -> tuple[str, str, str]:
        """Return ``(title, text, image)`` of the tooltip at a point.

        Also outlines in the heatmap what a click there would take.
        """
        state, heat = self._state, self._figures.heat
        layout = state.layout
        if not figure or layout is None:
            heat.outline(None, None, 0)
            return "", "", ""
        scene, slot, items = self._renderer.scene, self.slot_at(figure, x, y), state.items
        leaf = int(scene.node[slot]) if scene.kind[slot] == LEAF else -1
        image = (items.picture(leaf) or "") if leaf >= 0 else ""
        title, text = describe_slot(
            scene, items, state.strips, slot, state.support, state.axis, state.partition,
            state.merged, state.names, state.cluster_names,
        )  # fmt: skip
        cell = None
        if figure == "heat" and self._source.cells is not None:
            row = geometry.row_at(layout, -y)
            if scene.kind[slot] in (FOLD, BUNDLE):  # the cell belongs to an item, not to a clade
                title = str(items.labels[layout.row_leaves(row)[0]])
            title, text, cell = describe_cell(layout, items, self._source.cells, title, x, row)
            known = heat.mask.describe(layout, *cell) if heat.is_masked else ""
            text = f"{text}\n{known}" if known else text
        rows = (float(scene.top[slot]), float(scene.bottom[slot]))
        heat.outline(rows, cell, layout.n_rows)
        key = (int(scene.first[slot]), int(scene.count[slot]), figure)
        if self._on_hover and self._hovered != key:
            self._hovered = key
            self._on_hover(self.pick(figure, x, y, False))
        return title, text, image


__all__ = ["Pointer"]
