"""A tree cut into clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.tree import Tree

Int = NDArray[np.int32]


def cut(tree: Tree, n_clusters: int) -> Int:
    """A flat partition of at least ``n_clusters`` clusters: labels int32 (n,).

    The last merges are undone, by height and then by index, until there are that many clusters; a
    polytomy is undone whole, since any order within it would be made up, so that there may be more.
    Labels number the clusters in order of their topmost node.
    """
    n, m = tree.n_leaves, tree.n_nodes
    if n_clusters < 1:
        raise InvalidParameter(f"n_clusters must be 1 or more, not {n_clusters}.")
    order = n + np.lexsort((np.arange(n, m), tree.height[n:]))[::-1]
    fan = np.diff(tree.children_csr[0])[order]
    clusters = 1 + np.concatenate([[0], np.cumsum(fan - 1)])
    undone = np.zeros(m, bool)
    undone[order[: int(np.searchsorted(clusters, min(n_clusters, n)))]] = True
    labels = np.full(m, -1, np.int32)
    tops = np.flatnonzero(~undone & np.append(undone[tree.parent[:-1]], True))
    out = np.empty(n, np.int32)
    for label, node in enumerate(tops):
        labels[node] = label
        out[tree.leaves(int(node))] = label
    return out


__all__ = ["cut"]
