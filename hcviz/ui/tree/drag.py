"""``LeafDrag``: a leaf that is dragged onto a clade.

The browser shows the drag and reports its begin and its end in rows. A tree may arrive during the
drag, so the rows are looked up in the layout that the browser had at the begin.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from bokeh.events import MouseEnter, MouseMove
from bokeh.models import ColumnDataSource, CustomJS

from hcviz.ui.compat import COMPAT
from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree import geometry
from hcviz.ui.tree.click_preview import ClickPreview
from hcviz.ui.tree.dendrogram import TreeFigure
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.labels import LabelFigure
from hcviz.ui.tree.plain_glyphs import PlainGlyphs

Phase = Literal["begin", "drop", "leave"]

#: ``on_drag(phase, leaf, members)``: ``members`` are the leaves of the clade under a drop.
OnDrag = Callable[[Phase, int, tuple[int, ...]], None]

#: Number of layouts that are kept: those of about one second, in which a message arrives.
MAX_LAYOUTS = 32


class LeafDrag:
    """The models of the drag; calls ``on_drag`` with what the browser reports."""

    def __init__(
        self, dendrogram: TreeFigure, labels: LabelFigure, preview: ClickPreview, on_drag: OnDrag
    ) -> None:
        self._on_drag = on_drag
        self._preview = preview
        self._layouts: OrderedDict[int, Layout] = OrderedDict()
        self._leaf: int | None = None
        self.line = ColumnDataSource({"x": [], "y": []}, name="drag-target")
        self.bands = [ColumnDataSource({"middle": [], "span": []}) for _ in range(2)]
        self.drop = ColumnDataSource(
            {"seq": [0], "phase": [""], "serial": [0], "row": [0], "top": [0], "bottom": [0]},
            tags=[""],
        )
        self._line = PlainGlyphs(dendrogram.figure).line(
            "x", "y", source=self.line, line_width=3, line_join="round", level="overlay"
        )
        self._bands = [
            PlainGlyphs(plot).hbar(y="middle", height="span", left=far, right=-far, line_color=None,
                      fill_alpha=0.16, source=band, level="overlay")
            for plot, band, far in zip(  # heights grow to the left
                (dendrogram.figure, labels.figure), self.bands, (1e30, -1e30), strict=True
            )
        ]  # fmt: skip
        scripts = (COMPAT / "figure_view.js", Path(__file__).with_name("drag.js"))
        watch = CustomJS(
            args={
                "preview": preview.script, "shape": preview.shape, "text": labels.text,
                "words": labels.words, "tree": dendrogram.figure, "labels": labels.figure,
                "line": self.line, "bands": self.bands, "cut": dendrogram.cut_grip,
                "drop": self.drop,
            },
            code="\n".join(each.read_text(encoding="utf-8") for each in scripts),
        )  # fmt: skip
        for plot in (dendrogram.figure, labels.figure):
            for event in (MouseEnter, MouseMove):  # these come before a press
                plot.js_on_event(event, watch)
        self.drop.on_change("data", self._reported)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self._line.glyph.line_color = theme.together
        for band in self._bands:
            band.glyph.fill_color = theme.together
        style = (
            "position:fixed;z-index:10001;pointer-events:none;padding:4px 8px;border-radius:5px;"
            "font:12px/1.3 system-ui,'Segoe UI',Arial,sans-serif;white-space:nowrap;"
            f"background:{theme.raised};color:{theme.ink};border:1.5px solid {theme.together};"
            "box-shadow:0 3px 12px rgba(0,0,0,.25);max-width:340px;overflow:hidden;"
            "text-overflow:ellipsis"
        )
        if self.drop.tags != [style]:
            self.drop.tags = [style]

    def draw(self, layout: Layout) -> None:
        """Keep the layout of the rows that the preview has sent to the browser."""
        self._layouts[self._preview.serial] = layout
        while len(self._layouts) > MAX_LAYOUTS:
            self._layouts.popitem(last=False)

    def _reported(self, _attribute: str, _old: Any, new: dict[str, Any]) -> None:
        """Handle a report of the browser."""
        with as_one_message(self.drop.document):
            report = {name: values[0] for name, values in new.items()}
            layout = self._layouts.get(int(report["serial"]))
            if report["phase"] == "begin":
                row = report["row"]
                leaves = () if layout is None else _leaves_in_rows(layout, row, row + 1)
                single = len(leaves) == 1 and layout is not None and layout.owner[leaves[0]] < 0
                self._leaf = leaves[0] if single else None
                if self._leaf is not None:
                    self._on_drag("begin", self._leaf, ())
            elif self._leaf is not None:
                leaf, self._leaf = self._leaf, None
                members: tuple[int, ...] = ()
                if report["phase"] == "drop" and layout is not None:
                    members = _leaves_in_rows(layout, report["top"], report["bottom"])
                self._on_drag("drop" if members else "leave", leaf, members)


def _leaves_in_rows(layout: Layout, top: float, bottom: float) -> tuple[int, ...]:
    """Return the leaves in rows [top, bottom), or none if these are not rows of the layout.

    A collapsed clade that the rows touch is included whole.
    """
    first, last = (int(np.floor(edge + 0.5)) for edge in (top, bottom))
    if not 0 <= first < last <= layout.n_rows:
        return ()
    start, end = layout.row_start[first], layout.row_start[last]
    found = layout.order[start:end]
    node = geometry.clade_node(layout.tree, found) if found.size > 1 else None
    return tuple((found if node is None else layout.leaves(node)).tolist())
