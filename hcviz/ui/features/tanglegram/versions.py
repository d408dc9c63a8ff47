"""The trees of two versions of the groups, for a tanglegram of the review."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hcviz.core.build import build
from hcviz.core.tree import Tree
from hcviz.session.second_version import SecondVersion
from hcviz.taxonomy import Group

#: Key of the second version in the menu.
SECOND_VERSION = "second version"


def nesting_tree(groups: Iterable[Group], n_items: int) -> Tree:
    """Return the tree whose clades are the groups, of two items or more. O(n) for each group.

    Items without a group are children of the root.

    Examples
    --------
    >>> nesting_tree([Group("Both", [0, 2])], 4).smallest_clade([0, 2])
    4
    """
    inner = [each.members for each in groups if 1 < len(each.members) < n_items]
    return build(n_items, groups=inner)


def names_in(tree: Tree, groups: Iterable[Group]) -> dict[int, str]:
    """Return node -> name of the group with exactly its items."""
    found: dict[int, str] = {}
    for group in groups:
        node = tree.smallest_clade(group.members)
        if node >= tree.n_leaves and tree.size[node] == len(group.members):
            found[node] = group.name
    return found


def common_groups(groups: Iterable[Group], version: SecondVersion) -> list[Group]:
    """Return the groups with those items that the file of the version has; empty ones left out."""
    present = set(version.items)
    found: dict[tuple[int, ...], Group] = {}
    for group in groups:
        members = tuple(item for item in group.members if item in present)
        if members:
            found.setdefault(members, Group(group.name, members, id=group.id))
    return list(found.values())


def switched_items(
    labels: Sequence[str], groups: Sequence[Group], version: SecondVersion
) -> list[int]:
    """Return the items that the second version has in another group."""
    index = {labels[item]: item for item in version.items}
    found = replace(version, mine=tuple(groups)).differences(labels)
    return [index[each.item] for each in found.moved]


__all__ = ["SECOND_VERSION", "common_groups", "names_in", "nesting_tree", "switched_items"]
