"""The command ``hcviz list``: the methods, the data sets and the formats."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import get_args

import hcviz
from hcviz.algorithms import get
from hcviz.commands.tree_formats import FORMAT_OF, TREE_FORMATS
from hcviz.core.errors import InvalidParameter
from hcviz.datasets import at_hand, title
from hcviz.session.constraint import TableKind
from hcviz.taxonomy.formats import FORMAT_OF_SUFFIX, FORMATS, READERS

Row = Mapping[str, str]


def list_names(options: argparse.Namespace) -> None:
    """Print a table, or a JSON list of objects."""
    rows = LISTS[options.what]()
    print(json.dumps(rows, ensure_ascii=False, indent=1) if options.json else as_table(rows))


def methods() -> list[Row]:
    """Return a row for each method. A method that cannot be imported gets a line on stderr."""
    found = []
    for name in hcviz.algorithms():
        try:
            found.append(get(name))
        except InvalidParameter as fault:
            print(f"hcviz: {fault}", file=sys.stderr)
    return [
        {
            "name": each.name,
            "title": each.title,
            "needs": " or ".join(each.needs),
            "constraints": each.triplets,
            "summary": each.summary,
            "paper": each.paper,
        }
        for each in found
    ]


def data() -> list[Row]:
    """Return a row for each built-in data set that can be loaded here."""
    return [{"name": name, "title": title(name)} for name in at_hand()]


def formats() -> list[Row]:
    """Return a row for each format of trees and taxonomies, and each kind of table."""
    trees = [
        {"name": name, "of": "tree", "suffixes": _suffixes(FORMAT_OF, name), "title": text}
        for name, text in TREE_FORMATS.items()
    ]
    taxonomies = [
        {
            "name": key,
            "of": "taxonomy" if set(_suffixes(FORMAT_OF_SUFFIX, key).split()) & set(READERS)
            else "taxonomy, written only",
            "suffixes": _suffixes(FORMAT_OF_SUFFIX, key) or format.ending,
            "title": format.title,
        }
        for key, format in FORMATS.items()
    ]  # fmt: skip
    tables = [
        {"name": kind, "of": "table", "suffixes": "", "title": f"--kind {kind}"}
        for kind in get_args(TableKind)
    ]
    return [*trees, *taxonomies, *tables]


def _suffixes(table: Mapping[str, str], name: str) -> str:
    return " ".join(suffix for suffix, format in table.items() if format == name)


def as_table(rows: Sequence[Row]) -> str:
    """Return aligned columns under a header; the last column is not padded.

    Examples
    --------
    >>> print(as_table([{"name": "zoo", "title": "Zoo"}, {"name": "iris", "title": "Iris"}]))
    name  title
    zoo   Zoo
    iris  Iris
    """
    header = list(rows[0])
    lines = [header, *([row[name] for name in header] for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


LISTS = {"methods": methods, "data": data, "formats": formats}

__all__ = ["LISTS", "list_names"]
