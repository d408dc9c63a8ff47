"""State of the presentation's heading."""

from __future__ import annotations

from typing import Any

from hcviz.core.text import count_noun, join_names
from hcviz.ui.features.groups.places import group_of_items, taxonomy_on
from hcviz.ui.features.presentation.presenting import Presenting
from hcviz.ui.features.presentation.stops import stops
from hcviz.ui.state.store import Store

#: Items that the heading names where the clade has no name.
NAMED_ITEMS = 3


def state(store: Store) -> dict[str, Any]:
    """Return the state of the heading, as plain JSON."""
    presenting, dataset = store.view.presenting, store.dataset
    if presenting is None or dataset is None:
        return {"on": False}
    items, labels = store.view.selection, store.session.labels
    at_stop = set(items) == set(stop_items(store, presenting))
    return {
        "on": True,
        "title": dataset.title,
        "heading": heading(store) if items else dataset.title,
        "detail": _detail(store) if items else count_noun(len(labels), "item"),
        "whole": not items,
        "at": presenting.at if at_stop else 0,
        "stops": len(presenting.nodes) - 1,
        "first": presenting.at == 0,
        "last": presenting.at + 1 == len(presenting.nodes),
    }


def heading(store: Store) -> str:
    """Return the name of the selected items' group, or the first of their names."""
    items, labels = store.view.selection, store.session.labels
    group = group_of_items(store, items)
    if group is not None:
        return group.name
    return join_names([labels[item] for item in items[:NAMED_ITEMS]], NAMED_ITEMS, len(items))


def _detail(store: Store) -> str:
    """Return how many items there are, and the height at which they are joined."""
    items, drawn = store.view.selection, store.drawn
    text = f"{len(items):,} of {count_noun(len(store.session.labels), 'item')}"
    if drawn is None or store.axis is None or len(items) < 2:
        return text
    node = drawn.tree.smallest_clade(items)
    if int(drawn.tree.size[node]) != len(set(items)):
        return f"{text}, which are not one branch"
    word, value = store.axis.heights_of(node)[-1]
    return f"{text} · {word.lower()} {value}"


def new_stops(store: Store, order: Any) -> tuple[int, ...]:
    """Return the nodes to step through in the tree that is drawn; () without a tree."""
    drawn = store.drawn
    if drawn is None or len(order) != drawn.tree.n_leaves:
        return ()
    taxonomy = taxonomy_on(store, drawn.tree)
    return stops(drawn.tree, () if taxonomy is None else taxonomy.nodes, order)


def stop_items(store: Store, presenting: Presenting) -> tuple[int, ...]:
    """Return the items of the present stop; () for the whole tree."""
    if presenting.at == 0 or store.drawn is None:
        return ()
    return tuple(store.drawn.tree.leaves(presenting.nodes[presenting.at]).tolist())


def focus(store: Store) -> Any:
    """Return the items that are talked about; None without a presentation."""
    return None if store.view.presenting is None else store.view.selection


__all__ = ["focus", "heading", "new_stops", "state", "stop_items"]
