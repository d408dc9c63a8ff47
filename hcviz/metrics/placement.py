"""Where one item belongs in a tree over the others, by a target tree's word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree
from hcviz.metrics import placementkernels as kernels

Int = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Gap:
    """A tree without one of its items, and the places at which the item could be put back.

    ``rest`` is the tree over the other items: its leaf r is item ``others[r]``. A place is a node
    of ``rest``, and means the branch above it; above the root the item stands apart from all.
    """

    tree: Tree
    item: int

    def __post_init__(self) -> None:
        if self.tree.n_leaves < 3 or not 0 <= self.item < self.tree.n_leaves:
            raise InvalidData(f"There is no item {self.item} to be taken out of this tree.")

    @cached_property
    def others(self) -> Int:
        every = np.arange(self.tree.n_leaves, dtype=np.int32)
        return np.delete(every, self.item)

    @cached_property
    def rest(self) -> Tree:
        return self.tree.restrict(self.others)

    def place(self, items: ArrayLike) -> int:
        """The place above the smallest clade with these items; the item itself does not count."""
        chosen = [int(each) for each in np.asarray(items).ravel() if int(each) != self.item]
        if not chosen:
            raise InvalidData("A place is told by one other item at least.")
        local = [each - (each > self.item) for each in chosen]
        node = local[0]
        for each in local[1:]:
            node = int(self.rest.lca(node, each))
        return node

    def clade(self, place: int) -> Int:
        """The items below a place."""
        found: Int = self.others[self.rest.leaves(place)]
        return found

    def put(self, place: int) -> Tree:
        """The tree over all items with the item at ``place``: halfway up its branch. O(n)."""
        n, rest = self.tree.n_leaves, self.rest
        to = self._numbers(place)
        made = self.new_node(place)
        parent = np.full(rest.n_nodes + 2, -1, np.int32)
        height = np.empty(rest.n_nodes + 2)
        height[to] = rest.height
        parent[to[:-1]] = to[rest.parent[:-1]]
        height[self.item] = self.tree.height[self.item]
        parent[self.item] = made
        low = float(rest.height[place])
        if place == rest.root:
            top = float(rest.height[-1])
            height[made] = top * 1.08 if top > 0 else 1.0
        else:
            above = int(rest.parent[place])
            parent[made], height[made] = to[above], (low + float(rest.height[above])) / 2
        parent[to[place]] = made
        return Tree(parent, height, n)

    def new_node(self, place: int) -> int:
        """The node of :meth:`put`'s tree from which the item hangs."""
        return self.tree.n_leaves + max(0, place - self.rest.n_leaves + 1)

    def way(self, start: int, end: int) -> Int:
        """Inner nodes of ``put(start)`` on the way from the item to the place ``end``, at least the
        item's own; one more than there are branches between the two places."""
        tree, goal = self.put(start), int(self._numbers(start)[end])
        top = int(tree.lca(self.item, goal))
        nodes = []
        node = int(tree.parent[self.item])
        while node != top:
            nodes.append(node)
            node = int(tree.parent[node])
        nodes.append(top)
        node = int(tree.parent[goal]) if goal != top else top
        while node != top:
            nodes.append(node)
            node = int(tree.parent[node])
        return np.array(nodes, np.int32)

    def agreement(self, target: Tree, places: ArrayLike | None = None) -> tuple[Int, int]:
        """How many of the target's triplets about the item hold with it at each place.

        ``(held, resolved)``: int64 (len(places),), by default for all nodes of ``rest``, and the
        number of triplets with the item that ``target``, over the same items, resolves. What a
        place leaves open does not hold. O(n^2) for each place.
        """
        if target.n_leaves != self.tree.n_leaves:
            raise InvalidData(
                f"The target has {target.n_leaves} leaves, the tree {self.tree.n_leaves}."
            )
        every = np.arange(self.rest.n_nodes) if places is None else np.asarray(places)
        level, branch = kernels.seen_from(target.parent, self.item)
        level, branch = level[self.others], branch[self.others]
        held, resolved = kernels.agreements(
            self.rest.parent, self.rest.n_leaves, every.astype(np.int32), level, branch
        )
        return held, int(resolved)

    def violated(self, target: Tree) -> Int:
        """The target's triplets about the item that ``tree`` has otherwise or leaves open, int32
        (m, 3), each ab|c. O(n^2)."""
        there = kernels.seen_from(target.parent, self.item)
        here = kernels.seen_from(self.tree.parent, self.item)
        rows: Int = kernels.differing(*there, *here, self.others, self.item)
        return rows

    def _numbers(self, place: int) -> Int:
        """The node of ``put(place)`` that each node of ``rest`` is."""
        n, k = self.tree.n_leaves, self.rest.n_leaves
        inner = n + np.arange(self.rest.n_nodes - k, dtype=np.int32)
        inner[max(0, place - k + 1) :] += 1
        return np.concatenate([self.others, inner]).astype(np.int32)
