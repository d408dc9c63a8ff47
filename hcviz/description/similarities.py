"""Mean similarities of items to groups, from a matrix or from a sample of an oracle's pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Float = NDArray[np.float64]
Items = NDArray[np.int64]

#: Items of a group that an oracle compares others with, at most; they are evenly spaced.
MAX_COMPARED = 300
#: Items whose means an oracle computes, at most; others are left out.
MAX_RATED = 2_000
#: Items that are compared with others at a time, so that not all pairs are in memory.
BLOCK_ROWS = 256


class GroupSimilarities:
    """Mean similarities between items and sets of items.

    Parameters
    ----------
    source : float64 (n, n), sparse matrix, SimilarityOracle or None
        Symmetric similarities; larger is more alike.

    Notes
    -----
    A matrix gives exact means. Means of an oracle are over at most 300 items of each set.
    """

    def __init__(self, source: Any) -> None:
        self._source = source.tocsr() if issparse(source) else source
        self.is_exact = source is None or issparse(source) or isinstance(source, np.ndarray)

    @property
    def is_known(self) -> bool:
        """True if there are similarities."""
        return self._source is not None

    def rated(self, items: Items) -> Items:
        """Return the items of a set whose means are computed: all, or evenly spaced ones."""
        return items if self.is_exact else _spaced(items, MAX_RATED)

    def means(self, items: Items, sets: Sequence[Items]) -> Float:
        """Return the mean similarity of each of k items to each of s sets, float64 (s, k).

        An item is left out of its own mean. NaN without a known similarity. O(k n) for a matrix
        over n items; O(k s) for an oracle, since at most 300 items of a set are compared.
        """
        if not self.is_known:
            return np.full((len(sets), len(items)), np.nan)
        if self.is_exact:
            return self._matrix_means(items, sets)
        return np.stack([self._sampled_means(items, _spaced(each, MAX_COMPARED)) for each in sets])

    def _matrix_means(self, items: Items, sets: Sequence[Items]) -> Float:
        source = self._source
        n = source.shape[0]
        is_in = np.zeros((n, len(sets)))
        for k, each in enumerate(sets):
            is_in[each, k] = 1.0
        many = 2 * len(items) > n and not issparse(source)
        rows = source if many else source[items]  # a copy of most rows takes longer than the sums
        total = np.asarray(rows @ is_in)
        total = total[items] if many else total
        own = is_in[items]
        diagonal = source.diagonal()[items]
        count = is_in.sum(axis=0) - own
        total = total - own * diagonal[:, None]
        mean: Float = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return mean.T

    def _sampled_means(self, items: Items, compared: Items) -> Float:
        mean = np.full(len(items), np.nan)
        for begin in range(0, len(items) if len(compared) else 0, BLOCK_ROWS):
            rows = items[begin : begin + BLOCK_ROWS]
            block = self._block(rows, compared)
            used = (rows[:, None] != compared[None, :]) & ~np.isnan(block)
            count = used.sum(axis=1)
            total = np.where(used, block, 0.0).sum(axis=1)
            np.divide(total, count, out=mean[begin : begin + BLOCK_ROWS], where=count > 0)
        return mean

    def of_item(self, item: int, n_items: int) -> Float:
        """Return the similarities of an item to all items, float64 (n,). O(n)."""
        return self._block(np.array([item]), np.arange(n_items))[0]

    def _block(self, rows: Items, columns: Items) -> Float:
        source = self._source
        if issparse(source):
            block = source[rows][:, columns].toarray()
        elif isinstance(source, np.ndarray):
            block = source[np.ix_(rows, columns)]
        else:
            block = source.similarity(rows, columns)
        return np.asarray(block, dtype=np.float64)


def _spaced(items: Items, most: int) -> Items:
    if len(items) <= most:
        return items
    return items[np.linspace(0, len(items) - 1, most).round().astype(np.int64)]


__all__ = ["GroupSimilarities"]
