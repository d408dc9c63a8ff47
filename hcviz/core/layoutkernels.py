"""Kernels of the layout of a dendrogram, over parent arrays; see :mod:`hcviz.core.layout`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.jit import njit

Int = NDArray[np.int32]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


@njit
def ordered_leaves(parent: Int, size: Int, offsets: Int, items: Int, preferred: Float) -> Any:
    """Return the leaves depth-first, children sorted by the mean ``preferred`` of their leaves."""
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
