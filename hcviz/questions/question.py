"""``Question``: a piece of the tree to show, and its reason. ``Memory``: the earlier questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.text import join_names
from hcviz.core.tree import Tree

Int = NDArray[np.int32]
Row = tuple[int, int, int]

#: Number of names that a sentence lists before it ends with "and 4 more".
NAMED = 3


@dataclass(frozen=True)
class QuestionReason:
    """How the sampled trees differ most from the shown piece.

    Attributes
    ----------
    reason : str
        A sentence about the strategy.
    mover : int or None
        The item that changes its partner. None if the trees agree with the shown piece, or if there
        are no sampled trees.
    joins : tuple of int
        The items that ``mover`` is closest to in these trees.
    leaves : int or None
        The item that ``mover`` is closest to in the shown piece.
    share : float
        The share of the trees with this arrangement.
    """

    reason: str
    mover: int | None = None
    joins: tuple[int, ...] = ()
    leaves: int | None = None
    share: float = 0.0

    def sentence(self, labels: Sequence[str]) -> str:
        """Return one line for the page.

        An example: "bat sits with dove and lark rather than mole in 34 % of the trees."
        """
        if self.mover is None or self.leaves is None:
            return self.reason
        return (
            f"{labels[self.mover]} sits with {listed([labels[i] for i in self.joins])} rather than "
            f"{labels[self.leaves]} in {percent(self.share)} of the trees."
        )


@dataclass(frozen=True, eq=False)
class Question:
    """A question about a few items.

    Attributes
    ----------
    kind : str
        The requested strategy.
    strategy : str
        The strategy that made the choice. ``interleaved`` uses ``random`` or ``active``.
    items : tuple of int
        The items of the question, increasing.
    shown : Tree
        The tree that the items induce; leaf r is ``items[r]``. A star for ``simple``.
    why : QuestionReason
        The reason for this question.
    value : float
        The quantity that the strategy maximised (squared edges, or bits). NaN for the others.
    is_group : bool
        True if the question is whether the items are a group, and not how they are arranged.
    """

    kind: str
    strategy: str
    items: tuple[int, ...]
    shown: Tree
    why: QuestionReason
    value: float = float("nan")
    is_group: bool = False

    @property
    def is_odd_one_out(self) -> bool:
        """True if the person chooses the odd one of three items, without a tree."""
        return len(self.items) == 3 and self.shown.n_internal == 1 and not self.is_group

    def key(self) -> tuple[tuple[int, ...], frozenset[frozenset[int]]]:
        """Return the items and the clades of the shown tree, which identify the question."""
        return self.items, frozenset(
            frozenset(clade.tolist()) for clade in self.shown.clades() if clade.size > 1
        )

    def all_triplets(self) -> Int:
        """Return every ab|c of the shown tree as items: int32 (m, 3). O(s^3)."""
        return resolved(self.shown, np.array(self.items, np.int32))


#: The triples of an accepted piece are stored only up to this number of items.
LARGEST_ACCEPTED = 12


@dataclass
class Memory:
    """The questions that were asked, skipped and accepted, so that none is repeated.

    Items are never shown again in the same arrangement. Skipped items are not shown together again
    in any arrangement. The whole tree is an exception: it may come again after a change.

    Attributes
    ----------
    turn : int
        The number of questions. ``interleaved`` uses it to alternate.
    asked : set
        Keys of the questions (see :meth:`Question.key`).
    skipped : set of tuple of int
        The items of skipped questions.
    accepted : ndarray of int32, shape (m, 3)
        The triplets ab|c of accepted questions.
    """

    turn: int = 0
    asked: set[tuple[tuple[int, ...], frozenset[frozenset[int]]]] = field(default_factory=set)
    skipped: set[tuple[int, ...]] = field(default_factory=set)
    accepted: Int = field(default_factory=lambda: np.empty((0, 3), np.int32))

    def was_asked(self, question: Question, n_items: int) -> bool:
        """Return True if the question must not be asked again; the tree has ``n_items`` leaves."""
        skipped = question.items in self.skipped and len(question.items) < n_items
        return skipped or question.key() in self.asked

    def ask(self, question: Question) -> None:
        """Record that the question is shown; call before :meth:`skip` or :meth:`accept`."""
        self.turn += 1
        self.asked.add(question.key())

    def skip(self, question: Question) -> None:
        """Record that the person skipped the question."""
        self.skipped.add(question.items)

    def recall(
        self, items: tuple[int, ...], clades: tuple[tuple[int, ...], ...], accepted: bool
    ) -> None:
        """Record a question of a saved session with its answer; see :meth:`Question.key`."""
        self.turn += 1
        self.asked.add((items, frozenset(frozenset(clade) for clade in clades)))
        if not accepted:
            self.skipped.add(items)
        elif len(items) <= LARGEST_ACCEPTED:
            rows = {
                (items[a], items[b], items[c])
                for clade in clades
                for a, b in combinations(sorted(clade), 2)
                for c in range(len(items))
                if c not in clade
            }
            known = np.array(sorted(rows), np.int32).reshape(-1, 3)
            self.accepted = np.concatenate([self.accepted, known])

    def accept(self, question: Question) -> None:
        """Record that the person found the shown piece right."""
        if not question.is_odd_one_out and len(question.items) <= LARGEST_ACCEPTED:
            self.accepted = np.concatenate([self.accepted, question.all_triplets()])


def resolved(shown: Tree, items: Int) -> Int:
    """Return each ab|c of ``shown`` with a < b; leaf r is ``items[r]``: int32 (m, 3). O(s^3)."""
    a, b, c = triples(shown.n_leaves).T
    rows = np.concatenate(
        [np.stack(each, axis=1) for each in ((a, b, c), (a, c, b), (b, c, a))]
    ).astype(np.int32)
    found: Int = items[rows[shown.satisfies(rows)]] if len(rows) else rows
    return found


def triples(s: int) -> Int:
    """Return all i < j < k below s, in order: int32 (s (s - 1) (s - 2) / 6, 3)."""
    i, j, k = np.meshgrid(*[np.arange(s, dtype=np.int32)] * 3, indexing="ij")
    keep = (i < j) & (j < k)
    return np.stack([i[keep], j[keep], k[keep]], axis=1)


def listed(names: Sequence[str]) -> str:
    """Join names: "a", "a and b", "a, b and c", "a, b, c and 4 more"."""
    if len(names) > NAMED:
        return join_names(names, NAMED)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def percent(share: float) -> str:
    """Return a share as text, such as "34 %". Only exactly 0 and 1 become "0 %" and "100 %"."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


__all__ = ["Memory", "Question", "QuestionReason", "listed", "percent", "resolved", "triples"]
