"""The clusters under a cut, and colours for them that stay when the tree or the cut changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.layout import cut_clusters
from hcviz.core.tree import Tree
from hcviz.ui.palette import MISSING


def coloured_clusters(
    tree: Tree,
    cut: float,
    colours: int,
    order: NDArray[np.int32],
    before: NDArray[np.uint8] | None = None,
) -> tuple[int, Any, NDArray[np.uint8]]:
    """``(clusters, node_code int (m,), leaf_code uint8 (n,))`` of the maximal clades under ``cut``.

    The largest cluster chooses first: the colour most of its leaves had ``before``, unless that is
    taken; then the least used one that neither neighbour in the shown ``order`` has. A cluster of
    one item is not coloured (-1, 255). Needs three colours or more.
    """
    top = cut_clusters(tree, cut)
    shown = top[order]
    shown = shown[np.flatnonzero(np.r_[True, shown[1:] != shown[:-1]])]  # clades: one stretch each
    shown = shown[shown >= 0]
    nodes = shown[tree.size[shown] > 1]
    codes = np.full(nodes.size, -1)
    used = np.zeros(colours, np.int64)
    for k in np.lexsort((np.arange(nodes.size), -tree.size[nodes])):
        beside = {int(codes[j]) for j in (k - 1, k + 1) if 0 <= j < nodes.size}
        wish = -1
        if before is not None:
            votes = np.bincount(before[tree.leaves(nodes[k])], minlength=MISSING + 1)[:colours]
            wish = int(votes.argmax()) if votes.any() else -1
        if wish < 0 or wish in beside or used[wish] > used.min():
            wish = min((c for c in range(colours) if c not in beside), key=lambda c: used[c])
        used[wish] += 1
        codes[k] = wish
    code_of = np.full(tree.n_nodes, -1, np.int64)
    code_of[nodes] = codes
    node_code = np.where(top >= 0, code_of[np.maximum(top, 0)], -1)
    leaf_code = np.where(node_code[: tree.n_leaves] < 0, MISSING, node_code[: tree.n_leaves])
    return int(shown.size), node_code, leaf_code.astype(np.uint8)
