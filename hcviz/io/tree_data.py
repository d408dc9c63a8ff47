"""Reading of a tree as data: its leaves are items, with the heights of their LCAs as distances."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from hcviz.core.convert import parse_newick
from hcviz.core.errors import HcvizError, InvalidTree, TooLarge
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset
from hcviz.io.arrays import NPY, read_header
from hcviz.io.decoding import decode_utf8

#: The distances of more items take more than 128 MB.
MAX_LEAVES = 4_000


def is_newick(content: bytes) -> bool:
    """Return True for text between ``(`` and ``;``."""
    text = content.removeprefix(b"\xef\xbb\xbf").strip()
    return text.startswith(b"(") and text.endswith(b";")


def is_linkage(content: bytes) -> bool:
    """Return True for an ``.npy`` file with the m x 4 numbers of a scipy linkage."""
    if not content.startswith(NPY) or len(content) > 256 * MAX_LEAVES:
        return False
    try:
        header = read_header(io.BytesIO(content), len(content))
        if len(header.shape) != 2 or header.shape[1] != 4 or header.dtype.kind not in "iuf":
            return False
        Tree.from_linkage(np.load(io.BytesIO(content), allow_pickle=False))
    except (HcvizError, ValueError, EOFError, OSError):
        return False
    return True


def read_tree_data(content: bytes, filename: str = "") -> Dataset:
    """Return the leaves of a tree, with cophenetic distances.

    Average linkage of these distances is the tree. The tree is read from Newick, or from a scipy
    linkage in an ``.npy`` file, whose items are named by their numbers.

    Raises
    ------
    InvalidTree
        If the file is not a tree, or two leaves have the same name.
    TooLarge
        If it has more than 4,000 leaves.

    Notes
    -----
    O(n^2).
    """
    labels: list[str]
    if content.startswith(NPY):
        if not is_linkage(content):
            raise InvalidTree(f"{filename or 'The file'} is not a linkage.", "It has four columns.")
        tree = Tree.from_linkage(np.load(io.BytesIO(content), allow_pickle=False))
        labels = [f"item {leaf}" for leaf in range(tree.n_leaves)]
    else:
        text = decode_utf8(content, "The tree", "It is read from a Newick file.", InvalidTree)
        names, _, _ = parse_newick(text, 4 * MAX_LEAVES)
        labels = [name for name, is_leaf in names if is_leaf]
        tree = Tree.from_newick(text, labels)
    if tree.n_leaves > MAX_LEAVES:
        raise TooLarge(f"The tree has {tree.n_leaves:,} leaves; {MAX_LEAVES:,} is the limit.")
    items = np.arange(tree.n_leaves)
    distance = np.asarray(tree.height)[tree.lca(items[:, None], items[None, :])]
    np.fill_diagonal(distance, 0.0)
    return Dataset(
        name=Path(filename).stem or "tree",
        title=filename or "A tree",
        labels=tuple(labels),
        dissimilarity=distance,
        similarity=1.0 - distance / max(float(distance.max()), 1e-300),
        target=tree,
        provenance=f"Your tree {filename!r}." if filename else "Your tree.",
        notes=("The distance of two items is the height of their lowest common ancestor.",),
    )


__all__ = ["is_linkage", "is_newick", "read_tree_data"]
