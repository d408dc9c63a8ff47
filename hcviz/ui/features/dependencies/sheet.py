"""How the constraints depend on each other: the dependency digraph of Chatziafratis et al. (2018),
in layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import HcvizError
from hcviz.metrics import Dependency
from hcviz.ui.features.dependencies import model as dependencies
from hcviz.ui.features.dependencies.section import deepest, words
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.sheet import Sheet, drawn_by
from hcviz.ui.state.store import Store

#: Rounds over the layers that put classes near those they are joined to.
ROUNDS = 6


def picture(store: Store) -> dict[str, Any]:
    found = dependencies.digraph(store)
    if found is None:
        return {"said": "Being worked out.", "boxes": []}
    if isinstance(found, HcvizError):
        return {"said": found.message, "boxes": []}
    labels, rows = store.session.labels, store.session.triplets.rows
    layer, place = arranged(found)
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
        "said": _said(found),
        "words": words(store, found),
    }


def arranged(found: Dependency) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(layer, place)`` of each class, int64 (N,): the longest path to it, and where in its layer.

    Classes without an edge have layer -1. Within a layer they stand near the mean place of their
    neighbours (Sugiyama's barycentres), which keeps crossings few. O(rounds e log N).
    """
    count = len(found.bases)
    edges = found.edges.astype(np.int64)
    layer = np.zeros(count, np.int64)
    for _ in range(count):  # at most as often as there are layers
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
    for turn in range(ROUNDS):
        down = turn % 2 == 0
        here_of, there_of = (edges[:, 1], edges[:, 0]) if down else (edges[:, 0], edges[:, 1])
        for each in depths if down else depths[::-1] - 1:
            here = np.flatnonzero(layer == each)
            total, near = np.zeros(count), np.zeros(count)
            np.add.at(total, here_of, place[there_of])
            np.add.at(near, here_of, 1.0)
            wish = np.where(near > 0, total / np.maximum(near, 1.0), place)[here]
            place[here[np.lexsort((place[here], wish))]] = np.arange(here.size)
    return layer, place


def _said(found: Dependency) -> str:
    n, e = len(found.bases), len(found.edges)
    pairs = f"{n:,} pair{'s' * (n != 1)} bound"
    if not e:
        return f"{pairs}; none waits for another. The measure is {found.dmc:,.6g}."
    waits = f"{e:,} dependenc{'y' if e == 1 else 'ies'}"
    return f"{pairs}, {waits}, {deepest(found):,} layers below the deciding one."


def _lacks(store: Store) -> str:
    if not store.session.labels:
        return "No data yet."
    if not store.session.enabled:
        return "There are no answers yet."
    if len(store.session.triplets) > dependencies.MOST:
        return f"Drawn for up to {dependencies.MOST:,} triplets."
    return ""


def _sees(store: Store) -> Any:
    return (store.session.constraints, store.session.labels, store.answers, store.view.selection)


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    if name == "pick":
        n = actions.store.session.n_items
        items = tuple(int(item) for item in more.get("items", ()))
        if items and 0 <= min(items) <= max(items) < n:
            actions.take(items)


SHEET = Sheet(
    name="dependencies",
    title="Dependencies",
    summary="Which answers wait for which, in layers",
    make=drawn_by(__file__),
    picture=picture,
    sees=_sees,
    lacks=_lacks,
    act=_act,
)
