"""``QuestionContext``: the data that a strategy chooses a question from, and shared helpers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.groups import NO_GROUPS, Groups
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.posterior.kernels import shape_of
from hcviz.questions import kernels
from hcviz.questions.question import Memory, Question, QuestionReason, triples

Int = NDArray[np.int32]

#: A strategy first draws ``MAX_DRAWS`` random pieces. If all were asked before, it lists all
#: pieces where there are at most ``LIST_ALL_BELOW``, and else draws ``EXTRA_DRAWS`` more.
#: (If 98 of 100 triples were asked, 1,000 draws miss the other two with probability 10^-8.)
MAX_DRAWS, LIST_ALL_BELOW, EXTRA_DRAWS = 50, 5000, 1000
#: At most this many sampled trees are used for a choice.
MAX_TREES = 200
#: A different arrangement is reported if at least this share of the trees has it.
MIN_REPORTED_SHARE = 0.005


@dataclass
class QuestionContext:
    """The shown tree, the sampled trees, and the options of a question.

    Attributes
    ----------
    tree : Tree
        The tree over all n items, of which a piece is shown.
    posterior : Posterior or None
        The sampled trees.
    size : int
        Number of items in a question.
    candidates : int
        Number of pieces from which the best is chosen.
    induced : bool
        If True, the distance variance is measured in the induced tree.
    memory : Memory
        The earlier questions.
    rng : numpy.random.Generator
        The only source of random numbers.
    kind : str
        The name of the requested strategy.
    rows : ndarray of int32, shape (m, 3)
        The constraints ab|c, which ``tree`` satisfies.
    groups : Groups
        Sets of items that are clades of ``tree`` by constraint.
    """

    tree: Tree
    posterior: Posterior | None
    size: int
    candidates: int
    induced: bool
    memory: Memory
    rng: np.random.Generator
    kind: str
    rows: Int
    groups: Groups = NO_GROUPS

    @property
    def n(self) -> int:
        return self.tree.n_leaves

    @property
    def has_trees(self) -> bool:
        return self.posterior is not None and len(self.posterior.thinned_trees) > 0

    @cached_property
    def shapes(self) -> tuple[Int, Int]:
        """Arrays ``(place, gap)`` of at most ``MAX_TREES`` evenly spaced sampled trees."""
        assert self.posterior is not None
        place, gap, _ = self.posterior.shapes()
        if len(place) > MAX_TREES:
            chosen = np.linspace(0, len(place) - 1, MAX_TREES).round().astype(int)
            place, gap = place[chosen], gap[chosen]
        return np.ascontiguousarray(place), np.ascontiguousarray(gap)

    @cached_property
    def shown_shape(self) -> tuple[Int, Int]:
        """Arrays ``(place, gap)`` of the shown tree."""
        place, gap, _ = shape_of(self.tree.parent.copy(), self.n)
        return place[None], gap[None]

    def draw(self, number: int, weights: NDArray[np.float64] | None = None) -> Int:
        """Draw ``number`` subsets of ``size`` items, each increasing: int32 (number, size).

        Subsets are uniform without ``weights``. With positive weights, items are drawn one by one
        in proportion to them, by the largest log(u) / w (Efraimidis & Spirakis 2006).
        """
        keys = -self.rng.exponential(size=(number, self.n))
        if weights is not None:
            keys /= weights
        size = min(self.size, self.n)
        chosen = np.argpartition(keys, self.n - size, axis=1)[:, self.n - size :]
        return np.sort(chosen, axis=1).astype(np.int32)

    def not_asked_yet(self, subsets: Int) -> NDArray[np.intp]:
        """Return the indices of the subsets that were not asked about yet."""
        asked = self.memory.asked or self.memory.skipped
        return np.array(
            [i for i, s in enumerate(subsets) if not asked or not self.was_asked(s)], np.intp
        )

    def was_asked(self, items: Int) -> bool:
        """Return True if these items were skipped, or asked about in the tree's arrangement."""
        members = tuple(items.tolist())
        if members in self.memory.skipped and len(members) < self.n:
            return True
        if not any(members == key[0] for key in self.memory.asked):
            return False
        return self.memory.was_asked(self.make_question(items, "", QuestionReason("")), self.n)

    def make_question(
        self,
        items: Int,
        strategy: str,
        why: QuestionReason,
        value: float = float("nan"),
        is_group: bool = False,
    ) -> Question:
        """Return the question about these items as the tree arranges them."""
        members = tuple(items.tolist())
        return Question(
            self.kind, strategy, members, self.tree.restrict(items), why, value, is_group
        )

    def propose_until_new(self, draw: Callable[[], Int], size: int) -> Iterator[Int]:
        """Yield subsets of ``size`` items until the caller finds one that was not asked.

        First come random subsets. Then come all subsets in random order, or more random ones where
        there are more than ``LIST_ALL_BELOW`` (see the constants of this module).
        """
        few = math.comb(self.n, size) <= LIST_ALL_BELOW
        for _ in range(MAX_DRAWS if few else MAX_DRAWS + EXTRA_DRAWS):
            yield draw()
        if few:
            every = np.array(list(combinations(range(self.n), size)), np.int32)
            yield from self.rng.permutation(every)

    # ------------------------------------------------------------------ sampled trees

    def arrangements(self, subsets: Int, of_shown_tree: bool = False) -> NDArray[np.uint8]:
        """Return how each tree resolves each triple of each subset, uint8 (trees, L, q).

        See :func:`hcviz.questions.kernels.arrangements` for the codes. With ``of_shown_tree``, the
        only tree is the shown one.
        """
        place, gap = self.shown_shape if of_shown_tree else self.shapes
        many, s = subsets.shape
        index = np.zeros((s, s, s), np.int32)
        members = triples(s)
        index[tuple(members.T)] = np.arange(len(members))
        found = np.empty((len(place), many, len(members)), np.uint8)
        kernels.arrangements(place, gap, np.ascontiguousarray(subsets), index, found)
        return found

    def why(self, items: Int, reason: str) -> QuestionReason:
        """Describe how the sampled trees most often differ from the shown piece.

        The method takes the triple for which the largest share of trees agrees on one other
        arrangement. In that arrangement one item, the mover, changes its partner. If at least half
        of these trees agree, the description names the partner's whole group.
        """
        if not self.has_trees or items.size < 3 or items.size > 64:
            return QuestionReason(reason)
        found = self.arrangements(items[None])[:, 0]
        shown = self.arrangements(items[None], of_shown_tree=True)[0, 0]
        share = np.stack([(found == k).mean(axis=0) for k in range(3)], axis=1)
        share[np.flatnonzero(shown < 3), shown[shown < 3]] = 0.0
        q, apart = np.unravel_index(int(share.argmax()), share.shape)
        if share[q, apart] < MIN_REPORTED_SHARE:
            return QuestionReason(f"{reason} All sampled trees agree with it.")
        three = items[triples(items.size)[q]]
        pair = np.delete(three, apart)
        # shown: xy|z; the other arrangement pairs z with one of x and y, which is what moves
        partner = int(three[shown[q]]) if shown[q] < 3 else int(pair[1])
        mover = int(pair[0] if pair[1] == partner else pair[1])
        left = int(three[apart])
        return self._explain_with_group(items, reason, mover, partner, left, float(share[q, apart]))

    def _explain_with_group(
        self, items: Int, reason: str, mover: int, partner: int, left: int, share: float
    ) -> QuestionReason:
        """Name the largest clade around the partner that the mover joins in enough trees."""
        assert self.posterior is not None
        piece = self.tree.restrict(items)
        place = {int(item): r for r, item in enumerate(items)}
        node = place[partner]
        while piece.parent[node] >= 0:
            above = int(piece.parent[node])
            if {mover, left} & {int(items[r]) for r in piece.leaves(above)}:
                break
            node = above
        group = sorted(int(items[r]) for r in piece.leaves(node))
        if len(group) > 1:
            rows = [(mover, other, left) for other in group]
            together = self.posterior.joint_probability(rows)
            if together >= share / 2:
                return QuestionReason(reason, mover, tuple(group), left, together)
        return QuestionReason(reason, mover, (partner,), left, share)
