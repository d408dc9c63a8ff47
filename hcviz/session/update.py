"""``update(session, action, methods) -> (session, effects)``: all behaviour, without side effects.

The rules of constraints are in :mod:`constraint_rules`, those of runs in :mod:`runs`, and those of
undo in :mod:`history`. This module has the table of rules, the rules of data, and the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from hcviz.core.errors import InvalidConstraint
from hcviz.session import actions as act
from hcviz.session import (
    card_sort_rules,
    choice_rules,
    cluster_rules,
    constraint_rules,
    experts,
    group_rules,
    new_item_rules,
    runs,
    second_version_rules,
)
from hcviz.session.conflicts import disable_contradictions
from hcviz.session.effects import Announce, CancelRun, Effect, ReloadData, StartRun
from hcviz.session.history import UpdateResult, add_undo_step, redo, undo
from hcviz.session.methods import Methods
from hcviz.session.model import LogEntry, ReviewedPiece, Session
from hcviz.session.restore import Restore
from hcviz.session.runs import announce, no_change, request_run

_BEGINNING = tuple(each.name for each in fields(act.SessionStarted) if each.name != "time")


def update(
    session: Session, action: act.Action, methods: Methods
) -> tuple[Session, tuple[Effect, ...]]:
    """Return the session after an action, and the effects that the store must perform.

    Parameters
    ----------
    session : Session
        Is not changed.
    action : Action
        What happened. A report of a run that is not the newest has no effect.
    methods : callable
        The registry's look-up, :func:`hcviz.algorithms.get`. It tells what a method does with
        constraints.

    Returns
    -------
    (Session, tuple of Effect)

    Raises
    ------
    HcvizError
        If the action is invalid, for example with an unknown item, method or weight. The session
        then stays as it is.

    Notes
    -----
    The function is pure: equal arguments give equal results.
    """
    if isinstance(action, Restore):
        return _restore(session, action, methods)
    if isinstance(action, (act.Arrived, act.Finished, act.Failed, act.Stopped)):
        if not runs.is_live(session, action.run):
            return no_change(session)
        if isinstance(action, act.Arrived):
            return runs.arrived(session, action)
    rule = _METHOD_RULES.get(type(action))
    if rule is not None:
        changed, effects = rule(session, action, methods)
    else:
        changed, effects = _RULES[type(action)](session, action)
    log = session.log or (log_entry(session, _beginning(session, action.time)),)
    return replace(changed, log=(*log, log_entry(session, action))), effects


def _beginning(session: Session, time: str) -> act.SessionStarted:
    return act.SessionStarted(time=time, **{name: getattr(session, name) for name in _BEGINNING})


def initial_session(action: act.SessionStarted) -> Session:
    """Return the session that the first entry of a log describes."""
    return Session(**{name: getattr(action, name) for name in _BEGINNING})


def log_entry(session: Session, action: act.Action) -> LogEntry:
    """Return the action with the present run and its shown step."""
    here = session.snapshot is not None and session.shown == session.run
    step_shown = session.snapshot.step if here and session.snapshot is not None else -1
    return LogEntry(action, session.run, int(step_shown))


# ---------------------------------------------------------------------- data


def _loaded(session: Session, action: act.LoadedData, methods: Methods) -> UpdateResult:
    """Set other data. The constraints stay if the labels are the same, else undo restores them."""
    text = f"{len(action.labels):,} items from {action.spec.filename or action.spec.name}."
    text += f" {action.note}" if action.note else ""
    before = add_undo_step(session, f"Data: {action.spec.filename or action.spec.name}")
    if action.method:
        method = methods(action.method)
        why = action.reason or f"as {methods(session.method).title} cannot run on this data"
        text += f" Method: {method.title}, {why}."
        other: dict[str, Any] = {
            "method": action.method,
            "constraint_mode": method.constraint_mode({}),
            "params": act.read_only({}),
        }
        session, before = (
            replace(session, **other),
            disable_contradictions(replace(before, **other))[0],
        )
    if not session.labels:
        session = replace(session, data=action.spec, labels=action.labels, reference=action.order)
        return request_run(session, text, "nothing")
    if action.labels == session.labels:
        return request_run(replace(before, data=action.spec), text, "tree")
    fresh = replace(
        before,
        data=action.spec,
        labels=action.labels,
        constraints=(),
        choices=(),
        groups=(),
        chosen_clusters=None,
        second_version=None,
        offered_items=None,
        pile_names=act.read_only({}),
        reviewed=(),
        conflict=None,
        snapshot=None,
        shown=-1,
        reference=action.order,
    )
    lost = [
        noun
        for noun, some in (
            ("answers", session.constraints or session.choices),
            ("groups", session.groups),
            ("chosen clusters", session.chosen_clusters),
        )
        if some
    ]
    if lost:
        text += f" The {' and '.join(lost)} of the earlier items come back with undo."
    return request_run(fresh, text, "nothing")


def _review_piece(session: Session, action: act.ReviewPiece) -> UpdateResult:
    piece = ReviewedPiece(action.items, action.clades, action.accepted)
    if max(piece.items, default=-1) >= session.n_items:
        raise InvalidConstraint(
            f"The piece has item {max(piece.items)}, but there are only {session.n_items} items."
        )
    return replace(session, reviewed=(*session.reviewed, piece)), ()


def _data_option(field: str, noun: str) -> Callable[[Session, Any], UpdateResult]:
    def rule(session: Session, action: Any) -> UpdateResult:
        if getattr(session.data, field) == action.kind:
            return no_change(session)
        text = f"{noun}: {action.kind}."
        spec = replace(session.data, **{field: action.kind})
        session, effects = request_run(
            replace(add_undo_step(session, text), data=spec), text, "tree"
        )
        return session, (ReloadData(spec), *effects)

    return rule


# ---------------------------------------------------------------------- history


def _undo(session: Session, action: act.Undo) -> UpdateResult:
    if not session.past:
        return announce(session, "There is nothing to undo.")
    session, effects = undo(session)
    return _shown_again(session, effects, f"Undone: {session.future[-1].label}")


def _redo(session: Session, action: act.Redo) -> UpdateResult:
    if not session.future:
        return announce(session, "There is nothing to redo.")
    session, effects = redo(session)
    return _shown_again(session, effects, f"Redone: {session.past[-1].label}")


def _shown_again(session: Session, effects: tuple[Effect, ...], text: str) -> UpdateResult:
    """Announce the restored state. If its run was interrupted before the first tree, run it."""
    if session.n_items and session.snapshot is None and session.status == "idle":
        session, more = request_run(session, session.cause, "nothing", text)
    else:
        session, more = announce(session, text)
    return session, effects + more


def _restore(session: Session, action: Restore, methods: Methods) -> UpdateResult:
    """Replace the session with the loaded one; nothing runs."""
    effects: tuple[Effect, ...] = (ReloadData(action.session.data),)
    if session.status == "sampling":
        effects = (CancelRun(session.run), *effects)
    announcement = Announce("The session is as it was saved.")
    return interrupted_session(action.session, methods, action.time), (*effects, announcement)


def interrupted_session(session: Session, methods: Methods, time: str) -> Session:
    """Return the session with its run interrupted; the same object if nothing runs."""
    if session.status != "sampling":
        return session
    return update(session, act.RunInterrupted(session.run, time=time), methods)[0]


def _resumed(session: Session, action: act.RunInterrupted) -> UpdateResult:
    """Mark the run in progress as over. Later reports of it have no effect."""
    status = "idle" if session.status == "sampling" else session.status
    return replace(session, run=action.run, status=status, rerun_pending=False), ()


#: The rules that depend on the method.
_METHOD_RULES: dict[type[act.Action], Callable[[Session, Any, Methods], UpdateResult]] = {
    act.LoadedData: _loaded,
    act.AddConstraint: constraint_rules.add,
    act.EnableConstraint: constraint_rules.enable,
    act.ImportConstraints: constraint_rules.import_all,
    act.ResolveConflict: constraint_rules.resolve,
    act.Soften: constraint_rules.soften,
    act.AddChoice: choice_rules.choose,
    act.RemoveChoice: choice_rules.take_back,
    act.AddComparisons: choice_rules.attach,
    act.DisableConstraint: constraint_rules.disable,
    act.DeleteConstraint: constraint_rules.delete,
    act.EnableAuthor: experts.switch,
    act.SetMethod: runs.set_method,
    act.SetParams: runs.set_params,
}

_RULES: dict[type[act.Action], Callable[[Session, Any], UpdateResult]] = {
    act.SetSimilarity: _data_option("similarity", "Similarity"),
    act.SetMissing: _data_option("missing", "Missing cells"),
    act.SetScaling: _data_option("scaling", "Scaling"),
    act.EditConstraint: constraint_rules.edit,
    act.DismissConflict: constraint_rules.dismiss,
    act.ReviewPiece: _review_piece,
    act.NameGroup: group_rules.name_group,
    act.EditGroup: group_rules.edit,
    act.SetGroupMembers: group_rules.set_members,
    act.RemoveGroup: group_rules.remove,
    act.ReplaceGroups: group_rules.replace_all,
    act.AcceptItems: new_item_rules.accept,
    act.OpenNewItems: new_item_rules.open_list,
    act.DecideNewItems: new_item_rules.decide,
    act.CloseNewItems: new_item_rules.close_list,
    act.ChooseClusters: cluster_rules.choose,
    act.OpenSecondVersion: second_version_rules.open_version,
    act.TakeOver: second_version_rules.take_over,
    act.KeepMine: second_version_rules.keep_mine,
    act.CloseSecondVersion: second_version_rules.close,
    act.MergePileNames: card_sort_rules.merge,
    act.SplitPileName: card_sort_rules.split,
    act.EnableParticipant: card_sort_rules.enable_participant,
    act.SetAuthor: experts.set_author,
    act.SetAuthorWeight: experts.weigh,
    act.SetSeed: runs.set_seed,
    act.Rerun: runs.rerun,
    act.RerunInterrupted: runs.rerun_interrupted,
    act.Cancel: runs.cancel,
    act.Finished: runs.finished,
    act.Failed: runs.failed,
    act.Stopped: runs.stopped,
    act.Undo: _undo,
    act.Redo: _redo,
    act.RunInterrupted: _resumed,
}

__all__ = [
    "Announce",
    "CancelRun",
    "Effect",
    "ReloadData",
    "StartRun",
    "initial_session",
    "interrupted_session",
    "log_entry",
    "update",
]
