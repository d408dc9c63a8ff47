"""The clusters that a method finds by itself: its tree is cut into them until one says how many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.ui.store import Store


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
    """How many clusters the method found, where they are what the tree on the screen is cut into;
    None where somebody said how many, or there are none."""
    view, snapshot = store.view, store.drawn
    if view.clusters is not None or view.cut is None:
        return None
    return None if snapshot is None or snapshot.labels is None else len(np.unique(snapshot.labels))


__all__ = ["count", "cut_into"]
