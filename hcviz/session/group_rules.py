"""The rules of named groups. They start no run, and no run changes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hcviz.core.errors import InvalidTaxonomy
from hcviz.session.actions import (
    EditGroup,
    NameGroup,
    RemoveGroup,
    ReplaceGroups,
    SetGroupMembers,
)
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.model import Group, Session
from hcviz.session.runs import announce, no_change
from hcviz.taxonomy.nesting import check_groups, parents_of, shared_properties

GONE = "That group is no longer in the list."


def name_group(session: Session, action: NameGroup) -> UpdateResult:
    """Add a group."""
    made = Group(action.name, action.members, id=action.id)
    text = f"Named: {made.name}, {_items(made)}."
    return _changed(session, (*session.groups, made), text, made)


def edit(session: Session, action: EditGroup) -> UpdateResult:
    """Change name, note, alternative names or status of a group."""
    found = session.find_group(action.id)
    if found is None:
        return announce(session, GONE)
    edited = replace(
        found,
        name=found.name if action.name is None else action.name,
        note=found.note if action.note is None else action.note,
        alternatives=found.alternatives if action.alternatives is None else action.alternatives,
        status=found.status if action.status is None else action.status,
    )
    if edited == found:
        return no_change(session)
    if edited.name != found.name:
        text = f"Renamed: {found.name} is now {edited.name}."
    elif edited.status != found.status:
        text = f"{edited.name} is {'accepted' if edited.status == 'accepted' else 'a draft'}."
    else:
        text = f"Edited: {edited.name}."
    return _changed(session, _with(session, edited), text, edited)


def set_members(session: Session, action: SetGroupMembers) -> UpdateResult:
    """Replace the members of a group."""
    found = session.find_group(action.id)
    if found is None:
        return announce(session, GONE)
    edited = replace(found, members=action.members)
    if edited == found:
        return no_change(session)
    gained = len(set(edited.members) - set(found.members))
    lost = len(set(found.members) - set(edited.members))
    text = f"{edited.name} has {_items(edited)} now: +{gained}, −{lost}."
    return _changed(session, _with(session, edited), text, edited)


def remove(session: Session, action: RemoveGroup) -> UpdateResult:
    """Remove a group. The groups in it move up."""
    found = session.find_group(action.id)
    if found is None:
        return announce(session, GONE)
    left = tuple(each for each in session.groups if each.id != found.id)
    return _changed(session, left, f"Removed: the group {found.name}. Its items stay.", found)


def replace_all(session: Session, action: ReplaceGroups) -> UpdateResult:
    """Replace all groups in one step."""
    check_groups(action.groups, session.n_items)
    if action.groups == session.groups:
        return announce(session, action.note) if action.note else no_change(session)
    text = action.note or f"{len(action.groups):,} groups replace {len(session.groups):,}."
    return _store(session, action.groups, text)


def _items(group: Group) -> str:
    count = len(group.members)
    return "1 item" if count == 1 else f"{count:,} items"


def _with(session: Session, edited: Group) -> tuple[Group, ...]:
    return tuple(edited if each.id == edited.id else each for each in session.groups)


def _changed(
    session: Session, groups: tuple[Group, ...], text: str, changed: Group
) -> UpdateResult:
    """Set the groups after a change of one, unless two of them cannot be told apart."""
    for twin, group, what in shared_properties(groups):
        other = twin if group.id == changed.id else group
        if what == "the same items":
            raise InvalidTaxonomy(
                f"These {_items(other)} are the group {other.name!r} already.",
                "Rename that group, or choose other items.",
            )
        if what.startswith("the same name"):
            parent = parents_of(groups)[groups.index(group)]
            place = "at the top level" if parent is None else f"in {groups[parent].name!r}"
            raise InvalidTaxonomy(
                f"There is a group {group.name!r} {place} already.", "Choose another name."
            )
    check_groups(groups, session.n_items)
    return _store(session, groups, text)


def moved_members(
    groups: tuple[Group, ...], target: Group, members: Iterable[int]
) -> tuple[Group, ...]:
    """Return the groups after ``target`` got these members.

    New members join the groups around the target too, and leave all other groups. A group that
    would be empty keeps its members.
    """
    after, before = set(members), set(target.members)
    gained = after - before

    def of(group: Group) -> set[int]:
        own = set(group.members)
        if group.id == target.id:
            return after
        if before < own:
            return own | gained
        return own if own < before else own - gained or own

    return tuple(replace(each, members=tuple(sorted(of(each)))) for each in groups)


def _store(session: Session, groups: tuple[Group, ...], text: str) -> UpdateResult:
    return announce(replace(add_undo_step(session, text.rstrip(".")), groups=groups), text)


__all__ = [
    "check_groups",
    "edit",
    "moved_members",
    "name_group",
    "remove",
    "replace_all",
    "set_members",
]
