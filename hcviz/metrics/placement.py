"""Remove one item from a tree, insert it elsewhere, and compare the place with a target tree."""

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
class RemovedItem:
    """A tree without one of its items, and the places where the item can be inserted again.

    A place is a node of ``rest`` and means the branch above that node. The place above the root
    separates the item from all others.

    Attributes
    ----------
    tree : Tree
        The tree with the item.
    item : int
        The removed item.
    others : int32 (n - 1,)
        The other items.
    rest : Tree
        The tree over the other items: its leaf r is ``others[r]``.
    """

    tree: Tree
    item: int

    def __post_init__(self) -> None:
        if self.tree.n_leaves < 3 or not 0 <= self.item < self.tree.n_leaves:
            raise InvalidData(
                f"Item {self.item} cannot be removed from a tree with {self.tree.n_leaves} leaves.",
                "The tree needs three leaves or more, and the item must be one of them.",
            )

    @cached_property
    def others(self) -> Int:
        """The other items, int32 (n - 1,)."""
        items = np.arange(self.tree.n_leaves, dtype=np.int32)
        return np.delete(items, self.item)

    @cached_property
    def rest(self) -> Tree:
        """The tree over the other items."""
        return self.tree.restrict(self.others)

    def place(self, items: ArrayLike) -> int:
        """Return the place above the LCA of these items; the removed item is ignored."""
        chosen = [int(each) for each in np.asarray(items).ravel() if int(each) != self.item]
        if not chosen:
            raise InvalidData("A place needs at least one other item.")
        local = [each - (each > self.item) for each in chosen]
        node = local[0]
        for each in local[1:]:
            node = int(self.rest.lca(node, each))
        return node

    def clade(self, place: int) -> Int:
        """Return the items below a place."""
        found: Int = self.others[self.rest.leaves(place)]
        return found

    def insert_at(self, place: int) -> Tree:
        """Return the tree over all items with the item in the middle of a branch. O(n)."""
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
        """Return the parent of the item in the tree of :meth:`insert_at`."""
        return self.tree.n_leaves + max(0, place - self.rest.n_leaves + 1)

    def path(self, start: int, end: int) -> Int:
        """Return the inner nodes of ``insert_at(start)`` from the item to the place ``end``.

        At least the parent of the item; one more node than branches between the two places.
        """
        tree, goal = self.insert_at(start), int(self._numbers(start)[end])
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

    def count_true_triplets(self, target: Tree, place: int) -> tuple[int, int]:
        """Count the triplets of a place that the target has: ``(true, resolved)``.

        If the item x is above the clade S, the tree has xs|o for each s in S and each o outside S.
        The target resolves ``resolved`` of these triples, and has ``true`` of these triplets. O(n).
        """
        self._check(target)
        level, branch = kernels.levels_and_branches(target.parent, self.item)
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
        # Two items of one branch are nearer to each other than to x. Two items of different
        # branches at one level are not resolved.
        size = target.n_nodes
        near, far = (np.bincount(branch[each], minlength=size) for each in (inside, outside))
        return true, true + nearer_out + int(near @ far)

    def target_siblings(self, target: Tree) -> Int:
        """Return the other items of the smallest clade with the item in the target."""
        self._check(target)
        clade = target.leaves(int(target.parent[self.item]))
        found: Int = clade[clade != self.item]
        return found

    def violated_triplets(self, target: Tree) -> Int:
        """Return the target's triplets about the item that ``tree`` lacks, int32 (m, 3). O(n^2)."""
        self._check(target)
        in_target = kernels.levels_and_branches(target.parent, self.item)
        in_tree = kernels.levels_and_branches(self.tree.parent, self.item)
        rows: Int = kernels.differing_triplets(*in_target, *in_tree, self.others, self.item)
        return rows

    def _check(self, target: Tree) -> None:
        if target.n_leaves != self.tree.n_leaves:
            raise InvalidData(
                f"The target has {target.n_leaves} leaves, but the tree has {self.tree.n_leaves}."
            )

    def _numbers(self, place: int) -> Int:
        """Return the number in ``insert_at(place)`` of each node of ``rest``."""
        n, k = self.tree.n_leaves, self.rest.n_leaves
        inner = n + np.arange(self.rest.n_nodes - k, dtype=np.int32)
        inner[max(0, place - k + 1) :] += 1
        return np.concatenate([self.others, inner]).astype(np.int32)
