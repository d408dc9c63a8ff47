"""The sheet Dependencies: the dependency digraph of Chatziafratis et al. (2018), in layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import HcvizError
from hcviz.core.text import count_noun
from hcviz.metrics import Dependency
from hcviz.ui.features.dependencies import model as dependencies_model
from hcviz.ui.features.dependencies.section import guarantee_sentence, layer_count
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Rounds over the layers, in which each class moves near its neighbours.
SWEEPS = 6


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    found = dependencies_model.dependency_digraph(store)
    if found is None:
        return {"sentence": "Computing…", "boxes": []}
    if isinstance(found, HcvizError):
        return {"sentence": found.message, "boxes": []}
    labels, rows = store.session.labels, store.session.triplets.rows
    layer, place = arrange_layers(found)
    top = int(np.argmax(found.measures))
    deciding = {each for some in found.layers(top) for each in some}
    chosen = set(store.view.selection)
    boxes = []
    for number, (a, b) in enumerate(found.bases.tolist()):
        keys = [int(rows[row, 2]) for row in found.members[number]]
        boxes.append(
            {
                "pair": f"{labels[a]} + {labels[b]}",
                "items": [a, b],
                "keys": [{"item": c, "name": labels[c], "chosen": {a, b, c} == chosen}
                         for c in keys],
                "layer": int(layer[number]),
                "place": int(place[number]),
                "measure": f"{found.measures[number]:,.6g}",
                "deciding": number in deciding and found.dmc > 1,
            }
        )  # fmt: skip
    return {
        "boxes": boxes,
        "edges": found.edges.tolist(),
        "sentence": _summary(found),
        "words": guarantee_sentence(store, found),
    }


def arrange_layers(found: Dependency) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the layer of each class, and its place in the layer.

    Returns
    -------
    layer : ndarray of int64, shape (N,)
        Length of the longest path to the class; -1 for a class without an edge.
    place : ndarray of int64, shape (N,)
        Classes are ordered by the mean place of their neighbours, so that few edges cross (Sugiyama
        et al. 1981).

    Notes
    -----
    O(rounds e log N) for e edges.
    """
    count = len(found.bases)
    edges = found.edges.astype(np.int64)
    layer = np.zeros(count, np.int64)
    for _ in range(count):  # ends after as many rounds as there are layers
        deeper = layer.copy()
        np.maximum.at(deeper, edges[:, 1], layer[edges[:, 0]] + 1)
        if np.array_equal(deeper, layer):
            break
        layer = deeper
    joined = np.zeros(count, np.bool_)
    joined[edges.ravel()] = True
    layer[~joined] = -1
    place = np.zeros(count, np.int64)
    for each in np.unique(layer):
        here = np.flatnonzero(layer == each)
        place[here] = np.arange(here.size)
    depths = np.arange(1, int(layer.max(initial=0)) + 1)
    for turn in range(SWEEPS):
        down = turn % 2 == 0
        here_of, there_of = (edges[:, 1], edges[:, 0]) if down else (edges[:, 0], edges[:, 1])
        for each in depths if down else depths[::-1] - 1:
            here = np.flatnonzero(layer == each)
            total, near = np.zeros(count), np.zeros(count)
            np.add.at(total, here_of, place[there_of])
            np.add.at(near, here_of, 1.0)
            wanted = np.where(near > 0, total / np.maximum(near, 1.0), place)[here]
            place[here[np.lexsort((place[here], wanted))]] = np.arange(here.size)
    return layer, place


def _summary(found: Dependency) -> str:
    n, e = len(found.bases), len(found.edges)
    pairs = f"{count_noun(n, 'pair')} bound"
    if not e:
        return f"{pairs}; none depends on another. The measure is {found.dmc:,.6g}."
    waits = f"{e:,} dependenc{'y' if e == 1 else 'ies'}"
    return f"{pairs}, {waits}, {layer_count(found):,} layers below the deciding one."


def _unavailable_because(store: Store) -> str:
    if not store.session.labels:
        return "No data yet."
    if not store.session.enabled:
        return "There are no answers yet."
    if len(store.session.required_clades):
        return "Defined for triplets only, and some constraints are groups."
    if len(store.session.triplets) > dependencies_model.MAX_TRIPLETS:
        return f"Available up to {dependencies_model.MAX_TRIPLETS:,} triplets."
    return ""


def _depends_on(store: Store) -> Any:
    return (store.session.constraints, store.session.labels, store.n_computed, store.view.selection)


@ACTS.on("pick")
def _select(actions: Actions, items: Sequence[int]) -> None:
    if items and 0 <= min(items) <= max(items) < actions.store.session.n_items:
        actions.select_items(tuple(items))


SHEET = Sheet(
    name="dependencies",
    title="Dependencies",
    summary="Which answers depend on which, in layers",
    make=sheet_part(__file__),
    state=state,
    depends_on=_depends_on,
    unavailable_because=_unavailable_because,
    acts=ACTS,
)
