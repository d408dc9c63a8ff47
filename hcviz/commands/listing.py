"""The command ``hcviz list``: the methods, the data sets and the formats."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence

import hcviz
from hcviz.algorithms import get
from hcviz.commands.tree_formats import FORMAT_OF, TREE_FORMATS
from hcviz.core.errors import InvalidParameter
from hcviz.datasets import at_hand, title
from hcviz.session.constraint import TableKind
from hcviz.taxonomy.formats import FORMAT_OF_SUFFIX, FORMATS, READERS

Row = Mapping[str, str]

#: Columns of long texts, which only the JSON has.
ONLY_JSON = {"summary", "paper"}
#: What a table of each kind has.
KIND_TEXTS: Mapping[TableKind, str] = {
    "features": "an item in each row, a feature in each column",
    "similarity": "a square matrix: higher is more alike",
    "distance": "a square matrix: lower is more alike",
    "comparisons": "answers about three or four items, with a header such as anchor,near,far",
    "sequences": "a text for each item, compared letter by letter; also FASTA",
    "tree": "a tree in Newick",
    "card-sort": "participant, card and pile in each row, or a row for each participant",
}


def list_names(options: argparse.Namespace) -> None:
    """Print a table, or a JSON list of objects."""
    rows = LISTS[options.what]()
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    shown = [{key: text for key, text in row.items() if key not in ONLY_JSON} for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(as_table(shown, width))


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
            "constraints": each.triplets,
            "title": each.title,
            "needs": " or ".join(each.needs),
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
        {"name": kind, "of": "table, --kind", "suffixes": "", "title": text}
        for kind, text in KIND_TEXTS.items()
    ]
    return [*trees, *taxonomies, *tables]


def _suffixes(table: Mapping[str, str], name: str) -> str:
    return " ".join(suffix for suffix, format in table.items() if format == name)


def as_table(rows: Sequence[Row], width: int | None = None) -> str:
    """Return aligned columns under a header; the last column is not padded.

    Lines longer than ``width`` characters end in an ellipsis.

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
    texts = [
        "  ".join(cell.ljust(wide) for cell, wide in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join(
        text if width is None or len(text) <= width else f"{text[: width - 1]}…" for text in texts
    )


LISTS = {"methods": methods, "data": data, "formats": formats}

__all__ = ["LISTS", "list_names"]
