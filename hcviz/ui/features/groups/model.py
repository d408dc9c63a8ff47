"""State of the panel of groups and of the field that names the selected items, as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hcviz.core.text import count_noun, join_names
from hcviz.taxonomy import Change, Group, Taxonomy
from hcviz.taxonomy.formats import FORMATS
from hcviz.taxonomy.nesting import parents_of
from hcviz.ui.features.about_group.suggestions import suggestions
from hcviz.ui.features.groups.places import (
    change_of,
    clade_of,
    group_of_items,
    lock_of,
    shown_taxonomy,
    unlocked_groups,
)
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.state.store import Store

#: Names in the short text and in the tooltip of a change, at most.
MAX_NAMES, MAX_NAMES_IN_TOOLTIP = 2, 20
#: Items that the row of a group lists, at most.
MAX_LISTED = 300
#: Selected items that can be moved into a group with one click, at most.
MOVED = 50
#: Separates other names of a group in their field.
SEPARATOR = "; "


def depends_on(store: Store) -> Any:
    """Return what the panel depends on."""
    session, view = store.session, store.view
    return (
        session.groups, session.constraints, session.labels, store.drawn, view.lesson,
        view.selection, view.support, view.listed_group,
        store.is_streaming, session.status, view.draft.open,
    )  # fmt: skip


def state(store: Store) -> dict[str, Any]:
    """Return the state of the panel."""
    taxonomy = shown_taxonomy(store)
    chosen = group_of_items(store, store.view.selection)
    selected = "" if chosen is None else chosen.id
    if taxonomy is None:  # there is no tree of all items, as before the first run
        rows, tray = _rows_by_members(store, selected), []
    else:
        rows = _placed_rows(store, taxonomy, selected)
        tray = [_row(store, group, group.members, selected) for group in taxonomy.unplaced]
    free = store.view.selection and chosen is None and not store.view.draft.open
    return {
        "ready": store.session.snapshot is not None,
        "rows": rows,
        "tray": tray,
        "changed": sum(row["change"] is not None for row in rows),
        "canPlace": bool(free),
        "unlocked": len(unlocked_groups(store)),
        "formats": [[key, each.title] for key, each in FORMATS.items()],
    }


def _rows_by_members(store: Store, selected: str) -> list[dict[str, Any]]:
    """Return all groups, nested by their members."""
    groups = store.session.groups
    parents = parents_of(groups)
    rows: list[dict[str, Any]] = []

    def add(parent: int | None, level: int) -> None:
        for k, group in enumerate(groups):
            if parents[k] == parent:
                rows.append(_row(store, group, group.members, selected) | {"level": level})
                add(k, level + 1)

    add(None, 1)
    return rows


def _placed_rows(store: Store, taxonomy: Taxonomy, selected: str) -> list[dict[str, Any]]:
    """Return the placed groups in the order of the picture, each before the groups in it."""
    tree = taxonomy.tree
    group_of = {
        node: group
        for group, node in zip(taxonomy.groups, taxonomy.nodes, strict=True)
        if node >= 0
    }
    place = np.empty(tree.n_leaves, np.int64)
    # While a draft is open, a newer tree than the one on the screen may wait.
    order = store.session.order if tree is store.session.tree else None
    place[tree.leaf_order if order is None else order] = np.arange(tree.n_leaves)
    first = {node: int(place[tree.leaves(node)].min()) for node in group_of}
    supports = supports_model.clade_supports(store)
    rows: list[dict[str, Any]] = []
    open_nodes: list[int] = []
    for node in sorted(group_of, key=lambda node: (first[node], -int(tree.size[node]))):
        while open_nodes and not _is_inside(tree, node, open_nodes[-1]):
            open_nodes.pop()
        open_nodes.append(node)
        group = group_of[node]
        row = _row(store, group, tuple(tree.leaves(node).tolist()), selected)
        support = (
            None if supports is None or node < tree.n_leaves else supports[node - tree.n_leaves]
        )
        if support is not None and np.isfinite(support) and node != tree.root:
            row["support"] = supports_model.percent(float(support))
        change = change_of(taxonomy, group.id)
        row["change"] = None if change is None else change_text(change, store.session.labels)
        row["level"] = len(open_nodes)
        rows.append(row)
    return rows


def _is_inside(tree: Any, node: int, other: int) -> bool:
    begin, size = int(tree.leaf_start[node]), int(tree.size[node])
    start = int(tree.leaf_start[other])
    return start <= begin and begin + size <= start + int(tree.size[other])


def _row(store: Store, group: Group, items: tuple[int, ...], selected: str) -> dict[str, Any]:
    """Return the row of a group; ``items`` are those of its place, or its members."""
    chosen, open_draft = store.view.selection, store.view.draft.open
    listed = items if store.view.listed_group == group.id else ()
    order = store.session.order
    if listed and order is not None and store.session.tree is not None:
        inside = set(listed)
        listed = tuple(item for item in order.tolist() if item in inside)
    labels = store.session.labels
    return {
        "listed": bool(listed),
        "items": [{"id": item, "name": labels[item]} for item in listed[:MAX_LISTED]],
        "more": max(0, len(listed) - MAX_LISTED),
        "canMove": 0 < len(chosen) <= MOVED
        and not open_draft
        and not set(chosen).intersection(items)
        and len(chosen) + len(items) < len(labels),
        "id": group.id,
        "name": group.name,
        "count": len(items),
        "level": 1,
        "support": "",
        "note": group.note,
        "alternatives": SEPARATOR.join(group.alternatives),
        "accepted": group.status == "accepted",
        "locked": lock_of(store, items) is not None,
        "change": None,
        "selected": group.id == selected,
    }


def change_text(change: Change, labels: Sequence[str]) -> dict[str, str]:
    """Return a change as ``+1 Thermos flask, −0``, and with more names for the tooltip."""

    def text(sign: str, items: tuple[int, ...], most: int) -> str:
        names = join_names([labels[item] for item in items[:most]], most, len(items))
        return f"{sign}{len(items)} {names}" if items else f"{sign}0"

    short, long = (
        f"{text('+', change.gained, most)}, {text('−', change.lost, most)}"
        for most in (MAX_NAMES, MAX_NAMES_IN_TOOLTIP)
    )
    return {"text": short, "title": f"{long}, compared with the items of {change.name}"}


def selection_state(store: Store) -> dict[str, Any] | None:
    """Return the state of the field that names the selected items.

    None for one item that is no group.
    """
    chosen = store.view.selection
    group = group_of_items(store, chosen)
    if group is None and len(chosen) < 2:
        return None
    taxonomy = shown_taxonomy(store)
    parent = _parent_name(taxonomy, chosen, group)
    items = chosen if group is None else clade_of(taxonomy, group)
    lock: dict[str, Any] = {
        "canLock": 1 < len(items) < store.session.n_items,
        "key": selection_key(chosen),
    }
    lock["suggestions"] = suggestions(store, chosen)
    if group is None:
        locked = lock_of(store, items) is not None
        return {"id": "", "name": "", "parent": parent, "locked": locked, **lock}
    row = _row(store, group, items, group.id)
    change = change_of(taxonomy, group.id)
    row["change"] = None if change is None else change_text(change, store.session.labels)
    return row | {"parent": parent, **lock}


def selection_key(items: Sequence[int]) -> str:
    """Return a short text that differs for other items, to recognise a selection again."""
    return f"{len(items)}-{hash(tuple(items)) & 0xFFFFFFFF:x}"


def _parent_name(taxonomy: Taxonomy | None, items: tuple[int, ...], group: Group | None) -> str:
    """Return the path of the groups around the items: ``Kitchen › Storage``, or ""."""
    if taxonomy is None or not items:
        return ""
    tree = taxonomy.tree
    group_of = dict(zip(taxonomy.nodes, taxonomy.groups, strict=True))
    node, names = tree.smallest_clade(items), []
    while node >= 0:
        if node in group_of and group_of[node] is not group:
            names.append(group_of[node].name)
        node = int(tree.parent[node])
    return " › ".join(reversed(names))


def changes_sentence(store: Store) -> str:
    """Return how many groups have other items or no place after a run, or ""."""
    taxonomy = shown_taxonomy(store)
    if taxonomy is None or store.is_streaming:
        return ""
    changed, lost = len(taxonomy.changes), len(taxonomy.unplaced)
    parts = []
    if changed:
        verb = "has" if changed == 1 else "have"
        parts.append(f"{count_noun(changed, 'group')} {verb} other items")
    if lost:
        verb = "has" if lost == 1 else "have"
        what = f"{lost:,}" if parts else count_noun(lost, "group")
        parts.append(f"{what} {verb} no place")
    return f"{' and '.join(parts)} in this tree." if parts else ""


__all__ = [
    "SEPARATOR",
    "change_text",
    "changes_sentence",
    "depends_on",
    "selection_key",
    "selection_state",
    "state",
]
