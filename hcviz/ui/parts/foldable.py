"""Sections with a heading that folds them. The state of a folded section is not computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store


def foldable_section(
    name: str,
    title: str,
    is_shown: Callable[[Store], bool],
    is_open_at_first: Callable[[Store], bool],
    state: Callable[[Store], dict[str, Any]],
    depends_on: Callable[[Store], Any],
    acts: Acts | None = None,
) -> Section:
    """Return a section that a person can open and fold.

    The script of the section draws it with ``foldable`` of ``parts/dom.js``.

    Parameters
    ----------
    name, title : str
        Key of the section's script, and its heading.
    is_shown : callable
        ``is_shown(store)`` is False if the section does not apply.
    is_open_at_first : callable
        ``is_open_at_first(store)`` decides until a person opens or folds the section.
    state, depends_on : callable
        As in :class:`Section`. They are used while the section is open.
    acts : Acts, optional
        The messages of the script; the message of the heading is added to them.

    Returns
    -------
    Section
    """

    def is_open(store: Store) -> bool:
        return store.view.folds.get(name, is_open_at_first(store))

    def state_with_heading(store: Store) -> dict[str, Any] | None:
        if not is_shown(store):
            return None
        head = {"title": title, "open": is_open(store)}
        return head | state(store) if head["open"] else head

    with_fold = Acts() if acts is None else Acts(acts)

    @with_fold.on("fold")
    def fold(actions: Actions) -> None:
        store = actions.store
        store.change_view(folds={**store.view.folds, name: not is_open(store)})

    def depends_on_if_open(store: Store) -> Any:
        shown = is_shown(store)
        return (shown, is_open(store), depends_on(store) if shown and is_open(store) else ())

    return Section(name, state_with_heading, depends_on_if_open, with_fold)


def minimises_cost(store: Store) -> bool:
    """Return True if the method in use minimises Dasgupta's cost of similarities."""
    return get_algorithm(store.session.method).objective == "minimise"
