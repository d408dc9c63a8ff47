"""A leaf dropped on a clade, as a statement: it belongs in there, apart from what lies next to it.

::

            .--- s1            x dropped on G = {g1, g2}:
        .---|                  x + g1 + g2 together, before s2
        |   '--- s2
    ----|                      s2: of the clade beside G (its sibling in the tree without x) the
        |   .--- g1            leaf that is drawn nearest to G
        '---|
            '--- g2        x somewhere else

One leaf stands for the sibling: in the tree shown the sibling is a clade, so that what holds before
one of its leaves holds before all of them, and more would be said than was meant. (To keep all of
the sibling apart, click its branch while the gesture is open.) Where G is all of the clade above it
but for x, the next clade up is looked at: then the statement is true already, and a lock.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.layout import places
from hcviz.core.tree import Tree


def item_set_apart(
    tree: Tree, item: int, members: Sequence[int], order: ArrayLike | None = None
) -> int | None:
    """The leaf that ``item`` and ``members`` (a clade of ``tree``) are to be together before.

    ``order`` int (n,): the leaves as they are drawn (default: the tree's own order). None where
    ``item`` is one of the members, or nothing is left. Of several siblings the largest, then the
    one with the nearest leaf. O(n).
    """
    if item in members:
        return None
    inside = np.zeros(tree.n_leaves, np.bool_)
    inside[[item, *members]] = True
    node = tree.smallest_clade(members)
    while node != tree.root:
        up = int(tree.parent[node])
        siblings = [int(child) for child in tree.children(up) if child != node]
        others = [leaves[~inside[leaves]] for leaves in map(tree.leaves, siblings)]
        others = [leaves for leaves in others if leaves.size]
        if others:
            place = places(tree.leaf_order if order is None else order)
            mine = place[np.asarray(members)]
            found = max(others, key=lambda s: (s.size, -_distance(place[s], mine).min()))
            return int(found[np.argmin(_distance(place[found], mine))])
        node = up
    return None


def _distance(places: NDArray[np.int64], mine: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far each place is from the range of ``mine``, without its sign."""
    return np.maximum(mine.min() - places, places - mine.max())


__all__ = ["item_set_apart"]
