"""``Work``: everything a chain of the kernel reads and writes, as flat arrays.

Nodes 0..n-1 are the leaves, n..2n-2 the inner nodes, in no particular order: the numbering is the
kernel's own and moves with the tree. Divergence times are kept as u = -log(1 - t) (0 at the start
of the diffusion, infinite at the leaves), and as h = 1 - t = exp(-u): what is near t = 1 would
round to it. In u the integrated divergence function is linear, A(t) = c u.

A node's message is what its subtree says of its position: N(mean, var) in units of sigma, one
variance for all dimensions. Every node has two places for it, rows 2v and 2v + 1 of ``mean`` and
``stat``; ``slot[v]`` says which holds. A proposal writes to the other one, so taking it back is a
flip.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int32]
Long = NDArray[np.int64]

# Places in Work.count
ROOT, STAMP, PROPOSALS, ACCEPTED, INFORMED = range(5)
# Places in Work.real
C, LOG_C, NOISE, ROOT_TERM, BETA = range(5)
# Columns of Work.stat
VAR, LIK, PRIOR = range(3)


class Work(NamedTuple):
    """Arrays of one chain; m = 2n - 1 nodes, d dimensions, k triplets."""

    parent: Int  # (m,), -1 at the root
    child: Int  # (m, 2), -1 at leaves
    u: Float  # (m,) -log(1 - t), inf at leaves
    h: Float  # (m,) 1 - t, 0 at leaves
    size: Int  # (m,) leaves below
    slot: Int  # (m,) which of a node's two rows holds
    mean: Float  # (2m, d) messages, in units of sigma
    stat: Float  # (2m, 3) variance; log likelihood factor; log prior factor (in u)
    outer_mean: Float  # (m, d) what lies outside a node's subtree says of its parent's position
    outer_var: Float  # (m,)
    mark: Long  # (m,) == the stamp where a walk has been
    floor: Long  # (m,) == the stamp where a walk may not go below
    touched: Int  # (m,) nodes whose message a proposal changed
    stack: Int  # (m,)
    phase: Int  # (m,)
    count: Long  # (5,) root, stamp, proposals, accepted, accepted informed moves
    real: Float  # (5,) c, log c, leaf noise, the root's factor, beta (negative: hard)
    harmonic: Float  # (n + 1,) H(0) = 0, H(1) = 1, ...
    log_factorial: Float  # (n + 1,)
    data: Float  # (n, d) centred features
    sigma: Float  # (d,)
    triplets: Int  # (k, 3)
    weight: Float  # (k,)
    at: Int  # (n + 1,) where each item's triplets begin in ``of``
    of: Int  # (3k,) triplet indices by item
    inside: Long  # (n,) == the stamp for the leaves of the subtree being moved
    active: Int  # (k,) triplets that have a say in a move
    node: Int  # (k,) the node that each of them refers to
    kind: Int  # (k,) 1: not below it, 2: at or below it


def allocate(
    n: int, data: Float, triplets: Int, weight: Float, noise: float, beta: float | None
) -> Work:
    """Empty arrays for n items; O(n (d + 1) + k) memory."""
    m, d, k = 2 * n - 1, data.shape[1], len(triplets)
    numbers = np.arange(1, n + 1, dtype=np.float64)
    order = np.argsort(triplets.T.ravel(), kind="stable")
    at = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(triplets.ravel(), minlength=n), out=at[1:])
    return Work(
        parent=np.full(m, -1, np.int32),
        child=np.full((m, 2), -1, np.int32),
        u=np.full(m, np.inf),
        h=np.zeros(m),
        size=np.ones(m, np.int32),
        slot=np.zeros(m, np.int32),
        mean=np.zeros((2 * m, d)),
        stat=np.zeros((2 * m, 3)),
        outer_mean=np.zeros((m, d)),
        outer_var=np.zeros(m),
        mark=np.zeros(m, np.int64),
        floor=np.zeros(m, np.int64),
        touched=np.empty(m, np.int32),
        stack=np.empty(m, np.int32),
        phase=np.empty(m, np.int32),
        count=np.zeros(5, np.int64),
        real=np.array([1.0, 0.0, noise, 0.0, -1.0 if beta is None else beta]),
        harmonic=np.concatenate([[0.0], np.cumsum(1.0 / numbers)]),
        log_factorial=np.concatenate([[0.0], np.cumsum(np.log(numbers))]),
        data=np.ascontiguousarray(data, dtype=np.float64).copy(),
        sigma=np.ones(d),
        triplets=np.ascontiguousarray(triplets, dtype=np.int32).copy(),
        weight=np.ascontiguousarray(weight, dtype=np.float64).copy(),
        at=at,
        of=(order % max(k, 1)).astype(np.int32),
        inside=np.zeros(n, np.int64),
        active=np.empty(k, np.int32),
        node=np.empty(k, np.int32),
        kind=np.empty(k, np.int32),
    )
