"""Assess what a new constraint means for the earlier ones and for the shown tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.build import compact_rows
from hcviz.core.conflict import smallest_conflict
from hcviz.core.errors import InvalidConstraint
from hcviz.core.groups import Groups
from hcviz.core.not_groups import NotGroup, may_have_tree
from hcviz.session.constraint import (
    EVERYTHING_ELSE,
    NOT_A_GROUP,
    Apart,
    check_statement,
    outsiders,
)
from hcviz.session.model import Conflict, Constraint, Session, Statement, joined_rows, sentence

AssessmentKind = Literal["correction", "holds", "implied", "conflict", "repeat", "ignored"]
ConstraintState = Literal[
    "satisfied", "violated", "pending", "implied", "conflict", "disabled"
]  # fmt: skip

#: A group is tested triplet by triplet for being implied if it implies at most this number.
MAX_TESTED = 2000
#: A sentence quotes at most so many earlier answers; of more it gives the number.
MAX_QUOTED = 2


@dataclass(frozen=True)
class Assessment:
    """The kind of a new constraint, and a sentence for the person.

    ``correction``: the tree will change. ``holds``: it holds in the tree already. ``implied``: it
    follows from the enabled constraints. ``repeat``: one of them is the same. ``conflict``: no tree
    satisfies it together with them. ``ignored``: the method ignores constraints.
    """

    kind: AssessmentKind
    sentence: str


def assess(
    session: Session,
    group: Sequence[int],
    apart: Apart,
    author: str | None = None,
    keeps_not_groups: bool = True,
) -> Assessment:
    """Return what adding "``group`` together, apart from ``apart``" would mean.

    Parameters
    ----------
    session : Session
    group : sequence of int
        At least two items.
    apart : int or tuple of int
        An item that is not in the group, or several, EVERYTHING_ELSE, or NOT_A_GROUP.
    author : str, optional
        If given, only a constraint of the same author is a repeat.
    keeps_not_groups : bool
        False: the method ignores that items are not a group, and so does this assessment.

    Returns
    -------
    Assessment

    Raises
    ------
    InvalidConstraint
        If an item is unknown, or the group is too small, or an item apart is in it.

    Notes
    -----
    The cost is three BUILDs, and two more for each implied triplet. It depends only on the items
    that constraints name.
    """
    check_items(session, group, apart)
    text = sentence(group, apart, session.labels)
    same = next((each for each in session.enabled if is_repeat(each, group, apart, author)), None)
    if same is not None:
        return Assessment("repeat", f"{text}: already in the list, by {same.author}.")
    kind = assess_statement(session, group, apart, keeps_not_groups)
    weighed = session.is_soft and apart != NOT_A_GROUP  # which is hard for every method
    meaning = _WEIGHED if kind == "conflict" and weighed else _MEANING[kind]
    if session.constraint_mode == "ignored" and kind in _IGNORED:
        return Assessment("ignored", f"{text}: {_IGNORED[kind]}.")
    return Assessment(kind, f"{text}: {meaning}.")


_MEANING: dict[AssessmentKind, str] = {
    "correction": "the tree will change",
    "holds": "true in this tree already, and locked from now on",
    "implied": "already follows from earlier answers",
    "conflict": "no tree satisfies this and the earlier answers",
}


#: Under a method that ignores constraints.
_IGNORED: dict[AssessmentKind, str] = {
    "correction": "not true in this tree, which does not change: this method ignores constraints",
    "holds": "true in this tree already, but this method ignores constraints",
}

_WEIGHED = "no tree satisfies this and the earlier answers; they will be weighed against each other"


def assess_statement(
    session: Session, group: Sequence[int], apart: Apart, keeps_not_groups: bool = True
) -> AssessmentKind:
    """Return the kind of a constraint against the enabled ones; never ``repeat``.

    ``keeps_not_groups``: as of :func:`assess`.

    Under a soft method, the enabled constraints may contradict each other. Then nothing follows
    from them, and no further one contradicts them.
    """
    tried = Constraint(0, tuple(group), apart)
    known, n = joined_rows(session.enabled), session.n_items
    kept = session.enabled
    if not keeps_not_groups and not tried.is_not_group:
        kept = tuple(each for each in kept if not each.is_not_group)
    is_inconsistent = session.is_soft and not is_consistent_set(kept, n)
    if not is_inconsistent and not is_consistent_set([*kept, tried], n):
        return "conflict"
    if not is_inconsistent and is_implied(session.n_items, known, tried):
        return "implied"
    tree = session.tree
    if tree is not None and tree.n_leaves == session.n_items and tried.holds_in(tree):
        return "holds"
    return "correction"


def check_items(session: Session, group: Sequence[int], apart: Apart) -> None:
    """Raise :class:`InvalidConstraint` unless this is a constraint over the session's items."""
    check_statement(group, apart)
    for item in (*group, *outsiders(apart)):
        if not 0 <= item < session.n_items:
            raise InvalidConstraint(
                f"The constraint names item {item}, but there are only {session.n_items} items."
            )
    if apart == NOT_A_GROUP and len(group) == session.n_items:
        raise InvalidConstraint(
            f"All {session.n_items} items are the whole tree, which is always one branch.",
            "Leave out some of them.",
        )
    if apart == EVERYTHING_ELSE and len(group) == session.n_items:
        raise InvalidConstraint(
            f"The group has all {session.n_items} items, so it has no effect.",
            "Leave out the items that do not belong to it.",
        )


def is_repeat(
    constraint: Constraint, group: Sequence[int], apart: Apart, author: str | None = None
) -> bool:
    """Return True if the constraint is the same, and the author is the same or None."""
    return constraint.states_same(group, apart) and author in (None, constraint.author)


def is_implied(n_items: int, known: NDArray[np.int32], constraint: Constraint) -> bool:
    """Return True if every tree that satisfies ``known`` also satisfies the constraint.

    ``known`` are consistent rows. A constraint of more than MAX_TESTED triplets counts as implied
    only if its rows are among ``known``. A set that is not a group is implied if it cannot be a
    clade.
    """
    if constraint.is_not_group:
        return not _has_tree(np.concatenate([known, Groups([constraint.group]).rows]))
    wanted, size = constraint.rows, len(constraint.group)
    count = (size - 1) * (n_items - size) if constraint.is_clade else len(wanted)
    if _has_rows(known, wanted):
        return True
    if count > MAX_TESTED:
        return False
    if constraint.is_clade:
        wanted = Groups([constraint.group]).triplets(n_items)
    n, rows = compact_rows(np.concatenate([known, wanted]), n_items + 1)
    return is_implied_by(n, rows[: len(known)], rows[len(known) :])


def _has_rows(known: NDArray[np.int32], wanted: NDArray[np.int32]) -> bool:
    """Return True if the rows ``wanted`` are consecutive rows of ``known``."""
    starts = np.flatnonzero((known == wanted[0]).all(axis=1))
    return any(np.array_equal(known[k : k + len(wanted)], wanted) for k in starts.tolist())


def is_implied_by(n_items: int, known: NDArray[np.int32], wanted: NDArray[np.int32]) -> bool:
    """Return True if every tree that satisfies ``known`` also satisfies all triplets ``wanted``.

    ``known`` must be consistent rows over the items 0..n_items-1. A triplet ab|c is implied if
    neither ac|b nor bc|a can be added. A triplet whose a or b ``known`` does not name is never
    implied, nor is one whose c it does not name, unless there are groups.
    """
    if not np.isin(wanted[:, :2], known).all():
        return False
    if not (known[:, 2] < 0).any() and not np.isin(wanted[:, 2], known).all():
        return False
    trial = np.concatenate([known, wanted[:1]])
    for a, b, c in wanted.tolist():
        for other in ((a, c, b), (b, c, a)):
            trial[-1] = other
            if not kernels.aho_tree(n_items, trial)[1].size:
                return False
    return True


# ---------------------------------------------------------------------- states of the constraints


def constraint_states(session: Session) -> dict[int, ConstraintState]:
    """Return the state of each constraint by its id.

    ``disabled``; ``conflict``: disabled, and the shown conflict is about it or lists it as waiting;
    ``violated`` by the shown tree, or without a tree; ``pending``: so, but the run in progress uses
    it; ``implied`` by enabled constraints before it; else ``satisfied``.
    """
    tree = session.tree
    holds: dict[int, bool] = {}
    if tree is not None and tree.n_leaves == session.n_items and session.enabled:
        holds = {each.id: each.holds_in(tree) for each in session.enabled}
    is_inconsistent = session.is_soft and not is_consistent_set(session.enabled, session.n_items)
    redundant = (
        frozenset() if is_inconsistent else implied_constraint_ids(session.enabled, session.n_items)
    )
    shown = session.conflict
    refused = () if shown is None else (shown.constraint_id, *shown.waiting)
    is_applying = session.status == "sampling" and session.constraint_mode != "ignored"
    result: dict[int, ConstraintState] = {}
    for each in session.constraints:
        if not each.enabled:
            result[each.id] = "conflict" if each.id in refused else "disabled"
        elif not holds.get(each.id, False):
            result[each.id] = "pending" if is_applying else "violated"
        else:
            result[each.id] = "implied" if each.id in redundant else "satisfied"
    return result


def implied_constraint_ids(constraints: tuple[Constraint, ...], n_items: int) -> frozenset[int]:
    """Return the constraints that follow from those before them. All must be consistent.

    O(m) BUILDs for m constraints; the result is cached.
    """
    redundant = _implied_flags(tuple(each.statement for each in constraints), n_items)
    return frozenset(each.id for each, follow in zip(constraints, redundant, strict=True) if follow)


@lru_cache(maxsize=64)
def _implied_flags(statements: tuple[Statement, ...], n_items: int) -> tuple[bool, ...]:
    made = [Constraint(0, *statement) for statement in statements]
    rows = joined_rows(made)
    n, compact = compact_rows(rows, n_items + 1)  # once: the rows of all are tested many times
    found, begin = [], 0
    for each in made:
        end = begin + len(each.rows)
        if not each.outsiders or len(each.rows) > MAX_TESTED:
            found.append(is_implied(n_items, rows[:begin], each))
        else:
            found.append(is_implied_by(n, compact[:begin], compact[begin:end]))
        begin = end
    return tuple(found)


# ---------------------------------------------------------------------- conflicts


def contradicts(
    constraint: Constraint, others: Sequence[Constraint], n_items: int | None = None
) -> bool:
    """Return True if no tree satisfies this constraint and all others, enabled or not."""
    return not is_consistent_set((*others, constraint), n_items)


def contradicting(
    some: Sequence[Constraint], others: Sequence[Constraint], n_items: int | None = None
) -> list[Constraint]:
    """Return those of ``some`` that each contradict ``others``. One BUILD each."""
    rows = joined_rows(others if some else ())
    avoids = any(each.is_not_group for each in others)
    return [
        each
        for each in some
        if (
            contradicts(each, others, n_items)
            if avoids or each.is_not_group
            else not _has_tree(np.concatenate([rows, each.rows]))
        )
    ]


def explain_conflict(
    constraint: Constraint,
    others: Sequence[Constraint],
    labels: Sequence[str],
    sentence_of: Callable[[Constraint], str] | None = None,
    n_items: int | None = None,
) -> Conflict:
    """Explain why ``constraint`` contradicts ``others``, which are consistent.

    The set of contradicting constraints is minimal. Usually it is also proven to be a smallest one.
    A proof that needs too much work is given up after a tenth of a second, and the smaller of two
    minimal sets is returned (:func:`hcviz.core.conflict.smallest_conflict`). ``sentence_of`` writes
    a constraint; None: with the names of its items.
    """
    write = sentence_of or (lambda each: each.sentence(labels))
    stated = [each.stated for each in others]
    found = smallest_conflict(stated, constraint.stated, n_items=n_items)
    conflicting = [others[place] for place in found.members] if found else []
    smallest = found is None or found.smallest
    repairs = tuple(
        each
        for each in conflicting
        if not contradicts(constraint, [other for other in others if other is not each], n_items)
    )
    return Conflict(
        constraint.id,
        tuple(each.id for each in conflicting),
        tuple(each.id for each in repairs),
        _conflict_sentence(constraint, conflicting, repairs, write, smallest),
        smallest=smallest,
    )


def is_consistent_set(constraints: Sequence[Constraint], n_items: int | None = None) -> bool:
    """Return True if some tree satisfies all of these, enabled or not.

    One BUILD, and more if some are not groups. For these the number of items counts; by default
    it is one more than the constraints name.
    """
    rows = joined_rows(constraints)
    avoided = [found for each in constraints if isinstance(found := each.stated, NotGroup)]
    if not avoided:
        return _has_tree(rows)
    n = max(item for each in constraints for item in each.named) + 2
    return may_have_tree(n if n_items is None else n_items, rows, avoided)[0]


def _has_tree(rows: NDArray[np.int32]) -> bool:
    # One more item than the rows name changes nothing, and a group needs an item outside.
    n, compact = compact_rows(rows, int(rows.max(initial=0)) + 2)
    return bool(kernels.aho_tree(n, compact)[1].size == 0)


def _conflict_sentence(
    constraint: Constraint,
    conflicting: Sequence[Constraint],
    repairs: Sequence[Constraint],
    write: Callable[[Constraint], str],
    smallest: bool,
) -> str:
    def quoted(some: Sequence[Constraint], word: str = " and ") -> str:
        return word.join(f"“{write(each)}”" for each in some)

    if len(conflicting) <= MAX_QUOTED:
        text = f"“{write(constraint)}” contradicts {quoted(conflicting)}."
    else:
        text = f"“{write(constraint)}” contradicts {len(conflicting)} earlier answers together"
        text += "." if smallest else " (there may be a smaller set that was not found)."
    text += " It is kept, but switched off."
    if not repairs:
        return (
            text
            + " Switching off a single answer is not enough: switch off one from each disagreement."
        )
    if len(conflicting) == 1:
        return text + " Switch that one off to use this one instead."
    if len(repairs) <= MAX_QUOTED:
        return text + " To use it, switch off " + quoted(repairs, " or ") + "."
    return text + f" To use it, switch off any one of {len(repairs)} of them."
