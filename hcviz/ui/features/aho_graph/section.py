"""The section Why this split: the pieces that the constraints leave of the selected clade."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.aho_graph import explanation
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store


def _state(store: Store) -> dict[str, Any] | None:
    """Return the explanation of the selected clade; None if nothing is selected."""
    return explanation.split_state(store) if store.view.selection else None


def _depends_on(store: Store) -> Any:
    return (
        store.view.selection,
        store.drawn,
        store.session.constraints,
        store.session.constraint_mode,
    )


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    if name == "piece":
        graph = explanation.graph_of_clade(store)
        k = int(more["piece"])
        if graph is not None and 0 <= k < len(graph.components):
            actions.select_items(graph.components[k])
    elif name == "graph":
        store.look(sheet="why", why="split")


SECTION = Section(name="why", state=_state, depends_on=_depends_on, act=_act)
