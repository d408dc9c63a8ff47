"""The places of a taxonomy's groups in a tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree

#: Smallest Jaccard index of a group and its clade.
MIN_JACCARD = 0.5


def place(tree: Tree, groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the node of each group, or -1 for a group without a place.

    Parameters
    ----------
    tree : Tree
        A tree with m nodes.
    groups : sequence of sequences of int
        The members of each of the k groups: different sets of leaves.

    Returns
    -------
    list of int
        Different nodes.

    Notes
    -----
    Groups that are clades are placed first. The other groups follow, larger ones first. Each is
    placed at the clade with the highest Jaccard index to its members. The clade must respect the
    groups that were placed before: it is below a group that contains it, above a group in it, and
    disjoint from a group without common members. Only a group of all items can have the root, and
    only a group of one item a leaf. Ties go to the smaller clade, then to the smaller node.

    Clades take O(m + their sizes) together, and each other group O(m + k c), where c is the number
    of clades with an index of at least 0.5.

    Examples
    --------
    >>> tree = Tree.from_children([[0, 1], [2, 3], [4, 5]], 4)
    >>> place(tree, [[2, 3], [0, 1, 2]])
    [5, 4]
    """
    begin, end = tree.leaf_start, tree.leaf_start + tree.size
    sets = [frozenset(int(item) for item in group) for group in groups]
    nodes = _place_clades(tree, sets)
    rest = [k for k in range(len(sets)) if nodes[k] < 0]
    for k in sorted(rest, key=lambda k: (-len(sets[k]), k)):
        index = _jaccard(tree, sets[k])
        index[tree.root] *= len(sets[k]) == tree.n_leaves
        index[: tree.n_leaves] *= len(sets[k]) == 1
        near = np.flatnonzero(index >= MIN_JACCARD)
        if not near.size:
            continue
        first, last = begin[near], end[near]
        allowed = np.ones(near.size, np.bool_)
        for other, node in enumerate(nodes):
            if node < 0:
                continue
            if sets[k] < sets[other]:
                allowed &= (first >= begin[node]) & (last <= end[node])
            elif sets[other] < sets[k]:
                allowed &= (first <= begin[node]) & (last >= end[node])
            elif not sets[k] & sets[other]:
                allowed &= (last <= begin[node]) | (first >= end[node])
            allowed &= near != node
        near = near[allowed]
        if near.size:
            nodes[k] = int(near[np.lexsort((near, tree.size[near], -index[near]))[0]])
    return nodes


def place_disjoint(tree: Tree, groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the same as :func:`place` for groups without common members, in less time.

    Parameters
    ----------
    tree : Tree
        A tree with m nodes.
    groups : sequence of sequences of int
        The members of each of the k groups.

    Returns
    -------
    list of int
        The node of each group, or -1 for a group without a place. The clades are disjoint.

    Notes
    -----
    Clades take O(m + their sizes) together, and each other group O(m).

    Examples
    --------
    >>> tree = Tree.from_children([[0, 1], [2, 3], [4, 5]], 4)
    >>> place_disjoint(tree, [[0, 1, 3], [2]])
    [4, 2]
    """
    begin, end = tree.leaf_start, tree.leaf_start + tree.size
    sets = [frozenset(int(item) for item in group) for group in groups]
    nodes = _place_clades(tree, sets)
    taken = np.zeros(tree.n_leaves, np.int64)  # rows of the clades that have a group
    for node in nodes:
        if node >= 0:
            taken[begin[node] : end[node]] = 1
    rest = [k for k in range(len(sets)) if nodes[k] < 0]
    for k in sorted(rest, key=lambda k: (-len(sets[k]), k)):
        index = _jaccard(tree, sets[k])
        index[tree.root] *= len(sets[k]) == tree.n_leaves
        index[: tree.n_leaves] *= len(sets[k]) == 1
        near = np.flatnonzero(index >= MIN_JACCARD)
        before = np.concatenate([[0], np.cumsum(taken)])
        near = near[before[begin[near]] == before[end[near]]]
        if near.size:
            nodes[k] = best = int(near[np.lexsort((near, tree.size[near], -index[near]))[0]])
            taken[begin[best] : end[best]] = 1
    return nodes


def _place_clades(tree: Tree, sets: Sequence[frozenset[int]]) -> list[int]:
    """Return the node of each group that is a clade, and -1 for others. O(m + their sizes)."""
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
    """Return the Jaccard index of ``members`` and each clade, float64 (m,). O(m)."""
    is_member = np.zeros(tree.n_leaves, np.int64)
    is_member[list(members)] = 1
    before = np.concatenate([[0], np.cumsum(is_member[tree.leaf_order])])
    shared = before[tree.leaf_start + tree.size] - before[tree.leaf_start]
    found: NDArray[np.float64] = shared / (tree.size + len(members) - shared)
    return found


__all__ = ["MIN_JACCARD", "place", "place_disjoint"]
