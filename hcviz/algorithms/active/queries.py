"""Queries of similarities in blocks, with places to stop; an executor may share the work."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active import placekernels
from hcviz.algorithms.active.executor import TaskExecutor

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Sums, sums of squares and counts of similarities by cluster: shape (items, k) each.
Tallies = tuple[Float, Float, Int]
#: Yields, at places to stop, the number of queries since the last; returns the similarities.
Steps = Generator[int, None, Float]

#: Similarities in one request: 4 MB of results.
BLOCK = 500_000
#: Tasks into which an executor cuts a block.
BLOCK_TASKS = 8


def request_size(oracle: Any, seconds: float = 1.0) -> int:
    """Return how many similarities one request may have.

    For an expensive oracle it is what takes a tenth of ``seconds``
    (:attr:`hcviz.core.counting_oracle.CountingOracle.batch_size`).
    """
    return max(1, min(BLOCK, int(seconds * (getattr(oracle, "batch_size", None) or BLOCK))))


def query(oracle: Any, rows: Int, columns: Int | None = None) -> Steps:
    """Query the similarities of ``rows`` with ``columns``, or with each other if that is None.

    Returns float64 (len(rows), len(columns)). The requests are short, and their sizes do not change
    any value.
    """
    across = rows if columns is None else columns
    out = np.empty((len(rows), len(across)))
    begin = 0
    while begin < len(rows):
        first = begin if columns is None else 0
        size = request_size(oracle)
        end = begin + max(1, size // max(1, len(across) - first))
        for left in range(first, len(across), size):  # one row may need several requests
            part = oracle.similarity(rows[begin:end], across[left : left + size])
            out[begin:end, left : left + size] = part
            yield part.size
        if columns is None:
            out[begin:, begin:end] = out[begin:end, begin:].T
        begin = end
    return out


def query_block(oracle: Any, rows: Int, columns: Int, executor: TaskExecutor | None) -> Steps:
    """Do the same as :func:`query`, on an executor if there is one; ``rows`` are increasing."""
    if executor is None:
        return (yield from query(oracle, rows, columns))
    out = np.empty((len(rows), len(columns)))
    # Each column is a cluster of its own: its sum is the similarity.
    each = np.arange(len(columns), dtype=np.int32)
    stride = min(-(-len(rows) // BLOCK_TASKS), _task_rows(oracle, columns)) or 1
    parts = [cut for cut in executor.parts(rows, stride) if len(rows[cut])]
    running = {executor.tally(oracle, rows[part], columns, each, len(each)): part for part in parts}

    def put(part: slice, result: Tallies) -> int:
        out[part] = result[0]
        return int(result[0].size)

    yield from _gather(oracle, executor, running, put)
    return out


def add_averages(
    oracle: Any,
    items: Int,
    at: Int,
    members: Int,
    clusters: Int,
    tallies: Tallies,
    executor: TaskExecutor | None,
) -> Iterator[int]:
    """Query the similarities of some items with members of clusters; add them to ``tallies``.

    ``at`` and ``members`` are places in ``items``; ``clusters`` are the clusters of the members.
    """
    k = tallies[0].shape[1]
    parts: list[Int] = []
    if executor is not None:
        parts = [at[cut] for cut in executor.parts(items[at], _task_rows(oracle, members))]
    if executor is None or len(parts) < 2:
        for cut in strides(len(at), max(1, BLOCK // max(1, len(members)))):
            block = yield from query(oracle, items[at[cut]], items[members])
            _add(tallies, at[cut], summed(block, clusters, k))
        return

    def add(places: Int, result: Tallies) -> int:
        _add(tallies, places, result)
        return len(places) * len(members)

    running = {
        executor.tally(oracle, items[places], items[members], clusters, k): places
        for places in parts
    }
    yield from _gather(oracle, executor, running, add)


def _task_rows(oracle: Any, columns: Int) -> int:
    """Return the rows of one task; of expensive similarities as many as take a second."""
    return max(1, request_size(oracle, 10.0) // max(1, len(columns)))


def _gather(
    oracle: Any,
    executor: TaskExecutor,
    running: dict[Future[Any], Any],
    take: Callable[[Any, Any], int],
) -> Iterator[int]:
    """Call ``take(part, result)`` for each task as it ends; yield the sums of what it returns."""
    while running:
        wait(running, timeout=0.02, return_when=FIRST_COMPLETED)
        count = 0
        for future in [each for each in running if each.done()]:
            count += take(running.pop(future), executor.collect(future, oracle))
        yield count


def strides(count: int, stride: int) -> list[slice]:
    """Cut 0 to ``count`` into slices of length ``stride``."""
    return [slice(begin, begin + stride) for begin in range(0, count, stride)]


def tallied(oracle: Any, rows: Int, columns: Int, clusters: Int, k: int) -> Tallies:
    """Query similarities and return their sums, sums of squares and counts by cluster.

    ``clusters`` are those of the columns. Shape (len(rows), k) each.
    """
    return summed(oracle.similarity(rows, columns), clusters, k)


def summed(block: Float, clusters: Int, k: int) -> Tallies:
    """Return sums, sums of squares and counts by cluster of similarities, float64 (m, columns)."""
    m = len(block)
    out = np.zeros((m, k)), np.zeros((m, k)), np.zeros((m, k), np.int32)
    not_sampled = np.full(m, -1, np.int32)
    placekernels.tally(
        block, np.arange(m, dtype=np.int32), np.asarray(clusters, np.int32), not_sampled, *out
    )
    return out


def _add(tallies: Tallies, places: Int, new: Tallies) -> None:
    sums, squares, counts = tallies
    sums[places] += new[0]
    squares[places] += new[1]
    counts[places] += new[2]


__all__ = [
    "Tallies", "add_averages", "query", "query_block", "request_size", "strides", "tallied",
]  # fmt: skip
