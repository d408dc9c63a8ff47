"""Two trees face to face: leaf orders that make few of the lines between equal leaves cross.

With one order fixed, :mod:`hcviz.core.alignment` finds the best order of the other tree. The two
trees take turns until neither gains (finding the best pair of orders is NP-hard: Fernau, Kaufmann
and Poths 2010).
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

#: Turns of the two trees; three or four are usual.
TURNS = 20


def untangle(first: Tree, second: Tree, near: ArrayLike | None = None) -> tuple[Int, Int, int]:
    """Leaf orders of both trees, int32 (n,) each, and how many pairs of lines cross.

    ``near`` float (n,) is where the items of ``second`` would like to stand, as in
    :func:`hcviz.core.layout.leaf_order`. For binary trees each order is the best for the other one.
    O(n log^2 n) a turn.
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
    order = aligned_order(tree, other)
    return order, crossings(order, other)


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
