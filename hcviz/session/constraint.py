"""``Constraint``: an answer of a person. ``DataSpec``: how the data are loaded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.build import chain_triplets
from hcviz.core.column_options import ColumnOptions
from hcviz.core.errors import InvalidConstraint
from hcviz.core.groups import Groups
from hcviz.core.not_groups import NotGroup
from hcviz.core.similarity import DEFAULT_SIMILARITY
from hcviz.core.text import names_text
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.session.added_rows import AddedRows

#: In place of an item: the group is apart from all other items, so it is a clade.
EVERYTHING_ELSE = -1

#: In place of an item: the items are not a group, so no clade has exactly these items.
NOT_A_GROUP = -2

#: What a group is apart from: one item, two or more different items, EVERYTHING_ELSE, or
#: NOT_A_GROUP.
Apart = int | tuple[int, ...]

#: A group, and what is apart from it.
Statement = tuple[tuple[int, ...], Apart]

#: A constraint with several outsiders gives at most this number of triplets.
MAX_TRIPLETS = 50_000


def as_apart(given: int | Iterable[int]) -> Apart:
    """Return one item as a number, and several as a tuple of different ones in their order."""
    if isinstance(given, Iterable):
        items = tuple(dict.fromkeys(int(item) for item in given))
        return items[0] if len(items) == 1 else items
    return int(given)


def outsiders(apart: Apart) -> tuple[int, ...]:
    """Return the items that a statement names as apart; none if it is about a clade."""
    if isinstance(apart, tuple):
        return apart
    return () if apart in (EVERYTHING_ELSE, NOT_A_GROUP) else (apart,)


def statement_rows(group: Sequence[int], apart: Apart) -> NDArray[np.int32]:
    """Return the triplets of a statement that names its outsiders, int32 (t, 3).

    These are (size of the group - 1) chained triplets for each outsider.
    """
    return np.concatenate([chain_triplets(group, item) for item in outsiders(apart)])


@dataclass(frozen=True)
class Constraint:
    """The items of ``group`` are together, apart from other items or from everything else.

    Some clade contains the whole group and no item that is apart. With NOT_A_GROUP it says
    something else: no clade has exactly the items of ``group``.

    Attributes
    ----------
    id : int
        The session's number of the constraint. It is never used again.
    group : tuple of int
        At least two different items, as indices of the session's labels.
    apart : int or tuple of int
        An item that is not in the group, or several; EVERYTHING_ELSE if the group is a clade;
        NOT_A_GROUP if it is none.
    author : str
        Who gave the answer.
    weight : float
        Greater than 0. Only soft methods use it.
    note : str
        A remark of the person.
    enabled : bool
        A disabled constraint stays in the list and has no effect.
    time : str
        ISO 8601, UTC.

    Raises
    ------
    InvalidConstraint
        If a value is not allowed.
    """

    id: int
    group: tuple[int, ...]
    apart: Apart
    author: str = "you"
    weight: float = 1.0
    note: str = ""
    enabled: bool = True
    time: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", tuple(int(item) for item in self.group))
        object.__setattr__(self, "apart", as_apart(self.apart))
        object.__setattr__(self, "weight", float(self.weight))
        check_statement(self.group, self.apart)
        least = min(*self.group, *outsiders(self.apart))
        if least < 0:
            raise InvalidConstraint(f"A constraint names item {least}.")
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise InvalidConstraint(f"The weight of a constraint is positive, not {self.weight:g}.")

    @property
    def statement(self) -> Statement:
        """The pair (group, apart)."""
        return self.group, self.apart

    @property
    def is_clade(self) -> bool:
        """True if the group is a clade: apart from everything else."""
        return self.apart == EVERYTHING_ELSE

    @property
    def is_not_group(self) -> bool:
        """True if it says that the items are not a clade."""
        return self.apart == NOT_A_GROUP

    @property
    def named(self) -> tuple[int, ...]:
        """The items that the constraint names."""
        return (*self.group, *self.outsiders)

    @property
    def outsiders(self) -> tuple[int, ...]:
        """The items that it names as apart; none if it is about a clade."""
        return outsiders(self.apart)

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The rows for BUILD, int32 (t, 3), see :mod:`hcviz.core.groups`; none for NOT_A_GROUP."""
        return Groups([self.group]).rows if self.is_clade else self.triplets.rows

    @property
    def stated(self) -> NDArray[np.int32] | NotGroup:
        """The rows for BUILD, or the set that is not a group."""
        if self.is_not_group:
            return NotGroup(np.sort(np.array(self.group, np.int32)))
        return self.rows

    def holds_in(self, tree: Tree) -> bool:
        """Return True if the tree satisfies the constraint."""
        if self.is_not_group:
            return not tree.has_clade(self.group)
        if self.is_clade:
            return tree.has_clade(self.group)
        return bool(tree.satisfies(self.triplets).all())

    @cached_property
    def triplets(self) -> Triplets:
        """The chained triplets for each outsider, each with an equal share of the weight.

        Empty for a statement about a clade, whose triplets depend on the other items.
        """
        if not self.outsiders:
            return Triplets()
        rows = statement_rows(self.group, self.apart)
        return Triplets(rows, [self.weight / len(rows)] * len(rows))

    def states_same(self, group: Sequence[int], apart: Apart) -> bool:
        """Return True if group and apart are the same, whatever the order of their items."""
        given = as_apart(apart)
        if not self.outsiders or not outsiders(given):
            return self.apart == given and set(self.group) == set(group)
        return set(self.outsiders) == set(outsiders(given)) and set(self.group) == set(group)

    def sentence(self, labels: Sequence[str]) -> str:
        """Return the constraint as a sentence with item labels."""
        return sentence(self.group, self.apart, labels)


def check_statement(group: Sequence[int], apart: Apart) -> None:
    """Raise :class:`InvalidConstraint` unless this is a constraint, whatever the items are."""
    if apart not in (EVERYTHING_ELSE, NOT_A_GROUP):
        if not outsiders(apart):
            raise InvalidConstraint("A constraint names no item that is apart.")
        count = (len(group) - 1) * len(outsiders(apart))
        if count > MAX_TRIPLETS and len(outsiders(apart)) > 1:
            raise InvalidConstraint(
                f"{len(group):,} items apart from {len(outsiders(apart)):,} others are {count:,} "
                f"triplets. A constraint has at most {MAX_TRIPLETS:,}.",
                "Leave out some of the items that are apart. A group (G), which is apart from all "
                "others, has no such limit.",
            )
        for item in outsiders(apart):
            chain_triplets(group, item)
    elif len(group) < 2:
        raise InvalidConstraint("A group needs two items or more.", "Add an item to the group.")
    elif len(set(group)) < len(group):
        raise InvalidConstraint("The group names an item twice.")


def sentence(group: Sequence[int], apart: Apart, labels: Sequence[str]) -> str:
    """Return a sentence such as ``bat + whale together, apart from trout``."""
    if apart == EVERYTHING_ELSE:
        return f"{names_text(group, labels)} are a group"
    if apart == NOT_A_GROUP:
        return f"{names_text(group, labels)} are not a group"
    return (
        f"{names_text(group, labels)} together, apart from {names_text(outsiders(apart), labels)}"
    )


#: What the rows of a table are.
TableKind = Literal[
    "features", "similarity", "distance", "comparisons", "sequences", "tree", "card-sort"
]


@dataclass(frozen=True)
class DataSpec:
    """Where the data come from and how they are prepared. The store loads the data set.

    Attributes
    ----------
    kind : {"built-in", "table", "given"}
        ``built-in``: ``name`` is one of ``hcviz.datasets.names()``. ``table``: an uploaded file.
        ``given``: passed in Python, so it cannot be loaded again from a file.
    name : str
        The name of the data.
    similarity, missing, scaling : str
        The chosen preparation.
    filename, content : str, bytes or None
        Name and bytes of the uploaded file.
    table_kind : str
        The kind of table that the person chose.
    columns : tuple of ColumnOptions
        How columns are read, if not as detected.
    sheet : str
        The sheet of a workbook; empty: the first that is not empty.
    answers : tuple of (str, bytes)
        Added files of comparisons: file name and content.
    left_out : tuple of str
        Participants of a card sort who are switched off.
    added : tuple of AddedRows
        Rows of other tables that follow the rows of the data.
    """

    kind: Literal["built-in", "table", "given"] = "built-in"
    name: str = "zoo"
    similarity: str = DEFAULT_SIMILARITY
    missing: str = "column-mean"
    scaling: str = "zscore"
    filename: str = ""
    content: bytes | None = field(default=None, repr=False)
    table_kind: TableKind = "features"
    columns: tuple[ColumnOptions, ...] = ()
    sheet: str = ""
    answers: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    left_out: tuple[str, ...] = ()
    added: tuple[AddedRows, ...] = field(default=(), repr=False)

    @property
    def n_added(self) -> int:
        """The number of rows that were added."""
        return sum(len(rows.labels) for rows in self.added)

    def has_same_data(self, other: DataSpec) -> bool:
        """Return True if both load the same data, however these are prepared."""
        options = ("similarity", "missing", "scaling", "left_out")
        prepared = {name: getattr(other, name) for name in options}
        return replace(self, **prepared) == other
