"""``ItemData``: all that descriptions of groups and items read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hcviz.algorithms.comparison.similarities import adds
from hcviz.core.problem import Problem, as_problem, load_named
from hcviz.core.tree import MAX_QUADRATIC
from hcviz.datasets import Dataset, Pile
from hcviz.description.columns import Columns
from hcviz.description.similarities import GroupSimilarities

_WORD = re.compile(r"[^\W\d_]{3,}")
_STOP_WORDS = frozenset({"and", "the", "for", "with", "from", "without", "not", "new", "other"})


@dataclass(frozen=True, eq=False)
class ItemData:
    """Labels, columns, similarities and piles of the same n items.

    Parameters
    ----------
    labels : tuple of str
        Names of the items.
    columns : Columns or None
        Their features.
    similarities : GroupSimilarities
        Their similarities, if there are any.
    piles : tuple of Pile
        What the participants of a card sort put together.
    """

    labels: tuple[str, ...]
    columns: Columns | None
    similarities: GroupSimilarities
    piles: tuple[Pile, ...] = ()

    @classmethod
    def of(cls, data: Any) -> ItemData:
        """Return the parts of a Dataset, a Problem, or a table of features; itself if it is one.

        The similarity is the measured one, else that of the features, else AddS of the comparisons.
        """
        if isinstance(data, ItemData):
            return data
        given = load_named(data)
        if not isinstance(given, Dataset):
            given = as_problem(given)
        problem = as_problem(given)
        assert problem.labels is not None
        return cls(
            tuple(problem.labels),
            Columns.of(given),
            GroupSimilarities(_similarities(problem)),
            tuple(given.piles) if isinstance(given, Dataset) else (),
        )

    @cached_property
    def words(self) -> tuple[frozenset[str], ...]:
        """The words of each label, in lower case, without numbers and short words."""
        return tuple(
            frozenset(_WORD.findall(label.casefold())) - _STOP_WORDS for label in self.labels
        )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.labels)


def _similarities(problem: Problem) -> Any:
    if problem.similarity is not None:
        return problem.similarity
    if is_cheap(problem.oracle):
        return problem.oracle
    if problem.features is not None and problem.n_items <= MAX_QUADRATIC:
        return problem.similarity_or_default
    if problem.comparisons is not None and problem.n_items <= MAX_QUADRATIC:
        return adds(problem.n_items, problem.comparisons)
    return None


def is_cheap(oracle: Any) -> bool:
    """Return True for an oracle of similarities that may be asked for thousands of pairs."""
    return any(getattr(oracle, name, False) for name in ("cheap", "pictures", "all_at_once"))


__all__ = ["ItemData", "is_cheap"]
