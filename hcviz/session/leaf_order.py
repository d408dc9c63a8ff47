"""The order in which a tree's leaves are shown, as similar as possible to the order before."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hcviz.core.alignment import aligned_order
from hcviz.core.layout import leaf_order
from hcviz.core.tree import Tree

Int = NDArray[np.int32]

#: Tree -> the last reference and the resulting order.
_known: WeakKeyDictionary[Tree, tuple[Int | None, Int]] = WeakKeyDictionary()


def shown_order(tree: Tree, reference: Int | None) -> Int:
    """Return the leaves from top to bottom, int32 (n,), read-only.

    The order has the fewest inversions against ``reference``, an order of the same items. Without a
    reference, it follows the item numbers. It depends only on the two arguments.
    """
    known = _known.get(tree)
    if known is not None and known[0] is reference:
        return known[1]
    fits = reference is not None and reference.size == tree.n_leaves
    order = aligned_order(tree, reference) if reference is not None and fits else leaf_order(tree)
    order.setflags(write=False)
    _known[tree] = (reference, order)
    return order


__all__ = ["shown_order"]
