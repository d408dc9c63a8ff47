"""``TreeState``: the tree shown and all that is marked in it, without any figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.alignment import aligned_order
from hcviz.core.errors import InvalidData
from hcviz.core.seriation import seriation
from hcviz.core.tree import Tree
from hcviz.io.picture import LOW_SUPPORT
from hcviz.ui.tree import geometry, partition
from hcviz.ui.tree.axis import Axis
from hcviz.ui.tree.clusters import ClusterColours
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.items import Items, Strip
from hcviz.ui.tree.partition import Partition

Leaves = NDArray[np.int64]


class TreeState:
    """Items, tree, layout and marks of one page. Other parts read the attributes.

    Attributes
    ----------
    items : the items that the tree is over
    strips : the class columns of the items
    tree, layout, axis : what is shown; None without a tree
    partition : the clusters shown; None for none
    cluster_codes : uint8 (n,), the index of each item's colour; None without clusters
    colours : chooses the clusters' colours
    support : float (m,), a number for each node, or None
    below : splits with less support than this are uncertain
    merged : bool (m,), the nodes that are drawn as a part of the node above them, or None
    levels : int (m,), a colour's index for each node, or None
    names : node -> name of its group
    cluster_names : number of a cluster -> name of the group that it is
    selected, together, apart : int (k,), leaves that are emphasised or marked
    is_compact : a collapsed clade takes one row
    """

    def __init__(self) -> None:
        self.items = Items(())
        self.strips: tuple[Strip, ...] = ()
        self.tree: Tree | None = None
        self.layout: Layout | None = None
        self.axis: Axis | None = None
        self.partition: Partition | None = None
        self.cluster_codes: NDArray[np.uint8] | None = None
        self.colours = ClusterColours()
        self.support: NDArray[np.float64] | None = None
        self.below = LOW_SUPPORT
        self.merged: NDArray[np.bool_] | None = None
        self.levels: Any = None
        self.names: Mapping[int, str] = {}
        self.cluster_names: Mapping[int, str] = {}
        self.selected = self.together = self.apart = leaf_array(())
        self.is_compact = False
        self._collapsed: dict[bytes, NDArray[Any]] = {}  # leaves of each collapsed clade

    def reset(self, items: Items) -> None:
        """Show other items, without a tree and without marks."""
        self.items, self.strips = items, items.strips()
        self.remove_tree()
        self.cluster_codes = self.support = self.levels = self.merged = None
        self.names, self.cluster_names = {}, {}
        self.colours.restore(None)
        self.selected = self.together = self.apart = leaf_array(())
        self._collapsed.clear()

    def remove_tree(self) -> None:
        """Show no tree. Selection, marks and collapsed clades stay for the next one."""
        self.tree = self.layout = self.partition = None

    def set_tree(
        self, tree: Tree, clusters: Partition | None, axis: Axis | None, merged: ArrayLike | None
    ) -> None:
        """Show ``tree``. Support, levels and names belong to the tree before and are removed.

        Without ``clusters`` the clusters below the present cut line are shown, if there is one.

        Raises
        ------
        InvalidData
            The tree does not have one leaf for each item.
        """
        if tree.n_leaves != self.items.n:
            raise InvalidData(
                f"The tree has {tree.n_leaves} leaves, and there are {self.items.n} items."
            )
        self.tree, self.support, self.levels, self.names = tree, None, None, {}
        self.merged = _marks_of_nodes(tree, merged)
        if clusters is None and self.cut is not None:
            clusters = partition.at_height(tree, self.cut)
        self.partition, self.axis = clusters, axis

    @property
    def cut(self) -> float | None:
        """The height of the line that cuts the tree into the clusters; None without a line."""
        return None if self.partition is None else self.partition.cut

    @property
    def collapsed(self) -> list[NDArray[Any]]:
        """The leaves of each collapsed clade."""
        return list(self._collapsed.values())

    # ------------------------------------------------------------------ layout

    def nearest_order(self, tree: Tree) -> NDArray[np.int32]:
        """Return the leaf order of ``tree`` that differs least from the order on the screen.

        For the first tree this is the order that the data suggest.
        """
        if self.layout is not None:
            return aligned_order(tree, self.layout.order)
        items = self.items
        return aligned_order(tree, seriation(items.n, items.similarity, items.features))

    def lay_out(self, order: ArrayLike) -> Layout:
        """Compute the rows of the tree for a leaf order, int (n,)."""
        assert self.tree is not None
        nodes = (geometry.clade_node(self.tree, leaves) for leaves in self._collapsed.values())
        collapsed = [node for node in nodes if node is not None]
        self.layout = geometry.lay_out(self.tree, order, collapsed, 1 if self.is_compact else None)
        return self.layout

    def toggle_collapsed(self, leaves: ArrayLike) -> NDArray[Any] | None:
        """Collapse or expand the smallest clade with ``leaves``.

        Returns the clade's leaves, sorted; None for a single leaf or the whole tree.
        """
        chosen, tree, layout = leaf_array(leaves), self.tree, self.layout
        if tree is None or layout is None or not chosen.size:
            return None
        node = tree.smallest_clade(chosen)
        owner = int(layout.owner[node])
        node = owner if owner >= 0 else node
        if node < tree.n_leaves or node == tree.root:
            return None
        members: NDArray[Any] = np.sort(tree.leaves(node))
        key = members.tobytes()
        if key in self._collapsed:
            del self._collapsed[key]
        else:
            self._collapsed[key] = members
        return members

    def set_collapsed(self, clades: Iterable[ArrayLike]) -> bool:
        """Collapse exactly these clades; return True if that changed anything."""
        found = {(members := np.sort(leaf_array(each)).astype(np.int32)).tobytes(): members
                 for each in clades}  # fmt: skip
        changed = found.keys() != self._collapsed.keys()
        self._collapsed = found
        return changed

    def expand(self, leaves: ArrayLike) -> list[NDArray[Any]]:
        """Expand every collapsed clade that contains one of ``leaves``; return these clades."""
        if self.layout is None:
            return []
        chosen = leaf_array(leaves)
        keys = [key for key, held in self._collapsed.items() if np.isin(held, chosen).any()]
        return [self._collapsed.pop(key) for key in keys]

    # ------------------------------------------------------------------ numbers of the nodes

    def set_merged(self, merged: ArrayLike | None) -> bool:
        """Set the inner nodes, bool (n_internal,), that are not drawn; return True if changed."""
        before = self.merged
        self.merged = None if self.tree is None else _marks_of_nodes(self.tree, merged)
        return not np.array_equal(before, self.merged)  # type: ignore[arg-type]

    def set_support(self, support: ArrayLike | None, below: float) -> None:
        """Set the support of the inner nodes, or of all nodes."""
        self.below = below
        self.support = None
        if support is None or self.tree is None:
            return
        values = np.asarray(support, dtype=np.float64)
        if values.size == self.tree.n_internal:
            values = np.concatenate((np.full(self.tree.n_leaves, np.nan), values))
        if values.shape != (self.tree.n_nodes,):
            raise InvalidData(
                f"Support needs a number for each of {self.tree.n_internal} inner nodes."
            )
        self.support = values

    def set_levels(self, levels: ArrayLike | None) -> bool:
        """Set a colour's index for each node, int (m,); return True if anything is to be drawn."""
        values = None if levels is None else np.asarray(levels)
        if values is not None and (self.tree is None or values.shape != (self.tree.n_nodes,)):
            raise InvalidData("Levels need a number for each node of the tree shown.")
        if values is None and self.levels is None:
            return False
        self.levels = values
        return True

    def set_partition(self, clusters: Partition | None) -> None:
        """Show these clusters; None for none."""
        self.partition = clusters
        if clusters is None:
            self.cluster_codes = None

    def colour_clusters(self, colours: int) -> tuple[int, Any]:
        """Choose one of ``colours`` colours for each cluster.

        Returns the number of clusters and the index of each node's colour, int (m,), -1 for none.
        """
        assert self.tree is not None
        assert self.layout is not None
        if self.partition is None:
            return 0, np.full(self.tree.n_nodes, -1)
        count, of_node, self.cluster_codes = self.colours.of(
            self.tree, self.partition, colours, self.layout.order
        )
        return count, of_node

    def named_clusters(self, colours: Sequence[str]) -> tuple[Strip, ...]:
        """Return the clusters that are named groups, from top to bottom, for the legend."""
        codes, clusters, layout = self.cluster_codes, self.partition, self.layout
        if not self.cluster_names or codes is None or clusters is None or layout is None:
            return ()
        code_of = dict(
            zip(clusters.of_item[layout.order].tolist(), codes[layout.order].tolist(), strict=True)
        )
        named = [
            (self.cluster_names[number], colours[code])
            for number, code in code_of.items()
            if number in self.cluster_names and code < len(colours)
        ]
        if not named:
            return ()
        names, shown = zip(*named, strict=True)
        return (Strip("Groups", codes, names, shown, many="groups"),)

    # ------------------------------------------------------------------ session files

    def settings(self) -> dict[str, Any]:
        """Return what a session file keeps: collapsed clades and the colours of clusters."""
        kept: dict[str, Any] = {}
        if self._collapsed:
            kept["collapsed"] = tuple(each.astype(np.int32) for each in self._collapsed.values())
        if self.cluster_codes is not None:
            kept["colours"] = self.cluster_codes
        return kept

    def restore_settings(self, settings: Mapping[str, Any]) -> None:
        """Restore what :meth:`settings` returned; values that do not fit the items are ignored."""
        n, clades = self.items.n, settings.get("collapsed")
        usable = (
            [each for each in clades if _is_items(each, n)] if isinstance(clades, tuple) else []
        )
        sorted_ = [np.sort(each).astype(np.int32) for each in usable]
        self._collapsed = {members.tobytes(): members for members in sorted_}
        codes = settings.get("colours")
        fits = isinstance(codes, np.ndarray) and codes.dtype == np.uint8 and codes.shape == (n,)
        self.colours.restore(codes if fits else None)


def leaf_array(leaves: ArrayLike | Sequence[int]) -> Leaves:
    """Return leaf numbers as int64 (k,)."""
    return np.asarray(leaves, dtype=np.int64).ravel()


def _marks_of_nodes(tree: Tree, marks: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Return marks of the inner nodes as marks of all nodes; None where none is marked."""
    if marks is None:
        return None
    found = np.asarray(marks, dtype=np.bool_)
    if found.shape != (tree.n_internal,):
        raise InvalidData(f"{found.size} marks were given for {tree.n_internal} inner nodes.")
    return np.concatenate((np.zeros(tree.n_leaves, np.bool_), found)) if found.any() else None


def _is_items(value: Any, n: int) -> bool:
    """Return True if an array from a file holds two or more different items."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind != "i":
        return False
    inside = value.size > 1 and value.min() >= 0 and value.max() < n
    return bool(inside and np.unique(value).size == value.size)


__all__ = ["TreeState", "leaf_array"]
