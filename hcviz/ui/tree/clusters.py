"""Colours for the clusters of a partition that stay when the tree or the partition changes."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.ui.parts.palette import MISSING
from hcviz.ui.tree.partition import Partition


def coloured_clusters(
    tree: Tree,
    partition: Partition,
    colours: int,
    order: NDArray[np.int32],
    before: NDArray[np.uint8] | None = None,
) -> tuple[int, Any, NDArray[np.uint8]]:
    """``(clusters, node_code int (m,), leaf_code uint8 (n,))``: an index of a colour for each.

    The largest cluster chooses first: the colour most of its items had ``before``, unless that is
    taken; then the least used one that no neighbour in the shown ``order`` has. So no colour is
    repeated while there are others. A cluster of one item is not coloured (-1, 255). Needs three
    colours or more.
    """
    of_item = partition.of_item
    sizes = np.bincount(of_item)
    shown = of_item[order]
    shown = shown[np.flatnonzero(np.r_[True, shown[1:] != shown[:-1]])]
    shown = shown[sizes[shown] > 1]
    beside: dict[int, set[int]] = {int(name): set() for name in shown}
    for a, b in zip(shown[:-1].tolist(), shown[1:].tolist(), strict=True):
        beside[a].add(b)
        beside[b].add(a)
    members = np.argsort(of_item, kind="stable")
    ends = np.cumsum(sizes)
    code = np.full(sizes.size, -1)
    used = np.zeros(colours, np.int64)
    place = {int(name): k for k, name in reversed(list(enumerate(shown)))}
    for name in sorted(place, key=lambda name: (-sizes[name], place[name])):
        taken = {int(code[other]) for other in beside[name]}
        wish = -1
        if before is not None:
            own = members[ends[name] - sizes[name] : ends[name]]
            votes = np.bincount(before[own], minlength=MISSING + 1)[:colours]
            wish = int(votes.argmax()) if votes.any() else -1
        if wish < 0 or wish in taken or used[wish] > used.min():
            free = [c for c in range(colours) if c not in taken] or list(range(colours))
            wish = min(free, key=lambda c: used[c])
        used[wish] += 1
        code[name] = wish
    node_code = np.where(partition.of_node > 0, code[np.maximum(partition.of_node, 0)], -1)
    leaf_code = np.where(code[of_item] < 0, MISSING, code[of_item])
    return partition.count, node_code, leaf_code.astype(np.uint8)


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
        self, tree: Tree, partition: Partition, colours: int, order: NDArray[np.int32]
    ) -> tuple[int, Any, NDArray[np.uint8]]:
        """:func:`coloured_clusters`, beside what was shown before."""
        key = _key(partition)
        before = self._known.get(key, self._last)
        found = coloured_clusters(tree, partition, colours, order, before)
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


def _key(partition: Partition) -> bytes:
    """A digest of the clusters. They are numbered by their first items, whatever the tree."""
    return blake2b(partition.of_item.tobytes(), digest_size=16).digest()
