"""The tree of the greatest clade credibility that sampled clades can form."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.core.treekernels import subtree_sizes
from hcviz.posterior import kernels, summarykernels
from hcviz.posterior.clades import CladeTable

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: Number of clades of which any two may be joined; the time grows with its square.
MAX_CANDIDATES = 4_000
#: The support of a clade of the tree before is raised by this number of standard errors.
N_ERRORS = 3.0
#: Lower bound for the effective number of draws.
MIN_EFFECTIVE = 4.0


def summary_tree(
    table: CladeTable,
    trees: Sequence[tuple[Int, Float]],
    composed: bool = True,
    before: Tree | None = None,
    margins: Float | None = None,
) -> Tree:
    """Find the tree of sampled clades with the greatest product of clade supports.

    Parameters
    ----------
    table : CladeTable
        The supports.
    trees : sequence of (parent int32 (m,), height float64 (m,))
        One or more sampled trees, whose clades are used.
    composed : bool
        True: a clade may be split into any two sampled clades (CCD0-MAP), of the
        ``MAX_CANDIDATES`` clades with the greatest support. False: a clade is split only as in
        some sampled tree (HIPSTR).
    before : Tree or None
        A binary tree whose clades may be used as well.
    margins : float64 (n - 2,) or None
        Added to the support of each clade of ``before`` below the root. None: 0.

    Returns
    -------
    Tree
        The height of a node is the mean height of its clade in ``trees``, raised where a child is
        higher. A clade of ``before`` alone has its height there.

    Notes
    -----
    Dynamic programming over clades by increasing size. O(T n log(T n) + candidates^2) for T trees:
    0.1 to 0.3 s for 256 trees of 150 items. Supports are at least half a tree. No sampled tree has
    a greater product. If all sampled trees are binary and satisfy a triplet, the result satisfies
    it, since each of its clades is from a tree that satisfies it.

    References
    ----------
    Berling et al. (2025), "Accurate Bayesian phylogenetic point estimation using a tree
    distribution parameterized by clade probabilities". Baele et al. (2025), "HIPSTR: highest
    independent posterior subtree reconstruction".
    """
    n = table.n_items
    # One row for each inner node of each tree: an occurrence of a clade.
    codes, above, size, height = [], [], [], []
    first = [0]
    drawn = sum(len(parent) - n for parent, _ in trees)  # occurrences in sampled trees
    if before is not None:
        trees = [*trees, (before.parent, before.height)]
    for parent, heights in trees:
        codes.append(kernels.clade_codes(parent.copy(), n, table.keys)[n:])
        up = parent[n:].astype(np.int64) - n + first[-1]
        up[-1] = -1
        above.append(up)
        size.append(subtree_sizes(parent.copy(), n)[n:])
        height.append(heights[n:])
        first.append(first[-1] + len(up))
    code, up = np.concatenate(codes), np.concatenate(above)
    sizes, tall = np.concatenate(size).astype(np.int64), np.concatenate(height)

    # Number clades by size, then by code: items 0..n-1 first, the set of all items last.
    order = np.lexsort((code[:, kernels.SECOND], code[:, kernels.FIRST], sizes))
    fresh = np.ones(len(order), bool)
    fresh[1:] = np.any(code[order[1:]] != code[order[:-1]], axis=1)
    heads = order[fresh]
    rank = np.empty(len(order), np.int64)  # the position of each occurrence in ``order``
    rank[order] = np.arange(len(order))
    seen_at = n + np.cumsum(fresh) - 1
    begin = np.append(np.zeros(n, np.int64), np.append(np.flatnonzero(fresh), len(order)))
    parents = np.where(up[order] >= 0, rank[up[order]], -1)
    clade_code = np.concatenate([table.keys, code[heads]])
    clade_size = np.append(np.ones(n, np.int64), sizes[heads])
    count = np.maximum(table.counts(clade_code[n:]), 0.5)
    weight = np.ones(len(order))
    if before is not None:
        own = seen_at[rank[drawn:]] - n
        if margins is not None:
            count[own[:-1]] += margins * table.trees
        weight[drawn:] = 1e-12  # if a clade was sampled, only the draws determine its height
    count[-1] = table.trees
    support = np.append(np.zeros(n), np.log(count / table.trees))
    weights = weight[order]
    mean = np.bincount(seen_at - n, weights * tall[order]) / np.bincount(seen_at - n, weights)

    candidates = np.empty(0, np.int64)
    if composed:
        best = np.argsort(-count, kind="stable")[:MAX_CANDIDATES]
        candidates = np.append(np.arange(n), np.sort(best) + n)
    key, used, owner = _hash_table(clade_code, candidates)
    _, chosen, left, right = summarykernels.best_splits(
        n, clade_size, support, clade_code, seen_at, begin, parents, candidates, key, used, owner
    )

    # From the root down, find the children of each clade of the result.
    tree_of = np.searchsorted(first, order, side="right") - 1
    children: dict[int, list[int]] = {}
    waiting = [len(clade_size) - 1]
    while waiting:
        clade = waiting.pop()
        at = int(chosen[clade])
        if at < 0:
            found = [int(left[clade]), int(right[clade])]
        else:
            which = int(tree_of[at])
            start = first[which]
            below = np.flatnonzero(trees[which][0] == order[at] - start + n)
            found = [int(v) if v < n else int(seen_at[rank[start + v - n]]) for v in below.tolist()]
        children[clade] = found
        waiting += [each for each in found if each >= n]
    return _tree(n, children, mean)


def margins(support: Float, number: float) -> Float:
    """Return ``N_ERRORS`` standard errors of supports from ``number`` effective draws.

    ``number`` may be NaN if unknown. A support of 0 gets the standard error of 1 / ``number``,
    since the next draw could have the clade.
    """
    number = MIN_EFFECTIVE if math.isnan(number) else max(number, MIN_EFFECTIVE)
    p = np.maximum(support, 1.0 / number)
    found: Float = N_ERRORS * np.sqrt(p * (1.0 - p) / number)
    return found


def _hash_table(
    codes: NDArray[np.uint64], members: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.bool_], NDArray[np.int64]]:
    """Create a hash table from codes to clades: keys, used slots, and the clade of each slot."""
    slots = 2 ** int(np.ceil(np.log2(3 * members.size + 2)))
    key, used = np.zeros((slots, 2), np.uint64), np.zeros(slots, np.bool_)
    owner = np.zeros(slots, np.int64)
    nothing = np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    where, _ = kernels.count_clades(
        key, used, *nothing, np.zeros(slots), codes[members], np.zeros(members.size), 0, 0
    )
    owner[where] = members
    return key, used, owner


def _tree(n: int, children: dict[int, list[int]], mean: Float) -> Tree:
    """Create a tree from clades; clade numbers increase with size, so parents come last."""
    node = {clade: n + k for k, clade in enumerate(sorted(children))}
    parent = np.full(n + len(node), -1, np.int32)
    height = np.zeros(n + len(node))
    for clade in sorted(children):
        own = node[clade]
        below = [node.get(each, each) for each in children[clade]]
        parent[below] = own
        height[own] = max(float(mean[clade - n]), float(height[below].max()))
    return Tree(parent, height, n)
