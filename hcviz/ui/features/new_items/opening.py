"""Open a table of new items, and place them in the groups."""

from __future__ import annotations

from collections.abc import Callable

from hcviz.core.errors import HcvizError
from hcviz.core.text import count_noun
from hcviz.io.added_rows import check_can_grow, read_added_rows
from hcviz.session.added_rows import AddedRows
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
            store.change_view(new_items=shown, sheet=NEW_ITEMS, error=None, message=message)

    if size > AT_ONCE or data.features.size > CELLS_AT_ONCE:
        store.loader.start(name, size, work, show)
    else:
        show(work())


__all__ = ["NEW_ITEMS", "check_data", "open_new_items", "place_again"]
