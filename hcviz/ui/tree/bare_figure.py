"""Figures without decoration that share their rows to the pixel.

What a click or the pointer changes (emphasis, outlines, the cut line) is drawn in overlays. These
have a canvas of their own in Bokeh, so the tree, the names and the heatmap are not painted again.

Every figure of the middle row has the same borders above and below its frame and the same vertical
range. So a row is at the same pixel in each. Figures draw rows downward by negating them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import CustomJS, PanTool, Range1d, WheelZoomTool
from bokeh.plotting import figure

from hcviz.ui.compat.figure_style import figure_style

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
TOP, BOTTOM = 4, 3
#: Pixels hidden at the edges of any figure; of strips; of figures with bands, which may begin at a
#: fraction of a pixel; of figures with outlines, which are wider than a line.
EDGES, STRIPS, BANDS = (1, 0, 0, 1), (TOP, 0, BOTTOM, 1), (TOP, 0, BOTTOM, 2)
OUTLINES = (TOP + 2, 4, BOTTOM + 2, 2)


def bare_figure(
    x_range: Range1d,
    y_range: Range1d,
    *,
    drag: bool = False,
    cut_off: tuple[int, int, int, int] = EDGES,
    **options: Any,
) -> Any:
    """Return a figure without axes, grid, toolbar or outline.

    ``drag``: it also pans sideways. ``cut_off``: pixels hidden at the edges of the canvas.
    """
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
        "stylesheets": [figure_style(cut_off)],
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


def f32(values: Any) -> np.ndarray:
    """Return float32 values: half the bytes, and exact to a hundredth of a pixel."""
    return np.ascontiguousarray(values, dtype=np.float32)


#: Runs when a source of lines gets data. Their column ``alpha`` pulses for about a second, then
#: fades.
#: If the person prefers reduced motion, the lines are visible for the same time.
PULSE = """
const source = cb_obj, data = source.data, alpha = data.alpha
if (!alpha || !alpha.length) return
const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches
const begin = performance.now()
const level = t => t >= 1 ? 0 : Math.sqrt(1 - t) * (0.6 + 0.4 * Math.cos(4 * Math.PI * t))
const show = opacity => { alpha.fill(opacity); source.change.emit() }
if (still) {
  show(1)
  setTimeout(() => { if (source.data === data) show(0) }, SPAN)
  return
}
const frame = (now) => {
  if (source.data !== data) return
  const t = Math.max(0, (now - begin) / SPAN)
  show(level(t))
  if (t < 1) requestAnimationFrame(frame)
}
frame(begin)
"""
#: Milliseconds of a pulse.
PULSE_MS = 1200


def pulse(source: Any) -> None:
    """Let the lines of ``source`` pulse whenever the source gets data."""
    source.js_on_change("data", CustomJS(code=PULSE.replace("SPAN", str(PULSE_MS))))
