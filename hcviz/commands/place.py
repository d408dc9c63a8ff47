"""The command ``hcviz place``, which places new items in the groups of a taxonomy."""

from __future__ import annotations

import argparse
import sys

from hcviz.commands.files import load_data, read_file, read_taxonomy, write_file
from hcviz.core.text import count_noun
from hcviz.io.table_rows import read_columns
from hcviz.taxonomy.csv_rows import write_rows
from hcviz.taxonomy.new_items import PlacedItems, place_columns

#: Digits of a probability.
DIGITS = 3


def place(options: argparse.Namespace) -> None:
    """Print a CSV with the groups of the new items, or write it to a file."""
    taxonomy = read_taxonomy(options.taxonomy)
    data = load_data(options.data, "features")
    new = read_columns(read_file(options.new), options.new.name)
    found = place_columns(data, taxonomy, new.labels, new.columns, new.separator, sure=options.sure)
    for note in (*new.notes, *found.notes):
        print(f"hcviz: {note}", file=sys.stderr)
    text = as_csv(found)
    if options.out is None:
        print(text, end="")
    else:
        write_file(options.out, text.encode())
        apart = sum(each.is_unplaced for each in found.items)
        print(
            f"hcviz: {count_noun(len(found.items), 'item')}, {apart:,} unplaced: {options.out}.",
            file=sys.stderr,
        )


def as_csv(found: PlacedItems) -> str:
    """Return one line for each item: its group, the path, the probability, and unplaced or not."""
    rows = [["item", "group", "path", "probability", "unplaced"]]
    rows += [
        [
            each.item,
            "" if each.group is None else each.group.name,
            " > ".join(group.name for group in each.path),
            f"{each.probability:.{DIGITS}f}",
            "yes" if each.is_unplaced else "no",
        ]
        for each in found.items
    ]
    return write_rows(rows)


__all__ = ["as_csv", "place"]
