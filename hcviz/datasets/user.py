"""``SimulatedUser``: answers as a person would who knows the true tree (Vikram & Dasgupta 2016,
section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import Tree

Int = NDArray[np.int64]
Answer = tuple[int, int, int]
Rule = Literal["paper", "uniform", "lazy"]


class SimulatedUser:
    """Is shown a tree, and accepts it or names one triplet of the target that it violates.

    Parameters
    ----------
    target : Tree
        The truth, over all items; what it leaves open (its polytomies) the user has no opinion on.
    rule : "paper", "uniform" or "lazy"
        ``paper``: a triplet ab|c violated by the root split of the shown tree, i.e. a and b in
        different children of the root, c anywhere below it, drawn uniformly from them; if there is
        none, the same question of each child in turn, in random order; acceptance only if no node
        violates one. (The paper recurses on one child; a user who searched one only could accept a
        wrong tree.) ``uniform``: drawn uniformly from all triplets that the shown tree violates.
        ``lazy``: looks along one random path only: the root, then one child at random and so on,
        names a triplet at the first node that violates one, and accepts where the path ends: may
        accept a wrong tree, as the paper's words, taken literally, do.
    seed : int or numpy Generator
    error : float
        The probability, 0 to 1, that a triplet is a slip: the right three items the wrong way. The
        one apart is then another of the three, though never so that the shown tree has it already
        (nobody corrects what is as they say). Slips may contradict each other.
    """

    def __init__(
        self,
        target: Tree,
        rule: Rule = "paper",
        seed: int | np.random.Generator = 0,
        error: float = 0.0,
    ) -> None:
        if rule not in ("paper", "uniform", "lazy"):
            raise InvalidParameter(f"There is no rule {rule!r}.", "Known: paper, uniform, lazy.")
        if not 0.0 <= error <= 1.0:
            raise InvalidParameter(f"error is a probability, not {error!r}.")
        self.target = target
        self.rule = rule
        self.error = float(error)
        self.rng = np.random.default_rng(seed)

    def answer(self, shown: Tree, items: ArrayLike | None = None) -> Answer | None:
        """A violated triplet (a, b, c), meaning ab|c, as item numbers; None accepts the tree.

        ``shown`` is a tree over ``items``: its leaf r is item ``items[r]``, as
        ``tree.restrict(items)`` makes it; by default over all items. Whatever the shown tree leaves
        open counts as violated where the target resolves it. O(nodes looked at x target nodes).

        Raises :class:`InvalidData` where tree and items do not fit.
        """
        chosen = np.arange(self.target.n_leaves) if items is None else np.asarray(items, np.int64)
        if chosen.shape != (shown.n_leaves,):
            raise InvalidData(
                f"The shown tree has {shown.n_leaves} leaves, and {chosen.size} items were named."
            )
        truth = self.target.restrict(chosen)
        uniform = self.rule == "uniform"
        found = self._uniform(shown, truth) if uniform else self._from_the_root(shown, truth)
        if found is None:
            return None
        a, b, c = (int(chosen[leaf]) for leaf in self._slip(found, shown))
        return a, b, c

    def odd_one_out(self, items: Sequence[int]) -> Answer | None:
        """Of three items, the triplet (a, b, c) of the target; None where it leaves them open."""
        if len(items) != 3:
            raise InvalidData(f"The simple query shows three items, not {len(items)}.")
        i, j, k = (int(item) for item in items)
        for row in ((i, j, k), (i, k, j), (j, k, i)):
            if self.target.satisfies([row])[0]:
                return self._slip(row, None)
        return None

    def _slip(self, row: Answer, shown: Tree | None) -> Answer:
        """The row, or with probability ``error`` another arrangement of it."""
        if self.error == 0.0 or self.rng.random() >= self.error:
            return row
        a, b, c = row
        others = [(a, c, b), (b, c, a)]
        if shown is not None:
            others = [each for each in others if not shown.satisfies([each])[0]]
        return others[int(self.rng.integers(len(others)))]

    def _from_the_root(self, shown: Tree, truth: Tree) -> Answer | None:
        stack = [shown.root]
        while stack:
            node = stack.pop()
            if shown.size[node] < 3:
                continue
            split = _Split(shown, node, truth)
            if split.total:
                return split.draw(self.rng)
            below = self.rng.permutation(shown.children(node)).tolist()
            stack.extend(below[:1] if self.rule == "lazy" else below)
        return None

    def _uniform(self, shown: Tree, truth: Tree) -> Answer | None:
        inner = range(shown.n_leaves, shown.n_nodes)
        # Each violated triplet belongs to one node of the shown tree: the LCA of its three items.
        totals = np.array([_Split(shown, node, truth).total for node in inner], dtype=np.float64)
        if not totals.any():
            return None
        node = self.rng.choice(len(totals), p=totals / totals.sum()) + shown.n_leaves
        return _Split(shown, int(node), truth).draw(self.rng)


class _Split:
    """The triplets ab|c of the truth that one node of the shown tree violates: a, b, c below it,
    a and b in different children ("colours") of it. Counted without listing them.

    With R the truth restricted to the node's s leaves, the triplets whose LCA_R(a,b) is u number
    (differently coloured pairs that meet at u) x (s - leaves of u).
    """

    def __init__(self, shown: Tree, node: int, truth: Tree) -> None:
        self.leaves = shown.leaves(node).astype(np.int64)
        self.rest = truth.restrict(self.leaves)
        colour = np.empty(len(self.leaves), np.int64)
        start = 0
        for k, child in enumerate(shown.children(node).tolist()):
            end = start + int(shown.size[child])  # leaves() lists them child by child
            colour[start:end] = k
            start = end
        self.colour = colour
        size = self.rest.size.astype(np.float64)
        pairs = (size**2 - self._squares()) / 2.0
        meeting = pairs.copy()
        np.subtract.at(meeting, self.rest.parent[:-1], pairs[:-1])
        self.weight = meeting * (len(self.leaves) - size)
        self.total = float(self.weight.sum())

    def _squares(self) -> NDArray[np.float64]:
        """For each node of R, the sum over colours of (leaves of that colour below it) squared."""
        order, begin = self.rest.leaf_order, self.rest.leaf_start
        end = begin + self.rest.size
        count = np.bincount(self.colour)
        alone = count[self.colour[order]] == 1
        below = np.concatenate([[0], np.cumsum(alone)])
        squares: NDArray[np.float64] = (below[end] - below[begin]).astype(np.float64)
        for k in np.flatnonzero(count > 1):
            below = np.concatenate([[0], np.cumsum(self.colour[order] == k)])
            squares += (below[end] - below[begin]).astype(np.float64) ** 2
        return squares

    def draw(self, rng: np.random.Generator) -> Answer:
        """One of them, uniformly, as leaves of the shown tree."""
        rest = self.rest
        u = int(rng.choice(rest.n_nodes, p=self.weight / self.total))
        below = rest.leaves(u).astype(np.int64)
        branch = np.empty(rest.n_leaves, np.int64)
        for child in rest.children(u).tolist():
            branch[rest.leaves(child)] = child
        colour = self.colour
        # How many leaves of u have neither a's colour nor a's branch, for each a.
        _, branch_of = np.unique(branch[below], return_inverse=True)
        colours, colour_of = np.unique(colour[below], return_inverse=True)
        both = np.bincount(branch_of * len(colours) + colour_of)[
            branch_of * len(colours) + colour_of
        ]
        partners = len(below) - np.bincount(branch_of)[branch_of]
        partners = partners - np.bincount(colour_of)[colour_of] + both
        a = int(rng.choice(below, p=partners / partners.sum()))
        b = int(rng.choice(below[(branch[below] != branch[a]) & (colour[below] != colour[a])]))
        outside = np.ones(rest.n_leaves, bool)
        outside[below] = False
        c = int(rng.choice(np.flatnonzero(outside)))
        return int(self.leaves[a]), int(self.leaves[b]), int(self.leaves[c])


__all__ = ["SimulatedUser"]
