"""Open a table of new items, and place them in the groups."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hcviz.core.errors import HcvizError
from hcviz.core.text import count_noun
from hcviz.io.added_rows import check_can_grow, read_added_rows
from hcviz.session import actions as act
from hcviz.session.added_rows import AddedRows
from hcviz.session.offered_items import OfferedItems
from hcviz.ui.features.new_items.model import NewItems, place_rows
from hcviz.ui.state.data_sources import AT_ONCE
from hcviz.ui.state.store import Store

#: Key of the sheet.
NEW_ITEMS = "new_items"

#: Data with more cells are compared on a thread.
CELLS_AT_ONCE = 20_000


def open_new_items(store: Store, name: str, content: bytes) -> None:
    """Read a table of new items, place them, and show the list."""
    check_data(store)
    _place(store, name, len(content), lambda: read_added_rows(content, name))


def place_again(store: Store) -> None:
    """Place the items that are not accepted once more, with the present data and groups."""
    items = store.view.new_items
    if items is None:
        return
    check_data(store)
    known = set(store.session.labels)
    fresh = [row for row, label in enumerate(items.rows.labels) if label not in known]
    rows = items.rows.chosen(fresh)
    if rows.labels:
        _place(store, rows.filename, 0, lambda: (rows, ()), items)


def check_data(store: Store) -> None:
    """Raise HcvizError unless items can be placed: there are groups, and data with features."""
    if store.dataset is None:
        raise HcvizError("There are no data yet.", "Open a table first.")
    check_can_grow(store.dataset)
    if not store.session.groups:
        raise HcvizError("No group has a name yet.", "Select a branch and name it.")


def _place(
    store: Store,
    name: str,
    size: int,
    read: Callable[[], tuple[AddedRows, tuple[str, ...]]],
    before: NewItems | None = None,
) -> None:
    data, labels, groups = store.dataset, store.session.labels, store.session.groups
    assert data is not None

    def work() -> NewItems:
        rows, notes = read()
        return place_rows(rows, notes, data, labels, groups)

    def show(found: NewItems) -> None:
        if store.session.labels == labels:  # else other data were opened since
            count = count_noun(len(found.rows.labels), "new item")
            message = f"{count} from {name}: accept or dismiss each."
            shown = found if before is None else found.with_decisions_of(before)
            keep_list(store, shown, sheet=NEW_ITEMS, error=None, message=message)

    if size > AT_ONCE or data.features.size > CELLS_AT_ONCE:
        store.loader.start(name, size, work, show)
    else:
        show(work())


def keep_list(store: Store, items: NewItems | None, **shown: Any) -> None:
    """Show a list of new items, or close it; the session keeps its rows and decisions."""
    before = store.session.offered_items
    store.view = replace(store.view, new_items=items)
    if items is None:
        store.dispatch(act.CloseNewItems())
    else:
        if before is None or before.rows != items.rows:
            store.dispatch(act.OpenNewItems(items.rows, items.notes))
        store.dispatch(act.DecideNewItems(tuple(items.dismissed), tuple(items.chosen.items())))
    store.change_view(**shown)


def follow_session(store: Store) -> None:
    """Show the list that a loaded session has, and close one that it has not."""

    def show(_: Any) -> None:
        offered, shown = store.session.offered_items, store.view.new_items
        if offered is None and shown is not None:
            store.change_view(new_items=None)
        elif offered is not None and (shown is None or not _is_part(shown.rows, offered.rows)):
            _place_offered(store, offered)

    store.subscribe(lambda s: (s.session.offered_items, s.session.data), show)


def _is_part(some: AddedRows, rows: AddedRows) -> bool:
    return some.filename == rows.filename and set(some.labels) <= set(rows.labels)


def _place_offered(store: Store, offered: OfferedItems) -> None:
    """Place the items of a loaded list, unless the present data cannot have them."""
    known = set(store.session.labels)
    rows = [k for k, label in enumerate(offered.rows.labels) if label not in known]
    data, session = store.dataset, store.session
    if not rows or data is None or not session.groups or data.labels != session.labels:
        return
    with suppress(HcvizError):
        found = place_rows(
            offered.rows.chosen(rows), offered.notes, data, session.labels, session.groups
        )
        found = replace(found, notes=offered.notes)
        store.change_view(new_items=found.with_decisions(offered))


__all__ = [
    "NEW_ITEMS",
    "check_data",
    "follow_session",
    "keep_list",
    "open_new_items",
    "place_again",
]
