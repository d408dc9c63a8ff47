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
from hcviz.session.actions import EnableAuthor, SetAuthor, SetAuthorWeight, read_only
from hcviz.session.applying import apply_constraints
from hcviz.session.assessment import is_implied_by
from hcviz.session.conflicts import (
    count_text,
    replace_constraints,
    split_consistent,
    update_conflict,
)
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session, Statement
from hcviz.session.runs import announce, no_change, start_run

Int = NDArray[np.int32]

#: A name that is longer is a sentence.
MAX_NAME_LENGTH = 60
#: The BUILD work allowed for one pair's agreement, in rows looked at: a quarter of a second.
BUILD_BUDGET = 2_000_000
#: A BUILD costs about this many rows however few it is given.
BUILD_OVERHEAD = 400
#: Disagreements that are told; the others are counted.
MAX_EXPLAINED = 12


# ---------------------------------------------------------------------- rules


def set_author(session: Session, action: SetAuthor) -> UpdateResult:
    """Whose the next answers are."""
    name = " ".join(action.name.split())
    if not name or len(name) > MAX_NAME_LENGTH:
        raise InvalidConstraint(
            f"An author's name has 1 to {MAX_NAME_LENGTH} characters, not {len(name)}.",
            "It is what stands beside each answer.",
        )
    if name == session.author:
        return no_change(session)
    return announce(replace(session, author=name), f"New answers are by {name}.")


def weigh(session: Session, action: SetAuthorWeight) -> UpdateResult:
    """Runs on where the method weighs answers; else it is kept for one that does."""
    weight = check_weight(action.weight)
    if session.author_weights.get(action.author, 1.0) == weight:
        return no_change(session)
    text = f"Weight of {action.author}: {weight:g}."
    weights = {**session.author_weights, action.author: weight}
    session = replace(add_undo_step(session, text), author_weights=read_only(weights))
    if not any(each.author == action.author for each in session.enabled):
        return announce(session, text)
    if session.is_soft:
        return start_run(session, text, "snapshot")
    return announce(
        session, f"{text} This method does not weigh answers: it counts with one that does."
    )


def check_weight(weight: float) -> float:
    """The weight; :class:`InvalidConstraint` unless it is a positive number."""
    if not (math.isfinite(weight) and weight > 0):
        raise InvalidConstraint(
            f"The weight of an author is positive, not {weight:g}.",
            "Switch an author off to leave their answers out.",
        )
    return float(weight)


def switch(session: Session, action: EnableAuthor, methods: Methods) -> UpdateResult:
    """One step for all of an author's answers.

    On: those that the switch put aside; where there are none, all of them. What contradicts the
    answers in use stays off and is explained.
    """
    theirs = [each for each in session.constraints if each.author == action.author]
    rested = [each for each in theirs if each.id in session.disabled_by_author and not each.enabled]
    if action.on:
        asked = rested or [each for each in theirs if not each.enabled]
        return _switch_on(session, action.author, asked, methods)
    off = [each for each in theirs if each.enabled]
    if not off:
        return no_change(session)
    text = f"{action.author}: {count_text(len(off))} switched off."
    aside = [each.id for each in off]
    rest = tuple(dict.fromkeys((*_without_author(session, action.author), *aside)))
    session = replace_constraints(
        add_undo_step(session, text), (replace(each, enabled=False) for each in off)
    )
    shown = session.conflict
    refused = () if shown is None else (shown.constraint_id, *shown.waiting)
    session = update_conflict(replace(session, disabled_by_author=rest), refused)
    if session.constraint_mode == "ignored":
        return announce(session, text)
    return start_run(session, text, "snapshot")


def _switch_on(
    session: Session, author: str, asked: list[Constraint], methods: Methods
) -> UpdateResult:
    if not asked:
        return no_change(session)
    taken, refused = (asked, []) if session.is_soft else split_consistent(asked, session.enabled)
    text = f"{author}: {count_text(len(taken))} switched on."
    if refused:
        text += f" {len(refused)} at odds with others stay off."
    before = session if not taken else add_undo_step(session, text)
    session = replace_constraints(before, (replace(each, enabled=True) for each in taken))
    shown = session.conflict
    waiting = () if shown is None else (shown.constraint_id, *shown.waiting)
    session = update_conflict(session, (*(each.id for each in refused), *waiting))
    if not taken:  # nothing in the list changed: not a step
        return announce(session, text)
    session = replace(session, disabled_by_author=_without_author(session, author))
    return apply_constraints(session, taken, text, text, methods)


def _without_author(session: Session, author: str) -> tuple[int, ...]:
    """What rests of other authors' answers, and of this one's what is there no more."""
    theirs = {each.id for each in session.constraints if each.author == author}
    return tuple(each for each in session.disabled_by_author if each not in theirs)


# ---------------------------------------------------------------------- who says what


@dataclass(frozen=True)
class Expert:
    """One author: ``said`` answers, of which ``used`` are switched on; ``weight`` of each."""

    name: str
    n_answers: int
    n_enabled: int
    weight: float


def experts(session: Session) -> tuple[Expert, ...]:
    """All whose answers are in the list, and whose answers come next, in the order they began."""
    authors = dict.fromkeys([*(each.author for each in session.constraints), session.author])
    return tuple(
        Expert(
            name,
            sum(each.author == name for each in session.constraints),
            sum(each.author == name for each in session.enabled),
            session.author_weights.get(name, 1.0),
        )
        for name in authors
    )


# ---------------------------------------------------------------------- agreement


@dataclass(frozen=True)
class Disagreement:
    """Answer ``id`` of the first, which has no tree with ``with_ids``: answers of the second, and
    of the first where both are needed."""

    id: int
    with_ids: tuple[int, ...]


@dataclass(frozen=True)
class ExpertAgreement:
    """How two authors' answers stand to each other.

    Of the triples of items that both of them name and that either states something about (ab|c),
    for ``n_agreeing`` it follows from the other's answers, for ``n_contradicting`` it contradicts them, for
    ``open`` neither.
    ``n_checked`` of ``n_stated`` were looked at: all, unless that took too long. ``disagreements``: answers
    of the first that contradict the second's, up to :data:`MAX_EXPLAINED`; ``n_disagreements``: all of them.
    """

    first: str
    second: str
    n_shared: int
    n_agreeing: int
    n_contradicting: int
    n_open: int
    n_stated: int
    n_checked: int
    disagreements: tuple[Disagreement, ...]
    n_disagreements: int

    @property
    def share(self) -> float | None:
        """alike / (alike + against), the triplet agreement; None where neither was found."""
        known = self.n_agreeing + self.n_contradicting
        return self.n_agreeing / known if known else None


def agreements(session: Session) -> tuple[ExpertAgreement, ...]:
    """Every two authors; what an author said counts whether or not it is switched on.

    (An answer is often off just because it contradicts another author's.) Where authors contradict
    themselves, what is switched on goes first, then the order of the list.
    """
    authors = dict.fromkeys(each.author for each in session.constraints)
    said = {
        name: tuple(
            (each.id, each.statement, each.enabled)
            for each in session.constraints
            if each.author == name
        )
        for name in authors
    }
    return tuple(_agreement(a, said[a], b, said[b]) for a, b in combinations(authors, 2))


_Said = tuple[tuple[int, Statement, bool], ...]
_Row = tuple[int, int, int]


@lru_cache(maxsize=32)
def _agreement(first: str, mine: _Said, second: str, theirs: _Said) -> ExpertAgreement:
    ours, others = _consistent_part(mine), _consistent_part(theirs)
    shared = _items(ours) & _items(others)
    here = _stated_triplets(ours, shared)
    done = {frozenset(row) for row in here}
    there = [row for row in _stated_triplets(others, shared) if frozenset(row) not in done]
    counts = np.zeros(3, np.int64)
    for rows, other in ((here, others), (there, ours)):
        known = _TripletTester(other)
        for row in _evenly_spaced(
            rows, max(1, BUILD_BUDGET // (6 * known.cost))
        ):  # 3 BUILDs, 2 sides
            counts[known.relation_to(row)] += 1
    clashes, n_disagreements = _find_disagreements(ours, others)
    alike, against, unsaid = (int(count) for count in counts)
    return ExpertAgreement(
        first, second, len(shared), alike, against, unsaid, len(here) + len(there),
        alike + against + unsaid, clashes, n_disagreements,
    )  # fmt: skip


def _evenly_spaced(rows: list[_Row], most: int) -> list[_Row]:
    """At most so many of them, evenly."""
    if len(rows) <= most:
        return rows
    return [rows[k] for k in np.linspace(0, len(rows) - 1, most).astype(int)]


def _consistent_part(said: _Said) -> tuple[Constraint, ...]:
    """An author's answers, without those that contradict the author's earlier ones."""
    ordered = sorted(said, key=lambda each: not each[2])
    made = [Constraint(number, *statement) for number, statement, _ in ordered]
    return tuple(split_consistent(made, ())[0])


def _items(constraints: Sequence[Constraint]) -> set[int]:
    return {item for each in constraints for item in (*each.group, each.apart)}


def _stated_triplets(constraints: Sequence[Constraint], among: set[int]) -> list[_Row]:
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


class _TripletTester:
    """One author's answers as a judge of single triplets."""

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        rows = np.concatenate([np.empty((0, 3), np.int32), *(c.triplets.rows for c in constraints)])
        self._items, local = np.unique(rows, return_inverse=True)
        self._rows = np.ascontiguousarray(local.reshape(-1, 3), dtype=np.int32)
        self.cost = BUILD_OVERHEAD + self._items.size + len(self._rows)

    def relation_to(self, row: _Row) -> int:
        """0: it follows, 1: it contradicts, 2: neither."""
        wanted = np.searchsorted(self._items, row).astype(np.int32)[None]
        n = int(self._items.size)
        if kernels.aho_tree(n, np.concatenate([self._rows, wanted]))[1].size:
            return 1
        return 0 if is_implied_by(n, self._rows, wanted) else 2


def _find_disagreements(
    ours: Sequence[Constraint], others: Sequence[Constraint]
) -> tuple[tuple[Disagreement, ...], int]:
    """Answers that can only be had one beside the other: explained up to :data:`MAX_EXPLAINED`."""
    taken, refused = split_consistent(ours, others)
    found = []
    for each in refused[:MAX_EXPLAINED]:
        for known in (others, [*others, *taken]):  # the latter where it needs both authors' answers
            small = smallest_conflict([c.triplets.rows for c in known], each.triplets.rows)
            if small is not None:
                found.append(Disagreement(each.id, tuple(known[k].id for k in small.members)))
                break
    return tuple(found), len(refused)
