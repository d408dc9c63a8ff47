"""The smallest page with a figure that answers a tap: for the tests of the tests' own tools."""

import panel as pn
from bokeh.events import Tap
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

source = ColumnDataSource({"x": [1.0, 2.0], "y": [3.0, 4.0]}, name="points")
plot = figure(name="plot", width=400, height=300, x_range=(0, 10), y_range=(0, 10))
plot.scatter("x", "y", source=source)


def tapped(event: Tap) -> None:
    source.stream({"x": [event.x], "y": [event.y]})


plot.on_event(Tap, tapped)
pn.Column("# Tiny", pn.pane.Bokeh(plot)).servable()
