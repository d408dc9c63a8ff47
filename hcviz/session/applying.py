"""What runs after constraints were switched on: nothing, or nothing that changes the tree, if they
hold in the tree on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from hcviz.session.history import UpdateResult
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session, joined_triplets
from hcviz.session.runs import IGNORED_TEXT, announce, start_run

SAMPLING_TEXT = "Sampling goes on, and the tree stays."


def apply_constraints(
    session: Session, added: Sequence[Constraint], cause: str, text: str, methods: Methods
) -> UpdateResult:
    """Run under the constraints ``added``, which were just enabled; ``text`` is announced.

    If all of them hold in the tree on the screen, that tree stays, whether or not the method treats
    constraints as hard. A sampler goes on in the background, since the supports change. Any other
    method has nothing to do. While a run is changing the tree, it starts again under them.
    """
    if session.constraint_mode == "ignored":
        return announce(session, f"{text} {IGNORED_TEXT}")
    if is_tree_changing(session) or not satisfied_by_shown_tree(session, added):
        return start_run(session, cause, "snapshot", text)
    text += f" {'It is' if len(added) == 1 else 'They are'} true of this tree already."
    if methods(session.method).samples:
        return start_run(session, cause, "snapshot", f"{text} {SAMPLING_TEXT}", keeps_tree=True)
    return announce(session, text)


def is_tree_changing(session: Session) -> bool:
    """Whether a run is in progress whose trees are shown."""
    return session.status == "sampling" and not session.keeps_tree


def satisfied_by_shown_tree(session: Session, constraints: Sequence[Constraint]) -> bool:
    """Whether the tree on the screen satisfies all of these. False without a tree."""
    tree = session.tree
    if tree is None or tree.n_leaves != session.n_items:
        return False
    return bool(tree.satisfies(joined_triplets(tuple(constraints))).all())


__all__ = ["SAMPLING_TEXT", "apply_constraints", "is_tree_changing", "satisfied_by_shown_tree"]
