"""Decide which of many constraints can be enabled together, and which conflict is explained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hcviz.session.assessment import contradicting, explain_conflict, is_consistent_set
from hcviz.session.model import Constraint, Session


def split_consistent(
    asked: Sequence[Constraint], others: Sequence[Constraint], n_items: int | None = None
) -> tuple[list[Constraint], list[Constraint]]:
    """Split ``asked`` into constraints that can be enabled and constraints that are refused.

    Parameters
    ----------
    asked : sequence of Constraint
        Each is tested together with ``others`` and with the earlier accepted ones.
    others : sequence of Constraint
        Consistent constraints.
    n_items : int, optional
        Number of items; by default one more than the constraints name.

    Returns
    -------
    taken, refused : list of Constraint
        Both in their order.

    Notes
    -----
    The next refused constraint is found by steps that double, then by bisection: O(log m) BUILDs
    for each refused constraint, where m constraints were taken since the last one.
    """
    if is_consistent_set([*others, *asked], n_items):
        return list(asked), []
    taken: list[Constraint] = []
    refused: list[Constraint] = []
    left = list(asked)
    while left:
        low, high = 0, 1  # the first `low` agree, the first `high` may not
        while is_consistent_set([*others, *taken, *left[:high]], n_items):
            if high == len(left):
                return taken + left, refused
            low, high = high, min(2 * high, len(left))
        while high - low > 1:
            middle = (low + high) // 2
            if is_consistent_set([*others, *taken, *left[:middle]], n_items):
                low = middle
            else:
                high = middle
        taken += left[:low]
        refused.append(left[low])
        left = left[low + 1 :]
    return taken, refused


def replace_constraints(session: Session, changed: Iterable[Constraint]) -> Session:
    """Return the session with these constraints in place of those with the same ids."""
    new = {each.id: each for each in changed}
    if not new:
        return session
    return replace(session, constraints=tuple(new.get(e.id, e) for e in session.constraints))


def update_conflict(session: Session, refused: Iterable[int]) -> Session:
    """Explain the first of the refused constraints that still contradicts others; the rest wait.

    Under a soft method there is no conflict.
    """
    found = map(session.find, dict.fromkeys(refused))
    off = [each for each in found if each is not None and not each.enabled]
    rejected = [] if session.is_soft else contradicting(off, session.enabled, session.n_items)
    if not rejected:
        return replace(session, conflict=None)
    conflict = explain_conflict(
        rejected[0], session.enabled, session.labels, session.sentence_of, session.n_items
    )
    waiting = tuple(each.id for each in rejected[1:])
    return replace(session, conflict=replace(conflict, waiting=waiting))


def disable_contradictions(session: Session) -> tuple[Session, int]:
    """Disable contradictory constraints for a method that is not soft; return how many.

    A soft method may have enabled contradictory constraints. In the order of the list, each one
    that contradicts those before it is disabled. The first conflict is explained.
    """
    if session.is_soft or is_consistent_set(session.enabled, session.n_items):
        return session, 0
    _, refused = split_consistent(session.enabled, (), session.n_items)
    session = replace_constraints(session, (replace(each, enabled=False) for each in refused))
    return update_conflict(session, [each.id for each in refused]), len(refused)
