"""Triplets that say the same as a tree (Chatziafratis et al. 2018, Proposition 1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree

Int = NDArray[np.int32]


def groups_of_tree(tree: Tree) -> list[tuple[tuple[int, ...], int]]:
    """(group, apart) for each inner node but the root: one item from each of its children, the
    least, apart from an item of a sibling of the node; from the leaves up. O(n).
    """
    n = tree.n_leaves
    least = np.arange(tree.n_nodes)  # the least item below each node
    least[n:] = n
    np.minimum.at(least, tree.parent[:n], np.arange(n))
    for v in range(n, tree.n_nodes - 1):
        p = tree.parent[v]
        least[p] = min(least[p], least[v])
    groups = []
    for v in range(n, tree.n_nodes - 1):
        first, second = tree.children(int(tree.parent[v]))[:2].tolist()
        apart = int(least[second if first == v else first])
        groups.append((tuple(least[tree.children(v)].tolist()), apart))
    return groups


def triplets_of_tree(tree: Tree) -> Int:
    """Rows ab|c, int32 (m, 3), of which ``tree`` is the Aho tree: what BUILD makes of them. O(n).

    The groups of :func:`groups_of_tree`, chained in pairs. A binary tree over n items gives n - 2
    rows, as in the proposition, and no other tree satisfies them all; a polytomy of k children
    gives k - 1, and the trees that satisfy them are those that refine it. A star gives none.
    """
    rows = [(a, b, apart) for group, apart in groups_of_tree(tree) for a, b in pairwise(group)]
    return np.array(rows, np.int32).reshape(-1, 3)


__all__ = ["groups_of_tree", "triplets_of_tree"]
