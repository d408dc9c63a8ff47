"""State of the tour's card, as plain JSON."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.tour.steps import STEPS, Facts
from hcviz.ui.state.store import Store


def facts(store: Store) -> Facts:
    """Return what the steps of the tour depend on."""
    session, view = store.session, store.view
    return Facts(
        selection=view.selection,
        clusters=view.clusters,
        method=session.method,
        is_drafted=bool(view.draft.apart) and view.draft.statement(session.n_items) is not None,
        n_constraints=len(session.constraints),
    )


def facts_depend_on(store: Store) -> Any:
    """Return what the facts depend on; the store compares it by identity."""
    view, session = store.view, store.session
    return (
        view.selection, view.clusters, view.draft, session.method, session.constraints,
    )  # fmt: skip


def state(store: Store) -> dict[str, Any]:
    """Return the state of the card. A lesson or presentation has the page for itself."""
    tour, view = store.view.tour, store.view
    is_used = (view.playing, view.lesson, view.presenting) != (None, None, None)
    if tour is None or is_used:
        return {"on": False, "offered": not is_used, "steps": len(STEPS)}
    step = tour.step
    is_there = step.has_subject(facts(store))
    return {
        "on": True,
        "offered": False,
        "at": tour.at,
        "steps": len(STEPS),
        "title": step.title,
        "text": step.text if is_there else step.missing,
        "hint": step.hint if is_there else "",
        "targets": list(step.targets),
        "about": list(step.about),
    }


def depends_on(store: Store) -> Any:
    """Return what the card depends on."""
    view = store.view
    used = (view.playing is not None, view.lesson is not None, view.presenting is not None)
    return *facts_depend_on(store), view.tour, *used


__all__ = ["depends_on", "facts", "facts_depend_on", "state"]
