"""The clades that a presentation steps through, and which clades it collapses."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

import numpy as np

from hcviz.core.tree import Tree

#: Clades of a tree without groups that a presentation steps through, at most.
MAX_STOPS = 40
#: Rows of the tree, and of them rows of the clade that is talked about, at most.
MAX_ROWS, MAX_OWN_ROWS = 22, 14


def stops(tree: Tree, named: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Return the nodes to step through: the root, then named clades or the highest clades.

    Parameters
    ----------
    tree : Tree
        The tree that is drawn.
    named : sequence of int
        The nodes of named groups. With any, these are the stops, from top to bottom.
    order : sequence of int
        The leaves from top to bottom.

    Returns
    -------
    tuple of int
        Nodes; the root is the first. Without groups the others are the highest clades, at most
        ``MAX_STOPS``.
    """
    place = np.empty(tree.n_leaves, np.int64)
    place[np.asarray(order, dtype=np.int64)] = np.arange(tree.n_leaves)

    def top(node: int) -> int:
        return int(place[tree.leaves(node)].min())

    own = {int(node) for node in named if 0 <= node < tree.root}
    if own:
        return (tree.root, *sorted(own, key=lambda node: (top(node), -int(tree.size[node]))))
    inner = np.arange(tree.n_leaves, tree.root)
    highest = inner[np.argsort(-tree.height[inner], kind="stable")][:MAX_STOPS].tolist()
    return (tree.root, *sorted(highest, key=lambda node: (-float(tree.height[node]), top(node))))


def collapsed_nodes(tree: Tree, items: Sequence[int], named: Collection[int]) -> list[int]:
    """Return the nodes to collapse, so that few rows remain and ``items`` are in view.

    Parameters
    ----------
    tree : Tree
        The tree that is drawn.
    items : sequence of int
        The items that are talked about; none for the whole tree.
    named : collection of int
        The nodes of named groups, which stay collapsed unless they hold or are ``items``.

    Returns
    -------
    list of int
        Inner nodes other than the root, none inside another.
    """
    if tree.n_leaves <= MAX_ROWS:
        return []
    focus = tree.smallest_clade(np.asarray(items)) if len(items) else tree.root
    path = [focus]
    while path[-1] != tree.root:
        path.append(int(tree.parent[path[-1]]))
    shown: set[int] = {tree.root}
    for node in path[:0:-1]:  # from the root to the node above the focus
        shown.remove(node)
        shown.update(tree.children(node).tolist())
    outside = len(shown) - 1
    own = _opened(tree, [focus], named, MAX_ROWS if focus == tree.root else MAX_OWN_ROWS, focus)
    rest = _opened(tree, shown - {focus}, named, max(outside, MAX_ROWS - len(own)))
    return [node for node in own + rest if tree.n_leaves <= node < tree.root]


def _opened(
    tree: Tree, nodes: Collection[int], named: Collection[int], most: int, focus: int = -1
) -> list[int]:
    """Open the highest nodes in turn until there are ``most`` rows; return the rows' nodes.

    ``focus`` is opened in any case, also if that gives more rows.
    """
    done: list[int] = []
    queue = [(-float(tree.height[node]), node) for node in nodes]
    heapq.heapify(queue)
    while queue:
        _, node = heapq.heappop(queue)
        children = tree.children(node).tolist()
        more = len(done) + len(queue) + len(children) <= most and node not in named
        if children and (more or node == focus):
            for child in children:
                heapq.heappush(queue, (-float(tree.height[child]), child))
        else:
            done.append(node)
    return done


__all__ = ["MAX_OWN_ROWS", "MAX_ROWS", "MAX_STOPS", "collapsed_nodes", "stops"]
