"""The layout of a dendrogram: a leaf order, a row for each node, and branches as one path.

Rows grow downward. The leaf at position p of the order occupies [p, p + 1), so its centre is
p + 0.5. The page (:mod:`hcviz.ui.tree.geometry`) and exported pictures (:mod:`hcviz.io.picture`)
use this module. Each function is a pass over parent arrays, without recursion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import treekernels
from hcviz.core.errors import InvalidData
from hcviz.core.jit import njit
from hcviz.core.tree import Tree

Int = NDArray[np.int32]
Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]


def leaf_order(tree: Tree, near: ArrayLike | None = None) -> Int:
    """Return the leaves from top to bottom, int32 (n,): a depth-first order of ``tree``.

    ``near`` float (n,) has a preferred position for each item, such as its former position or a
    seriation; None: its number. The children of each node are sorted by the mean preferred
    position of their leaves, ties by node index. So a small change of the tree moves few leaves.
    O(m log k) for nodes with k children.
    """
    if near is None:
        preferred = np.arange(tree.n_leaves, dtype=np.float64)
    else:
        preferred = np.array(near, dtype=np.float64)
        if preferred.shape != (tree.n_leaves,) or not np.all(np.isfinite(preferred)):
            raise InvalidData(
                f"A leaf order needs one finite position for each of the {tree.n_leaves} items."
            )
    offsets, items = treekernels.children_csr(tree.parent)
    order: Int = _ordered_leaves(tree.parent, tree.size, offsets, items, preferred)
    return order


def places(order: ArrayLike) -> NDArray[np.int64]:
    """Return the position of each item in a leaf order, int64 (n,)."""
    order = np.asarray(order)
    found = np.empty(order.size, np.int64)
    found[order] = np.arange(order.size)
    return found


@njit
def _ordered_leaves(parent: Int, size: Int, offsets: Int, items: Int, preferred: Float) -> Any:
    m = parent.size
    n = preferred.size
    mean = np.zeros(m, np.float64)
    mean[:n] = preferred
    for v in range(m - 1):  # an inner node has the sum of its leaves until it is visited
        if v >= n:
            mean[v] /= size[v]
        mean[parent[v]] += mean[v] * size[v]
    children = np.empty_like(items)
    for v in range(n, m):
        below = items[offsets[v] : offsets[v + 1]]
        means = np.empty(below.size, np.float64)
        for k in range(below.size):
            means[k] = mean[below[k]]
        ranked = np.argsort(means, kind="mergesort")
        for k in range(below.size):
            children[offsets[v] + k] = below[ranked[k]]
    return depth_first(size, offsets, children, n)


@njit
def depth_first(size: Int, offsets: Int, children: Int, n: int) -> Any:
    """Return the depth-first leaf order for the given order of ``children``: int32 (n,)."""
    m = size.size
    start = np.zeros(m, np.int32)
    order = np.empty(n, np.int32)
    for v in range(m - 1, n - 1, -1):
        place = start[v]
        for k in range(offsets[v], offsets[v + 1]):
            start[children[k]] = place
            place += size[children[k]]
    for leaf in range(n):
        order[start[leaf]] = leaf
    return order


@njit
def outer_children(parent: Int, leaf_y: Float) -> Any:
    """Return ``(low, high, y)``: each node's topmost and lowest child, and its row.

    int32 (m,), int32 (m,), float64 (m,). The row of an inner node is midway between its two outer
    children; leaves have -1, -1 and ``leaf_y``.
    """
    m = parent.size
    n = leaf_y.size
    low = np.full(m, -1, np.int32)
    high = np.full(m, -1, np.int32)
    y = np.empty(m, np.float64)
    y[:n] = leaf_y
    for v in range(m):
        if v >= n:
            y[v] = 0.5 * (y[low[v]] + y[high[v]])
        p = parent[v]
        if p >= 0:
            if low[p] < 0 or y[v] < y[low[p]]:
                low[p] = v
            if high[p] < 0 or y[v] >= y[high[p]]:
                high[p] = v
    return low, high, y


@njit
def elbow_path(
    parent: Int,
    height: Float,
    y: Float,
    low: Int,
    high: Int,
    open_: Bool,
    flat: Bool,
    mask: Bool,
    limit: float,
    stems: bool,
) -> Any:
    """Return the branches of the masked nodes as one path with NaN separators: float32 ``x, y``.

    The root and each node with an open parent are drawn. An open node has a vertical bar and
    horizontal lines to its children. A closed node that is ``flat`` has a line to height 0; other
    closed nodes have no line, as the caller draws a triangle. A masked node with an unmasked
    parent also has a stem, up to the parent or to ``limit``. All nodes below a masked node must be
    masked. Without ``stems``, branches to leaves and closed nodes are left out; see
    :func:`stem_path`. O(m).
    """
    m = parent.size
    xs = np.empty(11 * m, np.float32)
    ys = np.empty(11 * m, np.float32)
    k = 0
    for v in range(m):
        p = parent[v]
        if not mask[v] or (p >= 0 and not open_[p]):
            continue
        if open_[v]:
            a, b = low[v], high[v]
            xs[k], ys[k] = height[a] if stems or open_[a] else height[v], y[a]
            xs[k + 1], ys[k + 1] = height[v], y[a]
            xs[k + 2], ys[k + 2] = height[v], y[b]
            xs[k + 3], ys[k + 3] = height[b] if stems or open_[b] else height[v], y[b]
            xs[k + 4], ys[k + 4] = np.nan, np.nan
            k += 5
        elif flat[v] and stems:
            xs[k], ys[k] = 0.0, y[v]
            xs[k + 1], ys[k + 1] = height[v], y[v]
            xs[k + 2], ys[k + 2] = np.nan, np.nan
            k += 3
        if p >= 0 and (stems or open_[v]) and (not mask[p] or (v != low[p] and v != high[p])):
            top = height[p] if mask[p] else min(height[p], limit)
            xs[k], ys[k] = height[v], y[v]
            xs[k + 1], ys[k + 1] = top, y[v]
            xs[k + 2], ys[k + 2] = np.nan, np.nan
            k += 3
    return xs[:k].copy(), ys[:k].copy()


@njit
def stem_path(parent: Int, height: Float, y: Float, open_: Bool, skip: Bool) -> Any:
    """Return the branches that :func:`elbow_path` leaves out without ``stems``: float32 ``x, y``.

    Each runs from the parent to height 0, or to the node's own height where ``skip`` is True.
    """
    xs = np.empty(3 * parent.size, np.float32)
    ys = np.empty(3 * parent.size, np.float32)
    k = 0
    for v in range(parent.size - 1):
        if open_[parent[v]] and not open_[v]:
            xs[k], ys[k] = height[v] if skip[v] else 0.0, y[v]
            xs[k + 1], ys[k + 1] = height[parent[v]], y[v]
            xs[k + 2], ys[k + 2] = np.nan, np.nan
            k += 3
    return xs[:k].copy(), ys[:k].copy()


def elbows(tree: Tree, order: ArrayLike) -> tuple[Float32, Float32]:
    """Return all branches of a tree as one path ``(height, row)`` with NaN separators, float32."""
    leaf_y = np.empty(tree.n_leaves, np.float64)
    leaf_y[np.asarray(order)] = np.arange(tree.n_leaves) + 0.5
    low, high, y = outer_children(tree.parent, leaf_y)
    open_ = np.arange(tree.n_nodes) >= tree.n_leaves
    every = np.ones(tree.n_nodes, np.bool_)
    x, rows = elbow_path(
        tree.parent, tree.height, y, low, high, open_, ~every, every, float(tree.height[-1]), True
    )
    return x, rows


def with_even_heights(tree: Tree) -> Tree:
    """Replace the height of each node by its largest number of edges to a leaf below. O(m).

    This makes trees readable whose heights are nearly equal.
    """
    return Tree(tree.parent, _levels(tree.parent), tree.n_leaves)


@njit
def _levels(parent: Int) -> Any:
    level = np.zeros(parent.size)
    for v in range(parent.size - 1):
        level[parent[v]] = max(level[parent[v]], level[v] + 1.0)
    return level


def without_nodes(tree: Tree, gone: ArrayLike) -> tuple[Tree, Int]:
    """Remove some inner nodes; their children become children of the node above.

    Parameters
    ----------
    tree : Tree
        The tree.
    gone : array_like of bool, shape (n_internal,)
        Inner nodes to remove. The root is kept.

    Returns
    -------
    tree : Tree
        Heights are unchanged.
    kept : ndarray of int32
        For each node of the result, its index in the given tree.

    Raises
    ------
    InvalidData
        ``gone`` has the wrong length.

    Notes
    -----
    O(m).

    Examples
    --------
    >>> tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
    >>> without_nodes(tree, [True, False])[0] == Tree([3, 3, 3, -1], [0, 0, 0, 2], 3)
    True
    """
    removed = np.zeros(tree.n_nodes, np.bool_)
    marked = np.asarray(gone, dtype=np.bool_)
    if marked.shape != (tree.n_internal,):
        raise InvalidData(f"{marked.size} marks were given for {tree.n_internal} inner nodes.")
    removed[tree.n_leaves : -1] = marked[:-1]
    kept = np.flatnonzero(~removed).astype(np.int32)
    rank = np.cumsum(~removed) - 1
    above = _nearest_kept_ancestor(tree.parent, removed)[kept]
    parent = np.where(above < 0, -1, rank[above])
    return Tree(parent, tree.height[kept], tree.n_leaves), kept


@njit
def _nearest_kept_ancestor(parent: Int, removed: Bool) -> Any:
    """Return the nearest ancestor of each node that is not ``removed``, -1 for the root."""
    above = parent.copy()
    for v in range(parent.size - 2, -1, -1):
        if removed[parent[v]]:
            above[v] = above[parent[v]]
    return above


def cut_clusters(tree: Tree, height: float) -> Int:
    """Return for each node the top of its maximal clade at or below ``height``: int32 (m,).

    -1 for nodes above the cut.
    """
    top: Int = _cut(tree.parent, tree.height, float(height))
    return top


@njit
def _cut(parent: Int, height: Float, level: float) -> Any:
    m = parent.size
    top = np.full(m, -1, np.int32)
    for v in range(m - 1, -1, -1):
        p = parent[v]
        if p >= 0 and top[p] >= 0:
            top[v] = top[p]
        elif height[v] <= level:
            top[v] = v
    return top
