"""A tree that somebody drew, as constraints: what it says of the items, and no more.

The tree may be over some of the items only: nothing is said of the others. A name in it that no
item has is refused, since it is more often a slip than an item to leave out.
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
from hcviz.io.plaintext import utf8_text
from hcviz.session.constraint import Constraint

#: Names that a refusal spells out; the rest is counted.
SHOWN = 5
#: A text of more nodes than these for each item, and more than ``FREE`` in all, is not read to its
#: end: a tree over n items has 2 n - 1.
NODES, FREE = 4, 10_000


@dataclass(frozen=True, eq=False)
class ReferenceTree:
    """``tree`` over its own leaves 0..k-1, which stand for ``items`` (int (k,)) of ``n_items``."""

    tree: Tree
    items: tuple[int, ...]
    n_items: int

    def constraints(
        self, author: str, weight: float = 1.0, time: str = ""
    ) -> tuple[Constraint, ...]:
        """The tree as constraints (Chatziafratis et al. 2018, Proposition 1), each of ``weight``;
        O(k) of them.

        For each inner node but the root: an item from each child together, before one of the
        node's sibling. They are met by this tree and its refinements alone: of a binary tree k - 2.
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
        """What it covers: "a tree over 12 of the 101 items"."""
        k = len(self.items)
        if k == self.n_items:
            return f"a tree over all {k:,} items"
        return f"a tree over {k:,} of the {self.n_items:,} items"


def read_reference_tree(content: str | bytes, labels: Sequence[str]) -> ReferenceTree:
    """The tree in a Newick text whose leaves are named as items are; items may be missing.

    Branch lengths and names of inner nodes mean nothing here; unquoted underscores stand for spaces
    where no item has the underscore itself. Raises :class:`InvalidTree` for a text that is no tree,
    names that no item has (with the nearest one), an item named twice, and a tree that says
    nothing: a star, or one of fewer than three items. O(text).
    """
    text = utf8_text(content, "The reference tree", "It is read from a Newick file.", InvalidTree)
    names, _, _ = parse_newick(text, max(FREE, NODES * len(labels)))
    leaves = [name for name, is_leaf in names if is_leaf]
    index = {name: item for item, name in enumerate(labels)}
    found = [index.get(name, index.get(name.replace("_", " "))) for name in leaves]
    unknown = [name for name, item in zip(leaves, found, strict=True) if item is None]
    if unknown:
        _refuse_unknown(unknown, len(leaves), labels)
    items = [item for item in found if item is not None]
    twice = [item for item, count in Counter(items).items() if count > 1]
    if twice:
        raise InvalidTree(
            f"The reference tree has {_listed([labels[item] for item in twice])} twice.",
            "Each item is a leaf once, or not at all.",
        )
    tree = Tree.from_newick(text, leaves)
    if tree.n_internal < 2:
        raise InvalidTree(
            f"The reference tree says nothing: {_shape(len(leaves))}.",
            "It needs a group within it that stands apart from a third item.",
        )
    return ReferenceTree(tree, tuple(items), len(labels))


def _refuse_unknown(unknown: list[str], n_leaves: int, labels: Sequence[str]) -> None:
    many = f"{len(unknown):,} of its {n_leaves:,} leaves are" if len(unknown) > 1 else "a leaf is"
    near = closest_name(unknown[0].replace("_", " "), labels)
    hint = f"The nearest to {unknown[0]!r} is {near!r}. " if near else ""
    raise InvalidTree(
        f"The reference tree is about other items: {many} no item here: {_listed(unknown)}.",
        f"{hint}Leave those leaves out, or name them as the items are; items may be missing.",
    )


def _listed(names: Sequence[str]) -> str:
    return join_names([repr(shorten(name)) for name in names[:SHOWN]], SHOWN, len(names))


def _shape(n_leaves: int) -> str:
    if n_leaves < 3:
        return f"it has {n_leaves} leaf" if n_leaves == 1 else f"it has {n_leaves} leaves"
    return f"it is a star of {n_leaves:,} leaves"


__all__ = ["ReferenceTree", "read_reference_tree"]
