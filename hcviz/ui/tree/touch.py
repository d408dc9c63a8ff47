"""A pointer's touch, shown by the browser itself: no click waits for the server to be seen.

The server still decides what is selected. The browser is told the rows of each clade drawn, picks
as ``Scene.pick`` does and draws what the server is about to say; the answer then
takes its place, whatever it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from bokeh.events import MouseLeave, MouseMove, Tap
from bokeh.models import ColumnDataSource, CustomJS

from hcviz.ui.tree.dendrogram import TreeFigure
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.heatmap import HeatFigure
from hcviz.ui.tree.labels import BOX, LabelFigure
from hcviz.ui.tree.scene import Scene

_CALL = "touch.execute(cb_obj, {what, figure})"


class Touch:
    """What the browser needs to know for that, and the word that a click has been answered."""

    def __init__(
        self,
        figures: dict[str, Any],
        dendrogram: TreeFigure,
        labels: LabelFigure,
        heat: HeatFigure,
    ) -> None:
        self.shape = ColumnDataSource({"top": [], "bottom": []}, tags=["", 0, 0])
        self.mode = ColumnDataSource(tags=["select"])
        self.answer = ColumnDataSource({"count": [0]}, name="touch-answer")
        lines, bands = dendrogram.layers["selection"], [dendrogram.bands, labels.bands]
        self.serial = 0  # of the layout that the shape is of
        touch = self.script = CustomJS(
            args={
                "shape": self.shape, "mode": self.mode, "answer": self.answer,
                "text": labels.text, "words": labels.words, "box": BOX,
                "rows": labels.figure.y_range,
                "tree": dendrogram.tree, "stems": dendrogram.stems, "lines": lines,
                "bands": bands, "frames": heat.frames, "hovered": dendrogram.hovered,
                "tree_figure": dendrogram.figure, "tree_range": dendrogram.x_range,
                "heat_range": heat.x_range,
            },
            code=Path(__file__).with_name("touch.js").read_text(),
        )  # fmt: skip

        def call(what: str, figure: str = "") -> CustomJS:
            return CustomJS(args={"touch": touch, "what": what, "figure": figure}, code=_CALL)

        for name, plot in figures.items():
            plot.js_on_event(Tap, call("tap", name))
        for event in (MouseMove, MouseLeave):
            dendrogram.figure.js_on_event(event, call("over", "tree"))
        for source in (self.shape, lines, *bands, heat.frames):
            source.js_on_change("data", call("told"))
        dendrogram.tree.js_on_change("data", call("redrawn"))
        self.answer.js_on_change("data", call("answered"))
        self._asked = 0
        self._layout: Layout | None = None

    def draw(self, scene: Scene, width: int) -> None:
        """The rows of the clades drawn, open ones and then triangles, each in the order of their
        pieces in the path; ``width``: columns of the heatmap, 0 without one."""
        layout = scene.layout
        slots = np.concatenate((np.arange(scene.n_closed, scene.n_slots), scene.triangles))
        small = np.uint16 if layout.n_rows < 1 << 16 else np.uint32
        data = {"top": scene.top[slots].astype(small), "bottom": scene.bottom[slots].astype(small)}
        if any(not np.array_equal(self.shape.data[name], data[name]) for name in data):
            self.shape.data = data
        plain = layout.n_rows == layout.tree.n_leaves
        if layout is not self._layout:
            self._layout = layout
            self.serial += 1
        self._tag(self.shape, ["plain" if plain else "", width, self.serial])

    def set_selecting(self, selecting: bool) -> None:
        """Whether a click selects; else (within a gesture) it only asks."""
        self._tag(self.mode, ["select" if selecting else ""])

    def answered(self) -> None:
        """All that follows from one more click has been sent."""
        self._asked += 1
        self.answer.data = {"count": [self._asked]}

    @staticmethod
    def _tag(source: ColumnDataSource, tags: list[Any]) -> None:
        if source.tags != tags:
            source.tags = tags
