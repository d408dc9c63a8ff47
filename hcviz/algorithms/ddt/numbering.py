"""The order in which a tree lists the kernel's nodes: compiled passes over the kernel's arrays."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def by_time(parent, u, h):
    """Renumber the inner nodes by falling divergence time.

    Parameters: ``parent`` int32 (m,) in the kernel's numbering, ``u`` and ``h`` float64 (m,), the
    divergence times as -log(1 - t) and as 1 - t.

    Returns parents int32 (m,) and heights float64 (m,), parents after children. O(n log n).
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
