"""What a division asks for: similarities in blocks, with places to stop, shared out to a crew."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active import placekernels
from hcviz.algorithms.active.crew import Crew

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Sums, sums of squares and counts of similarities by cluster: shape (items, k) each.
Tallies = tuple[Float, Float, Int]
#: Yields, at places to stop, how many it has asked for since the last; returns the similarities.
Steps = Generator[int, None, Float]

#: Similarities asked for at once: 4 MB of answers.
BLOCK = 500_000
#: Parts in which a crew asks for a block.
SHARES = 8


def batch_size(oracle: Any, seconds: float = 1.0) -> int:
    """How many similarities one request may have; of dear ones as many as take so many ``seconds``
    times a tenth (:attr:`hcviz.core.counting_oracle.CountingOracle.batch_size`)."""
    return max(1, min(BLOCK, int(seconds * (getattr(oracle, "batch_size", None) or BLOCK))))


def asked(oracle: Any, rows: Int, columns: Int | None = None) -> Steps:
    """The similarities of ``rows`` with ``columns``, or (None) with each other: float64 (len(rows),
    len(columns)). In requests of which none takes long; how they are cut decides no value."""
    across = rows if columns is None else columns
    out = np.empty((len(rows), len(across)))
    begin = 0
    while begin < len(rows):
        first = begin if columns is None else 0
        size = batch_size(oracle)
        end = begin + max(1, size // max(1, len(across) - first))
        for left in range(first, len(across), size):  # one row, where that is cut, too
            part = oracle.similarity(rows[begin:end], across[left : left + size])
            out[begin:end, left : left + size] = part
            yield part.size
        if columns is None:
            out[begin:, begin:end] = out[begin:end, begin:].T
        begin = end
    return out


def block(oracle: Any, rows: Int, columns: Int, crew: Crew | None) -> Steps:
    """The same of ``rows``, increasing, by a crew, if there is one."""
    if crew is None:
        return (yield from asked(oracle, rows, columns))
    out = np.empty((len(rows), len(columns)))
    # Each column is a cluster of its own: its sum is the similarity.
    each = np.arange(len(columns), dtype=np.int32)
    stride = min(-(-len(rows) // SHARES), _stride(oracle, columns)) or 1
    parts = [cut for cut in crew.parts(rows, stride) if len(rows[cut])]
    under_way = {crew.tally(oracle, rows[part], columns, each, len(each)): part for part in parts}

    def put(part: slice, found: Tallies) -> int:
        out[part] = found[0]
        return int(found[0].size)

    yield from _gathered(oracle, crew, under_way, put)
    return out


def averages(
    oracle: Any,
    who: Int,
    at: Int,
    members: Int,
    clusters: Int,
    tallies: Tallies,
    crew: Crew | None,
) -> Iterator[int]:
    """Ask for the similarities of the items at places ``at`` of ``who`` with those at ``members``,
    who are of ``clusters``, and add them to the tallies."""
    k = tallies[0].shape[1]
    parts: list[Int] = []
    if crew is not None:
        parts = [at[cut] for cut in crew.parts(who[at], _stride(oracle, members))]
    if crew is None or len(parts) < 2:
        for cut in strides(len(at), max(1, BLOCK // max(1, len(members)))):
            found = yield from asked(oracle, who[at[cut]], who[members])
            _add(tallies, at[cut], summed(found, clusters, k))
        return

    def add(places: Int, found: Tallies) -> int:
        _add(tallies, places, found)
        return len(places) * len(members)

    under_way = {
        crew.tally(oracle, who[places], who[members], clusters, k): places for places in parts
    }
    yield from _gathered(oracle, crew, under_way, add)


def _stride(oracle: Any, columns: Int) -> int:
    """Rows of one task of a crew; of dear similarities a second's."""
    return max(1, batch_size(oracle, 10.0) // max(1, len(columns)))


def _gathered(
    oracle: Any, crew: Crew, under_way: dict[Future[Any], Any], take: Callable[[Any, Any], int]
) -> Iterator[int]:
    """``take(part, result)`` of each task of the crew, as they are done: how much it was."""
    while under_way:
        wait(under_way, timeout=0.02, return_when=FIRST_COMPLETED)
        heard = 0
        for future in [each for each in under_way if each.done()]:
            heard += take(under_way.pop(future), crew.collect(future, oracle))
        yield heard


def strides(count: int, stride: int) -> list[slice]:
    """0 to ``count`` in slices of ``stride``."""
    return [slice(begin, begin + stride) for begin in range(0, count, stride)]


def tallied(oracle: Any, rows: Int, columns: Int, clusters: Int, k: int) -> Tallies:
    """Sums, sums of squares and counts of the similarities of ``rows`` with ``columns``, by the
    columns' ``clusters``: shape (len(rows), k) each."""
    return summed(oracle.similarity(rows, columns), clusters, k)


def summed(found: Float, clusters: Int, k: int) -> Tallies:
    """The same of similarities that are there, float64 (m, columns)."""
    m = len(found)
    out = np.zeros((m, k)), np.zeros((m, k)), np.zeros((m, k), np.int32)
    nobody = np.full(m, -1, np.int32)
    placekernels.tally(
        found, np.arange(m, dtype=np.int32), np.asarray(clusters, np.int32), nobody, *out
    )
    return out


def _add(tallies: Tallies, places: Int, fresh: Tallies) -> None:
    sums, squares, counts = tallies
    sums[places] += fresh[0]
    squares[places] += fresh[1]
    counts[places] += fresh[2]


__all__ = ["Tallies", "asked", "averages", "batch_size", "block", "strides", "tallied"]
