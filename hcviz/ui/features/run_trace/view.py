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
from hcviz.ui.parts.part import OnAct, Part, script_and_style

# hv.extension would load Bokeh a second time in a notebook, and intercept the messages that tell
# Panel which outputs were deleted.
hv.Store.set_current_backend("bokeh")

#: Seconds between two updates of the curve, at least.
REDRAW_SECONDS = 0.5
#: Points of one run that are kept, at most. Above this every second one is deleted.
MAX_POINTS = 600


class MetricChoice(Part):
    """Chooses the metric of the curve.

    A select of Bokeh's raises an error in the browser when its options change before it is drawn,
    and the rest of the server's message is lost.
    """

    locals().update(script_and_style(__file__, "view"))


class RunTrace:
    """Draws one metric of the run against the steps; ``view`` is a Panel object.

    ``on_act`` and ``acts`` are those of the choice of the metric.
    """

    def __init__(self, on_act: OnAct, acts: Mapping[str, Any]) -> None:
        self._points: dict[str, list[tuple[float, float]]] = {}
        self._run = -1
        self._drawn = 0.0
        self._theme = "light"
        self._plots: WeakSet[Any] = WeakSet()  # the plots that HoloViews made of the metric shown
        self._shown = ""
        self._pipe = hv.streams.Pipe(data=("", np.empty((0, 2))))
        self._choice = MetricChoice(on_act, acts, sizing_mode="stretch_width", margin=0)
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
        if names and names != self._choice.state.get("metrics"):
            shown = self._metric if self._metric in names else names[0]
            self._choice.state = {"metrics": names, "shown": shown}
            self._drawn = 0.0
        if names:
            self.view.visible = True
        elif last:  # not earlier, so that the page does not jump between two runs
            self.view.visible = False
        if names and (last or time.monotonic() - self._drawn > REDRAW_SECONDS):
            self._draw()

    @property
    def _metric(self) -> str:
        """The metric chosen; "" before there is one."""
        return str(self._choice.state.get("shown", ""))

    def choose(self, metric: str) -> None:
        """Show another metric."""
        if metric in self._choice.state.get("metrics", []):
            self._choice.state = {**self._choice.state, "shown": metric}
            self._draw()

    def set_theme(self, theme: str) -> None:
        self._theme = theme
        self._shown = ""
        self._plots.clear()
        self._pane.object = hv.DynamicMap(self.curve, streams=[self._pipe])

    def _draw(self) -> None:
        name = self._metric
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
