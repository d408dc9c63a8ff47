"""Krishnamurthy et al.'s (2012) measures of a hierarchy: agreement level by level, HKM and HRC."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.cost import dasgupta_cost
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.validation import check_integer
from hcviz.metrics import kernels
from hcviz.metrics.agreement import shared_triplets

Float = NDArray[np.float64]

#: Levels looked at, unless told otherwise.
LEVELS = 20


def triplet_agreement_by_level(target: Tree, tree: Tree, levels: int | None = None) -> Float:
    """Of the triplets ab|c that ``target`` resolves with LCA(a,b,c) at depth l, the share that
    ``tree`` has too; float64 (levels,) for l = 0, 1, ... (default: as deep as the target, 20 at
    most), NaN where the target resolves none.

    Uniform triples hardly see the deep levels: half of all are decided at the root. Chance is 1/3
    against a binary tree. Exact: the target, cut off one level further each time, resolves the
    triplets of the next level besides. O(levels) times :func:`triplet_distance`.
    """
    depth = target.depth
    inner = int(depth[target.n_leaves :].max()) + 1 if target.n_leaves > 1 else 0
    count = (
        min(inner, LEVELS) if levels is None else check_integer(levels, "levels", InvalidParameter)
    )
    out = np.full(count, np.nan)
    before = (0, 0)
    for level in range(min(count, inner)):
        found = shared_triplets(_cut_off(target, level + 1), tree)
        shared, resolved = found[0] - before[0], found[1] - before[1]
        if resolved:
            out[level] = shared / resolved
        before = found
    return out


def _cut_off(tree: Tree, depth: int) -> Tree:
    """The tree without its inner nodes deeper than ``depth``."""
    n = tree.n_leaves
    stays = (np.arange(tree.n_nodes) < n) | (tree.depth <= depth)
    over = tree.parent.copy()
    for _ in range(int(tree.depth.max())):  # up past what goes
        low = (over >= 0) & ~stays[over]
        if not low.any():
            break
        over[low] = tree.parent[over[low]]
    number = np.cumsum(stays) - 1
    parent = np.where(over[stays] >= 0, number[over[stays]], -1)
    return Tree(parent, tree.height[stays], n)


def hkm(tree: Tree, features: ArrayLike) -> float:
    """The hierarchical k-means objective (equation 2 of Krishnamurthy et al. 2012): the mean over
    clusters of more than ln n items of the mean cosine between an item and its cluster's centre;
    larger is better.

    ``features``: float (n, d); for data that have similarities only, their rows. Items or centres
    that are 0 have cosine 0. 0 where no cluster is that large. O(n d) time and memory.
    """
    n = tree.n_leaves
    rows = np.asarray(features, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != n:
        raise InvalidData(f"The features have shape {rows.shape}, and the tree {n} leaves.")
    if not np.isfinite(rows).all():
        raise InvalidData("The features must be finite.")
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    large = np.flatnonzero(_large(tree))
    if not len(large):
        return 0.0
    centres = kernels.clade_sums(tree.parent, np.ascontiguousarray(rows))
    directions = kernels.clade_sums(tree.parent, units)
    norm = np.linalg.norm(centres[large], axis=1)
    along = np.einsum("ij,ij->i", directions[large], centres[large])
    return float(np.mean(np.where(norm > 0, along / np.where(norm > 0, norm, 1.0), 0.0)
                         / tree.size[large]))  # fmt: skip


def hrc(tree: Tree, similarity: Any) -> float:
    """The hierarchical ratio cut (equation 3 of Krishnamurthy et al. 2012): the mean over clusters
    C of more than ln n items of the sum over C's children C_k of K(C_k, C without C_k) / (2 |C_k|),
    K the summed similarity; smaller is better.

    A cluster without children adds 0 and is counted. A node whose children are all items is such a
    one: a star says nothing of what is inside. ``similarity``: float (n, n), the diagonal ignored.
    O(n^2 + n depth) time, O(n) memory.
    """
    dasgupta_cost(tree, similarity)  # it checks the matrix, and names the cell that is wrong
    matrix = np.ascontiguousarray(similarity, dtype=np.float64).view()
    matrix.flags.writeable = False
    large = _large(tree)
    if not large.any():
        return 0.0
    across = kernels.cross_weights(tree.parent, tree.size, tree.leaf_start, tree.leaf_order, matrix)
    divided = np.zeros(tree.n_nodes, bool)
    divided[tree.parent[tree.n_leaves : -1]] = True
    divided[np.flatnonzero(np.diff(tree.children_csr[0]) == 2)] = True
    parent = tree.parent[:-1]
    counted = large[parent] & divided[parent]
    return float((across[:-1] / (2.0 * tree.size[:-1]))[counted].sum() / large.sum())


def _large(tree: Tree) -> NDArray[np.bool_]:
    """The inner nodes of more than ln n leaves, bool (m,)."""
    large = tree.size > math.log(max(tree.n_leaves, 1))
    large[: tree.n_leaves] = False
    return np.asarray(large)


__all__ = ["hkm", "hrc", "triplet_agreement_by_level"]
