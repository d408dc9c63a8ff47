"""The sheet Before and after: a tanglegram of the present tree and an earlier one.

During a review it can show the groups beside those of the second version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.core.layout import elbows, places, with_even_heights
from hcviz.core.tanglegram import untangle
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.metrics import clade_changes
from hcviz.ui.features.groups.places import named_clades
from hcviz.ui.features.supports.support_changes import CHANCE_RULE, ChangedNodes, changed_nodes
from hcviz.ui.features.tanglegram.versions import (
    SECOND_VERSION,
    common_groups,
    names_in,
    nesting_tree,
    switched_items,
)
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.packing import row_ranges
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Key of the tree that was on the screen when the newest run began.
BEFORE_LAST_RUN = "last"
#: The key of the tree of a method begins with this.
METHOD = "method "


def method_key(name: str) -> str:
    """Return the key of the tree of a method of the sheet Side by side."""
    return METHOD + name


def earlier_trees(store: Store) -> dict[str, tuple[str, Tree]]:
    """Return the other trees that differ from the present one: key -> (menu text, tree).

    These are earlier ones, and those of the methods side by side.
    """
    snapshot = store.drawn or store.session.snapshot
    found: dict[str, tuple[str, Tree]] = {}
    if snapshot is None:
        return found

    def other(tree: Tree) -> bool:
        return tree.n_leaves == snapshot.tree.n_leaves and tree != snapshot.tree

    if store.baseline is not None and other(store.baseline):
        found[BEFORE_LAST_RUN] = ("before the last run", store.baseline)
    for entry in reversed(store.session.history):
        if other(entry.tree):
            answers = count_noun(entry.n_constraints, "answer")
            found[f"run {entry.run}.{entry.step}"] = (f"{entry.label} ({answers})", entry.tree)
    for name, made in store.view.side_results:
        if made.tree is not None and other(made.tree):
            found[method_key(name)] = (get_algorithm(name).title, made.tree)
    return found


def state(store: Store) -> dict[str, Any]:
    """Return the two trees, the lines between them and a summary, as plain JSON."""
    snapshot, trees = store.drawn or store.session.snapshot, earlier_trees(store)
    version = store.session.second_version
    menu = [(key, label) for key, (label, _) in trees.items()]
    if version is not None:
        menu.append((SECOND_VERSION, f"the groups of {version.name}"))
    if snapshot is None or not menu:
        return {}
    keys = [key for key, _ in menu]
    chosen = store.view.compared if store.view.compared in keys else keys[0]
    if version is not None and chosen == SECOND_VERSION:
        n, groups = store.session.n_items, common_groups(store.session.groups, version)
        before, after = nesting_tree(groups, n), nesting_tree(version.theirs, n)
        named = names_in(before, groups), names_in(after, version.theirs)
        heads = ["Your groups", version.name]
        near = places(snapshot.tree.leaf_order)
        legend = ["in another group", "group in one version only"]
        switched = switched_items(store.session.labels, groups, version)
        sentence = _difference
    else:
        before, after = trees[chosen][1], snapshot.tree
        named = named_clades(store, before), named_clades(store, after)
        heads, near = ["Before", "Now"], places(after.leaf_order)
        legend, sentence = ["moved", "branch new or gone"], _summary
        if chosen.startswith(METHOD):
            heads = [trees[chosen][0], "On the page"]
            legend = ["in another place", "branch in one tree only"]
            sentence = _method_difference
        switched = None
    left, right, crossings = untangle(before, after, near)
    place = places(right)
    moved = moved_items(place[left]) if switched is None else np.isin(left, switched)
    counted = changed_nodes(store) if _is_counted(store, chosen) else None
    found = clade_changes(before, after)
    changes = counted or ChangedNodes(found.gained, found.lost, n_chance=0)
    return {
        "choices": [[key, label] for key, label in menu],
        "heads": heads,
        "legend": legend,
        "chosen": chosen,
        "left": _drawn(before, left, changes.lost, named[0]),
        "right": _drawn(after, right, changes.gained, named[1]),
        "names": [store.session.labels[item] for item in left],
        "items": left.tolist(),
        "to": place[left].tolist(),
        "moved": np.flatnonzero(moved).tolist(),
        "chosenItems": list(store.view.selection),
        "sentence": sentence(int(moved.sum()), crossings, changes),
        "hint": CHANCE_RULE if changes.n_chance else "",
    }


def _is_counted(store: Store, chosen: str) -> bool:
    """Return True if the earlier tree is that of the footer's counts, which need a finished run."""
    return chosen == BEFORE_LAST_RUN and not store.is_streaming


def moved_items(places: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the smallest set of lines without which no two lines cross.

    Parameters
    ----------
    places : ndarray of int, shape (n,)
        End of each line, in the order in which the lines begin.

    Returns
    -------
    ndarray of bool, shape (n,)
        The lines that are not in a longest increasing subsequence of ``places``.

    Notes
    -----
    O(n log n).
    """
    ends: list[int] = []  # the smallest end of an increasing subsequence of each length
    lasts: list[int] = []
    back = np.full(places.size, -1)
    for k, place in enumerate(places.tolist()):
        length = int(np.searchsorted(ends, place))
        if length == len(ends):
            ends.append(place)
            lasts.append(k)
        else:
            ends[length], lasts[length] = place, k
        if length:
            back[k] = lasts[length - 1]
    out = np.ones(places.size, np.bool_)
    k = lasts[-1] if lasts else -1
    while k >= 0:
        out[k] = False
        k = int(back[k])
    return out


def _drawn(
    tree: Tree, order: NDArray[Any], changed: NDArray[Any], names: Mapping[int, str]
) -> dict[str, Any]:
    """Return a tree as a path, and its changed clades as (height, first row, last row).

    Its groups are (height, first row, last row, name), larger groups first.
    """
    even = with_even_heights(tree)
    x, y = elbows(even, order)
    first, last = row_ranges(tree, order)
    return {
        "top": float(even.height[-1]) or 1.0,
        "path": [None if np.isnan(a) else [float(a), float(b)] for a, b in zip(x, y, strict=True)],
        "changed": [
            [float(even.height[node]), int(first[node]), int(last[node]) + 1]
            for node in changed.tolist()
        ],
        "groups": [
            [
                float(even.height[node]),
                int(first[node]),
                int(last[node]) + 1,
                names[node],
            ]
            for node in sorted(names, reverse=True)
        ],
    }


def _summary(moved: int, crossings: int, changes: ChangedNodes) -> str:
    """Return how the tree differs from an earlier one, beginning as the footer does."""
    if not changes.n_all:
        return changes.sentence
    items = "No item had to move" if not moved else f"{count_noun(moved, 'item')} moved"
    return f"{changes.sentence} {items}; {count_noun(crossings, 'crossing')}."


def _method_difference(moved: int, crossings: int, changes: ChangedNodes) -> str:
    """Return how the tree of a method and that of the page differ."""
    if not changes.n_all:
        return "The same tree: no branch differs."
    return (
        f"{count_noun(moved, 'item')} in another place; "
        f"{count_noun(changes.lost.size, 'branch')} only in the left tree, "
        f"{changes.gained.size:,} only in the right; {count_noun(crossings, 'crossing')}."
    )


def _difference(moved: int, crossings: int, changes: ChangedNodes) -> str:
    """Return how the groups of two versions differ."""
    if not moved and not changes.n_all:
        return "The same groups: no item is in another one."
    return (
        f"{count_noun(moved, 'item')} in another group; "
        f"{count_noun(changes.lost.size, 'group')} only in yours, "
        f"{changes.gained.size:,} only in the file."
    )


def _unavailable_because(store: Store) -> str:
    if store.session.snapshot is None:
        return "No tree yet."
    if store.session.second_version is not None:
        return ""
    return "" if earlier_trees(store) else "There is no earlier tree of these items yet."


def _depends_on(store: Store) -> Any:
    view = store.view
    session = store.session
    return (
        store.drawn, store.baseline, session.history, session.groups, session.second_version,
        view.compared, view.selection, view.side_results,
        store.is_streaming, session.status, session.shown, session.run, session.lineage,
        store.samples, store.previous_samples,
    )  # fmt: skip


@ACTS.on("pick")
def _select(actions: Actions, id: int) -> None:
    actions.select_items((id,))


@ACTS.on("compare")
def _compare_with(actions: Actions, value: str) -> None:
    actions.store.change_view(compared=value)


SHEET = Sheet(
    name="before",
    title="Before and after",
    summary="This tree beside an earlier one",
    make=sheet_part(__file__),
    state=state,
    depends_on=_depends_on,
    unavailable_because=_unavailable_because,
    acts=ACTS,
)
