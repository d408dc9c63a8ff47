"""Taxonomies as CSV with one row per item and the columns ``item, group, path``."""

from __future__ import annotations

import re

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.csv_rows import read_rows, write_rows
from hcviz.taxonomy.entry import Entry
from hcviz.taxonomy.levels import read_levels

HEADER = ["item", "group", "path"]
SEPARATOR = " > "


def write_paths(top: Entry) -> str:
    r"""Return one row per item, in the order of the leaves. O(n d) for d nested groups.

    A row has the innermost group of the item, and the path of its groups, the outermost first. The
    groups of a path are separated by `` > ``. A backslash precedes ``\`` and ``>`` in their names.

    Examples
    --------
    >>> print(write_paths(Entry(contents=[Entry("Birds", ["owl", "rook"]), "elm"])), end="")
    item,group,path
    owl,Birds,Birds
    rook,Birds,Birds
    elm,,
    """
    rows = [list(HEADER)]
    waiting: list[tuple[tuple[str, ...], Entry | str]] = [((), each) for each in top.contents[::-1]]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, Entry):
            inner = (*path, each.name)
            waiting.extend((inner, below) for below in reversed(each.contents))
            continue
        names = [re.sub(r"[\\>]", lambda found: "\\" + found[0], name) for name in path]
        rows.append([each, path[-1] if path else "", SEPARATOR.join(names)])
    return write_rows(rows)


def is_paths(text: str) -> bool:
    """Return True if the header has ``item`` and ``path``, and no ``level_1``."""
    head = text.partition("\n")[0]
    cells = {cell.strip().strip('"') for cell in head.split(",")}
    return {"item", "path"} <= cells and "level_1" not in cells


def read_table(text: str) -> Entry:
    """Read a table of paths or of levels."""
    return read_paths(text) if is_paths(text) else read_levels(text)


def read_paths(text: str) -> Entry:
    """Read a table in the form of :func:`write_paths`. Only ``item`` and ``path`` are used.

    Raises
    ------
    InvalidTaxonomy
        If the text is not CSV, a row is not as long as the header, or a path has an empty name.

    Examples
    --------
    >>> read_paths("item,path\\nowl,Animals > Birds\\nelm,\\n").children[0].children[0].items
    ['owl']
    """
    header, rows = read_rows(text)
    if not {"item", "path"} <= {*header}:
        raise InvalidTaxonomy("The CSV is not a taxonomy.", "Its columns must be item and path.")
    top, known = Entry(), dict[tuple[str, ...], Entry]()
    known[()] = top
    for number, row in rows:
        written = row[header.index("path")]
        names = [re.sub(r"\\(.)", r"\1", name, flags=re.S) for name in written.split(SEPARATOR)]
        path = tuple(name.strip() for name in names) if written.strip() else ()
        if not all(path):
            raise InvalidTaxonomy(f"Row {number} has a group without a name in {written[:40]!r}.")
        for k in range(1, len(path) + 1):
            if path[:k] not in known:
                known[path[:k]] = Entry(name=path[k - 1], location=f"row {number}")
                known[path[: k - 1]].contents.append(known[path[:k]])
        known[path].contents.append(row[header.index("item")])
    return top


__all__ = ["is_paths", "read_paths", "read_table", "write_paths"]
