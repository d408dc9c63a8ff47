"""What a sheet is: a larger picture that lies over the tree, chosen by a tab."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hcviz.ui.parts.actions import Actions, no_act
from hcviz.ui.parts.part import OnAct, Part, script
from hcviz.ui.state.store import Store


def _always(store: Store) -> str:
    return "" if store.session.snapshot is not None else "No tree yet."


def _no_live(store: Store) -> dict[str, Any]:
    return {}


def _anyway(store: Store) -> bool:
    return True


@dataclass(frozen=True)
class Sheet:
    """One tab's picture.

    ``make(on_act)`` is called at the sheet's first opening and gives anything that Panel shows and
    that has a ``state`` and a ``live``: usually a part that draws plain JSON (:func:`drawn_by`).
    While the sheet lies open, ``picture(store)`` becomes its state whenever ``sees(store)``, the
    slice it depends on, changes, and ``live(store)`` its ``live``: what changes at every click, so
    that the picture need not travel again. ``lacks(store)`` says in a sentence why there is nothing
    to show ("" if there is); ``shown(store)`` is False where these data cannot have such a picture:
    then it has no tab. ``act(actions, name, more)`` gets what is done on it;
    ``actions.store`` is the store.
    """

    name: str
    title: str
    summary: str
    make: Callable[[OnAct], Any]
    picture: Callable[[Store], dict[str, Any]]
    sees: Callable[[Store], Any]
    lacks: Callable[[Store], str] = _always
    shown: Callable[[Store], bool] = _anyway
    act: Callable[[Actions, str, dict[str, Any]], None] = no_act
    live: Callable[[Store], dict[str, Any]] = _no_live


def drawn_by(module: str) -> type[Part]:
    """Return a part whose script and style are ``sheet.js`` and ``sheet.css`` beside ``module``."""
    name = f"Sheet_{Path(module).parent.name}"
    return type(name, (Part,), {"__module__": __name__, **script(module, "sheet")})
