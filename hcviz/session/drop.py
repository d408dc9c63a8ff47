"""A leaf dropped on a clade becomes a statement: together with the clade, apart from a neighbour.

::

            .--- s1            x dropped on G = {g1, g2}:
        .---|                  x + g1 + g2 together, apart from s2
        |   '--- s2
    ----|                      s2: the leaf of G's sibling clade (in the tree without x) that is
        |   .--- g1            drawn nearest to G
        '---|
            '--- g2        x somewhere else

One leaf represents the sibling. In the shown tree the sibling is a clade, so the statement then
holds before all of its leaves. To keep the whole sibling apart, the person clicks its branch during
the gesture. If G is all of the clade above it except x, the next clade up is used. The statement
then holds already and locks the clade.
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
    """Return the leaf that ``item`` and the clade ``members`` are to be set apart from.

    Parameters
    ----------
    tree : Tree
    item : int
        The dropped leaf.
    members : sequence of int
        The leaves of a clade.
    order : array of int, shape (n,), optional
        The leaves as drawn; by default the tree's own order.

    Returns
    -------
    int or None
        None if ``item`` is a member, or if no other leaf is left. Of several siblings the largest
        is used, then the one with the nearest leaf. O(n).
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
    """Return how far each place is from the range of ``mine``."""
    return np.maximum(mine.min() - places, places - mine.max())


__all__ = ["item_set_apart"]
