"""``CachedSimilarities``: a read-only view of the similarities that an oracle has answered."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]


class SimilarityCache(Protocol):
    """An object with cached similarities: a
    :class:`hcviz.core.counting_oracle.CountingOracle`."""

    n_items: int

    @property
    def n_cached(self) -> int: ...

    def cached_block(self, rows: ArrayLike, cols: ArrayLike) -> Float: ...

    def cached_sample(self, most: int) -> Float: ...


class CachedSimilarities:
    """A similarity oracle that reads a cache and never asks for a new similarity.

    Unknown similarities are NaN. Reading does not count as a query.
    """

    cheap = thread_safe = symmetric = True

    def __init__(self, cache: SimilarityCache) -> None:
        self._cache, self.n_items = cache, cache.n_items

    @property
    def n_cached(self) -> int:
        """Number of similarities in the cache."""
        return self._cache.n_cached

    def similarity(self, rows: ArrayLike, cols: ArrayLike) -> Float:
        """Return the cached similarities of ``rows`` with ``cols``.

        Returns
        -------
        float64 (len(rows), len(cols))
            NaN where unknown. The similarity of an item to itself is the largest known one of its
            row.
        """
        block = self._cache.cached_block(rows, cols)
        same_item = np.equal.outer(np.asarray(rows), np.asarray(cols))
        if same_item.any():
            block[same_item] = np.nan
            block[same_item] = np.fmax.reduce(block, axis=1)[np.nonzero(same_item)[0]]
        return block

    def sample(self, most: int) -> Float:
        """Return at most ``most`` cached similarities, evenly spaced: float64 (k,)."""
        return self._cache.cached_sample(most)


__all__ = ["CachedSimilarities", "SimilarityCache"]
