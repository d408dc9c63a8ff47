"""The first tree of a chain, its divergence times, and its repair under new triplets."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from hcviz.algorithms.ddt.density import log_joint, put_tree, refresh
from hcviz.algorithms.ddt.starttrees import (
    average_linkage,
    bisected,
    children_of,
    data_heights,
    draw_prior_tree,
    times_of,
)
from hcviz.algorithms.ddt.state import tree_from
from hcviz.algorithms.ddt.work import LEARNT, NOISE, PARENT, Float, H, Int, U, Work
from hcviz.core.build import build, build_guided
from hcviz.core.groups import NO_GROUPS, Groups
from hcviz.core.not_groups import avoid
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets

#: Above this many items, repeated bisection replaces average linkage (n^2 distances).
MAX_LINKAGE = 2500

#: The latest -log(1 - t) of a start with data: 1 - t = 4e-44.
LATE = 100.0


def average_tree(points: Float) -> Int:
    """Return parents of an average-linkage tree (Euclidean); by bisection above 2,500 points."""
    n = len(points)
    if n > MAX_LINKAGE:
        found: Int = bisected(np.ascontiguousarray(points))
        return found
    parent = np.full(2 * n - 1, -1, np.int32)
    for k, (i, j) in enumerate(merges_of(points)):
        parent[[i, j]] = n + k
    return parent


def merges_of(points: Float) -> list[tuple[int, int]]:
    """Return scipy's ``linkage(points, "average")[:, :2]`` without holding the GIL for long."""
    n = len(points)
    apart = np.empty((n, n))
    for begin in range(0, n, 256):
        apart[begin : begin + 256] = cdist(points[begin : begin + 256], points)
    pair, height = average_linkage(apart)
    over = list(range(2 * n - 1))  # the cluster that contains each; itself if none

    def outermost(v: int) -> int:
        while over[v] != v:
            over[v] = over[over[v]]
            v = over[v]
        return v

    found = []
    for k, row in enumerate(np.argsort(height, kind="stable").tolist()):
        x, y = sorted((outermost(int(pair[row, 0])), outermost(int(pair[row, 1]))))
        found.append((x, y))
        over[x] = over[y] = n + k
    return found


def resolved(tree: Tree, points: Float) -> Tree:
    """Make polytomies binary, by average linkage of the children's means; all clades stay.

    O(m d + k^2) for k children at a node.
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
            merges = merges_of(means[members])
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
    """Write ``tree`` into ``w``: polytomies become binary, heights become divergence times.

    Heights inside (0, 1) may be 1 - t already; heights of other methods are not. So with data, the
    times that the data suggest are tried as well, and the better log joint is taken.
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
    """Write a first tree: average linkage of the data in units of sigma, or a draw from the
    prior."""
    n, dims = w.data.shape
    if init == "random" or dims == 0:
        draw_prior_tree(w, rng)
        latest = float(w.time[n:, U].max())
        if dims and latest > LATE:  # c is tiny: variances nearer to t = 1 would underflow
            w.time[n:, U] *= LATE / latest
        refresh(w)
        return
    points = w.data / w.sigma
    parent = average_tree(points)
    u = times_of(parent, data_heights(parent, points, w.real[NOISE]), n)
    put_tree(w, parent, children_of(parent, n), u)


def raise_sigma(w: Work, common: bool) -> None:
    """Raise sigma until noise * sigma^2 >= floor, if the leaf noise is learnt.

    A chain's own state may be below by rounding; then it is not changed.
    """
    if not w.tally[LEARNT]:
        return
    floor = w.noise_floor
    if common:
        floor = np.full_like(floor, floor.max(initial=0.0))
    least = np.sqrt(floor / w.real[NOISE])
    low = w.sigma < least * (1.0 - 1e-9)
    if low.any():
        w.sigma[low] = least[low]
        refresh(w)


def tree_of(w: Work) -> Tree:
    """Return the current tree, heights 1 - t; inner nodes by decreasing time. O(n log n)."""
    return tree_from(w.node[:, PARENT], w.time[:, U], w.time[:, H])


def repair_tree(
    w: Work,
    triplets: Triplets,
    groups: Groups = NO_GROUPS,
    way: str = "guided",
    not_groups: Groups = NO_GROUPS,
) -> bool:
    """Change the tree in ``w`` so that it satisfies all constraints; return True if it changed.

    ``guided``: :func:`hcviz.core.build.build_guided` keeps every clade that no constraint concerns,
    and changes little of the rest; unchanged nodes keep their times. ``rebuild``: as in the paper,
    see :func:`rebuilt`; groups are read as triplets. In both, :func:`hcviz.core.not_groups.avoid`
    then breaks the clades that must not be. Raises :class:`InconsistentTriplets`.
    """
    tree = tree_of(w)
    changed = not tree.satisfies(triplets, groups).all()
    if changed and way == "guided":
        put_repaired(w, build_guided(tree, triplets, groups))
    elif changed:
        implied = Triplets(groups.triplets(tree.n_leaves))
        put_repaired(w, rebuilt(tree, triplets + implied))
    tree = tree_of(w) if changed else tree
    broken = avoid(tree, not_groups, triplets, groups)
    if broken is not tree:
        put_repaired(w, broken)
    return changed or broken is not tree


def rebuilt(tree: Tree, triplets: Triplets) -> Tree:
    """Apply BUILD at the topmost LCAs of violated triplets (Vikram & Dasgupta 2016, section 3.2).

    All leaves below such a node are arranged by its triplets alone. Heights decrease from the
    node's in proportion to clade size - 1. Polytomies stay.
    """
    rows = triplets.rows
    wrong = rows[~tree.satisfies(rows)]
    over = np.unique(tree.lca(tree.lca(wrong[:, 0], wrong[:, 1]), wrong[:, 2]))
    inside = np.zeros(tree.n_nodes, bool)  # strictly below one of them
    chosen = np.zeros(tree.n_nodes, bool)
    chosen[over] = True
    for v in range(tree.n_nodes - 2, -1, -1):
        inside[v] = inside[tree.parent[v]] or chosen[tree.parent[v]]
    n = tree.n_leaves
    parent = tree.parent.astype(np.int64)
    height = tree.height.copy()
    kept = np.ones(tree.n_nodes, bool)
    kept[n:] = ~inside[n:]
    for v in np.flatnonzero(chosen & ~inside).tolist():
        items = np.sort(tree.leaves(v))
        within = rows[triplets.within(items)]
        local = build(items.size, np.searchsorted(items, within))
        place = np.concatenate([items, parent.size + np.arange(local.n_internal - 1), [v]])
        parent[items] = place[local.parent[: items.size]]
        parent = np.append(parent, place[local.parent[items.size : -1]])
        share = local.height[items.size : -1] / local.height[-1]
        height = np.append(height, height[v] * share)
        kept = np.append(kept, np.ones(local.n_internal - 1, bool))
    # Children come before parents: by height, and by clade size if heights are equal.
    size = np.zeros(parent.size, np.int64)
    for leaf in range(n):
        node = leaf
        while node >= 0:
            size[node] += 1
            node = int(parent[node])
    order = np.lexsort((size, height, np.arange(parent.size) >= n))
    order = order[kept[order]]
    order[:n] = np.arange(n)
    rank = np.full(parent.size, -1)
    rank[order] = np.arange(order.size)
    above = parent[order]
    return Tree(np.where(above >= 0, rank[above], -1), height[order], n)


def put_repaired(w: Work, tree: Tree) -> None:
    """Do the same as :func:`put_start` for heights that are 1 - t."""
    n = tree.n_leaves
    binary = resolved(tree, w.data / w.sigma)
    parent = binary.parent.copy()
    put_tree(w, parent, children_of(parent, n), times_of(parent, binary.height.copy(), n))
