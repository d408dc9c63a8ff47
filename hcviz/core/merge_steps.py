"""The merges of a linkage one by one, with the distances between the clusters before each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import squareform

from hcviz.core.constrained import Method
from hcviz.core.tree import Tree

#: Heights that are lower than a distance by this share of the largest one are equal to it.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class MergeStep:
    """One merge of a linkage.

    Parameters
    ----------
    clusters : tuple of int32 (size,)
        The items of each cluster before the merge.
    distances : float64 (k, k)
        The distances between these clusters.
    pair : tuple of int
        The two clusters that merge, as indices of ``clusters``, increasing.
    height : float
        The height of the merge in the tree.

    Examples
    --------
    >>> from hcviz.core.merge_steps import merge_steps
    >>> tree = Tree.from_linkage([[0, 1, 1.0, 2], [2, 3, 3.5, 3]])
    >>> float(merge_steps(tree, [1.0, 4.0, 3.0], "average")[1].distances[0, 1])
    3.5
    """

    clusters: tuple[NDArray[np.int32], ...]
    distances: NDArray[np.float64]
    pair: tuple[int, int]
    height: float


def merge_steps(tree: Tree, distances: ArrayLike, method: Method) -> tuple[MergeStep, ...]:
    """Return the merges that made a tree, in their order.

    Parameters
    ----------
    tree : Tree
        A binary tree of a linkage of these distances, with or without constraints.
    distances : float64 (n (n - 1) / 2,)
        Condensed distances of the items.
    method : {"average", "single", "complete", "ward"}
        How the distance of two clusters follows from those of their parts.

    Returns
    -------
    tuple of MergeStep
        n - 1 merges. It is empty for a tree that no such merges made, such as one that was repaired
        afterwards: it has a node of more than two children, or one below the distance of its parts.

    Notes
    -----
    The update of Lance and Williams (1967). O(n^3) time and memory.

    Examples
    --------
    >>> from hcviz.core.merge_steps import merge_steps
    >>> tree = Tree.from_linkage([[0, 1, 1.0, 2], [2, 3, 3.5, 3]])
    >>> [each.pair for each in merge_steps(tree, [1.0, 4.0, 3.0], "average")]
    [(0, 1), (0, 1)]
    """
    n = tree.n_leaves
    if tree.n_nodes != 2 * n - 1:
        return ()
    now = squareform(np.asarray(distances, np.float64), checks=False)
    nodes, clusters = list(range(n)), [np.array([item], np.int32) for item in range(n)]
    largest = float(now.max(initial=0.0))
    steps = []
    for node in range(n, tree.n_nodes):
        first, second = sorted(nodes.index(int(child)) for child in tree.children(node))
        height = float(tree.height[node])
        if height < now[first, second] - ROUNDING * largest:
            return ()
        steps.append(MergeStep(tuple(clusters), now.copy(), (first, second), height))
        sizes = np.array([each.size for each in clusters], float)
        now[first] = now[:, first] = _updated(now, sizes, first, second, method)
        now[first, first] = 0.0
        now = np.delete(np.delete(now, second, 0), second, 1)
        clusters[first] = np.concatenate([clusters[first], clusters[second]])
        nodes[first] = node
        del clusters[second], nodes[second]
    return tuple(steps)


def _updated(
    distances: NDArray[np.float64], sizes: NDArray[np.float64], p: int, q: int, method: Method
) -> NDArray[np.float64]:
    """Return the distance of each cluster from the merged cluster of p and q."""
    a, b = distances[p], distances[q]
    if method == "single":
        return np.minimum(a, b)
    if method == "complete":
        return np.maximum(a, b)
    if method == "average":
        return (sizes[p] * a + sizes[q] * b) / (sizes[p] + sizes[q])
    total = sizes + sizes[p] + sizes[q]
    squared = (sizes + sizes[p]) * a**2 + (sizes + sizes[q]) * b**2 - sizes * distances[p, q] ** 2
    return np.sqrt(np.maximum(squared / total, 0.0))


__all__ = ["MergeStep", "merge_steps"]
