"""Checkpoints, undo and redo, and the history of shown trees."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hcviz.core.snapshot import Mask, Snapshot
from hcviz.session.effects import CancelRun, Effect, ReloadData
from hcviz.session.model import Checkpoint, HistoryEntry, Session
from hcviz.session.packed_mask import PackedMask

#: Maximal numbers of undo steps and of trees in the history; the oldest are dropped first.
MAX_STEPS = 200
MAX_TREES = 100

#: Matrices and views of a snapshot above this number of bytes are not kept for undo.
MAX_ARRAY_BYTES = 256 * 1024

#: Masks above ``MAX_ARRAY_BYTES`` and up to the first number of bytes (50,000 items) are packed.
#: The second number limits the packed masks of each stack. The oldest are dropped first.
MAX_MASK_BYTES, MAX_PACKED_BYTES = 2 * 2**20, 16 * 2**20

#: Snapshot -> its reduced copy for undo, shared by all steps that show it.
_small_copies: WeakKeyDictionary[Snapshot, Snapshot] = WeakKeyDictionary()

_CHECKPOINT_FIELDS = tuple(each.name for each in fields(Checkpoint) if each.name != "label")

#: Fields that a step without a run does not change.
_RUN_FIELDS = (
    "status", "snapshot", "progress", "shown", "warm_start", "cause", "error", "reference",
)  # fmt: skip

UpdateResult = tuple[Session, tuple[Effect, ...]]


def checkpoint(session: Session, label: str) -> Checkpoint:
    """Return a checkpoint of the session. Large views are dropped, and large masks are packed."""
    kept = {name: getattr(session, name) for name in _CHECKPOINT_FIELDS}
    kept["snapshot"] = None if session.snapshot is None else _packed(session.snapshot)
    return Checkpoint(label=label, **kept)


def _packed(snapshot: Snapshot) -> Snapshot:
    """Return the reduced copy of a snapshot for undo."""
    if snapshot not in _small_copies:
        lighter = without_large_arrays(snapshot)
        masks: dict[str, Any] = {
            name: PackedMask.of(view)
            for name, view in snapshot.views.items()
            if isinstance(view, Mask) and MAX_ARRAY_BYTES < _bytes(view) <= MAX_MASK_BYTES
        }
        if masks:
            lighter = replace(lighter, views={**lighter.views, **masks})
        if lighter is snapshot:
            return snapshot
        _small_copies[snapshot] = lighter
    return _small_copies[snapshot]


def _unpacked(snapshot: Snapshot | None) -> Snapshot | None:
    """Return the snapshot with its masks unpacked."""
    if snapshot is None or not _masks(snapshot):
        return snapshot
    views = {
        name: view.mask() if isinstance(view, PackedMask) else view
        for name, view in snapshot.views.items()
    }
    return replace(snapshot, views=views)


def _masks(snapshot: Snapshot | None) -> int:
    """Return the size of the packed masks in bytes."""
    views = () if snapshot is None else snapshot.views.values()
    return sum(view.nbytes for view in views if isinstance(view, PackedMask))


def _limit_size(stack: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
    """Return the newest ``MAX_STEPS`` checkpoints. Old masks above the size limit are dropped."""
    stack = stack[-MAX_STEPS:]
    room, counted_ids = MAX_PACKED_BYTES, set()
    for at in range(len(stack) - 1, -1, -1):
        snapshot = stack[at].snapshot
        if snapshot is None or id(snapshot) in counted_ids or not _masks(snapshot):
            continue
        room -= _masks(snapshot)
        if room < 0:
            return tuple(map(_without_masks, stack[: at + 1])) + stack[at + 1 :]
        counted_ids.add(id(snapshot))
    return stack


def _without_masks(point: Checkpoint) -> Checkpoint:
    if point.snapshot is None or not _masks(point.snapshot):
        return point
    views = {k: v for k, v in point.snapshot.views.items() if not isinstance(v, PackedMask)}
    return replace(point, snapshot=replace(point.snapshot, views=views))


def without_large_arrays(snapshot: Snapshot, limit: int = MAX_ARRAY_BYTES) -> Snapshot:
    """Return the snapshot without matrices and views above ``limit`` bytes."""
    matrices = {k: v for k, v in snapshot.matrices.items() if v.nbytes <= limit}
    views = {k: v for k, v in snapshot.views.items() if _bytes(v) <= limit}
    if len(matrices) == len(snapshot.matrices) and len(views) == len(snapshot.views):
        return snapshot
    return replace(snapshot, matrices=matrices, views=views)


def _bytes(view: Any) -> int:
    return sum(part.nbytes for part in vars(view).values() if isinstance(part, np.ndarray))


def add_undo_step(session: Session, label: str) -> Session:
    """Push the present state onto the undo stack, before a change. The redo stack becomes empty.

    The trees of the redo stack stay in the history.
    """
    past = _limit_size((*session.past, checkpoint(session, label)))
    return replace(session, past=past, future=())


def rename_last_step(session: Session, label: str) -> Session:
    """Rename the newest undo step after a continued change, such as a moving slider."""
    past = (*session.past[:-1], replace(session.past[-1], label=label))
    return replace(session, past=past, future=())


def undo(session: Session) -> UpdateResult:
    """Restore the last checkpoint without a new run. The present state goes to the redo stack."""
    target = session.past[-1]
    here = checkpoint(session, target.label)
    moved = replace(session, past=session.past[:-1], future=_limit_size((*session.future, here)))
    return _restore_checkpoint(moved, target)


def redo(session: Session) -> UpdateResult:
    """Restore the next state of the redo stack without a new run."""
    target = session.future[-1]
    here = checkpoint(session, target.label)
    moved = replace(session, past=_limit_size((*session.past, here)), future=session.future[:-1])
    return _restore_checkpoint(moved, target)


def _restore_checkpoint(session: Session, target: Checkpoint) -> UpdateResult:
    """Restore the checkpoint's fields.

    If the step started no run (a note was edited, for example), the tree and a running job stay as
    they are. Otherwise the tree and the sampler's state are restored, and a running job is
    cancelled.
    """
    effects: tuple[Effect, ...] = ()
    values: dict[str, Any] = {name: getattr(target, name) for name in _CHECKPOINT_FIELDS}
    if target.lineage == session.lineage:
        for name in _RUN_FIELDS:
            del values[name]
    else:
        values["snapshot"] = _unpacked(target.snapshot)
        session = remember(session, session)
        if session.status == "sampling":
            effects += (CancelRun(session.run),)
        if target.status == "sampling":
            values["status"] = "idle"
    if target.data != session.data:
        effects += (ReloadData(target.data),)
    return replace(session, **values, conflict=None), effects


def answers_in_use(source: Session | Checkpoint) -> int:
    """Return the number of enabled constraints plus choices."""
    return sum(each.enabled for each in source.constraints) + len(source.choices)


def remember(session: Session, source: Session | Checkpoint) -> Session:
    """Add the tree shown in ``source`` to the history of ``session``, unless it is there."""
    snapshot = source.snapshot
    if snapshot is None or any(each.tree == snapshot.tree for each in session.history):
        return session
    entry = HistoryEntry(
        label=source.cause,
        n_constraints=answers_in_use(source),
        metrics=dict(snapshot.metrics),
        tree=snapshot.tree,
        run=source.shown,
        step=snapshot.step,
    )
    return replace(session, history=(*session.history, entry)[-MAX_TREES:])
