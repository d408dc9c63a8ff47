"""Reading and writing of the commands' files: data, constraints and trees."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import numpy as np

import hcviz
from hcviz.commands.standard_input import standard_input
from hcviz.commands.tree_json import tree_of_json
from hcviz.core.column_options import ColumnOptions, parse_options
from hcviz.core.convert import parse_newick, read_newick
from hcviz.core.errors import (
    InvalidData,
    InvalidParameter,
    InvalidTaxonomy,
    InvalidTree,
)
from hcviz.core.groups import Groups
from hcviz.core.tree import Tree, tree_of_newick
from hcviz.core.triplets import Triplets
from hcviz.datasets import Dataset
from hcviz.io.answers import dataset_of_answers, read_items
from hcviz.io.named_data import is_built_in, no_such_data
from hcviz.io.tables import read_table
from hcviz.io.triplet_csv import Order, read_triplet_csv
from hcviz.session.constraint import TableKind
from hcviz.session.model import Constraint, Session
from hcviz.taxonomy import Taxonomy
from hcviz.taxonomy.formats import NEWICK, READERS

TABLE_KINDS = get_args(TableKind)


def load_data(
    name: str, kind: TableKind, items: Path | None = None, columns: Sequence[str] = ()
) -> Dataset:
    """Return a built-in data set or the data in a file.

    Parameters
    ----------
    name : name of a built-in data set, or a path
    kind : what a table holds
    items : for a file of answers, a file with the names of all items
    columns : how columns of a table are read, as ``NAME=OPTIONS``
    """
    path = data_file(name, items)
    if path is None and columns:
        raise InvalidParameter(
            f"--column is for tables; {name} is a built-in data set.", "Leave out --column."
        )
    return hcviz.datasets.load(name) if path is None else read_data(path, kind, items, columns)


def data_file(name: str, items: Path | None = None) -> Path | None:
    """Return the path of a file, or None for the name of a built-in data set."""
    if is_built_in(name):
        if items is not None:
            raise InvalidParameter(
                f"--items is for files of answers; {name} is a built-in data set.",
                "Leave out --items.",
            )
        return None
    path = Path(name)
    if standard_input(path) is None and not path.exists():
        raise no_such_data(name)
    return path


def read_data(
    path: Path, kind: TableKind, items: Path | None, columns: Sequence[str] = ()
) -> Dataset:
    """Read a table, or a file of answers if ``items`` is given."""
    content = read_file(path)
    if items is None:
        return read_table(content, path.name, kind=kind, columns=parse_columns(columns))
    return read_answers(content, path.name, items)


def parse_columns(texts: Sequence[str]) -> tuple[ColumnOptions, ...]:
    """Return the values of ``--column``, each ``NAME=OPTIONS`` such as ``price=2``.

    Raises
    ------
    InvalidParameter
        If a text has no ``=``, or its options are unknown.
    """
    found = []
    for text in texts:
        name, equals, options = text.rpartition("=")
        if not equals:
            raise InvalidParameter(f"--column {text} has no '='.", "Write --column name=off.")
        found.append(parse_options(name, options))
    return tuple(found)


def read_answers(content: bytes, filename: str, items: Path) -> Dataset:
    """Read a file of answers about the items that another file names."""
    return dataset_of_answers(content, filename, read_items(read_file(items)))


def read_constraints(
    path: Path, labels: Sequence[str], order: Order | None = None
) -> tuple[Triplets, Groups, Groups]:
    """Read the enabled constraints in a file, as :func:`split_constraints` returns them."""
    return split_constraints(read_triplet_csv(read_file(path), labels, order))


def split_constraints(constraints: Sequence[Constraint]) -> tuple[Triplets, Groups, Groups]:
    """Return the triplets, the groups, and the sets that are not groups, of enabled constraints."""
    known = Session(constraints=tuple(constraints))
    return known.triplets, known.required_clades, known.avoided_clades


@dataclass(frozen=True)
class TreeFile:
    """What a file of a tree has.

    Attributes
    ----------
    tree : Tree
        The tree, with labels unless items are numbers, and with supports and info if they are in
        the file.
    group_names : dict of int to str
        The names of inner nodes.
    is_uneven : bool
        True if its branch lengths put leaves at different distances from the root.
    """

    tree: Tree
    group_names: Mapping[int, str] = field(default_factory=dict)
    is_uneven: bool = False


def read_tree(path: Path, labels: Sequence[str] | None = None) -> TreeFile:
    """Read a tree from Newick, a linkage, or the JSON of ``hcviz convert``."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        try:
            linkage = np.load(io.BytesIO(read_file(path)), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            raise InvalidTree(f"{path} is not a numpy array file.") from None
        tree = Tree.from_linkage(linkage)
        return TreeFile(tree.with_labels(labels))  # raises for a wrong number
    if suffix == ".json":
        tree, group_names = tree_of_json(read_text(path))
        return TreeFile(tree if labels is None else tree.with_labels(labels), group_names)
    if suffix not in NEWICK:
        raise InvalidTree(f"{path}: a tree is read from {', '.join(NEWICK)}, .npy or .json.")
    text = read_text(path)
    if labels is None:
        names = [name for name, is_leaf in parse_newick(text)[0] if is_leaf]
        numbers = sorted(names) == sorted(str(i) for i in range(len(names)))
        labels = None if numbers else names
    found = read_newick(text, labels)
    return TreeFile(tree_of_newick(found), found.group_names, found.is_uneven)


def read_taxonomy(path: Path, labels: Sequence[str] | None = None) -> Taxonomy:
    """Read a file of a taxonomy; its suffix names the format."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise InvalidTaxonomy(f"{path}: a taxonomy is read from {' '.join(READERS)}.")
    try:
        return READERS[suffix](read_text(path), labels)
    except InvalidTaxonomy as fault:
        raise InvalidTaxonomy(f"{path}: {fault.message}", fault.hint) from None


def read_file(path: Path) -> bytes:
    """Return the bytes of a file or of standard input. Raise InvalidData if this fails."""
    given = standard_input(path)
    if given is not None:
        return given
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InvalidData(f"There is no file {path}.") from None
    except OSError as fault:
        raise InvalidData(f"{path} cannot be read ({fault.strerror}).") from None


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file. Raise InvalidData if it cannot be read."""
    try:
        return read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InvalidData(f"{path} is not UTF-8 text (byte {fault.start}).") from None


def write_file(path: Path, content: bytes) -> None:
    """Write a file. Raise InvalidData if this fails."""
    try:
        path.write_bytes(content)
    except OSError as fault:
        raise InvalidData(f"{path} cannot be written ({fault.strerror}).") from None
