"""The leaf order of a tree that differs least from another order of the same leaves.

Two leaves are *inverted* if they come in one order here and in the other there. Each pair of leaves
is decided at one node, the one whose children part the two, so the order of each node's children is
chosen by itself: the best choices together are the best order.

A node with two children is decided by counting. Along each path of largest children (heavy path)
the positions of the leaves below are kept in a Fenwick tree, and the leaves of the other children
look up their ranks in it: each leaf is looked up at most log2(n) times. The order of k children is
found exactly by dynamic programming over subsets up to :data:`EXACT` children. Above that the
children are sorted by mean position and then improved by exchanging neighbours, with bounded work
(the exact problem is NP-hard: it is the one-sided crossing minimisation of Eades and Wormald 1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import treekernels
from hcviz.core.errors import InvalidData
from hcviz.core.jit import njit
from hcviz.core.layout import depth_first, places
from hcviz.core.tree import Tree

Int = NDArray[np.int32]

#: Children of one node whose order is found exactly: 2^k k steps.
EXACT = 8
#: Passes over the neighbours of a node with more children, at most.
PASSES = 24


def aligned_order(tree: Tree, reference: ArrayLike) -> Int:
    """The leaf order of ``tree`` with the fewest inversions against ``reference``.

    Parameters
    ----------
    tree : Tree
    reference : int (n,)
        The leaves in another order, from top to bottom.

    Returns
    -------
    int32 (n,)
        The leaves from top to bottom. Among equally good orders the one in which the child with the
        foremost leaf comes first; the numbers of the inner nodes have no effect.

    Notes
    -----
    O(n log^2 n) time for binary trees of any shape, O(n) memory. A node with k children costs
    O(min(k, 8)) times as much.
    """
    order = np.asarray(reference)
    n = tree.n_leaves
    if order.shape != (n,) or not np.array_equal(np.sort(order), np.arange(n)):
        raise InvalidData(f"A leaf order names each of the {n} items once.")
    offsets, items = treekernels.children_csr(tree.parent)
    found: Int = _aligned(tree.parent, tree.size, offsets, items, places(order))
    return found


@njit
def _aligned(parent: Any, size: Any, offsets: Any, items: Any, place: Any) -> Any:
    m, n = parent.size, place.size
    start = treekernels.first_leaf_positions(parent, size)
    along = np.empty(n, np.int64)  # the places of the leaves, each clade's together
    for leaf in range(n):
        along[start[leaf]] = place[leaf]
    total = np.zeros(m, np.int64)  # the sum of each clade's places
    total[:n] = place
    least = np.empty(m, np.int64)
    least[:n] = place
    least[n:] = n
    heavy = np.full(m, -1, np.int32)  # the largest child, the foremost of equals
    for v in range(m - 1):
        p = parent[v]
        total[p] += total[v]
        least[p] = min(least[p], least[v])
        h = heavy[p]
        if h < 0 or size[v] > size[h] or (size[v] == size[h] and least[v] < least[h]):
            heavy[p] = v
    children = items.copy()
    fenwick = np.zeros(n + 1, np.int32)
    held = np.empty(n, np.int64)
    for leaf in range(n):
        _climb(
            leaf, parent, size, offsets, start, along, held, least, total, heavy, children, fenwick
        )
    return depth_first(size, offsets, children, n)


@njit
def _climb(
    leaf: Any, parent: Any, size: Any, offsets: Any, start: Any, along: Any, held: Any,
    least: Any, total: Any, heavy: Any, children: Any, fenwick: Any,
) -> Any:  # fmt: skip
    """Order the children of each node on the heavy path that ends in ``leaf``."""
    v = leaf
    _add(fenwick, along[start[leaf]], 1)
    while parent[v] >= 0 and heavy[parent[v]] == v:
        p = parent[v]
        low, high = offsets[p], offsets[p + 1]
        if high - low == 2:
            light = children[low] if children[low + 1] == v else children[low + 1]
            before = np.int64(0)  # pairs whose leaf of v comes before the leaf of `light`
            for k in range(start[light], start[light] + size[light]):
                before += _count(fenwick, along[k])
            pairs = np.int64(size[v]) * size[light]
            first = 2 * before > pairs or (2 * before == pairs and least[v] < least[light])
            children[low] = v if first else light
            children[low + 1] = light if first else v
        elif high - low > 2:
            _order(children[low:high], v, size, start, along, held, least, total, fenwick)
        if parent[p] < 0 or heavy[parent[p]] != p:  # the top of the path
            break
        for k in range(low, high):
            c = children[k]
            if c != v:
                for j in range(start[c], start[c] + size[c]):
                    _add(fenwick, along[j], 1)
        v = p
    for k in range(start[v], start[v] + size[v]):
        _add(fenwick, along[k], -1)


@njit
def _order(
    group: Any, v: Any, size: Any, start: Any, along: Any, held: Any, least: Any, total: Any,
    fenwick: Any,
) -> Any:  # fmt: skip
    """Sort ``group``, the children of one node, in place; ``v`` is the one in the Fenwick tree.

    ``held`` is filled with the sorted places of each other child.
    """
    k = group.size
    if k > EXACT:
        mean = np.empty(k)
        single = True
        for i in range(k):
            c = group[i]
            mean[i] = total[c] / size[c]
            single = single and size[c] == 1
        ranked = np.argsort(mean, kind="mergesort")
        now = group[ranked]
        if not single:
            _sort_light(now, v, size, start, along, held)
            for _ in range(PASSES):
                better = False
                for i in range(k - 1):
                    a, b = now[i], now[i + 1]
                    pairs = np.int64(size[a]) * size[b]
                    before = _before(a, b, v, size, start, held, fenwick)
                    if 2 * before < pairs:
                        now[i], now[i + 1] = b, a
                        better = True
                if not better:
                    break
        group[:] = now
        return
    now = group[np.argsort(least[group], kind="mergesort")]
    _sort_light(now, v, size, start, along, held)
    cost = np.zeros((k, k), np.int64)  # inversions if i comes before j
    for i in range(k):
        for j in range(i + 1, k):
            before = _before(now[i], now[j], v, size, start, held, fenwick)
            pairs = np.int64(size[now[i]]) * size[now[j]]
            cost[i, j], cost[j, i] = pairs - before, before
    # best[s]: the fewest inversions among the children that are not in s, which come after s
    full = (1 << k) - 1
    best = np.zeros(full + 1, np.int64)
    choice = np.full(full + 1, -1, np.int8)
    for s in range(full - 1, -1, -1):
        for i in range(k):
            if s >> i & 1:
                continue
            crossed = best[s | (1 << i)]
            for j in range(k):
                if j != i and not (s >> j & 1):
                    crossed += cost[i, j]
            if choice[s] < 0 or crossed < best[s]:
                best[s], choice[s] = crossed, i
    s = 0
    for i in range(k):
        group[i] = now[choice[s]]
        s |= 1 << choice[s]


@njit
def _sort_light(group: Any, v: Any, size: Any, start: Any, along: Any, held: Any) -> None:
    """The places of each child but ``v``, sorted, into ``held``."""
    for c in group:
        if c != v:
            held[start[c] : start[c] + size[c]] = np.sort(along[start[c] : start[c] + size[c]])


@njit
def _before(a: Any, b: Any, v: Any, size: Any, start: Any, held: Any, fenwick: Any) -> Any:
    """Pairs of a leaf of ``a`` and one of ``b`` whose leaf of ``a`` comes first."""
    total = np.int64(0)
    if a == v:
        for k in range(start[b], start[b] + size[b]):
            total += _count(fenwick, held[k])
        return total
    if b == v:
        for k in range(start[a], start[a] + size[a]):
            total += size[b] - _count(fenwick, held[k])
        return total
    i, end = start[a], start[a] + size[a]
    for k in range(start[b], start[b] + size[b]):
        while i < end and held[i] < held[k]:
            i += 1
        total += i - start[a]
    return total


@njit
def _add(fenwick: Any, place: Any, by: Any) -> None:
    k = place + 1
    while k < fenwick.size:
        fenwick[k] += by
        k += k & -k


@njit
def _count(fenwick: Any, place: Any) -> Any:
    """How many of the kept places come before ``place``."""
    k, total = place, np.int64(0)
    while k > 0:
        total += fenwick[k]
        k -= k & -k
    return total


__all__ = ["EXACT", "aligned_order"]
