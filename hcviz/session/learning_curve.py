"""What a session has learnt: the trees that its answers led to, and how much they knew beforehand.

A *state* is what stood on the screen under some number of answers. States are read from the undo
stack and the present, so that a step taken back is taken off the curve as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hcviz.core.tree import Tree
from hcviz.session.constraint import Constraint
from hcviz.session.model import Checkpoint, Session, joined_triplets


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """The last tree that was shown under ``answers``, the constraints enabled then."""

    answers: tuple[Constraint, ...]
    tree: Tree


@dataclass(frozen=True)
class HeldOutScore:
    """Under ``answers`` answers: of the ``held`` that were not yet given, ``true`` held already."""

    answers: int
    true: int
    held: int

    @property
    def share(self) -> float:
        return self.true / self.held


def curve_points(session: Session) -> tuple[CurvePoint, ...]:
    """One for each number of answers under which a tree was shown, by that number.

    Where there were several under one number (a run goes on, a step is taken back), the latest. A
    moment at which no tree had come yet from the run that an answer started is left out: what stood
    there was still the tree of the answers before. O(undo steps x constraints).
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
    """For each state, how many of the present answers that it was not told were true of its tree.

    The answers that are enabled now are each a question that earlier trees could have got right
    unasked. States that had been told all of them are left out. An answer counts as true if all of
    its triplets hold. Its noise: with h answers held out the share has a standard error of up to
    0.5 / sqrt(h), and h falls along the curve. O(states x answers).
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
    """How many of the constraints the tree satisfies, each as a whole."""
    if not constraints:
        return 0
    good = tree.satisfies(joined_triplets(tuple(constraints)))
    starts = np.cumsum([0, *(len(each.triplets) for each in constraints[:-1])])
    return int(np.logical_and.reduceat(good, starts).sum())


def _moments(session: Session) -> Iterator[Session | Checkpoint]:
    """Those of the undo stack over the items of today, oldest first, and the present."""
    for moment in session.past:
        if moment.labels == session.labels:
            yield moment
    yield session
