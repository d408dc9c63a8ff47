"""What may be switched on together: sorting out many answers at once, and telling who waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hcviz.session.assessment import contradicting, explain_conflict, is_consistent_set
from hcviz.session.model import Constraint, Session


def split_consistent(
    asked: Sequence[Constraint], others: Sequence[Constraint]
) -> tuple[list[Constraint], list[Constraint]]:
    """``asked``, each judged beside ``others`` (which have a tree) and those taken before it.

    Returns (taken, refused), both in their order. The next that is refused is looked for in strides
    that double, then by bisection: O(log m) BUILDs for each of those refused, where m is how many
    were taken since the one before.
    """
    if is_consistent_set([*others, *asked]):
        return list(asked), []
    taken: list[Constraint] = []
    refused: list[Constraint] = []
    left = list(asked)
    while left:
        low, high = 0, 1  # the first `low` agree, the first `high` may not
        while is_consistent_set([*others, *taken, *left[:high]]):
            if high == len(left):
                return taken + left, refused
            low, high = high, min(2 * high, len(left))
        while high - low > 1:
            middle = (low + high) // 2
            if is_consistent_set([*others, *taken, *left[:middle]]):
                low = middle
            else:
                high = middle
        taken += left[:low]
        refused.append(left[low])
        left = left[low + 1 :]
    return taken, refused


def replace_constraints(session: Session, changed: Iterable[Constraint]) -> Session:
    """The list with each of these in the place of the one of its id."""
    new = {each.id: each for each in changed}
    if not new:
        return session
    return replace(session, constraints=tuple(new.get(e.id, e) for e in session.constraints))


def update_conflict(session: Session, refused: Iterable[int]) -> Session:
    """The first of these explained that is still at odds, the others waiting; or none.

    Where answers are weighed against each other (soft methods) none is at odds.
    """
    found = map(session.find, dict.fromkeys(refused))
    off = [each for each in found if each is not None and not each.enabled]
    clashing = [] if session.is_soft else contradicting(off, session.enabled)
    if not clashing:
        return replace(session, conflict=None)
    conflict = explain_conflict(clashing[0], session.enabled, session.labels)
    waiting = tuple(each.id for each in clashing[1:])
    return replace(session, conflict=replace(conflict, waiting=waiting))


def disable_contradictions(session: Session) -> tuple[Session, int]:
    """The session as a method that does not weigh answers can have it, and how many were refused.

    Contradictory answers that a soft method was given together: in the order of the list each is
    kept that has a tree with those before it, the others are switched off, the first explained.
    """
    if session.is_soft or is_consistent_set(session.enabled):
        return session, 0
    _, refused = split_consistent(session.enabled, ())
    session = replace_constraints(session, (replace(each, enabled=False) for each in refused))
    return update_conflict(session, [each.id for each in refused]), len(refused)


def count_text(number: int) -> str:
    return f"{number} constraint" if number == 1 else f"{number} constraints"
