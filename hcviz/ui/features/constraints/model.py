"""What the list of constraints shows: the one being stated, the list, the experts; plain JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.base import parameter_doc
from hcviz.session import actions as act
from hcviz.session import experts
from hcviz.session.judge import State, judge, states
from hcviz.session.model import Constraint
from hcviz.ui.features.supports import model as certainty
from hcviz.ui.state import default_method as choosing
from hcviz.ui.state.store import Store

#: So many answers of another author, and more, are one line that opens: a drawn tree has hundreds.
FOLD = 40
#: Of those, so many are shown when it is opened.
SHOWN = 60
#: Conflicts with so many earlier answers are shown leaf by leaf, and so many leaves of a group.
FEW = 4
CHIPS = 6
#: So many verdicts of a draft are shown.
JUDGED = 4


def picture(store: Store) -> dict[str, Any]:
    session, view = store.session, store.view
    said = states(session)
    counts = Counter(each.author for each in session.constraints)
    folded = [name for name, n in counts.items() if n >= FOLD and name != session.author]
    return {
        "ready": session.snapshot is not None,
        "items": [
            _row(store, each, said) for each in session.constraints if each.author not in folded
        ],
        "folds": [_fold(store, name, said) for name in folded],
        "count": len(session.constraints),
        "used": len(session.enabled),
        "ignored": _ignored(store) if session.constraints or view.draft.open else None,
        "conflict": conflict(store),
        "draft": _draft(store) if view.draft.open else None,
        "author": session.author,
        "experts": _experts(store),
    }


def _row(store: Store, each: Constraint, said: dict[int, State]) -> dict[str, Any]:
    return {
        "id": each.id,
        "sentence": each.sentence(store.session.labels),
        "enabled": each.enabled,
        "state": said.get(each.id, "satisfied"),
        "author": each.author,
        "weight": each.weight,
        "note": each.note,
    }


def _fold(store: Store, author: str, said: dict[int, State]) -> dict[str, Any]:
    """What one author said, as one line; what is wrong stands first when it is opened."""
    theirs = [each for each in store.session.constraints if each.author == author]
    kinds = Counter(said.get(each.id, "satisfied") for each in theirs)
    order: dict[State, int] = {"conflict": 0, "violated": 1}
    shown = sorted(theirs, key=lambda each: order.get(said.get(each.id, "satisfied"), 2))[:SHOWN]
    return {
        "author": author,
        "count": len(theirs),
        "states": [[kind, number] for kind, number in kinds.most_common()],
        "rows": [_row(store, each, said) for each in shown],
        "more": len(theirs) - len(shown),
    }


def conflict(store: Store) -> dict[str, Any] | None:
    """What is at odds, each answer with its leaves where there are few, and what can be done."""
    session = store.session
    clash, labels = session.conflict, session.labels
    if clash is None:
        return None
    by_id = {c.id: c for c in session.constraints}
    members = [by_id[i] for i in clash.with_ids if i in by_id]
    new = by_id.get(clash.constraint_id)
    few = new is not None and len(members) <= FEW
    last = session.past[-1].label if session.past else ""
    return {
        "id": clash.constraint_id,
        "sentence": clash.sentence,
        "waiting": [by_id[i].sentence(labels) for i in clash.waiting if i in by_id],
        "members": [each.sentence(labels) for each in members],
        "repairs": [
            {
                "id": i,
                "sentence": f"Keep the new answer, switch off: {by_id[i].sentence(labels)}",
            }
            for i in clash.repairs
            if i in by_id
        ],
        "answers": [_at_odds(store, each, each is new) for each in [*members, new] if each]
        if few
        else [],
        "undo": last if last.startswith("Add") else "",
        "softs": _softs(store),
    }


def _at_odds(store: Store, each: Constraint, fresh: bool) -> dict[str, Any]:
    labels = store.session.labels

    def leaf(item: int) -> dict[str, Any]:
        return {"id": item, "name": labels[item]}

    return {
        "id": each.id,
        "sentence": each.sentence(labels),
        "author": each.author,
        "fresh": fresh,
        "group": [leaf(item) for item in each.group[:CHIPS]],
        "more": max(0, len(each.group) - CHIPS),
        "apart": leaf(each.apart),
    }


def _softs(store: Store) -> list[dict[str, str]]:
    """Ways to treat constraints as soft: of this method, and of the first that always does."""
    found = []
    session = store.session
    method = get_algorithm(session.method)
    if method.softened_by:
        what = method.params.param[method.softened_by]
        found.append(
            {
                "method": session.method,
                "text": f"Treat constraints as soft ({what.label})",
                "title": f"Switches all of them on. {what.label} is set in the method's form: "
                f"{parameter_doc(what)}",
            }
        )
    other = None if store.dataset is None else choosing.always_soft(store.problem)
    if other is not None and other is not method:
        found.append(
            {
                "method": other.name,
                "text": f"Treat constraints as soft: {other.title}",
                "title": f"Changes the method and switches all constraints on. {other.summary}",
            }
        )
    return found


def softening(store: Store, method: str) -> act.Soften | None:
    """The action of one of these; None where nothing is at odds any more."""
    clash = store.session.conflict
    if clash is None or method not in {each["method"] for each in _softs(store)}:
        return None
    values = get_algorithm(method).softening(store.problem)
    return act.Soften(method, values, (clash.constraint_id, *clash.waiting))


def _ignored(store: Store) -> dict[str, str] | None:
    """That the method in use ignores constraints, and the method to use instead: "" for none."""
    session = store.session
    if session.treats != "ignored":
        return None
    other = None
    if store.dataset is not None:
        other = choosing.keeping_constraints(session, store.problem)
    return {
        "sentence": f"{get_algorithm(session.method).title} ignores constraints.",
        "method": "" if other is None else other.name,
        "text": "" if other is None else f"Use {other.title}, which keeps them",
    }


def keeping(store: Store) -> act.SetMethod | None:
    """The action of that button: the statement in progress stays open."""
    if store.session.treats != "ignored" or store.dataset is None:
        return None
    other = choosing.keeping_constraints(store.session, store.problem)
    return None if other is None else act.SetMethod(other.name)


def _draft(store: Store) -> dict[str, Any]:
    session, draft = store.session, store.view.draft
    statements = draft.ready
    ready = statements[:JUDGED]
    verdicts = [judge(session, group, apart, session.author) for group, apart in ready]

    def chips(items: tuple[int, ...]) -> dict[str, Any]:
        shown = [{"id": item, "name": session.labels[item]} for item in items[:CHIPS]]
        return {"shown": shown, "more": len(items) - len(shown)}

    return {
        "mode": draft.mode,
        "sentence": draft.sentence(session.labels),
        "together": chips(draft.group),
        "apart": chips(draft.apart),
        "ready": bool(ready),
        "verdicts": [{"kind": v.kind, "sentence": v.sentence} for v in verdicts],
        "more": len(statements) - len(ready),
        "beliefs": [
            {"kind": kind, "sentence": said}
            for (group, apart), verdict in zip(ready, verdicts, strict=True)
            if verdict.kind == "correction"
            for kind, said in certainty.of_answer(store, group, apart)
        ],
    }


def marks(store: Store) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The leaves pointed at, or of the gesture in progress, or the item that a lesson asks about:
    (together, apart)."""
    draft, lesson = store.view.draft, store.view.lesson
    if store.view.peek is not None:
        return store.view.peek
    if lesson is not None and lesson.asked is not None and not draft.open:
        return (lesson.asked.gap.item,), ()
    return (tuple(draft.group), tuple(draft.apart)) if draft.open else ((), ())


# ---------------------------------------------------------------------- experts


def _experts(store: Store) -> dict[str, Any] | None:
    """Who says what, and how they agree; None while one person without a name says it all."""
    session = store.session
    found = experts.experts(session)
    if len(found) < 2 and session.author == "you":
        return None
    by_id = {each.id: each for each in session.constraints}
    return {
        "rows": [
            {
                "name": each.name,
                "said": each.said,
                "used": each.used,
                "on": each.used > 0,
                "weight": each.weight,
                "you": each.name == session.author,
            }
            for each in found
        ],
        "weighs": session.weighs,
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "share": None if pair.share is None else certainty.percent(pair.share),
                "sentence": _agreement(pair),
                "clashes": [
                    {
                        "id": clash.id,
                        "sentence": by_id[clash.id].sentence(session.labels),
                        "with": [by_id[i].sentence(session.labels) for i in clash.with_ids],
                    }
                    for clash in pair.clashes
                ],
                "more": pair.n_clashes - len(pair.clashes),
            }
            for pair in experts.agreements(session)
        ],
    }


def _agreement(pair: experts.Agreement) -> str:
    """In words: what was compared, and what came out."""
    if not pair.stated:
        return "No triple of items is spoken of by both."
    if pair.share is None:
        return f"Neither confirmed nor denied: {_triples(pair.open)} of items both name."
    text = f"{pair.alike:,} alike, {pair.against:,} at odds"
    if pair.open:
        text += f", {pair.open:,} left open by one"
    text += f", of {_triples(pair.looked_at)}"
    if pair.looked_at < pair.stated:
        text += f" looked at ({pair.stated:,} stated)"
    return text + "."


def _triples(count: int) -> str:
    return f"{count:,} triple{'s' * (count != 1)}"
