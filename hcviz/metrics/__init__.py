"""Costs of a tree, distances between trees, and changes from one tree to the next."""

from hcviz.core.cut import cut
from hcviz.metrics.agreement import (
    CladeChanges,
    aari,
    adjusted_rand_index,
    ari_matrix,
    clade_changes,
    nearest_clades,
    triplet_agreement,
    triplet_distance,
)
from hcviz.metrics.comparisons import Consistency, comparisons_held, consistency, cyclic_share
from hcviz.metrics.cost import dasgupta_cost, regularised_cost
from hcviz.metrics.hierarchical import hkm, hrc, triplet_agreement_by_level
from hcviz.metrics.nodecosts import node_costs
from hcviz.metrics.structural import (
    Dependency,
    Usefulness,
    dependency,
    dependency_guarantee,
    tree_triplets,
    triplets_tree,
    usefulness,
)


def warm() -> None:
    """Compile the kernels, or load them from the cache.

    The functions of this package compile on first use, which takes seconds.

    Examples
    --------
    >>> warm()
    """
    import numpy as np

    from hcviz.core.tree import Tree

    tree = Tree.star(3)
    dasgupta_cost(tree, np.ones((3, 3)))
    triplet_distance(tree, tree)
    clade_changes(tree, tree)
    hkm(tree, np.ones((3, 2)))
    hrc(tree, np.ones((3, 3)))
    nearest_clades(tree, tree, np.array([3], np.int32))


__all__ = [
    "CladeChanges",
    "Consistency",
    "Dependency",
    "Usefulness",
    "aari",
    "adjusted_rand_index",
    "ari_matrix",
    "clade_changes",
    "comparisons_held",
    "consistency",
    "cut",
    "cyclic_share",
    "dasgupta_cost",
    "dependency",
    "dependency_guarantee",
    "hkm",
    "hrc",
    "nearest_clades",
    "node_costs",
    "regularised_cost",
    "tree_triplets",
    "triplet_agreement",
    "triplet_agreement_by_level",
    "triplet_distance",
    "triplets_tree",
    "usefulness",
    "warm",
]
