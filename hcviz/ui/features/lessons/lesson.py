"""``Lesson``: a tree without one item, a guess where the item belongs, and the correct place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from hcviz import datasets
from hcviz.core.errors import HcvizError
from hcviz.core.tree import Tree
from hcviz.datasets.loaders import data_folder
from hcviz.io.session_file import load_session
from hcviz.metrics.placement import RemovedItem
from hcviz.session.model import Session


@dataclass(frozen=True, eq=False)
class PlacementQuestion:
    """The question where an item belongs that was taken out of the tree on the screen."""

    gap: RemovedItem
    target: Tree

    @cached_property
    def outside(self) -> Tree:
        """The tree to show during the question: the item is apart from all others."""
        return self.gap.insert_at(self.gap.rest.root)


@dataclass(frozen=True, eq=False)
class GuessResult:
    """A guess, compared with the target tree.

    Parameters
    ----------
    guess, best : int
        The guessed place, and the nearest correct place.
    true, n_stated : int
        Number of correct triplets, and of all triplets, that the guessed place states.
    tree : Tree
        The tree with the item at the best place.
    way : ndarray of int32
        Nodes of ``tree`` from the best place to the guess.
    """

    guess: int
    best: int
    true: int
    n_stated: int
    tree: Tree
    way: NDArray[np.int32]

    @property
    def right(self) -> bool:
        """True if the guessed place is correct."""
        return self.guess == self.best

    @property
    def off(self) -> int:
        """Number of branches between the guess and the best place."""
        return len(self.way) - 1

    @property
    def share(self) -> float:
        """Share of correct triplets; for a place without triplets, 1 if it is correct."""
        return self.true / self.n_stated if self.n_stated else float(self.right)


@dataclass(frozen=True, eq=False)
class Lesson:
    """The state of a lesson. During a lesson the page shows no classes and no scores.

    Parameters
    ----------
    asked : PlacementQuestion or None
        The open question; None during a run, or if no question is left.
    outcome : GuessResult or None
        The result of the guess, after it is revealed.
    results : tuple of (float, bool)
        Share of correct triplets, and whether the place was right, of each guess.
    known : frozenset of int
        Items that were asked about.
    replay : bool
        The lesson follows the steps of a session file.
    """

    asked: PlacementQuestion | None = None
    outcome: GuessResult | None = None
    results: tuple[tuple[float, bool], ...] = ()
    known: frozenset[int] = frozenset()
    replay: bool = False


def judge_guess(asked: PlacementQuestion, items: tuple[int, ...]) -> GuessResult:
    """Judge the guess that the item belongs beside ``items``, which need not be a clade.

    The siblings of the item are the others in its smallest clade of the target tree. A place is
    correct if it is beside a clade of siblings. The tree on the screen may have several of them.

    Notes
    -----
    O(n) for each correct place.
    """
    gap = asked.gap
    guess = gap.place(items)
    own = np.isin(gap.others, gap.target_siblings(asked.target))
    size = np.zeros(gap.rest.n_nodes, np.int64)
    size[: own.size] = own
    for node in range(gap.rest.n_nodes - 1):  # a parent's index is larger
        size[gap.rest.parent[node]] += size[node]
    good = np.flatnonzero(size == gap.rest.size)
    if guess in good:
        best = guess
    else:
        parent = gap.rest.parent
        tops = [v for v in good.tolist() if v == gap.rest.root or parent[v] not in good]
        best = min(tops, key=lambda place: len(gap.path(place, guess)))
    true, n_stated = gap.count_true_triplets(asked.target, guess)
    return GuessResult(guess, best, true, n_stated, gap.insert_at(best), gap.path(best, guess))


@cache
def prepared_lessons() -> list[list[str]]:
    """Return the lessons that come with the package, as ``[[name, title], ...]``."""
    found = sorted((data_folder() / "lessons").glob("*.hcviz"))
    return [[each.stem, datasets.title(each.stem)] for each in found]


def open_prepared_lesson(name: str) -> Session:
    """Open a prepared lesson. Raises :class:`HcvizError` if there is none of that name."""
    if name not in [known for known, _ in prepared_lessons()]:
        raise HcvizError(f"There is no lesson {name!r}.")
    return load_session((data_folder() / "lessons" / f"{name}.hcviz").read_bytes())
