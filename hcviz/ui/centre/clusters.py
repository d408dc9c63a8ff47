"""The clusters under a cut, and colours for them that stay when the tree or the cut changes."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.layout import cut_clusters
from hcviz.core.tree import Tree
from hcviz.ui.palette import MISSING


def coloured_clusters(
    tree: Tree,
    cut: float,
    colours: int,
    order: NDArray[np.int32],
    before: NDArray[np.uint8] | None = None,
) -> tuple[int, Any, NDArray[np.uint8]]:
    """``(clusters, node_code int (m,), leaf_code uint8 (n,))`` of the maximal clades under ``cut``.

    The largest cluster chooses first: the colour most of its leaves had ``before``, unless that is
    taken; then the least used one that neither neighbour in the shown ``order`` has. A cluster of
    one item is not coloured (-1, 255). Needs three colours or more.
    """
    top = cut_clusters(tree, cut)
    shown = top[order]
    shown = shown[np.flatnonzero(np.r_[True, shown[1:] != shown[:-1]])]  # clades: one stretch each
    shown = shown[shown >= 0]
    nodes = shown[tree.size[shown] > 1]
    codes = np.full(nodes.size, -1)
    used = np.zeros(colours, np.int64)
    for k in np.lexsort((np.arange(nodes.size), -tree.size[nodes])):
        beside = {int(codes[j]) for j in (k - 1, k + 1) if 0 <= j < nodes.size}
        wish = -1
        if before is not None:
            votes = np.bincount(before[tree.leaves(nodes[k])], minlength=MISSING + 1)[:colours]
            wish = int(votes.argmax()) if votes.any() else -1
        if wish < 0 or wish in beside or used[wish] > used.min():
            wish = min((c for c in range(colours) if c not in beside), key=lambda c: used[c])
        used[wish] += 1
        codes[k] = wish
    code_of = np.full(tree.n_nodes, -1, np.int64)
    code_of[nodes] = codes
    node_code = np.where(top >= 0, code_of[np.maximum(top, 0)], -1)
    leaf_code = np.where(node_code[: tree.n_leaves] < 0, MISSING, node_code[: tree.n_leaves])
    return int(shown.size), node_code, leaf_code.astype(np.uint8)


#: Partitions whose colours are remembered.
REMEMBERED = 64


class ClusterColours:
    """Colours that depend on the pictures at rest, and not on the trees shown during a run.

    The same clusters get the same colours again, so that undo restores them. Other clusters are
    coloured like the last picture at rest.
    """

    def __init__(self) -> None:
        #: Set while the trees of a run are shown: what is coloured meanwhile is not remembered.
        self.passing = False
        self._last: NDArray[np.uint8] | None = None
        self._shown: tuple[bytes, NDArray[np.uint8]] | None = None
        self._known: OrderedDict[bytes, NDArray[np.uint8]] = OrderedDict()

    def of(
        self, tree: Tree, cut: float, colours: int, order: NDArray[np.int32]
    ) -> tuple[int, Any, NDArray[np.uint8]]:
        """:func:`coloured_clusters`, beside what was shown before."""
        key = _partition(tree, cut)
        before = self._known.get(key, self._last)
        found = coloured_clusters(tree, cut, colours, order, before)
        self._shown = (key, found[2])
        if not self.passing:
            self.rest()
        return found

    def rest(self) -> None:
        """What is shown is the picture at rest."""
        self.passing = False
        if self._shown is not None:
            key, self._last = self._shown
            self._known[key] = self._last
            self._known.move_to_end(key)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def restore(self, codes: NDArray[np.uint8] | None) -> None:
        """Forget all; the next picture is coloured like ``codes`` uint8 (n,), if any are given."""
        self._known.clear()
        self._last, self._shown = codes, None


def _partition(tree: Tree, cut: float) -> bytes:
    """The clusters under a cut, whatever the numbers of the nodes."""
    items = np.arange(tree.n_leaves, dtype=np.int32)
    top = cut_clusters(tree, cut)[: tree.n_leaves]
    _, first, of = np.unique(np.where(top < 0, items, top), return_index=True, return_inverse=True)
    return blake2b(first.astype(np.int32)[of].tobytes(), digest_size=16).digest()
