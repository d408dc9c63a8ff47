"""Comparisons drawn from a hidden similarity, each seen with probability p, some of them wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter, TooLarge
from hcviz.core.problem import check_square
from hcviz.core.triplets import Comparisons

Int = NDArray[np.int64]
Kind = Literal["triplets", "quadruplets"]

#: More than this many comparisons are refused as one array (1 GB); stream them instead.
MAX_COMPARISONS = 50_000_000
_CHUNK = 1 << 18


def count_comparisons(n: int, kind: Kind = "quadruplets") -> int:
    """How many different comparisons n items have: n C(n-1, 2) or C(C(n, 2), 2)."""
    if kind == "triplets":
        return n * math.comb(n - 1, 2)
    if kind == "quadruplets":
        return math.comb(math.comb(n, 2), 2)
    raise InvalidParameter(
        f"There are no comparisons called {kind!r}.", "Known: triplets, quadruplets."
    )


def stream_comparisons(
    similarity: ArrayLike,
    p: float,
    kind: Kind = "quadruplets",
    eps: float = 1.0,
    seed: int | np.random.Generator = 0,
) -> Iterator[NDArray[np.int32]]:
    """Comparisons as chunks of rows, int32 (m, 3) or (m, 4), in a fixed order of the pairs asked.

    Every unordered question (anchor i: is j or r nearer? or: which of two pairs is more alike?) is
    asked at most once: independently seen with probability ``p``, answered rightly with probability
    (1 + eps)/2 (Perrot et al. 2020, section 2; Ghoshdastidar et al. (2019) has eps = 1). Equal
    similarities get either answer with probability 1/2, as the model has none. Rows read as
    :class:`hcviz.Comparisons`.

    Time and memory go with what is seen, p times the number of questions, not with the n^4 of them:
    the gaps between seen questions are geometric.
    """
    w = check_square(similarity, "similarity")
    n = len(w)
    total = count_comparisons(n, kind)
    _check_rates(p, eps)
    if p == 0 or total == 0:
        return
    rng = np.random.default_rng(seed)
    at = -1
    chunk = int(min(_CHUNK, max(1024, total * p * 1.1)))
    while True:
        gaps = np.minimum(rng.geometric(p, size=chunk), total + 1)
        # A running sum of gaps up to the number of questions can pass int64: stop where it is past.
        steps = np.cumsum(gaps, dtype=np.float64)
        gaps = gaps[: int(np.searchsorted(steps, 2.0 * total)) + 1]
        seen = at + np.cumsum(gaps)
        inside = seen[seen < total]
        if inside.size:
            yield _answered(w, _questions(inside, n, kind), eps, rng)
        if inside.size < chunk:
            return
        at = int(inside[-1])


def sample_comparisons(
    similarity: ArrayLike,
    p: float,
    kind: Kind = "quadruplets",
    eps: float = 1.0,
    seed: int | np.random.Generator = 0,
) -> Comparisons:
    """All of :func:`stream_comparisons` as one :class:`hcviz.Comparisons`.

    Raises :class:`TooLarge` where more than 50 million are to be expected.
    """
    w = check_square(similarity, "similarity")
    _check_rates(p, eps)
    expected = count_comparisons(len(w), kind) * p
    if expected > MAX_COMPARISONS:
        raise TooLarge(
            f"About {expected:,.0f} comparisons would be drawn; {MAX_COMPARISONS:,} is the limit.",
            "Lower p, or take them in chunks from stream_comparisons().",
        )
    empty = np.empty((0, 3 if kind == "triplets" else 4), np.int32)
    return Comparisons(np.concatenate([empty, *stream_comparisons(w, p, kind, eps, seed)]))


def sample_signs(
    similarity: ArrayLike, p: float, seed: int | np.random.Generator = 0
) -> NDArray[np.int8]:
    """Comparisons of pairs as a dense antisymmetric sign matrix, int8 (M, M), M = n (n - 1) / 2.

    Cell (a, b), pairs numbered as :func:`unrank_pairs` does, is 1 where a was seen to be the more
    alike, -1 where b was, 0 where they were not compared (or tie); each comparison is seen with
    probability ``p``. M^2 bytes: 0.8 GB for 240 items, where p = 0.1 is 1.3 GB of rows. Raises
    :class:`TooLarge` above 300 items.
    """
    w = check_square(similarity, "similarity")
    _check_rates(p, 1.0)
    if len(w) > 300:
        raise TooLarge(
            f"A sign matrix over the pairs of {len(w):,} items is too large; 300 is the limit.",
            "Take rows from sample_comparisons().",
        )
    rng = np.random.default_rng(seed)
    low, high = unrank_pairs(np.arange(math.comb(len(w), 2)))
    values = w[low, high]
    table = np.zeros((len(values),) * 2, np.int8)
    for at in range(len(values)):
        sign = np.sign(values[at] - values[:at]).astype(np.int8)
        if p < 1:
            sign *= rng.random(at, dtype=np.float32) < p
        table[at, :at] = sign
        table[:at, at] = -sign
    return table


def _check_rates(p: float, eps: float) -> None:
    for name, value in (("p", p), ("eps", eps)):
        if not 0 <= value <= 1:
            raise InvalidParameter(f"{name} must be between 0 and 1, not {value}.")


def _questions(index: Int, n: int, kind: Kind) -> NDArray[np.int32]:
    """The questions with these numbers; rows (i, j, r) with j < r, or (i, j, k, l), i<j and k<l."""
    if kind == "triplets":
        anchor, rest = np.divmod(index, math.comb(n - 1, 2))
        low, high = unrank_pairs(rest)
        columns = [anchor, low + (low >= anchor), high + (high >= anchor)]
    else:
        first, second = unrank_pairs(index)
        columns = [*unrank_pairs(first), *unrank_pairs(second)]
    return np.stack(columns, axis=1).astype(np.int32)


def unrank_pairs(index: Int) -> tuple[Int, Int]:
    """The pairs (low, high) numbered high(high - 1)/2 + low: 0 is (0, 1), 1 is (0, 2), 2 (1, 2)."""
    high = ((1.0 + np.sqrt(1.0 + 8.0 * index)) / 2.0).astype(np.int64)
    high -= high * (high - 1) // 2 > index  # the root may be off by a rounding
    high += high * (high + 1) // 2 <= index
    return index - high * (high - 1) // 2, high


def _answered(
    w: NDArray[np.float64], rows: NDArray[np.int32], eps: float, rng: np.random.Generator
) -> NDArray[np.int32]:
    """The rows with the pair that was said to be more alike put first."""
    if rows.shape[1] == 3:
        gap = w[rows[:, 0], rows[:, 1]] - w[rows[:, 0], rows[:, 2]]
        turned = rows[:, [0, 2, 1]]
    else:
        gap = w[rows[:, 0], rows[:, 1]] - w[rows[:, 2], rows[:, 3]]
        turned = rows[:, [2, 3, 0, 1]]
    chance = rng.random(len(rows))
    first_is_said = np.where(gap > 0, chance < (1 + eps) / 2, chance >= (1 + eps) / 2)
    first_is_said = np.where(gap == 0, chance < 0.5, first_is_said)
    return np.where(first_is_said[:, None], rows, turned)


__all__ = ["count_comparisons", "sample_comparisons", "sample_signs", "stream_comparisons"]
