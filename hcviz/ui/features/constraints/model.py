"""State of the constraints panel: the draft, the list and the experts, as plain JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import InvalidConstraint
from hcviz.core.text import count_noun
from hcviz.session import actions as act
from hcviz.session import experts
from hcviz.session.assessment import ConstraintState, assess, constraint_states
from hcviz.session.model import Constraint
from hcviz.ui.features.conflicts import model as conflicts_model
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.state import default_method
from hcviz.ui.state.store import Store

#: From this many constraints of another author on, they are folded into one line. A reference tree
#: has hundreds.
FOLD_FROM = 40
#: Constraints shown of a folded author at most.
MAX_ROWS = 60
#: The kind of the assessment if no constraint can be made of the draft.
REFUSED = "refused"


def state(store: Store) -> dict[str, Any]:
    """Return the state of the constraints panel, as plain JSON."""
    session, view = store.session, store.view
    states = constraint_states(session)
    counts = Counter(each.author for each in session.constraints)
    folded = [name for name, n in counts.items() if n >= FOLD_FROM and name != session.author]
    return {
        "ready": session.snapshot is not None,
        "not_group_refusal": not_group_refusal(session.method),
        "items": [
            _row(store, each, states) for each in session.constraints if each.author not in folded
        ],
        "folds": [_author_fold(store, name, states) for name in folded],
        "count": len(session.constraints),
        "used": len(session.enabled),
        "ignored": _ignored_note(store) if session.constraints or view.draft.open else None,
        "conflict": conflicts_model.state(store),
        "draft": _draft(store) if view.draft.open else None,
        "author": session.author,
        "experts": _experts(store),
        "redraws": view.n_redraws,
        "playing": view.playing is not None,
    }


def not_group_refusal(method: str) -> str:
    """Return why the method cannot keep that items are not a group; "" if it can."""
    found = get_algorithm(method)
    return "" if found.avoids_groups else f"{found.title} cannot keep this. The sampler (DDT) can."


def _row(store: Store, each: Constraint, states: dict[int, ConstraintState]) -> dict[str, Any]:
    reason = ""
    if each.enabled and each.is_not_group:
        reason = not_group_refusal(store.session.method)
    state = states.get(each.id, "satisfied")
    return {
        "id": each.id,
        "sentence": store.session.sentence_of(each),
        "enabled": each.enabled,
        "state": "violated" if reason and state == "pending" else state,
        "reason": reason,
        "author": each.author,
        "weight": each.weight,
        "note": each.note,
    }


def _author_fold(store: Store, author: str, states: dict[int, ConstraintState]) -> dict[str, Any]:
    """Return the constraints of one author as one line that opens.

    Conflicts and violated constraints come first.
    """
    theirs = [each for each in store.session.constraints if each.author == author]
    kinds = Counter(states.get(each.id, "satisfied") for each in theirs)
    order: dict[ConstraintState, int] = {"conflict": 0, "violated": 1, "pending": 1}
    shown = sorted(theirs, key=lambda each: order.get(states.get(each.id, "satisfied"), 2))[
        :MAX_ROWS
    ]
    return {
        "author": author,
        "count": len(theirs),
        "states": [[kind, number] for kind, number in kinds.most_common()],
        "rows": [_row(store, each, states) for each in shown],
        "more": len(theirs) - len(shown),
    }


def _ignored_note(store: Store) -> dict[str, str] | None:
    """Return that the method in use ignores constraints, and a method to use instead.

    None if the method uses constraints.
    """
    session = store.session
    if session.constraint_mode != "ignored":
        return None
    other = None
    if store.dataset is not None:
        other = default_method.keeping_constraints(session, store.problem)
    return {
        "sentence": f"{get_algorithm(session.method).title} ignores constraints.",
        "method": "" if other is None else other.name,
        "text": "" if other is None else f"Use {other.title}, which keeps them",
    }


def switch_method_action(store: Store) -> act.SetMethod | None:
    """Return the action that changes to a method which uses constraints; None if none is needed.

    The open draft stays.
    """
    if store.session.constraint_mode != "ignored" or store.dataset is None:
        return None
    other = default_method.keeping_constraints(store.session, store.problem)
    return None if other is None else act.SetMethod(other.name)


def _draft(store: Store) -> dict[str, Any]:
    session, draft = store.session, store.view.draft
    stated = draft.statement(session.n_items)
    assessment: dict[str, str] | None = None
    sample_shares: list[tuple[str, str]] = []
    if stated is not None:
        try:
            found = assess(session, *stated, session.author, not not_group_refusal(session.method))
            assessment = {"kind": found.kind, "sentence": found.sentence}
        except InvalidConstraint as fault:
            assessment = {"kind": REFUSED, "sentence": f"{fault.message} {fault.hint}".strip()}
        # Items that are together may still get an odd one out: then this is half a sentence.
        is_complete = bool(draft.apart) or bool(draft.into)
        if assessment["kind"] == "correction" and is_complete:
            sample_shares = supports_model.answer_sentences(store, *stated)

    def chips(items: tuple[int, ...]) -> dict[str, Any]:
        shown = [
            {"id": item, "name": session.labels[item]}
            for item in items[: conflicts_model.MAX_CHIPS]
        ]
        return {"shown": shown, "more": len(items) - len(shown)}

    return {
        "mode": draft.mode,
        "sentence": draft.sentence(session.labels),
        "together": chips(draft.group),
        "apart": chips(draft.apart),
        "assessment": assessment,
        "ready": assessment is not None and assessment["kind"] != REFUSED,
        "sampleShares": [{"kind": kind, "sentence": text} for kind, text in sample_shares],
    }


def marked_leaves(store: Store) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the leaves to mark in the tree, as (together, apart).

    These are the leaves under the pointer in a conflict card, else those of the open draft, else
    the item of a lesson's question, or the newest answer at the last step of the tour.
    """
    draft, lesson, tour = store.view.draft, store.view.lesson, store.view.tour
    if store.view.pointed_items is not None:
        return store.view.pointed_items
    if lesson is not None and lesson.asked is not None and not draft.open:
        return (lesson.asked.gap.item,), ()
    if draft.open:
        return tuple(draft.group), tuple(draft.apart)
    used = store.session.enabled
    if tour is not None and tour.is_last and used:
        return tuple(used[-1].group), tuple(used[-1].outsiders)
    return (), ()


# ---------------------------------------------------------------------- experts


def _experts(store: Store) -> dict[str, Any] | None:
    """Return the authors and how they agree; None if there is one author without a name."""
    session = store.session
    found = experts.experts(session)
    if len(found) < 2 and session.author == "you":
        return None
    by_id = {each.id: each for each in session.constraints}
    return {
        "rows": [
            {
                "name": each.name,
                "answers": each.n_answers,
                "used": each.n_enabled,
                "on": each.n_enabled > 0,
                "weight": each.weight,
                "you": each.name == session.author,
            }
            for each in found
        ],
        "weighs": session.is_soft,
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "share": None if pair.share is None else supports_model.percent(pair.share),
                "sentence": _agreement(pair),
                "disagreements": [
                    {
                        "id": each.id,
                        "sentence": session.sentence_of(by_id[each.id]),
                        "with": [session.sentence_of(by_id[i]) for i in each.with_ids],
                    }
                    for each in pair.disagreements
                ],
                "more": pair.n_disagreements - len(pair.disagreements),
            }
            for pair in experts.agreements(session)
        ],
    }


def _agreement(pair: experts.ExpertAgreement) -> str:
    """Return a sentence about how far two authors agree."""
    if not pair.n_stated:
        return "No triple of items has a statement by both."
    if pair.share is None:
        return (
            f"Neither agree nor contradict: {count_noun(pair.n_open, 'triple')} of items both name."
        )
    text = f"{pair.n_agreeing:,} alike, {pair.n_contradicting:,} in conflict"
    if pair.n_open:
        text += f", {pair.n_open:,} left open by one"
    text += f", of {count_noun(pair.n_checked, 'triple')}"
    if pair.n_checked < pair.n_stated:
        text += f" checked ({pair.n_stated:,} stated)"
    return text + "."
