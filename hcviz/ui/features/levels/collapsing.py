"""Which clades are collapsed at the level that a person chose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.clade_clusters import top_nodes
from hcviz.core.tree import Tree
from hcviz.ui.features.groups.places import taxonomy_on
from hcviz.ui.features.presentation.stops import collapsed_nodes
from hcviz.ui.state.saved_look import ALL, BY_HAND
from hcviz.ui.state.store import Store
from hcviz.ui.tree.partition import Partition

CLUSTERS = "clusters"


def collapsed_clades(
    store: Store, tree: Tree, clusters: Partition | None
) -> list[NDArray[np.int32]] | None:
    """Return the leaves of each clade to collapse in ``tree``.

    None if a person collapsed clades one by one: these stay. A presentation collapses what it does
    not talk about.
    """
    level = store.view.level
    nodes: list[int] = []
    if store.view.presenting is not None:
        taxonomy = taxonomy_on(store, tree)
        named = () if taxonomy is None else taxonomy.nodes
        nodes = collapsed_nodes(tree, store.view.selection, named)
    elif level == BY_HAND:
        return None
    elif level == CLUSTERS and clusters is not None:
        nodes = top_nodes(tree, clusters.of_item).tolist()
    elif level not in (ALL, CLUSTERS):
        nodes = level_nodes(store, tree, int(level))
    inner = (node for node in nodes if node >= tree.n_leaves and node != tree.root)
    return [np.sort(tree.leaves(node)).astype(np.int32) for node in inner]


def level_nodes(store: Store, tree: Tree, level: int) -> list[int]:
    """Return the nodes of the groups on a level of the outline (:meth:`Outline.at_level`)."""
    taxonomy = taxonomy_on(store, tree)
    if taxonomy is None:
        return []
    shown = {each.group for each in taxonomy.outline.at_level(level)}
    pairs = zip(taxonomy.groups, taxonomy.nodes, strict=True)
    return [node for group, node in pairs if node >= 0 and group in shown]


def n_levels(store: Store, tree: Tree) -> int:
    """Return the number of levels of the groups that have a place in ``tree``."""
    taxonomy = taxonomy_on(store, tree)
    return 0 if taxonomy is None else taxonomy.n_levels
