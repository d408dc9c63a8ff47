"""Filling of missing cells, and scaling of columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.matrix_checks import feature_table
from hcviz.core.table_columns import column_mean

Float = NDArray[np.float64]

#: Number of neighbours for "knn".
NEIGHBOURS = 5


# ---------------------------------------------------------------------- missing cells


def _column_median(features: Float) -> Float:
    filled = features.copy()
    for column in filled.T:
        gaps = np.isnan(column)
        column[gaps] = np.median(column[~gaps]) if not gaps.all() else 0.0
    return filled


def _nearest(features: Float) -> Float:
    from sklearn.impute import KNNImputer  # slow to import

    # Distances between rows need columns of equal scale.
    middle, spread = _moments(features)
    imputer = KNNImputer(n_neighbors=NEIGHBOURS, keep_empty_features=True)
    guessed = imputer.fit_transform((features - middle) / spread) * spread + middle
    return np.where(np.isnan(features), guessed, features)


#: Name -> (title, function from float64 (n, d) with NaN to the same without NaN).
MISSING: dict[str, tuple[str, Callable[[Float], Float]]] = {
    "column-mean": ("Column mean", column_mean),
    "column-median": ("Column median", _column_median),
    "knn": (f"Mean of the {NEIGHBOURS} nearest rows", _nearest),
}


def fill_missing(features: ArrayLike, method: str = "column-mean") -> Float:
    """Return the features with each NaN replaced.

    Parameters
    ----------
    features : float (n, d)
        Features, NaN for missing cells.
    method : str
        One of ``MISSING``: ``column-mean``, ``column-median``, or ``knn``. The last is the mean of
        the five nearest rows, on z-scores of the columns that both rows have (scikit-learn's
        KNNImputer).

    Returns
    -------
    float64 (n, d)
        The features. A column without any value becomes 0.

    Raises
    ------
    InvalidParameter
        If the method is unknown.
    InvalidData
        If the features are not an (n, d) array of numbers.

    Notes
    -----
    O(nd), or O(n^2 d) for ``knn``.

    Examples
    --------
    >>> import numpy as np
    >>> fill_missing([[1.0], [np.nan], [3.0]]).ravel().tolist()
    [1.0, 2.0, 3.0]
    """
    if method not in MISSING:
        raise InvalidParameter(
            f"There is no method {method!r} for missing cells.",
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


#: Name -> (title, function from float64 (n, d) to float64 (n, d)). NaN stays NaN.
SCALINGS: dict[str, tuple[str, Callable[[Float], Float]]] = {
    "zscore": ("z-scores", _zscore),
    "range": ("0 to 1", _range),
    "centred": ("Centred", _centred),
    "none": ("As they are", _as_they_are),
}


def scale_features(features: ArrayLike, kind: str = "zscore") -> Float:
    """Return the features with scaled columns. O(nd).

    Parameters
    ----------
    features : float (n, d)
        Features, NaN for missing cells.
    kind : str
        One of ``SCALINGS``. ``zscore``: mean 0 and standard deviation 1, so that units have no
        effect. ``range``: from 0 to 1. ``centred``: mean 0. ``none``: no scaling.

    Returns
    -------
    float64 (n, d)
        The scaled features. A constant column becomes 0, except with ``none``. NaN stays NaN.

    Raises
    ------
    InvalidParameter
        If the kind is unknown.

    Examples
    --------
    >>> scale_features([[1.0], [3.0]], "range").ravel().tolist()
    [0.0, 1.0]
    """
    if kind not in SCALINGS:
        raise InvalidParameter(f"There is no scaling {kind!r}.", f"Known: {', '.join(SCALINGS)}.")
    return SCALINGS[kind][1](feature_table(features))


def _moments(features: Float) -> tuple[Float, Float]:
    """Return mean and standard deviation of each column, or 1 for a constant column."""
    present = ~np.isnan(features)
    count = np.maximum(present.sum(axis=0), 1)
    middle = np.where(present, features, 0.0).sum(axis=0) / count
    gap = np.where(present, features - middle, 0.0)
    spread = np.sqrt((gap**2).sum(axis=0) / count)
    # A smaller spread is an effect of rounding.
    noise = 1e-12 * np.abs(middle)
    constant = spread <= noise
    return middle, np.where(constant, 1.0, spread)


__all__ = ["MISSING", "SCALINGS", "fill_missing", "scale_features"]
