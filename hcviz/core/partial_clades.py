"""Triplets as few statements (A, B): some clade contains all of A and nothing of B.

For one item c, the triplets ab|c and bd|c say that a, b and d have a clade without c, since both
LCAs contain b and so one is above the other. So the triplets with the same c say this of each
connected set of items that they join, and of no more. Equal sets of different c's make one
statement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hcviz.core.arrays import TripletRows

Int = NDArray[np.int32]


class PartialClade(NamedTuple):
    """Some clade contains all of ``group`` and nothing of ``apart``; both increasing, int32."""

    group: Int
    apart: Int


def partial_clades(rows: TripletRows) -> list[PartialClade]:
    """Return the fewest statements that say the same as triplets.

    Parameters
    ----------
    rows : int32 (m, 3)
        Triplets ab|c.

    Returns
    -------
    list of PartialClade
        No two have the same group.

    Notes
    -----
    O(m log m).
    """
    if not len(rows):
        return []
    n = int(rows.max()) + 1
    wide = rows.astype(np.int64)
    keys, ends = np.unique(
        np.concatenate([wide[:, 2] * n + wide[:, 0], wide[:, 2] * n + wide[:, 1]]),
        return_inverse=True,
    )
    first, second = ends.reshape(2, -1)
    graph = coo_array((np.ones(len(rows), np.int8), (first, second)), shape=(keys.size, keys.size))
    _, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")  # keys are sorted, so the items of a set increase
    found: dict[bytes, tuple[Int, list[int]]] = {}
    for part in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        group = (keys[part] % n).astype(np.int32)
        found.setdefault(group.tobytes(), (group, []))[1].append(int(keys[part[0]] // n))
    return [PartialClade(group, np.array(odd, np.int32)) for group, odd in found.values()]


__all__ = ["PartialClade", "partial_clades"]
