"""``warm``: compile the kernels that draw a tree and its heatmap, in a process without Bokeh."""

from __future__ import annotations

import numpy as np

from hcviz.core.alignment import aligned_order
from hcviz.core.layout import cut_clusters, elbows, leaf_order
from hcviz.core.snapshot import Mask
from hcviz.core.tree import Tree
from hcviz.ui.tree import geometry
from hcviz.ui.tree.mask_levels import known_shares, mask_levels
from hcviz.ui.tree.scene import build_scene


def warm() -> None:
    """Draw two trees of three items, one of them with a polytomy, into arrays."""
    cells = np.zeros((3, 3), np.uint8)
    every = np.arange(3, dtype=np.int32)
    for tree in (Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3), Tree.star(3)):
        order = aligned_order(tree, leaf_order(tree, every))
        elbows(tree, order)
        layout = geometry.lay_out(tree, order)
        scene = build_scene(layout)
        scene.path()
        scene.stems()
        layout.leaves(tree.n_nodes - 1)
        tree.leaves(tree.n_nodes - 1)
        cut_clusters(tree, 0.5)
        edges = geometry.bins(layout.row_start, 0, 3, 2)
        geometry.pool(cells, edges, layout.order, edges, every)
        geometry.majority(cells[0], layout)
        mask_levels(known_shares(Mask.of([(every, every)]), layout, edges))


__all__ = ["warm"]
