"""``Work``: everything a chain of the kernel reads and writes, as a few flat arrays.

Nodes 0..n-1 are the leaves, n..2n-2 the inner nodes, in no particular order: the numbering is the
kernel's own and moves with the tree. Divergence times are kept as u = -log(1 - t) (0 at the start
of the diffusion, infinite at the leaves), and as h = 1 - t = exp(-u): what is near t = 1 would
round to it. In u the integrated divergence function is linear, A(t) = c u.

A node's message is what its subtree says of its position: N(mean, var) in units of sigma, one
variance for all dimensions, stored as the row (var, mean...). Every node has two rows, 2v and
2v + 1; its ``SLOT`` says which holds. Pruning writes to the other one, so taking it back is a flip.

The arrays are few and wide because each costs every compiled call, and because a node's fields
then share a cache line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Slides between two prunings by regraft: the first number up to FEW items, the second above. With
#: few items, regrafts bring a chain faster from a repaired tree to probable ones.
SLIDES_FEW, SLIDES_MANY, FEW = 2, 4, 256

Float = NDArray[np.float64]
Int = NDArray[np.int32]

# Columns of Work.node
PARENT, LEFT, RIGHT, SIZE, SLOT, FLOOR, MARK, KNOWN = range(8)
# Columns of Work.time
U, H = 0, 1
# Places in Work.tally
ROOT, STAMP, PROPOSALS, ACCEPTED, SUBTREE, TRIES, GIVEN, LEARNT, SLIDES = range(9)
# Places in Work.real
C, NOISE, BETA = range(3)
# Rows of Work.table
HARMONIC, LOG_FACTORIAL = 0, 1
# Columns of Work.say
NODE, KIND, WHICH = range(3)


class Work(NamedTuple):
    """Arrays of one chain; m = 2n - 1 nodes, d dimensions, k triplets.

    ``node`` columns: parent (-1 at the root), two children (-1 at leaves), leaves below, slot, and
    three stamps: below here nothing is legal, a walk has been here, the outer message is current.
    ``outer`` rows: what lies outside a node's subtree says of its parent's position.
    """

    node: Int  # (m, 8)
    time: Float  # (m, 2): u, h
    msg: Float  # (2m, 1 + d)
    outer: Float  # (m, 1 + d)
    table: Float  # (2, n + 1): H(0) = 0, H(1) = 1, ...; log 0!, log 1!, ...
    tally: NDArray[np.int64]  # (9,): root, stamp, proposals, accepted, subtree, tries left for it,
    # whether locations are given: then an inner node's message is its location, variance 0,
    # whether the leaf noise is learnt, and the number of slides between two regrafts
    real: Float  # (3,): c, leaf noise in units of sigma^2, beta (negative: hard triplets)
    spare: Int  # (4, m): stacks and lists
    along: Float  # (m,): a slide's log prior along its path
    data: Float  # (n, d): features less mu
    sigma: Float  # (d,)
    floor: Float  # (d,): where the leaf noise is learnt, the least of noise * sigma^2
    triplets: Int  # (k, 3)
    weight: Float  # (k,)
    at: Int  # (n + 1,): where each item's triplets begin in ``of``
    of: Int  # (3k,): triplet indices by item
    say: Int  # (k, 3): triplets with a say in a move: node referred to, kind of rule, which


def allocate(
    n: int,
    data: Float,
    triplets: Int,
    weight: Float,
    noise: float,
    beta: float | None,
    floor: Float | None = None,
) -> Work:
    """Empty arrays for n items; O(n (d + 1) + k) memory.

    ``floor``: the leaf noise is learnt from ``noise`` on, with this floor in each column.
    """
    m, d, k = 2 * n - 1, data.shape[1], len(triplets)
    numbers = np.arange(1, n + 1, dtype=np.float64)
    order = np.argsort(triplets.T.ravel(), kind="stable")
    at = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(triplets.ravel(), minlength=n), out=at[1:])
    node = np.full((m, 8), -1, np.int32)
    node[:, SIZE] = 1
    node[:, SLOT:] = 0
    time = np.zeros((m, 2))
    time[:, U] = np.inf
    table = np.zeros((2, n + 1))
    table[HARMONIC, 1:] = np.cumsum(1.0 / numbers)
    table[LOG_FACTORIAL, 1:] = np.cumsum(np.log(numbers))
    tally = np.zeros(9, np.int64)
    tally[LEARNT] = floor is not None
    tally[SLIDES] = SLIDES_FEW if n <= FEW else SLIDES_MANY
    return Work(
        node=node,
        time=time,
        msg=np.zeros((2 * m, 1 + d)),
        outer=np.zeros((m, 1 + d)),
        table=table,
        tally=tally,
        real=np.array([1.0, noise, -1.0 if beta is None else beta]),
        spare=np.zeros((4, m), np.int32),
        along=np.zeros(m),
        data=np.ascontiguousarray(data, dtype=np.float64).copy(),
        sigma=np.ones(d),
        floor=np.zeros(d) if floor is None else np.asarray(floor, np.float64).copy(),
        triplets=np.ascontiguousarray(triplets, dtype=np.int32).copy(),
        weight=np.ascontiguousarray(weight, dtype=np.float64).copy(),
        at=at,
        of=(order % max(k, 1)).astype(np.int32),
        say=np.zeros((k, 3), np.int32),
    )
