"""What a division asks for: similarities in blocks, with places to stop, shared out to a crew."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active import placekernels

if TYPE_CHECKING:
    from hcviz.algorithms.active.crew import Crew

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Sums, sums of squares and counts of similarities by cluster: shape (items, k) each.
Tallies = tuple[Float, Float, Int]
#: Yields None at places to stop, returns the similarities.
Steps = Generator[None, None, Float]

#: Similarities asked for at once: 4 MB of answers.
BLOCK = 500_000
#: Parts in which a crew asks for a block.
SHARES = 8


def square(oracle: Any, who: Int) -> Steps:
    """All similarities of some items, float64 (m, m)."""
    out = np.empty((len(who), len(who)))
    if out.size <= BLOCK:
        found: Float = oracle.similarity(who, who)
        return found
    stride = max(1, BLOCK // len(who))
    for begin in range(0, len(who), stride):
        end = begin + stride
        part = oracle.similarity(who[begin:end], who[begin:])
        out[begin:end, begin:] = part
        out[begin:, begin:end] = part.T
        yield
    return out


def block(oracle: Any, rows: Int, columns: Int, crew: Crew | None) -> Steps:
    """The similarities of ``rows``, increasing, with ``columns``, float64 (len(rows),
    len(columns))."""
    out = np.empty((len(rows), len(columns)))
    if crew is None:
        for part in np.array_split(np.arange(len(rows)), 1 + out.size // BLOCK):
            out[part] = oracle.similarity(rows[part], columns)
            yield
        return out
    # Each column is a cluster of its own: its sum is the similarity.
    each = np.arange(len(columns), dtype=np.int32)
    parts = [cut for cut in crew.parts(rows, -(-len(rows) // SHARES) or 1) if len(rows[cut])]
    under_way = {crew.tally(oracle, rows[part], columns, each, len(each)): part for part in parts}

    def put(part: slice, found: Tallies) -> None:
        out[part] = found[0]

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
) -> Iterator[None]:
    """Ask for the similarities of the items at places ``at`` of ``who`` with those at ``members``,
    who are of ``clusters``, and add them to the tallies."""
    k = tallies[0].shape[1]
    stride = max(1, BLOCK // max(1, len(members)))
    cuts = strides(len(at), stride) if crew is None else crew.parts(who[at], stride)
    parts = [at[cut] for cut in cuts]
    if crew is None or len(parts) < 2:
        for places in parts:
            _add(tallies, places, tallied(oracle, who[places], who[members], clusters, k))
            yield
        return
    under_way = {
        crew.tally(oracle, who[places], who[members], clusters, k): places for places in parts
    }
    yield from _gathered(oracle, crew, under_way, partial(_add, tallies))


def _gathered(
    oracle: Any, crew: Crew, under_way: dict[Future[Any], Any], take: Callable[[Any, Any], None]
) -> Iterator[None]:
    """``take(part, result)`` of each task of the crew, as they are done."""
    while under_way:
        wait(under_way, timeout=0.02, return_when=FIRST_COMPLETED)
        for future in [each for each in under_way if each.done()]:
            take(under_way.pop(future), crew.collect(future, oracle))
        yield


def strides(count: int, stride: int) -> list[slice]:
    """0 to ``count`` in slices of ``stride``."""
    return [slice(begin, begin + stride) for begin in range(0, count, stride)]


def tallied(oracle: Any, rows: Int, columns: Int, clusters: Int, k: int) -> Tallies:
    """Sums, sums of squares and counts of the similarities of ``rows`` with ``columns``, by the
    columns' ``clusters``: shape (len(rows), k) each."""
    out = np.zeros((len(rows), k)), np.zeros((len(rows), k)), np.zeros((len(rows), k), np.int32)
    found = oracle.similarity(rows, columns)
    nobody = np.full(len(rows), -1, np.int32)
    placekernels.tally(
        found, np.arange(len(rows), dtype=np.int32), np.asarray(clusters, np.int32), nobody, *out
    )
    return out


def _add(tallies: Tallies, places: Int, fresh: Tallies) -> None:
    sums, squares, counts = tallies
    sums[places] += fresh[0]
    squares[places] += fresh[1]
    counts[places] += fresh[2]


__all__ = ["Tallies", "averages", "block", "square", "strides", "tallied"]
