"""The sheet *Card sort*: names of piles, participants, and cards that were placed variously."""

from __future__ import annotations

from typing import Any

from hcviz.session import actions as act
from hcviz.ui.features.card_sort.model import card_sort_of, depends_on, find_name, live, state
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.default_method import able
from hcviz.ui.state.store import Store

ACTS = Acts()


def _is_card_sort(store: Store) -> bool:
    return card_sort_of(store) is not None


def _no_card_sort(store: Store) -> str:
    return "" if _is_card_sort(store) else "No card sort is open."


@ACTS.on("merge")
def _merge(actions: Actions, names: Any, name: str) -> None:
    """Let the names of the ticked rows count as one."""
    if isinstance(names, list | tuple):
        actions.store.dispatch(act.MergePileNames(tuple(map(str, names)), name))


@ACTS.on("split")
def _split(actions: Actions, name: str) -> None:
    actions.store.dispatch(act.SplitPileName(name))


@ACTS.on("participant")
def _enable(actions: Actions, name: str, on: bool) -> None:
    actions.store.dispatch(act.EnableParticipant(name, on))


@ACTS.on("select-name")
def _select_name(actions: Actions, name: str) -> None:
    """Select the cards that the participants usually put on piles of this name."""
    row = find_name(actions.store, name)
    if row is not None:
        actions.select_items(row.usual_cards)


@ACTS.on("select-card")
def _select_card(actions: Actions, id: int) -> None:
    if 0 <= id < actions.store.session.n_items:
        actions.select_items((id,))


@ACTS.on("method")
def _set_method(actions: Actions, value: str) -> None:
    store = actions.store
    if value in [each.name for each in able(store.problem) if "piles" in each.needs]:
        store.dispatch(act.SetMethod(value))
        store.change_view(sheet="tree")


@ACTS.on("heatmap")
def _show_heatmap(actions: Actions) -> None:
    """Show the tree beside the heatmap, which has the agreement of each two cards."""
    actions.store.change_view(sheet="tree")


SHEET = Sheet(
    name="card-sort",
    title="Card sort",
    summary="What participants called their piles, and how far they agree",
    make=sheet_part(__file__),
    state=state,
    depends_on=depends_on,
    unavailable_because=_no_card_sort,
    has_tab=_is_card_sort,
    acts=ACTS,
    live=live,
)
