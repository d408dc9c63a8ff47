"""``Constraint``: one answer of a person; ``DataSpec``: what it takes to load the data again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from hcviz.core.build import chain_triplets
from hcviz.core.errors import InvalidConstraint
from hcviz.core.triplets import Triplets

#: A longer list of names is cut to this many and a count.
NAMES_SHOWN = 3

#: A group and the item it stands apart from.
Statement = tuple[tuple[int, ...], int]


@dataclass(frozen=True)
class Constraint:
    """All of ``group`` together, before any of it joins ``apart``.

    ``id`` is the session's number for it and is never used again; ``group`` holds two or more
    different items (indices into the session's labels), ``apart`` another one. ``weight`` > 0 is
    looked at by soft methods only. A disabled constraint stays in the list and has no say.
    ``time`` is ISO 8601, UTC. Raises :class:`InvalidConstraint`.
    """

    id: int
    group: tuple[int, ...]
    apart: int
    author: str = "you"
    weight: float = 1.0
    note: str = ""
    enabled: bool = True
    time: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", tuple(int(item) for item in self.group))
        object.__setattr__(self, "apart", int(self.apart))
        object.__setattr__(self, "weight", float(self.weight))
        chain_triplets(self.group, self.apart)
        if min(*self.group, self.apart) < 0:
            raise InvalidConstraint(f"A constraint names item {min(*self.group, self.apart)}.")
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise InvalidConstraint(f"The weight of a constraint is positive, not {self.weight:g}.")

    @property
    def statement(self) -> Statement:
        return self.group, self.apart

    @cached_property
    def triplets(self) -> Triplets:
        """|G| - 1 chained rows, each with the share weight / (|G| - 1)."""
        rows = chain_triplets(self.group, self.apart)
        return Triplets(rows, [self.weight / len(rows)] * len(rows))

    def states_same(self, group: Sequence[int], apart: int) -> bool:
        return self.apart == apart and set(self.group) == set(group)

    def sentence(self, labels: Sequence[str]) -> str:
        return sentence(self.group, self.apart, labels)


def names_text(items: Sequence[int], labels: Sequence[str]) -> str:
    """``a + b + c``; more than four as ``a + b + c and 5 more``."""
    shown = items if len(items) <= NAMES_SHOWN + 1 else items[:NAMES_SHOWN]
    text = " + ".join(labels[item] for item in shown)
    return text if len(shown) == len(items) else f"{text} and {len(items) - len(shown)} more"


def sentence(group: Sequence[int], apart: int, labels: Sequence[str]) -> str:
    """What a constraint says: ``bat + whale together, before trout``."""
    return f"{names_text(group, labels)} together, before {labels[apart]}"


@dataclass(frozen=True)
class DataSpec:
    """Where the data comes from and how it is read; the Store turns it into a data set.

    ``kind``: ``built-in`` (``name`` is one of ``hcviz.datasets.names()``), ``table`` (an upload:
    ``content`` are the file's bytes, ``filename`` its name, ``table_kind`` what the person said it
    is) or ``given`` (handed over in Python; it cannot be loaded again from a file).
    ``similarity``, ``missing`` and ``scaling`` name the choices made. ``answers`` are files of
    comparisons of its items that were added: (file's name, bytes).
    """

    kind: Literal["built-in", "table", "given"] = "built-in"
    name: str = "zoo"
    similarity: str = "cosine-z"
    missing: str = "column-mean"
    scaling: str = "zscore"
    filename: str = ""
    content: bytes | None = field(default=None, repr=False)
    table_kind: Literal["features", "similarity", "distance", "comparisons", "sequences"] = (
        "features"
    )
    answers: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)

    def has_same_data(self, other: DataSpec) -> bool:
        """Whether the other speaks of these data, however they are prepared."""
        prepared = {name: getattr(other, name) for name in ("similarity", "missing", "scaling")}
        return replace(self, **prepared) == other
