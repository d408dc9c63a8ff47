"""Several people's answers: how much each counts, a switch for each, and where they agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.build import chain_triplets
from hcviz.core.conflict import smallest_conflict
from hcviz.core.errors import InvalidConstraint
from hcviz.session.actions import SetAuthor, SwitchAuthor, WeighAuthor, frozen
from hcviz.session.applying import applied
from hcviz.session.history import Stepped, step
from hcviz.session.judge import follows
from hcviz.session.mend import counted, sorted_out, told, with_all
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session, Statement
from hcviz.session.runs import begin, say, unchanged

Int = NDArray[np.int32]

#: A name that is longer is a sentence.
LONGEST = 60
#: The BUILD work allowed for one pair's agreement, in rows looked at: a quarter of a second.
WORK_LIMIT = 2_000_000
#: A BUILD costs about this many rows however few it is given.
OVERHEAD = 400
#: Disagreements that are told; the others are counted.
TOLD = 12


# ---------------------------------------------------------------------- rules


def set_author(session: Session, action: SetAuthor) -> Stepped:
    """Whose the next answers are."""
    name = " ".join(action.name.split())
    if not name or len(name) > LONGEST:
        raise InvalidConstraint(
            f"An author's name has 1 to {LONGEST} characters, not {len(name)}.",
            "It is what stands beside each answer.",
        )
    if name == session.author:
        return unchanged(session)
    return say(replace(session, author=name), f"New answers are by {name}.")


def weigh(session: Session, action: WeighAuthor) -> Stepped:
    """Runs on where the method weighs answers; else it is kept for one that does."""
    weight = check_weight(action.weight)
    if session.author_weights.get(action.author, 1.0) == weight:
        return unchanged(session)
    text = f"Weight of {action.author}: {weight:g}."
    weights = {**session.author_weights, action.author: weight}
    session = replace(step(session, text), author_weights=frozen(weights))
    if not any(each.author == action.author for each in session.enabled):
        return say(session, text)
    if session.weighs:
        return begin(session, text, "snapshot")
    return say(session, f"{text} This method does not weigh answers: it counts with one that does.")


def check_weight(weight: float) -> float:
    """The weight; :class:`InvalidConstraint` unless it is a positive number."""
    if not (math.isfinite(weight) and weight > 0):
        raise InvalidConstraint(
            f"The weight of an author is positive, not {weight:g}.",
            "Switch an author off to leave their answers out.",
        )
    return float(weight)


def switch(session: Session, action: SwitchAuthor, methods: Methods) -> Stepped:
    """One step for all of an author's answers.

    On: those that the switch put aside; where there are none, all of them. What contradicts the
    answers in use stays off and is explained.
    """
    theirs = [each for each in session.constraints if each.author == action.author]
    rested = [each for each in theirs if each.id in session.resting and not each.enabled]
    if action.on:
        asked = rested or [each for each in theirs if not each.enabled]
        return _switch_on(session, action.author, asked, methods)
    off = [each for each in theirs if each.enabled]
    if not off:
        return unchanged(session)
    text = f"{action.author}: {counted(len(off))} switched off."
    aside = [each.id for each in off]
    rest = tuple(dict.fromkeys((*_others(session, action.author), *aside)))
    session = with_all(step(session, text), (replace(each, enabled=False) for each in off))
    shown = session.conflict
    refused = () if shown is None else (shown.constraint_id, *shown.waiting)
    session = told(replace(session, resting=rest), refused)
    if session.treats == "ignored":
        return say(session, text)
    return begin(session, text, "snapshot")


def _switch_on(session: Session, author: str, asked: list[Constraint], methods: Methods) -> Stepped:
    if not asked:
        return unchanged(session)
    taken, refused = (asked, []) if session.weighs else sorted_out(asked, session.enabled)
    text = f"{author}: {counted(len(taken))} switched on."
    if refused:
        text += f" {len(refused)} at odds with others stay off."
    before = session if not taken else step(session, text)
    session = with_all(before, (replace(each, enabled=True) for each in taken))
    shown = session.conflict
    waiting = () if shown is None else (shown.constraint_id, *shown.waiting)
    session = told(session, (*(each.id for each in refused), *waiting))
    if not taken:  # nothing in the list changed: not a step
        return say(session, text)
    session = replace(session, resting=_others(session, author))
    return applied(session, taken, text, text, methods)


def _others(session: Session, author: str) -> tuple[int, ...]:
    """What rests of other authors' answers, and of this one's what is there no more."""
    theirs = {each.id for each in session.constraints if each.author == author}
    return tuple(each for each in session.resting if each not in theirs)


# ---------------------------------------------------------------------- who says what


@dataclass(frozen=True)
class Expert:
    """One author: ``said`` answers, of which ``used`` are switched on; ``weight`` of each."""

    name: str
    said: int
    used: int
    weight: float


def experts(session: Session) -> tuple[Expert, ...]:
    """All whose answers are in the list, and whose answers come next, in the order they began."""
    names = dict.fromkeys([*(each.author for each in session.constraints), session.author])
    return tuple(
        Expert(
            name,
            sum(each.author == name for each in session.constraints),
            sum(each.author == name for each in session.enabled),
            session.author_weights.get(name, 1.0),
        )
        for name in names
    )


# ---------------------------------------------------------------------- agreement


@dataclass(frozen=True)
class Disagreement:
    """Answer ``id`` of the first, which has no tree with ``with_ids``: answers of the second, and
    of the first where both are needed."""

    id: int
    with_ids: tuple[int, ...]


@dataclass(frozen=True)
class Agreement:
    """How two authors' answers stand to each other.

    Of the triples of items that both of them name and that either states something about (ab|c),
    for ``alike`` it follows from the other's answers, for ``against`` it contradicts them, for
    ``open`` neither.
    ``looked_at`` of ``stated`` were looked at: all, unless that took too long. ``clashes``: answers
    of the first that contradict the second's, up to :data:`TOLD`; ``n_clashes``: all of them.
    """

    first: str
    second: str
    shared: int
    alike: int
    against: int
    open: int
    stated: int
    looked_at: int
    clashes: tuple[Disagreement, ...]
    n_clashes: int

    @property
    def share(self) -> float | None:
        """alike / (alike + against), the triplet agreement; None where neither was found."""
        known = self.alike + self.against
        return self.alike / known if known else None


def agreements(session: Session) -> tuple[Agreement, ...]:
    """Every two authors; what an author said counts whether or not it is switched on.

    (An answer is often off just because it contradicts another author's.) Where authors contradict
    themselves, what is switched on goes first, then the order of the list.
    """
    names = dict.fromkeys(each.author for each in session.constraints)
    said = {
        name: tuple(
            (each.id, each.statement, each.enabled)
            for each in session.constraints
            if each.author == name
        )
        for name in names
    }
    return tuple(_agreement(a, said[a], b, said[b]) for a, b in combinations(names, 2))


_Said = tuple[tuple[int, Statement, bool], ...]
_Row = tuple[int, int, int]


@lru_cache(maxsize=32)
def _agreement(first: str, mine: _Said, second: str, theirs: _Said) -> Agreement:
    ours, others = _consistent(mine), _consistent(theirs)
    shared = _items(ours) & _items(others)
    here = _pairs(ours, shared)
    done = {frozenset(row) for row in here}
    there = [row for row in _pairs(others, shared) if frozenset(row) not in done]
    counts = np.zeros(3, np.int64)
    for rows, other in ((here, others), (there, ours)):
        known = _Known(other)
        for row in _thinned(rows, max(1, WORK_LIMIT // (6 * known.cost))):  # 3 BUILDs, 2 sides
            counts[known.says(row)] += 1
    clashes, n_clashes = _clashes(ours, others)
    alike, against, unsaid = (int(count) for count in counts)
    return Agreement(
        first, second, len(shared), alike, against, unsaid, len(here) + len(there),
        alike + against + unsaid, clashes, n_clashes,
    )  # fmt: skip


def _thinned(rows: list[_Row], most: int) -> list[_Row]:
    """At most so many of them, evenly."""
    if len(rows) <= most:
        return rows
    return [rows[k] for k in np.linspace(0, len(rows) - 1, most).astype(int)]


def _consistent(said: _Said) -> tuple[Constraint, ...]:
    """An author's answers, without those that contradict the author's earlier ones."""
    ordered = sorted(said, key=lambda each: not each[2])
    made = [Constraint(number, *statement) for number, statement, _ in ordered]
    return tuple(sorted_out(made, ())[0])


def _items(constraints: Sequence[Constraint]) -> set[int]:
    return {item for each in constraints for item in (*each.group, each.apart)}


def _pairs(constraints: Sequence[Constraint], among: set[int]) -> list[_Row]:
    """The triplets ab|c that these answers state about items ``among``, a < b, each once.

    Of a group the chain of its members there: what else it says follows from that.
    """
    rows: dict[_Row, None] = {}
    for each in constraints:
        group = [item for item in each.group if item in among]
        if each.apart in among and len(group) > 1:
            for a, b, c in chain_triplets(group, each.apart).tolist():
                rows[(min(a, b), max(a, b), c)] = None
    return list(rows)


class _Known:
    """One author's answers as a judge of single triplets."""

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        rows = np.concatenate([np.empty((0, 3), np.int32), *(c.triplets.rows for c in constraints)])
        self._items, local = np.unique(rows, return_inverse=True)
        self._rows = np.ascontiguousarray(local.reshape(-1, 3), dtype=np.int32)
        self.cost = OVERHEAD + self._items.size + len(self._rows)

    def says(self, row: _Row) -> int:
        """0: it follows, 1: it contradicts, 2: neither."""
        wanted = np.searchsorted(self._items, row).astype(np.int32)[None]
        n = int(self._items.size)
        if kernels.aho_tree(n, np.concatenate([self._rows, wanted]))[1].size:
            return 1
        return 0 if follows(n, self._rows, wanted) else 2


def _clashes(
    ours: Sequence[Constraint], others: Sequence[Constraint]
) -> tuple[tuple[Disagreement, ...], int]:
    """Answers that can only be had one beside the other: explained up to :data:`TOLD`."""
    taken, refused = sorted_out(ours, others)
    found = []
    for each in refused[:TOLD]:
        for known in (others, [*others, *taken]):  # the latter where it needs both authors' answers
            small = smallest_conflict([c.triplets.rows for c in known], each.triplets.rows)
            if small is not None:
                found.append(Disagreement(each.id, tuple(known[k].id for k in small.members)))
                break
    return tuple(found), len(refused)
