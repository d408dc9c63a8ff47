"""``consensus_tree``: the majority-rule consensus of counted clades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.posterior.clades import CladeTable


def consensus_tree(
    table: CladeTable, threshold: float, root_height: float
) -> tuple[Tree, NDArray[np.float64]]:
    """Return the tree of all clades with a support above ``threshold``, and their supports.

    See :meth:`hcviz.posterior.Posterior.consensus`. ``root_height`` is the height of the root.
    """
    sets, share, mean = table.frequent(threshold)
    n, k = table.n_items, len(sets)
    parent = np.full(n + k + 1, -1, np.int32)
    height = np.zeros(n + k + 1)
    over = np.full(n, n + k, np.int32)  # the smallest clade so far that contains each item
    # Clades are sorted by size, the largest first: clade i becomes node n + k - 1 - i.
    for i, members in enumerate(sets):
        node = n + k - 1 - i
        parent[node] = over[members[0]]
        over[members] = node
        height[node] = mean[i]
    parent[:n] = over
    height[-1] = root_height
    for v in range(n + k):
        height[parent[v]] = max(height[parent[v]], height[v])
    return Tree(parent, height, n), np.append(share[::-1], 1.0)
