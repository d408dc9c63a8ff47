"""``SignOracle``: a simulated oracle that compares hidden similarities and returns signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import check_square


class SignOracle:
    """A :class:`hcviz.core.problem.ComparisonOracle` over a hidden similarity matrix.

    Parameters
    ----------
    similarity : float64 (n, n)
        The hidden similarities.
    eps : float
        Each answer is right with probability (1 + ``eps``) / 2, independently; also when a
        question is repeated.
    seed : int or numpy Generator
        Source of the errors.

    Attributes
    ----------
    asked : int
        Number of questions so far.
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
        """Compare pairs: +1 where ``first[i]`` is more similar, -1 where less, 0 for a tie.

        Both are int32 (m, 2); the answer is int8 (m,).
        """
        w = self._similarity
        self.asked += len(first)
        sign = np.sign(w[first[:, 0], first[:, 1]] - w[second[:, 0], second[:, 1]])
        if self._eps < 1:
            sign *= np.where(self._rng.random(len(first)) < (1 + self._eps) / 2, 1, -1)
        return sign.astype(np.int8)


__all__ = ["SignOracle"]
