"""The section Why this split: the pieces that the constraints leave of the selected clade."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.aho_graph import explanation
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store

ACTS = Acts()


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


@ACTS.on("piece")
def _select_piece(actions: Actions, piece: int) -> None:
    graph = explanation.graph_of_clade(actions.store)
    if graph is not None and 0 <= piece < len(graph.components):
        actions.select_items(graph.components[piece])


@ACTS.on("graph")
def _show_graph(actions: Actions) -> None:
    actions.store.change_view(sheet="why", why="split")


SECTION = Section(name="explanation", state=_state, depends_on=_depends_on, acts=ACTS)
