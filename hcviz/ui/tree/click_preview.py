"""``ClickPreview``: the browser shows at once what a click takes, before the server answers.

The server decides what is selected. The browser gets the rows of each clade drawn, picks as
``TreeScene.pick`` does, and draws the selection that the server is expected to send. The answer
replaces this preview.
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
from hcviz.ui.tree.scene import TreeScene

_CALL = "preview.execute(cb_obj, {what, figure})"


class ClickPreview:
    """The data that the browser needs, and the confirmation that a click was answered."""

    def __init__(
        self,
        figures: dict[str, Any],
        dendrogram: TreeFigure,
        labels: LabelFigure,
        heat: HeatFigure,
    ) -> None:
        self.shape = ColumnDataSource({"top": [], "bottom": []}, tags=["", 0, 0])
        self.mode = ColumnDataSource(tags=["select"])
        self.answer = ColumnDataSource({"count": [0]}, name="click-answer")
        lines, bands = dendrogram.layers["selection"], [dendrogram.bands, labels.bands]
        self.serial = 0  # the number of the layout whose rows the browser has
        script = self.script = CustomJS(
            args={
                "shape": self.shape, "mode": self.mode, "answer": self.answer,
                "text": labels.text, "words": labels.words, "box": BOX,
                "rows": labels.figure.y_range,
                "tree": dendrogram.tree, "stems": dendrogram.stems, "lines": lines,
                "bands": bands, "frames": heat.frames, "hovered": dendrogram.hovered,
                "tree_figure": dendrogram.figure, "tree_range": dendrogram.x_range,
                "heat_range": heat.x_range,
            },
            code=Path(__file__).with_name("click_preview.js").read_text(encoding="utf-8"),
        )  # fmt: skip

        def call(what: str, figure: str = "") -> CustomJS:
            return CustomJS(args={"preview": script, "what": what, "figure": figure}, code=_CALL)

        for name, plot in figures.items():
            plot.js_on_event(Tap, call("tap", name))
        for event in (MouseMove, MouseLeave):
            dendrogram.figure.js_on_event(event, call("over", "tree"))
        for source in (self.shape, lines, *bands, heat.frames):
            source.js_on_change("data", call("received"))
        dendrogram.tree.js_on_change("data", call("redrawn"))
        self.answer.js_on_change("data", call("answered"))
        self._answered = 0  # clicks
        self._layout: Layout | None = None

    def draw(self, scene: TreeScene, width: int) -> None:
        """Send the rows of the clades drawn.

        Open clades come first, then triangles, each in the order of their pieces in the path.
        ``width`` is the number of the heatmap's columns, 0 without a heatmap.
        """
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
        """Set whether a click selects. During a gesture it does not."""
        self._tag(self.mode, ["select" if selecting else ""])

    def confirm(self) -> None:
        """Tell the browser that all changes after one more click have been sent."""
        self._answered += 1
        self.answer.data = {"count": [self._answered]}

    @staticmethod
    def _tag(source: ColumnDataSource, tags: list[Any]) -> None:
        if source.tags != tags:
            source.tags = tags
