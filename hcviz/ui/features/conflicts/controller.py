"""The messages of the conflict card (constraints panel), and of its buttons (sheet Why)."""

from __future__ import annotations

from collections.abc import Sequence

from hcviz.session import actions as act
from hcviz.ui.features.conflicts import model as conflicts_model
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

ACTS = Acts()


@ACTS.on("resolve")
def _resolve(actions: Actions, enable: int, disable: int) -> None:
    actions.store.dispatch(act.ResolveConflict(enable, (disable,)))


@ACTS.on("soften")
def _soften(actions: Actions, method: str) -> None:
    soften = conflicts_model.soften_action(actions.store, method)
    if soften is not None:
        actions.store.dispatch(soften)


@ACTS.on("undo")
def _undo(actions: Actions) -> None:
    actions.store.dispatch(act.Undo())


@ACTS.on("dismiss")
def _dismiss(actions: Actions, all: bool = False) -> None:
    actions.store.dispatch(act.DismissConflict(all=all))


@ACTS.on("graph")
def _show_graph(actions: Actions) -> None:
    actions.store.change_view(sheet="why", why="conflict")


@ACTS.on("select")
def _select(actions: Actions, items: Sequence[int]) -> None:
    actions.select_items(_known(actions.store, items))


@ACTS.on("point-at")
def _point_at(actions: Actions, together: Sequence[int] = (), apart: Sequence[int] = ()) -> None:
    """Mark items in the tree while the pointer is on their button; without items, no longer."""
    store = actions.store
    pointed = (_known(store, together), _known(store, apart))
    store.change_view(pointed_items=pointed if any(pointed) else None)


def _known(store: Store, items: Sequence[int]) -> tuple[int, ...]:
    """Return the items of a message that are items of the data."""
    return tuple(item for item in items if 0 <= item < store.session.n_items)
