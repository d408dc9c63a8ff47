"""Triplets that define a tree (Chatziafratis et al. 2018, Proposition 1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree

Int = NDArray[np.int32]


def groups_of_tree(tree: Tree) -> list[tuple[tuple[int, ...], int]]:
    """Return one constraint ``(group, apart)`` for each inner node except the root.

    Parameters
    ----------
    tree : Tree
        The tree to describe.

    Returns
    -------
    list of (tuple of int, int)
        Children before parents. ``group`` has the lowest item below each child of the node;
        ``apart`` is the lowest item below one sibling of the node.

    Notes
    -----
    O(n).
    """
    n = tree.n_leaves
    lowest = np.arange(tree.n_nodes)  # the lowest item below each node
    lowest[n:] = n
    np.minimum.at(lowest, tree.parent[:n], np.arange(n))
    for v in range(n, tree.n_nodes - 1):
        p = tree.parent[v]
        lowest[p] = min(lowest[p], lowest[v])
    groups = []
    for v in range(n, tree.n_nodes - 1):
        first, second = tree.children(int(tree.parent[v]))[:2].tolist()
        apart = int(lowest[second if first == v else first])
        groups.append((tuple(lowest[tree.children(v)].tolist()), apart))
    return groups


def triplets_of_tree(tree: Tree) -> Int:
    """Return triplets whose Aho tree is ``tree``.

    Parameters
    ----------
    tree : Tree
        The tree to describe.

    Returns
    -------
    int32 (m, 3)
        Rows ab|c: the groups of :func:`groups_of_tree`, each chained in pairs.

    Notes
    -----
    A binary tree over n items has n - 2 rows, and no other tree satisfies all of them. A node
    with k children has k - 1 rows; the trees that satisfy them are the refinements of ``tree``.
    A star has no rows. O(n).
    """
    rows = [(a, b, apart) for group, apart in groups_of_tree(tree) for a, b in pairwise(group)]
    return np.array(rows, np.int32).reshape(-1, 3)


__all__ = ["groups_of_tree", "triplets_of_tree"]
