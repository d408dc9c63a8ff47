"""Agglomerative clustering of a similarity matrix under triplets; a seed determines ties.

Without triplets it is Algorithm 1 of Ghoshdastidar et al. (2019).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import agglomeratekernels as kernels
from hcviz.core.build import build
from hcviz.core.errors import InvalidData
from hcviz.core.matrix_checks import check_square
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
        Finite and symmetric, of any sign; larger is more similar. The diagonal is ignored.
    method : {"average", "single", "complete"}
        The similarity of two clusters is the mean, the maximum or the minimum over their pairs.
    triplets : Triplets or int (m, 3), optional
        Rows ab|c that the tree must satisfy. A merge is skipped if no tree with the union
        satisfies all rows (BUILD on contracted clusters). It is tried again when one of the two
        clusters has grown.
    groups : int (n,), optional
        A partition. Items of different groups are merged only when no other merge is possible.
    rng : numpy Generator, optional
        Draws a random order of the items, which breaks ties; None: the order of the file. A
        cluster has the position of its first item. Of equally similar pairs, the one with the
        first earlier cluster is merged, then the one with the first later cluster. Sums of
        integers are exact, so their ties are found.

    Returns
    -------
    Tree
        Node n + i is the i-th merge. Heights are the maximum similarity minus that of the merge;
        if these ever decrease, they are the ranks of the merges (1..n-1).

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all triplets.
    InvalidData
        The matrix or the groups are not valid.

    Notes
    -----
    O(n^2) memory. Usually O(n^2) time, at worst O(n^3); with triplets O(depth (n + m)) for each
    tested pair.

    Examples
    --------
    >>> agglomerate([[0, 3, 1], [3, 0, 2], [1, 2, 0]]).to_newick()
    '(2:1.5,(0:0.0,1:0.0):1.5);'
    """
    w = check_square(similarity, "similarity")
    n = len(w)
    rows = Triplets.of(triplets, n).rows
    if len(rows):
        build(n, rows)  # raises InconsistentTriplets
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
    """Create the tree of merges of slots (see :mod:`agglomeratekernels`).

    At the start, slot s has the item ``order[s]``. Heights are the ranks 1..n-1 if ``height``
    decreases from one merge to the next by more than a rounding error.
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
