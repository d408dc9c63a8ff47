"""Actions: all that can happen to a session. Each remembers when it was made.

Those of the person and of the runner alike; ``update`` says what each does. The time is taken here,
where the action is made, so that ``update`` stays a pure function and a log replays exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.snapshot import Snapshot
from hcviz.session.choice import ChoiceKind
from hcviz.session.constraint import Constraint, DataSpec

#: How a method treats triplets, as its registry entry says.
ConstraintMode = Literal["hard", "soft", "ignored"]


def now() -> str:
    """The time as constraints and the log note it: ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_only(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A read-only copy, numpy's numbers as Python's own."""
    plain = {
        str(name): value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
    }
    return MappingProxyType(plain)


@dataclass(frozen=True, kw_only=True)
class Action:
    """What happened, and when (not part of equality)."""

    time: str = field(default_factory=now, compare=False)


# ---------------------------------------------------------------------- data


@dataclass(frozen=True)
class LoadedData(Action):
    """The Store has read this data. Other names than before: begin without constraints.

    ``method`` and ``why`` are given where another method is to take the place of the one in use,
    for example because that one cannot run on this data; ``said`` is announced with the tree, for
    example why the data are not taken for something else. ``order`` int32 (n,) is the order of the
    items that the data suggest; the first tree is drawn as near to it as it can be.
    """

    spec: DataSpec
    labels: tuple[str, ...]
    method: str = ""
    note: str = ""
    reason: str = ""
    order: NDArray[np.int32] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(str(label) for label in self.labels))


@dataclass(frozen=True)
class SetSimilarity(Action):
    kind: str


@dataclass(frozen=True)
class SetMissing(Action):
    """How missing cells are filled."""

    kind: str


@dataclass(frozen=True)
class SetScaling(Action):
    """How the features that the method sees are scaled."""

    kind: str


# ---------------------------------------------------------------------- constraints


@dataclass(frozen=True)
class AddConstraint(Action):
    group: tuple[int, ...]
    apart: int
    author: str = "you"
    weight: float = 1.0
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", tuple(int(item) for item in self.group))
        object.__setattr__(self, "apart", int(self.apart))


@dataclass(frozen=True)
class EnableConstraint(Action):
    id: int


@dataclass(frozen=True)
class DisableConstraint(Action):
    id: int


@dataclass(frozen=True)
class DeleteConstraint(Action):
    id: int


@dataclass(frozen=True)
class EditConstraint(Action):
    """Change what is not None."""

    id: int
    note: str | None = None
    weight: float | None = None
    author: str | None = None


@dataclass(frozen=True)
class ImportConstraints(Action):
    """Add these, renumbered; repeats are left out, what contradicts is kept disabled.

    ``source`` says where they come from, in front of what is announced.
    """

    constraints: tuple[Constraint, ...]
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))


@dataclass(frozen=True)
class ResolveConflict(Action):
    """Switch ``enable_id`` on and ``disable_ids`` off, in one step."""

    enable_id: int
    disable_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "disable_ids", tuple(int(each) for each in self.disable_ids))


@dataclass(frozen=True)
class DismissConflict(Action):
    """Leave the answer switched off and go to the next that was refused, or leave them ``all``."""

    all: bool = False


@dataclass(frozen=True)
class Soften(Action):
    """Weigh answers against each other: switch to ``method`` with these ``values`` of its
    parameters, with which it treats triplets as soft, and switch on ``enable_ids`` too, in one
    step."""

    method: str
    values: Mapping[str, Any]
    enable_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))
        object.__setattr__(self, "enable_ids", tuple(int(each) for each in self.enable_ids))


@dataclass(frozen=True)
class AddChoice(Action):
    """Of three items the first was named, as the most central or as the odd one out."""

    question: ChoiceKind
    items: tuple[int, int, int]
    author: str = "you"

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(int(item) for item in self.items))


@dataclass(frozen=True)
class RemoveChoice(Action):
    """Remove the answer about three items at place ``at``."""

    at: int


@dataclass(frozen=True)
class AddComparisons(Action):
    """A file of comparisons of the items, beside the data's own; ``said`` tells how many."""

    filename: str
    content: bytes
    note: str


@dataclass(frozen=True)
class ReviewPiece(Action):
    """A piece of the tree was looked at, and found right or passed over. No step to undo."""

    items: tuple[int, ...]
    clades: tuple[tuple[int, ...], ...] = ()
    accepted: bool = False


# ---------------------------------------------------------------------- experts


@dataclass(frozen=True)
class SetAuthor(Action):
    """Whose answers the next ones are. Nothing that can be undone: no answer changes."""

    name: str


@dataclass(frozen=True)
class SetAuthorWeight(Action):
    """How much an author's answers count, beside others' of weight 1; soft methods look at it."""

    author: str
    weight: float


@dataclass(frozen=True)
class EnableAuthor(Action):
    """All of an author's answers off, or those back on that this switch put aside."""

    author: str
    on: bool


# ---------------------------------------------------------------------- method and runs


@dataclass(frozen=True)
class SetMethod(Action):
    """Another method, with the parameters that it had last."""

    name: str


@dataclass(frozen=True)
class SetParams(Action):
    """New values of some of the method's parameters; the others stay.

    ``is_dragging``: a slider is still being moved, so this is one step to undo with the change before
    it.
    """

    values: Mapping[str, Any]
    is_dragging: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))


@dataclass(frozen=True)
class SetSeed(Action):
    """Another seed, and a run from nothing."""

    seed: int


@dataclass(frozen=True)
class Rerun(Action):
    """Run on from what is shown, or from nothing (``fresh``)."""

    fresh: bool = False


@dataclass(frozen=True)
class Cancel(Action):
    """Stop the run; what is shown stays."""


@dataclass(frozen=True)
class Arrived(Action):
    run: int
    snapshot: Snapshot


@dataclass(frozen=True)
class Finished(Action):
    run: int


@dataclass(frozen=True)
class Failed(Action):
    run: int
    message: str
    hint: str = ""


@dataclass(frozen=True)
class Stopped(Action):
    run: int


# ---------------------------------------------------------------------- history


@dataclass(frozen=True)
class Undo(Action):
    pass


@dataclass(frozen=True)
class Redo(Action):
    pass


@dataclass(frozen=True)
class RunInterrupted(Action):
    """The run that was in progress when the session was saved is over; the newest is ``run``.

    It is in the log where a session was saved or restored while a run was in progress. (Earlier
    versions logged every ``Restore`` so, with run numbers above those of the page.)
    """

    run: int


@dataclass(frozen=True)
class SessionStarted(Action):
    """What the log begins with, put there by ``update``: the session before its first action."""

    data: DataSpec
    labels: tuple[str, ...]
    method: str
    constraint_mode: ConstraintMode
    params: Mapping[str, Any]
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", read_only(self.params))
