"""``SignOracle``: a simulated oracle that compares hidden similarities and returns signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.matrix_checks import check_square


class SignOracle:
    """An oracle that compares pairs of items by a hidden similarity matrix.

    It is a :class:`hcviz.core.oracle_protocols.ComparisonOracle`.

    Parameters
    ----------
    similarity : float64 (n, n)
        The hidden similarities, symmetric and finite.
    eps : float
        Each answer is right with probability (1 + ``eps``) / 2, independently; also when a
        question is repeated.
    seed : int or numpy Generator
        Source of the errors.

    Attributes
    ----------
    n_items : int
        Number of items, n.
    asked : int
        Number of questions so far.

    Raises
    ------
    InvalidParameter
        ``eps`` is not between 0 and 1.
    InvalidData
        The similarities are not valid.

    References
    ----------
    Perrot, Esser and Ghoshdastidar (2020), section 2: the model of wrong answers.

    Examples
    --------
    >>> oracle = SignOracle([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
    >>> oracle.compare(np.array([[0, 1]]), np.array([[0, 2]])).tolist(), oracle.asked
    ([1], 1)
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
        """Compare pairs of items.

        Parameters
        ----------
        first, second : int32 (m, 2)
            Pairs of items. Question r compares ``first[r]`` with ``second[r]``.

        Returns
        -------
        int8 (m,)
            +1 where the first pair is more similar, -1 where less, 0 for a tie.

        Examples
        --------
        >>> oracle = SignOracle([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
        >>> oracle.compare(np.array([[0, 2], [0, 2]]), np.array([[1, 2], [2, 0]])).tolist()
        [-1, 0]
        """
        w = self._similarity
        self.asked += len(first)
        sign = np.sign(w[first[:, 0], first[:, 1]] - w[second[:, 0], second[:, 1]])
        if self._eps < 1:
            sign *= np.where(self._rng.random(len(first)) < (1 + self._eps) / 2, 1, -1)
        return sign.astype(np.int8)


__all__ = ["SignOracle"]
