"""The section Pictures of this method: its views, each drawn by the renderer of its type."""

from __future__ import annotations

from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.snapshot import View
from hcviz.ui.features.method_views import renderers
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.foldable import foldable_section
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

ACTS = Acts()


def rendered_views(store: Store) -> dict[str, dict[str, Any]]:
    """Return the views of the tree on the screen as plain JSON, by name."""
    found = {}
    for name, view in _views_to_draw(store).items():
        render = renderers.RENDERERS.get(type(view))
        drawn = None if render is None else render(store, view)
        if drawn is not None:
            found[name] = drawn
    return found


def _views_to_draw(store: Store) -> dict[str, View]:
    """Return the views of the tree on the screen, without those that are drawn elsewhere.

    The curve of the method has its own section; the heatmap draws matrices of items.
    """
    snapshot = store.session.snapshot
    if snapshot is None or snapshot.tree.n_leaves != store.session.n_items:
        return {}
    curve = get_algorithm(store.session.method).curve
    return {
        name: view
        for name, view in snapshot.views.items()
        if name
        and not (curve is not None and name == curve.view)
        and not renderers.is_drawn_elsewhere(store, view)
    }


def state(store: Store) -> dict[str, Any]:
    """Return the state of the section, as plain JSON."""
    return {"views": [{"name": name, **drawn} for name, drawn in rendered_views(store).items()]}


def _is_shown(store: Store) -> bool:
    """Return True if there is a view with a renderer, without rendering it."""
    return any(type(view) in renderers.RENDERERS for view in _views_to_draw(store).values())


@ACTS.on("mask")
def _toggle_mask(actions: Actions) -> None:
    actions.store.change_view(query_mask=not actions.store.view.query_mask)


@ACTS.on("item")
def _select_item(actions: Actions, id: int) -> None:
    if 0 <= id < actions.store.session.n_items:
        actions.select_items((id,))


def _depends_on(store: Store) -> Any:
    return (
        store.session.snapshot,
        store.session.method,
        store.view.selection,
        store.view.query_mask,
    )


SECTION = foldable_section(
    name="views",
    title="Pictures of this method",
    is_shown=_is_shown,
    is_open_at_first=lambda store: True,
    state=state,
    depends_on=_depends_on,
    acts=ACTS,
)
