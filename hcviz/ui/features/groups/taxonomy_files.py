"""Files of taxonomies: the groups of the page as text, and the groups of a file for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from hcviz.core.errors import InvalidTaxonomy
from hcviz.core.text import count_noun, join_names
from hcviz.io.decoding import decode_utf8
from hcviz.taxonomy import Group, Taxonomy
from hcviz.taxonomy.formats import FORMATS, READERS

#: Names of items in a sentence, at most.
MAX_NAMES = 3


@dataclass(frozen=True)
class TaxonomyFile:
    """A file to save."""

    filename: str
    mime: str
    text: str


def save_taxonomy(taxonomy: Taxonomy, format: str, stem: str) -> TaxonomyFile:
    """Return the placed groups of a taxonomy as a file.

    Raises
    ------
    InvalidTaxonomy
        If there is no such format, or it cannot represent a name.
    """
    if format not in FORMATS:
        raise InvalidTaxonomy(f"There is no format {format!r}.")
    chosen = FORMATS[format]
    text = chosen.write(taxonomy, stem)
    text = text if text.endswith("\n") else f"{text}\n"
    return TaxonomyFile(f"{stem}{chosen.ending}", chosen.mime, text)


def saved_note(taxonomy: Taxonomy, format: str) -> str:
    """Return what a saved file has: its groups, the items outside them, and what is left out."""
    placed = [group for group in taxonomy.groups if group not in taxonomy.unplaced]
    inside = {item for group in placed for item in group.members}
    n_free = len(taxonomy.labels) - len(inside)
    text = f"It has the {count_noun(len(placed), 'named group')}"
    if n_free:
        text += f", and {count_noun(n_free, 'item')} in no group"
    text += "."
    if format == "markdown":
        text += " The marks in braces let hcviz read the groups again."
    return f"{text} {unplaced_note(taxonomy)}".strip()


def unplaced_note(taxonomy: Taxonomy) -> str:
    """Return which groups a file does not have, or ""."""
    lost = [group.name for group in taxonomy.unplaced]
    if not lost:
        return ""
    verb = "is" if len(lost) == 1 else "are"
    return (
        f"{count_noun(len(lost), 'group')} without a place in this tree {verb} not in the file: "
        f"{join_names(lost, MAX_NAMES)}."
    )


@dataclass(frozen=True)
class GroupsFile:
    """The groups of a file, with the items of the page.

    Attributes
    ----------
    name : name of the file
    groups : groups with items of the page
    items : items of the page that the file has, in increasing order
    unknown, missing : items of the file that are not on the page, and the reverse
    empty : names of groups that have no items of their own on the page
    replaces : True if the groups are to replace those of the page, False to review them
    """

    name: str
    groups: tuple[Group, ...]
    items: tuple[int, ...]
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    empty: tuple[str, ...]
    replaces: bool = False


def groups_note(file: GroupsFile) -> str:
    """Return how many groups a file has, and which items and groups are left out."""
    sentence = f"{count_noun(len(file.groups), 'group')} from {file.name}."
    return f"{sentence} {left_out_sentences(file)}".strip()


def left_out_sentences(file: GroupsFile) -> str:
    """Return which items and groups are only in a file, or only on the page; "" if none."""
    sentences = []
    if file.unknown:
        many = _items(file.unknown, "is", "are")
        sentences.append(f"{many} not among the items shown: {_list(file.unknown)}.")
    if file.missing:
        many = _items(file.missing, "is", "are")
        sentences.append(f"{many} not in the file: {_list(file.missing)}.")
    if file.empty:
        one = len(file.empty) == 1
        sentences.append(
            f"{count_noun(len(file.empty), 'group')} {'has' if one else 'have'} no items of their "
            f"own here and {'was' if one else 'were'} left out: {_list(file.empty)}."
        )
    return " ".join(sentences)


def read_groups_file(content: bytes, name: str, labels: Sequence[str]) -> GroupsFile:
    """Read a taxonomy file for the items of the page.

    Raises
    ------
    InvalidTaxonomy
        If the file cannot be read, or has none of the items.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in READERS:
        raise InvalidTaxonomy(
            f"{name} is not a file of groups.", f"These are read: {' '.join(READERS)}."
        )
    text = decode_utf8(content, name, "Save it as UTF-8.", InvalidTaxonomy)
    try:
        found = READERS[suffix](text, None)
    except InvalidTaxonomy as fault:
        raise InvalidTaxonomy(f"{name}: {fault.message}", fault.hint) from None
    index = {str(label): item for item, label in enumerate(labels)}
    unknown = [label for label in found.labels if label not in index]
    if len(unknown) == len(found.labels):
        raise InvalidTaxonomy(
            f"None of the {len(unknown):,} items of {name} are among the items shown.",
            "Open its data first, or choose another file.",
        )
    groups, empty = groups_on_page(found, index)
    missing = sorted(set(index) - set(found.labels), key=index.__getitem__)
    items = sorted(index[label] for label in found.labels if label in index)
    return GroupsFile(name, groups, tuple(items), tuple(unknown), tuple(missing), tuple(empty))


def groups_on_page(found: Taxonomy, index: dict[str, int]) -> tuple[tuple[Group, ...], list[str]]:
    """Return the groups with the items of the page, and the names of those left out.

    A group is left out if it has no items here, or the same ones as a group before it.
    """
    groups: list[Group] = []
    empty: list[str] = []
    seen: set[tuple[int, ...]] = set()
    for group in found.groups:
        items = sorted(
            index[found.labels[item]] for item in group.members if found.labels[item] in index
        )
        if not items or tuple(items) in seen:
            empty.append(group.name)
            continue
        seen.add(tuple(items))
        groups.append(replace(group, members=tuple(items)))
    return tuple(groups), empty


def _items(names: Sequence[str], one: str, many: str) -> str:
    return f"{count_noun(len(names), 'item')} {one if len(names) == 1 else many}"


def _list(names: Sequence[str]) -> str:
    return join_names(names, MAX_NAMES)


__all__ = [
    "GroupsFile",
    "TaxonomyFile",
    "groups_note",
    "left_out_sentences",
    "read_groups_file",
    "save_taxonomy",
    "saved_note",
    "unplaced_note",
]
