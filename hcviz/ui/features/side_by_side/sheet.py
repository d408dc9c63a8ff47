"""The sheet Side by side: the trees of up to four methods, with a table of their figures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.core.alignment import aligned_order
from hcviz.core.errors import HcvizError
from hcviz.core.layout import with_even_heights
from hcviz.core.tree import Tree
from hcviz.session import actions as act
from hcviz.side_by_side import TreeFigures, measure
from hcviz.side_by_side.lines import MIXED, item_colours, tree_lines
from hcviz.ui.features.files.controller import file_stem
from hcviz.ui.features.side_by_side.model import MAX_METHODS, chosen_methods
from hcviz.ui.features.side_by_side.result import SideResult
from hcviz.ui.features.tanglegram.sheet import method_key
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.method_runs import runnable_methods
from hcviz.ui.parts.packing import pack
from hcviz.ui.parts.palette import MISSING, THEMES
from hcviz.ui.parts.part import PARTS
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Names, and marks of selected items, are sent for up to so many items.
MAX_NAMED = 3_000
#: Coordinates are whole numbers of 16 bits, from 0 to this.
COORDINATE_STEPS = 60_000
#: The two ways to draw heights.
HEIGHTS = ("true", "even")


@dataclass(frozen=True, eq=False)
class Column:
    """What a column shows of a tree: its figures, and its branches packed for the browser."""

    figures: TreeFigures
    lines: str
    colours: str
    order: str


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    session, view = store.session, store.view
    if store.dataset is None or store.dataset.labels != session.labels:
        return {}
    names = chosen_methods(store)
    results = dict(view.side_results)
    columns = _columns(store, results)
    able = set(runnable_methods(store.problem))
    theme = THEMES[view.theme]
    return {
        "methods": [[name, get_algorithm(name).title] for name in runnable_methods(store.problem)],
        "columns": [
            _column(store, name, results.get(name), columns.get(name))
            for name in names
            if name in able
        ],
        "most": MAX_METHODS,
        "left": sum(name not in results for name in names),
        "running": get_algorithm(view.side_running).title if view.side_running else "",
        "waiting": view.side_wanted and not view.side_running,
        "items": session.n_items,
        "names": list(session.labels) if session.n_items <= MAX_NAMED else [],
        "codes": pack(_codes(store), np.int16) if session.n_items <= MAX_NAMED else "",
        "answers": len(session.enabled),
        "palette": list(theme.clusters),
        "ink": {"text": theme.ink, "branch": theme.branch, "paper": theme.paper},
        "heights": view.side_heights,
        "now": session.method,
        "file": file_stem(session.data),
    }


def _column(
    store: Store, name: str, result: SideResult | None, column: Column | HcvizError | None
) -> dict[str, Any]:
    """Return one method's column: how it works, or its error, or its tree and figures."""
    method = get_algorithm(name)
    running = store.view.side_running == name
    shown: dict[str, Any] = {
        "name": name,
        "title": method.title,
        "how": f"{method.summary} {method.how_it_works}".strip(),
        "state": "running" if running else "idle",
        "sentence": "",
    }
    if result is None:
        return shown
    shown |= {"sentence": result.sentence, "seconds": result.seconds}
    if result.tree is None or isinstance(column, HcvizError):
        sentence = result.sentence or str(column)
        return shown | {"state": "failed", "sentence": sentence}
    if column is None:
        return shown | {"state": "drawing"}
    figures = column.figures
    return shown | {
        "state": "done",
        "lines": column.lines,
        "colours": column.colours,
        "order": column.order,
        "cost": None if isnan(figures.cost) else figures.cost,
        "distance": figures.distance,
        "violated": figures.violated,
        "queries": None if isnan(result.queries) else result.queries,
    }


def _codes(store: Store) -> NDArray[np.int32]:
    """Return the colour of each item: as on the page, else by the larger clusters of its tree."""
    shown = store.item_colours()
    tree = store.session.tree
    if shown is not None and len(shown) == store.session.n_items:
        return np.where(shown == MISSING, MIXED, shown.astype(np.int32)).astype(np.int32)
    if tree is None:
        return np.full(store.session.n_items, MIXED, np.int32)
    return _colours_of(tree)


@lru_cache(maxsize=8)
def _colours_of(tree: Tree) -> NDArray[np.int32]:
    return item_colours(tree)


def _columns(store: Store, results: Mapping[str, SideResult]) -> Mapping[str, Any]:
    """Return what is known of each column. A thread computes the others."""
    trees = {name: made.tree for name, made in results.items() if made.tree is not None}
    if not trees or store.session.order is None:
        return {}
    first, near, codes = next(iter(trees.values())), store.session.order, _codes(store)
    problem, heights, constraints = store.problem, store.view.side_heights, store.session.enabled

    def compute(tree: Tree) -> Column:
        broken = sum(not each.holds_in(tree) for each in constraints)
        figures = measure(problem, tree, first)
        order = aligned_order(tree, aligned_order(first, near))
        shape = with_even_heights(tree) if heights == "even" else tree
        drawn = tree_lines(shape, order, codes)
        return Column(
            TreeFigures(figures.cost, figures.distance, broken),
            pack(np.round(drawn.ends * COORDINATE_STEPS), np.uint16),
            pack(drawn.colours, np.int16),
            pack(order, np.int32) if tree.n_leaves <= MAX_NAMED else "",
        )

    common = (first, near.tobytes(), codes.tobytes(), heights, constraints)
    keys = {name: ("side by side", tree, *common) for name, tree in trees.items()}
    wanted: dict[Hashable, Callable[[], Any]] = {
        keys[name]: partial(compute, tree) for name, tree in trees.items()
    }
    known = store.compute_cache.ask("side by side", wanted)
    return {name: known.get(key) for name, key in keys.items()}


def _live(store: Store) -> dict[str, Any]:
    return {"chosen": list(store.view.selection)}


def _depends_on(store: Store) -> Any:
    session, view = store.session, store.view
    return (
        view.side_results, view.side_running, view.side_wanted, view.side_methods,
        view.side_heights, view.selection, session.method, session.constraints, session.tree,
        store.dataset, store.clusters, store.n_computed, session.choices,
    )  # fmt: skip


@ACTS.on("run")
def _run(actions: Actions) -> None:
    """Run the methods of the columns, which then stay when the session gets another method."""
    store = actions.store
    store.change_view(side_methods=chosen_methods(store), side_wanted=True)


@ACTS.on("cancel")
def _cancel(actions: Actions) -> None:
    actions.store.change_view(side_wanted=False)


@ACTS.on("heights")
def _set_heights(actions: Actions, value: str) -> None:
    if value in HEIGHTS:
        actions.store.change_view(side_heights=value)


@ACTS.on("choose")
def _choose(actions: Actions, at: int, value: str) -> None:
    """Put a method into the column ``at``; "" removes the column."""
    store = actions.store
    picked = list(chosen_methods(store))
    if value and (value in picked or value not in runnable_methods(store.problem)):
        return
    if value and at == len(picked) < MAX_METHODS:
        picked.append(value)
    elif 0 <= at < len(picked):
        picked[at : at + 1] = [value] if value else []
    store.change_view(side_methods=tuple(picked))


@ACTS.on("use")
def _use(actions: Actions, value: str) -> None:
    """Make the method the session's, and show its tree on the page."""
    store = actions.store
    if value in runnable_methods(store.problem):
        if value != store.session.method:
            store.dispatch(act.SetMethod(value))
        store.change_view(sheet="tree")


@ACTS.on("compare")
def _compare(actions: Actions, value: str) -> None:
    """Show the tree of a method beside the present one, with lines between their items."""
    actions.store.change_view(compared=method_key(value), sheet="before")


@ACTS.on("pick")
def _select(actions: Actions, id: int) -> None:
    if 0 <= id < actions.store.session.n_items:
        actions.select_items((id,))


SHEET = Sheet(
    name="side-by-side",
    title="Side by side",
    summary="The trees of up to four methods, with their figures",
    make=sheet_part(__file__, PARTS / "method_runs", Path(__file__).with_name("files")),
    state=state,
    depends_on=_depends_on,
    acts=ACTS,
    live=_live,
)
