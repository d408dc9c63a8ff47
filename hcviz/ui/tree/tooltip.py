"""``Tooltip``: the browser sends the pointer's place, and Python answers with the text.

The tooltip is hidden when the tree below it is drawn again, and after a click. It is shown again
when the pointer reaches something else.

One request is sent at a time, so that a busy server gets fewer requests. Names and values are sent
only when the pointer is on them. The browser inserts them as text, never as markup, so a label
cannot run a script.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bokeh.events import MouseLeave, MouseMove, Tap
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure

from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.parts.palette import Theme

_SCRIPT = Path(__file__).with_name("tooltip.js")


class Tooltip:
    """Calls ``answer(figure name, x, y) -> (title, text, image)`` when the pointer moves.

    ``drawn`` is the source of the tree's lines. Its data change when a tree is drawn.
    """

    def __init__(
        self,
        figures: dict[str, figure],
        answer: Callable[[str, float, float], tuple[str, str, str]],
        theme: Theme,
        drawn: ColumnDataSource,
    ) -> None:
        self.answer = answer
        self.theme = theme
        self._request = ColumnDataSource({"figure": [""], "x": [0], "y": [0], "seq": [0]})
        self._reply = ColumnDataSource(
            {"title": [""], "text": [""], "image": [""], "style": [""], "seq": [0]}
        )
        sources = {"request": self._request, "answer": self._reply}

        def call(event: str, figure_name: str = "") -> CustomJS:
            return CustomJS(
                args={**sources, "eventName": event, "figureName": figure_name},
                code=_SCRIPT.read_text(encoding="utf-8"),
            )

        for name, plot in figures.items():
            plot.js_on_event(MouseMove, call("move", name))
            plot.js_on_event(MouseLeave, call("leave"))
            plot.js_on_event(Tap, call("tap"))
        drawn.js_on_change("data", call("redrawn"))
        self._reply.js_on_change("data", call("answered"))
        self._request.on_change("data", self._send_answer)

    def _send_answer(self, _attribute: str, _old: object, new: dict[str, list[object]]) -> None:
        name, x, y = str(new["figure"][0]), float(new["x"][0] or 0), float(new["y"][0] or 0)  # type: ignore[arg-type]
        with as_one_message(self._request.document):
            self._answer(name, x, y, new["seq"][0])

    def _answer(self, name: str, x: float, y: float, seq: object) -> None:
        title, text, image = self.answer(name, x, y)
        theme = self.theme
        style = (
            "position:fixed;z-index:10000;pointer-events:none;max-width:320px;padding:6px 9px;"
            "border-radius:5px;font:12px/1.4 system-ui,'Segoe UI',Arial,sans-serif;"
            f"background:{theme.raised};color:{theme.ink};border:1px solid {theme.rule};"
            "box-shadow:0 2px 10px rgba(0,0,0,.22);overflow-wrap:anywhere"
        )
        self._reply.data = {
            "title": [title], "text": [text], "image": [image], "style": [style],
            "seq": [seq],
        }  # fmt: skip
