"""The rules of new items: their list, and accepted ones, which join the data and their groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData, InvalidTaxonomy
from hcviz.core.text import count_noun, join_names
from hcviz.session.actions import AcceptItems, CloseNewItems, DecideNewItems, OpenNewItems
from hcviz.session.added_rows import check_new
from hcviz.session.chosen_clusters import ChosenClusters
from hcviz.session.conflicts import replace_constraints, update_conflict
from hcviz.session.constraint import Constraint
from hcviz.session.effects import ReloadData
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.model import Group, Session
from hcviz.session.offered_items import OfferedItems
from hcviz.session.runs import no_change, request_run
from hcviz.taxonomy import Taxonomy
from hcviz.taxonomy.nesting import check_groups

#: Names of items in a sentence, at most.
MAX_NAMES = 3


def accept(session: Session, action: AcceptItems) -> UpdateResult:
    """Add items at the end of the data, and to their groups, in one step. A run follows.

    An item joins its group and every group around it. It also joins the locks of its group and
    around it, enabled or not (:func:`locks_around`). So the enabled constraints stay consistent:
    the item can be attached at the smallest clade that it joins.

    Raises
    ------
    InvalidData
        If there are no items, or a name is in the data already.
    InvalidTaxonomy
        If a group is not in the list.
    """
    labels = action.rows.labels
    _check(session, action)
    n = session.n_items
    joined: dict[str, list[int]] = {}
    for k, group in enumerate(action.groups):
        joined.setdefault(group, []).append(n + k)
    targets = {group.id: frozenset(group.members) for group in session.groups}
    # Each new item of a group, and the earlier items that it must stay with.
    added = [(targets[key], items) for key, items in joined.items() if key]
    groups = tuple(_grown_group(group, added) for group in session.groups)
    check_groups(groups, n + len(labels))
    new_of_lock: dict[int, list[int]] = {}
    for key, items in joined.items():
        for lock in locks_around(session, key) if key else ():
            new_of_lock.setdefault(lock.id, []).extend(items)
    locks = [
        replace(each, group=(*each.group, *sorted(new_of_lock[each.id])))
        for each in session.constraints
        if each.id in new_of_lock
    ]
    grown = sum(lock.enabled for lock in locks)

    names = join_names(labels, MAX_NAMES)
    label = f"Accept {count_noun(len(labels), 'new item')}: {names}"
    spec = replace(session.data, added=(*session.data.added, action.rows))
    order = session.order
    reference = session.reference if order is None else order
    refused = () if session.conflict is None else (
        session.conflict.constraint_id, *session.conflict.waiting
    )  # fmt: skip
    after = replace(
        add_undo_step(session, label),
        data=spec,
        labels=(*session.labels, *labels),
        groups=groups,
        chosen_clusters=_grown_clusters(session.chosen_clusters, joined, targets, n),
        snapshot=None,
        shown=-1,
        reference=None if reference is None else grown_order(reference, added, n + len(labels)),
    )
    after = replace_constraints(after, locks)
    if refused:
        after = update_conflict(after, refused)
    text = f"{count_noun(len(labels), 'new item')} added to the data: {names}."
    if grown:
        text += f" {count_noun(grown, 'locked group')} include{'s' * (grown == 1)} them."
    after, effects = request_run(after, label, "nothing", text)
    return after, (ReloadData(spec), *effects)


def open_list(session: Session, action: OpenNewItems) -> UpdateResult:
    """Open a list of new items. An earlier one is closed."""
    return no_change(replace(session, offered_items=OfferedItems(action.rows, action.notes)))


def decide(session: Session, action: DecideNewItems) -> UpdateResult:
    """Set the decisions about the new items of the list."""
    if session.offered_items is None:
        return no_change(session)
    decided = replace(session.offered_items, dismissed=action.dismissed, chosen=action.chosen)
    return no_change(replace(session, offered_items=decided))


def close_list(session: Session, action: CloseNewItems) -> UpdateResult:
    """Close the list of new items."""
    return no_change(replace(session, offered_items=None))


def locks_around(session: Session, group_id: str) -> list[Constraint]:
    """Return the clade constraints that contain a group, enabled or not.

    A constraint contains the group if it has all its members, or all items of its place in the
    shown tree: the page locks a group at its place.
    """
    clades = [each for each in session.constraints if each.is_clade]
    group = session.find_group(group_id)
    if group is None or not clades:
        return []
    members = place = frozenset(group.members)
    tree = session.tree
    if tree is not None and tree.n_leaves == session.n_items:
        taxonomy = Taxonomy(session.labels, tree, session.groups)
        node = taxonomy.nodes[session.groups.index(group)]
        if node >= 0:
            place = frozenset(tree.leaves(node).tolist())
    return [each for each in clades if members <= set(each.group) or place <= set(each.group)]


def _check(session: Session, action: AcceptItems) -> None:
    labels = action.rows.labels
    if not labels:
        raise InvalidData("There is no new item to accept.", "Choose one of the list.")
    if len(action.groups) != len(labels):
        raise InvalidTaxonomy(f"{len(labels)} new items, but {len(action.groups)} groups.")
    check_new(action.rows, session.labels)
    ids = {group.id for group in session.groups}
    if any(key and key not in ids for key in action.groups):
        raise InvalidTaxonomy("A group is no longer in the list.", "Choose another group.")


def _joining(
    members: frozenset[int], added: Sequence[tuple[frozenset[int], list[int]]]
) -> list[int]:
    """Return the new items whose group is within these members."""
    return sorted(item for group, items in added if group <= members for item in items)


def _grown_group(group: Group, added: Sequence[tuple[frozenset[int], list[int]]]) -> Group:
    new = _joining(frozenset(group.members), added)
    return replace(group, members=(*group.members, *new)) if new else group


def _grown_clusters(
    chosen: ChosenClusters | None,
    joined: Mapping[str, Sequence[int]],
    targets: Mapping[str, frozenset[int]],
    n: int,
) -> ChosenClusters | None:
    """Put each new item in the cluster that has most items of its group, or in one of its own."""
    if chosen is None:
        return None
    of_new: dict[int, int] = {}
    for key, items in joined.items():
        members = [chosen.of_item[item] for item in targets[key]] if key else []
        common = int(np.bincount(members).argmax()) if members else 0
        for item in items:
            of_new[item] = common or chosen.count + 1 + item
    return ChosenClusters((*chosen.of_item, *(of_new[item] for item in sorted(of_new))))


def grown_order(
    order: NDArray[np.int32],
    added: Sequence[tuple[frozenset[int], list[int]]],
    n_items: int,
) -> NDArray[np.int32]:
    """Return the order with each new item after the last one of its group, the others at the end.

    O(n) for each group that gets items.
    """
    after: dict[int, list[int]] = {}
    for group, items in added:
        last = int(np.flatnonzero(np.isin(order, list(group)))[-1])
        after.setdefault(last, []).extend(items)
    found: list[int] = []
    for row, item in enumerate(order.tolist()):
        found.append(item)
        found += after.get(row, [])
    rest = set(range(n_items)).difference(found)
    return np.array([*found, *sorted(rest)], np.int32)


__all__ = ["accept", "close_list", "decide", "grown_order", "locks_around", "open_list"]
