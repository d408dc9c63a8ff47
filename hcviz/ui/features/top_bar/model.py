"""State of the top bar: data, similarity, method, seed, run status, files, as plain JSON."""

from __future__ import annotations

from typing import Any

from hcviz import datasets
from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.similarity import SIMILARITIES
from hcviz.core.text import count_noun
from hcviz.datasets import Dataset
from hcviz.io.tables import MAX_UPLOAD_BYTES
from hcviz.ui.features.lessons.card import no_truth
from hcviz.ui.features.lessons.lesson import prepared
from hcviz.ui.features.supports import model as certainty
from hcviz.ui.state.data_sources import offered
from hcviz.ui.state.store import Store

#: The data menu's entry for an uploaded table.
CURRENT = "(current)"


#: Its entry for what the server was started with.
OFFERED = "(offered)"


_STATUS = {
    "idle": "Ready",
    "sampling": "Running",
    "settled": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


def picture(store: Store) -> dict[str, Any]:
    session = store.session
    names = [[name, datasets.title(name)] for name in datasets.at_hand()]
    chosen = session.data.name
    if session.data.kind != "built-in":
        names = [[CURRENT, session.data.name], *names]
        chosen = CURRENT
    begun = offered()
    if begun is not None and not begun.spec.same(session.data):
        names = [[OFFERED, begun.title], *names]
    # A link may name what is too large to offer.
    if session.data.kind == "built-in" and all(chosen != name for name, _ in names):
        names.append([chosen, datasets.title(chosen)])
    problem = store.problem if store.dataset is not None else None
    methods = []
    for name in algorithms():
        try:
            method = get_algorithm(name)
        except HcvizError as fault:  # one that its author has not finished must not take the page
            methods.append([name, name, True, fault.message])
            continue
        lacks = method.missing_data(problem) if problem is not None else None
        methods.append([name, method.title, bool(lacks) and name != session.method, lacks or ""])
    return {
        "datasets": names,
        "dataset": chosen,
        "similarities": [[kind, title] for kind, (title, _) in SIMILARITIES.items()],
        "similarity": session.data.similarity,
        "measured": _measured(store.dataset),
        "methods": methods,
        "method": session.method,
        "seed": session.seed,
        "running": session.status == "sampling",
        "paused": store.view.paused,
        "canUndo": bool(session.past),
        "canRedo": bool(session.future),
        "hasTree": session.snapshot is not None,
        "hasClusters": session.snapshot is not None and store.view.parted > 0,
        "hasConstraints": bool(session.constraints),
        "hasAnswers": bool(session.choices),
        "hasComparisons": problem is not None and problem.comparisons is not None,
        "theme": store.view.theme,
        "limit": MAX_UPLOAD_BYTES,
        "lesson": store.view.lesson is not None,
        "noLesson": no_truth(store),
        "lessons": prepared(),
    }


def _measured(data: Dataset | None) -> list[str] | None:
    """Where similarities are not made of features: what the menu says instead, and why."""
    if data is None or data.features is not None:
        return None
    if data.dissimilarity is not None:
        return ["distances", "The data are distances d: what is shown is (max d - d) / max d."]
    if data.similarity is not None:
        return ["measured", "The data are similarities themselves: none has to be chosen."]
    if data.oracle is not None:
        return ["computed when asked for", "The data say how alike two items are, when asked."]
    return ["none, only answers", "There are comparisons, and no features to compute it from."]


def live(store: Store) -> dict[str, Any]:
    session = store.session
    step, total = session.progress
    text = _STATUS[session.status]
    if session.status == "sampling":
        text = "Paused" if store.view.paused else "Settling" if store.settles else "Running"
        if waiting(store) and not store.view.paused:
            text = "Waiting for a worker"
        elif total and store.settles:
            accuracy = certainty.points(store)
            text += f" · ±{count_noun(accuracy, 'point')}" if accuracy else ""
        elif total:
            # Steps that somebody chose; beyond that it is work, in no unit that anybody knows.
            far = f"{step:,} of {total:,}" if total <= 10**9 else f"{100 * step // total} %"
            text += f" · {far}"
    return {"status": session.status, "text": text, "run": session.run}


def waiting(store: Store) -> str:
    """Why the run under way does not go on, a sentence; nothing where it does."""
    place = store.view.place
    return place.waiting if place is not None and store.session.status == "sampling" else ""
