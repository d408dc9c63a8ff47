"""Queries to a comparison oracle: all are counted, and none is repeated within a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.problem import Problem
from hcviz.core.sign_oracle import SignOracle

#: The most items: above, about ten arrays over all pairs take a gigabyte.
MAX_QUERY_ITEMS = 5_000

Int = NDArray[np.int64]


def pairs_of(index: Int, n: int) -> NDArray[np.int32]:
    """Return the pairs (low, high) with these numbers in row order of the upper triangle; int32 (m,
    2)."""
    rows, columns = np.triu_indices(n, 1)
    return np.stack([rows[index], columns[index]], axis=1).astype(np.int32)


class Asker:
    """Asks a :class:`hcviz.core.oracle_protocols.ComparisonOracle`, and counts the questions."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = oracle
        self.count = 0

    def __call__(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int8]:
        """Return +1, 0 or -1 for each row of pairs: int8 (m,)."""
        if not len(first):
            return np.empty(0, np.int8)
        self.count += len(first)
        answers = np.asarray(self.oracle.compare(first, second))
        if answers.shape != (len(first),) or not np.isin(answers, (-1, 0, 1)).all():
            raise InvalidData(
                f"The oracle was asked {len(first)} questions and must answer each with 1, 0 or "
                f"-1; it gave {answers.dtype} of shape {answers.shape}."
            )
        return answers.astype(np.int8)


def asker_of(problem: Problem) -> Asker:
    """Return an asker of the problem's comparison oracle, or of the signs of its similarity.

    Raises :class:`TooLarge` above 5,000 items.
    """
    if problem.n_items > MAX_QUERY_ITEMS:
        raise TooLarge(
            f"Questions about pairs of {problem.n_items:,} items are too many; "
            f"{MAX_QUERY_ITEMS:,} items is the limit.",
            "Take a sample.",
        )
    if hasattr(problem.oracle, "compare"):
        return Asker(problem.oracle)
    return Asker(SignOracle(problem.similarity_or_default))


def ranks(asker: Asker, n: int, rng: np.random.Generator) -> Any:
    """Return dense ranks of all pairs, least similar first, by a quicksort of comparisons.

    A generator that yields after each round and returns int64 (n (n - 1) / 2,). All parts of a
    round are queried at once: each pair is compared with the pivot of its part. M = n (n - 1) / 2
    pairs take about 1.4 M log2 M questions, in about 2.5 log2 M rounds (expected, since pivots are
    random). Pairs that tie with a pivot share its rank.
    """
    m = n * (n - 1) // 2
    pairs = pairs_of(np.arange(m), n)
    items = rng.permutation(m)
    begin = np.zeros(m, np.int64)  # where the part of each position begins; parts are slices
    done = np.zeros(m, bool)
    while not done.all():
        open_at = np.flatnonzero(~done)
        starts = open_at[np.r_[True, np.diff(begin[open_at]) != 0]]
        part = np.searchsorted(starts, open_at, side="right") - 1
        counts = np.bincount(part)
        pivot_at = starts + (rng.random(len(starts)) * counts).astype(np.int64)
        pivots = items[pivot_at][part]
        mine = items[open_at]
        sign = np.zeros(len(open_at), np.int64)
        others = mine != pivots
        sign[others] = asker(pairs[mine[others]], pairs[pivots[others]])
        order = np.lexsort((sign, part))
        items[open_at] = mine[order]
        part, sign = part[order], sign[order]
        fresh = np.r_[True, (np.diff(part) != 0) | (np.diff(sign) != 0)]
        begin[open_at] = open_at[np.flatnonzero(fresh)][np.cumsum(fresh) - 1]
        size = np.bincount(begin[open_at], minlength=m)[begin[open_at]]
        done[open_at] = (sign == 0) | (size == 1)
        yield None
    rank = np.empty(m, np.int64)
    rank[items] = np.cumsum(np.r_[0, np.diff(begin) != 0])
    return rank
