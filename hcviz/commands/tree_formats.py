"""The formats in which ``hcviz run`` and ``hcviz convert`` write a tree."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import numpy as np

from hcviz.commands.files import write_file
from hcviz.commands.tree_json import json_of_tree
from hcviz.core.errors import InvalidParameter
from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.taxonomy.formats import NEWICK

#: Format -> what it is, in a few words.
TREE_FORMATS = {
    "newick": "a tree in Newick, with names, heights and supports",
    "json": "nested nodes with name, height, support and children, and how the tree was made",
    "svg": "a picture",
    "pdf": "a picture to print",
    "png": "a picture of pixels",
    "linkage": "a scipy linkage as .npy, without names",
    "csv": "a row for each clade: members, size, height, support",
}
#: Format -> what it has besides the items' names and the shape of the tree.
HOLDS = {
    "newick": {"heights", "supports", "names of groups", "polytomies"},
    "json": {"heights", "supports", "names of groups", "polytomies", "how the tree was made"},
    **{picture: {"heights", "supports", "polytomies"} for picture in ("svg", "pdf", "png")},
    "linkage": {"heights"},
    "csv": {"heights", "supports", "polytomies"},
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


def dropped(format: str, tree: Tree, group_names: Mapping[int, str], is_uneven: bool) -> str:
    """Return a sentence about what a format cannot hold of a tree, or an empty text.

    Parameters
    ----------
    format : str
        A name in ``TREE_FORMATS``.
    tree : Tree
        The tree.
    group_names : mapping of int to str
        The names of its inner nodes.
    is_uneven : bool
        True if the file of the tree put leaves at different distances from the root.

    Examples
    --------
    >>> dropped("linkage", Tree.star(3), {}, False)
    'linkage cannot hold polytomies.'
    """
    there = {
        "supports": tree.support is not None,
        "names of groups": bool(group_names),
        "how the tree was made": tree.info is not None,
        "polytomies": not tree.is_binary,
    }
    lost = [what for what, is_there in there.items() if is_there and what not in HOLDS[format]]
    found = [f"{format} cannot hold {join_names(lost, len(lost))}."] if lost else []
    if is_uneven:
        found.append("The leaves' different distances from the root were dropped.")
    return " ".join(found)


def tree_bytes(
    format: str,
    tree: Tree,
    labels: Sequence[str] | None,
    title: str = "",
    group_names: Mapping[int, str] | None = None,
) -> bytes:
    """Return the content of a file with a tree. ``labels`` is None for numbers.

    Examples
    --------
    >>> tree_bytes("newick", Tree.from_newick("((0,1),2);"), ["ant", "bee", "owl"])
    b'(owl:2.0,(ant:1.0,bee:1.0):1.0);\\n'
    """
    names = [str(item) for item in range(tree.n_leaves)] if labels is None else list(labels)
    if format == "newick":
        return f"{tree.to_newick(labels, group_names)}\n".encode()
    if format == "linkage":
        file = io.BytesIO()
        np.save(file, tree.to_linkage())
        return file.getvalue()
    if format in ("svg", "pdf", "png"):
        from hcviz.io.picture import draw_picture  # importing matplotlib takes a second

        picture = cast(Literal["svg", "pdf", "png"], format)
        return draw_picture(tree, names, title=title, support=tree.support, format=picture)
    if format == "json":
        return f"{json_of_tree(tree, names, group_names)}\n".encode()
    table = tree.with_labels(names).frame()
    table["members"] = ["; ".join(members) for members in table["members"]]
    return table.to_csv(lineterminator="\n").encode()


def write_formatted_tree(
    path: Path | None,
    format: str,
    tree: Tree,
    labels: Sequence[str] | None,
    title: str = "",
    group_names: Mapping[int, str] | None = None,
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
        content = tree_bytes(format, tree, labels, title, group_names)
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
    write_file(path, tree_bytes(format, tree, labels, title, group_names))


__all__ = [
    "FORMAT_OF",
    "HOLDS",
    "TREE_FORMATS",
    "dropped",
    "format_of",
    "tree_bytes",
    "write_formatted_tree",
]
