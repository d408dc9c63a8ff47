"""Random comparisons from a similarity, each observed with probability p, some of them wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter, TooLarge
from hcviz.core.matrix_checks import check_square
from hcviz.core.triplets import Comparisons

Int = NDArray[np.int64]
Kind = Literal["triplets", "quadruplets"]

#: Largest number of comparisons in one array (1 GB). Use the stream for more.
MAX_COMPARISONS = 50_000_000
_CHUNK = 1 << 18


def count_comparisons(n: int, kind: Kind = "quadruplets") -> int:
    """Return the number of different questions about n items.

    Parameters
    ----------
    n : int
        Number of items.
    kind : {"quadruplets", "triplets"}
        As for :func:`stream_comparisons`.

    Returns
    -------
    int
        For triplets n C(n-1, 2), and for quadruplets C(C(n, 2), 2).

    Raises
    ------
    InvalidParameter
        If the kind is unknown.

    Examples
    --------
    >>> count_comparisons(4, "triplets"), count_comparisons(4)
    (12, 15)
    """
    if kind == "triplets":
        return n * math.comb(n - 1, 2)
    if kind == "quadruplets":
        return math.comb(math.comb(n, 2), 2)
    raise InvalidParameter(
        f"There is no kind of comparison {kind!r}.", "Known: triplets, quadruplets."
    )


def stream_comparisons(
    similarity: ArrayLike,
    p: float,
    kind: Kind = "quadruplets",
    eps: float = 1.0,
    seed: int | np.random.Generator = 0,
) -> Iterator[NDArray[np.int32]]:
    """Yield random comparisons in chunks of rows.

    Parameters
    ----------
    similarity : float (n, n)
        The true similarity.
    p : float
        Probability of each question to be observed, independently.
    kind : {"quadruplets", "triplets"}
        The question: which of two pairs is more alike, or which of two items is nearer to an
        anchor? Each question is asked at most once.
    eps : float
        An answer is right with probability (1 + eps)/2. Ghoshdastidar et al. (2019) have eps = 1.
    seed : int or numpy Generator
        Source of randomness.

    Yields
    ------
    int32 (m, 3) or (m, 4)
        Rows as in :class:`hcviz.Comparisons`, in a fixed order of the questions. For equal
        similarities, either answer has probability 1/2.

    Raises
    ------
    InvalidParameter
        If the kind is unknown, or a probability is not between 0 and 1.

    Notes
    -----
    Time and memory are proportional to the number of observed questions, since the gaps between
    these have a geometric distribution.

    References
    ----------
    Perrot, Esser and Ghoshdastidar (2020), section 2.

    Examples
    --------
    >>> chunks = list(stream_comparisons([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]], 1.0))
    >>> chunks[0].tolist()
    [[0, 1, 0, 2], [0, 1, 1, 2], [1, 2, 0, 2]]
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
        # A sum of such gaps can exceed int64. Remove the gaps after the last question.
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
    """Return random comparisons, some of them wrong, as one :class:`hcviz.Comparisons`.

    Parameters
    ----------
    similarity : float (n, n)
        The true similarity.
    p : float
        Probability of each question to be observed, independently.
    kind : {"quadruplets", "triplets"}
        As for :func:`stream_comparisons`.
    eps : float
        An answer is right with probability (1 + eps)/2.
    seed : int or numpy Generator
        Source of randomness.

    Returns
    -------
    Comparisons
        All rows of :func:`stream_comparisons`.

    Raises
    ------
    InvalidParameter
        If the kind is unknown, or a probability is not between 0 and 1.
    TooLarge
        If more than 50 million comparisons are expected.

    Notes
    -----
    Time and memory are proportional to the number of comparisons.

    Examples
    --------
    >>> len(sample_comparisons([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]], 1.0))
    3
    """
    w = check_square(similarity, "similarity")
    _check_rates(p, eps)
    expected = count_comparisons(len(w), kind) * p
    if expected > MAX_COMPARISONS:
        raise TooLarge(
            f"About {expected:,.0f} comparisons would be drawn; {MAX_COMPARISONS:,} is the limit.",
            "Lower p, or use stream_comparisons().",
        )
    empty = np.empty((0, 3 if kind == "triplets" else 4), np.int32)
    return Comparisons(np.concatenate([empty, *stream_comparisons(w, p, kind, eps, seed)]))


def sample_signs(
    similarity: ArrayLike, p: float, seed: int | np.random.Generator = 0
) -> NDArray[np.int8]:
    """Return random comparisons of pairs as a dense antisymmetric matrix of signs.

    Parameters
    ----------
    similarity : float (n, n)
        The true similarity.
    p : float
        Probability of each comparison to be observed.
    seed : int or numpy Generator
        Source of randomness.

    Returns
    -------
    int8 (M, M)
        M = n (n - 1) / 2 pairs, numbered as in :func:`unrank_pairs`. Cell (a, b) is 1 if pair a is
        more alike than pair b, -1 for the reverse, and 0 for a tie or no comparison.

    Raises
    ------
    TooLarge
        Above 300 items.

    Notes
    -----
    The matrix has M^2 bytes, 0.8 GB for 240 items. As rows, the comparisons at p = 0.1 would have
    1.3 GB.

    Examples
    --------
    >>> sample_signs([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]], 1.0).tolist()
    [[0, 1, 1], [-1, 0, -1], [-1, 1, 0]]
    """
    w = check_square(similarity, "similarity")
    _check_rates(p, 1.0)
    if len(w) > 300:
        raise TooLarge(
            f"A sign matrix over the pairs of {len(w):,} items is too large; 300 is the limit.",
            "Use sample_comparisons().",
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
    """Return the questions with these numbers.

    The rows are (i, j, r) with j < r, or (i, j, k, l) with i < j and k < l.
    """
    if kind == "triplets":
        anchor, rest = np.divmod(index, math.comb(n - 1, 2))
        low, high = unrank_pairs(rest)
        columns = [anchor, low + (low >= anchor), high + (high >= anchor)]
    else:
        first, second = unrank_pairs(index)
        columns = [*unrank_pairs(first), *unrank_pairs(second)]
    return np.stack(columns, axis=1).astype(np.int32)


def unrank_pairs(index: Int) -> tuple[Int, Int]:
    """Return the pairs (low, high) with the numbers high (high - 1) / 2 + low.

    For instance, 0 is (0, 1), 1 is (0, 2), and 2 is (1, 2).
    """
    high = ((1.0 + np.sqrt(1.0 + 8.0 * index)) / 2.0).astype(np.int64)
    high -= high * (high - 1) // 2 > index  # corrects rounding of the square root
    high += high * (high + 1) // 2 <= index
    return index - high * (high - 1) // 2, high


def _answered(
    w: NDArray[np.float64], rows: NDArray[np.int32], eps: float, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return the rows as answers, with the pair first that the answer calls more alike."""
    if rows.shape[1] == 3:
        gap = w[rows[:, 0], rows[:, 1]] - w[rows[:, 0], rows[:, 2]]
        swapped = rows[:, [0, 2, 1]]
    else:
        gap = w[rows[:, 0], rows[:, 1]] - w[rows[:, 2], rows[:, 3]]
        swapped = rows[:, [2, 3, 0, 1]]
    chance = rng.random(len(rows))
    keep = np.where(gap > 0, chance < (1 + eps) / 2, chance >= (1 + eps) / 2)
    keep = np.where(gap == 0, chance < 0.5, keep)
    return np.where(keep[:, None], rows, swapped)


__all__ = ["count_comparisons", "sample_comparisons", "sample_signs", "stream_comparisons"]
