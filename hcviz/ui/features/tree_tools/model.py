"""State of the tools above the tree: heatmap, clusters, supports, search."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.node_costs import model as nodecosts
from hcviz.ui.features.uncertainty_map import model as uncertainty
from hcviz.ui.parts.palette import THEMES
from hcviz.ui.state import default_method as choosing
from hcviz.ui.state.data_sources import item_matrices, similarities
from hcviz.ui.state.store import Store
from hcviz.ui.tree import partition

#: Names offered while one is typed; any can be found.
MAX_OFFERED = 2_000


_SCALINGS = [
    ["zscore", "z-scores"],
    ["range", "0 to 1"],
    ["rank", "ranks"],
    ["none", "as they are"],
]


def picture(store: Store) -> dict[str, Any]:
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
        "found": partition.method_count(store),
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


def finds_clusters(store: Store) -> bool:
    """Whether the method of the tree on the screen finds clusters by itself."""
    return store.drawn is not None and store.drawn.labels is not None


def _field(store: Store) -> int | None:
    """What the field for the number of clusters says. 0 only where it puts found ones off."""
    view = store.view
    if view.clusters:
        return view.parted or view.clusters
    return 0 if view.clusters == 0 and finds_clusters(store) else None


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


def named_matrices(store: Store) -> Any:
    return () if store.drawn is None else tuple(item_matrices(store.drawn))


def sees(store: Store) -> Any:
    """Return what the tools depend on: nothing that changes with each tree of a run."""
    return (
        store.view,
        store.session.labels,
        store.dataset,
        store.supporting is None,
        named_matrices(store),
        finds_clusters(store),
    )
