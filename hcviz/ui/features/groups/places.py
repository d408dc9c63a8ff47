"""The places of the session's groups in the tree on the screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from weakref import WeakKeyDictionary

from hcviz.core.text import printable
from hcviz.core.tree import Tree
from hcviz.session.constraint import Constraint
from hcviz.taxonomy import Change, Group, Taxonomy
from hcviz.ui.features.lessons.model import tree_to_show
from hcviz.ui.state.store import Store

#: What the picture writes at the branch of a locked group.
LOCKED = "locked"

#: Store -> the taxonomy of its tree and groups. Other trees and groups replace it.
_cache: WeakKeyDictionary[Store, Taxonomy] = WeakKeyDictionary()


def shown_taxonomy(store: Store) -> Taxonomy | None:
    """Return the session's groups on the tree on the screen; None without groups or a tree."""
    lesson, drawn = store.view.lesson, store.drawn
    tree = None if drawn is None else drawn.tree
    return taxonomy_on(store, tree if lesson is None else tree_to_show(store))


def taxonomy_on(store: Store, tree: Tree | None) -> Taxonomy | None:
    """Return the session's groups on a tree; None without groups or a tree of its items.

    The last result is cached.
    """
    if not store.session.groups or tree is None or tree.n_leaves != store.session.n_items:
        return None
    session, known = store.session, _cache.get(store)
    if known is not None and known.tree is tree and known.groups == session.groups:
        return known
    found = Taxonomy(session.labels, tree, session.groups)
    _cache[store] = found
    return found


def names_of_nodes(store: Store, tree: Tree | None) -> dict[int, str]:
    """Return node -> name of the group that is placed there, and whether it is locked.

    A group of one item is left out: the item has its own name there.
    """
    found: dict[int, str] = {}
    taxonomy = taxonomy_on(store, tree)
    if taxonomy is not None:
        found = {
            node: " ".join(printable(group.name).split()) or "…"
            for group, node in zip(taxonomy.groups, taxonomy.nodes, strict=True)
            if node >= taxonomy.tree.n_leaves
        }
    if tree is not None and tree.n_leaves == store.session.n_items:
        for each in store.session.enabled:
            if each.is_clade and each.holds_in(tree):
                node = tree.smallest_clade(each.group)
                found[node] = f"{found[node]} · {LOCKED}" if node in found else LOCKED
    return found


def named_clades(store: Store, tree: Tree) -> dict[int, str]:
    """Return node -> name of the group at this place, for a tree other than that on the screen.

    Groups of one item are left out.
    """
    groups = store.session.groups
    if not groups or tree.n_leaves != store.session.n_items:
        return {}
    taxonomy = Taxonomy(store.session.labels, tree, groups)
    return {
        node: group.name
        for group, node in zip(groups, taxonomy.nodes, strict=True)
        if node >= tree.n_leaves
    }


def lock_of(store: Store, items: Iterable[int]) -> Constraint | None:
    """Return the enabled constraint that these items are a group, or None."""
    wanted = frozenset(items)
    return next(
        (c for c in store.session.enabled if c.is_clade and frozenset(c.group) == wanted), None
    )


def unlocked_groups(store: Store) -> tuple[Group, ...]:
    """Return the groups that can be locked and have no lock in the list, not even a disabled one.

    A lock needs several items, but not all.
    """
    session = store.session
    listed = {frozenset(c.group) for c in session.constraints if c.is_clade}
    return tuple(
        group
        for group in session.groups
        if 1 < len(group.members) < session.n_items and frozenset(group.members) not in listed
    )


def locked_groups(store: Store) -> tuple[Group, ...]:
    """Return the session's groups; those with a lock have ``locked`` set."""
    return tuple(
        replace(group, locked=lock_of(store, group.members) is not None)
        for group in store.session.groups
    )


def clade_of(taxonomy: Taxonomy | None, group: Group) -> tuple[int, ...]:
    """Return the items at the place of a group; its members if it has no place."""
    if taxonomy is None:
        return group.members
    node = taxonomy.nodes[taxonomy.groups.index(group)]
    return group.members if node < 0 else tuple(taxonomy.tree.leaves(node).tolist())


def group_of_items(store: Store, items: tuple[int, ...]) -> Group | None:
    """Return the group whose place, or else whose members, are exactly these items."""
    if not items or not store.session.groups:
        return None
    wanted = tuple(sorted(set(items)))
    taxonomy = shown_taxonomy(store)
    if taxonomy is not None:
        node = taxonomy.tree.smallest_clade(wanted)
        if int(taxonomy.tree.size[node]) == len(wanted) and node in taxonomy.nodes:
            return taxonomy.groups[taxonomy.nodes.index(node)]
    return next((each for each in store.session.groups if each.members == wanted), None)


def change_of(taxonomy: Taxonomy | None, group_id: str) -> Change | None:
    """Return the difference between a group and its place; None if they are the same."""
    changes = () if taxonomy is None else taxonomy.changes
    return next((each for each in changes if each.group.id == group_id), None)


__all__ = [
    "change_of",
    "clade_of",
    "group_of_items",
    "lock_of",
    "locked_groups",
    "named_clades",
    "names_of_nodes",
    "shown_taxonomy",
    "taxonomy_on",
    "unlocked_groups",
]
