"""An item that stands apart from its class in the shown tree: an example for a correction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hcviz.core.layout import places
from hcviz.core.tree import Tree

#: Other items of the branch that the item is in, at least.
LEAST = 2
#: The share of them that have one class, at least.
SHARE = 0.6
#: Branches above an item that are looked at, at most.
MAX_BRANCHES = 50


@dataclass(frozen=True)
class Example:
    """An item in a branch of items of another class.

    Attributes
    ----------
    item : int
        The item.
    friend : int
        The nearest item of its class.
    odd : int
        The nearest item of the branch with its most common class.
    kind, other : str
        The class of the item, and the most common class of the branch.
    """

    item: int
    friend: int
    odd: int
    kind: str
    other: str


def misplaced_item(tree: Tree, classes: Sequence[Any] | None) -> Example | None:
    """Return the item in the largest branch of another class; None without one.

    No other item of the branch has the item's class, and most others have one class. The
    branch is less than half of the tree.

    Parameters
    ----------
    tree : Tree
    classes : sequence or None
        The known class of each item.
    """
    if classes is None or len(classes) != tree.n_leaves:
        return None
    place = places(tree.leaf_order)
    kinds = [str(kind) for kind in classes]
    of_class = {
        kind: np.sort(place[[item for item, each in enumerate(kinds) if each == kind]])
        for kind in set(kinds)
    }
    best: tuple[int, Example] | None = None
    for item, kind in enumerate(kinds):
        same = of_class[kind]
        if same.size < 2:
            continue
        node = _largest_without(tree, item, same)
        if not LEAST < tree.size[node] <= tree.n_leaves // 2:
            continue
        others = [int(leaf) for leaf in tree.leaves(node) if leaf != item]
        other, count = Counter(kinds[leaf] for leaf in others).most_common(1)[0]
        if count < SHARE * len(others) or (best is not None and count <= best[0]):
            continue
        friends = [leaf for leaf in range(tree.n_leaves) if kinds[leaf] == kind and leaf != item]
        odd = [leaf for leaf in others if kinds[leaf] == other]

        def near(leaf: int, here: int = int(place[item])) -> int:
            return abs(int(place[leaf]) - here)

        best = count, Example(item, min(friends, key=near), min(odd, key=near), kind, other)
    return None if best is None else best[1]


def _largest_without(tree: Tree, item: int, same: Any) -> int:
    """Return the largest clade around ``item`` with one of the places ``same``: its own."""
    node = item
    for _ in range(MAX_BRANCHES):
        up = int(tree.parent[node])
        if node == tree.root:
            break
        begin = int(tree.leaf_start[up])
        inside = np.searchsorted(same, [begin, begin + int(tree.size[up])])
        if inside[1] - inside[0] > 1:
            break
        node = up
    return node


__all__ = ["Example", "misplaced_item"]
