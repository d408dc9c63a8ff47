"""What runs after constraints were switched on: nothing, or nothing that changes the tree, if they
hold in the tree on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from hcviz.session.history import Stepped
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session, joined
from hcviz.session.runs import IGNORED, begin, say

SAMPLING = "Sampling goes on, and the tree stays."


def applied(
    session: Session, added: Sequence[Constraint], cause: str, text: str, methods: Methods
) -> Stepped:
    """Run under the constraints ``added``, which were just enabled; ``text`` is announced.

    If all of them hold in the tree on the screen, that tree stays, whether or not the method treats
    constraints as hard. A sampler goes on in the background, since the supports change. Any other
    method has nothing to do. While a run is changing the tree, it starts again under them.
    """
    if session.constraint_mode == "ignored":
        return say(session, f"{text} {IGNORED}")
    if changes_tree(session) or not holds(session, added):
        return begin(session, cause, "snapshot", text)
    text += f" {'It is' if len(added) == 1 else 'They are'} true of this tree already."
    if methods(session.method).samples:
        return begin(session, cause, "snapshot", f"{text} {SAMPLING}", keeps_tree=True)
    return say(session, text)


def changes_tree(session: Session) -> bool:
    """Whether a run is in progress whose trees are shown."""
    return session.status == "sampling" and not session.keeps_tree


def holds(session: Session, constraints: Sequence[Constraint]) -> bool:
    """Whether the tree on the screen satisfies all of these. False without a tree."""
    tree = session.tree
    if tree is None or tree.n_leaves != session.n_items:
        return False
    return bool(tree.satisfies(joined(tuple(constraints))).all())


__all__ = ["SAMPLING", "applied", "changes_tree", "holds"]
