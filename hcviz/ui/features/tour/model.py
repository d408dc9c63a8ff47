"""State of the tour's card, as plain JSON."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from hcviz.algorithms import get as get_algorithm
from hcviz.core.tree import Tree
from hcviz.ui.features.tour.example import Example, misplaced_item
from hcviz.ui.features.tour.steps import STEPS, Facts, Suggestion
from hcviz.ui.state.store import Store

#: The example of a tree.
_examples: WeakKeyDictionary[Tree, Example | None] = WeakKeyDictionary()


def facts(store: Store) -> Facts:
    """Return what the steps of the tour depend on."""
    session, view, data = store.session, store.view, store.dataset
    tree = session.tree
    used = session.enabled
    return Facts(
        selection=view.selection,
        clusters=view.n_clusters or None,
        method=session.method,
        is_drafted=bool(view.draft.apart) and view.draft.statement(session.n_items) is not None,
        n_constraints=len(session.constraints),
        n_items=session.n_items,
        has_tree=tree is not None,
        has_features=data is not None and data.features is not None,
        has_classes=data is not None and data.classes is not None,
        samples=get_algorithm(session.method).samples,
        is_running=session.status == "sampling",
        is_satisfied=tree is not None
        and bool(used)
        and tree.n_leaves == session.n_items
        and used[-1].holds_in(tree),
        can_redo=bool(session.future),
        suggestion=_suggestion(store),
    )


def _suggestion(store: Store) -> Suggestion | None:
    """Return the names of an item that stands apart from its class; None without one.

    The example is of the tree that was there when the run began: it does not change with each tree
    of a run.
    """
    session, data = store.session, store.dataset
    tree = session.tree if session.status != "sampling" else store.baseline or session.tree
    if data is None or tree is None or tree.n_leaves != session.n_items:
        return None
    if tree not in _examples:
        _examples[tree] = misplaced_item(tree, data.classes)
    found = _examples[tree]
    if found is None:
        return None
    labels = session.labels
    return Suggestion(
        labels[found.item], labels[found.friend], labels[found.odd], found.kind, found.other,
        found.item,
    )  # fmt: skip


def facts_depend_on(store: Store) -> Any:
    """Return what the facts depend on; the store compares it by identity."""
    view, session = store.view, store.session
    if view.tour is None:
        return (session.snapshot is None,)
    return (
        view.selection, view.n_clusters, view.draft, session.method, session.constraints,
        session.status, session.future, session.snapshot is None,
        session.snapshot if view.tour.is_last else None,
    )  # fmt: skip


def state(store: Store) -> dict[str, Any]:
    """Return the state of the card. A lesson or presentation has the page for itself.

    The tour is offered when there is a tree.
    """
    tour, view = store.view.tour, store.view
    is_used = (view.playing, view.lesson, view.presenting) != (None, None, None)
    if tour is None or is_used:
        is_offered = not is_used and store.session.snapshot is not None
        return {"on": False, "offered": is_offered, "steps": len(STEPS)}
    step, now = tour.step, facts(store)
    return {
        "on": True,
        "offered": False,
        "at": tour.at,
        "steps": len(STEPS),
        "ready": now.has_tree,
        "title": step.title,
        "text": tour.text(now),
        "hint": tour.hint(now),
        "targets": list(step.targets),
        "about": list(step.about),
        "opens": step.opens,
    }


def depends_on(store: Store) -> Any:
    """Return what the card depends on."""
    view = store.view
    used = (view.playing is not None, view.lesson is not None, view.presenting is not None)
    return *facts_depend_on(store), view.tour, *used


__all__ = ["depends_on", "facts", "facts_depend_on", "state"]
