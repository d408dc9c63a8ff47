"""Sections under a heading that folds them away; what is folded away is not worked out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store


def folding(
    name: str,
    title: str,
    there: Callable[[Store], bool],
    opens: Callable[[Store], bool],
    picture: Callable[[Store], dict[str, Any]],
    sees: Callable[[Store], Any],
    act: Callable[[Actions, str, dict[str, Any]], None],
) -> Section:
    """A section that is shown where ``there(store)``.

    It begins open where ``opens(store)``, and as the person leaves it from then on. Its script
    draws with ``foldable`` of ``ui/parts/dom.js``; ``picture`` is made of open ones alone.
    """

    def is_open(store: Store) -> bool:
        return store.view.folds.get(name, opens(store))

    def folded(store: Store) -> dict[str, Any] | None:
        if not there(store):
            return None
        head = {"title": title, "open": is_open(store)}
        return head | picture(store) if head["open"] else head

    def acts(actions: Actions, what: str, more: dict[str, Any]) -> None:
        store = actions.store
        if what == "fold":
            store.look(folds={**store.view.folds, name: not is_open(store)})
        else:
            act(actions, what, more)

    def depends(store: Store) -> Any:
        shown = there(store)
        return (shown, is_open(store), sees(store) if shown and is_open(store) else ())

    return Section(name, folded, depends, acts)


def structural(store: Store) -> bool:
    """Whether the method in use is declared to minimise Dasgupta's cost of similarities."""
    return get_algorithm(store.session.method).objective == "minimise"
