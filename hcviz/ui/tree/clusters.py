"""Colours of clusters that stay the same when the tree or the partition changes."""

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
    """Choose a colour for each cluster.

    Clusters are coloured by size, the largest first. A cluster gets the colour that most of its
    items had ``before``. If a neighbour in the leaf order has that colour, or another colour is
    used less, the cluster gets the least used colour that no neighbour has. A cluster of one item
    is not coloured (-1, 255).

    Parameters
    ----------
    tree : the tree
    partition : the clusters
    colours : the number of colours, three or more
    order : int32 (n,), the leaf order
    before : uint8 (n,), the index of each item's earlier colour, or None

    Returns
    -------
    count : the number of clusters
    of_node : int (m,), the index of each node's colour, -1 for none
    of_item : uint8 (n,), the index of each item's colour, 255 for none
    """
    of_item = partition.of_item
    sizes = np.bincount(of_item)
    shown = of_item[order]
    shown = shown[np.flatnonzero(np.r_[True, shown[1:] != shown[:-1]])]
    shown = shown[sizes[shown] > 1]
    neighbours: dict[int, set[int]] = {int(name): set() for name in shown}
    for a, b in zip(shown[:-1].tolist(), shown[1:].tolist(), strict=True):
        neighbours[a].add(b)
        neighbours[b].add(a)
    members = np.argsort(of_item, kind="stable")
    ends = np.cumsum(sizes)
    code = np.full(sizes.size, -1)
    used = np.zeros(colours, np.int64)
    place = {int(name): k for k, name in reversed(list(enumerate(shown)))}
    for name in sorted(place, key=lambda name: (-sizes[name], place[name])):
        taken = {int(code[other]) for other in neighbours[name]}
        wanted = -1
        if before is not None:
            own = members[ends[name] - sizes[name] : ends[name]]
            votes = np.bincount(before[own], minlength=MISSING + 1)[:colours]
            wanted = int(votes.argmax()) if votes.any() else -1
        if wanted < 0 or wanted in taken or used[wanted] > used.min():
            free = [c for c in range(colours) if c not in taken] or list(range(colours))
            wanted = min(free, key=lambda c: used[c])
        used[wanted] += 1
        code[name] = wanted
    node_code = np.where(partition.of_node > 0, code[np.maximum(partition.of_node, 0)], -1)
    leaf_code = np.where(code[of_item] < 0, MISSING, code[of_item])
    return partition.count, node_code, leaf_code.astype(np.uint8)


#: Number of partitions whose colours are kept.
MAX_KEPT = 64


class ClusterColours:
    """Colours that do not depend on the trees shown during a run.

    The same clusters get the same colours again, so that undo restores them. Other clusters get
    colours like those of the last tree outside a run.
    """

    def __init__(self) -> None:
        #: True while the trees of a run are shown. Their colours are not kept.
        self.is_streaming = False
        self._last: NDArray[np.uint8] | None = None
        self._shown: tuple[bytes, NDArray[np.uint8]] | None = None
        self._known: OrderedDict[bytes, NDArray[np.uint8]] = OrderedDict()

    def of(
        self, tree: Tree, partition: Partition, colours: int, order: NDArray[np.int32]
    ) -> tuple[int, Any, NDArray[np.uint8]]:
        """Choose colours as :func:`coloured_clusters` does, like those kept before."""
        key = _key(partition)
        before = self._known.get(key, self._last)
        found = coloured_clusters(tree, partition, colours, order, before)
        self._shown = (key, found[2])
        if not self.is_streaming:
            self.keep_colours()
        return found

    def keep_colours(self) -> None:
        """Keep the colours shown: a run has ended."""
        self.is_streaming = False
        if self._shown is not None:
            key, self._last = self._shown
            self._known[key] = self._last
            self._known.move_to_end(key)
            if len(self._known) > MAX_KEPT:
                self._known.popitem(last=False)

    def restore(self, codes: NDArray[np.uint8] | None) -> None:
        """Forget all colours. The next ones are like ``codes``, uint8 (n,), if given."""
        self._known.clear()
        self._last, self._shown = codes, None


def _key(partition: Partition) -> bytes:
    """Return a digest of the clusters. Their numbers do not depend on the tree."""
    return blake2b(partition.of_item.tobytes(), digest_size=16).digest()
