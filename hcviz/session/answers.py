"""The rules of constraints: what is kept, what is switched off, when something runs.

Nothing is ever deleted for the person, and the enabled constraints always have a tree: one that
would contradict them is kept disabled, with the conflict explained.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hcviz.session.actions import (
    AddConstraint,
    DeleteConstraint,
    DisableConstraint,
    DismissConflict,
    EditConstraint,
    EnableConstraint,
    ImportConstraints,
    ResolveConflict,
    Soften,
    frozen,
)
from hcviz.session.applying import applied
from hcviz.session.history import Stepped, step
from hcviz.session.judge import (
    agree,
    check_items,
    contradicts,
    follows,
    is_repeat,
    judge_triplets,
)
from hcviz.session.mend import counted, sorted_out, told, with_all
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session
from hcviz.session.runs import begin, say, unchanged

GONE = "That constraint is no longer in the list."


def add(session: Session, action: AddConstraint, methods: Methods) -> Stepped:
    """Keep the answer, enabled unless it contradicts; an exact repeat changes nothing."""
    check_items(session, action.group, action.apart)
    twins = [
        each
        for each in session.constraints
        if is_repeat(each, action.group, action.apart, action.author)
    ]
    if any(each.enabled for each in twins):
        return say(session, f"{twins[0].sentence(session.labels)}: this is said already.")
    if twins:
        return _switch_on(session, twins[0].id, methods)
    made = Constraint(
        session.next_id,
        action.group,
        action.apart,
        author=action.author,
        weight=action.weight,
        note=action.note,
        enabled=False,
        time=action.time,
    )
    session = replace(
        step(session, f"Add: {made.sentence(session.labels)}"),
        constraints=(*session.constraints, made),
        next_id=made.id + 1,
    )
    return _judged_and_enabled(session, made, methods)


def enable(session: Session, action: EnableConstraint, methods: Methods) -> Stepped:
    return _switch_on(session, action.id, methods)


def disable(session: Session, action: DisableConstraint) -> Stepped:
    found = session.find(action.id)
    if found is None:
        return say(session, GONE)
    if not found.enabled:
        return unchanged(session)
    text = f"Switched off: {found.sentence(session.labels)}."
    session = with_all(step(session, text), [replace(found, enabled=False)])
    return _after_removal(_fresh(session), found, text)


def delete(session: Session, action: DeleteConstraint) -> Stepped:
    found = session.find(action.id)
    if found is None:
        return say(session, GONE)
    text = f"Deleted: {found.sentence(session.labels)}."
    left = tuple(each for each in session.constraints if each.id != found.id)
    session = _fresh(replace(step(session, text), constraints=left))
    return _after_removal(session, found, text) if found.enabled else say(session, text)


def edit(session: Session, action: EditConstraint) -> Stepped:
    found = session.find(action.id)
    if found is None:
        return say(session, GONE)
    edited = replace(
        found,
        note=found.note if action.note is None else action.note,
        weight=found.weight if action.weight is None else action.weight,
        author=found.author if action.author is None else action.author,
    )
    if edited == found:
        return unchanged(session)
    text = f"Edited: {found.sentence(session.labels)}."
    session = with_all(step(session, text), [edited])
    if session.treats == "soft" and edited.enabled and edited.weight != found.weight:
        return begin(session, text, "snapshot")
    return say(session, text)


def import_all(session: Session, action: ImportConstraints, methods: Methods) -> Stepped:
    """One step for all: repeats left out, contradictions kept disabled and explained in turn."""
    for each in action.constraints:
        check_items(session, each.group, each.apart)
    count = len(action.constraints)
    label = f"Add {action.source}{counted(count)}"
    before = step(session, label)
    known = {_said(each) for each in session.constraints}
    made: list[Constraint] = []
    for each in action.constraints:
        if _said(each) not in known:
            known.add(_said(each))
            made.append(replace(each, id=session.next_id + len(made)))
    repeats = count - len(made)
    number = session.next_id + len(made)
    taken = [each for each in made if each.enabled]
    refused: list[int] = []
    if not session.weighs:
        taken, off = sorted_out(taken, session.enabled)
        refused = [each.id for each in off]
        switched_off = set(refused)
        made = [replace(e, enabled=False) if e.id in switched_off else e for e in made]
    text = f"{action.source}{counted(count - repeats)} added."
    if repeats:
        text += f" {counted(repeats)} {'was' if repeats == 1 else 'were'} in the list already."
    if len(refused) == 1:
        text += " 1 constraint contradicts earlier ones and is kept switched off."
    elif refused:
        text += f" {counted(len(refused))} contradict earlier ones and are kept switched off."
    if count == repeats:
        return say(session, text)
    session = replace(before, constraints=(*session.constraints, *made), next_id=number)
    session = told(session, (*refused, *_refused(session)))
    return applied(session, taken, label, text, methods) if taken else say(session, text)


def resolve(session: Session, action: ResolveConflict, methods: Methods) -> Stepped:
    """The person's choice of which answers to believe, as one step.

    Others that were refused, and that nothing contradicts any more, are switched on with it.
    """
    found = session.find(action.enable_id)
    if found is None:
        return say(session, GONE)
    off = tuple(
        replace(each, enabled=False) for each in session.enabled if each.id in action.disable_ids
    )
    text = f"Switched on: {found.sentence(session.labels)}."
    waiting = tuple(each for each in _refused(session) if each != found.id)
    session = replace(step(session, text), conflict=None)
    session = with_all(session, off)
    made = replace(found, enabled=False)
    return _judged_and_enabled(session, made, methods, bool(off), waiting)


def soften(session: Session, action: Soften, methods: Methods) -> Stepped:
    """Nobody is right alone: contradictory answers count by their weights, as one step."""
    text = f"Answers are weighed: {action.method}."
    other = action.method != session.method
    remembered = dict(session.other_params)
    params = dict(session.params)
    if other:
        remembered[session.method] = session.params
        params = dict(remembered.pop(action.method, {}))
    params |= action.values
    on = [each for each in map(session.find, action.enable_ids) if each is not None]
    session = replace(
        step(session, text),
        method=action.method,
        treats=methods(action.method).constraint_mode(params),
        params=frozen(params),
        other_params=frozen(remembered),
        conflict=None,
    )
    session = with_all(session, (replace(each, enabled=True) for each in on))
    note = f"{text} {counted(len(on))} switched on beside the others." if on else text
    return begin(session, text, "tree" if other else "snapshot", note)


def dismiss(session: Session, action: DismissConflict) -> Stepped:
    """The next of those that were refused has its turn, unless all are left."""
    return unchanged(told(session, () if action.all else _refused(session)[1:]))


# ---------------------------------------------------------------------- shared


def _switch_on(session: Session, constraint_id: int, methods: Methods) -> Stepped:
    found = session.find(constraint_id)
    if found is None:
        return say(session, GONE)
    if found.enabled:
        return unchanged(session)
    if not session.weighs and contradicts(
        found, session.enabled
    ):  # nothing in the list changes: not a step
        return _explained(session, found)
    session = step(session, f"Switched on: {found.sentence(session.labels)}.")
    return _judged_and_enabled(session, found, methods)


def _judged_and_enabled(
    session: Session,
    made: Constraint,
    methods: Methods,
    always: bool = False,
    waiting: tuple[int, ...] = (),
) -> Stepped:
    """Enable ``made``, which is in the list and disabled, and run where that is of use.

    Nothing runs for what earlier answers imply: a running sampler satisfies it as it is.
    ``always``: other answers changed too. Of ``waiting``, refused before, those are enabled with it
    that nothing contradicts now.
    """
    others = [each for each in session.enabled if each.id != made.id]
    if not session.weighs and contradicts(made, others):
        session, said_so = _explained(session, made, waiting)
        return begin(session, session.message, "snapshot") if always else (session, said_so)
    kind = judge_triplets(
        session.tree, session.triplets, session.n_items, made.group, made.apart, session.weighs
    )
    made = replace(made, enabled=True)
    session = with_all(session, [made])
    free = [each for each in map(session.find, waiting) if each is not None and not each.enabled]
    free, _ = sorted_out(free, session.enabled)
    free = [replace(each, enabled=True) for each in free]
    session = with_all(session, free)
    freed = len(free)
    session = told(session, (*_refused(session), *waiting))
    said = made.sentence(session.labels)
    more = f" {counted(freed)} refused before can now be true as well." if freed else ""
    hard = session.treats == "hard"
    if hard and kind == "implied" and not always and not freed and session.tree is not None:
        return say(session, f"Kept: {said}. It follows from earlier answers.")
    verb = "Kept" if session.treats == "ignored" else "Locked" if kind == "lock" else "Applied"
    return applied(session, [made, *free], said, f"{verb}: {said}.{more}", methods)


def _after_removal(session: Session, gone: Constraint, text: str) -> Stepped:
    """Run on under fewer answers, unless the method, or what is left, makes that pointless."""
    if session.treats == "ignored":
        return say(session, text)
    if session.treats == "hard":
        rows, wanted = session.triplets.rows, gone.triplets.rows
        if follows(max(session.n_items, 1), rows, wanted):
            return say(session, f"{text} It follows from the others still.")
    return begin(session, text, "snapshot")


def _said(each: Constraint) -> tuple[frozenset[int], int, str]:
    """What of a constraint makes another one a repeat (see :func:`judge.is_repeat`)."""
    return frozenset(each.group), each.apart, each.author


def _refused(session: Session) -> tuple[int, ...]:
    """The answers at odds: the one explained, then those whose turn comes."""
    shown = session.conflict
    return () if shown is None else (shown.constraint_id, *shown.waiting)


def _explained(session: Session, made: Constraint, waiting: tuple[int, ...] = ()) -> Stepped:
    """``made``, which is at odds, has its turn before the others."""
    session = told(session, (made.id, *_refused(session), *waiting))
    return say(session, session.conflict.sentence if session.conflict else "")


def _fresh(session: Session) -> Session:
    """What is at odds, told anew after the list changed."""
    return session if session.conflict is None else told(session, _refused(session))


def consistent(constraints: Iterable[Constraint]) -> bool:
    """Whether the enabled ones among these have a tree: so it is, unless a method weighs them."""
    return agree([each for each in constraints if each.enabled])
