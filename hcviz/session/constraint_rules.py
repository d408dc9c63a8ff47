"""The rules of constraints: which are enabled, which are refused, and when a run starts.

The enabled constraints are always consistent, except under a soft method. A constraint that would
contradict them is kept disabled, and the conflict is explained. Nothing is deleted automatically.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hcviz.core.text import count_noun
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
    read_only,
)
from hcviz.session.applying import apply_constraints
from hcviz.session.assessment import (
    assess_statement,
    check_items,
    contradicts,
    is_consistent_set,
    is_implied,
    is_repeat,
)
from hcviz.session.conflicts import (
    replace_constraints,
    split_consistent,
    update_conflict,
)
from hcviz.session.group_rules import check_groups, moved_members
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session, joined_rows
from hcviz.session.runs import announce, no_change, request_run

GONE = "That constraint is no longer in the list."


def add(session: Session, action: AddConstraint, methods: Methods) -> UpdateResult:
    """Add a constraint. It is enabled unless it contradicts others.

    If it is enabled, the members of the group ``action.into`` change with it, and so do the locks
    of all groups that get or lose items.
    """
    target = session.find_group(action.into)
    if target is None:
        return _add(session, action, methods, session.constraints)
    groups = moved_members(session.groups, target, action.group)
    check_groups(groups, session.n_items)
    new = {
        frozenset(old.members): () if old.id == target.id else group.members
        for old, group in zip(session.groups, groups, strict=True)
        if old.members != group.members
    }
    locks = _moved_locks(session.constraints, new, session.n_items)
    after, effects = _add(session, action, methods, locks)
    twins = (each for each in after.constraints if each.enabled)
    if not any(each.states_same(action.group, action.apart) for each in twins):
        kept, effects = _add(session, action, methods, session.constraints)
        if after.conflict is None or kept.conflict is None:
            return kept, effects
        # The locks would have moved with the items, so they are not what contradicts.
        return announce(replace(kept, conflict=after.conflict), after.conflict.sentence)
    if after.past == session.past:  # the constraint was in the list
        if not session.is_soft and not enabled_are_consistent(locks, session.n_items):
            return after, effects
        text = f"Moved into {target.name}"
        after = replace(add_undo_step(after, text), constraints=locks)
        if locks != session.constraints:
            after, effects = apply_constraints(after, after.enabled, text, f"{text}.", methods)
    return replace(after, groups=groups), effects


def _moved_locks(
    constraints: tuple[Constraint, ...],
    new: Mapping[frozenset[int], tuple[int, ...]],
    n_items: int,
) -> tuple[Constraint, ...]:
    """Return the constraints with the locks of groups on their ``new`` members.

    A lock of fewer than two items, or of all items, is left out: it has no effect.
    """
    found = []
    for each in constraints:
        items = new.get(frozenset(each.group)) if each.is_clade else None
        if items is None:
            found.append(each)
        elif 1 < len(items) < n_items:
            found.append(replace(each, group=items))
    return tuple(found)


def _add(
    session: Session, action: AddConstraint, methods: Methods, before: tuple[Constraint, ...]
) -> UpdateResult:
    """Add a constraint to those ``before``, in one step from ``session``."""
    check_items(session, action.group, action.apart)
    twins = [
        each
        for each in session.constraints
        if is_repeat(each, action.group, action.apart, action.author)
    ]
    if any(each.enabled for each in twins):
        return announce(
            session, f"{session.sentence_of(twins[0])}: this constraint is already in the list."
        )
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
        add_undo_step(session, f"Add: {session.sentence_of(made)}"),
        constraints=(*before, made),
        next_id=made.id + 1,
    )
    return _enable_if_consistent(session, made, methods)


def enable(session: Session, action: EnableConstraint, methods: Methods) -> UpdateResult:
    return _switch_on(session, action.id, methods)


def disable(session: Session, action: DisableConstraint, methods: Methods) -> UpdateResult:
    found = session.find(action.id)
    if found is None:
        return announce(session, GONE)
    if not found.enabled:
        return no_change(session)
    text = f"Switched off: {session.sentence_of(found)}."
    session = replace_constraints(add_undo_step(session, text), [replace(found, enabled=False)])
    return _after_removal(_updated_conflict(session), found, text, methods)


def delete(session: Session, action: DeleteConstraint, methods: Methods) -> UpdateResult:
    found = session.find(action.id)
    if found is None:
        return announce(session, GONE)
    text = f"Deleted: {session.sentence_of(found)}."
    left = tuple(each for each in session.constraints if each.id != found.id)
    session = _updated_conflict(replace(add_undo_step(session, text), constraints=left))
    if not found.enabled:
        return announce(session, text)
    return _after_removal(session, found, text, methods)


def edit(session: Session, action: EditConstraint) -> UpdateResult:
    found = session.find(action.id)
    if found is None:
        return announce(session, GONE)
    edited = replace(
        found,
        note=found.note if action.note is None else action.note,
        weight=found.weight if action.weight is None else action.weight,
        author=found.author if action.author is None else action.author,
    )
    if edited == found:
        return no_change(session)
    text = f"Edited: {session.sentence_of(found)}."
    session = replace_constraints(add_undo_step(session, text), [edited])
    if session.constraint_mode == "soft" and edited.enabled and edited.weight != found.weight:
        return request_run(session, text, "snapshot")
    return announce(session, text)


def import_all(session: Session, action: ImportConstraints, methods: Methods) -> UpdateResult:
    """Add many constraints in one step. Repeats are left out, contradictions disabled."""
    for each in action.constraints:
        check_items(session, each.group, each.apart)
    count = len(action.constraints)
    label = f"Add {action.source}{count_noun(count, 'constraint')}"
    before = add_undo_step(session, label)
    known = {_repeat_key(each) for each in session.constraints}
    made: list[Constraint] = []
    for each in action.constraints:
        if _repeat_key(each) not in known:
            known.add(_repeat_key(each))
            made.append(replace(each, id=session.next_id + len(made)))
    repeats = count - len(made)
    number = session.next_id + len(made)
    taken = [each for each in made if each.enabled]
    refused: list[int] = []
    if not session.is_soft:
        taken, off = split_consistent(taken, session.enabled, session.n_items)
        refused = [each.id for each in off]
        switched_off = set(refused)
        made = [replace(e, enabled=False) if e.id in switched_off else e for e in made]
    text = f"{action.source}{count_noun(count - repeats, 'constraint')} added."
    if repeats:
        were = "was" if repeats == 1 else "were"
        text += f" {count_noun(repeats, 'constraint')} {were} in the list already."
    if len(refused) == 1:
        text += " 1 constraint contradicts earlier ones and is kept switched off."
    elif refused:
        text += f" {count_noun(len(refused), 'constraint')} contradict earlier ones"
        text += " and are kept switched off."
    if count == repeats:
        return announce(session, text)
    session = replace(before, constraints=(*session.constraints, *made), next_id=number)
    session = update_conflict(session, (*refused, *_refused_ids(session)))
    return (
        apply_constraints(session, taken, label, text, methods)
        if taken
        else announce(session, text)
    )


def resolve(session: Session, action: ResolveConflict, methods: Methods) -> UpdateResult:
    """Enable a refused constraint and disable those that the person chose, in one step.

    Other refused constraints that are now consistent are enabled too.
    """
    found = session.find(action.enable_id)
    if found is None:
        return announce(session, GONE)
    off = tuple(
        replace(each, enabled=False) for each in session.enabled if each.id in action.disable_ids
    )
    text = f"Switched on: {session.sentence_of(found)}."
    waiting = tuple(each for each in _refused_ids(session) if each != found.id)
    session = replace(add_undo_step(session, text), conflict=None)
    session = replace_constraints(session, off)
    made = replace(found, enabled=False)
    return _enable_if_consistent(session, made, methods, bool(off), waiting)


def soften(session: Session, action: Soften, methods: Methods) -> UpdateResult:
    """Switch to a soft method in one step; answers may then contradict each other."""
    text = f"Constraints are soft: {action.method}."
    other = action.method != session.method
    remembered = dict(session.other_params)
    params = dict(session.params)
    if other:
        remembered[session.method] = session.params
        params = dict(remembered.pop(action.method, {}))
    params |= action.values
    on = [each for each in map(session.find, action.enable_ids) if each is not None]
    session = replace(
        add_undo_step(session, text),
        method=action.method,
        constraint_mode=methods(action.method).constraint_mode(params),
        params=read_only(params),
        other_params=read_only(remembered),
        conflict=None,
    )
    session = replace_constraints(session, (replace(each, enabled=True) for each in on))
    note = f"{text} {count_noun(len(on), 'constraint')} switched on as well." if on else text
    return request_run(session, text, "tree" if other else "snapshot", note)


def dismiss(session: Session, action: DismissConflict) -> UpdateResult:
    """Explain the next refused constraint, or none."""
    return no_change(update_conflict(session, () if action.all else _refused_ids(session)[1:]))


# ---------------------------------------------------------------------- shared


def _switch_on(session: Session, constraint_id: int, methods: Methods) -> UpdateResult:
    found = session.find(constraint_id)
    if found is None:
        return announce(session, GONE)
    if found.enabled:
        return no_change(session)
    free, _ = _without_ignored_not_groups(session, found, methods)
    if not session.is_soft and contradicts(found, free.enabled, session.n_items):
        # the list does not change, so there is no undo step
        return _refuse(session, found)
    session = add_undo_step(session, f"Switched on: {session.sentence_of(found)}.")
    return _enable_if_consistent(session, found, methods)


def _enable_if_consistent(
    session: Session,
    made: Constraint,
    methods: Methods,
    always: bool = False,
    waiting: tuple[int, ...] = (),
) -> UpdateResult:
    """Enable a constraint that is in the list and disabled, and start a run where that is useful.

    A constraint that follows from earlier ones starts no run under a hard method. ``always``: other
    constraints have changed too, so a run starts. ``waiting``: refused constraints that are enabled
    too if they are now consistent.
    """
    session, note = _without_ignored_not_groups(session, made, methods)
    others = [each for each in session.enabled if each.id != made.id]
    if not session.is_soft and contradicts(made, others, session.n_items):
        session, effects = _refuse(session, made, waiting)
        return request_run(session, session.message, "snapshot") if always else (session, effects)
    kind = assess_statement(session, made.group, made.apart)
    made = replace(made, enabled=True)
    session = replace_constraints(session, [made])
    free = [each for each in map(session.find, waiting) if each is not None and not each.enabled]
    free, _ = split_consistent(free, session.enabled, session.n_items)
    free = [replace(each, enabled=True) for each in free]
    session = replace_constraints(session, free)
    freed = len(free)
    session = update_conflict(session, (*_refused_ids(session), *waiting))
    sentence = session.sentence_of(made)
    more = (
        f" {count_noun(freed, 'constraint')} refused before"
        f" {'is' if freed == 1 else 'are'} enabled too."
        if freed
        else ""
    )
    hard = session.constraint_mode == "hard"
    if hard and kind == "implied" and not (always or freed or note) and session.tree is not None:
        return announce(session, f"Kept: {sentence}. It follows from earlier answers.")
    verb = (
        "Kept"
        if session.constraint_mode == "ignored"
        or (made.is_not_group and not methods(session.method).avoids_groups)
        else "Locked"
        if kind == "holds"
        else "Applying"
        if kind == "correction"
        else "Applied"
    )
    return apply_constraints(
        session, [made, *free], sentence, f"{note}{verb}: {sentence}.{more}", methods
    )


def _without_ignored_not_groups(
    session: Session, made: Constraint, methods: Methods
) -> tuple[Session, str]:
    """Disable what contradicts ``made`` and the method cannot keep; return a sentence about it.

    These are constraints that items are not a group, if the rest agrees with ``made``.
    """
    if session.is_soft or made.is_not_group or methods(session.method).avoids_groups:
        return session, ""
    others = [each for each in session.enabled if each.id != made.id]
    not_groups = [each for each in others if each.is_not_group]
    rest = [*(each for each in others if not each.is_not_group), made]
    if not not_groups or not is_consistent_set(rest, session.n_items):
        return session, ""
    _, refused = split_consistent(not_groups, rest, session.n_items)
    session = replace_constraints(session, (replace(each, enabled=False) for each in refused))
    if not refused:
        return session, ""
    text = " and ".join(f"“{session.sentence_of(each)}”" for each in refused)
    if len(refused) > 2:
        text = count_noun(len(refused), "constraint")
    return session, f"Switched off, as this method cannot keep it: {text}. "


def _after_removal(session: Session, gone: Constraint, text: str, methods: Methods) -> UpdateResult:
    """Start a run with fewer constraints, unless the removal cannot change the tree."""
    if session.constraint_mode == "ignored":
        return announce(session, text)
    rest = joined_rows(session.enabled)
    if session.constraint_mode == "hard" and is_implied(session.n_items, rest, gone):
        return announce(session, f"{text} The other answers still imply it.")
    if gone.is_not_group and not methods(session.method).avoids_groups:
        return announce(session, text)
    return request_run(session, text, "snapshot")


def _repeat_key(each: Constraint) -> tuple[frozenset[int], frozenset[int], bool, str]:
    """Return the key by which repeats are found (see :func:`assessment.is_repeat`)."""
    return frozenset(each.group), frozenset(each.outsiders), each.is_not_group, each.author


def _refused_ids(session: Session) -> tuple[int, ...]:
    """Return the refused constraints: the one that is explained, then those that wait."""
    shown = session.conflict
    return () if shown is None else (shown.constraint_id, *shown.waiting)


def _refuse(session: Session, made: Constraint, waiting: tuple[int, ...] = ()) -> UpdateResult:
    """Explain ``made``, which contradicts others, before the other refused constraints."""
    session = update_conflict(session, (made.id, *_refused_ids(session), *waiting))
    return announce(session, session.conflict.sentence if session.conflict else "")


def _updated_conflict(session: Session) -> Session:
    """Explain the conflict again after the list has changed."""
    return session if session.conflict is None else update_conflict(session, _refused_ids(session))


def enabled_are_consistent(constraints: Iterable[Constraint], n_items: int) -> bool:
    """Return True if some tree satisfies all enabled constraints among these."""
    return is_consistent_set([each for each in constraints if each.enabled], n_items)
