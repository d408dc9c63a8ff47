"""A simulated oracle: it knows the similarities, tells only signs, and counts what it is asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import check_square


class SignOracle:
    """A :class:`hcviz.core.problem.ComparisonOracle` over a hidden similarity, float64 (n, n).

    Each answer is right with probability (1 + ``eps``)/2, independently, also when a question is
    repeated; equal similarities are told as ties. ``asked`` counts the questions.
    """

    def __init__(
        self, similarity: ArrayLike, eps: float = 1.0, seed: int | np.random.Generator = 0
    ) -> None:
        if not 0 <= eps <= 1:
            raise InvalidParameter(f"eps must be between 0 and 1, not {eps}.")
        self._similarity = check_square(similarity, "similarity")
        self._eps = eps
        self._rng = np.random.default_rng(seed)
        self.n_items = len(self._similarity)
        self.asked = 0

    def compare(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int8]:
        """+1 where pair ``first[i]`` is said to be more alike, -1 where less, 0 for a tie."""
        w = self._similarity
        self.asked += len(first)
        sign = np.sign(w[first[:, 0], first[:, 1]] - w[second[:, 0], second[:, 1]])
        if self._eps < 1:
            sign *= np.where(self._rng.random(len(first)) < (1 + self._eps) / 2, 1, -1)
        return sign.astype(np.int8)


__all__ = ["SignOracle"]
