"""The rules of comparisons: choices among three items, and files of comparisons.

A run follows where the method reads comparisons.
"""

from __future__ import annotations

from dataclasses import replace

from hcviz.core.errors import InvalidConstraint
from hcviz.session.actions import AddChoice, AddComparisons, RemoveChoice
from hcviz.session.choice import Choice, check_choice
from hcviz.session.effects import ReloadData
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.methods import Methods, reads_comparisons
from hcviz.session.model import Session
from hcviz.session.runs import announce, request_run


def choose(session: Session, action: AddChoice, methods: Methods) -> UpdateResult:
    """Add a choice. A method that reads comparisons then runs again.

    During a run, the next run waits for its end. Otherwise quick answers would cancel each other's
    trees.
    """
    made = Choice(action.question, action.items, action.author, action.time)
    check_choice(made, session.n_items)
    text = f"{made.sentence(session.labels)}."
    session = replace(add_undo_step(session, f"Answer: {text}"), choices=(*session.choices, made))
    if not reads_comparisons(methods, session):
        return announce(session, f"{text} {session.method} does not read such answers.")
    return _run(session, f"Answer: {text}", text)


def take_back(session: Session, action: RemoveChoice, methods: Methods) -> UpdateResult:
    """Remove a choice; the others keep their order."""
    kept = list(session.choices)
    if not 0 <= action.at < len(kept):
        raise InvalidConstraint(
            f"There is no answer {action.at + 1} to remove: there are {len(kept)}."
        )
    text = f"Taken back: {kept.pop(action.at).sentence(session.labels)}."
    session = replace(add_undo_step(session, text), choices=tuple(kept))
    is_used = reads_comparisons(methods, session)
    return _run(session, text, text) if is_used else announce(session, text)


def attach(session: Session, action: AddComparisons, methods: Methods) -> UpdateResult:
    """Add the file to the data."""
    answers = (*session.data.answers, (action.filename, action.content))
    spec = replace(session.data, answers=answers)
    session = replace(add_undo_step(session, f"Comparisons: {action.filename}"), data=spec)
    if reads_comparisons(methods, session):
        session, effects = _run(session, f"Comparisons: {action.filename}.", action.note)
    else:
        text = f"{action.note} {session.method} does not read such answers."
        session, effects = announce(session, text)
    return session, (ReloadData(spec), *effects)


def _run(session: Session, cause: str, text: str) -> UpdateResult:
    if session.status == "sampling":
        return announce(replace(session, rerun_pending=True), text)
    return request_run(session, cause, "snapshot", text)
