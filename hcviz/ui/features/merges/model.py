"""State of the sheet *Merges*, as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.core.merge_steps import MergeStep
from hcviz.core.text import names_text
from hcviz.ui.state.store import Store
from hcviz.ui.tree.shown_axis import axis_of

#: Items whose merges are shown, and items whose distances are shown as numbers.
MAX_ITEMS, MAX_NUMBERS = 60, 12


def has_merges(store: Store) -> bool:
    """Return True if the method merges by a matrix of distances, and the items are few."""
    if store.dataset is None or not 2 <= store.session.n_items <= MAX_ITEMS:
        return False
    return get_algorithm(store.session.method).merge_steps is not None


def is_waiting(store: Store) -> bool:
    """Return True until the method has returned its tree."""
    return store.session.tree is None or store.session.shown != store.session.run


def steps_of(store: Store) -> tuple[MergeStep, ...]:
    """Return the merges of the tree shown; none until it is there, or if it was repaired."""
    session = store.session
    steps, tree = get_algorithm(session.method).merge_steps, session.tree
    if steps is None or tree is None or is_waiting(store):
        return ()
    problem = store.problem.with_triplets(session.triplets).with_groups(session.required_clades)
    return steps(problem, tree)


def shown_count(store: Store, steps: Sequence[MergeStep]) -> int:
    """Return how many merges are shown."""
    return min(store.view.merges, len(steps))


def depends_on(store: Store) -> Any:
    """Return what :func:`state` reads."""
    session, view = store.session, store.view
    return (
        session.snapshot, session.method, session.run, session.shown, session.data,
        session.labels, view.merges, view.marks_merge, view.playing is None, has_merges(store),
    )  # fmt: skip


def state(store: Store) -> dict[str, Any]:
    """Return the tree so far, and the distances between its clusters."""
    if not has_merges(store):
        return {}
    steps, tree = steps_of(store), store.session.tree
    if not steps or tree is None:
        return {"waiting": is_waiting(store)}
    done, marked = shown_count(store, steps), store.view.marks_merge
    at = done - 1 if marked and done else done
    row = _rows(store, len(steps) + 1)
    table = _table(steps, at, store.session.labels, row, mark=marked and done > 0)
    labels = store.session.labels
    return {
        "names": [labels[item] for item in np.argsort(row).tolist()],
        "brackets": _brackets(steps[:done], row),
        "top": max(step.height for step in steps) or 1.0,
        "height": _number_format(steps)(steps[done - 1].height) if done else "",
        "axis": axis_of(store, tree).title,
        "done": done,
        "all": len(steps),
        "playing": store.view.playing is not None,
        **table,
    }


def _rows(store: Store, n: int) -> NDArray[np.int64]:
    """Return the row of each item, from the order of the leaves in the tree."""
    order = store.session.order
    row = np.arange(n)
    if order is not None and len(order) == n:
        row[order] = np.arange(n)
    return row


def _brackets(steps: Sequence[MergeStep], row: NDArray[np.int64]) -> list[list[float]]:
    """Return for each merge the height and row of both parts, and the height of the merge."""
    at: dict[bytes, tuple[float, float]] = {}
    found = []
    for step in steps:
        ends = []
        for cluster in (step.clusters[each] for each in step.pair):
            items = np.sort(cluster)
            ends.append(at.get(items.tobytes(), (0.0, float(row[items[0]]))))
        (low, y0), (high, y1) = sorted(ends, key=lambda end: end[1])
        found.append([low, y0, high, y1, step.height])
        joined = np.sort(np.concatenate([step.clusters[each] for each in step.pair]))
        at[joined.tobytes()] = (step.height, (y0 + y1) / 2)
    return found


def _table(
    steps: Sequence[MergeStep], at: int, labels: Sequence[str], row: NDArray[np.int64], mark: bool
) -> dict[str, Any]:
    """Return the distances between the clusters before merge ``at``, in the order of the tree."""
    if at == len(steps):
        return {
            "clusters": [],
            "rows": [],
            "cells": [],
            "mark": None,
            "numbers": True,
            "sentence": "",
        }
    step = steps[at]
    order = sorted(range(len(step.clusters)), key=lambda k: int(row[step.clusters[k]].min()))
    place = {cluster: k for k, cluster in enumerate(order)}
    values = step.distances[np.ix_(order, order)]
    names = [
        names_text(sorted(step.clusters[k].tolist(), key=lambda i: row[i]), labels) for k in order
    ]
    first, second = sorted(place[each] for each in step.pair)
    write = _number_format(steps)
    sentence = ""
    if mark:
        sentence = f"{names[first]} and {names[second]} merge at {write(step.height)}."
        if step.height - step.distances[step.pair] > 1e-9 * max(1.0, step.height):
            sentence += " A constraint did not allow it earlier."
        elif step.distances[step.pair] > _smallest(step.distances) * (1 + 1e-9):
            sentence += " Nearer pairs may not merge: a constraint forbids it."
    numbers = len(labels) <= MAX_NUMBERS
    return {
        "clusters": names,
        "rows": [
            float(row[step.clusters[k]].min() + row[step.clusters[k]].max()) / 2 for k in order
        ],
        "cells": [
            [[float(v), write(float(v)) if numbers else ""] for v in values[k, :k]]
            for k in range(len(order))
        ],
        "mark": [second, first] if mark else None,
        "numbers": numbers,
        "sentence": sentence,
    }


def _smallest(distances: NDArray[np.float64]) -> float:
    """Return the smallest distance between two different clusters."""
    return float(distances[np.triu_indices(len(distances), 1)].min())


def _number_format(steps: Sequence[MergeStep]) -> Any:
    """Return a function that writes distances, with as many decimals as a class can add up."""
    largest = max(float(step.distances.max()) for step in steps)
    decimals = 0 if largest >= 1000 else 1 if largest >= 10 else 2
    return lambda value: (
        f"{value:,.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{value:,.0f}"
    )


__all__ = ["depends_on", "has_merges", "is_waiting", "shown_count", "state", "steps_of"]
