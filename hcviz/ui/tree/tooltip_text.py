"""The texts of the tooltip: for an item, a clade or a cell of the heatmap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hcviz.core.text import join_names
from hcviz.ui.tree import geometry
from hcviz.ui.tree.axis import Axis
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.heatmap_cells import HeatmapCells
from hcviz.ui.tree.items import Items, Strip
from hcviz.ui.tree.partition import Partition
from hcviz.ui.tree.scene import OPEN, TreeScene


def describe_slot(
    scene: TreeScene,
    items: Items,
    strips: Sequence[Strip],
    slot: int,
    support: Any,
    axis: Axis | None = None,
    clusters: Partition | None = None,
    merged: Any = None,
    names: Mapping[int, str] | None = None,
    cluster_names: Mapping[int, str] | None = None,
) -> tuple[str, str]:
    """Return ``(title, text)`` for a slot of the scene.

    ``support`` float (m,), or None. ``merged`` bool (m,), the nodes that are not drawn, or None.
    ``names``: node -> name of its group. ``cluster_names``: number of a cluster -> name of the
    group that it is.
    """
    leaves, node = scene.leaves(slot), int(scene.node[slot])
    classes = _classes(leaves, strips)
    if clusters is not None:
        inside = np.unique(clusters.of_item[leaves])
        if inside.size == 1:
            known = (cluster_names or {}).get(int(inside[0]))
            cluster = f"cluster {inside[0]}" + (f": {known}" if known else "")
            classes = f"{cluster}\n{classes}".rstrip()
    name, around = _group_names(scene, slot, names or {})
    if leaves.size == 1:
        title = str(items.labels[leaves[0]])
        return title, "\n".join(filter(None, [around, classes]))
    lines = [join_names([str(items.labels[i]) for i in leaves[:4]], 4, leaves.size)]
    if node < 0:
        lines.append("several branches: zoom in to separate them")
    else:
        if axis is None:
            lines.append(f"Height {scene.layout.tree.height[node]:.4g}")
        else:
            lines += [f"{word} {value}" for word, value in axis.heights_of(node)]
        if support is not None and np.isfinite(support[node]):
            lines.append(f"support {support[node]:.0%}")
        is_open = scene.kind[slot] == OPEN
        if is_open and merged is not None and merged[scene.layout.tree.children(node)].any():
            lines.append("uncertain splits in this branch are drawn as one")
    title = f"{leaves.size:,} items"
    if name:
        lines[0], title = f"{title}: {lines[0]}", name
    lines = [*lines[:1], around, *lines[1:], classes]
    return title, "\n".join(filter(None, lines))


def _group_names(scene: TreeScene, slot: int, names: Mapping[int, str]) -> tuple[str, str]:
    """Return the name of a slot, and where it is: ``in Kitchen › Storage``."""
    node, own, around = int(scene.node[slot]), "", []
    if not names:
        return "", ""
    if node < 0:
        node = int(scene.node[scene.parent[slot]])
    else:
        own = names.get(node, "")
        node = int(scene.layout.tree.parent[node])
    while node >= 0:
        if node in names:
            around.append(names[node])
        node = int(scene.layout.tree.parent[node])
    return own, f"in {' › '.join(reversed(around))}" if around else ""


def describe_cell(
    layout: Layout, items: Items, cells: HeatmapCells, title: str, x: float, row: int
) -> tuple[str, str, tuple[int, int]]:
    """Return ``(title, text, (column, row))`` of the cell under x; ``title`` names its row."""
    members = layout.row_leaves(row)
    if cells.order is None:
        column = geometry.row_at(layout, x)
        others = layout.row_leaves(column)
        name = str(items.labels[others[0]])
        if others.size > 1:
            name = f"{others.size:,} items ({name}…)"
    else:
        column = int(min(max(np.floor(x), 0), cells.width - 1))
        others = cells.order[column : column + 1]
        name = cells.names[others[0]]
    unknown = f"{cells.unit} not known here: it is computed when a method asks"
    if cells.expensive:  # computing it may take long, and a run may use the oracle
        return f"{title} · {name}", unknown, (column, row)
    block = cells.block(members, others)
    known = block[np.isfinite(block)]
    if cells.lazy and known.size == 0:
        return f"{title} · {name}", unknown, (column, row)
    value = "missing" if known.size == 0 else f"{known.mean():.4g}"
    mean = " (mean)" if block.size > 1 else ""
    if cells.order is None:
        return f"{title} · {name}", f"{cells.unit} {value}{mean}", (column, row)
    return title, f"{name}: {value}{mean}", (column, row)


def _classes(leaves: Any, strips: Sequence[Strip]) -> str:
    lines = []
    for strip in strips:
        counts = np.bincount(strip.codes[leaves], minlength=256)[: len(strip.names)]
        common = np.argsort(-counts, kind="stable")[:3]
        texts = [
            strip.names[k] if leaves.size == 1 else f"{strip.names[k]} {counts[k]:,}"
            for k in common
            if counts[k]
        ]
        if texts:
            lines.append(f"{strip.name}: {', '.join(texts)}")
    return "\n".join(lines)
