"""The command ``hcviz convert``, which converts files of trees and taxonomies.

The suffixes of the two files name the formats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hcviz.commands.files import read_taxonomy, read_text, read_tree, write_file, write_tree
from hcviz.core.errors import InvalidTaxonomy
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
    source, target = options.source.suffix, options.target.suffix
    known = {*READERS, *FORMAT_OF_SUFFIX} - {*TREES}
    if {source, target} & known:
        convert_taxonomy(options.source, options.target, labels, options.style)
    else:
        convert_tree(options.source, options.target, labels)


def convert_tree(source: Path, target: Path, labels: Sequence[str] | None) -> None:
    """Convert a tree. For a linkage, names of items go to a second file."""
    tree, names = read_tree(source, labels)
    if target.suffix == ".npy" and names is not None and labels is None:
        label_file = target.with_suffix(".labels.txt")
        write_file(label_file, "".join(f"{name}\n" for name in names).encode())
        print(f"hcviz: the names of the items, in order, are in {label_file}.", file=sys.stderr)
    write_tree(target, tree, names)


def convert_taxonomy(source: Path, target: Path, labels: Sequence[str] | None, style: str) -> None:
    """Convert a taxonomy, with all properties that both formats have."""
    if target.suffix not in FORMAT_OF_SUFFIX:
        raise InvalidTaxonomy(f"{target}: a taxonomy is written as {WRITE_SUFFIXES}.")
    taxonomy = read_taxonomy(source, labels)
    format = "paths" if target.suffix == ".csv" and style == "paths" else ""
    text = FORMATS[format or FORMAT_OF_SUFFIX[target.suffix]].write(taxonomy, target.stem)
    write_file(target, text.encode() if text.endswith("\n") else f"{text}\n".encode())


__all__ = ["READ_SUFFIXES", "WRITE_SUFFIXES", "convert"]
