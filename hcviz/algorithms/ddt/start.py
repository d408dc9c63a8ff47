"""The tree a chain starts from, its divergence times, and its repair under new triplets."""

from __future__ import annotations

import math

import numpy as np
from scipy.cluster.hierarchy import linkage

from hcviz.algorithms.ddt.density import log_joint, put_tree, refresh
from hcviz.algorithms.ddt.moves import attach, walk
from hcviz.algorithms.ddt.work import LEFT, NOISE, PARENT, RIGHT, ROOT, SIZE, Float, H, Int, U, Work
from hcviz.core.build import build_guided
from hcviz.core.jit import njit
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets

#: Above this many items average linkage (n^2 distances, and scipy keeps the GIL) gives way to
#: repeated bisection.
MAX_LINKAGE = 2500

#: The least share of its parent's 1 - t that a start leaves to an inner node below it.
GAP = 0.999


@njit
def simulate(w, rng):
    """A tree and times from the prior, leaf after leaf (the paper's generative process).

    Writes parent, child, u, size and the root; the caller refreshes. O(n depth).
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
    """Parents of a binary tree by repeated bisection between two far points. O(n d depth).

    The cut is midway between them, or at the median where that would leave a side less than a
    twentieth. Nodes are numbered so that parents come last.
    """
    n = points.shape[0]
    parent = np.full(2 * n - 1, -1, np.int32)
    items = np.arange(n)
    along = np.empty(n)
    todo = np.empty((n + 1, 3), np.int64)
    todo[0, 0], todo[0, 1], todo[0, 2] = 0, n, -1
    waiting = 1
    node = 2 * n - 2
    while waiting > 0:
        waiting -= 1
        begin, end, over = todo[waiting]
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
            todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = first, last, node
            waiting += 1
        node -= 1
    return parent


@njit
def data_heights(parent, points, noise):
    """1 - t of each node as the data would have it, float64 (m,).

    Items that part at height h are 2 d (h + noise) apart in squared distance, in units of sigma, on
    average; what a node sees is the mean over the pairs that it parts. O(m d).
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
            mean[v] = points[v]
            square[v] = np.sum(points[v] ** 2)
        else:
            mean[v] /= size[v]
            # sum over ordered pairs below: 2 (size * square - |sum|^2)
            pairs = 2.0 * (size[v] * square[v] - size[v] ** 2 * np.sum(mean[v] ** 2))
            apart = size[v] ** 2
            between = pairs - within[v]
            height[v] += apart
            seen = between / max(height[v], 1.0) / (2.0 * dims)
            # what lies within the noise says only that it lies within it
            height[v] = max(seen - noise, 0.5 * noise, 1e-4)
            within[v] = pairs
        p = parent[v]
        if p >= 0:
            size[p] += size[v]
            mean[p] += mean[v] * size[v]
            square[p] += square[v]
            within[p] += within[v]
            height[p] -= size[v] ** 2
    return height


@njit
def times_of(parent, height, n):
    """u = -log of heights made to fit: below 1, strictly falling downward, never quite 0."""
    m = parent.size
    u = np.full(m, np.inf)
    fitted = height.copy()
    for v in range(n, m - 1):
        fitted[parent[v]] = max(fitted[parent[v]], fitted[v])
    least = -math.log(GAP)
    for v in range(m - 1, n - 1, -1):
        wish = -math.log(max(fitted[v], 1e-6 if v == m - 1 else 1e-250))
        if v == m - 1:
            u[v] = max(wish, 0.05)
        else:
            above = u[parent[v]]
            u[v] = wish if wish > above else above + least
    return u


@njit
def children_of(parent, n):
    """int32 (m, 2) children of a binary tree; -1 at leaves."""
    child = np.full((parent.size, 2), -1, np.int32)
    for v in range(parent.size - 1):
        p = parent[v]
        if child[p, 0] < 0:
            child[p, 0] = v
        else:
            child[p, 1] = v
    return child


def average_tree(points: Float) -> Int:
    """Parents of an average-linkage tree of ``points`` (Euclidean); bisection above 2,500."""
    n = len(points)
    if n > MAX_LINKAGE:
        found: Int = bisected(np.ascontiguousarray(points))
        return found
    return Tree.from_linkage(linkage(points, "average")).parent.copy()


def resolved(tree: Tree, points: Float) -> Tree:
    """``tree`` with its polytomies made binary, by average linkage of the children's means.

    Nothing that held before is lost: every clade stays. O(m d + k^2) for k children at a node.
    """
    if tree.is_binary:
        return tree
    n, dims = points.shape
    sums = np.zeros((tree.n_nodes, dims))
    sums[:n] = points
    below: dict[int, list[int]] = {}
    for v in range(tree.n_nodes - 1):
        sums[tree.parent[v]] += sums[v]
        below.setdefault(int(tree.parent[v]), []).append(v)
    means = sums / tree.size[:, None]
    name = list(range(tree.n_nodes))  # old node -> new
    pairs: list[list[int]] = []
    heights: list[float] = [0.0] * n
    for v in range(n, tree.n_nodes):
        members = below[v]
        local = [name[x] for x in members]
        if len(members) == 2:
            merges = [(0, 1)]
        elif dims == 0 or len(members) > MAX_LINKAGE:
            merges = [(2 * k, 2 * k + 1) for k in range(len(members) - 1)]
        else:
            merges = [(int(i), int(j)) for i, j, _, _ in linkage(means[members], "average")]
        for i, j in merges:
            local.append(n + len(pairs))
            pairs.append([local[i], local[j]])
            heights.append(float(tree.height[v]))
        name[v] = local[-1]
    parent = np.full(2 * n - 1, -1, np.int32)
    for node, pair in enumerate(pairs):
        parent[pair] = n + node
    return Tree(parent, heights, n)


def put_start(w: Work, tree: Tree) -> None:
    """Write ``tree`` into ``w``: polytomies resolved, heights turned into divergence times.

    Heights inside (0, 1) may be 1 - t already; other methods' mean something else. So with data
    the times that the data suggest are tried too, and the better log joint wins.
    """
    n = tree.n_leaves
    points = w.data / w.sigma
    binary = resolved(tree, points)
    parent = binary.parent.copy()
    child = children_of(parent, n)
    top = binary.height[-1]
    given = binary.height.copy() if 0 < top < 1 else binary.height / (2.0 * max(top, 1e-300))
    options = [times_of(parent, given, n)]
    if points.shape[1]:
        suggested = data_heights(parent, points, w.real[NOISE])
        options.append(times_of(parent, suggested, n))
    found = []
    for u in options:
        put_tree(w, parent, child, u)
        found.append(log_joint(w))
    best = int(np.argmax(found))
    if best != len(options) - 1:
        put_tree(w, parent, child, options[best])


def put_first(w: Work, rng: np.random.Generator, init: str) -> None:
    """Start afresh: average linkage of the data in units of sigma, or a draw from the prior."""
    n, dims = w.data.shape
    if init == "random" or dims == 0:
        simulate(w, rng)
        refresh(w)
        return
    points = w.data / w.sigma
    parent = average_tree(points)
    u = times_of(parent, data_heights(parent, points, w.real[NOISE]), n)
    put_tree(w, parent, children_of(parent, n), u)


def tree_of(w: Work) -> Tree:
    """The present tree with heights 1 - t; inner nodes by falling divergence time. O(n log n)."""
    n = w.data.shape[0]
    order = np.argsort(-w.time[n:, U], kind="stable")
    rank = np.arange(2 * n - 1, dtype=np.int32)
    rank[n + order] = np.arange(n, 2 * n - 1, dtype=np.int32)
    parent = np.full(2 * n - 1, -1, np.int32)
    old = w.node[:, PARENT]
    below = old >= 0
    parent[rank[below]] = rank[old[below]]
    height = np.zeros(2 * n - 1)
    height[n:] = w.time[n:, H][order]
    return Tree(parent, height, n)


def mend(w: Work, triplets: Triplets) -> bool:
    """Bend the tree in ``w`` to ``triplets`` if it violates any; whether it did.

    :func:`hcviz.core.build.build_guided` keeps every clade that no triplet touches, and the rest as
    far as it goes; unchanged nodes keep their times. Raises :class:`InconsistentTriplets`.
    """
    tree = tree_of(w)
    fixed = build_guided(tree, triplets)
    if fixed is tree:
        return False
    put_repaired(w, fixed)
    return True


def put_repaired(w: Work, tree: Tree) -> None:
    """As :func:`put_start`, but the heights are known to be 1 - t."""
    n = tree.n_leaves
    binary = resolved(tree, w.data / w.sigma)
    parent = binary.parent.copy()
    put_tree(w, parent, children_of(parent, n), times_of(parent, binary.height.copy(), n))
