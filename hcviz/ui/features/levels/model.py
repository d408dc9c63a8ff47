"""State of the levels: the clusters, the changes that a person can make to them, and the views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.clade_clusters import make_cluster, split_cluster
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.taxonomy.placement import place_disjoint
from hcviz.ui.features.groups.places import taxonomy_on
from hcviz.ui.features.lessons.model import tree_to_show
from hcviz.ui.features.levels.collapsing import CLUSTERS, n_levels
from hcviz.ui.features.supports.model import merged_clades
from hcviz.ui.state.saved_look import ALL, BY_HAND, LOOKS
from hcviz.ui.state.store import Store
from hcviz.ui.tree.partition import tops_of

#: The largest number on the slider. The field takes up to one cluster for each item.
MAX_ON_SLIDER = 50
SELECT_FIRST = "Select a branch first."


@dataclass(frozen=True)
class ClusterChange:
    """A change of the clusters that a button makes.

    Parameters
    ----------
    text : str
        Text of the button.
    title : str
        What the button does, or why it is disabled.
    tops : int64 (k,) or None
        The top nodes of the clusters after the change; None if it is not possible.
    """

    text: str
    title: str
    tops: NDArray[np.int64] | None = None


def drawn_tree(store: Store) -> Tree | None:
    """Return the tree on the screen; it is older than the session's while a draft is open."""
    if store.view.lesson is not None:
        return tree_to_show(store)
    return None if store.drawn is None else store.drawn.tree


def state(store: Store) -> dict[str, Any]:
    """Return the state of the row of levels, as plain JSON."""
    view, n = store.view, store.session.n_items
    most = max(2, min(n, max(MAX_ON_SLIDER, view.n_clusters)))
    return {
        "clusters": cluster_field(store),
        "shown": view.n_clusters,
        "found": method_count(store),
        "items": n,
        "most": most,
        "byHand": store.session.chosen_clusters is not None,
        "lost": changes_sentence(store),
        **buttons(store),
        "levels": level_options(store),
        "level": shown_level(store),
        "noNaming": "" if view.n_clusters else "No clusters are marked. Set their number first.",
    }


def depends_on(store: Store) -> Any:
    """Return what the row depends on, besides the view."""
    session = store.session
    return (store.clusters, session.chosen_clusters, session.groups)


def buttons(store: Store) -> dict[str, Any]:
    """Return the state of the buttons that change the clusters by hand."""
    return {"split": _button(split(store)), "merge": _button(merge(store))}


def _button(change: ClusterChange) -> dict[str, Any]:
    return {"text": change.text, "title": change.title, "on": change.tops is not None}


def method_count(store: Store) -> int | None:
    """Return the number of clusters that the method found and the tree shows.

    None if a person chose the clusters or their number, or there are none.
    """
    view = store.view
    if view.clusters is not None or store.session.chosen_clusters is not None:
        return None
    return view.n_clusters or None


def method_found_clusters(store: Store) -> bool:
    """Return True if the method of the tree on the screen found clusters by itself."""
    return store.drawn is not None and store.drawn.labels is not None


def cluster_field(store: Store) -> int | None:
    """Return the value of the field for the number of clusters.

    0 if a person switched off the clusters that the method found; None if the field is empty.
    """
    view = store.view
    if store.session.chosen_clusters is not None:
        return view.n_clusters
    if view.clusters:
        return view.n_clusters or view.clusters
    return 0 if view.clusters == 0 and method_found_clusters(store) else None


# ---------------------------------------------------------------------- split and merge


def split(store: Store) -> ClusterChange:
    """Return what Split does: the cluster around the selected branch becomes its children."""
    text = "Split"
    found = _selected_node(store)
    if isinstance(found, str):
        return ClusterChange(text, found)
    tree, node = found
    tops = tops_of(tree, store.clusters)
    after = split_cluster(tree, tops, node, _hidden(store, tree))
    if after.size == tops.size:
        if node in tops or node < tree.n_leaves:
            return ClusterChange(text, "A cluster of one item cannot be split.")
        return ClusterChange(text, "Several clusters are selected. Select a branch of one.")
    made = after.size - tops.size + 1
    return ClusterChange(text, f"Split the cluster of this branch into its {made} branches.", after)


def merge(store: Store) -> ClusterChange:
    """Return what Merge does: the selected clade becomes one cluster.

    A clade that is a cluster already is merged with its siblings.
    """
    text = "Merge"
    found = _selected_node(store)
    if isinstance(found, str):
        return ClusterChange(text, found)
    tree, node = found
    tops = tops_of(tree, store.clusters)
    if node in tops and store.clusters is not None:
        if node == tree.root:
            return ClusterChange(text, "All items are one cluster already.")
        return ClusterChange(
            text,
            "Merge this cluster with its neighbours: the next larger branch becomes one cluster.",
            make_cluster(tree, tops, _drawn_parent(store, tree, node)),
        )
    after = make_cluster(tree, tops, node)
    if after.size > tops.size:
        made = after.size - tops.size + 1
        title = (
            f"Give this branch a colour of its own: the cluster around it becomes {made}. "
            "The tree stays as it is."
        )
        return ClusterChange("Make a cluster", title, after)
    count = tops.size - after.size + 1
    title = "Mark all items as one cluster."
    if count > 1:
        title = f"Merge the {count} clusters of this branch into one."
    return ClusterChange(text, title, after)


def _selected_node(store: Store) -> tuple[Tree, int] | str:
    """Return the tree and the node of the selected branch, or why there is none."""
    tree, items = drawn_tree(store), store.view.selection
    if tree is None or not items or max(items) >= tree.n_leaves or store.view.draft.open:
        return SELECT_FIRST
    node = tree.smallest_clade(items)
    if int(tree.size[node]) != len(set(items)):
        return "The selected items are not one branch. Widen the selection first."
    return tree, node


def _hidden(store: Store, tree: Tree) -> NDArray[np.bool_] | None:
    """Return the uncertain nodes that are not drawn, bool (m,), or None."""
    if store.drawn is None or tree is not store.drawn.tree:
        return None
    merged = merged_clades(store)
    if merged is None:
        return None
    return np.concatenate((np.zeros(tree.n_leaves, np.bool_), merged[:-1], [False]))


def _drawn_parent(store: Store, tree: Tree, node: int) -> int:
    """Return the nearest node above that is drawn."""
    hidden, up = _hidden(store, tree), int(tree.parent[node])
    while hidden is not None and hidden[up]:
        up = int(tree.parent[up])
    return up


# ---------------------------------------------------------------------- levels and names


def level_options(store: Store) -> list[list[Any]]:
    """Return the levels to which the picture can be collapsed: value, text, disabled."""
    tree = drawn_tree(store)
    levels = 0 if tree is None else n_levels(store, tree)
    found: list[list[Any]] = [[ALL, "All items", False]]
    found += [[CLUSTERS, "Clusters", not store.view.n_clusters]]
    numbers = [value for value in LOOKS["level"] if value.isdigit() and int(value) <= levels]
    found += [[value, f"Level {value}", False] for value in numbers]
    return found + [[BY_HAND, "As collapsed", False]] * (store.view.level == BY_HAND)


def shown_level(store: Store) -> str:
    """Return the level of the picture. A level that the groups lack shows all items."""
    level = store.view.level
    return level if level in [each[0] for each in level_options(store)] else ALL


def cluster_names(store: Store) -> dict[int, str]:
    """Return the number of each cluster that is a named group, and its name."""
    tree, clusters = drawn_tree(store), store.clusters
    taxonomy = taxonomy_on(store, tree)
    if taxonomy is None or clusters is None:
        return {}
    found = {}
    for group, node in zip(taxonomy.groups, taxonomy.nodes, strict=True):
        number = -1 if node < 0 else int(clusters.of_node[node])
        size = 0 if number < 0 else int((clusters.of_item == number).sum())
        if size and size == int(taxonomy.tree.size[node]):
            found[number] = group.name
    return found


def changes_sentence(store: Store) -> str:
    """Return how many clusters that were chosen by hand differ in this tree, or ""."""
    chosen, tree = store.session.chosen_clusters, drawn_tree(store)
    if chosen is None or tree is None or store.clusters is None or store.is_streaming:
        return ""
    if tuple(store.clusters.of_item.tolist()) == chosen.of_item:
        return ""
    sets = chosen.sets()
    nodes = place_disjoint(tree, sets)
    lost = sum(node < 0 for node in nodes)
    changed = sum(
        node >= 0 and sorted(tree.leaves(node).tolist()) != items
        for node, items in zip(nodes, sets, strict=True)
    )
    parts = []
    if changed:
        parts.append(f"{changed:,} {'has' if changed == 1 else 'have'} other items")
    if lost:
        parts.append(f"{lost:,} {'has' if lost == 1 else 'have'} no place")
    if not parts:
        return ""
    clusters = count_noun(chosen.count, "cluster")
    return f"Of the {clusters} chosen by hand, {' and '.join(parts)} in this tree."


__all__ = [
    "MAX_ON_SLIDER",
    "ClusterChange",
    "buttons",
    "changes_sentence",
    "cluster_field",
    "cluster_names",
    "depends_on",
    "drawn_tree",
    "level_options",
    "merge",
    "method_count",
    "method_found_clusters",
    "shown_level",
    "split",
    "state",
]
