"""Taxonomies as CSV with one row per item and the columns ``level_1 … level_k, item``."""

from __future__ import annotations

import re

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.csv_rows import read_rows, write_rows
from hcviz.taxonomy.entry import Entry


def write_levels(top: Entry) -> str:
    """Return one row per item, in the order of the leaves."""
    rows: list[list[str]] = []
    waiting: list[tuple[tuple[str, ...], Entry | str]] = [((), top)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, str):
            rows.append([*path, each])
            continue
        path = path if each is top else (*path, each.name)
        waiting.extend((path, inner) for inner in reversed(each.contents))
    depth = max((len(row) for row in rows), default=1) - 1
    header = [*(f"level_{k}" for k in range(1, depth + 1)), "item"]
    return write_rows([header, *([*r[:-1], *[""] * (depth + 1 - len(r)), r[-1]] for r in rows)])


def read_levels(text: str) -> Entry:
    """Read a table in the form of :func:`write_levels`. Other columns are ignored."""
    header, rows = read_rows(text)
    levels = [k for k, cell in enumerate(header) if re.fullmatch(r"level_\d{1,9}", cell)]
    levels.sort(key=lambda k: int(header[k].removeprefix("level_")))
    if "item" not in header or not (levels or header == ["item"]):
        raise InvalidTaxonomy(
            "The CSV is not a taxonomy.", "Its columns must be level_1, level_2, ... and item."
        )
    top = Entry()
    for number, row in rows:
        names = [row[k] for k in levels]
        filled = [name for name in names if name]
        if names[: len(filled)] != filled:
            raise InvalidTaxonomy(
                f"Row {number} has a group on level {names.index(filled[-1]) + 1}, but none above.",
                "Fill in the higher levels.",
            )
        entry = top
        for name in filled:
            for child in entry.children:
                if child.name == name:
                    break
            else:
                child = Entry(name=name, location=f"row {number}")
                entry.contents.append(child)
            entry = child
        item = row[header.index("item")]
        if not item:
            raise InvalidTaxonomy(f"Row {number} has no item.")
        entry.contents.append(item)
    return top


__all__ = ["read_levels", "write_levels"]
