"""The formats in which ``hcviz run`` and ``hcviz convert`` write a tree."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from hcviz.commands.files import write_file
from hcviz.core.errors import InvalidParameter
from hcviz.core.tree import Tree
from hcviz.taxonomy.formats import NEWICK

#: Format -> what it is, in a few words.
TREE_FORMATS = {
    "newick": "a tree in Newick, with names and heights",
    "json": "nested nodes with name or children, height and support",
    "svg": "a picture",
    "pdf": "a picture to print",
    "png": "a picture of pixels",
    "linkage": "a scipy linkage as .npy, without names",
    "csv": "a row for each clade: members, size, height, support",
}
#: Suffix -> the format of such a file.
FORMAT_OF = {
    **dict.fromkeys(NEWICK, "newick"),
    ".json": "json",
    ".svg": "svg",
    ".pdf": "pdf",
    ".png": "png",
    ".npy": "linkage",
    ".csv": "csv",
}
#: Formats that are not text -> the suffix of such a file.
BINARY = {"linkage": ".npy", "pdf": ".pdf", "png": ".png"}


def format_of(path: Path | None, chosen: str | None) -> str:
    """Return the format of a file: the chosen one, or that of its suffix.

    Raises
    ------
    InvalidParameter
        If the suffix is unknown.
    """
    if chosen is not None:
        return chosen
    if is_standard_output(path):
        return "newick"
    assert path is not None
    if path.suffix.lower() not in FORMAT_OF:
        raise InvalidParameter(
            f"--out {path}: a tree is written as {', '.join(FORMAT_OF)}.",
            f"Or add --format {'|'.join(TREE_FORMATS)}.",
        )
    return FORMAT_OF[path.suffix.lower()]


def is_standard_output(path: Path | None) -> bool:
    """Return True if a tree goes to standard output."""
    return path is None or str(path) == "-"


def tree_bytes(format: str, tree: Tree, labels: Sequence[str] | None, title: str = "") -> bytes:
    """Return the content of a file with a tree. ``labels`` is None for numbers.

    Examples
    --------
    >>> tree_bytes("newick", Tree.from_newick("((0,1),2);"), ["ant", "bee", "owl"])
    b'(owl:2.0,(ant:1.0,bee:1.0):1.0);\\n'
    """
    names = [str(item) for item in range(tree.n_leaves)] if labels is None else list(labels)
    if format == "newick":
        return f"{tree.to_newick(labels)}\n".encode()
    if format == "linkage":
        file = io.BytesIO()
        np.save(file, tree.to_linkage())
        return file.getvalue()
    if format in ("svg", "pdf", "png"):
        from hcviz.io.picture import draw_picture  # importing matplotlib takes a second

        picture = cast(Literal["svg", "pdf", "png"], format)
        return draw_picture(tree, names, title=title, support=tree.support, format=picture)
    if format == "json":
        return f"{json.dumps(nested(tree, names), ensure_ascii=False)}\n".encode()
    table = tree.with_labels(names).frame()
    table["members"] = ["; ".join(members) for members in table["members"]]
    return table.to_csv(lineterminator="\n").encode()


def nested(tree: Tree, names: Sequence[str]) -> dict[str, Any]:
    """Return the tree as nested dictionaries, without recursion."""
    n = tree.n_leaves
    found: list[dict[str, Any]] = [{"name": name} for name in names]
    for node in range(n, tree.n_nodes):  # children come before their parents
        entry: dict[str, Any] = {"height": float(tree.height[node])}
        if tree.support is not None and np.isfinite(tree.support[node - n]):
            entry["support"] = float(tree.support[node - n])
        entry["children"] = [found[child] for child in tree.children(node)]
        found.append(entry)
    return found[tree.root]


def write_formatted_tree(
    path: Path | None, format: str, tree: Tree, labels: Sequence[str] | None, title: str = ""
) -> None:
    """Write a tree to a file, or to standard output if ``path`` is None or ``-``.

    A linkage has no names, so one line on stderr says where they are.

    Raises
    ------
    InvalidParameter
        If a linkage, a PDF or a PNG would be written to a terminal.
    InvalidData
        If the file cannot be written.
    """
    if is_standard_output(path):
        if format in BINARY and sys.stdout.isatty():
            raise InvalidParameter(
                f"The format {format} is not text, and standard output is a terminal.",
                f"Add --out FILE{BINARY[format]}, or redirect the output.",
            )
        content = tree_bytes(format, tree, labels, title)
        if format in BINARY:
            if format == "linkage" and labels is not None:
                print("hcviz: the linkage has no names of items.", file=sys.stderr)
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            print(content.decode(), end="")
        return
    assert path is not None
    if format == "linkage" and labels is not None:
        label_file = path.with_suffix(".labels.txt")
        write_file(label_file, "".join(f"{name}\n" for name in labels).encode())
        print(f"hcviz: the names of the items, in order, are in {label_file}.", file=sys.stderr)
    write_file(path, tree_bytes(format, tree, labels, title))


__all__ = ["FORMAT_OF", "TREE_FORMATS", "format_of", "tree_bytes", "write_formatted_tree"]
