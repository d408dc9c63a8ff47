"""``Tooltip``: the browser sends the pointer's place, and Python answers with the text.

The tooltip is hidden when the tree below it is drawn again, and after a click. It is shown again
when the pointer reaches something else.

One request is sent at a time, so that a busy server gets fewer requests. Names and values are sent
only when the pointer is on them. The browser inserts them as text, never as markup, so a label
cannot run a script.
"""

from __future__ import annotations

from collections.abc import Callable

from bokeh.events import MouseLeave, MouseMove, Tap
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure

from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.parts.palette import Theme

_COMMON = """
const s = (probe._hc ??= {busy: false, next: null, x: 0, y: 0, seq: 0, tip: null})
const hide = () => { if (s.tip) s.tip.style.display = "none" }
if (!s.watching) {
  s.watching = true
  window.addEventListener("mousemove", (e) => {
    s.x = e.clientX; s.y = e.clientY; s.down = e.buttons != 0
    if (s.down) hide()
  }, {passive: true})
}
const send = () => {
  if (s.next == null || s.busy) return
  const [figure, x, y] = s.next
  s.next = null; s.busy = true; s.seq += 1
  clearTimeout(s.timer)
  s.timer = setTimeout(() => { s.busy = false; send() }, 1000)
  probe.data = {figure: [figure], x: [x], y: [y], seq: [s.seq]}
}
"""
_MOVE = (
    _COMMON
    + """
if (s.down) return
s.inside = true
s.next = [name, cb_obj.x, cb_obj.y]
send()
"""
)
_LEAVE = (
    _COMMON
    + """
s.inside = false
s.clicked = null
hide()
s.next = ["", 0, 0]
send()
"""
)
#: The tooltip of a clicked clade stays hidden while the pointer is on it.
_TAP = (
    _COMMON
    + """
s.clicked = s.busy || s.next ? "" : s.shown ?? ""  // "": whatever the next answer shows
hide()
"""
)
_REDRAWN = (
    _COMMON
    + """
s.next = null
s.shown = ""
s.clicked = null
hide()
"""
)
_ANSWER = (
    _COMMON
    + """
setTimeout(() => { s.busy = false; send() }, 25)
const d = tip.data, title = d.title[0] ?? ""
if (!s.tip) {
  s.tip = document.createElement("div")
  s.tip.className = "hc-tip"
  s.tip.setAttribute("role", "tooltip")
  document.body.appendChild(s.tip)
}
const el = s.tip
s.shown = title + "\\n" + (d.text[0] ?? "")
if (s.clicked === "") s.clicked = s.shown
else if (s.clicked !== s.shown) s.clicked = null
if (!s.inside || s.down || !title || s.clicked != null) { hide(); return }
el.style.cssText = d.style[0]
el.replaceChildren()
if ((d.image[0] ?? "").startsWith("data:image/")) {
  const img = document.createElement("img")
  img.src = d.image[0]
  img.style.cssText = "height:56px;float:right;margin-left:8px;image-rendering:pixelated"
  el.appendChild(img)
}
const head = document.createElement("div")
head.style.fontWeight = "600"
head.textContent = title
el.appendChild(head)
const body = document.createElement("div")
body.style.whiteSpace = "pre-line"
body.textContent = d.text[0]
el.appendChild(body)
const w = el.offsetWidth, h = el.offsetHeight
const left = s.x + 16 + w > window.innerWidth ? s.x - w - 12 : s.x + 16
const top = s.y + 18 + h > window.innerHeight ? s.y - h - 12 : s.y + 18
el.style.left = Math.max(4, left) + "px"
el.style.top = Math.max(4, top) + "px"
"""
)


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
        self.probe = ColumnDataSource({"figure": [""], "x": [0], "y": [0], "seq": [0]})
        self.tip = ColumnDataSource(
            {"title": [""], "text": [""], "image": [""], "style": [""], "seq": [0]}
        )
        args = {"probe": self.probe, "tip": self.tip}
        for name, plot in figures.items():
            plot.js_on_event(MouseMove, CustomJS(args={**args, "name": name}, code=_MOVE))
            plot.js_on_event(MouseLeave, CustomJS(args=args, code=_LEAVE))
            plot.js_on_event(Tap, CustomJS(args=args, code=_TAP))
        drawn.js_on_change("data", CustomJS(args=args, code=_REDRAWN))
        self.tip.js_on_change("data", CustomJS(args=args, code=_ANSWER))
        self.probe.on_change("data", self._requested)

    def _requested(self, _attribute: str, _old: object, new: dict[str, list[object]]) -> None:
        name, x, y = str(new["figure"][0]), float(new["x"][0] or 0), float(new["y"][0] or 0)  # type: ignore[arg-type]
        with as_one_message(self.probe.document):
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
        self.tip.data = {
            "title": [title], "text": [text], "image": [image], "style": [style],
            "seq": [seq],
        }  # fmt: skip
