"""One draw of a chain, copied from the kernel's arrays in one compiled call."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from hcviz.algorithms.ddt.density import log_joint
from hcviz.algorithms.ddt.legal import count_violated
from hcviz.algorithms.ddt.work import LEFT, PARENT, RIGHT, H, U
from hcviz.core.jit import njit


@njit(error_model="numpy")
def observe(w, joint):
    """Copy the tree, count violated triplets, and compute the log joint if ``joint`` is true.

    Returns ``(parent (m,), child (m, 2), u (m,), h (m,), log joint or NaN, violated, the geometric
    mean of sigma)`` in the kernel's numbering. O(n d + triplets * depth).
    """
    m = w.node.shape[0]
    parent, child = np.empty(m, np.int32), np.empty((m, 2), np.int32)
    u, h = np.empty(m), np.empty(m)
    for v in range(m):
        parent[v] = w.node[v, PARENT]
        child[v, 0], child[v, 1] = w.node[v, LEFT], w.node[v, RIGHT]
        u[v], h[v] = w.time[v, U], w.time[v, H]
    value = log_joint(w) if joint else np.nan
    wrong = count_violated(w) if w.triplets.shape[0] > 0 else 0
    spread = 0.0
    for d in range(w.sigma.size):
        spread += np.log(w.sigma[d])
    return parent, child, u, h, value, wrong, np.exp(spread / max(w.sigma.size, 1))
