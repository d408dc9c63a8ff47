"""Measures of Krishnamurthy et al. (2012): agreement by level, HKM and HRC."""

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

#: Default limit of the number of levels.
MAX_LEVELS = 20


def triplet_agreement_by_level(target: Tree, tree: Tree, levels: int | None = None) -> Float:
    """Compute the share of the target's triplets that ``tree`` has, by depth in the target.

    Parameters
    ----------
    target, tree : Tree
        Trees over the same items.
    levels : int or None
        Number of levels; None: the depth of the target, at most 20.

    Returns
    -------
    float64 (levels,)
        Entry l is for the triplets ab|c of the target with LCA(a,b,c) at depth l; NaN if there are
        none. A random binary tree has 1/3.

    Notes
    -----
    Of all triplets about half are resolved at the root, so an overall share tells little about
    deep levels. Exact: the triplets of the target, cut at increasing depths, are counted. O(levels)
    times :func:`triplet_distance`.

    References
    ----------
    Krishnamurthy et al. (2012).

    Examples
    --------
    >>> tree = Tree.from_newick("(((0,1),2),3);")
    >>> triplet_agreement_by_level(tree, tree).tolist()
    [1.0, 1.0, nan]
    """
    depth = target.depth
    inner = int(depth[target.n_leaves :].max()) + 1 if target.n_leaves > 1 else 0
    count = (
        min(inner, MAX_LEVELS)
        if levels is None
        else check_integer(levels, "levels", InvalidParameter)
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
    """Remove the inner nodes deeper than ``depth``."""
    n = tree.n_leaves
    stays = (np.arange(tree.n_nodes) < n) | (tree.depth <= depth)
    over = tree.parent.copy()
    for _ in range(int(tree.depth.max())):  # replace removed parents by their parents
        low = (over >= 0) & ~stays[over]
        if not low.any():
            break
        over[low] = tree.parent[over[low]]
    number = np.cumsum(stays) - 1
    parent = np.where(over[stays] >= 0, number[over[stays]], -1)
    return Tree(parent, tree.height[stays], n)


def hkm(tree: Tree, features: ArrayLike) -> float:
    """Compute the hierarchical k-means objective (HKM); larger is better.

    It is the mean over clusters with more than ln n items of the mean cosine between an item and
    the centre of its cluster.

    Parameters
    ----------
    tree : Tree
        The tree over n items.
    features : float (n, d)
        Features, or the rows of a similarity matrix.

    Returns
    -------
    float
        0 if no cluster is large enough. The cosine with a zero vector is 0.

    Raises
    ------
    InvalidData
        The features have the wrong shape, or values that are not finite.

    Notes
    -----
    O(n d) time and memory.

    References
    ----------
    Krishnamurthy et al. (2012), equation 2.

    Examples
    --------
    >>> hkm(Tree.star(3), [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    1.0
    """
    n = tree.n_leaves
    rows = np.asarray(features, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != n:
        raise InvalidData(f"The features have shape {rows.shape}, but the tree has {n} leaves.")
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
    """Compute the hierarchical ratio cut (HRC); smaller is better.

    It is a mean over clusters C with more than ln n items. The term of C is the sum over its
    children C_k of ``K(C_k, C without C_k) / (2 |C_k|)``, where K is the summed similarity.

    Parameters
    ----------
    tree : Tree
        The tree over n items.
    similarity : float (n, n)
        The similarity; the diagonal is ignored.

    Returns
    -------
    float
        A polytomy whose children are all items is not divided, so it adds 0.

    Raises
    ------
    InvalidData
        The matrix has another size, or cells that are not finite.

    Notes
    -----
    O(n^2 + n depth) time, O(n) memory.

    References
    ----------
    Krishnamurthy et al. (2012), equation 3.

    Examples
    --------
    >>> hrc(Tree.star(3), np.ones((3, 3)))
    0.0
    """
    dasgupta_cost(tree, similarity)  # raises InvalidData for a bad matrix
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
    """Return True for inner nodes with more than ln n leaves, bool (m,)."""
    large = tree.size > math.log(max(tree.n_leaves, 1))
    large[: tree.n_leaves] = False
    return np.asarray(large)


__all__ = ["hkm", "hrc", "triplet_agreement_by_level"]
