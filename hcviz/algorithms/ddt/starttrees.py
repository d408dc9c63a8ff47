"""Compiled parts of a chain's start: trees from the prior or by bisection, and their times."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.moves import attach, walk
from hcviz.algorithms.ddt.work import LEFT, PARENT, RIGHT, ROOT, SIZE, U
from hcviz.core.copykernels import copy_vector
from hcviz.core.jit import njit

#: Share of its parent's 1 - t that a start gives an inner node whose own would be larger.
GAP = 0.999


@njit
def draw_prior_tree(w, rng):
    """Draw a tree and times from the prior, one leaf after the other (Neal's generative process).

    Writes parent, child, u, size and the root. The caller calls :func:`refresh`. O(n depth).
    """
    node, time = w.node, w.time
    n = w.data.shape[0]
    node[:, PARENT : RIGHT + 1] = -1
    node[:, SIZE] = 1
    time[:n, U] = np.inf
    root = 0
    for leaf in range(1, n):
        new = n + leaf - 1
        branch, u = walk(node, time, w.real, rng, root, np.inf, np.int64(-1))
        time[new, U] = u
        node[new, LEFT] = leaf
        node[leaf, PARENT] = new
        attach(node, leaf, new, branch)
        if node[new, PARENT] < 0:
            root = new
    w.tally[ROOT] = root


@njit
def bisected(points):
    """Return parents of a binary tree by repeated bisection between two far points. O(n d depth).

    The cut is midway between them, or at the median if a side had less than a twentieth of the
    points. Parents are numbered after children.
    """
    n = points.shape[0]
    parent = np.full(2 * n - 1, -1, np.int32)
    items = np.arange(n)
    along = np.empty(n)
    pending = np.empty((n + 1, 3), np.int64)
    pending[0, 0], pending[0, 1], pending[0, 2] = 0, n, -1
    waiting = 1
    node = 2 * n - 2
    while waiting > 0:
        waiting -= 1
        begin, end, over = pending[waiting]
        if end - begin == 1:
            parent[items[begin]] = over
            continue
        parent[node] = over
        far = items[begin]
        for _ in range(2):
            pole = far
            best = -1.0
            for x in range(begin, end):
                square = 0.0
                for d in range(points.shape[1]):
                    gap = points[items[x], d] - points[pole, d]
                    square += gap * gap
                if square > best:
                    best = square
                    far = items[x]
        low, high = np.inf, -np.inf
        for x in range(begin, end):
            value = 0.0
            for d in range(points.shape[1]):
                value += points[items[x], d] * (points[far, d] - points[pole, d])
            along[x] = value
            low, high = min(low, value), max(high, value)
        order = np.argsort(along[begin:end])
        items[begin:end] = items[begin:end][order]
        along[begin:end] = along[begin:end][order]
        cut = begin + np.searchsorted(along[begin:end], 0.5 * (low + high))
        if min(cut - begin, end - cut) * 20 < end - begin:
            cut = (begin + end) // 2
        for first, last in ((begin, cut), (cut, end)):
            pending[waiting, 0], pending[waiting, 1], pending[waiting, 2] = first, last, node
            waiting += 1
        node -= 1
    return parent


@njit
def average_linkage(apart):
    """Compute average linkage by nearest-neighbour chains; merges are in the order found.

    ``apart`` is the (n, n) matrix of distances, and is overwritten. Returns the two clusters of
    each merge, named by one of their items, and its height: int32 (n - 1, 2), float64 (n - 1,). The
    steps, ties included, are scipy's (Muellner 2011), but the GIL is released. O(n^2).
    """
    n = apart.shape[0]
    size = np.ones(n, np.int64)
    pair = np.empty((n - 1, 2), np.int32)
    height = np.empty(n - 1)
    chain = np.empty(n, np.int64)
    length = 0
    for k in range(n - 1):
        if length == 0:
            x = 0
            while size[x] == 0:
                x += 1
            chain[0] = x
            length = 1
        while True:
            x = chain[length - 1]
            y = np.int64(-1)
            near = np.inf
            if length > 1:  # of equals take the previous one, so that chains end
                y = chain[length - 2]
                near = apart[x, y]
            for i in range(n):
                if size[i] > 0 and i != x and apart[x, i] < near:
                    near = apart[x, i]
                    y = np.int64(i)
            if length > 1 and y == chain[length - 2]:
                break
            chain[length] = y
            length += 1
        length -= 2
        x, y = min(x, y), max(x, y)
        pair[k, 0], pair[k, 1], height[k] = x, y, near
        a, b = size[x], size[y]
        size[x] = 0
        size[y] = a + b
        for i in range(n):
            if size[i] > 0 and i != y:
                mean = (a * apart[i, x] + b * apart[i, y]) / (a + b)
                apart[i, y] = mean
                apart[y, i] = mean
    return pair, height


@njit
def data_heights(parent, points, noise):
    """Return 1 - t of each node as the data suggest it, float64 (m,). O(m d).

    Items that diverge at height h have the mean squared distance 2 d (h + noise) in units of sigma.
    A node's height follows from the mean over the pairs that it separates.
    """
    n, dims = points.shape
    m = parent.size
    height = np.zeros(m)
    size = np.zeros(m)
    mean = np.zeros((m, dims))
    square = np.zeros(m)  # sum of squared norms
    within = np.zeros(m)  # sum of size^2 * spread of what is below
    for v in range(m):
        if v < n:
            size[v] = 1.0
            copy_vector(mean[v], points[v])
            square[v] = np.sum(points[v] ** 2)
        else:
            for d in range(dims):
                mean[v, d] /= size[v]
            # sum over ordered pairs below: 2 (size * square - |sum|^2)
            pairs = 2.0 * (size[v] * square[v] - size[v] ** 2 * np.sum(mean[v] ** 2))
            apart = size[v] ** 2
            between = pairs - within[v]
            height[v] += apart
            seen = between / max(height[v], 1.0) / (2.0 * dims)
            # a distance within the noise shows only that the height is within it
            height[v] = max(seen - noise, 0.5 * noise, 1e-4)
            within[v] = pairs
        p = parent[v]
        if p >= 0:
            size[p] += size[v]
            for d in range(dims):
                mean[p, d] += mean[v, d] * size[v]
            square[p] += square[v]
            within[p] += within[v]
            height[p] -= size[v] ** 2
    return height


@njit
def times_of(parent, height, n):
    """Return u = -log of the heights, adjusted: below 1, strictly decreasing downwards, above 0."""
    m = parent.size
    u = np.full(m, np.inf)
    fitted = height.copy()
    for v in range(n, m - 1):
        fitted[parent[v]] = max(fitted[parent[v]], fitted[v])
    least = -math.log(GAP)
    for v in range(m - 1, n - 1, -1):
        fitted_time = -math.log(max(fitted[v], 1e-6 if v == m - 1 else 1e-250))
        if v == m - 1:
            u[v] = max(fitted_time, 0.05)
        else:
            above = u[parent[v]]
            u[v] = fitted_time if fitted_time > above else above + least
    return u


@njit
def children_of(parent, n):
    """Return the children of a binary tree, int32 (m, 2); -1 at leaves."""
    child = np.full((parent.size, 2), -1, np.int32)
    for v in range(parent.size - 1):
        p = parent[v]
        if child[p, 0] < 0:
            child[p, 0] = v
        else:
            child[p, 1] = v
    return child
