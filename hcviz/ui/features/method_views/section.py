"""The views that the method came with, each drawn by the renderer of its type."""

from __future__ import annotations

from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.snapshot import View
from hcviz.ui.features.method_views import renderers as views
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.folding import folding
from hcviz.ui.state.store import Store


def pictures(store: Store) -> dict[str, dict[str, Any]]:
    """By name."""
    found = {}
    for name, view in _shown(store).items():
        render = views.RENDERERS.get(type(view))
        drawn = None if render is None else render(store, view)
        if drawn is not None:
            found[name] = drawn
    return found


def _shown(store: Store) -> dict[str, View]:
    """The views of the tree on the screen, without those that are drawn elsewhere.

    The method's curve has a section of its own; the heatmap draws matrices of items.
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
        and not views.elsewhere(store, view)
    }


def picture(store: Store) -> dict[str, Any]:
    return {"views": [{"name": name, **drawn} for name, drawn in pictures(store).items()]}


def _there(store: Store) -> bool:
    """Whether there is a view that has a renderer. Nothing is drawn for that."""
    return any(type(view) in views.RENDERERS for view in _shown(store).values())


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    if name == "mask":
        store.look(veil=not store.view.veil)
    elif name == "item" and 0 <= int(more["id"]) < store.session.n_items:
        actions.take((int(more["id"]),))


def _sees(store: Store) -> Any:
    return (store.session.snapshot, store.session.method, store.view.selection, store.view.veil)


SECTION = folding(
    name="views",
    title="Pictures of this method",
    there=_there,
    opens=lambda store: True,
    picture=picture,
    sees=_sees,
    act=_act,
)
