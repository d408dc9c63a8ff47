"""Gower's similarity of items with columns of several kinds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Float = NDArray[np.float64]

#: Cells of the matrix that are computed at a time.
BLOCK_CELLS = 4_000_000


def gower_columns(
    features: Float, kinds: list[str], sources: list[str], weights: Float
) -> tuple[Float, Float]:
    """Return scaled features and shares, of which :func:`gower` makes similarities.

    Parameters
    ----------
    features : float64 (n, d)
        NaN where missing.
    kinds : list of d str
        ``number``, ``binary``, ``category`` or ``text``.
    sources : list of d str
        The column of the table that each feature comes from.
    weights : float64 (d,)
        The weight of that column.

    Returns
    -------
    scaled : float64 (n, d)
        The difference of two items in a column of the table is the sum of the absolute differences
        of its features: |a - b| / range for numbers, 1 or 0 for categories. For texts, it is half
        the difference of the shares of their terms. All are multiplied by the weight.
    shares : float64 (d,)
        What each feature contributes to the sum of the weights.
    """
    scaled = np.array(features, dtype=np.float64)
    shares = np.array(weights, dtype=np.float64)
    blocks: dict[str, list[int]] = {}
    for at, source in enumerate(sources):
        blocks.setdefault(source, []).append(at)
    for block in blocks.values():
        kind = kinds[block[0]]
        part = scaled[:, block]
        if kind == "text":
            total = part.sum(axis=1, keepdims=True)
            part = np.divide(part, total, out=part.copy(), where=total > 0)
        if kind in ("category", "text"):
            part = part / 2.0
        else:
            width = np.fmax.reduce(part, axis=0) - np.fmin.reduce(part, axis=0)
            part = part / np.where(width > 0, width, np.inf)
        scaled[:, block] = part * weights[block]
        shares[block] = weights[block] / len(block)
    return scaled, shares


def gower(features: Float, shares: Float) -> Float:
    """Return 1 - Gower's distance, float64 (n, n): symmetric, in [0, 1].

    Parameters
    ----------
    features : float64 (n, d)
        Scaled by :func:`gower_columns`. NaN where missing.
    shares : float64 (d,)
        What each contributes to the sum of the weights.

    Notes
    -----
    The distance of two items is the weighted mean of their differences in the columns that both
    have. It is 1 for two items that have no column in common. O(n^2 d).

    References
    ----------
    Gower (1971), "A general coefficient of similarity and some of its properties".
    """
    n = len(features)
    gaps = np.isnan(features)
    whole = ~gaps.any(axis=0)
    full = np.ascontiguousarray(features[:, whole])
    present = (~gaps[:, ~whole]).astype(np.float64)
    known = float(shares[whole].sum())
    found = np.empty((n, n))
    step = max(1, BLOCK_CELLS // max(1, n))
    for first in range(0, n, step):
        rows = slice(first, first + step)
        apart = (
            cdist(full[rows], full, "cityblock") if full.size else np.zeros((len(full[rows]), n))
        )
        common = known + (present[rows] * shares[~whole]) @ present.T
        for column in np.flatnonzero(~whole):
            difference = np.abs(features[rows, column, None] - features[:, column])
            apart += np.nan_to_num(difference, copy=False, nan=0.0)
        close = np.divide(apart, common, out=np.ones_like(apart), where=common > 0)
        found[rows] = np.clip(1.0 - close, 0.0, 1.0)
    found[np.diag_indices(n)] = 1.0
    return (found + found.T) / 2.0


__all__ = ["gower", "gower_columns"]
