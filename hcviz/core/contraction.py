"""Trees without some of their clades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree


def without_clades(tree: Tree, removed: NDArray[np.bool_]) -> Tree:
    """Return a tree without some clades: their children become children of the next node above.

    Parameters
    ----------
    tree : Tree
    removed : ndarray of bool, shape (n_internal,)
        The inner nodes to remove. The root stays.

    Returns
    -------
    Tree
        The heights of the other nodes stay.

    Notes
    -----
    O(m) for m nodes, times the logarithm of the longest chain of removed nodes.

    Examples
    --------
    >>> tree = Tree.from_children([[0, 1], [3, 2]], 3)
    >>> without_clades(tree, np.array([True, True])).to_newick("abc")
    '(a:2.0,b:2.0,c:2.0);'
    """
    gone = np.zeros(tree.n_nodes, np.bool_)
    gone[tree.n_leaves : tree.root] = removed[:-1]
    parent = tree.parent.copy()
    parent[tree.root] = tree.root
    while gone[parent].any():
        parent = np.where(gone[parent], parent[parent], parent)
    kept = ~gone
    number = np.cumsum(kept) - 1
    parent = number[parent[kept]]
    parent[-1] = -1
    return Tree(parent, tree.height[kept], tree.n_leaves)


__all__ = ["without_clades"]
