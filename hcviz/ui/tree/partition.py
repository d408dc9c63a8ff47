"""The clusters that the tree on the screen is parted into: under a line, by number, or as found.

A number of clusters is always met: the last merges are undone, by height and, where heights tie,
by the tree's node numbering, the highest number first (:func:`hcviz.core.cut.cut`). No line parts
equal heights, so the line then stands on them. Only a node of more than two branches can give more
clusters than asked for, since any order within it would be made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hcviz.core.cut import cut
from hcviz.core.layout import cut_clusters
from hcviz.core.tree import Tree

if TYPE_CHECKING:
    from hcviz.ui.state.store import Store

Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partition:
    """Clusters of a tree's items.

    Parameters
    ----------
    of_item : int (n,), the number of each item's cluster, from 1 in the order of their first items,
        as in the CSV
    of_node : int (m,), the cluster that holds all of a node's items, -1 where several do
    cut : a height at which a line stands for it; None where no line does
    """

    of_item: Int
    of_node: Int
    cut: float | None

    @property
    def count(self) -> int:
        return int(self.of_item.max(initial=0))


def by_labels(tree: Tree, labels: NDArray[np.int32], height: float | None = None) -> Partition:
    """The partition into equal ``labels``, int (n,), whether or not they are clades. O(n)."""
    of_item = 1 + pd.factorize(np.asarray(labels))[0].astype(np.int64)
    along = of_item[tree.leaf_order]
    run = np.cumsum(np.append(0, along[1:] != along[:-1]))
    first_place, last_place = tree.leaf_start, tree.leaf_start + tree.size - 1
    of_node = np.where(run[first_place] == run[last_place], along[first_place], -1)
    return Partition(of_item, of_node, height)


def under(tree: Tree, height: float) -> Partition:
    """The maximal clades at or below ``height``; an item above it is alone."""
    top = cut_clusters(tree, height)[: tree.n_leaves]
    return by_labels(tree, np.where(top < 0, np.arange(tree.n_leaves, dtype=np.int32), top), height)


def into(tree: Tree, count: int) -> Partition:
    """The partition into ``count`` clusters (at most the items), and where its line stands."""
    parted = by_labels(tree, cut(tree, min(count, tree.n_leaves)))
    whole = parted.of_node > 0
    if whole[-1]:
        return Partition(parted.of_item, parted.of_node, float(tree.height[-1]) * 1.02 + 1e-9)
    tops = np.flatnonzero(whole & ~np.append(whole[tree.parent[:-1]], False))
    low, high = float(tree.height[tops].max()), float(tree.height[~whole].min())
    return Partition(parted.of_item, parted.of_node, (low + high) / 2)


def found(tree: Tree, labels: NDArray[np.int32]) -> Partition | None:
    """The clusters that a method found, with a line where one parts the tree into just them."""
    if tree.n_leaves < 2:
        return None
    return by_labels(tree, labels, cut_into(tree, labels))


def cut_into(tree: Tree, labels: NDArray[np.int32]) -> float | None:
    """A height at which ``tree`` falls into just the clusters of ``labels``, int32 (n,).

    None where no height does: a cluster is no clade, or merges within one and between two are
    equally high. O(n).
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


def count(store: Store) -> int | None:
    """How many clusters the method found, where they are what the tree on the screen is parted
    into; None where a person said how many, or there are none."""
    view = store.view
    return view.parted or None if view.clusters is None else None


__all__ = ["Partition", "by_labels", "count", "cut_into", "found", "into", "under"]
