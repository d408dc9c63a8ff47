"""``Known``: the answers that an oracle has given, to look at without asking it for more."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]


class Keeper(Protocol):
    """What keeps answers: a :class:`hcviz.core.oracle.CountingOracle`."""

    n_items: int

    @property
    def held(self) -> int: ...

    def recalled(self, rows: ArrayLike, cols: ArrayLike) -> Float: ...

    def kept(self, most: int) -> Float: ...


class Known:
    """What a keeper has kept, as an oracle that is in nobody's way: NaN where nothing was asked
    for. To look at it is no request, and counts as none."""

    cheap = thread_safe = symmetric = True

    def __init__(self, keeper: Keeper) -> None:
        self._keeper, self.n_items = keeper, keeper.n_items

    @property
    def held(self) -> int:
        """How many similarities are known."""
        return self._keeper.held

    def similarity(self, rows: ArrayLike, cols: ArrayLike) -> Float:
        """Similarities, float64 (len(rows), len(cols)), NaN where they are not known; an item is as
        similar to itself as to the most similar of the others."""
        block = self._keeper.recalled(rows, cols)
        itself = np.equal.outer(np.asarray(rows), np.asarray(cols))
        if itself.any():
            block[itself] = np.nan
            block[itself] = np.fmax.reduce(block, axis=1)[np.nonzero(itself)[0]]
        return block

    def some(self, most: int) -> Float:
        """At most so many of those that are known, evenly from all: float64 (k,)."""
        return self._keeper.kept(most)


__all__ = ["Keeper", "Known"]
