"""The command ``hcviz convert``, which converts files of trees and taxonomies.

The suffixes of the two files name the formats, or ``--format`` names that of the target.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hcviz.commands.files import read_taxonomy, read_text, read_tree, write_file
from hcviz.commands.tree_formats import (
    FORMAT_OF,
    TREE_FORMATS,
    dropped,
    format_of,
    write_formatted_tree,
)
from hcviz.commands.tree_json import is_tree_json
from hcviz.core.convert import read_newick
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
    is_tree = source.suffix.lower() == ".json" and is_tree_json(read_text(source))
    writes_tree = options.format is not None or target.suffix.lower() in FORMAT_OF
    known = {*READERS, *FORMAT_OF_SUFFIX} - {*TREES}
    if is_tree and writes_tree:
        convert_tree(source, target, options.format, labels)
    elif options.format is None and {source.suffix.lower(), target.suffix.lower()} & known:
        convert_taxonomy(source, target, labels, options.style)
    else:
        convert_tree(source, target, options.format, labels)


def convert_tree(
    source: Path, target: Path, format: str | None, labels: Sequence[str] | None
) -> None:
    """Convert a tree. For a linkage, names of items go to a second file."""
    found = read_tree(source, labels)
    if format is None and target.suffix.lower() not in FORMAT_OF:
        raise InvalidTree(f"{target}: a tree is written as {', '.join(FORMAT_OF)}.")
    chosen = format_of(target, format)
    is_known = labels is not None and chosen == "linkage"  # the user's file has the names
    tree, group_names = found.tree, found.group_names
    names = None if is_known else tree.labels
    write_formatted_tree(target, chosen, tree, names, group_names=group_names)
    sentence = dropped(chosen, tree, group_names, found.is_uneven)
    if sentence:
        print(f"hcviz: {sentence}", file=sys.stderr)


def convert_taxonomy(source: Path, target: Path, labels: Sequence[str] | None, style: str) -> None:
    """Convert a taxonomy, with all properties that both formats have."""
    suffix = target.suffix.lower()
    if suffix not in FORMAT_OF_SUFFIX:
        raise InvalidTaxonomy(f"{target}: a taxonomy is written as {WRITE_SUFFIXES}.")
    taxonomy = read_taxonomy(source, labels)
    format = "paths" if suffix == ".csv" and style == "paths" else ""
    text = FORMATS[format or FORMAT_OF_SUFFIX[suffix]].write(taxonomy, target.stem)
    write_file(target, text.encode() if text.endswith("\n") else f"{text}\n".encode())
    if source.suffix.lower() in NEWICK:
        found = read_newick(read_text(source))
        there = {"heights": found.height is not None, "supports": found.support is not None}
        lost = [what for what, is_there in there.items() if is_there]
        if lost:
            print(f"hcviz: a taxonomy cannot hold {' and '.join(lost)}.", file=sys.stderr)


__all__ = ["READ_SUFFIXES", "WRITE_SUFFIXES", "convert"]
