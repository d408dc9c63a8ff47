"""State of the page frame: whether a run, a card or a draft is active."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.lesson_player.model import open_panels
from hcviz.ui.state.store import Store


def state(store: Store) -> dict[str, Any]:
    """Return the state of the frame, as plain JSON."""
    step, total = store.session.progress
    presenting = store.view.presenting is not None
    return {
        "busy": store.session.status == "sampling",
        "progress": min(1.0, step / total) if total else 0.0,
        "asking": asks(store),
        "draft_open": store.view.draft.open,
        "panels": "none" if presenting else open_panels(store),
        "presenting": presenting,
        "lesson_open": store.view.lesson is not None,
    }


def asks(store: Store) -> bool:
    """Return True if a card asks something, or will after the run."""
    view = store.view
    return bool(view.three) or view.question is not None or view.wants_question


def depends_on(store: Store) -> Any:
    """Return what the frame depends on."""
    session, view = store.session, store.view
    lesson = view.lesson is not None
    cards = (asks(store), view.draft.open, lesson, open_panels(store), view.presenting is None)
    return (session.status, session.progress, *cards)
