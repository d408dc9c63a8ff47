"""The class ``SimulatedUser``, which answers questions from a known tree."""

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
    """A simulated user, who accepts a tree or returns a triplet of the target that it violates.

    Parameters
    ----------
    target : Tree
        The true tree over all items. The user has no opinion where it has polytomies.
    rule : {"paper", "uniform", "lazy"}
        How the user chooses a violated triplet, see Notes.
    seed : int or numpy Generator
        Source of randomness.
    error : float
        Probability of a wrong triplet: the same three items with another one apart. The shown tree
        never has this triplet. Wrong triplets may contradict each other.

    Raises
    ------
    InvalidParameter
        If the rule is unknown, or the error is not a probability.

    Notes
    -----
    - ``paper``: the user draws uniformly among the triplets ab|c that the root of the shown tree
      violates: a and b are below different children. If there are none, the user does the same for
      each child, in random order. So a tree is accepted only if it violates no triplet. The paper
      recurses on one child only.
    - ``uniform``: the user draws uniformly among all violated triplets.
    - ``lazy``: the user follows one random path from the root, as in the paper, and uses the first
      node that violates a triplet. The user may accept a wrong tree.

    References
    ----------
    Vikram and Dasgupta (2016), section 5.

    Examples
    --------
    >>> target = Tree.from_newick("((a,b),(c,d));", ["a", "b", "c", "d"])
    >>> user = SimulatedUser(target)
    >>> user.answer(target) is None
    True
    >>> user.odd_one_out([2, 0, 3])
    (2, 3, 0)
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
        """Return a triplet that the shown tree violates, or None to accept the tree.

        Parameters
        ----------
        shown : Tree
            A tree over ``items``. Its leaf r is item ``items[r]``.
        items : int (k,), optional
            Items of the shown tree. Default: all items.

        Returns
        -------
        tuple of int, or None
            Items (a, b, c) for the triplet ab|c. Triplets that the shown tree does not resolve, but
            the target does, count as violated.

        Raises
        ------
        InvalidData
            If tree and items have different sizes.

        Notes
        -----
        O(nodes of the shown tree x nodes of the target) in the worst case.

        References
        ----------
        Vikram and Dasgupta (2016), section 5.

        Examples
        --------
        >>> user = SimulatedUser(Tree.from_newick("((0,1),2);"))
        >>> a, b, c = user.answer(Tree.from_newick("((0,2),1);"))
        >>> sorted([a, b]), c
        ([0, 1], 2)
        """
        chosen = np.arange(self.target.n_leaves) if items is None else np.asarray(items, np.int64)
        if chosen.shape != (shown.n_leaves,):
            raise InvalidData(
                f"The shown tree has {shown.n_leaves} leaves, and {chosen.size} items were named."
            )
        truth = self.target.restrict(chosen)
        uniform = self.rule == "uniform"
        found = self._uniform(shown, truth) if uniform else self._first_on_path(shown, truth)
        if found is None:
            return None
        a, b, c = (int(chosen[leaf]) for leaf in self._maybe_wrong(found, shown))
        return a, b, c

    def odd_one_out(self, items: Sequence[int]) -> Answer | None:
        """Return the target's triplet of three items.

        Parameters
        ----------
        items : sequence of int
            Three different items.

        Returns
        -------
        tuple of int, or None
            Items (a, b, c) for the triplet ab|c; None if the target does not resolve the items.
            With probability ``error``, a wrong triplet.

        Raises
        ------
        InvalidData
            If there are not three items.

        Examples
        --------
        >>> SimulatedUser(Tree.from_newick("((0,1),2);")).odd_one_out([2, 0, 1])
        (0, 1, 2)
        """
        if len(items) != 3:
            raise InvalidData(f"odd_one_out needs three items, not {len(items)}.")
        i, j, k = (int(item) for item in items)
        for row in ((i, j, k), (i, k, j), (j, k, i)):
            if self.target.satisfies([row])[0]:
                return self._maybe_wrong(row, None)
        return None

    def _maybe_wrong(self, row: Answer, shown: Tree | None) -> Answer:
        """Return the row, or with probability ``error`` a wrong triplet of the same items."""
        if self.error == 0.0 or self.rng.random() >= self.error:
            return row
        a, b, c = row
        others = [(a, c, b), (b, c, a)]
        if shown is not None:
            others = [each for each in others if not shown.satisfies([each])[0]]
        return others[int(self.rng.integers(len(others)))]

    def _first_on_path(self, shown: Tree, truth: Tree) -> Answer | None:
        stack = [shown.root]
        while stack:
            node = stack.pop()
            if shown.size[node] < 3:
                continue
            split = _ViolatedTriplets(shown, node, truth)
            if split.total:
                return split.draw(self.rng)
            below = self.rng.permutation(shown.children(node)).tolist()
            stack.extend(below[:1] if self.rule == "lazy" else below)
        return None

    def _uniform(self, shown: Tree, truth: Tree) -> Answer | None:
        inner = range(shown.n_leaves, shown.n_nodes)
        # Each violated triplet is counted at one node of the shown tree: the LCA of its items.
        totals = np.array(
            [_ViolatedTriplets(shown, node, truth).total for node in inner], dtype=np.float64
        )
        if not totals.any():
            return None
        node = self.rng.choice(len(totals), p=totals / totals.sum()) + shown.n_leaves
        return _ViolatedTriplets(shown, int(node), truth).draw(self.rng)


class _ViolatedTriplets:
    """The triplets ab|c of the target that one node of the shown tree violates.

    The node has all three items below it, with a and b below different children. The "colour" of an
    item is its child. Let R be the target restricted to the node's s leaves. For each node u of R,
    the triplets with LCA_R(a, b) = u are counted without listing them. There are (pairs of
    different colours with LCA u) x (s - leaves below u).
    """

    def __init__(self, shown: Tree, node: int, truth: Tree) -> None:
        self.leaves = shown.leaves(node).astype(np.int64)
        self.restricted = truth.restrict(self.leaves)
        colour = np.empty(len(self.leaves), np.int64)
        start = 0
        for k, child in enumerate(shown.children(node).tolist()):
            end = start + int(shown.size[child])  # leaves() lists them child by child
            colour[start:end] = k
            start = end
        self.colour = colour
        size = self.restricted.size.astype(np.float64)
        pairs = (size**2 - self._squares()) / 2.0
        meeting = pairs.copy()
        np.subtract.at(meeting, self.restricted.parent[:-1], pairs[:-1])
        self.weight = meeting * (len(self.leaves) - size)
        self.total = float(self.weight.sum())

    def _squares(self) -> NDArray[np.float64]:
        """Return for each node of R the sum, over colours, of squared numbers of leaves below."""
        order, begin = self.restricted.leaf_order, self.restricted.leaf_start
        end = begin + self.restricted.size
        count = np.bincount(self.colour)
        alone = count[self.colour[order]] == 1
        below = np.concatenate([[0], np.cumsum(alone)])
        squares: NDArray[np.float64] = (below[end] - below[begin]).astype(np.float64)
        for k in np.flatnonzero(count > 1):
            below = np.concatenate([[0], np.cumsum(self.colour[order] == k)])
            squares += (below[end] - below[begin]).astype(np.float64) ** 2
        return squares

    def draw(self, rng: np.random.Generator) -> Answer:
        """Draw one triplet uniformly, as leaves of the shown tree."""
        restricted = self.restricted
        u = int(rng.choice(restricted.n_nodes, p=self.weight / self.total))
        below = restricted.leaves(u).astype(np.int64)
        branch = np.empty(restricted.n_leaves, np.int64)
        for child in restricted.children(u).tolist():
            branch[restricted.leaves(child)] = child
        colour = self.colour
        # For each leaf a below u, the number of leaves with another colour and another branch.
        _, branch_of = np.unique(branch[below], return_inverse=True)
        colours, colour_of = np.unique(colour[below], return_inverse=True)
        both = np.bincount(branch_of * len(colours) + colour_of)[
            branch_of * len(colours) + colour_of
        ]
        partners = len(below) - np.bincount(branch_of)[branch_of]
        partners = partners - np.bincount(colour_of)[colour_of] + both
        a = int(rng.choice(below, p=partners / partners.sum()))
        b = int(rng.choice(below[(branch[below] != branch[a]) & (colour[below] != colour[a])]))
        outside = np.ones(restricted.n_leaves, bool)
        outside[below] = False
        c = int(rng.choice(np.flatnonzero(outside)))
        return int(self.leaves[a]), int(self.leaves[b]), int(self.leaves[c])


__all__ = ["SimulatedUser"]
