"""A first order for items that no tree has ordered yet: like beside like."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Power steps: the order need not be exact, only smooth.
STEPS = 12
#: Above this many items the similarity is too large to multiply with; features are used, or none.
MOST = 4_000


def seriation(n: int, similarity: Any = None, features: Any = None) -> NDArray[np.int32]:
    """The items 0..n-1 in their order along the widest direction of the data, int32 (n,).

    The first principal component of the standardised features, or the leading eigenvector of the
    centred similarity; a fixed start makes it the same every time. File order without either, and
    among equals.
    """
    file_order = np.arange(n, dtype=np.int32)
    if isinstance(similarity, np.ndarray) and n <= MOST:
        matrix = np.nan_to_num(np.asarray(similarity, dtype=np.float32))

        def multiply(vector: NDArray[np.float64]) -> Any:
            return matrix @ vector
    elif features is not None and np.shape(features)[1]:
        values = np.asarray(features, dtype=np.float64)
        known = np.isfinite(values)
        count = np.maximum(known.sum(0), 1)
        centred = np.where(known, values - np.where(known, values, 0).sum(0) / count, 0)
        spread = np.sqrt((centred**2).sum(0) / count)
        centred /= np.where(spread > 0, spread, 1)

        def multiply(vector: NDArray[np.float64]) -> Any:
            return centred @ (centred.T @ vector)
    else:
        return file_order
    vector = np.random.default_rng(0).standard_normal(n)
    for _ in range(STEPS):
        vector = np.asarray(multiply(vector - vector.mean()), dtype=np.float64)
        vector -= vector.mean()
        length = np.linalg.norm(vector)
        if not length > 0:
            return file_order
        vector /= length
    if vector @ (file_order - file_order.mean()) < 0:
        vector = -vector
    return np.lexsort((file_order, vector.round(9))).astype(np.int32)
