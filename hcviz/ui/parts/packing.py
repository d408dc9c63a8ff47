"""Trees on a sheet's paper: which rows a clade takes, and numbers packed for the way."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.layout import places
from hcviz.core.tree import Tree


def spans(tree: Tree, order: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last row of every node's leaves, int64 (m,) each. O(m)."""
    first = np.full(tree.n_nodes, tree.n_leaves, np.int64)
    last = np.full(tree.n_nodes, -1, np.int64)
    first[: tree.n_leaves] = last[: tree.n_leaves] = places(order)
    for node, up in enumerate(tree.parent[:-1].tolist()):
        first[up], last[up] = min(first[up], first[node]), max(last[up], last[node])
    return first, last


def packed(numbers: ArrayLike, kind: Any) -> str:
    """Numbers as base64 of their bytes (little-endian), as ``unpacked`` of dom.js reads them.

    A tenth of the bytes of JSON, and of the time to write and read them.
    """
    given = np.ascontiguousarray(numbers, dtype=np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(given.tobytes()).decode()
