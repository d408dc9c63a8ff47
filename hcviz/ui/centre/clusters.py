"""Colours for the clusters of a partition that stay when the tree or the partition changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.ui.palette import MISSING
from hcviz.ui.partition import Partition


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
