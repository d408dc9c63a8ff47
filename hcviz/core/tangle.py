"""Two trees face to face: leaf orders that make few of the lines between equal leaves cross.

With one order fixed, the best order of the other tree is found node by node: which lines cross
because of a node depends on the order of its children alone. For two children both orders are
counted; for more, children are sorted by their mean place and then exchanged with their neighbours
while that helps. The two trees take turns until neither gains (finding the best pair of orders is
NP-hard: Fernau, Kaufmann and Poths 2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import treekernels
from hcviz.core.errors import InvalidData
from hcviz.core.jit import njit
from hcviz.core.layout import depth_first, leaf_order, places
from hcviz.core.tree import Tree

Int = NDArray[np.int32]

#: Turns of the two trees; three or four are usual.
TURNS = 20


def untangle(first: Tree, second: Tree, near: ArrayLike | None = None) -> tuple[Int, Int, int]:
    """Leaf orders of both trees, int32 (n,) each, and how many pairs of lines cross.

    ``near`` float (n,) is where the items of ``second`` would like to stand, as in
    :func:`hcviz.core.layout.leaf_order`. For binary trees each order is the best for the other one.
    O(n log^2 n) a turn where the trees are balanced, O(n^2 log n) at worst.
    """
    if first.n_leaves != second.n_leaves:
        raise InvalidData(
            f"One tree has {first.n_leaves} leaves and the other {second.n_leaves}.",
            "Only trees over the same items can be put face to face.",
        )
    right = leaf_order(second, near)
    left, crossings = _turn(first, right)
    for _ in range(TURNS):
        turned, fewer = _turn(second, left)
        if fewer >= crossings:
            break
        right, crossings = turned, fewer
        left, crossings = _turn(first, right)
    return left, right, crossings


def crossings(left: ArrayLike, right: ArrayLike) -> int:
    """How many pairs of leaves stand in one order in ``left`` and the other in ``right``.

    Both are leaf orders, (n,). O(n log n).
    """
    place = places(right)
    return int(_inversions(place[np.asarray(left)]))


def _turn(tree: Tree, other: Int) -> tuple[Int, int]:
    offsets, items = treekernels.children_csr(tree.parent)
    order: Int = _aligned(tree.parent, tree.size, offsets, items, places(other))
    return order, crossings(order, other)


@njit
def _aligned(parent: Any, size: Any, offsets: Any, items: Any, place: Any) -> Any:
    """The tree's leaf order with the fewest crossings against ``place``, node by node."""
    n, m = place.size, parent.size
    start = treekernels.first_leaf_positions(parent, size)  # where a node's sorted places lie
    held = np.empty(n, np.int64)  # of each clade reached so far: its leaves' places, sorted
    for leaf in range(n):
        held[start[leaf]] = place[leaf]
    children = items.copy()
    for v in range(n, m):
        low, high = offsets[v], offsets[v + 1]
        if high - low == 2:
            a, b = items[low], items[low + 1]
            if 2 * _crossed(held, start, size, a, b) > np.int64(size[a]) * size[b]:
                children[low], children[low + 1] = b, a
        else:
            mean = np.empty(high - low)
            for k in range(low, high):
                child = items[k]
                mean[k - low] = held[start[child] : start[child] + size[child]].mean()
            ranked = np.argsort(mean, kind="mergesort")
            for k in range(high - low):
                children[low + k] = items[low + ranked[k]]
            better = True
            while better:
                better = False
                for k in range(low, high - 1):
                    a, b = children[k], children[k + 1]
                    if 2 * _crossed(held, start, size, a, b) > np.int64(size[a]) * size[b]:
                        children[k], children[k + 1] = b, a
                        better = True
        held[start[v] : start[v] + size[v]] = np.sort(held[start[v] : start[v] + size[v]])
    return depth_first(size, offsets, children, n)


@njit
def _crossed(held: Any, start: Any, size: Any, a: Any, b: Any) -> Any:
    """Crossings between two clades if ``a`` stands above ``b``."""
    i, total = start[a], np.int64(0)
    end = start[a] + size[a]
    for k in range(start[b], start[b] + size[b]):
        while i < end and held[i] < held[k]:
            i += 1
        total += end - i
    return total


@njit
def _inversions(values: Any) -> Any:
    """Pairs that are out of order, by merging runs of doubling length."""
    n = values.size
    now, then = values.copy(), np.empty_like(values)
    total, width = np.int64(0), 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if j >= high or (i < middle and now[i] <= now[j]):
                    then[k] = now[i]
                    i += 1
                else:
                    then[k] = now[j]
                    total += middle - i
                    j += 1
        now, then = then, now
        width *= 2
    return total
