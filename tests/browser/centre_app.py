"""The centre alone, on a tree whose every clade is known: for the tests of rows and clicks."""

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from hcviz import Tree
from hcviz.ui.tree import Centre, Items

rng = np.random.default_rng(0)
parent = np.full(119, -1, np.int32)
alive = list(range(60))
for node in range(60, 119):
    for _ in range(2):
        parent[alive.pop(int(rng.integers(len(alive))))] = node
    alive.append(node)
tree = Tree(parent, np.r_[np.zeros(60), np.arange(1.0, 60.0)], 60)
items = Items(
    [f"item {i}" for i in range(60)], rng.random((60, 8)), similarity=rng.random((60, 60))
)

seen = ColumnDataSource({"leaves": [], "shift": []}, name="picks")
order = ColumnDataSource({"leaf": [], "row": []}, name="order")


def picked(pick) -> None:
    centre.set_selection(pick.leaves)
    seen.stream({"leaves": [",".join(map(str, sorted(pick.leaves)))], "shift": [pick.shift]})


centre = Centre(on_pick=picked)
centre.set_items(items)
centre.set_tree(tree)
order.data = {"leaf": centre.order, "row": np.arange(60)}
report = figure(width=10, height=10, toolbar_location=None)
report.scatter("row", "row", source=order)
report.scatter("shift", "shift", source=seen)
pn.Column(
    centre.view, pn.pane.Bokeh(report), sizing_mode="stretch_both", styles={"height": "100vh"}
).servable()
