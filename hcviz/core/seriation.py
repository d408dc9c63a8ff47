"""Order items so that similar items are neighbours, before there is a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Power iterations. An approximate order is enough.
STEPS = 12
#: Above this number of items the similarity matrix is not used, since products take too long.
MAX_ITEMS = 4_000


def seriation(n: int, similarity: Any = None, features: Any = None) -> NDArray[np.int32]:
    """Order the items along the direction of greatest variance.

    Parameters
    ----------
    n : int
        Number of items.
    similarity : float (n, n) or None
        If given (and n is at most 4,000), its leading eigenvector after centring gives the order.
    features : float (n, d) or None
        Otherwise the first principal component of the standardised features gives the order.

    Returns
    -------
    int32 (n,)
        The items 0..n-1. Without data, and among equal items, the order of the file.

    Notes
    -----
    Deterministic: the power iterations start at a fixed vector.
    """
    file_order = np.arange(n, dtype=np.int32)
    if isinstance(similarity, np.ndarray) and n <= MAX_ITEMS:
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
