"""The class ``Entry``, the nested groups of a file, and its conversion from and to a taxonomy."""

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
    """A group in a file, or the whole file.

    Attributes
    ----------
    contents : items (names) and groups, in the order of the file
    is_unnamed : True for a clade of a tree that is not a group
    location : place in the file for messages, such as ``line 4``
    name, note, alternatives, status, locked, id : as in :class:`hcviz.taxonomy.Group`
    """

    name: str = ""
    contents: list[str | Entry] = field(default_factory=list)
    note: str = ""
    alternatives: tuple[str, ...] = ()
    status: Status = "draft"
    locked: bool = False
    id: str = ""
    is_unnamed: bool = False
    location: str = ""

    @property
    def items(self) -> list[str]:
        """The items directly in this group."""
        return [each for each in self.contents if isinstance(each, str)]

    @property
    def children(self) -> list[Entry]:
        """The groups directly in this group."""
        return [each for each in self.contents if isinstance(each, Entry)]


def entry_from_outline(top: Outline, labels: Sequence[str]) -> Entry:
    """Return the groups of an outline as entries, with names of items."""
    made: dict[int, Entry] = {}
    for each, _ in reversed(list(top.walk())):  # inner groups come first
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


def assemble(
    top: Entry, labels: Sequence[str] | None = None
) -> tuple[list[str], Tree, list[Group]]:
    """Return the labels, the tree and the groups of a file. The tree is the nesting of the groups.

    Parameters
    ----------
    top : Entry
        The file.
    labels : sequence of str, optional
        Names of the items. Default: those of the file; the items directly in a group come before
        those of the groups in it.

    Raises
    ------
    InvalidTaxonomy
        If an item of the file is unknown, missing or repeated, or a group is empty, contains only
        one group, or has the same name as another one below the same group.
    """
    found = list(_walk(top))
    known = _numbers(found, labels)
    if len(known) < 2:
        raise InvalidTaxonomy("A taxonomy needs two items or more.")
    n = len(known)
    members: dict[int, list[int]] = {}
    node: dict[int, int] = {}
    children: list[list[int]] = []
    for entry in _inner_first(top):  # siblings keep their order
        below, inside = [], []
        for each in entry.contents:
            if isinstance(each, str):
                below.append(known[each])
                inside.append(known[each])
            else:
                below.append(node[id(each)])
                inside += members[id(each)]
        if entry is not top and not entry.is_unnamed:
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
        for entry in found if entry is not top and not entry.is_unnamed
    ]  # fmt: skip
    return list(known), Tree.from_children(children, n), groups


def _walk(top: Entry) -> Iterator[Entry]:
    """Yield all entries, each before the entries in it."""
    waiting = [top]
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting.extend(reversed(entry.children))


def _inner_first(top: Entry) -> list[Entry]:
    """Return all entries, each after the entries in it and after earlier ones of the file."""
    found, waiting = [], [top]
    while waiting:
        entry = waiting.pop()
        found.append(entry)
        waiting.extend(entry.children)
    return found[::-1]


def _numbers(found: list[Entry], labels: Sequence[str] | None) -> dict[str, int]:
    """Return the number of each item, and check that the entries have each item exactly once."""
    stated = [item for entry in found for item in entry.items]
    names = dict.fromkeys(stated) if labels is None else [str(label) for label in labels]
    known = {label: number for number, label in enumerate(names)}
    seen: set[str] = set()
    for entry in found:
        for item in entry.items:
            at = f" ({entry.location})" if entry.location else ""
            if item not in known:
                like = closest_name(item, known)
                hint = f"The nearest is {like!r}." if like else "Choose a file with these items."
                raise InvalidTaxonomy(f"The taxonomy has {item!r}{at}, which is not an item.", hint)
            if item in seen:
                raise InvalidTaxonomy(f"The taxonomy has the item {item!r} twice{at}.")
            seen.add(item)
    missing = [label for label in known if label not in seen]
    if missing:
        raise InvalidTaxonomy(
            f"The taxonomy lacks {len(missing):,} of the items: {join_names(missing, 3)}.",
            "Add them to the file.",
        )
    return known


def _check(entry: Entry) -> None:
    at = f" ({entry.location})" if entry.location else ""
    if not entry.contents:
        raise InvalidTaxonomy(f"The group {entry.name!r}{at} is empty.", "Add an item to it.")
    if len(entry.contents) == 1 and entry.children:
        raise InvalidTaxonomy(
            f"The group {entry.name!r}{at} has only the group {entry.children[0].name!r} in it.",
            "Remove one of the two groups.",
        )


def _check_names(entry: Entry) -> None:
    names: set[str] = set()
    for child in entry.children:
        if child.name in names and not child.is_unnamed:
            at = f" ({child.location})" if child.location else ""
            raise InvalidTaxonomy(
                f"Two groups in the same group are named {child.name!r}{at}.", "Rename one of them."
            )
        names.add(child.name)


__all__ = ["Entry", "assemble", "entry_from_outline"]
