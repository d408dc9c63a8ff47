"""``Session``: the whole state of one person's work, as a frozen value.

Views are functions of the session. Gestures become actions on it (:mod:`hcviz.session.update`). The
session contains no data set, only the item labels and the :class:`DataSpec` that loads the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.groups import Groups
from hcviz.core.snapshot import Snapshot
from hcviz.core.text import names_text
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.session.actions import Action, ConstraintMode, read_only
from hcviz.session.added_rows import AddedRows
from hcviz.session.choice import Choice, comparisons_of
from hcviz.session.chosen_clusters import ChosenClusters
from hcviz.session.constraint import Constraint, DataSpec, Statement, sentence
from hcviz.session.leaf_order import shown_order
from hcviz.session.offered_items import OfferedItems
from hcviz.session.reviewed import ReviewedPiece
from hcviz.session.second_version import SecondVersion
from hcviz.taxonomy import Group

Status = Literal["idle", "sampling", "settled", "failed", "cancelled"]

#: How a run starts: from the shown snapshot with its state, from the shown tree, or from scratch.
WarmStart = Literal["nothing", "tree", "snapshot"]


@dataclass(frozen=True)
class Conflict:
    """A constraint that cannot be enabled together with the other constraints.

    Attributes
    ----------
    constraint_id : int
        The refused constraint.
    with_ids : tuple of int
        A minimal set of enabled constraints that contradicts it. Without any one of these, the rest
        of the set is consistent with it.
    repairs : tuple of int
        Members of ``with_ids``. Disabling any one of them allows the refused constraint.
    sentence : str
        The explanation, with item labels.
    smallest : bool
        True if no smaller set contradicts the constraint (this is proven).
    waiting : tuple of int
        Other refused constraints, in the order in which they are explained next.
    """

    constraint_id: int
    with_ids: tuple[int, ...]
    repairs: tuple[int, ...]
    sentence: str
    smallest: bool = True
    waiting: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The fields of a session that undo and redo restore without a new run.

    ``label`` names the step after this state (in ``past``), or the step that leads to it (in
    ``future``). The other fields are those of :class:`Session`.
    """

    label: str
    data: DataSpec
    labels: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    method: str
    constraint_mode: ConstraintMode
    params: Mapping[str, Any]
    other_params: Mapping[str, Mapping[str, Any]]
    seed: int
    status: Status
    snapshot: Snapshot | None
    progress: tuple[int, int]
    shown: int
    lineage: int
    warm_start: WarmStart
    cause: str
    error: tuple[str, str] | None
    author_weights: Mapping[str, float] = field(default_factory=lambda: read_only({}))
    disabled_by_author: tuple[int, ...] = ()
    choices: tuple[Choice, ...] = ()
    reference: NDArray[np.int32] | None = None
    groups: tuple[Group, ...] = ()
    chosen_clusters: ChosenClusters | None = None
    second_version: SecondVersion | None = None
    pile_names: Mapping[str, str] = field(default_factory=lambda: read_only({}))


@dataclass(frozen=True)
class LogEntry:
    """An action, with the run and the shown step at that moment.

    ``step`` is -1 if no tree of the run was shown yet. All actions are logged except ``Arrived``.
    """

    action: Action
    run: int
    step: int

    @property
    def time(self) -> str:
        return self.action.time


@dataclass(frozen=True, eq=False)
class HistoryEntry:
    """A tree that was shown, with its cause, the number of answers in use, and its metrics."""

    label: str
    n_constraints: int
    metrics: Mapping[str, float]
    tree: Tree
    run: int
    step: int


@dataclass(frozen=True, eq=False)
class Session:
    """The state of one person's work.

    Two sessions are equal only if they are the same object; see :func:`equal_values`.

    Attributes
    ----------
    data : DataSpec
        How the data are loaded.
    labels : tuple of str
        The item labels.
    constraints : tuple of Constraint
        All constraints. The enabled ones are consistent, unless the method is soft (``is_soft``). A
        constraint that would contradict them is kept disabled.
    method : str
        The registry name of the method.
    constraint_mode : {"hard", "soft", "ignored"}
        How the method uses triplets.
    params : mapping
        The method's parameters.
    other_params : mapping
        The parameters of methods that were used before.
    seed : int
        The random seed.
    run : int
        The number of the newest run; -1 before the first. It never decreases.
    status : str
        What the newest run does.
    snapshot : Snapshot or None
        The shown tree with its metrics and state.
    progress : (int, int)
        Step and total steps of the run.
    shown : int
        The run that ``snapshot`` comes from.
    lineage : int
        The run that the present state belongs to. After undo it is older than ``run``.
    warm_start : {"nothing", "tree", "snapshot"}
        The most that the next run may reuse. After a new method, data set or seed, the shown state
        is not reused until a snapshot arrives.
    cause : str
        What started the run.
    message : str
        The last announcement.
    error : (str, str) or None
        A message and a hint.
    conflict : Conflict or None
        The conflict that is explained on the page.
    next_id : int
        The id of the next constraint.
    past, future : tuple of Checkpoint
        The undo and redo stacks.
    log : tuple of LogEntry
        All actions.
    history : tuple of HistoryEntry
        The trees that were shown.
    look : mapping
        Display settings that are saved with the session. Only the page reads them.
    keeps_tree : bool
        If True, the run in progress does not change the shown tree. The new constraints hold in
        that tree; the run only updates the sampler's state, draws and supports.
    author : str
        The author of the next answers.
    author_weights : mapping
        Factors for the weights of each author's answers; 1 by default.
    disabled_by_author : tuple of int
        The constraints that were disabled together with their author.
    choices : tuple of Choice
        Answers about three items. They become comparisons in addition to those of the data.
    rerun_pending : bool
        True if answers arrived during the run, so that another run must follow.
    reviewed : tuple of ReviewedPiece
        Pieces of trees that the person accepted or skipped.
    reference : ndarray of int32, shape (n,), or None
        The leaf order to which the run's trees are aligned: the order on the page when the run
        began. At first it is the order of the data (:mod:`hcviz.core.seriation`).
    groups : tuple of Group
        The named groups of items. A run never changes them.
    chosen_clusters : ChosenClusters or None
        The clusters that a person chose by hand. A run never changes them; on each tree they are
        placed as named groups are. None: a cut gives the clusters, which the page's look has.
    second_version : SecondVersion or None
        The second version of the groups that is being reviewed.
    pile_names : mapping
        Names of piles of a card sort that were merged: the key of a name
        (:func:`hcviz.core.piles.name_key`) -> the name that it counts as.
    offered_items : OfferedItems or None
        New items of a second table, until the person has decided about them.
    """

    data: DataSpec = field(default_factory=DataSpec)
    labels: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    method: str = "ddt"
    constraint_mode: ConstraintMode = "hard"
    params: Mapping[str, Any] = field(default_factory=lambda: read_only({}))
    other_params: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: read_only({}))
    seed: int = 0
    run: int = -1
    status: Status = "idle"
    snapshot: Snapshot | None = None
    progress: tuple[int, int] = (0, 0)
    shown: int = -1
    lineage: int = -1
    warm_start: WarmStart = "snapshot"
    cause: str = ""
    message: str = ""
    error: tuple[str, str] | None = None
    conflict: Conflict | None = None
    next_id: int = 1
    past: tuple[Checkpoint, ...] = ()
    future: tuple[Checkpoint, ...] = ()
    log: tuple[LogEntry, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    look: Mapping[str, Any] = field(default_factory=lambda: read_only({}))
    keeps_tree: bool = False
    author: str = "you"
    author_weights: Mapping[str, float] = field(default_factory=lambda: read_only({}))
    disabled_by_author: tuple[int, ...] = ()
    choices: tuple[Choice, ...] = ()
    rerun_pending: bool = False
    reviewed: tuple[ReviewedPiece, ...] = ()
    reference: NDArray[np.int32] | None = None
    groups: tuple[Group, ...] = ()
    chosen_clusters: ChosenClusters | None = None
    second_version: SecondVersion | None = None
    pile_names: Mapping[str, str] = field(default_factory=lambda: read_only({}))
    offered_items: OfferedItems | None = None

    @property
    def is_soft(self) -> bool:
        """True if the method treats constraints as soft, so that they may contradict each other."""
        return self.constraint_mode == "soft"

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.labels)

    @property
    def tree(self) -> Tree | None:
        """The shown tree, or None."""
        return None if self.snapshot is None else self.snapshot.tree

    @property
    def order(self) -> NDArray[np.int32] | None:
        """The leaves from top to bottom as shown, int32 (n,); None without a tree."""
        return None if self.snapshot is None else shown_order(self.snapshot.tree, self.reference)

    @cached_property
    def enabled(self) -> tuple[Constraint, ...]:
        """The enabled constraints."""
        return tuple(each for each in self.constraints if each.enabled)

    @cached_property
    def triplets(self) -> Triplets:
        """The triplets of the enabled constraints in order, with the authors' weights."""
        return joined_triplets(self.enabled, self.author_weights)

    @cached_property
    def required_clades(self) -> Groups:
        """The groups that must be clades, of the enabled constraints, with the authors' weights."""
        found = [each for each in self.enabled if each.is_clade]
        weights = [each.weight * self.author_weights.get(each.author, 1.0) for each in found]
        return Groups([each.group for each in found], weights)

    @cached_property
    def avoided_clades(self) -> Groups:
        """The sets that are not groups, of the enabled constraints."""
        return Groups([each.group for each in self.enabled if each.is_not_group])

    @cached_property
    def comparisons(self) -> Comparisons | None:
        """The comparisons of the choices; None if there are no choices."""
        return comparisons_of(self.choices)

    def sentence_of(self, constraint: Constraint) -> str:
        """Return the constraint as a sentence, with the name of its group if it has one."""
        sentence = constraint.sentence(self.labels)
        if constraint.is_clade:
            name = self._name_of(frozenset(constraint.group))
            return f"{name}: {sentence}" if name else sentence
        return sentence

    def _name_of(self, items: frozenset[int]) -> str:
        """Return the name of the group that is most similar to a clade, as groups are placed.

        It has the highest Jaccard index, of one half or more. "" without one.
        """
        best, name = 0.5, ""
        for group in self.groups:
            common = len(items.intersection(group.members))
            index = common / (len(items) + len(group.members) - common)
            if index > best or (index == best and not name):
                best, name = index, group.name
        return name

    def find(self, constraint_id: int) -> Constraint | None:
        """Return the constraint with this id, or None."""
        return next((each for each in self.constraints if each.id == constraint_id), None)

    def find_group(self, group_id: str) -> Group | None:
        """Return the group with this id, or None."""
        return next((each for each in self.groups if each.id == group_id), None)


def joined_triplets(
    constraints: tuple[Constraint, ...], author_weights: Mapping[str, float] | None = None
) -> Triplets:
    """Return the triplets of all given constraints, enabled or not."""
    if not constraints:
        return Triplets()
    weights = [each.triplets.weights for each in constraints]
    if author_weights:
        factors = (author_weights.get(each.author, 1.0) for each in constraints)
        weights = [weight * factor for weight, factor in zip(weights, factors, strict=True)]
    return Triplets(
        np.concatenate([each.triplets.rows for each in constraints]), np.concatenate(weights)
    )


def joined_rows(constraints: Sequence[Constraint]) -> NDArray[np.int32]:
    """Return the rows for BUILD of all given constraints, enabled or not."""
    return np.concatenate([np.empty((0, 3), np.int32), *(each.rows for each in constraints)])


def equal_values(first: Any, second: Any) -> bool:
    """Return True if two sessions, or parts of them, hold the same values bit for bit. O(size)."""
    if first is second:
        return True
    if isinstance(first, np.ndarray):
        return (
            isinstance(second, np.ndarray)
            and first.dtype == second.dtype
            and first.shape == second.shape
            and first.tobytes() == second.tobytes()
        )
    if isinstance(first, Tree):
        return isinstance(second, Tree) and first == second
    if isinstance(first, Mapping):
        return (
            isinstance(second, Mapping)
            and list(first) == list(second)
            and all(equal_values(first[key], second[key]) for key in first)
        )
    if isinstance(first, (tuple, list)):
        return (
            type(first) is type(second)
            and len(first) == len(second)
            and all(equal_values(a, b) for a, b in zip(first, second, strict=True))
        )
    if isinstance(first, float) and isinstance(second, float):
        return np.float64(first).tobytes() == np.float64(second).tobytes()
    if type(first) is not type(second):
        return False
    if hasattr(first, "to_arrays"):
        return equal_values(first.to_arrays(), second.to_arrays())
    if hasattr(first, "__dataclass_fields__"):
        return all(
            equal_values(getattr(first, f.name), getattr(second, f.name)) for f in fields(first)
        )
    return bool(first == second)


__all__ = [
    "AddedRows",
    "Checkpoint",
    "Choice",
    "ChosenClusters",
    "Conflict",
    "Constraint",
    "DataSpec",
    "Group",
    "HistoryEntry",
    "LogEntry",
    "OfferedItems",
    "ReviewedPiece",
    "SecondVersion",
    "Session",
    "Statement",
    "Status",
    "equal_values",
    "joined_rows",
    "joined_triplets",
    "names_text",
    "sentence",
]
