"""The clusters under a cut, and colours for them that stay when the tree or the cut changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.layout import cut_clusters
from hcviz.core.tree import Tree
from hcviz.ui.palette import MISSING


def coloured_clusters(
    tree: Tree, cut: float, colours: int, before: NDArray[np.uint8] | None = None
) -> tuple[int, Any, NDArray[np.uint8]]:
    """``(clusters, node_code int (m,), leaf_code uint8 (n,))`` of the maximal clades under ``cut``.

    The largest cluster chooses first: the colour most of its leaves had ``before``, unless that is
    taken; then the first free one; when all are taken they are used again in turn. A cluster of
    one item is not coloured (-1, 255).
    """
    top = cut_clusters(tree, cut)
    nodes = np.unique(top[: tree.n_leaves][top[: tree.n_leaves] >= 0])
    sizes = tree.size[nodes]
    code_of = np.full(tree.n_nodes, -1, np.int64)
    used = np.zeros(colours, np.int64)
    for node in nodes[np.lexsort((nodes, -sizes))]:
        if tree.size[node] == 1:
            continue
        wish = -1
        if before is not None:
            votes = np.bincount(before[tree.leaves(node)], minlength=MISSING + 1)[:colours]
            wish = int(votes.argmax()) if votes.any() else -1
        if wish < 0 or used[wish] > used.min():
            wish = int(used.argmin())
        used[wish] += 1
        code_of[node] = wish
    node_code = np.where(top >= 0, code_of[np.maximum(top, 0)], -1)
    leaf_code = np.where(node_code[: tree.n_leaves] < 0, MISSING, node_code[: tree.n_leaves])
    # A leaf above the cut cannot be: leaves have height 0, so a negative cut has no clusters.
    return int(nodes.size), node_code, leaf_code.astype(np.uint8)
