"""The clusters of the tree on the screen: below a line, by number, found, or chosen by hand.

A wanted number of clusters is always reached: the last merges are undone, by height. Equal heights
are ordered by node number, the highest first (:func:`hcviz.core.cut.cut`). A line cannot separate
equal heights, and is then drawn on them. Only a node with more than two branches can give more
clusters than wanted, because any order of its branches would be arbitrary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hcviz.core.clade_clusters import complete_clusters, item_clusters, top_nodes
from hcviz.core.cut import cut
from hcviz.core.layout import cut_clusters
from hcviz.core.tree import Tree
from hcviz.taxonomy.placement import place_disjoint

Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partition:
    """Clusters of a tree's items.

    Parameters
    ----------
    of_item : int (n,), the number of each item's cluster, from 1 in the order of their first items,
        as in the CSV
    of_node : int (m,), the cluster with all items of a node, -1 if these are in several clusters
    cut : the height of the line that gives these clusters; None if no line does
    by_hand : a person chose them by splitting and merging
    """

    of_item: Int
    of_node: Int
    cut: float | None
    by_hand: bool = False

    @property
    def count(self) -> int:
        """The number of clusters."""
        return int(self.of_item.max(initial=0))


def by_labels(tree: Tree, labels: NDArray[np.int32], height: float | None = None) -> Partition:
    """Return the partition by ``labels``, int (n,). Clusters need not be clades. O(n)."""
    of_item = 1 + pd.factorize(np.asarray(labels))[0].astype(np.int64)
    along = of_item[tree.leaf_order]
    run = np.cumsum(np.append(0, along[1:] != along[:-1]))
    first_place, last_place = tree.leaf_start, tree.leaf_start + tree.size - 1
    of_node = np.where(run[first_place] == run[last_place], along[first_place], -1)
    return Partition(of_item, of_node, height)


def at_height(tree: Tree, height: float) -> Partition:
    """Return the maximal clades at or below ``height``. An item above it is a cluster."""
    top = cut_clusters(tree, height)[: tree.n_leaves]
    return by_labels(tree, np.where(top < 0, np.arange(tree.n_leaves, dtype=np.int32), top), height)


def by_count(tree: Tree, count: int) -> Partition:
    """Return the partition into ``count`` clusters, at most one for each item."""
    clusters = by_labels(tree, cut(tree, min(count, tree.n_leaves)))
    whole = clusters.of_node > 0
    if whole[-1]:
        return Partition(clusters.of_item, clusters.of_node, float(tree.height[-1]) * 1.02 + 1e-9)
    tops = np.flatnonzero(whole & ~np.append(whole[tree.parent[:-1]], False))
    low, high = float(tree.height[tops].max()), float(tree.height[~whole].min())
    return Partition(clusters.of_item, clusters.of_node, (low + high) / 2)


def chosen(tree: Tree, sets: Sequence[Sequence[int]]) -> Partition:
    """Return the clusters that a person chose, on any tree of the items.

    Each cluster is at the clade that is most similar to its items, as named groups are. The other
    items are in the largest clades that remain.
    """
    nodes = [node for node in place_disjoint(tree, sets) if node >= 0]
    return of_nodes(tree, complete_clusters(tree, nodes))


def of_nodes(tree: Tree, tops: Int) -> Partition:
    """Return the partition into the clades of these nodes, as chosen by hand."""
    found = by_labels(tree, item_clusters(tree, tops).astype(np.int32))
    return Partition(found.of_item, found.of_node, None, by_hand=True)


def tops_of(tree: Tree, clusters: Partition | None) -> Int:
    """Return the top nodes of the clusters; the root if there are none. O(n)."""
    return np.array([tree.root]) if clusters is None else top_nodes(tree, clusters.of_item)


def of_method(tree: Tree, labels: NDArray[np.int32]) -> Partition | None:
    """Return the clusters that a method found; with a line if one gives these clusters."""
    if tree.n_leaves < 2:
        return None
    return by_labels(tree, labels, cut_height(tree, labels))


def cut_height(tree: Tree, labels: NDArray[np.int32]) -> float | None:
    """Return a height at which a cut gives the clusters of ``labels``, int32 (n,).

    None if there is no such height: a cluster is not a clade, or a merge within a cluster is as
    high as one between two. O(n).
    """
    n = tree.n_leaves
    if n < 2:
        return None
    along = labels[tree.leaf_order]
    run = np.cumsum(np.append(0, along[1:] != along[:-1]))
    of_one = run[tree.leaf_start] == run[tree.leaf_start + tree.size - 1]
    tops = np.flatnonzero(of_one & ~np.append(of_one[tree.parent[:-1]], False))
    if len(tops) != len(np.unique(labels)):
        return None
    low = float(tree.height[tops].max())
    if len(tops) == 1:
        return low * 1.02 + 1e-9  # above the root
    high = float(tree.height[tree.parent[tops]].min())
    return (low + high) / 2 if low < high else None


__all__ = [
    "Partition",
    "at_height",
    "by_count",
    "by_labels",
    "chosen",
    "cut_height",
    "of_method",
    "of_nodes",
    "tops_of",
]
