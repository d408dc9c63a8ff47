"""State of the tools above the tree: heatmap, clusters, supports, search."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.levels import model as levels_model
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.features.uncertainty_map import model as uncertainty_map_model
from hcviz.ui.parts.palette import THEMES
from hcviz.ui.state import default_method
from hcviz.ui.state.data_sources import item_matrices, similarities
from hcviz.ui.state.store import Store
from hcviz.ui.tree.shown_axis import drawn_heights

#: Names that the search field suggests, at most; it finds any name.
MAX_NAMES = 2_000


_SCALINGS = [
    ["zscore", "z-scores"],
    ["range", "0 to 1"],
    ["rank", "ranks"],
    ["none", "as they are"],
]


def state(store: Store) -> dict[str, Any]:
    """Return the state of the tools, as plain JSON."""
    data, view = store.dataset, store.view
    return {
        "matrix": uncertainty_map_model.shown_matrix(store),
        "noUncertainty": uncertainty_map_model.unavailable_because(store),
        "noSimilarity": "" if data is not None else "No data yet.",
        "noFeatures": ""
        if data is not None and data.features is not None
        else "This data has no features.",
        "sources": _sources(store),
        "source": view.source,
        "scalings": _SCALINGS,
        "scaling": view.scaling,
        "columns": view.columns,
        "heights": drawn_heights(store),
        "support": view.support,
        "unsure": view.unsure,
        "below": view.below,
        "noSupport": "" if store.support_samples is not None else _no_support_because(),
        "colour": view.colour,
        "noCosts": ""
        if node_costs_model.problem_with_costs(store) is not None
        else "Available for items with similarities.",
        "costs": [
            list(pair)
            for pair in zip(THEMES[view.theme].costs, node_costs_model.LEVEL_NAMES, strict=True)
        ],
        "levels": levels_model.state(store),
        "names": list(store.session.labels[:MAX_NAMES]),
    }


def _no_support_because() -> str:
    """Return a sentence that says which method gives supports: the first that samples."""
    title = next((each.title for each in default_method.known() if each.samples), "")
    if not title:
        return "No method of this page samples trees."
    return (
        f"Run the {title} on these data and constraints. Its supports can then be "
        "shown on the trees of every method."
    )


def _sources(store: Store) -> list[list[str]]:
    """Return the similarities that the heatmap can show, if there are several.

    The first has the key "".
    """
    data, session = store.dataset, store.session
    if data is None or data.labels != session.labels:
        return []
    snapshot = store.drawn
    if store.problem.similarity is None and (snapshot is None or len(item_matrices(snapshot)) < 2):
        return []
    names = list(similarities(store.problem, snapshot))
    return [["" if k == 0 else name, name] for k, name in enumerate(names)] if names[1:] else []


def named_matrices(store: Store) -> Any:
    """Return the names of the item matrices of the tree drawn."""
    return () if store.drawn is None else tuple(item_matrices(store.drawn))


def depends_on(store: Store) -> Any:
    """Return what the tools depend on. Nothing of it changes with each tree of a run."""
    return (
        store.view,
        store.session.labels,
        store.dataset,
        store.support_samples is None,
        named_matrices(store),
        levels_model.method_found_clusters(store),
        levels_model.depends_on(store),
    )
