"""State of the lesson player, and of the panels beside it."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.lesson_player.playing import Playing
from hcviz.ui.state.store import Store

#: Actions that the list of answers shows, so that its panel stays open.
_LISTED = ("answer", "switch on", "switch off")


def state(store: Store) -> dict[str, Any]:
    """Return the state of the player, as plain JSON."""
    playing = store.view.playing
    if playing is None:
        return {"on": False}
    step, phase = playing.step, playing.now.phase
    return {
        "on": True,
        "title": playing.lesson.title,
        "step": playing.now.at + 1,
        "steps": len(playing.lesson.steps),
        "phase": phase,
        "phases": list(step.phases),
        "sentence": step.sentence,
        "question": step.predict if phase == "predict" else "",
        "choices": _choices(playing),
        "reveal": step.reveal if phase in ("reveal", "discuss") else "",
        "discuss": step.discuss if phase == "discuss" else "",
        "first": playing.frame == 0,
        "last": playing.frame + 1 == len(playing.frames),
        "working": store.session.status == "sampling",
    }


def _choices(playing: Playing) -> list[dict[str, Any]]:
    """Return the choices of the step. After the prediction they tell which one is right."""
    vote = playing.votes.get(playing.now.at)
    return [
        {
            "text": text,
            "voted": vote == k,
            "right": None if playing.predicts else right,
        }
        for k, (text, right) in enumerate(playing.step.choices)
    ]


def open_panels(store: Store) -> str:
    """Return which side panels a lesson opens: ``none`` or ``left``; "" without a lesson."""
    playing = store.view.playing
    if playing is None:
        return ""
    lists = any(a.kind in _LISTED for step in playing.lesson.steps for a in step.actions)
    asks = any(step.ask for step in playing.lesson.steps)
    return "left" if lists or asks else "none"


__all__ = ["open_panels", "state"]
