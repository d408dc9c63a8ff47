"""What each part of the page shows, as a function of the store: plain JSON, no widgets."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from hcviz import datasets
from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.similarity import SIMILARITIES
from hcviz.core.words import counted, shortlist
from hcviz.datasets import Dataset
from hcviz.io.tables import MAX_UPLOAD_BYTES
from hcviz.session.constraint import DataSpec
from hcviz.session.model import Session, Statement
from hcviz.ui import (
    axis,
    certainty,
    changes,
    choosing,
    nodecosts,
    outcome,
    partition,
    probes,
    steps,
    uncertainty,
)
from hcviz.ui.fields import form
from hcviz.ui.lesson import prepared
from hcviz.ui.lessoncard import no_truth, tree_to_show
from hcviz.ui.link import Link
from hcviz.ui.palette import THEMES
from hcviz.ui.shownaxis import axis_of
from hcviz.ui.sources import item_matrices, offered, similarities
from hcviz.ui.store import Store
from hcviz.ui.viewstate import ViewState

#: The data menu's entry for an uploaded table.
CURRENT = "(current)"
#: Its entry for what the server was started with.
OFFERED = "(offered)"
#: Names shown in the inspector; the rest is counted.
MAX_MEMBERS = 60
#: Names offered while one is typed; any can be found.
MAX_OFFERED = 2_000
#: Numbers of a run whose names alone do not say what they count.
_METRICS = {
    "uneven": "Sets without a balanced cut",
    "answers": "Comparisons",  # one answer about three is two of them
    "queries": "Similarities asked for",
    "share": "Their share of all",
    "repair": "Similarities for second looks",
    "c": "c (divergence)",
    "k": "Clusters (k)",
    "theta": "Theta at this k",
    "k low": "Smallest k tried",
    "k high": "Largest k tried",
    "value": "Objective",
    "bound": "Its upper bound",
    "gap": "Relative gap",
}
#: Numbers of a run that say yes or no.
_YES = {"converged"}
#: Metrics that are in the details of the supports' accuracy.
_IN_DETAILS = {"rhat", "ess"}
_SCALINGS = [
    ["zscore", "z-scores"],
    ["range", "0 to 1"],
    ["rank", "ranks"],
    ["none", "as they are"],
]
_STATUS = {
    "idle": "Ready",
    "sampling": "Running",
    "settled": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


# ---------------------------------------------------------------------- top bar


def bar(store: Store) -> dict[str, Any]:
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


def bar_live(store: Store) -> dict[str, Any]:
    session = store.session
    step, total = session.progress
    text = _STATUS[session.status]
    if session.status == "sampling":
        text = "Paused" if store.view.paused else "Settling" if store.settles else "Running"
        if waiting(store) and not store.view.paused:
            text = "Waiting for a worker"
        elif total and store.settles:
            accuracy = certainty.points(store)
            text += f" · ±{counted(accuracy, 'point')}" if accuracy else ""
        elif total:
            # Steps that somebody chose; beyond that it is work, in no unit that anybody knows.
            far = f"{step:,} of {total:,}" if total <= 10**9 else f"{100 * step // total} %"
            text += f" · {far}"
    return {"status": session.status, "text": text, "run": session.run}


def waiting(store: Store) -> str:
    """Why the run under way does not go on, a sentence; nothing where it does."""
    place = store.view.place
    return place.waiting if place is not None and store.session.status == "sampling" else ""


def shell(store: Store) -> dict[str, Any]:
    step, total = store.session.progress
    return {
        "busy": store.session.status == "sampling",
        "progress": min(1.0, step / total) if total else 0.0,
        "asking": asks(store),
        "stating": store.view.draft.open,
    }


def asks(store: Store) -> bool:
    """A card asks something, or will as soon as the tree stands still."""
    view = store.view
    return bool(view.three) or view.question is not None or view.wants_question


# ---------------------------------------------------------------------- over the tree


def tools(store: Store) -> dict[str, Any]:
    data, view = store.dataset, store.view
    return {
        "matrix": uncertainty.matrix(store),
        "noUncertainty": uncertainty.lacks(store),
        "noSimilarity": "" if data is not None else "No data yet.",
        "noFeatures": ""
        if data is not None and data.features is not None
        else "This data has no features.",
        "sources": _sources(store),
        "source": view.source,
        "scalings": _SCALINGS,
        "scaling": view.scaling,
        "columns": view.columns,
        "heights": view.heights,
        "support": view.support,
        "unsure": view.unsure,
        "below": view.below,
        "noSupport": "" if store.supporting is not None else _no_support(),
        "colour": view.colour,
        "noCosts": ""
        if nodecosts.weighed(store) is not None
        else "Only of items with similarities.",
        "costs": [
            list(pair) for pair in zip(THEMES[view.theme].costs, nodecosts.LEVEL_NAMES, strict=True)
        ],
        "clusters": _field(store),
        "found": partition.count(store),
        "items": len(store.session.labels),
        "names": list(store.session.labels[:MAX_OFFERED]),
    }


def _no_support() -> str:
    """Which method gives supports: the registry's first that samples."""
    title = next((each.title for each in choosing.known() if each.samples), "")
    if not title:
        return "No method here samples trees."
    return (
        f"Run the {title} on these data and constraints. Its supports can then be "
        "shown on the trees of every method."
    )


def _finds(store: Store) -> bool:
    """Whether the method of the tree on the screen finds clusters by itself."""
    return store.drawn is not None and store.drawn.labels is not None


def _field(store: Store) -> int | None:
    """What the field for the number of clusters says. 0 only where it puts found ones off."""
    view = store.view
    if view.clusters:
        return view.parted or view.clusters
    return 0 if view.clusters == 0 and _finds(store) else None


def _sources(store: Store) -> list[list[str]]:
    """The similarities that the heatmap can show, where there are several: ("" is the usual)."""
    data, session = store.dataset, store.session
    if data is None or data.labels != session.labels:
        return []
    snapshot = store.drawn
    if store.problem.similarity is None and (snapshot is None or len(item_matrices(snapshot)) < 2):
        return []
    names = list(similarities(store.problem, snapshot))
    return [["" if k == 0 else name, name] for k, name in enumerate(names)] if names[1:] else []


# ---------------------------------------------------------------------- inspector

FAR = (
    "This method takes the numbers for dissimilarities, and parts what has large ones: of "
    "similarities, as they are here, it parts like from like. A distance matrix that is opened is "
    "read as it is."
)


def inspector(store: Store) -> dict[str, Any]:
    data = store.dataset
    notes = [] if data is None else [data.provenance, *data.notes]
    if data is not None and data.dissimilarity is None and nodecosts.wants_far(store):
        notes.insert(0, FAR)
    told = changes.picture(store) if store.view.lesson is None else None  # a lesson tells itself
    return {"selection": _selection(store), "notes": notes, "changes": told}


def inspector_live(store: Store) -> dict[str, Any]:
    session = store.session
    if session.snapshot is None:
        return {"facts": []}
    tree = session.snapshot.tree
    facts = [["Items", f"{tree.n_leaves:,}"], ["Clades", f"{tree.n_internal:,}"]]
    found = store.changes()
    if found is not None:
        number = changes.counts(store) if store.still else {}
        gained = number.get("gained", len(found.gained))
        lost = number.get("lost", len(found.lost))
        facts.append(["Clades since the last run", f"{gained:,} new, {lost:,} gone"])
    for name, value in session.snapshot.metrics.items():
        if probes.asks(store) and name in probes.TOLD:  # a section tells it, and more
            continue
        if name in _IN_DETAILS:
            continue
        words = _METRICS.get(name) or name[0].upper() + name[1:].replace("_", " ")
        if name == "queries" and not probes.asks(store):  # of these methods it is comparisons
            words = "Questions asked"
        said = ("yes" if value else "no") if name in _YES else axis.number(value)
        facts.append([words, said])
    return {"facts": facts, "sure": certainty.settled(store)}


def _selection(store: Store) -> dict[str, Any] | None:
    session = store.session
    chosen = store.view.selection
    tree, labels, data = tree_to_show(store), session.labels, store.dataset
    if not chosen or tree is None or max(chosen) >= len(labels):
        return None
    known = data is not None and data.classes is not None and store.view.lesson is None
    node = tree.smallest_clade(chosen)
    whole = int(tree.size[node]) == len(chosen)
    facts: list[list[str]] = []
    image = None
    if len(chosen) == 1:
        title = labels[chosen[0]]
        if data is not None and data.classes is not None and known:
            facts.append(["Class", str(data.classes[chosen[0]])])
        if data is not None and data.images is not None:
            image = as_uri(data.images[chosen[0]])
        beside = tree.leaves(int(tree.parent[node])) if node != tree.root else np.empty(0, int)
        mates = [labels[i] for i in beside[:4].tolist() if i != chosen[0]]
        if mates:
            facts.append(["Nearest in the tree", shortlist(mates, 3, beside.size - 1)])
    else:
        title = f"{len(chosen):,} items"
        facts.append(["A clade of this tree", "yes" if whole else "no"])
        facts += [list(fact) for fact in axis_of(store, tree).facts(node)]
        if not whole:
            facts.append(["Smallest clade around", f"{int(tree.size[node]):,} items"])
        if data is not None and data.classes is not None and known:
            counts = Counter(map(data.classes.__getitem__, chosen))
            top = max(sorted(counts, key=str), key=lambda kind: counts[kind])
            facts.append(["Mostly", f"{top} ({counts[top]:,} of {len(chosen):,})"])
    places = tree.leaf_start[np.asarray(chosen)]
    if places.size > MAX_MEMBERS:
        places = np.partition(places, MAX_MEMBERS)[:MAX_MEMBERS]
    shown = tree.leaf_order[np.sort(places)].tolist()
    words = f"{title} selected" + (
        f": {shortlist([labels[i] for i in shown], 12, len(chosen))}." if len(chosen) > 1 else "."
    )
    sure = certainty.of_group(store, chosen)
    words += " " + ". ".join(f"{key}: {value}" for key, value in facts)
    words += f". {sure}" if sure else ""
    return {
        "title": title,
        "count": len(chosen),
        "facts": facts,
        "sure": sure,
        "image": image,
        "members": [{"id": i, "name": labels[i]} for i in shown],
        "more": len(chosen) - len(shown),
        "parent": node != tree.root,
        "words": words,
    }


def wider(store: Store) -> tuple[int, ...]:
    """The selection's next larger clade."""
    tree, chosen = tree_to_show(store), store.view.selection
    if tree is None or not chosen:
        return ()
    node = tree.smallest_clade(chosen)
    if int(tree.size[node]) == len(chosen) and node != tree.root:
        node = int(tree.parent[node])
    return tuple(tree.leaves(node).tolist())


def as_uri(image: Any) -> str:
    """PNG bytes as a data URI; a data URI as it is."""
    if isinstance(image, bytes):
        return "data:image/png;base64," + base64.b64encode(image).decode()
    return str(image)


# ---------------------------------------------------------------------- foot


def foot(store: Store) -> dict[str, Any]:
    session, view = store.session, store.view
    if view.error:
        error: Any = view.error
    elif session.error and session.status == "failed":
        error = session.error
    else:
        error = None
    if view.draft.open:
        sentence = view.draft.sentence(session.labels)
    elif waiting(store):
        sentence = waiting(store)
    elif view.said or session.message:
        sentence = f"{view.said or session.message} {outcome.sentence(store)}".strip()
    elif session.snapshot is None:
        sentence = "Building the first tree."
    else:
        sentence = "Click a subtree, then press T to say that it belongs together."
    return {
        "error": list(error) if error else None,
        "sentence": sentence,
        "hint": outcome.RULE if "lost support" in sentence else "",
        "reading": None
        if view.reading is None
        else {"said": view.reading.sentence, "share": view.reading.share},
        "waiting": view.draft.open and session.snapshot is not store.drawn,
    }


# ---------------------------------------------------------------------- link


def link_of(session: Session, view: ViewState) -> Link:
    """The link to this view: what differs from the usual, and the constraints, each once.

    Authors do not travel: what several say is said once, and is on if one of them is.
    """
    said: dict[Statement, bool] = {}
    for each in session.constraints:
        key = (tuple(sorted(each.group)), each.apart)
        said[key] = said.get(key, False) or each.enabled
    usual, plain = DataSpec(), ViewState()
    return Link(
        data=session.data.name,
        similarity=session.data.similarity,
        method=session.method,
        seed=session.seed,
        params=dict(session.params),
        constraints=tuple((group, apart, on) for (group, apart), on in said.items()),
        scaling=_unusual(session.data.scaling, usual.scaling),
        missing=_unusual(session.data.missing, usual.missing),
        matrix=view.matrix,
        heat=_unusual(view.scaling, plain.scaling),
        columns=_unusual(view.columns, plain.columns),
        heights=_unusual(view.heights, plain.heights),
        support=_unusual(view.support, plain.support),
        unsure=_unusual(view.unsure, plain.unsure),
        below=None if view.below == plain.below else view.below,
        colour=_unusual(view.colour, plain.colour),
        clusters=view.clusters,
    )


def _unusual(value: str, usual: str) -> str | None:
    return None if value == usual else value


# ---------------------------------------------------------------------- what each depends on


def everything(store: Store) -> Any:
    """What most parts depend on."""
    return (store.session, store.view, store.dataset)


def _named_matrices(store: Store) -> Any:
    return () if store.drawn is None else tuple(item_matrices(store.drawn))


#: What the parts depend on that have nothing to do with the tree; the others on everything.
SLICES: dict[Callable[[Store], dict[str, Any]], Callable[[Store], Any]] = {
    steps.picture: steps.sees,
    tools: lambda s: (
        s.view,
        s.session.labels,
        s.dataset,
        s.supporting is None,
        _named_matrices(s),
        _finds(s),
    ),
    form: lambda s: (
        s.session.data,
        s.session.method,
        s.session.params,
        s.dataset,
        s.view.faults,
        s.view.place,
        s.session.error,
        s.session.status == "failed",
    ),
}
