"""Bare figures that line up to the pixel, and what lets their pictures move.

What a click or the pointer changes (emphasis, outlines, the cut) is drawn as overlays: those have a
canvas of their own in Bokeh, so the tree, the names and the heatmap below are not painted again.

Every figure of the middle row has the same borders above and below its frame and the same vertical
range, so a row is at the same pixel in each. Figures draw rows downward by negating them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import CustomJS, PanTool, Range1d, WheelZoomTool
from bokeh.plotting import figure

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
TOP, BOTTOM = 4, 3
#: Bokeh rings the figure that has the focus, after a click too: it has a hairline instead.
#: A canvas shows less than all of itself (pixels above, right, below, left). BokehJS 3.9 clears its
#: overlays half a pixel off, so that old bands stay in the first row and column; and what lies
#: outside the rows in view it draws in the border.
STYLE = """
:host, .bk-Canvas {{ --highlight-color: transparent; outline: none !important; }}
:host(:focus-within) {{ box-shadow: inset 0 0 0 1px rgba(127, 127, 127, .2); }}
.bk-Canvas {{ clip-path: inset({}px {}px {}px {}px); }}
"""
#: What is cut off: of any figure; of strips; of figures with bands, which may begin at a fraction
#: of a pixel; of outlines, which are wider than a line.
EDGES, STRIPS, BANDS = (1, 0, 0, 1), (TOP, 0, BOTTOM, 1), (TOP, 0, BOTTOM, 2)
OUTLINES = (TOP + 2, 4, BOTTOM + 2, 2)


def bare(
    x_range: Range1d,
    y_range: Range1d,
    *,
    drag: bool = False,
    cut_off: tuple[int, int, int, int] = EDGES,
    **options: Any,
) -> Any:
    """A figure without axes, grid, toolbar or outline. ``drag``: also pans sideways;
    ``cut_off``: pixels of the canvas that are not shown."""
    settings: dict[str, Any] = {
        "x_range": x_range,
        "y_range": y_range,
        "x_axis_type": None,
        "y_axis_type": None,
        "tools": [],
        "toolbar_location": None,
        "sizing_mode": "stretch_both",
        "min_border": 0,
        "min_border_top": TOP,
        "min_border_bottom": BOTTOM,
        "outline_line_color": None,
        "background_fill_color": None,
        "border_fill_color": None,
        "lod_threshold": None,
        "min_width": 0,
        "min_height": 0,
        "stylesheets": [STYLE.format(*cut_off)],
    } | options
    plot = figure(**settings)
    plot.toolbar.logo = None
    plot.xgrid.visible = plot.ygrid.visible = False
    pan = PanTool(dimensions="both" if drag else "height")
    wheel = WheelZoomTool(dimensions="height", zoom_on_axis=False)
    plot.add_tools(pan, wheel)
    plot.toolbar.active_drag = pan
    plot.toolbar.active_scroll = wheel
    return plot


def show_range(shown: Any, start: float, end: float, bounds: tuple[float, float] | None) -> None:
    """Other bounds for a range, and what it shows within them: the bounds first.

    The browser clips a start or an end by the bounds that it has when they arrive (``convert`` in
    BokehJS' ``numerical_range``), without a word to the server. Never change ``min_interval`` or
    ``max_interval`` of a living range: the browser answers with a range of its own, made of the
    new limit and the old rows, and the server then takes that for a zoom.
    """
    shown.bounds = bounds
    shown.update(start=start, end=end)


def pixels(plot: Any, name: str, assumed: int = 0) -> int:
    """``inner_width`` and its like; ``assumed`` until the browser has told."""
    try:
        return int(getattr(plot, name) or assumed)
    except UnsetValueError:
        return assumed


def f32(values: Any) -> np.ndarray:
    """float32 for the wire: half the bytes, and exact to a hundredth of a pixel."""
    return np.ascontiguousarray(values, dtype=np.float32)


#: Runs when a source of lines gets data: their column ``alpha`` beats for a second and fades; for
#: those who want no motion it only stays as long. In place too.
PULSE = """
const source = cb_obj, data = source.data, alpha = data.alpha
if (!alpha || !alpha.length) return
const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches
const begin = performance.now()
const beat = t => t >= 1 ? 0 : Math.sqrt(1 - t) * (0.6 + 0.4 * Math.cos(4 * Math.PI * t))
const show = level => { alpha.fill(level); source.change.emit() }
if (still) {
  show(1)
  setTimeout(() => { if (source.data === data) show(0) }, SPAN)
  return
}
const frame = (now) => {
  if (source.data !== data) return
  const t = Math.max(0, (now - begin) / SPAN)
  show(beat(t))
  if (t < 1) requestAnimationFrame(frame)
}
frame(begin)
"""
#: Milliseconds of a pulse.
PULSE_MS = 1200


def pulse(source: Any) -> None:
    """Let the lines of ``source`` pulse whenever they come."""
    source.js_on_change("data", CustomJS(code=PULSE.replace("SPAN", str(PULSE_MS))))
