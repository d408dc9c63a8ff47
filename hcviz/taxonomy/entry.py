"""``Entry``: a taxonomy as files have it, nested; to and from groups and a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hcviz.core.errors import InvalidTaxonomy
from hcviz.core.text import closest_name, join_names
from hcviz.core.tree import Tree
from hcviz.taxonomy.group import Group, Status
from hcviz.taxonomy.outline import Outline


@dataclass
class Entry:
    """A group of a file, or the whole file.

    ``contents`` are items, by name, and groups, in the file's order. ``nameless``: a clade of a
    tree that is no group. ``where`` says for messages where it is in the file, such as ``line 4``.
    """

    name: str = ""
    contents: list[str | Entry] = field(default_factory=list)
    note: str = ""
    alternatives: tuple[str, ...] = ()
    status: Status = "draft"
    locked: bool = False
    id: str = ""
    nameless: bool = False
    where: str = ""

    @property
    def items(self) -> list[str]:
        return [each for each in self.contents if isinstance(each, str)]

    @property
    def children(self) -> list[Entry]:
        return [each for each in self.contents if isinstance(each, Entry)]


def entry_of(top: Outline, labels: Sequence[str]) -> Entry:
    """The groups of an outline, with their items by name."""
    made: dict[int, Entry] = {}
    for each, _ in reversed(list(top.walk())):  # those inside come before
        group = each.group
        entry = Entry()
        if group is not None:
            entry = Entry(
                group.name, [], group.note, group.alternatives, group.status, group.locked, group.id
            )
        entry.contents = [
            made[id(part)] if isinstance(part, Outline) else labels[part] for part in each.contents
        ]
        _check_names(entry)
        made[id(each)] = entry
    return made[id(top)]


def arranged(
    top: Entry, labels: Sequence[str] | None = None
) -> tuple[list[str], Tree, list[Group]]:
    """Items, tree and groups of what a file states. The tree is its nesting.

    Parameters
    ----------
    top : Entry
    labels : sequence of str, optional
        The items. Default: those of the file, in its order.

    Raises
    ------
    InvalidTaxonomy
        An item of the file is no item, is missing or occurs twice; an empty group; two groups of
        the same name below the same group; a group with one group and nothing else in it.
    """
    found = list(_walk(top))
    known = _numbers(found, labels)
    if len(known) < 2:
        raise InvalidTaxonomy("A taxonomy needs two items or more.")
    n = len(known)
    members: dict[int, list[int]] = {}
    node: dict[int, int] = {}
    children: list[list[int]] = []
    for entry in _inside_first(top):  # nodes are numbered in this order, so siblings keep theirs
        below, inside = [], []
        for each in entry.contents:
            if isinstance(each, str):
                below.append(known[each])
                inside.append(known[each])
            else:
                below.append(node[id(each)])
                inside += members[id(each)]
        if entry is not top and not entry.nameless:
            _check(entry)
        _check_names(entry)
        members[id(entry)] = inside
        if len(below) > 1:
            children.append(below)
            below = [n + len(children) - 1]
        node[id(entry)] = below[0]
    groups = [
        Group(entry.name, members[id(entry)], entry.note, entry.alternatives, entry.status,
              entry.locked, entry.id)
        for entry in found if entry is not top and not entry.nameless
    ]  # fmt: skip
    return list(known), Tree.from_children(children, n), groups


def _walk(top: Entry) -> Iterator[Entry]:
    """An entry before those in it."""
    waiting = [top]
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting.extend(reversed(entry.children))


def _inside_first(top: Entry) -> list[Entry]:
    """Each entry after all that are in it, and after those before it in the file."""
    found, waiting = [], [top]
    while waiting:
        entry = waiting.pop()
        found.append(entry)
        waiting.extend(entry.children)
    return found[::-1]


def _numbers(found: list[Entry], labels: Sequence[str] | None) -> dict[str, int]:
    """The number of each item, after a check that the entries have each exactly once."""
    stated = [item for entry in found for item in entry.items]
    names = dict.fromkeys(stated) if labels is None else [str(label) for label in labels]
    known = {label: number for number, label in enumerate(names)}
    seen: set[str] = set()
    for entry in found:
        for item in entry.items:
            at = f" ({entry.where})" if entry.where else ""
            if item not in known:
                like = closest_name(item, known)
                hint = f"The nearest is {like!r}." if like else "Take a file about these items."
                raise InvalidTaxonomy(f"The taxonomy has {item!r}{at}, which is no item.", hint)
            if item in seen:
                raise InvalidTaxonomy(f"The taxonomy has the item {item!r} twice{at}.")
            seen.add(item)
    missing = [label for label in known if label not in seen]
    if missing:
        raise InvalidTaxonomy(
            f"The taxonomy lacks {len(missing):,} of the items: {join_names(missing, 3)}.",
            "Add them to it.",
        )
    return known


def _check(entry: Entry) -> None:
    at = f" ({entry.where})" if entry.where else ""
    if not entry.contents:
        raise InvalidTaxonomy(f"The group {entry.name!r}{at} is empty.", "Add an item to it.")
    if len(entry.contents) == 1 and entry.children:
        raise InvalidTaxonomy(
            f"The group {entry.name!r}{at} has only the group {entry.children[0].name!r} in it.",
            "Leave one of the two out.",
        )


def _check_names(entry: Entry) -> None:
    names: set[str] = set()
    for child in entry.children:
        if child.name in names and not child.nameless:
            at = f" ({child.where})" if child.where else ""
            raise InvalidTaxonomy(
                f"Two groups are called {child.name!r} on one level{at}.", "Rename one of them."
            )
        names.add(child.name)


__all__ = ["Entry", "arranged", "entry_of"]
