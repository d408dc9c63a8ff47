"""Triplets that say the same as a tree (paper 001, Proposition 1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree

Int = NDArray[np.int32]


def triplets_of_tree(tree: Tree) -> Int:
    """Rows ab|c, int32 (m, 3), of which ``tree`` is the Aho tree: what BUILD makes of them. O(n).

    For each inner node but the root, one item from each of its children, chained in pairs, apart
    from an item of a sibling of the node. A binary tree over n items gives n - 2 rows, as in the
    proposition, and no other tree satisfies them all; a polytomy of k children gives k - 1, and the
    trees that satisfy them are those that refine it. A star gives none.
    """
    n = tree.n_leaves
    least = np.arange(tree.n_nodes)  # the least item below each node
    least[n:] = n
    np.minimum.at(least, tree.parent[:n], np.arange(n))
    for v in range(n, tree.n_nodes - 1):
        p = tree.parent[v]
        least[p] = min(least[p], least[v])
    rows = []
    for v in range(n, tree.n_nodes - 1):
        first, second = tree.children(int(tree.parent[v]))[:2].tolist()
        apart = least[second if first == v else first]
        below = least[tree.children(v)].tolist()
        rows += [(a, b, apart) for a, b in pairwise(below)]
    return np.array(rows, np.int32).reshape(-1, 3)


__all__ = ["triplets_of_tree"]
