"""Similarities of feature rows. The choice is always visible: a name in ``SIMILARITIES``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from hcviz.core.errors import InvalidParameter

Float = NDArray[np.float64]


def zscore(features: Float) -> Float:
    """Columns to mean 0 and standard deviation 1; constant columns become 0."""
    return scaled(features, features.mean(axis=0), features.std(axis=0))


def scaled(features: Float, middle: Float, spread: Float) -> Float:
    """Columns less their ``middle``, over their ``spread``, float64 (d,) each; 0 where that is."""
    centred = features - middle
    noise = 1e-12 * np.abs(middle)  # what rounding leaves of a constant, whatever its unit
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > noise)


def cosine(features: Float) -> Float:
    """Cosine of the rows as they are; a row of zeros has cosine 0 with everything."""
    length = np.linalg.norm(features, axis=1, keepdims=True)
    unit = np.divide(features, length, out=np.zeros_like(features), where=length > 0)
    return np.clip(unit @ unit.T, -1.0, 1.0)


def cosine_zscored(features: Float) -> Float:
    """(1 + cosine of the z-scored rows) / 2, in [0, 1]."""
    return (1.0 + cosine(zscore(features))) / 2.0


def gaussian(features: Float) -> Float:
    """exp(-d^2 / 2h^2) of the z-scored rows, h the median distance to the 7th neighbour.

    The width follows Zelnik-Manor and Perona (2004), with one width for all items. Where more than
    half the items have seven duplicates that is 0: the median positive distance then.
    """
    distance = pdist(zscore(features))
    square = squareform(distance)
    near = np.sort(square, axis=1)[:, min(7, len(features) - 1)]
    width = float(np.median(near))
    if width <= 0:
        positive = distance[distance > 0]
        width = float(np.median(positive)) if positive.size else 1.0
    return np.exp(-(square**2) / (2.0 * width**2))


def correlation(features: Float) -> Float:
    """(1 + Pearson correlation of the rows) / 2, in [0, 1]; a constant row counts as 0."""
    middle = features.sum(axis=1, keepdims=True) / max(features.shape[1], 1)
    return (1.0 + cosine(features - middle)) / 2.0


def euclidean(features: Float) -> Float:
    """Euclidean distance of the z-scored rows turned round: (max d - d) / max d, in [0, 1]."""
    return from_distance(squareform(pdist(zscore(features))))


def from_distance(distance: Float) -> Float:
    """A distance matrix turned round: (max d - d) / max d, in [0, 1]."""
    top = float(distance.max(initial=0.0))
    return (top - distance) / top if top > 0 else np.ones_like(distance)


def magnitude(matrix: Float) -> float:
    """A power of ten about as large as the similarities, float64 (n, n): of a hundred items or so,
    1 where they are 0."""
    step = max(1, len(matrix) // 100)
    typical = float(np.abs(matrix[::step, ::step]).mean())
    return float(10.0 ** np.round(np.log10(typical))) if typical > 0 else 1.0


#: Name -> (what a person reads, function of float64 (n, d) to float64 (n, n)).
SIMILARITIES: dict[str, tuple[str, Callable[[Float], Float]]] = {
    "cosine-z": ("Cosine, z-scored", cosine_zscored),
    "cosine": ("Cosine, raw", cosine),
    "gaussian": ("Gaussian", gaussian),
    "correlation": ("Correlation", correlation),
    "euclidean": ("Euclidean, turned round", euclidean),
}


def similarity_from_features(features: Float, kind: str = "cosine-z") -> Float:
    """Similarity matrix of the rows, float64 (n, n), symmetric; O(n^2 d).

    Raises :class:`InvalidParameter` for a name that is not in ``SIMILARITIES``.
    """
    if kind not in SIMILARITIES:
        known = ", ".join(SIMILARITIES)
        raise InvalidParameter(f"There is no similarity {kind!r}.", f"Known: {known}.")
    matrix = SIMILARITIES[kind][1](np.asarray(features, dtype=np.float64))
    return (matrix + matrix.T) / 2.0
