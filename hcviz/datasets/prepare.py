"""From a raw table to finite, comparable numbers: named ways to fill gaps and to scale columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import feature_table
from hcviz.core.table_columns import column_mean

Float = NDArray[np.float64]

#: Neighbours that "knn" averages over.
NEIGHBOURS = 5


# ---------------------------------------------------------------------- missing cells


def _column_median(features: Float) -> Float:
    filled = features.copy()
    for column in filled.T:
        gaps = np.isnan(column)
        column[gaps] = np.median(column[~gaps]) if not gaps.all() else 0.0
    return filled


def _nearest(features: Float) -> Float:
    from sklearn.impute import KNNImputer  # half a second to import: only when asked for

    # Distances between rows mean little while one column is in grams and the next in tonnes.
    middle, spread = _moments(features)
    imputer = KNNImputer(n_neighbors=NEIGHBOURS, keep_empty_features=True)
    guessed = imputer.fit_transform((features - middle) / spread) * spread + middle
    return np.where(np.isnan(features), guessed, features)


#: Name -> (what a person reads, function of float64 (n, d) with NaN to the same without).
MISSING: dict[str, tuple[str, Callable[[Float], Float]]] = {
    "column-mean": ("Column mean", column_mean),
    "column-median": ("Column median", _column_median),
    "knn": (f"Mean of the {NEIGHBOURS} nearest rows", _nearest),
}


def fill_missing(features: ArrayLike, method: str = "column-mean") -> Float:
    """The features, float64 (n, d), with each NaN replaced; all else stays as it is.

    ``method`` is one of ``MISSING``: ``column-mean``, ``column-median``, or ``knn``, the mean over
    the five rows nearest on the columns that both have (z-scored, scikit-learn's KNNImputer). A
    column without any value becomes 0. O(nd); ``knn`` O(n^2 d).

    Raises :class:`InvalidParameter` for an unknown method, :class:`InvalidData` for anything that
    is not an (n, d) array of numbers.
    """
    if method not in MISSING:
        raise InvalidParameter(
            f"There is no way to fill missing cells called {method!r}.",
            f"Known: {', '.join(MISSING)}.",
        )
    array = feature_table(features)
    return MISSING[method][1](array) if np.isnan(array).any() else array


# ---------------------------------------------------------------------- scaling


def _zscore(features: Float) -> Float:
    middle, spread = _moments(features)
    return (features - middle) / spread


def _centred(features: Float) -> Float:
    return features - _moments(features)[0]


def _range(features: Float) -> Float:
    if features.size == 0:
        return features
    low: Float = np.fmin.reduce(features, axis=0)
    width: Float = np.fmax.reduce(features, axis=0) - low
    return (features - low) / np.where(width > 0, width, 1.0)


def _as_they_are(features: Float) -> Float:
    return features


#: Name -> (what a person reads, function of float64 (n, d) to float64 (n, d)); NaN stays NaN.
SCALINGS: dict[str, tuple[str, Callable[[Float], Float]]] = {
    "zscore": ("z-scores", _zscore),
    "range": ("0 to 1", _range),
    "centred": ("Centred", _centred),
    "none": ("As they are", _as_they_are),
}


def scale_features(features: ArrayLike, kind: str = "zscore") -> Float:
    """The features, float64 (n, d), with comparable columns; missing cells stay NaN. O(nd).

    ``kind`` is one of ``SCALINGS``. ``zscore``, the default: mean 0 and standard deviation 1, so
    that no unit of measurement decides; a constant column becomes 0 and so has no say. ``range``:
    each column from 0 to 1 (constant: 0). ``centred``: mean 0, units kept. ``none``: as they are.

    Raises :class:`InvalidParameter` for an unknown kind.
    """
    if kind not in SCALINGS:
        raise InvalidParameter(
            f"There is no scaling called {kind!r}.", f"Known: {', '.join(SCALINGS)}."
        )
    return SCALINGS[kind][1](feature_table(features))


def _moments(features: Float) -> tuple[Float, Float]:
    """Mean and standard deviation of each column's present cells; 1 where it does not vary."""
    present = ~np.isnan(features)
    count = np.maximum(present.sum(axis=0), 1)
    middle = np.where(present, features, 0.0).sum(axis=0) / count
    gap = np.where(present, features - middle, 0.0)
    spread = np.sqrt((gap**2).sum(axis=0) / count)
    # Below this a column differs from a constant by no more than rounding does.
    noise = 1e-12 * np.abs(middle)
    constant = spread <= noise
    return middle, np.where(constant, 1.0, spread)


__all__ = ["MISSING", "SCALINGS", "fill_missing", "scale_features"]
