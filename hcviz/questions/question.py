"""``Question``: a piece of the tree to show, and why; ``Memory``: what was asked before."""

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

#: Names that a sentence lists before it says "and 4 more".
NAMED = 3


@dataclass(frozen=True)
class Why:
    """What the sampled trees say about a question, the part that disagrees most with what is shown.

    ``mover`` sits with the items ``joins`` rather than with ``leaves`` in the share ``share`` of
    the trees; in the shown tree it is the other way round (or open). None: there was nothing to go
    by, or the trees agree with what is shown. ``reason`` is a sentence about the strategy.
    """

    reason: str
    mover: int | None = None
    joins: tuple[int, ...] = ()
    leaves: int | None = None
    share: float = 0.0

    def sentence(self, labels: Sequence[str]) -> str:
        """One line for the card: "bat sits with dove and lark rather than mole in 34 % of ..."."""
        if self.mover is None or self.leaves is None:
            return self.reason
        return (
            f"{labels[self.mover]} sits with {listed([labels[i] for i in self.joins])} rather than "
            f"{labels[self.leaves]} in {percent(self.share)} of the trees."
        )


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked.

    ``kind`` is the strategy that was asked for, ``how`` the one that made the choice (of
    ``interleaved``: ``random`` or ``active``). ``items`` are the asked items, increasing;
    ``shown`` is the tree that they induce, whose leaf r is ``items[r]``: a star of three for
    ``simple``, which shows no tree. ``value`` is what the strategy maximised (edges squared, bits),
    nan where nothing was.
    """

    kind: str
    how: str
    items: tuple[int, ...]
    shown: Tree
    why: Why
    value: float = float("nan")

    @property
    def picks(self) -> bool:
        """Whether the odd one of three is asked for, rather than a look at a tree."""
        return len(self.items) == 3 and self.shown.n_internal == 1

    def key(self) -> tuple[tuple[int, ...], frozenset[frozenset[int]]]:
        """Items and the hierarchy shown of them: what a person would recognise."""
        return self.items, frozenset(
            frozenset(clade.tolist()) for clade in self.shown.clades() if clade.size > 1
        )

    def facts(self) -> Int:
        """Every ab|c that the shown tree holds, as items: int32 (m, 3). O(s^3)."""
        return resolved(self.shown, np.array(self.items, np.int32))


#: A larger piece that is accepted is not remembered triple by triple.
LARGEST_ACCEPTED = 12


@dataclass
class Memory:
    """What was asked, skipped and accepted so far, so that nothing is asked twice.

    The same items in the same arrangement are never shown again; items that were skipped are not
    shown together again however they are arranged, unless they are all there are: the whole tree
    comes again once it has changed, or nothing could be asked any more. ``turn`` counts the
    questions, which is what ``interleaved`` goes by.
    """

    turn: int = 0
    asked: set[tuple[tuple[int, ...], frozenset[frozenset[int]]]] = field(default_factory=set)
    skipped: set[tuple[int, ...]] = field(default_factory=set)
    accepted: Int = field(default_factory=lambda: np.empty((0, 3), np.int32))

    def knows(self, question: Question, n_items: int) -> bool:
        """Whether it is not to be put again about a tree over ``n_items``."""
        skipped = question.items in self.skipped and len(question.items) < n_items
        return skipped or question.key() in self.asked

    def ask(self, question: Question) -> None:
        """The question was put; call it once, before any of those below."""
        self.turn += 1
        self.asked.add(question.key())

    def skip(self, question: Question) -> None:
        self.skipped.add(question.items)

    def recall(
        self, items: tuple[int, ...], clades: tuple[tuple[int, ...], ...], accepted: bool
    ) -> None:
        """A question of an earlier conversation, put and answered: see :meth:`Question.key`."""
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
        """What it shows is right, as far as the person can say: it need not be asked about."""
        if not question.picks and len(question.items) <= LARGEST_ACCEPTED:
            self.accepted = np.concatenate([self.accepted, question.facts()])


def resolved(shown: Tree, items: Int) -> Int:
    """Every ab|c that ``shown`` holds, a < b, leaf r named ``items[r]``: int32 (m, 3). O(s^3)."""
    a, b, c = triples(shown.n_leaves).T
    rows = np.concatenate(
        [np.stack(each, axis=1) for each in ((a, b, c), (a, c, b), (b, c, a))]
    ).astype(np.int32)
    found: Int = items[rows[shown.satisfies(rows)]] if len(rows) else rows
    return found


def triples(s: int) -> Int:
    """All i < j < k below s, in order: int32 (s (s - 1) (s - 2) / 6, 3)."""
    i, j, k = np.meshgrid(*[np.arange(s, dtype=np.int32)] * 3, indexing="ij")
    keep = (i < j) & (j < k)
    return np.stack([i[keep], j[keep], k[keep]], axis=1)


def listed(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c", "a, b, c and 4 more"."""
    if len(names) > NAMED:
        return join_names(names, NAMED)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def percent(share: float) -> str:
    """ "34 %"; what is not 0 or 1 is not rounded to it."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


__all__ = ["Memory", "Question", "Why", "listed", "percent", "resolved", "triples"]
