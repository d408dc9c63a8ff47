"""Decide what runs after constraints were enabled.

Constraints that hold in the shown tree do not change the tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from hcviz.session.history import UpdateResult
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session
from hcviz.session.runs import IGNORED_TEXT, announce, request_run

NOT_AVOIDED_TEXT = "This method cannot keep that items are not a group. The sampler (DDT) can."
SAMPLING_TEXT = "Sampling continues, and the tree stays."
SEARCHING_TEXT = "The run goes on, so other branches may still change."


def apply_constraints(
    session: Session, added: Sequence[Constraint], cause: str, text: str, methods: Methods
) -> UpdateResult:
    """Start the run that the newly enabled constraints ``added`` need, and announce ``text``.

    If all of them hold in the shown tree, that tree stays, under hard and soft methods. A sampler
    continues in the background, because the supports change. Other methods do not run. If a run is
    changing the tree, it starts again with the new constraints.

    Under a hard method the tree stays only if all enabled constraints hold in it. An earlier one
    may not, if its run was cancelled, failed or undone before its first tree.
    """
    if session.constraint_mode == "ignored":
        return announce(session, f"{text} {IGNORED_TEXT}")
    wanted = session.enabled if session.constraint_mode == "hard" else added
    if not methods(session.method).avoids_groups:
        kept = [each for each in added if not each.is_not_group]
        text += "" if len(kept) == len(added) else f" {NOT_AVOIDED_TEXT}"
        if not kept:
            return announce(session, text)
        added = kept
        wanted = [each for each in wanted if not each.is_not_group]
    is_satisfied = satisfied_by_shown_tree(session, wanted)
    if is_satisfied and is_tree_changing(session):
        return request_run(session, cause, "snapshot", f"{text} {SEARCHING_TEXT}")
    if not is_satisfied:
        return request_run(session, cause, "snapshot", text)
    text += f" {'It is' if len(added) == 1 else 'They are'} true in this tree already."
    if methods(session.method).samples:
        return request_run(session, cause, "snapshot", f"{text} {SAMPLING_TEXT}", keeps_tree=True)
    return announce(session, text)


def is_tree_changing(session: Session) -> bool:
    """Return True if the run in progress changes the shown tree."""
    return session.status == "sampling" and not session.keeps_tree


def satisfied_by_shown_tree(session: Session, constraints: Sequence[Constraint]) -> bool:
    """Return True if the shown tree satisfies all of these; False without a tree."""
    tree = session.tree
    if tree is None or tree.n_leaves != session.n_items:
        return False
    return all(each.holds_in(tree) for each in constraints)


__all__ = ["SAMPLING_TEXT", "apply_constraints", "is_tree_changing", "satisfied_by_shown_tree"]
