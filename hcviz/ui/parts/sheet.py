"""``Sheet``: a large view that covers the tree while its tab is selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.part import Part, script_and_style
from hcviz.ui.state.store import Store


def _no_tree_yet(store: Store) -> str:
    return "" if store.session.snapshot is not None else "No tree yet."


def _empty(store: Store) -> dict[str, Any]:
    return {}


def _always(store: Store) -> bool:
    return True


@dataclass(frozen=True)
class Sheet:
    """The view of one tab.

    Parameters
    ----------
    name, title, summary : str
        Key of the sheet, text of its tab, and the tab's tooltip.
    make : callable
        ``make(on_act, acts=schema)`` is called when the sheet is first opened. It returns a Panel
        object with the attributes ``state`` and ``live``, usually a part (:func:`sheet_part`).
    state : callable
        ``state(store)`` returns plain JSON, which becomes the part's ``state``.
    depends_on : callable
        ``depends_on(store)`` returns what ``state`` reads. An open sheet is drawn again when this
        value changes.
    unavailable_because : callable
        ``unavailable_because(store)`` returns a sentence that says why the sheet cannot be shown,
        "" if it can.
    has_tab : callable
        ``has_tab(store)`` is False if the present data never have such a view.
    acts : Acts
        The messages of the script. Their handlers get :class:`Actions` as first argument.
    live : callable
        ``live(store)`` returns the small part of the state that changes at every click, so that the
        rest need not be sent again.
    """

    name: str
    title: str
    summary: str
    make: Callable[..., Any]
    state: Callable[[Store], dict[str, Any]]
    depends_on: Callable[[Store], Any]
    unavailable_because: Callable[[Store], str] = _no_tree_yet
    has_tab: Callable[[Store], bool] = _always
    acts: Acts = field(default_factory=Acts)
    live: Callable[[Store], dict[str, Any]] = _empty


def sheet_part(module: str, *shared: Path) -> type[Part]:
    """Return a part whose script and style are ``sheet.js`` and ``sheet.css`` beside ``module``.

    ``shared``: further scripts and styles, as of :func:`script_and_style`.
    """
    name = f"Sheet_{Path(module).parent.name}"
    own = script_and_style(module, "sheet", *shared)
    return type(name, (Part,), {"__module__": __name__, **own})
