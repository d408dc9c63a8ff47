"""The learning curve: the trees that the answers of a session led to, and how good they are.

A *state* is the tree on the page under some number of answers. States are read from the undo stack
and the present, so an undone step is not on the curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hcviz.core.tree import Tree
from hcviz.session.constraint import Constraint
from hcviz.session.model import Checkpoint, Session


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """The last tree that was shown under the enabled constraints ``answers``."""

    answers: tuple[Constraint, ...]
    tree: Tree


@dataclass(frozen=True)
class HeldOutScore:
    """Under ``answers`` answers, ``true`` of the ``held`` later answers were satisfied already."""

    answers: int
    true: int
    held: int

    @property
    def share(self) -> float:
        """The share of satisfied later answers."""
        return self.true / self.held


def curve_points(session: Session) -> tuple[CurvePoint, ...]:
    """Return one point for each number of answers under which a tree was shown, in that order.

    If several trees were shown under one number, the latest counts. A state is left out if the run
    of its last answer had not delivered a tree yet. O(undo steps x constraints).
    """
    latest: dict[int, CurvePoint] = {}
    for moment in _moments(session):
        snapshot = moment.snapshot
        if snapshot is None or moment.shown != moment.lineage:
            continue
        answers = tuple(each for each in moment.constraints if each.enabled)
        latest[len(answers)] = CurvePoint(answers, snapshot.tree)
    return tuple(latest[count] for count in sorted(latest))


def held_out_scores(session: Session) -> tuple[HeldOutScore, ...]:
    """Return, for each state, how many later answers its tree satisfied already.

    States that had all answers are left out. An answer is satisfied if all of its triplets are.
    With h held-out answers, the share has a standard error of up to 0.5 / sqrt(h); h falls along
    the curve. O(states x answers).
    """
    now = session.enabled
    found = []
    for state in curve_points(session):
        known = {each.id for each in state.answers}
        held = tuple(each for each in now if each.id not in known)
        if held:
            found.append(
                HeldOutScore(len(state.answers), count_satisfied(state.tree, held), len(held))
            )
    return tuple(found)


def count_satisfied(tree: Tree, constraints: Sequence[Constraint]) -> int:
    """Return how many of the constraints the tree satisfies; each counts as a whole."""
    return sum(each.holds_in(tree) for each in constraints)


def _moments(session: Session) -> Iterator[Session | Checkpoint]:
    """Yield the states of the undo stack with the present items, oldest first, then the present."""
    for moment in session.past:
        if moment.labels == session.labels:
            yield moment
    yield session
