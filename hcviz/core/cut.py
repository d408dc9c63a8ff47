"""Cut a tree into clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.tree_views import nodes_above_a_cut

Int = NDArray[np.int32]


def cut(tree: Tree, n_clusters: int) -> Int:
    """Cut a tree into at least ``n_clusters`` clusters.

    Parameters
    ----------
    tree : Tree
        The tree to cut.
    n_clusters : int
        1 or more; numbers above n give n clusters.

    Returns
    -------
    int32 (n,)
        The cluster of each item. Clusters are numbered in the order of their top nodes.

    Raises
    ------
    InvalidParameter
        ``n_clusters`` is below 1.

    Notes
    -----
    The highest nodes are removed first; of equal ones, those with the higher index. A polytomy is
    removed as a whole, so the result can have more than ``n_clusters`` clusters. O(n log n).

    Examples
    --------
    >>> import hcviz
    >>> cut(hcviz.Tree.from_newick("((0,1),(2,3));"), 2).tolist()
    [1, 1, 0, 0]
    """
    n = tree.n_leaves
    if n_clusters < 1:
        raise InvalidParameter(f"n_clusters must be 1 or more, not {n_clusters}.")
    removed = nodes_above_a_cut(tree.parent, tree.height, n, n_clusters)
    tops = np.flatnonzero(~removed & np.append(removed[tree.parent[:-1]], True))
    labels = np.empty(n, np.int32)
    for label, node in enumerate(tops):
        labels[tree.leaves(int(node))] = label
    return labels


__all__ = ["cut"]
