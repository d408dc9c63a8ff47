"""The command ``hcviz compare``, which lists the differences between two taxonomies."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from hcviz.commands.files import read_taxonomy
from hcviz.core.text import count_noun, join_names
from hcviz.taxonomy import Group, GroupDifference, TaxonomyDifferences

#: Names of items in a line of the table, at most.
MAX_NAMES = 5


def compare(options: argparse.Namespace) -> None:
    """Print the differences between two files."""
    found = read_taxonomy(options.first).compared_with(read_taxonomy(options.second))
    if options.json:
        print(json.dumps(as_json(found), ensure_ascii=False, indent=2))
    else:
        print(as_text(found))


def as_text(found: TaxonomyDifferences) -> str:
    """Return a table of the groups, the items that moved, and those of one file only."""
    rows = [("status", "first", "second", "items")]
    rows += [
        (each.status, _name(each.first), _name(each.second), _items(each)) for each in found.groups
    ]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [
        "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in rows
    ]
    counts = [f"{count} {status}" for status, count in found.counts.items() if count]
    lines += ["", f"{count_noun(len(found.groups), 'group')}: {', '.join(counts) or 'none'}."]
    if found.moved:
        lines += ["", f"{count_noun(len(found.moved), 'item')} moved:"]
        lines += [
            f"  {_on_one_line(each.item)}: {_name(each.origin) or 'no group'} -> "
            f"{_name(each.target) or 'no group'}"
            for each in found.moved
        ]
    for which, names in (("first", found.only_first), ("second", found.only_second)):
        if names:
            lines += ["", f"Only in the {which}: {_names(names)}."]
    return "\n".join(lines)


def as_json(found: TaxonomyDifferences) -> dict[str, object]:
    """Return the differences as plain JSON."""
    return {
        "counts": found.counts,
        "groups": [
            {
                "status": each.status,
                "first": _plain_name(each.first),
                "second": _plain_name(each.second),
                "gained": each.gained,
                "lost": each.lost,
                "into": [group.name for group in each.into],
                "sources": [group.name for group in each.sources],
            }
            for each in found.groups
        ],
        "moved": [
            {
                "item": each.item,
                "from": _plain_name(each.origin),
                "to": _plain_name(each.target),
            }
            for each in found.moved
        ],
        "only_first": found.only_first,
        "only_second": found.only_second,
    }


def _name(group: Group | None) -> str:
    """Return the name of a group on one line, "" for none."""
    return "" if group is None else _on_one_line(group.name)


def _plain_name(group: Group | None) -> str | None:
    return None if group is None else group.name


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _items(each: GroupDifference) -> str:
    if each.status == "split":
        return f"into {_names([group.name for group in each.into])}"
    if each.status == "merged":
        return f"from {_names([group.name for group in each.sources])}"
    parts = [
        f"{sign}{len(items)} ({_names(items)})"
        for sign, items in (("+", each.gained), ("-", each.lost))
        if items
    ]
    return ", ".join(parts)


def _names(names: Sequence[str]) -> str:
    return join_names([_on_one_line(name) for name in names[:MAX_NAMES]], MAX_NAMES, len(names))


__all__ = ["as_json", "as_text", "compare"]
