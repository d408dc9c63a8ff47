"""``Scene``: what a strategy has to go by, and what several of them need of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.posterior.kernels import shape_of
from hcviz.questions import kernels
from hcviz.questions.question import Memory, Question, Why, triples

Int = NDArray[np.int32]

#: How often a strategy draws again before it looks more closely whether there is anything left to
#: ask: at all pieces where there are no more than ``FEW``, else at ``MORE`` drawn ones. (When 98 of
#: 100 threes follow from the answers, a thousand draws miss the others once in 10^8 times.)
DRAWS, FEW, MORE = 50, 5000, 1000
#: Sampled trees that a choice looks at.
TREES = 200
#: A shown arrangement is worth a sentence if at least this share of the trees has another.
WORTH_SAYING = 0.005


@dataclass
class Scene:
    """The tree that is shown, the sampled ones, and how to ask.

    ``tree``: of which a piece is shown, over n items. ``posterior``: sampled trees, or None.
    ``size``: items a question, ``candidates``: how many a choice is made from, ``induced``: whether
    the distance variance is of the induced tree. ``memory``: what was asked. ``rng``: the only
    source of chance. ``rows``: the constraints ab|c, int32 (m, 3), which ``tree`` satisfies.
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

    @property
    def n(self) -> int:
        return self.tree.n_leaves

    @property
    def has_trees(self) -> bool:
        return self.posterior is not None and len(self.posterior.thinned_trees) > 0

    @cached_property
    def shapes(self) -> tuple[Int, Int]:
        """``(place, gap)`` of the sampled trees, ``TREES`` of them at most, evenly taken."""
        assert self.posterior is not None
        place, gap, _ = self.posterior.shapes()
        if len(place) > TREES:
            chosen = np.linspace(0, len(place) - 1, TREES).round().astype(int)
            place, gap = place[chosen], gap[chosen]
        return np.ascontiguousarray(place), np.ascontiguousarray(gap)

    @cached_property
    def own_shape(self) -> tuple[Int, Int]:
        place, gap, _ = shape_of(self.tree.parent.copy(), self.n)
        return place[None], gap[None]

    def draw(self, number: int, weights: NDArray[np.float64] | None = None) -> Int:
        """``number`` subsets of ``size`` items, each increasing: int32 (number, size).

        Uniform, or one item after the other in proportion to ``weights`` > 0 (Efraimidis and
        Spirakis 2006: the largest of log u / w).
        """
        keys = -self.rng.exponential(size=(number, self.n))
        if weights is not None:
            keys /= weights
        size = min(self.size, self.n)
        chosen = np.argpartition(keys, self.n - size, axis=1)[:, self.n - size :]
        return np.sort(chosen, axis=1).astype(np.int32)

    def fresh(self, subsets: Int) -> NDArray[np.intp]:
        """Which subsets, as the tree has them, were not asked yet."""
        whys = Why("")
        asked = self.memory.asked or self.memory.skipped
        return np.array(
            [i for i, s in enumerate(subsets) if not asked or not self.knows(s, whys)], np.intp
        )

    def knows(self, items: Int, why: Why) -> bool:
        named = tuple(items.tolist())
        if named in self.memory.skipped and len(named) < self.n:
            return True
        if not any(named == key[0] for key in self.memory.asked):
            return False
        return self.memory.knows(self.show(items, "", why), self.n)

    def show(self, items: Int, how: str, why: Why, value: float = float("nan")) -> Question:
        """The question of these items, as the tree has them."""
        named = tuple(items.tolist())
        return Question(self.kind, how, named, self.tree.restrict(items), why, value)

    def until_new(self, draw: Callable[[], Int], size: int) -> Iterator[Int]:
        """Subsets of ``size`` items to try one after the other until one is new.

        ``DRAWS`` drawn ones; then, as drawing misses the last that are left, every one in random
        order, or where there are more than ``FEW`` of them, ``MORE`` drawn ones.
        """
        few = math.comb(self.n, size) <= FEW
        for _ in range(DRAWS if few else DRAWS + MORE):
            yield draw()
        if few:
            every = np.array(list(combinations(range(self.n), size)), np.int32)
            yield from self.rng.permutation(every)

    # ------------------------------------------------------------------ what the trees say

    def arrangements(self, subsets: Int, own: bool = False) -> NDArray[np.uint8]:
        """How each tree has each three of each subset, uint8 (trees, L, q): see the kernel."""
        place, gap = self.own_shape if own else self.shapes
        many, s = subsets.shape
        index = np.zeros((s, s, s), np.int32)
        members = triples(s)
        index[tuple(members.T)] = np.arange(len(members))
        found = np.empty((len(place), many, len(members)), np.uint8)
        kernels.arrangements(place, gap, np.ascontiguousarray(subsets), index, found)
        return found

    def why(self, items: Int, reason: str) -> Why:
        """What the sampled trees say against the piece that is shown, as strongly as they do.

        Of the three items for which the largest share of the trees has one and the same other
        arrangement; then the item that changes sides is said to sit with as many of those beside
        its partner as agree with that in half of these trees or more.
        """
        if not self.has_trees or items.size < 3 or items.size > 64:
            return Why(reason)
        found = self.arrangements(items[None])[:, 0]
        shown = self.arrangements(items[None], own=True)[0, 0]
        share = np.stack([(found == k).mean(axis=0) for k in range(3)], axis=1)
        share[np.flatnonzero(shown < 3), shown[shown < 3]] = 0.0
        q, apart = np.unravel_index(int(share.argmax()), share.shape)
        if share[q, apart] < WORTH_SAYING:
            return Why(f"{reason} All sampled trees agree with it.")
        three = items[triples(items.size)[q]]
        pair = np.delete(three, apart)
        # shown: xy|z; the other arrangement pairs z with one of x and y, which is what moves
        partner = int(three[shown[q]]) if shown[q] < 3 else int(pair[1])
        mover = int(pair[0] if pair[1] == partner else pair[1])
        left = int(three[apart])
        return self._with_company(items, reason, mover, partner, left, float(share[q, apart]))

    def _with_company(
        self, items: Int, reason: str, mover: int, partner: int, left: int, share: float
    ) -> Why:
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
                return Why(reason, mover, tuple(group), left, together)
        return Why(reason, mover, (partner,), left, share)
