"""Answers of several people: weights, a switch for each author, and agreement between authors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.build import BUILD_OVERHEAD, chain_triplets, compact_rows
from hcviz.core.conflict import smallest_conflict
from hcviz.core.errors import InvalidConstraint
from hcviz.core.text import count_noun
from hcviz.session.actions import EnableAuthor, SetAuthor, SetAuthorWeight, read_only
from hcviz.session.applying import apply_constraints
from hcviz.session.assessment import is_implied_by
from hcviz.session.conflicts import (
    replace_constraints,
    split_consistent,
    update_conflict,
)
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.methods import Methods
from hcviz.session.model import Constraint, Session, Statement, joined_rows
from hcviz.session.runs import announce, no_change, request_run

Int = NDArray[np.int32]
_Statements = tuple[tuple[int, Statement, bool], ...]
_Row = tuple[int, int, int]

#: An author's name has at most this many characters.
MAX_NAME_LENGTH = 60
#: The BUILD work for the agreement of two authors, in rows read; about a quarter of a second.
BUILD_BUDGET = 2_000_000
#: A group that is apart from everything else is compared with at most this many items outside.
MAX_OUTSIDE = 40
#: At most this many disagreements are explained; the others are only counted.
MAX_EXPLAINED = 12
#: Results for pairs of authors that are cached: those of a class of forty.
CACHED_PAIRS = 1024


# ---------------------------------------------------------------------- rules


def set_author(session: Session, action: SetAuthor) -> UpdateResult:
    """Set the author of the next answers."""
    name = " ".join(action.name.split())
    if not name or len(name) > MAX_NAME_LENGTH:
        raise InvalidConstraint(
            f"An author's name has 1 to {MAX_NAME_LENGTH} characters, not {len(name)}.",
            "The name is shown beside each answer.",
        )
    if name == session.author:
        return no_change(session)
    return announce(replace(session, author=name), f"New answers are by {name}.")


def weigh(session: Session, action: SetAuthorWeight) -> UpdateResult:
    """Set an author's weight. A soft method then runs again."""
    weight = check_weight(action.weight)
    if session.author_weights.get(action.author, 1.0) == weight:
        return no_change(session)
    text = f"Weight of {action.author}: {weight:g}."
    weights = {**session.author_weights, action.author: weight}
    session = replace(add_undo_step(session, text), author_weights=read_only(weights))
    if not any(each.author == action.author for each in session.enabled):
        return announce(session, text)
    if session.is_soft:
        return request_run(session, text, "snapshot")
    return announce(session, f"{text} This method ignores weights; soft methods use them.")


def check_weight(weight: float) -> float:
    """Return the weight as a float.

    Raises
    ------
    InvalidConstraint
        If the weight is not a positive number.
    """
    if not (math.isfinite(weight) and weight > 0):
        raise InvalidConstraint(
            f"The weight of an author is positive, not {weight:g}.",
            "Switch an author off to leave their answers out.",
        )
    return float(weight)


def switch(session: Session, action: EnableAuthor, methods: Methods) -> UpdateResult:
    """Disable or enable all answers of an author in one step.

    Enabling restores the answers that the switch disabled, or all answers if there are none.
    Answers that contradict the enabled ones stay disabled, and the conflict is explained.
    """
    theirs = [each for each in session.constraints if each.author == action.author]
    before = [each for each in theirs if each.id in session.disabled_by_author and not each.enabled]
    if action.on:
        asked = before or [each for each in theirs if not each.enabled]
        return _switch_on(session, action.author, asked, methods)
    off = [each for each in theirs if each.enabled]
    if not off:
        return no_change(session)
    text = f"{action.author}: {count_noun(len(off), 'constraint')} switched off."
    disabled = [each.id for each in off]
    rest = tuple(dict.fromkeys((*_without_author(session, action.author), *disabled)))
    session = replace_constraints(
        add_undo_step(session, text), (replace(each, enabled=False) for each in off)
    )
    shown = session.conflict
    refused = () if shown is None else (shown.constraint_id, *shown.waiting)
    session = update_conflict(replace(session, disabled_by_author=rest), refused)
    if session.constraint_mode == "ignored":
        return announce(session, text)
    return request_run(session, text, "snapshot")


def _switch_on(
    session: Session, author: str, asked: list[Constraint], methods: Methods
) -> UpdateResult:
    if not asked:
        return no_change(session)
    taken, refused = (
        (asked, [])
        if session.is_soft
        else split_consistent(asked, session.enabled, session.n_items)
    )
    text = f"{author}: {count_noun(len(taken), 'constraint')} switched on."
    if refused:
        verb = "contradicts others and stays" if len(refused) == 1 else "contradict others and stay"
        text += f" {len(refused)} {verb} off."
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
    """Return the ids in ``disabled_by_author`` that are not answers of this author."""
    theirs = {each.id for each in session.constraints if each.author == author}
    return tuple(each for each in session.disabled_by_author if each not in theirs)


# ---------------------------------------------------------------------- list of authors


@dataclass(frozen=True)
class Expert:
    """An author, with the number of answers, the number of enabled answers, and their weight."""

    name: str
    n_answers: int
    n_enabled: int
    weight: float


def experts(session: Session) -> tuple[Expert, ...]:
    """Return all authors of answers in order of appearance, with the present author."""
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
    """Answer ``id`` of the first author, which contradicts the answers ``with_ids``.

    ``with_ids`` are answers of the second author, and of the first author where needed.
    """

    id: int
    with_ids: tuple[int, ...]


@dataclass(frozen=True)
class ExpertAgreement:
    """How far the answers of two authors agree.

    The triples are those that both authors name and about which at least one states a triplet ab|c.

    Attributes
    ----------
    first, second : str
        The authors.
    n_shared : int
        Items that both authors name.
    n_agreeing, n_contradicting, n_open : int
        Triples whose triplet follows from the other author's answers, contradicts them, or neither.
    n_stated : int
        All triples.
    n_checked : int
        Triples that were checked. It is smaller than ``n_stated`` if all would take too long.
    disagreements : tuple of Disagreement
        Answers of the first author that contradict the second's; at most ``MAX_EXPLAINED``.
    n_disagreements : int
        The number of all disagreements.
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
        """The triplet agreement n_agreeing / (n_agreeing + n_contradicting); None if both are 0."""
        known = self.n_agreeing + self.n_contradicting
        return self.n_agreeing / known if known else None


def agreements(session: Session) -> tuple[ExpertAgreement, ...]:
    """Return the agreement of every two authors. Disabled answers count too.

    (An answer is often disabled because it contradicts another author's.) If an author's answers
    contradict each other, enabled answers come first, then the order of the list.
    """
    authors = dict.fromkeys(each.author for each in session.constraints)
    answers = {
        name: [each for each in session.constraints if each.author == name] for name in authors
    }
    return tuple(
        agreement_between(a, answers[a], b, answers[b]) for a, b in combinations(authors, 2)
    )


def agreement_between(
    first: str, mine: Sequence[Constraint], second: str, theirs: Sequence[Constraint]
) -> ExpertAgreement:
    """Return the agreement of two authors, see :func:`agreements`. Recent results are cached."""
    return _agreement(first, _statements(mine), second, _statements(theirs))


def _statements(answers: Sequence[Constraint]) -> _Statements:
    return tuple((each.id, each.statement, each.enabled) for each in answers)


@lru_cache(maxsize=CACHED_PAIRS)
def _agreement(first: str, mine: _Statements, second: str, theirs: _Statements) -> ExpertAgreement:
    ours, others = _consistent_part(mine), _consistent_part(theirs)
    # A set that is not a group states no triplet; it counts among the disagreements only.
    own, foreign = ([c for c in some if not c.is_not_group] for some in (ours, others))
    shared = _items(own) & _items(foreign)
    here = _stated_triplets(own, shared)
    done = {frozenset(row) for row in here}
    there = [row for row in _stated_triplets(foreign, shared) if frozenset(row) not in done]
    counts = np.zeros(3, np.int64)
    for rows, other in ((here, foreign), (there, own)):
        known = _TripletTester(other)
        for row in _evenly_spaced(
            rows, max(1, BUILD_BUDGET // (6 * known.cost))
        ):  # 3 BUILDs, 2 sides
            counts[known.relation_to(row)] += 1
    disagreements, n_disagreements = _find_disagreements(ours, others)
    agreeing, contradicting, n_open = (int(count) for count in counts)
    return ExpertAgreement(
        first, second, len(shared), agreeing, contradicting, n_open, len(here) + len(there),
        agreeing + contradicting + n_open, disagreements, n_disagreements,
    )  # fmt: skip


def _evenly_spaced(rows: list[Any], most: int) -> list[Any]:
    """Return at most ``most`` of the rows, evenly spaced."""
    if len(rows) <= most:
        return rows
    return [rows[k] for k in np.linspace(0, len(rows) - 1, most).astype(int)]


def _consistent_part(statements: _Statements) -> tuple[Constraint, ...]:
    """Return an author's answers without those that contradict the author's earlier ones."""
    ordered = sorted(statements, key=lambda each: not each[2])
    made = [Constraint(number, *statement) for number, statement, _ in ordered]
    return tuple(split_consistent(made, ())[0])


def _items(constraints: Sequence[Constraint]) -> set[int]:
    return {item for each in constraints for item in each.named}


def _stated_triplets(constraints: Sequence[Constraint], among: set[int]) -> list[_Row]:
    """Return the triplets ab|c that these answers state about the items ``among``, with a < b.

    A group gives the chain of its members, from which its other triplets follow. A group that is
    apart from everything else gives them for at most MAX_OUTSIDE items, evenly spaced.
    """
    rows: dict[_Row, None] = {}
    for each in constraints:
        group = [item for item in each.group if item in among]
        outside = list(each.outsiders)
        if each.is_clade:
            outside = _evenly_spaced(sorted(among.difference(each.group)), MAX_OUTSIDE)
        for apart in outside if len(group) > 1 else ():
            if apart in among:
                for a, b, c in chain_triplets(group, apart).tolist():
                    rows[(min(a, b), max(a, b), c)] = None
    return list(rows)


class _TripletTester:
    """Tests single triplets against one author's answers."""

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        rows = joined_rows(constraints)
        self._items = np.unique(rows[rows >= 0])
        # One more item than the rows name, as a group needs an item outside.
        self._n, self._known = compact_rows(rows, int(rows.max(initial=0)) + 2)
        self.cost = BUILD_OVERHEAD + self._items.size + len(rows)

    def relation_to(self, row: _Row) -> int:
        """Return 0 if the triplet follows, 1 if it contradicts, 2 if neither.

        The answers name its three items.
        """
        wanted = np.searchsorted(self._items, row).astype(np.int32)[None]
        if kernels.aho_tree(self._n, np.concatenate([self._known, wanted]))[1].size:
            return 1
        return 0 if is_implied_by(self._n, self._known, wanted) else 2


def _find_disagreements(
    ours: Sequence[Constraint], others: Sequence[Constraint]
) -> tuple[tuple[Disagreement, ...], int]:
    """Return the answers of one author that contradict the other's, with explanations."""
    taken, refused = split_consistent(ours, others)
    found = []
    for each in refused[:MAX_EXPLAINED]:
        for known in (others, [*others, *taken]):  # the second if both authors' answers are needed
            small = smallest_conflict([c.stated for c in known], each.stated)
            if small is not None:
                found.append(Disagreement(each.id, tuple(known[k].id for k in small.members)))
                break
    return tuple(found), len(refused)
