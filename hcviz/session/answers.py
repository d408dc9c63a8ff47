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
)
from hcviz.session.history import Stepped, step
from hcviz.session.judge import (
    check_items,
    contradicts,
    explain,
    follows,
    is_repeat,
    judge_triplets,
)
from hcviz.session.model import Conflict, Constraint, Session
from hcviz.session.runs import IGNORED, begin, say, unchanged

GONE = "That constraint is no longer in the list."


def add(session: Session, action: AddConstraint) -> Stepped:
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
        return _switch_on(session, twins[0].id)
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
    return _judged_and_enabled(session, made)


def enable(session: Session, action: EnableConstraint) -> Stepped:
    return _switch_on(session, action.id)


def disable(session: Session, action: DisableConstraint) -> Stepped:
    found = session.find(action.id)
    if found is None:
        return say(session, GONE)
    if not found.enabled:
        return unchanged(session)
    text = f"Switched off: {found.sentence(session.labels)}."
    session = _with(step(session, text), replace(found, enabled=False))
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
    session = _with(step(session, text), edited)
    if session.treats == "soft" and edited.enabled and edited.weight != found.weight:
        return begin(session, text, "snapshot")
    return say(session, text)


def import_all(session: Session, action: ImportConstraints) -> Stepped:
    """One step for all: repeats left out, contradictions (in their order) kept disabled."""
    for each in action.constraints:
        check_items(session, each.group, each.apart)
    count = len(action.constraints)
    before = step(session, f"Add {_counted(count)}")
    kept, enabled = list(session.constraints), list(session.enabled)
    first: Constraint | None = None
    repeats = blocked = 0
    number = session.next_id
    for each in action.constraints:
        if any(is_repeat(old, each.group, each.apart, each.author) for old in kept):
            repeats += 1
            continue
        made = replace(each, id=number)
        number += 1
        if made.enabled and contradicts(made, enabled):
            made = replace(made, enabled=False)
            blocked += 1
            first = first or made
        kept.append(made)
        if made.enabled:
            enabled.append(made)
    text = f"{_counted(count - repeats)} added."
    if repeats:
        text += f" {_counted(repeats)} were in the list already."
    if blocked:
        text += f" {_counted(blocked)} contradict earlier ones and are kept switched off."
    if count == repeats:
        return say(session, text)
    changed = len(enabled) > len(session.enabled)
    session = replace(before, constraints=tuple(kept), next_id=number)
    conflict = None if first is None else _conflict(session, first)
    session = replace(_fresh(session), conflict=conflict) if conflict else _fresh(session)
    if changed and session.treats != "ignored":
        return begin(session, f"Add {_counted(count)}", "snapshot", text)
    return say(session, f"{text} {IGNORED}" if changed else text)


def resolve(session: Session, action: ResolveConflict) -> Stepped:
    """The person's choice of which answers to believe, as one step."""
    found = session.find(action.enable_id)
    if found is None:
        return say(session, GONE)
    off = tuple(
        replace(each, enabled=False) for each in session.enabled if each.id in action.disable_ids
    )
    text = f"Switched on: {found.sentence(session.labels)}."
    session = replace(step(session, text), conflict=None)
    for each in off:
        session = _with(session, each)
    return _judged_and_enabled(session, replace(found, enabled=False), always=bool(off))


def dismiss(session: Session, action: DismissConflict) -> Stepped:
    return unchanged(replace(session, conflict=None))


# ---------------------------------------------------------------------- shared


def _switch_on(session: Session, constraint_id: int) -> Stepped:
    found = session.find(constraint_id)
    if found is None:
        return say(session, GONE)
    if found.enabled:
        return unchanged(session)
    conflict = _conflict(session, found)
    if conflict is not None:  # nothing in the list changes: not a step
        return say(replace(session, conflict=conflict), conflict.sentence)
    return _judged_and_enabled(
        step(session, f"Switched on: {found.sentence(session.labels)}."), found
    )


def _judged_and_enabled(session: Session, made: Constraint, always: bool = False) -> Stepped:
    """Enable ``made``, which is in the list and disabled, and run where that is of use.

    Nothing runs for what earlier answers imply (a running sampler obeys it as it is), nor for a
    lock while nothing runs (the tree shown obeys it). ``always``: other answers changed too.
    """
    conflict = _conflict(session, made)
    if conflict is not None:
        text = conflict.sentence
        stepped = say(replace(session, conflict=conflict), text)
        if not always:
            return stepped
        session, _ = stepped
        return begin(session, text, "snapshot")
    kind = judge_triplets(session.tree, session.triplets, session.n_items, made.group, made.apart)
    session = _fresh(_with(session, replace(made, enabled=True)))
    said = made.sentence(session.labels)
    if session.treats == "ignored":
        return say(session, f"Kept: {said}. {IGNORED}")
    if session.treats == "hard" and not always and session.tree is not None:
        if kind == "implied":
            return say(session, f"Kept: {said}. It follows from earlier answers.")
        if kind == "lock" and session.status != "sampling":
            return say(session, f"Locked: {said}. It is true of this tree already.")
    verb = "Locked" if kind == "lock" else "Applied"
    return begin(session, said, "snapshot", f"{verb}: {said}.")


def _after_removal(session: Session, gone: Constraint, text: str) -> Stepped:
    """Run on under fewer answers, unless the method, or what is left, makes that pointless."""
    if session.treats == "ignored":
        return say(session, text)
    if session.treats == "hard":
        rows, wanted = session.triplets.rows, gone.triplets.rows
        if follows(max(session.n_items, 1), rows, wanted):
            return say(session, f"{text} It follows from the others still.")
    return begin(session, text, "snapshot")


def _with(session: Session, changed: Constraint) -> Session:
    """The list with this constraint in the place of the one of its id."""
    return replace(
        session,
        constraints=tuple(changed if e.id == changed.id else e for e in session.constraints),
    )


def _conflict(session: Session, made: Constraint) -> Conflict | None:
    others = [each for each in session.enabled if each.id != made.id]
    return explain(made, others, session.labels) if contradicts(made, others) else None


def _fresh(session: Session) -> Session:
    """The conflict shown, told anew after the list changed; forgotten where there is none left."""
    shown = session.conflict
    if shown is None:
        return session
    about = session.find(shown.constraint_id)
    still = about is not None and not about.enabled
    return replace(session, conflict=_conflict(session, about) if about and still else None)


def _counted(number: int) -> str:
    return f"{number} constraint" if number == 1 else f"{number} constraints"


def consistent(constraints: Iterable[Constraint]) -> bool:
    """Whether the enabled ones among these have a tree: the invariant of every session."""
    enabled = [each for each in constraints if each.enabled]
    return not enabled or not contradicts(enabled[-1], enabled[:-1])
