"""``Session``: everything that one person's work consists of, as one frozen value.

Views are functions of it, gestures are actions on it (:mod:`hcviz.session.update`). It holds no
data set, only the :class:`DataSpec` to get it again and the items' names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.session.actions import Action, ConstraintMode, read_only
from hcviz.session.choice import Choice, comparisons_of
from hcviz.session.constraint import Constraint, DataSpec, Statement, names_text, sentence
from hcviz.session.leaf_order import shown_order
from hcviz.session.reviewed import ReviewedPiece

Status = Literal["idle", "sampling", "settled", "failed", "cancelled"]

#: Where a run begins: at the shown snapshot with its state, at the shown tree, or at nothing.
WarmStart = Literal["nothing", "tree", "snapshot"]


@dataclass(frozen=True)
class Conflict:
    """An answer that cannot be switched on beside the others.

    ``with_ids``: the smallest set of enabled constraints found that it is at odds with (itself not
    among them): without any one of these the rest of the set agrees with it. ``repairs``: those of
    them whose disabling alone would let it be enabled. ``sentence`` says so with the items' names.
    ``smallest``: it is proven that no fewer are at odds with it. ``waiting``: other answers that
    were refused, in their order, whose turn comes when this one is settled.
    """

    constraint_id: int
    with_ids: tuple[int, ...]
    repairs: tuple[int, ...]
    sentence: str
    smallest: bool = True
    waiting: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What undo and redo put back, without a rerun: the fields of the same names in Session.

    ``label`` names the step that this stands before (in ``past``) or that leads to it
    (in ``future``).
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


@dataclass(frozen=True)
class LogEntry:
    """An action, and the moment it met: the current run, and the step of it that was shown.

    ``step`` is -1 where nothing of that run was on the screen yet. Arrivals of trees are the only
    actions that are not logged.
    """

    action: Action
    run: int
    step: int

    @property
    def time(self) -> str:
        return self.action.time


@dataclass(frozen=True, eq=False)
class HistoryEntry:
    """A tree that was shown: what led to it, under how many answers in use, how good."""

    label: str
    n_constraints: int
    metrics: Mapping[str, float]
    tree: Tree
    run: int
    step: int


@dataclass(frozen=True, eq=False)
class Session:
    """The state of one person's work.

    ``run`` is the number of the newest run (-1: none yet; the first is 0) and never falls.
    ``shown`` is the run that ``snapshot`` came from; ``lineage`` the run that the present state
    belongs to (older than ``run`` after an undo). ``warm_start`` is the most that a next run may take
    from what is shown: while nothing has arrived since another method, data set or seed was chosen,
    the state shown is not one of theirs. ``treats`` is how the method treats triplets;
    ``other_params`` remembers the parameters of methods that were used before. ``cause`` says what
    started the run. ``message`` is the last announcement, ``error`` a (message, hint). The enabled
    constraints always have a tree (what would contradict them is kept disabled), unless the method
    weighs them against each other (``is_soft``).
    ``author`` is whose answers new ones are; ``author_weights`` multiply the weights of an author's
    answers (1 where none is said); ``disabled_by_author`` are the answers that a switch of their author put
    aside, which the switch puts back.
    ``choices`` are answers about three items, which become comparisons beside the data's; those
    that came while a run was under way are ``rerun_pending`` the next one.
    ``seen`` are the pieces of trees that were asked about and about which nothing was stated.
    ``keeps_tree``: the trees of the run in progress are not shown. Its constraints hold in the tree
    on the screen, and it only updates what the sampler knows: its state, draws and supports.
    ``look`` is how the page looked when it was saved (heatmap, clusters); the page alone reads it.
    ``reference`` is the leaf order with which the run's trees are aligned: the order on the screen
    when the run began; at first the data's own (:mod:`hcviz.core.seriation`).
    Two sessions are equal when they are the same object; see ``same``.
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

    @property
    def is_soft(self) -> bool:
        """Whether the method weighs answers against each other, so that they may contradict."""
        return self.constraint_mode == "soft"

    @property
    def n_items(self) -> int:
        return len(self.labels)

    @property
    def tree(self) -> Tree | None:
        return None if self.snapshot is None else self.snapshot.tree

    @property
    def order(self) -> NDArray[np.int32] | None:
        """The leaves from top to bottom as they are shown, int32 (n,); None without a tree."""
        return None if self.snapshot is None else shown_order(self.snapshot.tree, self.reference)

    @cached_property
    def enabled(self) -> tuple[Constraint, ...]:
        return tuple(each for each in self.constraints if each.enabled)

    @cached_property
    def triplets(self) -> Triplets:
        """Those of the enabled constraints, in their order, with their authors' weights."""
        return joined_triplets(self.enabled, self.author_weights)

    @cached_property
    def comparisons(self) -> Comparisons | None:
        """Those that the choices make; None of none."""
        return comparisons_of(self.choices)

    def find(self, constraint_id: int) -> Constraint | None:
        return next((each for each in self.constraints if each.id == constraint_id), None)


def joined_triplets(
    constraints: tuple[Constraint, ...], author_weights: Mapping[str, float] | None = None
) -> Triplets:
    """The triplets of all these constraints, enabled or not."""
    if not constraints:
        return Triplets()
    weights = [each.triplets.weights for each in constraints]
    if author_weights:
        factors = (author_weights.get(each.author, 1.0) for each in constraints)
        weights = [weight * factor for weight, factor in zip(weights, factors, strict=True)]
    return Triplets(
        np.concatenate([each.triplets.rows for each in constraints]), np.concatenate(weights)
    )


def equal_values(first: Any, second: Any) -> bool:
    """Whether two sessions (or parts of them) hold the same values, bit for bit; O(their size)."""
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
    "Checkpoint",
    "Choice",
    "Conflict",
    "Constraint",
    "DataSpec",
    "HistoryEntry",
    "LogEntry",
    "ReviewedPiece",
    "Session",
    "Statement",
    "Status",
    "equal_values",
    "joined_triplets",
    "names_text",
    "sentence",
]
