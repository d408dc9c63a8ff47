"""The two kinds of oracles that a problem can have."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.validation import check_integer

Float = NDArray[np.float64]


@runtime_checkable
class SimilarityOracle(Protocol):
    """An oracle that returns the similarities of items; they are symmetric.

    The similarity of an item to itself has no meaning.

    Attributes
    ----------
    n_items : int
        Number of items.
    cheap : bool, optional
        True: asking again is faster than caching. Otherwise a run caches the answers and asks for
        each pair once.
    thread_safe : bool, optional
        True: several threads may call the oracle at once.
    symmetric : bool, optional
        True: the oracle is known to be symmetric. Otherwise some pairs are asked in both orders.
    all_at_once : bool, optional
        True: methods that need a full matrix may ask for all similarities.
    pictures : bool, optional
        True: a heatmap may ask for about ten thousand similarities more than the method.

    Notes
    -----
    All optional attributes are False by default. If a call is expensive whatever its size, the
    oracle should also have ``paired_similarity(first, second)``: the similarities of ``first[i]``
    with ``second[i]``, shape (len(first),). Then a request that is partly cached needs one call.
    """

    n_items: int

    def similarity(self, rows: NDArray[np.int32], cols: NDArray[np.int32]) -> Float:
        """Return similarities, float64 (len(rows), len(cols))."""
        ...


@runtime_checkable
class ComparisonOracle(Protocol):
    """An oracle that tells which of two pairs of items is more similar."""

    n_items: int

    def compare(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int8]:
        """Return +1 where pair ``first[i]`` is more similar than ``second[i]``, -1 where less.

        Both are int32 (m, 2); the answer is int8 (m,), 0 for a tie.
        """
        ...


def check_oracle(oracle: Any) -> int:
    """Check that an object is an oracle, and return its number of items."""
    if not isinstance(oracle, SimilarityOracle | ComparisonOracle):
        raise InvalidData(
            f"An oracle needs n_items and a method similarity or compare; {oracle!r} lacks them.",
            "See hcviz.core.oracle_protocols.SimilarityOracle and ComparisonOracle.",
        )
    return check_integer(oracle.n_items, "The oracle's n_items", InvalidData, 1)


__all__ = ["ComparisonOracle", "SimilarityOracle", "check_oracle"]
