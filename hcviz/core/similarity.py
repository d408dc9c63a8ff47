"""Similarities computed from features; ``SIMILARITIES`` lists them by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from hcviz.core.errors import InvalidParameter
from hcviz.core.gower import gower, gower_columns

Float = NDArray[np.float64]


def zscore(features: Float) -> Float:
    """Scale columns to mean 0 and standard deviation 1; constant columns become 0."""
    return scaled(features, features.mean(axis=0), features.std(axis=0))


def scaled(features: Float, mean: Float, deviation: Float) -> Float:
    """Subtract ``mean`` from each column and divide by ``deviation``; constant columns become 0."""
    centred = features - mean
    rounding_error = 1e-12 * np.abs(mean)  # the deviation of a constant column
    return np.divide(
        centred, deviation, out=np.zeros_like(centred), where=deviation > rounding_error
    )


def cosine(features: Float, factors: Float | float = 1.0) -> Float:
    """Return the cosine of each two rows; 0 if one of them is all zeros."""
    features = features * factors
    length = np.linalg.norm(features, axis=1, keepdims=True)
    unit = np.divide(features, length, out=np.zeros_like(features), where=length > 0)
    return np.clip(unit @ unit.T, -1.0, 1.0)


def cosine_zscored(features: Float, factors: Float | float = 1.0) -> Float:
    """Return (1 + cosine) / 2 of the z-scored rows, in [0, 1]."""
    return (1.0 + cosine(zscore(features) * factors)) / 2.0


def gaussian(features: Float, factors: Float | float = 1.0) -> Float:
    """Return exp(-d^2 / 2h^2), d the Euclidean distance of the z-scored rows.

    h is the median distance to the 7th neighbour. If that is 0, it is the median positive
    distance.

    References
    ----------
    Zelnik-Manor and Perona (2004), "Self-tuning spectral clustering"; here with one width for all
    items.
    """
    distance = pdist(zscore(features) * factors)
    square = squareform(distance)
    to_seventh = np.sort(square, axis=1)[:, min(7, len(features) - 1)]
    width = float(np.median(to_seventh))
    if width <= 0:
        positive = distance[distance > 0]
        width = float(np.median(positive)) if positive.size else 1.0
    return np.exp(-(square**2) / (2.0 * width**2))


def correlation(features: Float, factors: Float | float = 1.0) -> Float:
    """Return (1 + Pearson correlation of the rows) / 2, in [0, 1].

    The correlation with a constant row is 0.
    """
    features = features * factors
    mean = features.sum(axis=1, keepdims=True) / max(features.shape[1], 1)
    return (1.0 + cosine(features - mean)) / 2.0


def euclidean(features: Float, factors: Float | float = 1.0) -> Float:
    """Return (max d - d) / max d, d the Euclidean distance of the z-scored rows."""
    return from_distance(squareform(pdist(zscore(features) * factors)))


def from_distance(distance: Float) -> Float:
    """Convert a distance matrix to similarities: (max d - d) / max d, in [0, 1]."""
    top = float(distance.max(initial=0.0))
    return (top - distance) / top if top > 0 else np.ones_like(distance)


def magnitude(matrix: Float) -> float:
    """Return the power of ten nearest to the mean absolute similarity; 1 if that is 0.

    Estimated from about 100 rows and columns of the float64 (n, n) matrix.
    """
    step = max(1, len(matrix) // 100)
    typical = float(np.abs(matrix[::step, ::step]).mean())
    return float(10.0 ** np.round(np.log10(typical))) if typical > 0 else 1.0


def gower_of_numbers(features: Float, factors: Float | float = 1.0) -> Float:
    """Return 1 - Gower's distance of rows of numbers, with the squared factors as weights."""
    width = features.shape[1]
    weights = np.broadcast_to(np.square(factors), width)
    names = [str(k) for k in range(width)]
    return gower(*gower_columns(features, ["number"] * width, names, weights))


#: The similarity of features if no other one is measured or chosen (docs/distances.md).
DEFAULT_SIMILARITY = "cosine-z"

#: Name -> (title on the page, function of float64 (n, d) and factors to float64 (n, n)). The
#: columns are multiplied by the factors after their scaling.
SIMILARITIES: dict[str, tuple[str, Callable[[Float, Float | float], Float]]] = {
    "cosine-z": ("Cosine, z-scored", cosine_zscored),
    "cosine": ("Cosine, raw", cosine),
    "gaussian": ("Gaussian", gaussian),
    "correlation": ("Correlation", correlation),
    "euclidean": ("Euclidean, turned round", euclidean),
    "gower": ("Gower, for mixed columns", gower_of_numbers),
}


def similarity_text(kind: str = DEFAULT_SIMILARITY) -> str:
    """Return a phrase for a kind of similarity: "cosine of the z-scored columns"."""
    if kind == DEFAULT_SIMILARITY:
        return "cosine of the z-scored columns"
    return f"similarity {SIMILARITIES[kind][0]!r}"


def similarity_from_features(
    features: Float, kind: str = DEFAULT_SIMILARITY, factors: Float | float = 1.0
) -> Float:
    """Compute the similarity matrix of the rows.

    Parameters
    ----------
    features : float64 (n, d)
        One row for each item.
    kind : str
        A name in ``SIMILARITIES``.
    factors : float64 (d,)
        The columns are multiplied by these after their scaling.

    Returns
    -------
    float64 (n, n)
        Symmetric.

    Raises
    ------
    InvalidParameter
        The name is unknown.

    Notes
    -----
    O(n^2 d).

    Examples
    --------
    >>> import numpy as np
    >>> similarity_from_features(np.array([[0.0, 1.0], [0.0, 2.0]]), "cosine").tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if kind not in SIMILARITIES:
        known = ", ".join(SIMILARITIES)
        raise InvalidParameter(f"There is no similarity {kind!r}.", f"Known: {known}.")
    matrix = SIMILARITIES[kind][1](np.asarray(features, dtype=np.float64), factors)
    return (matrix + matrix.T) / 2.0
