"""``Draws``: thinned trees of one chain as arrays. ``Sampler``, ``SamplerRun``: what makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.posterior import kernels
from hcviz.posterior.burn_in import burn_in

#: Limits of the draws of one chain and of their bytes; at least ``MIN_CAPACITY`` draws are stored.
MAX_DRAWS, MAX_BYTES, MIN_CAPACITY = 4096, 2**26, 128
#: Proposals between two draws at the start: this number for each item, within these bounds.
THIN_PER_ITEM, MIN_THIN, MAX_THIN = 4, 64, 16_384
#: Average number of clades of a draw that are compared; of more, only a fixed share of all codes.
COMPARED_CLADES = 512
#: The arrays of ``Draws``, with a row for each draw.
_ARRAYS = ("parent", "height", "log_joint", "nodes")


class Sampler(Protocol):
    """One chain of a method; it copies its trees into ``Draws``."""

    def advance(self, draws: Draws, proposals: int, stop: Callable[[], bool]) -> None:
        """Make proposals until ``draws.n_proposals`` is ``proposals``, or ``stop()`` is true.

        Every ``draws.thin``-th tree is recorded. The caller calls :meth:`record` for the first
        tree. The result must not depend on how the work is divided into calls.
        """

    def record(self, draws: Draws) -> None:
        """Copy the current tree into ``draws``."""


class SamplerRun(Protocol):
    """The chains of a run, each at its first tree.

    Attributes
    ----------
    total : int
        Proposals that each chain is to make.
    thin : int or None
        Proposals between two draws at the start; see :class:`Draws`.
    """

    total: int
    thin: int | None

    @property
    def chains(self) -> Sequence[Sampler]:
        """The chains, which may be advanced on different threads."""

    def snapshot(self, step: int, total: int) -> Snapshot:
        """Return a snapshot of all chains, from which a run can continue."""


class Draws:
    """Evenly thinned draws of one chain: those after 0, thin, 2 thin, ... proposals.

    Parameters
    ----------
    n_items : int
        Number of items, n.
    thin : int or None
        Proposals between two draws at the start; None: four for each item, from 64 to 16,384.
    max_draws : int
        Limit of the number of draws; at least 128 are stored.

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

    def __init__(self, n_items: int, thin: int | None = None, max_draws: int = MAX_DRAWS) -> None:
        self.n_items = n_items
        self.thin = min(max(THIN_PER_ITEM * n_items, MIN_THIN), MAX_THIN) if thin is None else thin
        capacity = max(min(MAX_BYTES // (16 * n_items), max_draws, MAX_DRAWS), MIN_CAPACITY)
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the free rows of the arrays, and their capacity."""
        state = {**vars(self), "capacity": len(self.parent)}
        for name in _ARRAYS:
            state[name] = state[name][: self.n_draws].copy()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        capacity = state.pop("capacity")
        vars(self).update(state)
        for name in _ARRAYS:
            used = state[name]
            array = np.full((capacity, *used.shape[1:]), 2 * self.n_items - 1, used.dtype)
            array[: len(used)] = used
            setattr(self, name, array)

    def copy(self) -> Self:
        """Return a copy without free rows, which a chain that goes on does not change."""
        found = object.__new__(type(self))
        vars(found).update(self.__getstate__())
        del found.__dict__["capacity"]
        return found

    def first(self, n_proposals: int) -> Self:
        """Return a copy of the draws up to this number of proposals, so that a chain can go on."""
        found = object.__new__(type(self))
        found.__setstate__(self.__getstate__())
        found.n_proposals = min(n_proposals, self.n_proposals)
        found.n_draws = min(self.n_draws, n_proposals // self.thin + 1)
        return found

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
        for array in (getattr(self, name) for name in _ARRAYS):
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
