"""Leaf orders for a tanglegram: two trees side by side, with lines between equal leaves.

With one order fixed, :mod:`hcviz.core.alignment` finds the order of the other tree with the fewest
crossings. The two trees are ordered in turn until there is no improvement. Finding the best pair of
orders is NP-hard (Fernau, Kaufmann and Poths 2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.alignment import aligned_order
from hcviz.core.errors import InvalidData
from hcviz.core.jit import njit
from hcviz.core.layout import leaf_order, places
from hcviz.core.tree import Tree

Int = NDArray[np.int32]

#: Largest number of rounds; three or four are usual.
MAX_ROUNDS = 20


def untangle(first: Tree, second: Tree, near: ArrayLike | None = None) -> tuple[Int, Int, int]:
    """Return leaf orders of both trees, int32 (n,) each, and the number of crossings.

    ``near`` float (n,) has preferred positions of the items of ``second``, as in
    :func:`hcviz.core.layout.leaf_order`. For binary trees, each order is optimal for the other one.
    O(n log^2 n) for each round.
    """
    if first.n_leaves != second.n_leaves:
        raise InvalidData(
            f"One tree has {first.n_leaves} leaves and the other {second.n_leaves}.",
            "Only trees over the same items can be compared in a tanglegram.",
        )
    right = leaf_order(second, near)
    left, crossings = _align(first, right)
    for _ in range(MAX_ROUNDS):
        turned, fewer = _align(second, left)
        if fewer >= crossings:
            break
        right, crossings = turned, fewer
        left, crossings = _align(first, right)
    return left, right, crossings


def crossings(left: ArrayLike, right: ArrayLike) -> int:
    """Count the pairs of leaves whose orders differ in ``left`` and ``right``.

    Both are leaf orders, (n,). O(n log n).
    """
    place = places(right)
    return int(_inversions(place[np.asarray(left)]))


def _align(tree: Tree, other: Int) -> tuple[Int, int]:
    order = aligned_order(tree, other)
    return order, crossings(order, other)


@njit
def _inversions(values: Any) -> Any:
    """Count the pairs that are out of order, with a bottom-up merge sort."""
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
