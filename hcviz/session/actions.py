"""Actions: everything that can happen to a session, with the time at which it happened.

Actions come from the person and from the runner. :func:`hcviz.session.update.update` defines the
effect of each. The time is taken when an action is created. So ``update`` stays a pure function,
and a log can be replayed exactly.
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
from hcviz.session.added_rows import AddedRows
from hcviz.session.choice import ChoiceKind
from hcviz.session.chosen_clusters import ChosenClusters
from hcviz.session.constraint import Apart, Constraint, DataSpec, as_apart
from hcviz.taxonomy.group import Group, new_id
from hcviz.taxonomy.group import Status as GroupStatus

#: How a method uses triplets; its registry entry declares it.
ConstraintMode = Literal["hard", "soft", "ignored"]


def now() -> str:
    """Return the present time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_only(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a read-only copy, with numpy scalars as Python numbers."""
    plain = {
        str(name): value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
    }
    return MappingProxyType(plain)


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something that happened. The time is not part of equality."""

    time: str = field(default_factory=now, compare=False)


# ---------------------------------------------------------------------- data


@dataclass(frozen=True)
class LoadedData(Action):
    """The store has loaded data. If the labels differ from before, the constraints are removed.

    Attributes
    ----------
    spec : DataSpec
        How the data were loaded.
    labels : tuple of str
        The item labels.
    method : str
        A method to switch to, or empty. For example, the present method cannot run on the data.
    note : str
        A sentence to announce with the first tree.
    reason : str
        Why the method changes.
    order : ndarray of int32, shape (n,), or None
        The item order of the data. The first tree is drawn as close to it as possible.
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
    """Choose another similarity measure."""

    kind: str


@dataclass(frozen=True)
class SetMissing(Action):
    """Choose how missing cells are filled."""

    kind: str


@dataclass(frozen=True)
class SetScaling(Action):
    """Choose how the features are scaled."""

    kind: str


# ---------------------------------------------------------------------- constraints


@dataclass(frozen=True)
class AddConstraint(Action):
    """Add a constraint: ``group`` together, apart from ``apart``: one item or several.

    With ``into``, the named group of that id gets exactly the items of ``group`` in the same step.
    The items leave other groups, but not those around that group.
    """

    group: tuple[int, ...]
    apart: Apart
    author: str = "you"
    weight: float = 1.0
    note: str = ""
    into: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", tuple(int(item) for item in self.group))
        object.__setattr__(self, "apart", as_apart(self.apart))


@dataclass(frozen=True)
class EnableConstraint(Action):
    """Enable a constraint."""

    id: int


@dataclass(frozen=True)
class DisableConstraint(Action):
    """Disable a constraint."""

    id: int


@dataclass(frozen=True)
class DeleteConstraint(Action):
    """Delete a constraint."""

    id: int


@dataclass(frozen=True)
class EditConstraint(Action):
    """Change the fields that are not None."""

    id: int
    note: str | None = None
    weight: float | None = None
    author: str | None = None


@dataclass(frozen=True)
class ImportConstraints(Action):
    """Add constraints with new ids. Repeats are left out; contradictory ones are kept disabled.

    ``source`` is the beginning of the announcement and names where the constraints come from.
    """

    constraints: tuple[Constraint, ...]
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))


@dataclass(frozen=True)
class ResolveConflict(Action):
    """Enable ``enable_id`` and disable ``disable_ids`` in one step."""

    enable_id: int
    disable_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "disable_ids", tuple(int(each) for each in self.disable_ids))


@dataclass(frozen=True)
class DismissConflict(Action):
    """Leave the refused constraint disabled and explain the next one; with ``all``, leave all."""

    all: bool = False


@dataclass(frozen=True)
class Soften(Action):
    """Treat constraints as soft, in one step.

    The action switches to ``method`` with these ``values`` of its parameters, and enables
    ``enable_ids``.
    """

    method: str
    values: Mapping[str, Any]
    enable_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))
        object.__setattr__(self, "enable_ids", tuple(int(each) for each in self.enable_ids))


@dataclass(frozen=True)
class AddChoice(Action):
    """Add an answer about three items. The first item is the most central, or the odd one."""

    question: ChoiceKind
    items: tuple[int, int, int]
    author: str = "you"

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(int(item) for item in self.items))


@dataclass(frozen=True)
class RemoveChoice(Action):
    """Remove the choice with index ``at``."""

    at: int


@dataclass(frozen=True)
class AddComparisons(Action):
    """Add a file of comparisons to the data. ``note`` is announced; it gives their number."""

    filename: str
    content: bytes
    note: str


@dataclass(frozen=True)
class ReviewPiece(Action):
    """Record that the person accepted or skipped a piece of the tree. It cannot be undone."""

    items: tuple[int, ...]
    clades: tuple[tuple[int, ...], ...] = ()
    accepted: bool = False


# ---------------------------------------------------------------------- groups


@dataclass(frozen=True)
class NameGroup(Action):
    """Name a set of items. The action has the id, so that a replay makes the same group."""

    members: tuple[int, ...]
    name: str
    id: str = field(default_factory=new_id)

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(int(item) for item in self.members))


@dataclass(frozen=True)
class EditGroup(Action):
    """Change the fields of a group that are not None."""

    id: str
    name: str | None = None
    note: str | None = None
    alternatives: tuple[str, ...] | None = None
    status: GroupStatus | None = None

    def __post_init__(self) -> None:
        if self.alternatives is not None:
            object.__setattr__(self, "alternatives", tuple(self.alternatives))


@dataclass(frozen=True)
class SetGroupMembers(Action):
    """Replace the members of a group."""

    id: str
    members: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(int(item) for item in self.members))


@dataclass(frozen=True)
class RemoveGroup(Action):
    """Remove a group. Its items stay."""

    id: str


@dataclass(frozen=True)
class ReplaceGroups(Action):
    """Replace all groups, for example with those of a file. ``note`` is announced."""

    groups: tuple[Group, ...]
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(self.groups))


@dataclass(frozen=True)
class AcceptItems(Action):
    """Add new items to the data, each with the id of its group; "" for none."""

    rows: AddedRows
    groups: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(str(each) for each in self.groups))


@dataclass(frozen=True)
class OpenNewItems(Action):
    """Open a list of new items. ``notes`` are sentences about their file."""

    rows: AddedRows
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(str, self.notes)))


@dataclass(frozen=True)
class DecideNewItems(Action):
    """Set which rows of the list are dismissed, and the chosen groups of rows."""

    dismissed: tuple[int, ...]
    chosen: tuple[tuple[int, str], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "dismissed", tuple(sorted(map(int, self.dismissed))))
        chosen = tuple(sorted((int(row), str(group)) for row, group in self.chosen))
        object.__setattr__(self, "chosen", chosen)


@dataclass(frozen=True)
class CloseNewItems(Action):
    """Close the list of new items."""


# ---------------------------------------------------------------------- clusters


@dataclass(frozen=True)
class ChooseClusters(Action):
    """Choose clusters by hand; None for those of a cut of the tree. ``note`` is announced."""

    clusters: ChosenClusters | None = None
    note: str = ""


@dataclass(frozen=True)
class OpenSecondVersion(Action):
    """Begin the review of a second version: its groups, and the items that its file has."""

    name: str
    groups: tuple[Group, ...]
    items: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(self.groups))
        object.__setattr__(self, "items", tuple(int(item) for item in self.items))


@dataclass(frozen=True)
class TakeOver(Action):
    """Take over the groups in these rows of the review, in one step."""

    rows: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(int(row) for row in self.rows))


@dataclass(frozen=True)
class KeepMine(Action):
    """Decide that the groups in these rows of the review stay as they are."""

    rows: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(int(row) for row in self.rows))


@dataclass(frozen=True)
class CloseSecondVersion(Action):
    """End the review."""


# ---------------------------------------------------------------------- card sorts


@dataclass(frozen=True)
class MergePileNames(Action):
    """Let several names of piles count as the one ``name``. The data stay as they are."""

    names: tuple[str, ...]
    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(str(each) for each in self.names))


@dataclass(frozen=True)
class SplitPileName(Action):
    """Separate the names of piles that were merged into ``name``."""

    name: str


@dataclass(frozen=True)
class EnableParticipant(Action):
    """Switch the piles of a participant of a card sort on or off."""

    participant: str
    on: bool


# ---------------------------------------------------------------------- experts


@dataclass(frozen=True)
class SetAuthor(Action):
    """Set the author of the next answers. It changes no answer and cannot be undone."""

    name: str


@dataclass(frozen=True)
class SetAuthorWeight(Action):
    """Set the weight of an author's answers. The default is 1; only soft methods use it."""

    author: str
    weight: float


@dataclass(frozen=True)
class EnableAuthor(Action):
    """Disable all answers of an author, or enable those that were disabled this way."""

    author: str
    on: bool


# ---------------------------------------------------------------------- method and runs


@dataclass(frozen=True)
class SetMethod(Action):
    """Switch to another method, with the parameters that it had last."""

    name: str


@dataclass(frozen=True)
class SetParams(Action):
    """Set some of the method's parameters; the others stay.

    ``is_dragging`` is True while a slider moves. The change then belongs to the same undo step as
    the change before.
    """

    values: Mapping[str, Any]
    is_dragging: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))


@dataclass(frozen=True)
class SetSeed(Action):
    """Set another seed, and start a run from scratch."""

    seed: int


@dataclass(frozen=True)
class Rerun(Action):
    """Continue from the shown state, or start from scratch (``fresh``)."""

    fresh: bool = False


@dataclass(frozen=True)
class RerunInterrupted(Action):
    """Run again what was interrupted when the session was lost; this is no step for undo."""


@dataclass(frozen=True)
class Cancel(Action):
    """Stop the run. The shown tree stays."""


@dataclass(frozen=True)
class Arrived(Action):
    """The runner has delivered a snapshot."""

    run: int
    snapshot: Snapshot


@dataclass(frozen=True)
class Finished(Action):
    """The run has reached its end."""

    run: int


@dataclass(frozen=True)
class Failed(Action):
    """The run has failed."""

    run: int
    message: str
    hint: str = ""


@dataclass(frozen=True)
class Stopped(Action):
    """The runner has stopped the run."""

    run: int


# ---------------------------------------------------------------------- history


@dataclass(frozen=True)
class Undo(Action):
    """Undo the last step."""


@dataclass(frozen=True)
class Redo(Action):
    """Redo the last undone step."""


@dataclass(frozen=True)
class RunInterrupted(Action):
    """The run that was in progress when the session was saved has ended; ``run`` is the newest run.

    The action is in the log if a session was saved or restored during a run. Earlier versions
    logged every ``Restore`` this way, with run numbers above those of the page.
    """

    run: int


@dataclass(frozen=True)
class SessionStarted(Action):
    """The first entry of the log: the session before its first action. ``update`` adds it."""

    data: DataSpec
    labels: tuple[str, ...]
    method: str
    constraint_mode: ConstraintMode
    params: Mapping[str, Any]
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", read_only(self.params))
