"""State of the sheet *Class*: invitation, students, their agreement, the majority's tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import segno
from numpy.typing import NDArray

from hcviz.core.text import count_noun
from hcviz.posterior import Posterior
from hcviz.session.classroom import (
    ClassView,
    Student,
    new_answers,
    pairwise_agreement,
    shares_with_class,
)
from hcviz.session.experts import ExpertAgreement
from hcviz.ui.features.consensus.sheet import draw_summary
from hcviz.ui.state.store import Store

TOPIC = "class"
#: The most items for which the majority's tree is drawn.
MAX_ITEMS = 600


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """What is computed from the answers of all students, in the background.

    Attributes
    ----------
    pairs : dict
        The agreement of each two students, by their numbers.
    shares : dict
        The agreement of each student with all others.
    majority : dict
        The majority's tree as numbers to draw, and the number of trees; empty without one.
    """

    pairs: dict[tuple[int, int], ExpertAgreement]
    shares: dict[int, float | None]
    majority: dict[str, Any]


#: The last summary of each page, which is shown until the next one is computed.
_last: WeakKeyDictionary[Store, ClassSummary] = WeakKeyDictionary()


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    room = store.classroom
    if room is None:
        return {}
    here = [each for each in room.students if each.n_tabs]
    answering = _answering(store, room)
    summary = _summary(store, answering)
    new = {each.number: _count_new(each, store) for each in answering}
    shares = {} if summary is None else summary.shares
    return {
        "address": room.address,
        "code": room.code,
        "qr": qr_path(room.address),
        "sentence": f"{count_noun(len(here), 'student')} here, "
        f"{count_noun(sum(each.n_answers for each in answering), 'answer')}.",
        "students": [
            {
                "number": each.number,
                "name": each.name,
                "here": each.n_tabs > 0,
                "answers": each.n_answers,
                "new": new.get(each.number, 0),
                "share": _percent(shares.get(each.number)),
                "elsewhere": bool(each.n_answers) and each.labels != store.session.labels,
            }
            for each in room.students
        ],
        "pairs": [] if summary is None else [_pair(each) for each in summary.pairs.items()],
        "majority": {}
        if summary is None or not summary.majority
        else _with_names(summary.majority, store.session.labels),
    }


def depends_on(store: Store) -> Any:
    """Return what the state reads."""
    room, session = store.classroom, store.session
    return (
        room,
        session.constraints,
        session.choices,
        session.labels,
        store.n_computed,
    )


@lru_cache(maxsize=8)
def qr_path(text: str) -> dict[str, Any]:
    """Return a QR code as an SVG path of unit squares, and the number of modules in a row."""
    rows = segno.make(text, error="m", micro=False).matrix
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
    )
    return {"path": path, "size": len(rows)}


def _answering(store: Store, room: ClassView) -> tuple[Student, ...]:
    """Return the students who gave answers about the items of this page."""
    labels = store.session.labels
    return tuple(each for each in room.students if each.n_answers and each.labels == labels)


def _count_new(student: Student, store: Store) -> int:
    constraints, choices = new_answers(student, store.session)
    return len(constraints) + len(choices)


def _summary(store: Store, students: tuple[Student, ...]) -> ClassSummary | None:
    """Return the newest summary that is known, and request that of the present answers."""
    if not students:
        _last.pop(store, None)
        return None
    key = (TOPIC, store.session.labels, tuple((s.number, s.name, s.revision) for s in students))
    order = store.session.order
    known = store.compute_cache.ask(TOPIC, {key: lambda: summarise(students, order)}).get(key)
    if isinstance(known, ClassSummary):
        _last[store] = known
    return _last.get(store)


def summarise(students: tuple[Student, ...], near: NDArray[Any] | None) -> ClassSummary:
    """Return how the students agree, and the tree of the majority in an order like ``near``."""
    pairs = pairwise_agreement(students)
    trees = [each.tree for each in students if each.tree is not None]
    majority: dict[str, Any] = {}
    if trees and 2 <= trees[0].n_leaves <= MAX_ITEMS:
        posterior = Posterior(trees[0].n_leaves)
        for tree in trees:
            posterior.add(tree, 0.0)
        before = None if near is None else {"order": near}
        drawn = draw_summary(posterior, ("consensus", 50, "balanced"), before)["drawn"]
        majority = {**drawn, "trees": len(trees)}
    return ClassSummary(pairs, shares_with_class(students, pairs), majority)


def _with_names(majority: dict[str, Any], labels: tuple[str, ...]) -> dict[str, Any]:
    sentence = (
        f"The branches that more than half of {count_noun(majority['trees'], 'tree')} of students "
        "have. A number is the share of these trees in per cent; without one, all have the branch, "
        "or it is too narrow for a number."
    )
    return {**majority, "names": [labels[k] for k in majority["items"]], "sentence": sentence}


def _pair(each: tuple[tuple[int, int], ExpertAgreement]) -> list[Any]:
    """Return the two numbers, the share in per cent, and a sentence."""
    (first, second), found = each
    share = _percent(found.share)
    if share is None:
        text = "nothing that both decide"
    else:
        text = f"{found.n_agreeing:,} alike, {found.n_contradicting:,} in conflict"
    return [first, second, share, f"{found.first} and {found.second}: {text}"]


def _percent(share: float | None) -> int | None:
    return None if share is None else round(100 * share)


__all__ = ["ClassSummary", "depends_on", "qr_path", "state", "summarise"]
