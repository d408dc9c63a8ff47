"""Agglomerative clustering of a similarity, under triplets, with ties broken by a seeded order."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import agglomeratekernels as kernels
from hcviz.core.build import build
from hcviz.core.errors import InvalidData
from hcviz.core.problem import check_square
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets

Int = NDArray[np.int32]
Float = NDArray[np.float64]

Method = Literal["average", "single", "complete"]
_CODES = {"average": kernels.AVERAGE, "single": kernels.SINGLE, "complete": kernels.COMPLETE}


def agglomerate(
    similarity: ArrayLike,
    method: Method = "average",
    *,
    triplets: Any = None,
    groups: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
) -> Tree:
    """Merge the two most similar clusters until one is left.

    Parameters
    ----------
    similarity : float64 (n, n)
        Finite and symmetric, larger is more alike, of any sign; the diagonal is ignored.
    method
        Clusters are as similar as their items are on average, at most (single) or at least
        (complete).
    triplets : Triplets or int (m, 3), optional
        ab|c that the tree must satisfy. A merge is passed over, until one of its two clusters has
        grown, if no tree with that cluster satisfies them all (BUILD on the contracted clusters).
    groups : int (n,), optional
        A partition: items of a group are merged first, and groups only when nothing else can be.
    rng : numpy Generator, optional
        Draws the order that breaks ties: items are put in a random order, a cluster stands where
        its first item stands, and of equally similar pairs the one whose earlier cluster comes
        first is merged, then the one whose later cluster does. Without it, file order. Sums of
        whole numbers are exact, so that ties between them are seen as ties.

    Heights are the highest similarity less that of the merge, where these never fall, else the rank
    of the merge (1..n-1); node n + i is always the i-th merge. Raises
    :class:`InconsistentTriplets`. O(n^2) memory; O(n^2) time mostly, O(n^3) at worst, and under
    triplets O(depth (n + m)) for each pair that is tried.
    """
    w = check_square(similarity, "similarity")
    n = len(w)
    rows = Triplets.of(triplets, n).rows
    if len(rows):
        build(n, rows)  # says what contradicts what
    group = np.zeros(n, np.int32)
    if groups is not None:
        group = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int32).ravel()
        if group.shape != (n,):
            raise InvalidData(f"groups must name a group for each of the {n} items.")
    if n == 1:
        return Tree.star(1)
    order = np.arange(n) if rng is None else rng.permutation(n)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    first, second, value = kernels.merge_all(
        w[np.ix_(order, order)].copy(), _CODES[method], place[rows], group[order]
    )
    top = float(np.max(w[~np.eye(n, dtype=bool)]))
    return tree_of_merges(first, second, top - value, order)


def tree_of_merges(first: Int, second: Int, height: Float, order: NDArray[Any]) -> Tree:
    """The tree of merges of slots (see :mod:`agglomeratekernels`); slot s begins as ``order[s]``.

    Heights are ranks 1..n-1 where ``height`` falls from one merge to the next by more than
    rounding.
    """
    n = len(order)
    node = np.array(order, dtype=np.int64)
    size = np.ones(n)
    table = np.empty((n - 1, 4))
    for step in range(n - 1):
        p, q = int(first[step]), int(second[step])
        size[p] += size[q]
        table[step] = node[p], node[q], height[step], size[p]
        node[p] = n + step
    rising = np.maximum.accumulate(np.maximum(height, 0.0))
    if np.any(rising - height > 1e-12 * max(1.0, float(np.abs(height).max()))):
        rising = np.arange(1.0, n)
    table[:, 2] = rising
    return Tree.from_linkage(table)


__all__ = ["Method", "agglomerate", "tree_of_merges"]
