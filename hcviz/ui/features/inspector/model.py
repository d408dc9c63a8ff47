"""State of the inspector: facts about the selected items and the tree, as plain JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.text import join_names
from hcviz.ui.features.about_group import model as about_model
from hcviz.ui.features.groups import model as groups_model
from hcviz.ui.features.inspector import changed_clades
from hcviz.ui.features.lessons.model import tree_to_show
from hcviz.ui.features.levels import model as levels_model
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.features.similarity_queries import model as similarity_queries_model
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.parts.images import as_uri
from hcviz.ui.state.store import Store
from hcviz.ui.tree import axis
from hcviz.ui.tree.shown_axis import axis_of

#: Names that the inspector lists, at most; the others are counted.
MAX_MEMBERS = 60


#: Metric -> its name on the page, if the metric's own name is not clear.
_METRIC_NAMES = {
    "uneven": "Sets without a balanced cut",
    "answers": "Comparisons",  # one answer about three items is two comparisons
    "queries": "Similarities asked for",
    "share": "Their share of all",
    "repair": "Similarities asked for to check places",
    "c": "c (divergence)",
    "k": "Clusters (k)",
    "theta": "Theta at this k",
    "k low": "Smallest k tried",
    "k high": "Largest k tried",
    "value": "Objective",
    "bound": "Its upper bound",
    "gap": "Relative gap",
}


#: Metrics that are yes or no.
_YES_NO_METRICS = {"converged"}


#: Metrics that are shown in the details of the supports.
_METRICS_IN_DETAILS = {"rhat", "ess"}
#: Metrics of a sampler, which are listed in the details of the supports. Without these details they
#: are not shown.
_SAMPLER_METRICS = {"log_joint", "proposals", "accepted", "c", "sigma", "leaf_noise"}


DISSIMILARITY_NOTE = (
    "This method reads the numbers as dissimilarities, and separates items with large numbers. "
    "These data are similarities, so it separates similar items. Open a distance matrix instead."
)


def depends_on(store: Store) -> Any:
    """Return what the inspector depends on."""
    return (store.session, store.view, store.dataset, store.n_computed)


def state(store: Store) -> dict[str, Any]:
    """Return the state of the inspector, as plain JSON."""
    data = store.dataset
    notes = [] if data is None else [data.provenance, *data.notes]
    if (
        data is not None
        and data.dissimilarity is None
        and node_costs_model.reads_dissimilarities(store)
    ):
        notes.insert(0, DISSIMILARITY_NOTE)
    changes = (
        changed_clades.state(store) if store.view.lesson is None else None
    )  # a lesson tells itself
    return {
        "selection": _selection(store),
        "notes": notes,
        "changes": changes,
        "redraws": store.view.n_redraws,
    }


def live(store: Store) -> dict[str, Any]:
    """Return the facts of the tree, which change many times a second during a run."""
    session = store.session
    if session.snapshot is None:
        return {"facts": []}
    tree = session.snapshot.tree
    facts = [["Items", f"{tree.n_leaves:,}"], ["Branches", f"{tree.n_internal:,}"]]
    details: list[list[str]] = []
    samples = get_algorithm(session.method).samples
    for name, value in session.snapshot.metrics.items():
        if (
            similarity_queries_model.queries_similarities(store)
            and name in similarity_queries_model.QUERY_METRICS
        ):  # a section shows it
            continue
        if name in _METRICS_IN_DETAILS:
            continue
        words = _METRIC_NAMES.get(name) or name[0].upper() + name[1:].replace("_", " ")
        if name == "queries" and not similarity_queries_model.queries_similarities(
            store
        ):  # other methods query comparisons
            words = "Questions asked"
        text = ("yes" if value else "no") if name in _YES_NO_METRICS else axis.number(value)
        (details if samples and name in _SAMPLER_METRICS else facts).append([words, text])
    return {"facts": facts, "details": details, "accuracy": supports_model.accuracy_state(store)}


def _selection(store: Store) -> dict[str, Any] | None:
    """Return the facts of the selected items; None if nothing is selected."""
    session = store.session
    chosen = store.view.selection
    tree, labels, data = tree_to_show(store), session.labels, store.dataset
    if not chosen or tree is None or max(chosen) >= len(labels):
        return None
    known = data is not None and data.classes is not None and store.view.lesson is None
    node = tree.smallest_clade(chosen)
    whole = int(tree.size[node]) == len(chosen)
    facts: list[list[str]] = []
    notes: dict[str, str] = {}
    image = None
    if len(chosen) == 1:
        title = labels[chosen[0]]
        if data is not None and data.classes is not None and known:
            facts.append(["Class", str(data.classes[chosen[0]])])
        if data is not None and data.images is not None:
            image = as_uri(data.images[chosen[0]])
        beside = tree.leaves(int(tree.parent[node])) if node != tree.root else np.empty(0, int)
        neighbours = [labels[i] for i in beside[:4].tolist() if i != chosen[0]]
        if neighbours:
            facts.append(["Nearest in the tree", join_names(neighbours, 3, beside.size - 1)])
    else:
        title = f"{len(chosen):,} items"
        facts.append(["One branch of this tree", "yes" if whole else "no"])
        axis_shown = axis_of(store, tree)
        facts += [list(fact) for fact in axis_shown.heights_of(node)]
        notes[axis_shown.word] = axis_shown.note
        if not whole:
            facts.append(["Smallest branch around", f"{int(tree.size[node]):,} items"])
        if data is not None and data.classes is not None and known:
            counts = Counter(map(data.classes.__getitem__, chosen))
            top = max(sorted(counts, key=str), key=lambda kind: counts[kind])
            facts.append(["Mostly", f"{top} ({counts[top]:,} of {len(chosen):,})"])
    places = tree.leaf_start[np.asarray(chosen)]
    if places.size > MAX_MEMBERS:
        places = np.partition(places, MAX_MEMBERS)[:MAX_MEMBERS]
    shown = tree.leaf_order[np.sort(places)].tolist()
    group = groups_model.selection_state(store)
    words = f"{group['name']}: " if group is not None and group["name"] else ""
    words += f"{title} selected" + (
        f": {join_names([labels[i] for i in shown], 12, len(chosen))}." if len(chosen) > 1 else "."
    )
    support = supports_model.group_sentence(store, chosen)
    words += " " + ". ".join(f"{key}: {value}" for key, value in facts)
    words += f". {support}" if support else ""
    return {
        "title": title,
        "count": len(chosen),
        "facts": facts,
        "factNotes": notes,
        "support": support,
        "image": image,
        "group": group,
        "about": about_model.state(store, tree, chosen),
        "members": [{"id": i, "name": labels[i]} for i in shown],
        "more": len(chosen) - len(shown),
        "parent": node != tree.root,
        "clusters": levels_model.buttons(store),
        "words": words,
    }


def parent_clade(store: Store) -> tuple[int, ...]:
    """Return the items of the next larger clade around the selection."""
    tree, chosen = tree_to_show(store), store.view.selection
    if tree is None or not chosen:
        return ()
    node = tree.smallest_clade(chosen)
    if int(tree.size[node]) == len(chosen) and node != tree.root:
        node = int(tree.parent[node])
    return tuple(tree.leaves(node).tolist())
