"""A first draft of a taxonomy: groups made of the clusters of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.group import Group
from hcviz.taxonomy.taxonomy import Taxonomy


@dataclass(frozen=True)
class GroupDrafts:
    """The groups made of clusters.

    Parameters
    ----------
    groups : tuple of Group
        The new groups.
    named : int
        The number of clusters that are groups already.
    single : int
        The number of clusters of one item. They get no name: the item has one.
    """

    groups: tuple[Group, ...]
    named: int
    single: int


def draft_groups(
    taxonomy: Taxonomy, clusters: ArrayLike, order: Sequence[int] | None = None
) -> GroupDrafts:
    """Make a group of each cluster that is none yet.

    Parameters
    ----------
    taxonomy : Taxonomy
        The tree and the groups that it has.
    clusters : int (n,)
        The number of each item's cluster.
    order : sequence of int, optional
        The items from top to bottom. New groups are numbered in this order. Default: the tree's.

    Returns
    -------
    GroupDrafts
        The new groups: ``Group 1``, ``Group 2``, and so on, without names that groups have.

    Raises
    ------
    InvalidTaxonomy
        If there is not one cluster for each item.

    Notes
    -----
    O(n log n + k). A cluster is a group already if it is the clade at which a group is placed.

    Examples
    --------
    >>> from hcviz import Tree
    >>> tree = Tree.from_newick("((0,1),(2,3));")
    >>> birds = Taxonomy(["owl", "rook", "yew", "elm"], tree, [Group("Birds", [0, 1])])
    >>> [(group.name, group.members) for group in draft_groups(birds, [1, 1, 2, 2]).groups]
    [('Group 1', (2, 3))]
    """
    numbers = np.asarray(clusters)
    n, tree = len(taxonomy.labels), taxonomy.tree
    if numbers.shape != (n,):
        raise InvalidTaxonomy(f"There are {n} items, but {numbers.size} numbers of clusters.")
    along = np.asarray(tree.leaf_order if order is None else order, dtype=np.int64)
    known = {tuple(sorted(tree.leaves(node).tolist())) for node in taxonomy.nodes if node >= 0} | {
        group.members for group in taxonomy.groups
    }
    used = {group.name for group in taxonomy.groups}
    members: dict[int, list[int]] = {}
    for item in along.tolist():
        members.setdefault(int(numbers[item]), []).append(item)
    made: list[Group] = []
    named = single = number = 0
    for items in map(sorted, members.values()):
        if tuple(items) in known:
            named += 1
        elif len(items) == 1:
            single += 1
        else:
            number += 1
            while f"Group {number}" in used:
                number += 1
            made.append(Group(f"Group {number}", items))
    return GroupDrafts(tuple(made), named, single)


__all__ = ["GroupDrafts", "draft_groups"]
