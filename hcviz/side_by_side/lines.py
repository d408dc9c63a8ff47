"""The branches of small pictures of trees, as lines with a colour each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.alignment import aligned_order
from hcviz.core.cut import cut
from hcviz.core.layout import leaf_order, outer_children
from hcviz.core.tree import Tree

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: Number of colours of items.
COLOURS = 8
#: Colour of a branch above items of several colours, and of items without a colour.
MIXED = -1
#: A tree is cut until it has so many clusters of a share of its items, or into so many clusters.
ENOUGH, SHARE, MOST_CLUSTERS = 5, 0.04, 64
#: Pictures of more items are drawn on a grid of so many rows and columns.
MAX_EXACT, GRID = 3_000, 1_200


@dataclass(frozen=True, eq=False)
class TreeLines:
    """The branches of a drawn tree.

    Parameters
    ----------
    ends : float64 (k, 4)
        x and y of both ends of each line. x is from 0 at height 0 to 1 at the root's height. y is
        from 0 at the top to 1.
    colours : int (k,)
        The colour of each line, or ``MIXED``.

    Examples
    --------
    >>> drawn = tree_lines(Tree.star(2), [0, 1], [0, 1])
    >>> drawn.ends.shape, drawn.colours.tolist()
    ((3, 4), [0, 1, -1])
    """

    ends: Float
    colours: Int


def tree_lines(tree: Tree, order: ArrayLike, codes: ArrayLike) -> TreeLines:
    """Return the branches of a tree with its root at one side.

    Parameters
    ----------
    tree : Tree
        The tree.
    order : int (n,)
        Its leaves from top to bottom.
    codes : int (n,)
        The colour of each item, or ``MIXED``.

    Returns
    -------
    TreeLines
        A line from each node to its parent's height, and one along the children of each inner node.
        Lines of more than 3,000 items are merged where they would cover each other.

    Notes
    -----
    O(m).
    """
    n, m = tree.n_leaves, tree.n_nodes
    rows = np.empty(n)
    rows[np.asarray(order)] = (np.arange(n) + 0.5) / n
    low, high, y = outer_children(tree.parent, rows)
    x = tree.height / (float(tree.height[-1]) or 1.0)
    colours = clade_colours(tree, codes)
    up = tree.parent[: m - 1]
    across = np.column_stack([x[: m - 1], y[: m - 1], x[up], y[: m - 1]])
    inner = np.arange(n, m)
    along = np.column_stack([x[inner], y[low[inner]], x[inner], y[high[inner]]])
    if n > MAX_EXACT:
        across, first = _merged(across, colours[: m - 1], 1)
        along, second = _merged(along, colours[inner], 0)
        return TreeLines(np.concatenate([across, along]), np.concatenate([first, second]))
    return TreeLines(
        np.concatenate([across, along]), np.concatenate([colours[: m - 1], colours[inner]])
    )


def _merged(ends: Float, colours: Int, fixed: int) -> tuple[Float, Int]:
    """Round parallel lines to the grid, and join those that overlap.

    ``fixed`` is the coordinate that both ends of a line have in common: 0 for x, 1 for y.
    """
    grid = np.round(ends * GRID).astype(np.int64)
    free = 1 - fixed
    low = np.minimum(grid[:, free], grid[:, free + 2])
    high = np.maximum(grid[:, free], grid[:, free + 2])
    base = int(colours.max(initial=MIXED)) + 2
    line = grid[:, fixed] * base + colours + 1
    long = high > low
    line, low, high = line[long], low[long], high[long]
    order = np.lexsort((low, line))
    line, low, high = line[order], low[order], high[order]
    # Lines of different places get disjoint ranges, so that one running maximum serves all.
    reach = np.maximum.accumulate(high + line * 2 * GRID)
    new = np.ones(line.size, np.bool_)
    new[1:] = low[1:] + line[1:] * 2 * GRID > reach[:-1]
    starts = np.flatnonzero(new)
    ends_at = np.append(starts[1:], line.size) - 1
    made = np.empty((starts.size, 4))
    made[:, fixed] = made[:, fixed + 2] = line[starts] // base
    made[:, free] = low[starts]
    made[:, free + 2] = reach[ends_at] - line[starts] * 2 * GRID
    return made / GRID, (line[starts] % base - 1).astype(np.int32)


def clade_colours(tree: Tree, codes: ArrayLike) -> Int:
    """Return the colour of each node, int32 (m,): that of all its items, or ``MIXED``. O(n)."""
    along = np.asarray(codes, np.int32)[tree.leaf_order]
    run = np.cumsum(np.append(0, along[1:] != along[:-1]))
    first, last = tree.leaf_start, tree.leaf_start + tree.size - 1
    return np.where(run[first] == run[last], along[first], np.int32(MIXED)).astype(np.int32)


def item_colours(tree: Tree) -> Int:
    """Return a colour for each item, int32 (n,), by the larger clusters of a tree.

    The tree is cut into more and more clusters, until five of them have 4 % of the items or more.
    If no cut has five, the first one with the most of these is used. The eight largest clusters of
    two items or more get a colour, the largest the first one.
    """
    n = tree.n_leaves
    codes = np.full(n, MIXED, np.int32)
    if n < 3:
        return codes
    most, labels = 0, np.zeros(n, np.int32)
    for k in range(2, min(n, MOST_CLUSTERS) + 1):
        found = cut(tree, k)
        large = int((np.bincount(found) >= max(2.0, SHARE * n)).sum())
        if large > most:
            most, labels = large, found
        if large >= ENOUGH:
            break
    sizes = np.bincount(labels)
    for code, label in enumerate(np.argsort(-sizes, kind="stable")[:COLOURS]):
        if sizes[label] > 1:
            codes[labels == label] = code
    return codes


def aligned_orders(trees: Sequence[Tree], near: ArrayLike | None = None) -> list[Int]:
    """Return leaf orders of trees over the same items, each as near to the first as it can be.

    ``near`` has preferred positions of the items of the first tree, as in
    :func:`hcviz.core.layout.leaf_order`.
    """
    first = leaf_order(trees[0], near)
    return [first, *(aligned_order(tree, first) for tree in trees[1:])]


__all__ = [
    "COLOURS",
    "MIXED",
    "TreeLines",
    "aligned_orders",
    "clade_colours",
    "item_colours",
    "tree_lines",
]
