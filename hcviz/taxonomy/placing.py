"""``place``: where in a tree each group of a taxonomy is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree

#: A group is placed at a clade only if their Jaccard index is at least this.
LEAST = 0.5


def place(tree: Tree, groups: Sequence[Sequence[int]]) -> list[int]:
    """The node of each group, -1 where it has none.

    Parameters
    ----------
    tree : Tree
    groups : sequence of sequences of int
        The members of each group: different sets of leaves.

    Returns
    -------
    list of int
        Different nodes. Groups that are clades come first. Each other group, larger ones first, is
        placed at the clade with the highest Jaccard index to its members, among those that keep the
        nesting of the groups placed before: below a group that contains it, above one that it
        contains, beside one that shares no member. Only a group of all items is placed at the root,
        and only one of a single item at a leaf. Ties go to the smaller clade, then to the smaller
        number.

    Notes
    -----
    O(m) and the groups' sizes for groups that are clades; O(k m) for each other one of k groups, m
    being the number of nodes.

    Examples
    --------
    >>> tree = Tree.from_children([[0, 1], [2, 3], [4, 5]], 4)
    >>> place(tree, [[2, 3], [0, 1, 2]])
    [5, 4]
    """
    begin, end = tree.leaf_start, tree.leaf_start + tree.size
    sets = [frozenset(int(item) for item in group) for group in groups]
    nodes = _exact(tree, sets)
    left = [k for k in range(len(sets)) if nodes[k] < 0]
    for k in sorted(left, key=lambda k: (-len(sets[k]), k)):
        allowed = np.ones(tree.n_nodes, np.bool_)
        allowed[tree.root] = len(sets[k]) == tree.n_leaves
        allowed[: tree.n_leaves] = len(sets[k]) == 1
        for other, node in enumerate(nodes):
            if node < 0:
                continue
            inside = (begin >= begin[node]) & (end <= end[node])
            if sets[k] < sets[other]:
                allowed &= inside
            elif sets[other] < sets[k]:
                allowed &= (begin <= begin[node]) & (end >= end[node])
            elif not sets[k] & sets[other]:
                allowed &= (end <= begin[node]) | (begin >= end[node])
            allowed[node] = False
        index = np.where(allowed, _jaccard(tree, sets[k]), 0.0)
        best = int(np.lexsort((np.arange(tree.n_nodes), tree.size, -index))[0])
        if index[best] >= LEAST:
            nodes[k] = best
    return nodes


def _exact(tree: Tree, sets: Sequence[frozenset[int]]) -> list[int]:
    """The node of each group that is a clade, else -1. O(m + their sizes)."""
    clades = {
        pair: node
        for node, pair in enumerate(zip(tree.leaf_start.tolist(), tree.size.tolist(), strict=True))
    }
    row = np.empty(tree.n_leaves, np.int64)
    row[tree.leaf_order] = np.arange(tree.n_leaves)
    found = []
    for group in sets:
        rows = row[list(group)]
        first, size = int(rows.min()), len(group)
        whole = int(rows.max()) - first + 1 == size
        found.append(clades.get((first, size), -1) if whole else -1)
    return found


def _jaccard(tree: Tree, members: frozenset[int]) -> NDArray[np.float64]:
    """The Jaccard index of ``members`` and each clade: float64 (m,). O(m)."""
    is_member = np.zeros(tree.n_leaves, np.int64)
    is_member[list(members)] = 1
    before = np.concatenate([[0], np.cumsum(is_member[tree.leaf_order])])
    shared = before[tree.leaf_start + tree.size] - before[tree.leaf_start]
    found: NDArray[np.float64] = shared / (tree.size + len(members) - shared)
    return found


__all__ = ["LEAST", "place"]
