"""Choose the next three items to ask about where the answer is a comparison."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Source = Literal["seldom", "any"]

#: ``seldom`` draws from the 1 / SHARE of the items that were seen least.
SHARE = 3
#: Number of random draws before all remaining triples are listed.
TRIES = 60


def next_triple(
    seen: NDArray[np.int64],
    rng: np.random.Generator,
    asked: Collection[frozenset[int]] = (),
    source: Source = "seldom",
) -> tuple[int, int, int] | None:
    """Return three items in random order that were not asked about, or None if none are left.

    Parameters
    ----------
    seen : ndarray of int64, shape (n,)
        How often each item was compared.
    rng : numpy.random.Generator
        Draws the items.
    asked : collection of frozenset of int
        The triples that were asked before.
    source : {"seldom", "any"}
        ``seldom`` draws from the third of the items that were seen least, and at least three items;
        ties are broken at random. It uses all items if every triple of these was asked. ``any``
        draws from all items.

    Returns
    -------
    tuple of int, or None

    Notes
    -----
    O(n log n); O(n^3) once almost all triples were asked.
    """
    n = len(seen)
    if n < 3 or len(asked) >= math.comb(n, 3):
        return None
    least = np.lexsort((rng.random(n), seen))
    pools = [least[: max(3, math.ceil(n / SHARE))]] if source == "seldom" else []
    for pool in [*pools, np.arange(n)]:
        for _ in range(TRIES):
            three = [int(item) for item in rng.choice(pool, 3, replace=False)]
            if frozenset(three) not in asked:
                return three[0], three[1], three[2]
    left = [t for t in itertools.combinations(range(n), 3) if frozenset(t) not in asked]
    if not left:
        return None
    three = [left[int(rng.integers(len(left)))][k] for k in rng.permutation(3)]
    return three[0], three[1], three[2]


__all__ = ["Source", "next_triple"]
