"""``Draws``: thinned trees of one chain as arrays; ``Sampler``: the protocol of what fills them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.posterior import kernels

#: Draws of one chain that are held at most, and their bytes; but never fewer than ``FEWEST``.
MOST, BYTES, FEWEST = 4096, 2**26, 128
#: Proposals between two draws at first, for each item; at least and at most.
THIN, LEAST_THIN, MOST_THIN = 4, 64, 16_384
#: Clades of a draw by which chains are compared, on average; of more, a fixed share of all codes.
COMPARED = 512


class Sampler(Protocol):
    """One chain of a method, which copies its trees into ``Draws``."""

    def advance(self, draws: Draws, proposals: int, stop: Callable[[], bool]) -> None:
        """Make proposals until ``draws.made`` is ``proposals``, or soon after ``stop()`` is true.

        Every ``draws.thin``-th tree is recorded. The caller calls :meth:`record` for the first.
        The result does not depend on how the work is divided into calls.
        """

    def record(self, draws: Draws) -> None:
        """Copy the present tree into ``draws``."""


class Draws:
    """The draws 0, thin, 2 thin, ... of one chain, counted in proposals, evenly thinned.

    Parameters
    ----------
    n_items : int
        Number of items, n.
    thin : int
        Proposals between two draws at first; None: four for each item, from 64 to 16,384.

    Attributes
    ----------
    parent : int32 (capacity, 2n - 1)
        The parents of each draw's tree, parents after children. A row holds ``nodes`` of them.
    height : float64 (capacity, n - 1)
        Heights of the inner nodes.
    log_joint : float64 (capacity,)
        NaN where unknown.
    nodes : int32 (capacity,)
        Number of nodes of each tree.
    held, made, thin : int
        Draws in the arrays, proposals made so far, proposals between two draws.

    Notes
    -----
    When the arrays are full, every second draw is dropped and ``thin`` is doubled. So what is held
    depends on the number of proposals alone. Memory is at most 64 MB and 4,096 draws.
    """

    def __init__(self, n_items: int, thin: int | None = None) -> None:
        self.n_items = n_items
        self.thin = min(max(THIN * n_items, LEAST_THIN), MOST_THIN) if thin is None else thin
        capacity = min(max(BYTES // (16 * n_items), FEWEST), MOST)
        capacity = 2 ** (capacity.bit_length() - 1)
        self.parent = np.empty((capacity, 2 * n_items - 1), np.int32)
        self.height = np.empty((capacity, n_items - 1))
        self.log_joint = np.empty(capacity)
        self.nodes = np.full(capacity, 2 * n_items - 1, np.int32)
        self.held = self.made = 0

    @property
    def full(self) -> bool:
        """Whether there is no room for another draw."""
        return self.held == len(self.parent)

    def put(self, tree: Tree, log_joint: float) -> None:
        """Record ``tree``, which may have polytomies."""
        at, nodes = self.held, tree.n_nodes
        self.nodes[at], self.log_joint[at] = nodes, log_joint
        self.parent[at, :nodes] = tree.parent
        self.height[at, : nodes - self.n_items] = tree.height[self.n_items :]
        self.held += 1

    def thin_out(self) -> None:
        """Drop every second draw, and double ``thin``."""
        kept = (self.held + 1) // 2
        for array in (self.parent, self.height, self.log_joint, self.nodes):
            for row in range(1, kept):  # row by row: no copy of everything
                array[row] = array[2 * row]
        self.held = kept
        self.thin *= 2

    def latest(self) -> slice:
        """The later half of the draws; the earlier one is burn-in."""
        return slice(self.held // 2, self.held)

    def arrays(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """``parent`` and ``height`` of one draw's tree, as :class:`hcviz.Tree` takes them."""
        nodes = int(self.nodes[row])
        height = np.zeros(nodes)
        height[self.n_items :] = self.height[row, : nodes - self.n_items]
        return self.parent[row, :nodes].copy(), height

    def codes(self, keys: NDArray[np.uint64], share: bool = True) -> NDArray[np.uint64]:
        """First halves of the clades' codes in the later half, uint64 (draws, n - 2), 0: none.

        ``share``: of more than 512 items, only a fixed share of all codes.
        """
        chosen = self.latest()
        one_in = np.uint64(-(-self.n_items // COMPARED) if share else 1)
        out = np.zeros((self.held - chosen.start, max(self.n_items - 2, 1)), np.uint64)
        kernels.draw_codes(self.parent[chosen], self.nodes[chosen], self.n_items, keys, one_in, out)
        return out
