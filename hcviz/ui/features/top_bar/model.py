"""State of the top bar: data, similarity, method, seed, run status and files, as plain JSON."""

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
from hcviz.taxonomy.formats import FORMATS, READERS
from hcviz.ui.features.card_sort.model import card_sort_of
from hcviz.ui.features.lesson_player.prepared import prepared_scripts
from hcviz.ui.features.lessons.lesson import prepared_lessons
from hcviz.ui.features.lessons.model import no_lesson_because
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.state.data_sources import offered
from hcviz.ui.state.store import Store

#: Entry of the data menu for an uploaded table.
CURRENT = "(current)"
#: Entry of the data menu for the data that the server was started with.
OFFERED = "(offered)"

_STATUS = {
    "idle": "Ready",
    "sampling": "Running",
    "settled": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


def state(store: Store) -> dict[str, Any]:
    """Return the state of the top bar, as plain JSON."""
    session = store.session
    names = [[name, datasets.title(name)] for name in datasets.at_hand()]
    chosen = session.data.name
    if session.data.kind != "built-in":
        names = [[CURRENT, session.data.name], *names]
        chosen = CURRENT
    offer = offered()
    if offer is not None and not offer.spec.has_same_data(session.data):
        is_listed = offer.session is None and [offer.spec.name, offer.title] in names
        names = names if is_listed else [[OFFERED, offer.title], *names]
    # A link may name built-in data that are too large for the menu.
    if session.data.kind == "built-in" and all(chosen != name for name, _ in names):
        names.append([chosen, datasets.title(chosen)])
    problem = store.problem if store.dataset is not None else None
    methods = []
    for name in algorithms():
        try:
            method = get_algorithm(name)
        except HcvizError as fault:  # an unfinished method must not break the page
            methods.append([name, name, True, fault.message])
            continue
        lacks = method.missing_data(problem) if problem is not None else None
        note = lacks or method.summary
        methods.append([name, method.title, bool(lacks) and name != session.method, note])
    return {
        "datasets": names,
        "dataset": chosen,
        "similarities": [[kind, title] for kind, (title, _) in SIMILARITIES.items()],
        "similarity": session.data.similarity,
        "similarityNote": _similarity_note(store.dataset),
        "methods": methods,
        "method": session.method,
        "seed": session.seed,
        "running": session.status == "sampling",
        "paused": store.view.paused,
        "canUndo": bool(session.past),
        "canRedo": bool(session.future),
        "hasColumns": session.data.kind == "table",
        "hasTree": session.snapshot is not None,
        "hasCardSort": card_sort_of(store) is not None,
        "hasClusters": session.snapshot is not None and store.view.n_clusters > 0,
        "hasConstraints": bool(session.constraints),
        "hasGroups": bool(session.groups) and session.snapshot is not None,
        "formats": [[key, each.title] for key, each in FORMATS.items()],
        "groupFiles": ",".join(READERS),
        "hasAnswers": bool(session.choices),
        "hasComparisons": problem is not None and problem.comparisons is not None,
        "theme": store.view.theme,
        "limit": MAX_UPLOAD_BYTES,
        "lesson": store.view.lesson is not None,
        "noLesson": no_lesson_because(store),
        "scripts": prepared_scripts(),
        "lessons": prepared_lessons(),
    }


def _similarity_note(data: Dataset | None) -> list[str] | None:
    """Return the menu text and the tooltip for data without features; None with features."""
    if data is None or data.features is not None:
        return None
    if data.dissimilarity is not None:
        return ["distances", "The data are distances d: what is shown is (max d - d) / max d."]
    if data.similarity is not None:
        return ["measured", "The data are similarities: there is nothing to choose."]
    if data.oracle is not None:
        return ["computed on demand", "The similarity of two items is computed when needed."]
    return ["none, only answers", "The data are comparisons, without features."]


def live(store: Store) -> dict[str, Any]:
    """Return the status of the run, which changes many times a second."""
    session = store.session
    step, total = session.progress
    text = _STATUS[session.status]
    if session.status == "settled":
        text = supports_model.finished_text(store)
    if session.status == "sampling":
        text = (
            "Paused" if store.view.paused else "Settling" if store.runs_until_settled else "Running"
        )
        if waiting_sentence(store) and not store.view.paused:
            text = "Waiting for a worker"
        elif store.runs.ahead is not None and not store.view.paused:
            text = line_text(store.runs.ahead)
        elif total and store.runs_until_settled:
            accuracy = supports_model.accuracy_points(store)
            text += f" · ±{count_noun(accuracy, 'point')}" if accuracy else ""
        elif total:
            # Up to 10^9 these are steps that a person chose; more is work in the method's own unit.
            far = f"{step:,} of {total:,}" if total <= 10**9 else f"{100 * step // total} %"
            text += f" · {far}"
    if waits_for_compiler(store):
        text = f"Getting ready: {store.view.compiling} %"
    title = text
    if session.status == "settled" and text != _STATUS["settled"]:
        title = "The tree is done. The numbers on its branches are not exact yet. Run goes on."
    return {"status": session.status, "text": text, "title": title, "run": session.run}


def waits_for_compiler(store: Store) -> bool:
    """Return True if the server still compiles what the method's own first tree needs."""
    session = store.session
    waits = session.status == "idle" or (session.status == "sampling" and session.progress[0] == 0)
    return store.view.compiling is not None and waits


def live_depends_on(store: Store) -> Any:
    """Return what the status of the run depends on."""
    return (store.session, store.view, store.dataset, store.runs.ahead)


def line_text(ahead: int) -> str:
    """Return the status of a run that waits for the runs of other sessions."""
    return f"Waiting: {ahead} before you" if ahead else "Waiting: you are next"


def waiting_sentence(store: Store) -> str:
    """Return a sentence that says why the run is waiting, "" if it is not."""
    place = store.view.place
    return place.waiting if place is not None and store.session.status == "sampling" else ""
