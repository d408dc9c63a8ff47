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

    def claims(self, target: Tree, place: int) -> tuple[int, int]:
        """How much of what a place says of the item is true: ``(true, told)``.

        Put above the clade S, the item is together with each s of S before each o outside it. Of
        these triplets the target resolves ``told``, and ``true`` of them so. O(n).
        """
        self._check(target)
        level, branch = kernels.seen_from(target.parent, self.item)
        inside = np.zeros(self.tree.n_leaves, np.bool_)
        inside[self.clade(place)] = True
        outside = ~inside
        outside[self.item] = False
        level, branch = level[: inside.size], branch[: inside.size]
        size = int(level.max()) + 1
        near, far = (np.bincount(level[each], minlength=size) for each in (inside, outside))
        below = np.cumsum(far)
        true = int(near @ (below[-1] - below))
        nearer_out = int(near @ (below - far))
        # Two in one branch are nearer to each other than to the item; in two of one level, unsaid.
        size = target.n_nodes
        kin, strangers = (np.bincount(branch[each], minlength=size) for each in (inside, outside))
        return true, true + nearer_out + int(kin @ strangers)

    def mates(self, target: Tree) -> Int:
        """The item's own in the target: the others of the smallest clade there with it."""
        self._check(target)
        clade = target.leaves(int(target.parent[self.item]))
        found: Int = clade[clade != self.item]
        return found

    def violated(self, target: Tree) -> Int:
        """The target's triplets about the item that ``tree`` has otherwise or leaves open, int32
        (m, 3), each ab|c. O(n^2)."""
        self._check(target)
        there = kernels.seen_from(target.parent, self.item)
        here = kernels.seen_from(self.tree.parent, self.item)
        rows: Int = kernels.differing(*there, *here, self.others, self.item)
        return rows

    def _check(self, target: Tree) -> None:
        if target.n_leaves != self.tree.n_leaves:
            raise InvalidData(
                f"The target has {target.n_leaves} leaves, the tree {self.tree.n_leaves}."
            )

    def _numbers(self, place: int) -> Int:
        """The node of ``put(place)`` that each node of ``rest`` is."""
        n, k = self.tree.n_leaves, self.rest.n_leaves
        inner = n + np.arange(self.rest.n_nodes - k, dtype=np.int32)
        inner[max(0, place - k + 1) :] += 1
        return np.concatenate([self.others, inner]).astype(np.int32)
