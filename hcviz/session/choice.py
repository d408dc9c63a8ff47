"""``Choice``: one of three items, named as the most central one or as the odd one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hcviz.core.errors import InvalidConstraint
from hcviz.core.triplets import Comparisons

ChoiceKind = Literal["central", "odd"]


@dataclass(frozen=True)
class Choice:
    """An answer about three different items; the chosen item comes first in ``items``.

    It is not a constraint. It becomes two comparisons, which may contradict others.

    Raises
    ------
    InvalidConstraint
        If ``items`` are not three different items.
    """

    question: ChoiceKind
    items: tuple[int, int, int]
    author: str = "you"
    time: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(int(item) for item in self.items))
        if len(self.items) != 3 or len(set(self.items)) < 3 or min(self.items) < 0:
            raise InvalidConstraint(f"An answer is about three different items, not {self.items}.")

    def sentence(self, labels: Sequence[str]) -> str:
        """Return a sentence such as ``bat is the odd one out beside whale and trout``."""
        named, *others = (labels[item] for item in self.items)
        role = "the most central beside" if self.question == "central" else "the odd one out beside"
        return f"{named} is {role} {others[0]} and {others[1]}"


def check_choice(choice: Choice, n_items: int) -> None:
    """Raise :class:`InvalidConstraint` if an item is not in 0 .. n_items - 1."""
    if max(choice.items) >= n_items:
        raise InvalidConstraint(
            f"The answer names item {max(choice.items)}, but there are only {n_items} items."
        )


def comparisons_of(choices: Sequence[Choice]) -> Comparisons | None:
    """Return the comparisons of the choices in order, two for each."""
    if not choices:
        return None
    make = {"central": Comparisons.from_most_central, "odd": Comparisons.from_odd_one_out}
    rows = np.empty((2 * len(choices), 3), np.int32)
    for question, form in make.items():
        at = np.array([k for k, each in enumerate(choices) if each.question == question], np.int64)
        found = form([choices[k].items for k in at]).rows
        rows[2 * at], rows[2 * at + 1] = found[: len(at)], found[len(at) :]
    return Comparisons(rows)
