"""``picture_data``: the tree shown, as the arguments of :func:`hcviz.io.picture.draw_picture`."""

from __future__ import annotations

from typing import Any

from hcviz.core.errors import InvalidData
from hcviz.io.picture import ClassStrip, HeatmapData, PageColours
from hcviz.ui.parts.palette import Theme, class_colours, diverging, sequential
from hcviz.ui.tree.clusters import coloured_clusters
from hcviz.ui.tree.heatmap import HeatFigure
from hcviz.ui.tree.tree_state import TreeState


def picture_data(state: TreeState, heat: HeatFigure, theme: Theme) -> dict[str, Any]:
    """Return the whole picture, with all clades expanded, as arguments of ``draw_picture``.

    Raises
    ------
    InvalidData
        No tree is shown.
    """
    tree, layout, cells = state.tree, state.layout, heat.cells
    if tree is None or layout is None:
        raise InvalidData("There is no tree to draw yet.")
    data: dict[str, Any] = {
        "tree": tree,
        "labels": [str(label) for label in state.items.labels],
        "order": layout.order,
        "title": state.items.title,
        "ink": PageColours(
            theme.ink, theme.soft, theme.branch, theme.paper, theme.missing, theme.rule
        ),
        "axis_title": "" if state.axis is None else state.axis.title,
        "axis_tick": state.axis.tick if state.axis is not None and state.axis.is_share else None,
        "support": None if state.support is None else state.support[tree.n_leaves :],
        "low_support": state.below,
        "merged": None if state.merged is None else state.merged[tree.n_leaves :],
        "names": state.names,
        "strips": [
            ClassStrip(s.name, s.codes, s.names, class_colours(len(s.names))) for s in state.strips
        ],
    }
    values = None if cells is None else heat.to_print(layout)
    if cells is not None and values is not None:
        scale = (diverging if cells.diverging else sequential)(theme)[:-1]
        data["heat"] = HeatmapData(
            values, cells.low, cells.high, scale, cells.unit, cells.names, cells.order,
            cells.tree, cells.lazy, *heat.mask_to_print(layout),
        )  # fmt: skip
    if state.partition is not None and state.cluster_codes is not None:
        _, codes, _ = coloured_clusters(
            tree, state.partition, len(theme.clusters), layout.order, state.cluster_codes
        )
        data |= {"cut": state.cut, "clusters": codes, "cluster_colours": theme.clusters}
        data["strips"].append(ClassStrip("clusters", state.cluster_codes, (), theme.clusters))
    return data


__all__ = ["picture_data"]
