"""Find the leaf order of a tree that differs least from another order of the same leaves.

Two leaves are *inverted* if they have opposite orders in the two leaf orders. This depends only on
the order of the children of their LCA. So the best order of the children of each node can be found
separately.

For a node with two children, inversions are counted. Along each heavy path (path of largest
children), a Fenwick tree stores the positions of the leaves below, and the ranks of the leaves of
the other children are read from it. Each leaf is read at most log2(n) times. The order of up to
:data:`MAX_EXACT` children is found exactly, by dynamic programming over subsets. More children are
sorted by mean position and then improved by swaps of neighbours, with bounded work. The exact
problem is NP-hard: it is one-sided crossing minimisation (Eades and Wormald 1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import treekernels
from hcviz.core.copykernels import copy_vector
from hcviz.core.errors import InvalidData
from hcviz.core.jit import njit
from hcviz.core.layout import depth_first, places
from hcviz.core.tree import Tree

Int = NDArray[np.int32]

#: The order of up to this number of children is found exactly, in 2^k k steps.
MAX_EXACT = 8
#: Largest number of passes of swaps for a node with more children.
MAX_PASSES = 24


def aligned_order(tree: Tree, reference: ArrayLike) -> Int:
    """Return the leaf order of ``tree`` with the fewest inversions against ``reference``.

    Parameters
    ----------
    tree : Tree
        The tree to order.
    reference : int (n,)
        The leaves in another order, from top to bottom.

    Returns
    -------
    int32 (n,)
        The leaves from top to bottom. Of equally good orders, the child with the foremost leaf
        comes first; the numbers of the inner nodes have no effect.

    Raises
    ------
    InvalidData
        ``reference`` is not an order of the leaves.

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
    along = np.empty(n, np.int64)  # the reference positions, those of each clade together
    for leaf in range(n):
        along[start[leaf]] = place[leaf]
    total = np.zeros(m, np.int64)  # the sum of the positions in each clade
    copy_vector(total[:n], place)
    least = np.empty(m, np.int64)
    copy_vector(least[:n], place)
    least[n:] = n
    heavy = np.full(m, -1, np.int32)  # the largest child; of equal ones, the foremost
    for v in range(m - 1):
        p = parent[v]
        total[p] += total[v]
        least[p] = min(least[p], least[v])
        h = heavy[p]
        if h < 0 or size[v] > size[h] or (size[v] == size[h] and least[v] < least[h]):
            heavy[p] = v
    children = items.copy()
    fenwick = np.zeros(n + 1, np.int32)
    sorted_places = np.empty(n, np.int64)
    for leaf in range(n):
        _climb(
            leaf,
            parent,
            size,
            offsets,
            start,
            along,
            sorted_places,
            least,
            total,
            heavy,
            children,
            fenwick,
        )
    return depth_first(size, offsets, children, n)


@njit
def _climb(
    leaf: Any, parent: Any, size: Any, offsets: Any, start: Any, along: Any, sorted_places: Any,
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
            before = np.int64(0)  # pairs in which the leaf of v comes before the leaf of `light`
            for k in range(start[light], start[light] + size[light]):
                before += _count(fenwick, along[k])
            pairs = np.int64(size[v]) * size[light]
            first = 2 * before > pairs or (2 * before == pairs and least[v] < least[light])
            children[low] = v if first else light
            children[low + 1] = light if first else v
        elif high - low > 2:
            _order(children[low:high], v, size, start, along, sorted_places, least, total, fenwick)
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
    group: Any, v: Any, size: Any, start: Any, along: Any, sorted_places: Any, least: Any,
    total: Any, fenwick: Any,
) -> Any:  # fmt: skip
    """Sort ``group``, the children of one node, in place.

    The Fenwick tree has the positions of child ``v``; ``sorted_places`` is filled with the sorted
    positions of the other children.
    """
    k = group.size
    if k > MAX_EXACT:
        mean = np.empty(k)
        single = True
        for i in range(k):
            c = group[i]
            mean[i] = total[c] / size[c]
            single = single and size[c] == 1
        ranked = np.argsort(mean, kind="mergesort")
        now = group[ranked]
        if not single:
            _sort_light(now, v, size, start, along, sorted_places)
            for _ in range(MAX_PASSES):
                better = False
                for i in range(k - 1):
                    a, b = now[i], now[i + 1]
                    pairs = np.int64(size[a]) * size[b]
                    before = _before(a, b, v, size, start, sorted_places, fenwick)
                    if 2 * before < pairs:
                        now[i], now[i + 1] = b, a
                        better = True
                if not better:
                    break
        copy_vector(group, now)
        return
    now = group[np.argsort(least[group], kind="mergesort")]
    _sort_light(now, v, size, start, along, sorted_places)
    cost = np.zeros((k, k), np.int64)  # inversions if i comes before j
    for i in range(k):
        for j in range(i + 1, k):
            before = _before(now[i], now[j], v, size, start, sorted_places, fenwick)
            pairs = np.int64(size[now[i]]) * size[now[j]]
            cost[i, j], cost[j, i] = pairs - before, before
    # best[s]: the fewest inversions of the children not in s, which come after those in s
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
        s |= 1 << int(choice[s])


@njit
def _sort_light(group: Any, v: Any, size: Any, start: Any, along: Any, sorted_places: Any) -> None:
    """Write the sorted positions of each child except ``v`` to ``sorted_places``."""
    for c in group:
        if c != v:
            end = start[c] + size[c]
            copy_vector(sorted_places[start[c] : end], np.sort(along[start[c] : end]))


@njit
def _before(a: Any, b: Any, v: Any, size: Any, start: Any, sorted_places: Any, fenwick: Any) -> Any:
    """Count the pairs of a leaf of ``a`` and a leaf of ``b`` in which that of ``a`` comes first."""
    total = np.int64(0)
    if a == v:
        for k in range(start[b], start[b] + size[b]):
            total += _count(fenwick, sorted_places[k])
        return total
    if b == v:
        for k in range(start[a], start[a] + size[a]):
            total += size[b] - _count(fenwick, sorted_places[k])
        return total
    i, end = start[a], start[a] + size[a]
    for k in range(start[b], start[b] + size[b]):
        while i < end and sorted_places[i] < sorted_places[k]:
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
    """Count the positions in the Fenwick tree that are below ``place``."""
    k, total = place, np.int64(0)
    while k > 0:
        total += fenwick[k]
        k -= k & -k
    return total


__all__ = ["MAX_EXACT", "aligned_order"]
