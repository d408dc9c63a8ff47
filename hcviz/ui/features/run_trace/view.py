"""``RunTrace``: a metric of the run against the steps, drawn by HoloViews."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

import holoviews as hv
import holoviews.plotting.bokeh
import numpy as np
import panel as pn
from bokeh.models import NumeralTickFormatter

from hcviz.ui.compat.notebook_cells import cell_documents
from hcviz.ui.parts.palette import THEMES

# hv.extension would load Bokeh a second time in a notebook, and intercept the messages that tell
# Panel which outputs were deleted.
hv.Store.set_current_backend("bokeh")

#: Seconds between two updates of the curve, at least.
REDRAW_SECONDS = 0.5
#: Points of one run that are kept, at most. Above this every second one is deleted.
MAX_POINTS = 600

_CSS = """
:host { font: var(--font); color: var(--ink); }
label, .bk-input-group label { color: var(--ink-2) !important; font-size: 12px !important; }
input, select, .bk-input { background: var(--paper) !important; color: var(--ink) !important;
  border: 1px solid var(--line) !important; border-radius: 6px !important; height: 28px;
  font-size: 12px !important; }
.bk-spin-btn { display: none; }
"""


class RunTrace:
    """Draws one metric of the run against the steps; ``view`` is a Panel object."""

    def __init__(self) -> None:
        self._points: dict[str, list[tuple[float, float]]] = {}
        self._run = -1
        self._drawn = 0.0
        self._theme = "light"
        self._plots: WeakSet[Any] = WeakSet()  # the plots that HoloViews made of the metric shown
        self._shown = ""
        self._pipe = hv.streams.Pipe(data=("", np.empty((0, 2))))
        self._choice = self._choose_from([], None)
        self._pane = pn.pane.HoloViews(
            hv.DynamicMap(self.curve, streams=[self._pipe]),
            sizing_mode="stretch_width",
            height=150,
            margin=(4, 0, 0, 0),
            linked_axes=False,
        )
        self.view = pn.Column(
            self._choice, self._pane, sizing_mode="stretch_width", margin=0, visible=False
        )

    def push(self, run: int, step: int, metrics: Mapping[str, float], last: bool) -> None:
        """Add the metrics of one snapshot."""
        if run != self._run:
            self._run, self._points = run, {}
        for name, value in metrics.items():
            if np.isfinite(value):
                line = self._points.setdefault(name, [])
                line.append((float(step), float(value)))
                if len(line) > MAX_POINTS:
                    del line[1:-1:2]
        names = [name for name, line in self._points.items() if len(line) > 1]
        has_others = bool(names) and list(self._choice.options) != names
        if has_others:
            kept = self._choice.value if self._choice.value in names else names[0]
            self._choice = self.view[0] = self._choose_from(names, kept)
        if names:
            self.view.visible = True
        elif last:  # not earlier, so that the page does not jump between two runs
            self.view.visible = False
        if has_others or (names and (last or time.monotonic() - self._drawn > REDRAW_SECONDS)):
            self._draw()

    def _choose_from(self, names: list[str], name: str | None) -> Any:
        """Return a list to choose a metric from.

        Other names need another list: BokehJS 3.9.2 fails if a list that it has not drawn yet gets
        another value (``SelectView``), and then leaves out the rest of the message.
        """
        choice = pn.widgets.Select(
            label="Trace", options=names, value=name, stylesheets=[_CSS],
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        choice.param.watch(lambda _: self._draw(), "value")
        return choice

    def set_theme(self, theme: str) -> None:
        self._theme = theme
        self._shown = ""
        self._plots.clear()
        self._pane.object = hv.DynamicMap(self.curve, streams=[self._pipe])

    def _draw(self) -> None:
        name = self._choice.value or ""
        self._drawn = time.monotonic()
        points = np.array(self._points.get(name, []), dtype=float).reshape(-1, 2)
        plots = [plot for plot in self._plots if _is_displayed(plot)]
        if name == self._shown and plots and len(points) > 1:
            for plot in plots:
                _replace_points(plot, points)
        else:
            self._shown = name
            self._pipe.send((name, points))

    def curve(self, data: tuple[str, np.ndarray]) -> hv.Curve:
        """Return the curve of a metric: its name, and its points (step, value)."""
        name, points = data
        colours = THEMES[self._theme]
        plots = self._plots  # not self: HoloViews keeps the hooks in a module-level table

        def paint(plot: Any, _element: Any) -> None:
            plots.add(plot)
            figure = plot.state
            figure.background_fill_color = figure.border_fill_color = None
            figure.outline_line_color = None
            figure.toolbar_location = None
            for axis in figure.axis:
                axis.axis_line_color = axis.major_tick_line_color = colours.rule
                axis.major_label_text_color = axis.axis_label_text_color = colours.soft
                axis.minor_tick_line_color = None
                axis.major_label_text_font_size = "10px"
                axis.axis_label_text_font_size = "10px"
                axis.axis_label_text_font_style = "normal"
            figure.xaxis.ticker.desired_num_ticks = 4
            figure.xaxis.formatter = NumeralTickFormatter(format="0.[0]a")
            figure.grid.grid_line_color = colours.rule
            figure.grid.grid_line_alpha = 0.5

        return hv.Curve(points, "step", hv.Dimension("value", label=name or "value")).opts(
            color=colours.accent,
            line_width=1.6,
            responsive=True,
            height=150,
            framewise=True,
            toolbar=None,
            default_tools=[],
            ylabel="",
            hooks=[paint],
        )


def _is_displayed(plot: Any) -> bool:
    """Return True if a page or an existing notebook cell shows the plot."""
    document = plot.state.document
    if document is None or document.session_context is not None:
        return document is not None
    return any(shown is document for shown in cell_documents())


def _replace_points(plot: Any, points: np.ndarray) -> None:
    """Replace the points of a curve.

    HoloViews itself would search all models of the page, which takes 0.1 s.
    """
    source = plot.handles["source"]
    source.data = dict(zip(source.data, points.T.copy(), strict=True))
    for range_, values in zip((plot.state.x_range, plot.state.y_range), points.T, strict=True):
        low, high = float(values.min()), float(values.max())
        margin = 0.0 if range_ is plot.state.x_range else 0.1 * ((high - low) or 1.0)
        range_.update(start=low - margin, end=high + margin)
