"""The sheet Agreement: the adjusted Rand index of the k clusters of each two methods.

A method with ``Algorithm.at_k`` gives a partition itself, which is used as in Perrot et al. (2020).
The tree of any other method is cut into k clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.core.tree import Tree
from hcviz.metrics import adjusted_rand_index, cut
from hcviz.session import actions as act
from hcviz.ui.features.agreement import model as agreement_model
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.method_runs import runnable_methods
from hcviz.ui.parts.part import PARTS
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Title of the row of the known classes.
CLASSES = "known classes"


@lru_cache(maxsize=256)
def _cut(tree: Tree, k: int) -> NDArray[np.int32]:
    return cut(tree, k)


def agreement_matrix(partitions: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
    """Return the adjusted Rand index of each two of m partitions, float64 (m, m).

    Only items with a label in both are compared; -1 is no label. O(m^2 n).
    """
    m = len(partitions)
    found = np.ones((m, m))
    for a in range(m):
        for b in range(a):
            both = (partitions[a] >= 0) & (partitions[b] >= 0)
            first, second = partitions[a][both], partitions[b][both]
            value = adjusted_rand_index(first, second) if first.size else float("nan")
            found[a, b] = found[b, a] = value
    return found


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    session, view = store.session, store.view
    if store.dataset is None or store.dataset.labels != session.labels:
        return {}
    k = agreement_model.cluster_count(store)
    rows, partitions = [], []
    for name, made in view.agreed:
        if made.tree is not None:
            partitions.append(_cut(made.tree, k) if made.labels is None else made.labels)
            how = (
                f"its tree, cut into {k}" if made.labels is None else _partition_words(made.labels)
            )
            title = get_algorithm(name).title
            rows.append({"name": name, "title": title, "how": how, "sentence": made.sentence})
    if store.dataset.classes is not None and rows:
        rows.append({"name": "", "title": CLASSES, "how": "", "sentence": ""})
        partitions.append(_class_codes(store.dataset.classes))
    values = agreement_matrix(partitions)
    picked = agreement_model.chosen_methods(store)
    waiting = view.agree_wanted and not view.agreeing
    return {
        "k": k,
        "items": len(session.labels),
        "methods": [
            [name, get_algorithm(name).title, name in picked]
            for name in runnable_methods(store.problem)
        ],
        "left": len(_methods_to_run(store)),
        "rows": rows,
        "counts": [int(p.max()) + 1 for p in partitions],
        "values": [[None if np.isnan(v) else round(float(v), 4) for v in row] for row in values],
        "failed": [[get_algorithm(n).title, r.sentence] for n, r in view.agreed if r.tree is None],
        "running": get_algorithm(view.agreeing).title if view.agreeing else "",
        "waiting": waiting,
        "now": session.method,
        "sentence": agreement_sentence([row["title"] for row in rows], values),
    }


def _methods_to_run(store: Store) -> set[str]:
    """Return the chosen methods that have no result yet."""
    return set(agreement_model.chosen_methods(store)) - {name for name, _ in store.view.agreed}


def _partition_words(labels: NDArray[np.int32]) -> str:
    count = int(labels.max()) + 1
    return f"its own {count} cluster{'' if count == 1 else 's'}"


def agreement_sentence(titles: Sequence[str], values: NDArray[np.float64]) -> str:
    """Return which methods agree most and least, and which is nearest to the known classes."""
    m = len(titles)
    methods = [i for i in range(m) if titles[i] != CLASSES]
    pairs = [(values[a, b], a, b) for a in methods for b in methods if a < b]
    if not pairs:
        return ""
    most, least = max(pairs), min(pairs)
    sentence = f"Most alike: “{titles[most[1]]}” and “{titles[most[2]]}” ({_number(most[0])})."
    if len(pairs) > 1:
        sentence += f" Least: “{titles[least[1]]}” and “{titles[least[2]]}” ({_number(least[0])})."
    if CLASSES in titles:
        to = values[titles.index(CLASSES)]
        near = max(methods, key=lambda i: to[i])
        sentence += f" Nearest to the known classes: “{titles[near]}” ({_number(to[near])})."
    return sentence


def _number(value: float) -> str:
    return f"{value if abs(value) >= 0.005 else 0.0:.2f}".replace("-", "−")


def _class_codes(classes: Sequence[str | None]) -> NDArray[np.int32]:
    """Return a number for the class of each item, -1 if it is unknown."""
    names = sorted({name for name in classes if name is not None})
    code = {name: k for k, name in enumerate(names)}
    return np.array([-1 if c is None else code[c] for c in classes], np.int32)


def _depends_on(store: Store) -> Any:
    view = store.view
    return (
        view.agreed, view.agreeing, view.agree_wanted, view.agree_with,
        agreement_model.cluster_count_inputs(store), store.session.method, store.dataset,
        store.session.choices,
    )  # fmt: skip


@ACTS.on("run")
def _run(actions: Actions) -> None:
    actions.store.change_view(agree_wanted=True)


@ACTS.on("cancel")
def _cancel(actions: Actions) -> None:
    actions.store.change_view(agree_wanted=False)


@ACTS.on("clusters")
def _set_clusters(actions: Actions, value: str) -> None:
    store = actions.store
    try:
        count = int(value)
    except ValueError:
        count = 0
    n = len(store.session.labels)
    if 1 <= count <= n:
        # If all methods have results, the methods that depend on k run again at once.
        again = bool(store.view.agreed) and not _methods_to_run(store)
        wanted = store.view.agree_wanted or again
        store.change_view(agree_k=count, agree_wanted=wanted, error=None)
    else:
        message = f"The number of clusters must be a whole number from 1 to {n}, not {value!r}."
        store.change_view(error=(message, ""))


@ACTS.on("with")
def _toggle_method(actions: Actions, value: str) -> None:
    store = actions.store
    picked = list(agreement_model.chosen_methods(store))
    if value in picked:
        picked.remove(value)
    elif value in runnable_methods(store.problem):
        picked.append(value)
    store.change_view(agree_with=tuple(picked))


@ACTS.on("method")
def _set_method(actions: Actions, value: str) -> None:
    if value in runnable_methods(actions.store.problem):
        actions.store.dispatch(act.SetMethod(value))


SHEET = Sheet(
    name="agreement",
    title="Agreement",
    summary="How the clusters of several methods agree",
    make=sheet_part(__file__, PARTS / "method_runs"),
    state=state,
    depends_on=_depends_on,
    acts=ACTS,
)
