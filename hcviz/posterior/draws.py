"""``Draws``: thinned trees of one chain as arrays. ``Sampler``: the protocol of a chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.posterior import kernels
from hcviz.posterior.burn_in import burn_in

#: Limits of the draws of one chain and of their bytes; at least ``MIN_CAPACITY`` draws are stored.
MAX_DRAWS, MAX_BYTES, MIN_CAPACITY = 4096, 2**26, 128
#: Proposals between two draws at the start: this number for each item, within these bounds.
THIN_PER_ITEM, MIN_THIN, MAX_THIN = 4, 64, 16_384
#: Average number of clades of a draw that are compared; of more, only a fixed share of all codes.
COMPARED_CLADES = 512


class Sampler(Protocol):
    """One chain of a method; it copies its trees into ``Draws``."""

    def advance(self, draws: Draws, proposals: int, stop: Callable[[], bool]) -> None:
        """Make proposals until ``draws.n_proposals`` is ``proposals``, or ``stop()`` is true.

        Every ``draws.thin``-th tree is recorded. The caller calls :meth:`record` for the first
        tree. The result must not depend on how the work is divided into calls.
        """

    def record(self, draws: Draws) -> None:
        """Copy the current tree into ``draws``."""


class Draws:
    """Evenly thinned draws of one chain: those after 0, thin, 2 thin, ... proposals.

    Parameters
    ----------
    n_items : int
        Number of items, n.
    thin : int or None
        Proposals between two draws at the start; None: four for each item, from 64 to 16,384.

    Attributes
    ----------
    parent : int32 (capacity, 2n - 1)
        The parents in each draw's tree, parents after children; ``nodes`` entries are used.
    height : float64 (capacity, n - 1)
        Heights of the inner nodes.
    log_joint : float64 (capacity,)
        NaN where unknown.
    nodes : int32 (capacity,)
        Number of nodes of each tree.
    n_draws : int
        Number of draws in the arrays.
    n_proposals : int
        Number of proposals so far.
    thin : int
        Proposals between two draws.

    Notes
    -----
    When the arrays are full, every second draw is removed and ``thin`` is doubled. So the stored
    draws depend only on the number of proposals. At most 64 MB and 4,096 draws.
    """

    def __init__(self, n_items: int, thin: int | None = None) -> None:
        self.n_items = n_items
        self.thin = min(max(THIN_PER_ITEM * n_items, MIN_THIN), MAX_THIN) if thin is None else thin
        capacity = min(max(MAX_BYTES // (16 * n_items), MIN_CAPACITY), MAX_DRAWS)
        capacity = 2 ** (capacity.bit_length() - 1)
        self.parent = np.empty((capacity, 2 * n_items - 1), np.int32)
        self.height = np.empty((capacity, n_items - 1))
        self.log_joint = np.empty(capacity)
        self.nodes = np.full(capacity, 2 * n_items - 1, np.int32)
        self.n_draws = self.n_proposals = 0

    @property
    def is_full(self) -> bool:
        """True if there is no space for another draw."""
        return self.n_draws == len(self.parent)

    def append(self, tree: Tree, log_joint: float) -> None:
        """Add a tree, which may have polytomies."""
        at, nodes = self.n_draws, tree.n_nodes
        self.nodes[at], self.log_joint[at] = nodes, log_joint
        self.parent[at, :nodes] = tree.parent
        self.height[at, : nodes - self.n_items] = tree.height[self.n_items :]
        self.n_draws += 1

    def thin_out(self) -> None:
        """Remove every second draw, and double ``thin``."""
        kept = (self.n_draws + 1) // 2
        for array in (self.parent, self.height, self.log_joint, self.nodes):
            for row in range(1, kept):  # row by row, to avoid a copy of the whole array
                array[row] = array[2 * row]
        self.n_draws = kept
        self.thin *= 2

    def after_burn_in(self) -> slice:
        """Return the rows of the draws after :func:`hcviz.posterior.burn_in.burn_in`."""
        return slice(burn_in(self.log_joint[: self.n_draws]), self.n_draws)

    def tree_arrays(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the parameters ``parent`` and ``height`` of :class:`hcviz.Tree` for one draw."""
        nodes = int(self.nodes[row])
        height = np.zeros(nodes)
        height[self.n_items :] = self.height[row, : nodes - self.n_items]
        return self.parent[row, :nodes].copy(), height

    def clade_codes(self, keys: NDArray[np.uint64], share: bool = True) -> NDArray[np.uint64]:
        """Return the first halves of the clades' codes after burn-in: uint64 (draws, n - 2).

        Rows are filled with 0. ``share``: with more than 512 items, use only a fixed share of all
        codes.
        """
        chosen = self.after_burn_in()
        one_in = np.uint64(-(-self.n_items // COMPARED_CLADES) if share else 1)
        out = np.zeros((self.n_draws - chosen.start, max(self.n_items - 2, 1)), np.uint64)
        kernels.draw_codes(self.parent[chosen], self.nodes[chosen], self.n_items, keys, one_in, out)
        return out
