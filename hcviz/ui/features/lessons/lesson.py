"""What a lesson shows: a tree without one item, a guess where it goes, and the truth."""

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
class Asked:
    """An item that was taken out of the tree on the screen."""

    gap: RemovedItem
    target: Tree

    @cached_property
    def outside(self) -> Tree:
        """The tree to look at meanwhile: the item stands apart from all others."""
        return self.gap.insert_at(self.gap.rest.root)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A guess beside the truth. ``best`` is the nearest place where the item would be among its
    own; ``tree`` has it there, ``way`` are the nodes of that tree from there to the guess. Of the
    ``told`` triplets that the guess claims of the item ``true`` are true."""

    guess: int
    best: int
    true: int
    told: int
    tree: Tree
    way: NDArray[np.int32]

    @property
    def right(self) -> bool:
        """The guess is among the item's own."""
        return self.guess == self.best

    @property
    def off(self) -> int:
        """Branches between the guess and the best place."""
        return len(self.way) - 1

    @property
    def share(self) -> float:
        """How much of what the guess says is true; a guess that says nothing is worth nothing."""
        return self.true / self.told if self.told else float(self.right)


@dataclass(frozen=True, eq=False)
class Lesson:
    """The state of a lesson; the truth is hidden as long as there is one.

    ``asked`` is the item in question (None: the tree is at work, or nothing is left to ask),
    ``results`` one (share, right) for each guess so far, ``known`` the items that were asked about.
    ``replay``: it follows the steps of a session file.
    """

    asked: Asked | None = None
    outcome: Outcome | None = None
    results: tuple[tuple[float, bool], ...] = ()
    known: frozenset[int] = frozenset()
    replay: bool = False


def judge(asked: Asked, items: tuple[int, ...]) -> Outcome:
    """The guess that the item goes beside ``items``, which need not be a clade.

    The item is among its own beside any clade of its mates, those of the smallest clade of the
    truth with it; the tree on the screen may have torn them apart. O(n) for each place among them.
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
    true, told = gap.count_true_triplets(asked.target, guess)
    return Outcome(guess, best, true, told, gap.insert_at(best), gap.path(best, guess))


@cache
def prepared() -> list[list[str]]:
    """Name and title of the lessons that come with the package, as ``[[name, title], ...]``."""
    found = sorted((data_folder() / "lessons").glob("*.hcviz"))
    return [[each.stem, datasets.title(each.stem)] for each in found]


def open_prepared(name: str) -> Session:
    """One of them. Raises :class:`HcvizError` where there is none of that name."""
    if name not in [known for known, _ in prepared()]:
        raise HcvizError(f"There is no lesson {name!r}.")
    return load_session((data_folder() / "lessons" / f"{name}.hcviz").read_bytes())
