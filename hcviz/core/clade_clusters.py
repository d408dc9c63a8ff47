"""Partitions of a tree's items into clades, changed by hand: split a cluster, or make one.

A partition is given by its top nodes: the nodes whose clades are the clusters. No cut at one height
need give it. Each item is in exactly one of these clades.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree

Int = NDArray[np.int64]


def top_nodes(tree: Tree, clusters: NDArray[np.int64]) -> Int:
    """Return the maximal clades that lie within one cluster.

    Parameters
    ----------
    tree : Tree
        The tree.
    clusters : int (n,)
        The number of each item's cluster. A cluster that is no clade gives several nodes.

    Returns
    -------
    int64 (k,)
        The nodes, in increasing order.

    Notes
    -----
    O(n).

    Examples
    --------
    >>> tree = Tree.from_newick("((0,1),(2,3));")
    >>> [tree.leaves(v).tolist() for v in top_nodes(tree, np.array([7, 7, 7, 2]))]
    [[2], [3], [0, 1]]
    """
    along = np.asarray(clusters)[tree.leaf_order]
    run = np.cumsum(np.append(0, along[1:] != along[:-1]))
    whole = run[tree.leaf_start] == run[tree.leaf_start + tree.size - 1]
    return np.flatnonzero(whole & ~np.append(whole[tree.parent[:-1]], False))


def item_clusters(tree: Tree, tops: Iterable[int]) -> Int:
    """Return the number of each item's cluster, int64 (n,), from 0 in the order of ``tops``. O(n).

    Examples
    --------
    >>> tree = Tree.from_newick("((0,1),(2,3));")
    >>> item_clusters(tree, top_nodes(tree, np.array([7, 7, 7, 2]))).tolist()
    [2, 2, 0, 1]
    """
    found = np.empty(tree.n_leaves, np.int64)
    for number, node in enumerate(tops):
        found[tree.leaves(int(node))] = number
    return found


def split_cluster(
    tree: Tree, tops: Iterable[int], node: int, hidden: NDArray[np.bool_] | None = None
) -> Int:
    """Replace the cluster around a node with its children.

    Parameters
    ----------
    tree : Tree
        The tree.
    tops : iterable of int
        The top nodes of the clusters.
    node : int
        A node within one cluster, or its top.
    hidden : bool (m,), optional
        Nodes that are drawn as a part of the node above them. Their children take their place.

    Returns
    -------
    int64 (k,)
        The top nodes. They are unchanged for a cluster of one item, and for a node that contains
        several clusters.

    Notes
    -----
    O(k + depth + number of hidden nodes below the cluster's top).

    Examples
    --------
    >>> tree = Tree.from_newick("((0,1),(2,3));")
    >>> [tree.leaves(v).tolist() for v in split_cluster(tree, [tree.root], 0)]
    [[2, 3], [0, 1]]
    """
    before = {int(top) for top in tops}
    top = _top_around(tree, before, node)
    if top < 0 or top < tree.n_leaves:
        return _sorted(before)
    waiting, children = [top], set()
    while waiting:
        for child in tree.children(waiting.pop()).tolist():
            if hidden is not None and child >= tree.n_leaves and hidden[child]:
                waiting.append(child)
            else:
                children.add(child)
    return _sorted((before - {top}) | children)


def make_cluster(tree: Tree, tops: Iterable[int], node: int) -> Int:
    """Make the clade of a node one cluster.

    Clusters in the clade are merged. A cluster around the clade is divided: the siblings of the
    node, and of the nodes between it and the top of that cluster, become clusters too.

    Parameters
    ----------
    tree : Tree
        The tree.
    tops : iterable of int
        The top nodes of the clusters.
    node : int
        Any node.

    Returns
    -------
    int64 (k,)
        The top nodes.

    Notes
    -----
    O(k + depth + number of siblings).

    Examples
    --------
    >>> tree = Tree.from_newick("((0,1),(2,3));")
    >>> [tree.leaves(v).tolist() for v in make_cluster(tree, [tree.root], 0)]
    [[0], [1], [2, 3]]
    >>> make_cluster(tree, [0, 1, 2, 3], tree.root).tolist() == [tree.root]
    True
    """
    before = {int(top) for top in tops}
    top = _top_around(tree, before, node)
    if top >= 0:
        after = before - {top} | {node}
        at = node
        while at != top:
            up = int(tree.parent[at])
            after |= {child for child in tree.children(up).tolist() if child != at}
            at = up
        return _sorted(after)
    begin, end = int(tree.leaf_start[node]), int(tree.leaf_start[node] + tree.size[node])
    outside = {each for each in before if not begin <= int(tree.leaf_start[each]) < end}
    return _sorted(outside | {node})


def complete_clusters(tree: Tree, nodes: Iterable[int]) -> Int:
    """Add the fewest clades to disjoint ones, so that each item is in exactly one.

    Parameters
    ----------
    tree : Tree
        The tree.
    nodes : iterable of int
        Nodes whose clades are disjoint. Without any, the whole tree is one cluster.

    Returns
    -------
    int64 (k,)
        The top nodes: those given, and the maximal clades without an item of these.

    Notes
    -----
    O(m).

    Examples
    --------
    >>> tree = Tree.from_newick("((0,1),(2,3));")
    >>> [tree.leaves(v).tolist() for v in complete_clusters(tree, [0])]
    [[0], [1], [2, 3]]
    """
    given = [int(node) for node in nodes]
    steps = np.zeros(tree.n_leaves + 1, np.int64)
    np.add.at(steps, tree.leaf_start[given], 1)
    np.add.at(steps, tree.leaf_start[given] + tree.size[given], -1)
    before = np.concatenate(([0], np.cumsum(np.cumsum(steps[:-1]))))
    free = before[tree.leaf_start + tree.size] == before[tree.leaf_start]
    tops = np.flatnonzero(free & ~np.append(free[tree.parent[:-1]], False))
    return np.sort(np.concatenate((tops, np.array(given, np.int64))))


def _top_around(tree: Tree, tops: set[int], node: int) -> int:
    """Return the top node whose clade contains a node, or -1. O(depth)."""
    at = int(node)
    while at >= 0 and at not in tops:
        at = int(tree.parent[at])
    return at


def _sorted(nodes: set[int]) -> Int:
    return np.array(sorted(nodes), np.int64)


__all__ = ["complete_clusters", "item_clusters", "make_cluster", "split_cluster", "top_nodes"]
