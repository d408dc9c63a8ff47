"""The sheet Columns: what was detected in a table, and how each column is used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.ui.features.columns.model import FILE_KINDS, depends_on, read_options, state
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.data_sources import takes_long
from hcviz.ui.state.store import Store

ACTS = Acts()


def _is_table(store: Store) -> bool:
    return store.session.data.kind == "table"


def _no_table(store: Store) -> str:
    return "" if _is_table(store) else "No table is open."


def _open(store: Store, spec: DataSpec, message: str = "") -> None:
    """Read the table again, and show its tree."""
    if takes_long(spec):
        store.loader.open_table(spec, message)
    elif not store.open_data(spec, message):
        return
    store.change_view(sheet="tree")


@ACTS.on("use")
def _use(actions: Actions, columns: Any) -> None:
    store = actions.store
    with store.guarded():
        spec = store.session.data
        options = read_options(columns, spec.columns) if columns else ()
        used = sum(each.used is not False for each in options)
        message = f"{used} of {len(options)} columns are used." if options else ""
        _open(store, replace(spec, columns=options), message)


@ACTS.on("kind")
def _set_kind(actions: Actions, value: str) -> None:
    if value in FILE_KINDS:
        spec: Any = replace(actions.store.session.data, columns=(), left_out=(), table_kind=value)
        _open(actions.store, spec)


@ACTS.on("worksheet")
def _set_worksheet(actions: Actions, value: str) -> None:
    _open(actions.store, replace(actions.store.session.data, columns=(), sheet=value))


@ACTS.on("similarity")
def _set_similarity(actions: Actions, value: str) -> None:
    actions.store.dispatch(act.SetSimilarity(value))


SHEET = Sheet(
    name="columns",
    title="Columns",
    summary="What was detected in your table, and which columns are used",
    make=sheet_part(__file__),
    state=state,
    depends_on=depends_on,
    unavailable_because=_no_table,
    has_tab=_is_table,
    acts=ACTS,
)
