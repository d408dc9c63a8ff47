"""The order in which a tree lists the kernel's nodes, compiled."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def by_time(parent, u, h):
    """Renumber the inner nodes by decreasing divergence time. O(n log n).

    Parameters
    ----------
    parent : int32 (m,)
        Parents in the kernel's numbering.
    u, h : float64 (m,)
        Divergence times as -log(1 - t) and as 1 - t.

    Returns
    -------
    int32 (m,), float64 (m,)
        Parents and heights, parents after children.
    """
    m = parent.size
    n = (m + 1) // 2
    order = np.argsort(-u[n:], kind="mergesort")
    rank = np.arange(m).astype(np.int32)
    for place in range(n - 1):
        rank[n + order[place]] = n + place
    above = np.full(m, -1, np.int32)
    height = np.zeros(m)
    for v in range(m):
        if parent[v] >= 0:
            above[rank[v]] = rank[parent[v]]
        if v >= n:
            height[rank[v]] = h[v]
    return above, height
