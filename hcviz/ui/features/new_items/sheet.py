"""The sheet New items: each with its group and probability, to accept or dismiss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hcviz.core.text import count_noun
from hcviz.session import actions as act
from hcviz.session.new_item_rules import locks_around
from hcviz.taxonomy import Group
from hcviz.taxonomy.nesting import parents_of
from hcviz.ui.features.groups.places import clade_of, shown_taxonomy
from hcviz.ui.features.new_items.model import LIKELY, NewItems
from hcviz.ui.features.new_items.opening import NEW_ITEMS, keep_list, place_again
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Rows that are listed, at most. All can be accepted.
MAX_LISTED = 200


def state(store: Store) -> dict[str, Any]:
    """Return the list of new items as plain JSON."""
    items, session = store.view.new_items, store.session
    if items is None:
        return {}
    left = items.undecided(session.labels)
    outline = _outline(session.groups)
    ordered = _order(items, left, [group.id for group, _ in outline])
    listed = ordered[:MAX_LISTED]
    locked = {
        group
        for group in {items.group_of(row, session.groups) for row in listed}
        if any(lock.enabled for lock in locks_around(session, group))
    }
    known = set(session.labels)
    return {
        "name": items.rows.filename,
        "notes": list(items.notes),
        "rows": [_row(items, row, session.groups, locked) for row in listed],
        "groups": [[group.id, group.name, level] for group, level in outline],
        "left": len(left),
        "sure": len(items.likely(session.labels, session.groups)),
        "percent": round(100 * LIKELY),
        "dismissed": len(items.dismissed),
        "accepted": sum(label in known for label in items.rows.labels),
        "changed": items.groups != session.groups or items.n_items != session.n_items,
    }


def _row(items: NewItems, row: int, groups: Sequence[Group], locked: set[str]) -> dict[str, Any]:
    found = items.found.items[row]
    present = {group.id: group.name for group in groups}
    chosen = items.group_of(row, groups)
    return {
        "row": row,
        "item": found.item,
        "path": [
            {"name": present[group.id], "percent": int(100 * share + 1e-9)}
            for group, share in zip(found.path, found.probabilities, strict=True)
            if group.id in present
        ],
        "unplaced": found.is_unplaced,
        "group": chosen,
        "locked": chosen in locked,
        "byHand": row in items.chosen,
    }


def _outline(groups: Sequence[Group]) -> list[tuple[Group, int]]:
    """Return the groups, each before the groups in it, with their levels from 0. O(k)."""
    inside: dict[int | None, list[int]] = {}
    for k, parent in enumerate(parents_of(groups)):
        inside.setdefault(parent, []).append(k)
    found: list[tuple[Group, int]] = []
    waiting = [(k, 0) for k in reversed(inside.get(None, []))]
    while waiting:
        k, level = waiting.pop()
        found.append((groups[k], level))
        waiting += [(below, level + 1) for below in reversed(inside.get(k, []))]
    return found


def _order(items: NewItems, rows: Sequence[int], outline: Sequence[str]) -> list[int]:
    """Sort rows: those that fit nowhere last, then by group in the outline, then by probability."""
    place = {group: k for k, group in enumerate(outline)}

    def key(row: int) -> tuple[bool, int, float, int]:
        found = items.found.items[row]
        group = found.path[-1].id if found.path else ""
        return found.is_unplaced, place.get(group, len(place)), -found.probability, row

    return sorted(rows, key=key)


def _depends_on(store: Store) -> Any:
    session = store.session
    return (
        store.view.new_items, session.groups, session.labels, session.constraints, session.tree,
    )  # fmt: skip


def _has_tab(store: Store) -> bool:
    return store.view.new_items is not None


def _unavailable_because(store: Store) -> str:
    return "" if _has_tab(store) else "No table of new items is open."


def _accept(store: Store, rows: Sequence[int]) -> None:
    items, session = store.view.new_items, store.session
    if items is None:
        return
    chosen = set(items.undecided(session.labels)).intersection(rows)
    if chosen:
        ordered = sorted(chosen)
        groups = tuple(items.group_of(row, session.groups) for row in ordered)
        store.dispatch(act.AcceptItems(items.rows.chosen(ordered), groups))


@ACTS.on("accept-item")
def _accept_item(actions: Actions, row: int) -> None:
    _accept(actions.store, [row])


@ACTS.on("accept-sure")
def _accept_sure(actions: Actions) -> None:
    items, session = actions.store.view.new_items, actions.store.session
    if items is not None:
        _accept(actions.store, items.likely(session.labels, session.groups))


@ACTS.on("dismiss-item")
def _dismiss(actions: Actions, row: int) -> None:
    store = actions.store
    items = store.view.new_items
    if items is not None and row in items.undecided(store.session.labels):
        message = f"Dismissed: {items.rows.labels[row]}. It is not added."
        keep_list(store, items.dismiss(row), message=message)


@ACTS.on("bring-back")
def _bring_back(actions: Actions) -> None:
    store = actions.store
    items = store.view.new_items
    if items is not None:
        message = f"{count_noun(len(items.dismissed), 'dismissed item')} in the list again."
        keep_list(store, items.with_dismissed(), message=message)


@ACTS.on("choose-group")
def _choose(actions: Actions, row: int, group: str) -> None:
    store = actions.store
    items = store.view.new_items
    known = {"", *(each.id for each in store.session.groups)}
    if items is not None and row in items.undecided(store.session.labels) and group in known:
        keep_list(store, items.choose(row, group))


@ACTS.on("show-placed")
def _show(actions: Actions, row: int) -> None:
    """Select the clade of a row's group in the tree."""
    store = actions.store
    items = store.view.new_items
    if items is None or not 0 <= row < len(items.rows.labels):
        return
    group = store.session.find_group(items.group_of(row, store.session.groups))
    if group is None:
        store.change_view(message=f"{items.rows.labels[row]} has no group yet: choose one.")
        return
    actions.select_items(clade_of(shown_taxonomy(store), group))
    store.change_view(sheet="tree")


@ACTS.on("place-again")
def _again(actions: Actions) -> None:
    with actions.store.guarded():
        place_again(actions.store)


@ACTS.on("close-new-items")
def _close(actions: Actions) -> None:
    keep_list(actions.store, None, sheet="tree")


SHEET = Sheet(
    name=NEW_ITEMS,
    title="New items",
    summary="The items of a second table, with the groups that they belong to",
    make=sheet_part(__file__),
    state=state,
    depends_on=_depends_on,
    unavailable_because=_unavailable_because,
    has_tab=_has_tab,
    acts=ACTS,
)
