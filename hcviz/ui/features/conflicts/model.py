"""State and texts of the conflict card: constraints that no tree satisfies together."""

from __future__ import annotations

from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.parameter_values import parameter_doc
from hcviz.session import actions as act
from hcviz.session.model import Constraint, Session
from hcviz.ui.state import default_method
from hcviz.ui.state.store import Store

#: A conflict with at most this many earlier answers shows each answer with its items.
MAX_ANSWERS_WITH_CHIPS = 4
#: Items of a group that are shown as buttons, at most.
MAX_CHIPS = 6


def state(store: Store) -> dict[str, Any] | None:
    """Return the conflict, its constraints and the ways to solve it; None without a conflict."""
    session = store.session
    conflict = session.conflict
    if conflict is None:
        return None
    by_id = {c.id: c for c in session.constraints}
    members = [by_id[i] for i in conflict.with_ids if i in by_id]
    new = by_id.get(conflict.constraint_id)
    few = new is not None and len(members) <= MAX_ANSWERS_WITH_CHIPS
    before = session.past[-1] if session.past else None
    has_new = before is not None and any(
        each.id == conflict.constraint_id for each in before.constraints
    )
    return {
        "id": conflict.constraint_id,
        "sentence": conflict.sentence,
        "waiting": [session.sentence_of(by_id[i]) for i in conflict.waiting if i in by_id],
        "members": [session.sentence_of(each) for each in members],
        "repairs": [
            {
                "id": i,
                "sentence": f"Keep the new answer, switch off: {session.sentence_of(by_id[i])}",
            }
            for i in conflict.repairs
            if i in by_id
        ],
        "answers": [_answer_state(store, each, each is new) for each in [*members, new] if each]
        if few
        else [],
        "undo": "" if before is None or has_new else before.label,
        "softs": _soft_choices(store),
    }


def _answer_state(store: Store, each: Constraint, is_new: bool) -> dict[str, Any]:
    """Return one constraint of the conflict, with a button for each item."""
    labels = store.session.labels

    def leaf(item: int) -> dict[str, Any]:
        return {"id": item, "name": labels[item]}

    return {
        "id": each.id,
        "sentence": store.session.sentence_of(each),
        "author": each.author,
        "isNew": is_new,
        "clade": "are not a group" if each.is_not_group else "are a group",
        "group": [leaf(item) for item in each.group[:MAX_CHIPS]],
        "more": max(0, len(each.group) - MAX_CHIPS),
        "apart": [leaf(item) for item in each.outsiders[:MAX_CHIPS]],
        "moreApart": max(0, len(each.outsiders) - MAX_CHIPS),
    }


def _members(session: Session) -> list[Constraint]:
    """Return the new constraint of the conflict, and those that it contradicts."""
    conflict = session.conflict
    ids = () if conflict is None else (conflict.constraint_id, *conflict.with_ids)
    return [each for each in session.constraints if each.id in ids]


def _soft_choices(store: Store) -> list[dict[str, str]]:
    """Return the ways to treat constraints as soft.

    These are the parameter of the present method, and the first method whose constraints are always
    soft.
    """
    found: list[dict[str, str]] = []
    session = store.session
    if any(each.is_not_group for each in _members(session)):
        return found  # no method makes "not a group" soft
    method = get_algorithm(session.method)
    if method.softened_by:
        what = method.params.param[method.softened_by]
        found.append(
            {
                "method": session.method,
                "text": f"Treat constraints as soft ({what.label})",
                "title": f"Switches all of them on. {what.label} is set in the method's form: "
                f"{parameter_doc(what)}",
            }
        )
    other = None if store.dataset is None else default_method.always_soft(store.problem)
    if other is not None and other is not method:
        found.append(
            {
                "method": other.name,
                "text": f"Treat constraints as soft: {other.title}",
                "title": f"Changes the method and switches all constraints on. {other.summary}",
            }
        )
    return found


def soften_action(store: Store, method: str) -> act.Soften | None:
    """Return the action that makes constraints soft; None if there is no conflict any more."""
    conflict = store.session.conflict
    if conflict is None or method not in {each["method"] for each in _soft_choices(store)}:
        return None
    values = get_algorithm(method).softening(store.problem)
    return act.Soften(method, values, (conflict.constraint_id, *conflict.waiting))
