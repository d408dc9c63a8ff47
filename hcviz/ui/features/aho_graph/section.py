"""Why this split? What the answers leave of the selected clade, piece by piece."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.aho_graph import explanation as why
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store


def _picture(store: Store) -> dict[str, Any] | None:
    """None while nothing is selected: the question is about one node."""
    return why.split(store) if store.view.selection else None


def _sees(store: Store) -> Any:
    return (
        store.view.selection,
        store.drawn,
        store.session.constraints,
        store.session.constraint_mode,
    )


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    if name == "piece":
        graph = why.graph_at(store)
        k = int(more["piece"])
        if graph is not None and 0 <= k < len(graph.components):
            actions.take(graph.components[k])
    elif name == "graph":
        store.look(sheet="why", why="split")
    elif name == "show":
        actions.constraints_act("show", more)


SECTION = Section(name="why", picture=_picture, sees=_sees, act=_act)
