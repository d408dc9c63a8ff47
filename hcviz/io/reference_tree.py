"""Reading of a reference tree, and its constraints.

The tree may have a part of the items as leaves. It implies nothing about the others. A leaf that is
not an item is an error, since its name is probably misspelt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hcviz.core.convert import parse_newick
from hcviz.core.errors import InvalidTree
from hcviz.core.text import closest_name, join_names, shorten
from hcviz.core.tree import Tree
from hcviz.core.tree_triplets import groups_of_tree
from hcviz.io.decoding import decode_utf8
from hcviz.session.constraint import Constraint

#: Number of names in an error message.
MAX_NAMES = 5
#: Reading ends after this many nodes per item, or ``MIN_NODES`` if that is more. A binary tree with
#: n leaves has 2 n - 1 nodes.
NODES_PER_ITEM, MIN_NODES = 4, 10_000


@dataclass(frozen=True, eq=False)
class ReferenceTree:
    """A tree with leaves 0..k-1, which are the ``items`` (int (k,)) among ``n_items`` items."""

    tree: Tree
    items: tuple[int, ...]
    n_items: int

    def constraints(
        self, author: str, weight: float = 1.0, time: str = ""
    ) -> tuple[Constraint, ...]:
        """Return the tree as O(k) constraints, k - 2 for a binary tree.

        Each inner node but the root gives one: a group with an item of each child, apart from an
        item of the node's sibling. Only this tree and its refinements satisfy all constraints.

        References
        ----------
        Chatziafratis, Niazadeh and Charikar (2018), Proposition 1.
        """
        return tuple(
            Constraint(
                number,
                tuple(sorted(self.items[leaf] for leaf in group)),
                self.items[apart],
                author=author,
                weight=weight,
                time=time,
            )
            for number, (group, apart) in enumerate(groups_of_tree(self.tree), start=1)
        )

    def sentence(self) -> str:
        """Return a description such as "a tree over 12 of the 101 items"."""
        k = len(self.items)
        if k == self.n_items:
            return f"a tree over all {k:,} items"
        return f"a tree over {k:,} of the {self.n_items:,} items"


def read_reference_tree(content: str | bytes, labels: Sequence[str]) -> ReferenceTree:
    """Read a tree in Newick format whose leaves have names of items. O(text).

    Items may be missing. Branch lengths and names of inner nodes are ignored. An underscore is read
    as a space, unless an item's name has the underscore.

    Raises
    ------
    InvalidTree
        If the text is not a tree, a leaf is not an item or repeated, or the tree implies no
        constraint (a star, or fewer than three leaves). The message has the nearest name.
    """
    text = decode_utf8(content, "The reference tree", "It is read from a Newick file.", InvalidTree)
    names, _, _ = parse_newick(text, max(MIN_NODES, NODES_PER_ITEM * len(labels)))
    leaves = [name for name, is_leaf in names if is_leaf]
    index = {name: item for item, name in enumerate(labels)}
    found = [index.get(name, index.get(name.replace("_", " "))) for name in leaves]
    unknown = [name for name, item in zip(leaves, found, strict=True) if item is None]
    if unknown:
        _raise_unknown(unknown, len(leaves), labels)
    items = [item for item in found if item is not None]
    twice = [item for item, count in Counter(items).items() if count > 1]
    if twice:
        raise InvalidTree(
            f"The reference tree has {_listed([labels[item] for item in twice])} twice.",
            "Each item may be a leaf once.",
        )
    tree = Tree.from_newick(text, leaves)
    if tree.n_internal < 2:
        raise InvalidTree(
            f"The reference tree implies no constraint: {_shape(len(leaves))}.",
            "It needs a group of two or more items below its root, and an item outside of it.",
        )
    return ReferenceTree(tree, tuple(items), len(labels))


def _raise_unknown(unknown: list[str], n_leaves: int, labels: Sequence[str]) -> None:
    many = f"{len(unknown):,} of its {n_leaves:,} leaves are" if len(unknown) > 1 else "a leaf is"
    near = closest_name(unknown[0].replace("_", " "), labels)
    hint = f"The nearest to {unknown[0]!r} is {near!r}. " if near else ""
    raise InvalidTree(
        f"The reference tree has other items: {many} not among the items: {_listed(unknown)}.",
        f"{hint}Remove these leaves, or rename them. Items may be missing from the tree.",
    )


def _listed(names: Sequence[str]) -> str:
    return join_names([repr(shorten(name)) for name in names[:MAX_NAMES]], MAX_NAMES, len(names))


def _shape(n_leaves: int) -> str:
    if n_leaves < 3:
        return f"it has {n_leaves} leaf" if n_leaves == 1 else f"it has {n_leaves} leaves"
    return f"it is a star of {n_leaves:,} leaves"


__all__ = ["ReferenceTree", "read_reference_tree"]
