"""``update(session, action, methods) -> (session, effects)``: all behaviour, no side effects.

The rules of constraints are in :mod:`answers`, of runs in :mod:`runs`, of undo in :mod:`history`;
here is the table, the data's rules and the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from hcviz.core.errors import InvalidConstraint
from hcviz.session import actions as act
from hcviz.session import answers, choices, experts, runs
from hcviz.session.effects import Announce, CancelRun, Effect, ReloadData, StartRun
from hcviz.session.history import Stepped, redo, step, undo
from hcviz.session.mend import mended
from hcviz.session.methods import Methods
from hcviz.session.model import LogEntry, Seen, Session
from hcviz.session.restore import Restore
from hcviz.session.runs import begin, say, unchanged

_BEGINNING = tuple(each.name for each in fields(act.Began) if each.name != "time")


def update(
    session: Session, action: act.Action, methods: Methods
) -> tuple[Session, tuple[Effect, ...]]:
    """What the session becomes, and what the Store has to do for it.

    Pure: equal arguments, equal results, nothing changed in place. ``methods`` is the registry's
    look-up (:func:`hcviz.algorithms.get`), the one source of what a method does with constraints.
    Raises :class:`HcvizError` (a constraint that names no item, a weight that is none, an unknown
    method) and then nothing has happened. Reports of runs that are not the newest are dropped
    without a trace.
    """
    if isinstance(action, Restore):
        return _restore(session, action, methods)
    if isinstance(action, (act.Arrived, act.Finished, act.Failed, act.Stopped)):
        if not runs.is_live(session, action.run):
            return unchanged(session)
        if isinstance(action, act.Arrived):
            return runs.arrived(session, action)
    rule = _METHOD_RULES.get(type(action))
    if rule is not None:
        changed, effects = rule(session, action, methods)
    else:
        changed, effects = _RULES[type(action)](session, action)
    log = session.log or (log_entry(session, _beginning(session, action.time)),)
    return replace(changed, log=(*log, log_entry(session, action))), effects


def _beginning(session: Session, time: str) -> act.Began:
    return act.Began(time=time, **{name: getattr(session, name) for name in _BEGINNING})


def begun(action: act.Began) -> Session:
    """The session that a log's first entry tells of."""
    return Session(**{name: getattr(action, name) for name in _BEGINNING})


def log_entry(session: Session, action: act.Action) -> LogEntry:
    """The action, with the run and the step of it that it met."""
    here = session.snapshot is not None and session.shown == session.run
    step_shown = session.snapshot.step if here and session.snapshot is not None else -1
    return LogEntry(action, session.run, int(step_shown))


# ---------------------------------------------------------------------- data


def _loaded(session: Session, action: act.LoadedData, methods: Methods) -> Stepped:
    """Other data. Under the same names the constraints stay; else they stay behind, in undo."""
    text = f"{len(action.labels):,} items from {action.spec.filename or action.spec.name}."
    text += f" {action.said}" if action.said else ""
    before = step(session, f"Data: {action.spec.filename or action.spec.name}")
    if action.method:
        why = action.why or f"as {session.method} cannot run on this data"
        text += f" Method: {action.method}, {why}."
        other: dict[str, Any] = {
            "method": action.method,
            "treats": methods(action.method).constraint_mode({}),
            "params": act.frozen({}),
        }
        session, before = replace(session, **other), mended(replace(before, **other))[0]
    if not session.labels:
        session = replace(session, data=action.spec, labels=action.labels, reference=action.order)
        return begin(session, text, "nothing")
    if action.labels == session.labels:
        return begin(replace(before, data=action.spec), text, "tree")
    fresh = replace(
        before,
        data=action.spec,
        labels=action.labels,
        constraints=(),
        choices=(),
        seen=(),
        conflict=None,
        snapshot=None,
        shown=-1,
        reference=action.order,
    )
    if session.constraints or session.choices:
        text += " The answers about the earlier items come back with undo."
    return begin(fresh, text, "nothing")


def _looked(session: Session, action: act.Look) -> Stepped:
    seen = Seen(action.items, action.clades, action.accepted)
    if max(seen.items, default=-1) >= session.n_items:
        raise InvalidConstraint(
            f"The piece has item {max(seen.items)}, but there are only {session.n_items} items."
        )
    return replace(session, seen=(*session.seen, seen)), ()


def _data_option(field: str, noun: str) -> Callable[[Session, Any], Stepped]:
    def rule(session: Session, action: Any) -> Stepped:
        if getattr(session.data, field) == action.kind:
            return unchanged(session)
        text = f"{noun}: {action.kind}."
        spec = replace(session.data, **{field: action.kind})
        session, effects = begin(replace(step(session, text), data=spec), text, "tree")
        return session, (ReloadData(spec), *effects)

    return rule


# ---------------------------------------------------------------------- history


def _undo(session: Session, action: act.Undo) -> Stepped:
    if not session.past:
        return say(session, "There is nothing to undo.")
    session, effects = undo(session)
    session, said = say(session, f"Undone: {session.future[-1].label}")
    return session, effects + said


def _redo(session: Session, action: act.Redo) -> Stepped:
    if not session.future:
        return say(session, "There is nothing to redo.")
    session, effects = redo(session)
    session, said = say(session, f"Done again: {session.past[-1].label}")
    return session, effects + said


def _restore(session: Session, action: Restore, methods: Methods) -> Stepped:
    """The loaded session as it is, with nothing running."""
    effects: tuple[Effect, ...] = (ReloadData(action.session.data),)
    if session.status == "sampling":
        effects = (CancelRun(session.run), *effects)
    said = Announce("The session is as it was saved.")
    return at_rest(action.session, methods, action.time), (*effects, said)


def at_rest(session: Session, methods: Methods, time: str) -> Session:
    """The session with its run interrupted, as a file holds it; itself if nothing runs."""
    if session.status != "sampling":
        return session
    return update(session, act.Resumed(session.run, time=time), methods)[0]


def _resumed(session: Session, action: act.Resumed) -> Stepped:
    """The run that was in progress is over, and no report of it counts."""
    status = "idle" if session.status == "sampling" else session.status
    return replace(session, run=action.run, status=status, awaiting=False), ()


#: The rules that depend on what a method does.
_METHOD_RULES: dict[type[act.Action], Callable[[Session, Any, Methods], Stepped]] = {
    act.LoadedData: _loaded,
    act.AddConstraint: answers.add,
    act.EnableConstraint: answers.enable,
    act.ImportConstraints: answers.import_all,
    act.ResolveConflict: answers.resolve,
    act.Soften: answers.soften,
    act.Choose: choices.choose,
    act.TakeBack: choices.take_back,
    act.Attach: choices.attach,
    act.SwitchAuthor: experts.switch,
    act.SetMethod: runs.set_method,
    act.SetParams: runs.set_params,
}

_RULES: dict[type[act.Action], Callable[[Session, Any], Stepped]] = {
    act.SetSimilarity: _data_option("similarity", "Similarity"),
    act.SetMissing: _data_option("missing", "Missing cells"),
    act.SetScaling: _data_option("scaling", "Scaling"),
    act.DisableConstraint: answers.disable,
    act.DeleteConstraint: answers.delete,
    act.EditConstraint: answers.edit,
    act.DismissConflict: answers.dismiss,
    act.Look: _looked,
    act.SetAuthor: experts.set_author,
    act.WeighAuthor: experts.weigh,
    act.SetSeed: runs.set_seed,
    act.Rerun: runs.rerun,
    act.Cancel: runs.cancel,
    act.Finished: runs.finished,
    act.Failed: runs.failed,
    act.Stopped: runs.stopped,
    act.Undo: _undo,
    act.Redo: _redo,
    act.Resumed: _resumed,
}

__all__ = [
    "Announce",
    "CancelRun",
    "Effect",
    "ReloadData",
    "StartRun",
    "at_rest",
    "begun",
    "log_entry",
    "update",
]
