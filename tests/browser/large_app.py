"""The centre alone on ``?n=`` leaves, with a tree that is there and similarities that are not."""

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from hcviz import Tree
from hcviz.core.similarity_oracles import FeatureOracle
from hcviz.ui.tree import Centre, Items


class Names:
    """``item 0``, ``item 1`` and so on, without a million texts."""

    def __init__(self, n: int) -> None:
        self.numbers = range(n)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, at):
        if isinstance(at, slice):
            return [f"item {k}" for k in self.numbers[at]]
        return f"item {self.numbers[at]}"


def tree_of(n: int) -> Tree:
    """Pairs of pairs of neighbours, as level as they come: a clade is a stretch of numbers."""
    parent = np.full(2 * n - 1, -1, np.int32)
    height = np.zeros(2 * n - 1)
    level, made, step = np.arange(n), n, 0
    while level.size > 1:
        step += 1
        half = level.size // 2
        nodes = np.arange(made, made + half)
        parent[level[0 : 2 * half : 2]] = parent[level[1 : 2 * half : 2]] = nodes
        height[nodes] = step
        level, made = np.r_[nodes, level[2 * half :]], made + half
    return Tree(parent, height, n)


def main() -> None:
    n = int(pn.state.session_args.get("n", [b"10000"])[0])
    seen = ColumnDataSource({"first": [], "count": []}, name="picks")

    def picked(pick) -> None:
        centre.set_selection(pick.leaves)
        seen.stream({"first": [min(pick.leaves)], "count": [len(pick.leaves)]})

    centre = Centre(on_pick=picked)
    rows = np.random.default_rng(0).standard_normal((n, 4)) + np.arange(n)[:, None] / n
    centre.set_items(Items(Names(n), similarity=FeatureOracle(rows)))
    centre.set_tree(tree_of(n))
    report = figure(width=10, height=10, toolbar_location=None)
    report.scatter("first", "count", source=seen)
    pn.Column(
        centre.view, pn.pane.Bokeh(report), sizing_mode="stretch_both", styles={"height": "100vh"}
    ).servable()


if __name__.startswith("bokeh_app"):
    main()
