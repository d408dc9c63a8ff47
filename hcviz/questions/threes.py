"""Which three items to ask about next, where the answer is a comparison."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Source = Literal["seldom", "any"]

#: Seldom seen is the third of the items that were seen least.
SHARE = 3
#: Draws before the triples that are left are listed.
TRIES = 60


def next_three(
    seen: NDArray[np.int64],
    rng: np.random.Generator,
    asked: Collection[frozenset[int]] = (),
    source: Source = "seldom",
) -> tuple[int, int, int] | None:
    """Three items in random order, as a set not among ``asked``; None where all sets are.

    ``seen`` int64 (n,) is how often each item was compared. ``seldom`` draws them from the third of
    the items (three at least) that were seen least, ties by chance, and from all items where every
    triple of those was asked; ``any`` from all. O(n log n), and O(n^3) once nearly all were asked.
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


__all__ = ["Source", "next_three"]
