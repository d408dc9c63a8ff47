"""Where a tree's nodes go on paper: a leaf order, a row for each node, and elbows as one path.

Rows grow downward: the leaf at place p of the order occupies [p, p + 1), so its centre is p + 0.5.
The page (:mod:`hcviz.ui.tree.geometry`) and printed pictures (:mod:`hcviz.io.picture`) share this.
Everything is one pass over parent arrays; nothing recurses.
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
    """The leaves from top to bottom, int32 (n,): a depth-first order of ``tree``.

    ``near`` float (n,) is a wished position for each item (where it stood before, or a seriation):
    the children of every node are sorted by the mean wish of their leaves, ties by node index, so
    a tree that changes a little moves a little. Without it items wish for their own index.
    O(m log k) for nodes of k children.
    """
    if near is None:
        wish = np.arange(tree.n_leaves, dtype=np.float64)
    else:
        wish = np.array(near, dtype=np.float64)
        if wish.shape != (tree.n_leaves,) or not np.all(np.isfinite(wish)):
            raise InvalidData(
                f"A leaf order needs one finite wish for each of the {tree.n_leaves} items."
            )
    offsets, items = treekernels.children_csr(tree.parent)
    order: Int = _ordered_leaves(tree.parent, tree.size, offsets, items, wish)
    return order


def places(order: ArrayLike) -> NDArray[np.int64]:
    """Where each item stands in a leaf order, int64 (n,)."""
    order = np.asarray(order)
    found = np.empty(order.size, np.int64)
    found[order] = np.arange(order.size)
    return found


@njit
def _ordered_leaves(parent: Int, size: Int, offsets: Int, items: Int, wish: Float) -> Any:
    m = parent.size
    n = wish.size
    mean = np.zeros(m, np.float64)
    mean[:n] = wish
    for v in range(m - 1):  # an inner node holds its children's sum until it is reached
        if v >= n:
            mean[v] /= size[v]
        mean[parent[v]] += mean[v] * size[v]
    children = np.empty_like(items)
    for v in range(n, m):
        below = items[offsets[v] : offsets[v + 1]]
        wishes = np.empty(below.size, np.float64)
        for k in range(below.size):
            wishes[k] = mean[below[k]]
        ranked = np.argsort(wishes, kind="mergesort")
        for k in range(below.size):
            children[offsets[v] + k] = below[ranked[k]]
    return depth_first(size, offsets, children, n)


@njit
def depth_first(size: Int, offsets: Int, children: Int, n: int) -> Any:
    """The leaves as they come if each node's ``children`` come in their order: int32 (n,)."""
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
    """``(low, high, y)``: each node's topmost and lowest child, and its row.

    A node stands midway between its two outer children. int32 (m,), int32 (m,), float64 (m,);
    leaves have -1, -1 and ``leaf_y``.
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
def rows_between(low: Int, high: Int, leaf_y: Float) -> Any:
    """The row of every node when its outer children are given: float64 (m,)."""
    y = np.empty(low.size, np.float64)
    y[: leaf_y.size] = leaf_y
    for v in range(leaf_y.size, low.size):
        y[v] = 0.5 * (y[low[v]] + y[high[v]])
    return y


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
    """The branches of the masked nodes as one path with NaN separators: float32 ``x, y``.

    A node is drawn when its parent is open (the root always). An open node draws its bar and the
    horizontals to its children; one that is closed and ``flat`` a single line down to height 0;
    one that is closed and not flat nothing (somebody draws a wedge). A masked node whose parent is
    not masked also gets its own stem, up to its parent or to ``limit``. ``mask`` must hold whole
    clades: all below a masked node is masked. Without ``stems`` the branches that end in a leaf
    (or in a closed clade) are left to :func:`stem_path`. O(m).
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
    """The branches that :func:`elbow_path` leaves out without ``stems``: float32 ``x, y``.

    From the parent down to height 0 (a ``skip``ped node: to its own height).
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
    """The whole tree as one path ``(height, row)`` with NaN separators, float32; O(m)."""
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
    """The same tree, a node's height being its greatest number of edges down to a leaf.

    For looking at trees whose true heights crowd at one end. O(m).
    """
    return Tree(tree.parent, _levels(tree.parent), tree.n_leaves)


@njit
def _levels(parent: Int) -> Any:
    level = np.zeros(parent.size)
    for v in range(parent.size - 1):
        level[parent[v]] = max(level[parent[v]], level[v] + 1.0)
    return level


def without_nodes(tree: Tree, gone: ArrayLike) -> tuple[Tree, Int]:
    """``tree`` without some of its inner nodes, whose children hang from the node above them.

    Parameters
    ----------
    tree : Tree
    gone : array_like of bool, shape (n_internal,)
        Inner nodes to leave out. The root stays.

    Returns
    -------
    tree : Tree
        Heights are unchanged.
    kept : ndarray of int32
        The node of the given tree that each of its nodes was.

    Raises
    ------
    InvalidData
        ``gone`` has another length.

    Notes
    -----
    O(m).

    Examples
    --------
    >>> tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
    >>> without_nodes(tree, [True, False])[0] == Tree([3, 3, 3, -1], [0, 0, 0, 2], 3)
    True
    """
    out = np.zeros(tree.n_nodes, np.bool_)
    marked = np.asarray(gone, dtype=np.bool_)
    if marked.shape != (tree.n_internal,):
        raise InvalidData(f"{marked.size} marks were given for {tree.n_internal} inner nodes.")
    out[tree.n_leaves : -1] = marked[:-1]
    kept = np.flatnonzero(~out).astype(np.int32)
    rank = np.cumsum(~out) - 1
    above = _nearest_above(tree.parent, out)[kept]
    parent = np.where(above < 0, -1, rank[above])
    return Tree(parent, tree.height[kept], tree.n_leaves), kept


@njit
def _nearest_above(parent: Int, out: Bool) -> Any:
    """The nearest node above each that is not ``out``, -1 above the root: int32 (m,)."""
    above = parent.copy()
    for v in range(parent.size - 2, -1, -1):
        if out[parent[v]]:
            above[v] = above[parent[v]]
    return above


def cut_clusters(tree: Tree, height: float) -> Int:
    """The maximal clades at or below ``height``: int32 (m,), the clade's node, -1 above the cut."""
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
