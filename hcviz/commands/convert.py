"""The command ``hcviz convert``, which converts files of trees and taxonomies.

The suffixes of the two files name the formats, or ``--format`` names that of the target.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from hcviz.commands.files import read_taxonomy, read_text, read_tree, write_file
from hcviz.commands.tree_formats import (
    FORMAT_OF,
    TREE_FORMATS,
    format_of,
    write_formatted_tree,
)
from hcviz.core.errors import InvalidParameter, InvalidTaxonomy, InvalidTree
from hcviz.taxonomy.formats import FORMAT_OF_SUFFIX, FORMATS, NEWICK, READERS

#: Suffixes of trees without groups, unless the other file is a taxonomy.
TREES = (*NEWICK, ".npy")
READ_SUFFIXES = " ".join(READERS)
WRITE_SUFFIXES = " ".join(FORMAT_OF_SUFFIX)


def convert(options: argparse.Namespace) -> None:
    """Convert the source file to the target file."""
    labels = None
    if options.labels is not None:
        labels = read_text(options.labels).splitlines()
    source, target = options.source, options.target
    if str(target) == "-" and options.format is None:
        raise InvalidParameter(
            "Standard output has no suffix that names a format.",
            f"Add --format {'|'.join(TREE_FORMATS)}.",
        )
    known = {*READERS, *FORMAT_OF_SUFFIX} - {*TREES}
    if options.format is None and {source.suffix.lower(), target.suffix.lower()} & known:
        convert_taxonomy(source, target, labels, options.style)
    else:
        convert_tree(source, target, options.format, labels)


def convert_tree(
    source: Path, target: Path, format: str | None, labels: Sequence[str] | None
) -> None:
    """Convert a tree. For a linkage, names of items go to a second file."""
    tree, names = read_tree(source, labels)
    if format is None and target.suffix.lower() not in FORMAT_OF:
        raise InvalidTree(f"{target}: a tree is written as {', '.join(FORMAT_OF)}.")
    chosen = format_of(target, format)
    is_known = labels is not None and chosen == "linkage"  # the user's file has the names
    write_formatted_tree(target, chosen, tree, None if is_known else names)


def convert_taxonomy(source: Path, target: Path, labels: Sequence[str] | None, style: str) -> None:
    """Convert a taxonomy, with all properties that both formats have."""
    if target.suffix.lower() not in FORMAT_OF_SUFFIX:
        raise InvalidTaxonomy(f"{target}: a taxonomy is written as {WRITE_SUFFIXES}.")
    taxonomy = read_taxonomy(source, labels)
    format = "paths" if target.suffix.lower() == ".csv" and style == "paths" else ""
    text = FORMATS[format or FORMAT_OF_SUFFIX[target.suffix.lower()]].write(taxonomy, target.stem)
    write_file(target, text.encode() if text.endswith("\n") else f"{text}\n".encode())


__all__ = ["READ_SUFFIXES", "WRITE_SUFFIXES", "convert"]
