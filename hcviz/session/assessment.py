"""Assess what a new constraint means for the earlier ones and for the shown tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.build import chain_triplets, is_consistent
from hcviz.core.conflict import smallest_conflict
from hcviz.core.errors import InvalidConstraint
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.session.model import Conflict, Constraint, Session, Statement, joined_triplets, sentence

AssessmentKind = Literal["correction", "lock", "implied", "conflict", "repeat", "ignored"]
ConstraintState = Literal["satisfied", "violated", "implied", "conflict", "disabled"]

#: Conflicts up to this size are explained with each answer; larger ones with a number.
MAX_QUOTED = 3


@dataclass(frozen=True)
class Assessment:
    """The kind of a new constraint, and a sentence for the person.

    ``correction``: the tree will change. ``lock``: it holds in the tree already. ``implied``: it
    follows from the enabled constraints. ``repeat``: one of them is the same. ``conflict``: no tree
    satisfies it together with them. ``ignored``: the method ignores constraints.
    """

    kind: AssessmentKind
    sentence: str


def assess(
    session: Session, group: Sequence[int], apart: int, author: str | None = None
) -> Assessment:
    """Return what adding "``group`` together, before ``apart``" would mean.

    Parameters
    ----------
    session : Session
    group : sequence of int
        At least two items.
    apart : int
        An item that is not in the group.
    author : str, optional
        If given, only a constraint of the same author is a repeat.

    Returns
    -------
    Assessment

    Raises
    ------
    InvalidConstraint
        If an item is unknown, or the group is too small, or ``apart`` is in it.

    Notes ----- The cost is three BUILDs, and two more for each implied triplet. It depends only on
    the items that constraints name.
    """
    check_items(session, group, apart)
    said = sentence(group, apart, session.labels)
    twin = next((each for each in session.enabled if is_repeat(each, group, apart, author)), None)
    if twin is not None:
        return Assessment("repeat", f"{said}: already in the list, by {twin.author}.")
    kind = assess_triplets(
        session.tree, session.triplets, session.n_items, group, apart, session.is_soft
    )
    meaning = _WEIGHED if kind == "conflict" and session.is_soft else _MEANING[kind]
    if session.constraint_mode == "ignored" and kind in _IGNORED:
        return Assessment("ignored", f"{said}: {_IGNORED[kind]}.")
    return Assessment(kind, f"{said}: {meaning}.")


_MEANING: dict[AssessmentKind, str] = {
    "correction": "a correction, the tree will change",
    "lock": "true in this tree already, and locked from now on",
    "implied": "already follows from earlier answers",
    "conflict": "no tree satisfies this and the earlier answers",
}


#: Under a method that ignores constraints.
_IGNORED: dict[AssessmentKind, str] = {
    "correction": "not true in this tree, which does not change: this method ignores constraints",
    "lock": "true in this tree already, but this method ignores constraints",
}

_WEIGHED = "no tree satisfies this and the earlier answers; they will be weighed against each other"


def assess_triplets(
    tree: Tree | None,
    triplets: Triplets,
    n_items: int,
    group: Sequence[int],
    apart: int,
    weighed: bool = False,
) -> AssessmentKind:
    """Return the kind of a constraint against triplets; never ``repeat``.

    The triplets must be consistent unless they are ``weighed``. Nothing follows from contradictory
    triplets, and no further one contradicts them.
    """
    rows = chain_triplets(group, apart)
    known, wanted, n = _compact(triplets.rows, rows)
    torn = weighed and not is_consistent(n, known)
    if not torn and not is_consistent(n, np.concatenate([known, wanted])):
        return "conflict"
    if not torn and is_implied_by(n, known, wanted):
        return "implied"
    if tree is not None and tree.n_leaves == n_items and bool(np.all(tree.satisfies(rows))):
        return "lock"
    return "correction"


def check_items(session: Session, group: Sequence[int], apart: int) -> None:
    """Raise :class:`InvalidConstraint` unless this is a constraint over the session's items."""
    chain_triplets(group, apart)
    for item in (*group, apart):
        if not 0 <= item < session.n_items:
            raise InvalidConstraint(
                f"The constraint names item {item}, but there are only {session.n_items} items."
            )


def is_repeat(
    constraint: Constraint, group: Sequence[int], apart: int, author: str | None = None
) -> bool:
    """Return True if the constraint is the same, and the author is the same or None."""
    return constraint.states_same(group, apart) and author in (None, constraint.author)


def is_implied_by(n_items: int, known: NDArray[np.int32], wanted: NDArray[np.int32]) -> bool:
    """Return True if every tree that satisfies ``known`` also satisfies all rows of ``wanted``.

    ``known`` must be consistent. A triplet ab|c is implied if neither ac|b nor bc|a can be added. A
    triplet with an item that ``known`` does not name is never implied.
    """
    if not np.isin(wanted, known).all():
        return False
    trial = np.concatenate([known, wanted[:1]])
    for a, b, c in wanted.tolist():
        for other in ((a, c, b), (b, c, a)):
            trial[-1] = other
            if is_consistent(n_items, trial):
                return False
    return True


def _compact(*rows: NDArray[np.int32]) -> tuple[Any, ...]:
    """Return the rows over items 0..k-1, and k. BUILD is linear in items."""
    items, local = np.unique(np.concatenate(rows), return_inverse=True)
    local = local.reshape(-1, 3).astype(np.int32)
    ends = np.cumsum([len(each) for each in rows])[:-1]
    return (*np.split(local, ends), max(int(items.size), 1))


# ---------------------------------------------------------------------- states of the constraints


def constraint_states(session: Session) -> dict[int, ConstraintState]:
    """Return the state of each constraint by its id.

    ``disabled``; ``conflict``: disabled, and the shown conflict is about it or lists it as waiting;
    ``violated`` by the shown tree, or without a tree; ``implied`` by enabled constraints before it;
    else ``satisfied``.
    """
    tree = session.tree
    holds: dict[int, bool] = {}
    if tree is not None and tree.n_leaves == session.n_items and session.enabled:
        good = tree.satisfies(session.triplets)
        starts = np.cumsum([0] + [len(each.triplets) for each in session.enabled[:-1]])
        whole = np.logical_and.reduceat(good, starts)
        holds = {each.id: bool(ok) for each, ok in zip(session.enabled, whole, strict=True)}
    torn = session.is_soft and not is_consistent_set(session.enabled)
    redundant = frozenset() if torn else implied_constraint_ids(session.enabled)
    shown = session.conflict
    refused = () if shown is None else (shown.constraint_id, *shown.waiting)
    result: dict[int, ConstraintState] = {}
    for each in session.constraints:
        if not each.enabled:
            result[each.id] = "conflict" if each.id in refused else "disabled"
        elif not holds.get(each.id, False):
            result[each.id] = "violated"
        else:
            result[each.id] = "implied" if each.id in redundant else "satisfied"
    return result


def implied_constraint_ids(constraints: tuple[Constraint, ...]) -> frozenset[int]:
    """Return the constraints that follow from those before them. All must be consistent.

    O(m) BUILDs for m constraints; the result is cached.
    """
    redundant = _implied_flags(tuple(each.statement for each in constraints))
    return frozenset(each.id for each, follow in zip(constraints, redundant, strict=True) if follow)


@lru_cache(maxsize=64)
def _implied_flags(statements: tuple[Statement, ...]) -> tuple[bool, ...]:
    if not statements:
        return ()
    chains = [chain_triplets(*statement) for statement in statements]
    rows, n = _compact(np.concatenate(chains))
    ends = np.cumsum([len(chain) for chain in chains]).tolist()
    starts = [0, *ends[:-1]]
    return tuple(is_implied_by(n, rows[:a], rows[a:b]) for a, b in zip(starts, ends, strict=True))


# ---------------------------------------------------------------------- conflicts


def contradicts(constraint: Constraint, others: Sequence[Constraint]) -> bool:
    """Return True if no tree satisfies this constraint and all others, enabled or not."""
    return not is_consistent_set((*others, constraint))


def contradicting(some: Sequence[Constraint], others: Sequence[Constraint]) -> list[Constraint]:
    """Return those of ``some`` that each contradict ``others``. One BUILD each."""
    rows = joined_triplets(tuple(others)).rows if some else np.empty((0, 3), np.int32)
    return [each for each in some if not _has_tree(np.concatenate([rows, each.triplets.rows]))]


def explain_conflict(
    constraint: Constraint, others: Sequence[Constraint], labels: Sequence[str]
) -> Conflict:
    """Explain why ``constraint`` contradicts ``others``, which are consistent.

    The set of contradicting constraints is minimal. Usually it is also proven to be a smallest one.
    A proof that needs too much work is given up after a tenth of a second, and the smaller of two
    minimal sets is returned (:func:`hcviz.core.conflict.smallest_conflict`).
    """
    found = smallest_conflict([each.triplets.rows for each in others], constraint.triplets.rows)
    culprits = [others[place] for place in found.members] if found else []
    smallest = found is None or found.smallest
    repairs = tuple(
        each
        for each in culprits
        if not contradicts(constraint, [other for other in others if other is not each])
    )
    return Conflict(
        constraint.id,
        tuple(each.id for each in culprits),
        tuple(each.id for each in repairs),
        _conflict_sentence(constraint, culprits, repairs, labels, smallest),
        smallest=smallest,
    )


def is_consistent_set(constraints: Sequence[Constraint]) -> bool:
    """Return True if some tree satisfies all of these, enabled or not. One BUILD."""
    return _has_tree(joined_triplets(tuple(constraints)).rows)


def _has_tree(rows: NDArray[np.int32]) -> bool:
    compact, n = _compact(rows)
    return is_consistent(n, compact)


def _conflict_sentence(
    constraint: Constraint,
    culprits: Sequence[Constraint],
    repairs: Sequence[Constraint],
    labels: Sequence[str],
    smallest: bool,
) -> str:
    def quoted(some: Sequence[Constraint], word: str = " and ") -> str:
        return word.join(f"“{each.sentence(labels)}”" for each in some)

    if len(culprits) < MAX_QUOTED:
        text = f"“{constraint.sentence(labels)}” contradicts {quoted(culprits)}."
    else:
        text = (
            f"“{constraint.sentence(labels)}” contradicts {len(culprits)} earlier answers together"
        )
        text += "." if smallest else " (there may be a smaller set that was not found)."
    text += " It is kept, but switched off."
    if not repairs:
        return (
            text
            + " Switching off a single answer is not enough: switch off one from each disagreement."
        )
    if len(culprits) == 1:
        return text + " Switch that one off to use this one instead."
    if len(repairs) <= MAX_QUOTED:
        return text + " To use it, switch off " + quoted(repairs, " or ") + "."
    return text + f" To use it, switch off any one of {len(repairs)} of them."
