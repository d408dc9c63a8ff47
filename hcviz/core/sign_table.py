"""Comparisons as a dense matrix of signs over pairs of items.

Cell (p, q) is the number of answers that pair p is more similar than pair q, minus the number of
opposite answers. The matrix is (M, M) with M = n (n - 1) / 2, antisymmetric, int8 or int16. The
pair {i, j} with i < j has the number j (j - 1) / 2 + i. All functions take O(M^2) time and work on
blocks of rows, to save memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData

#: Number of rows in a block.
BLOCK = 512


def check_sign_table(table: ArrayLike) -> NDArray[Any]:
    """Return the matrix as contiguous int8 or int16, or raise :class:`InvalidData`."""
    array = np.asarray(table)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        shape = " x ".join(str(side) for side in array.shape)
        raise InvalidData(f"A matrix of signs must be square; this one is {shape}.")
    n_items(len(array))
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidData(f"A matrix of signs holds whole numbers, not {array.dtype}.")
    if array.dtype not in (np.int8, np.int16):
        if array.size and not -32767 <= array.min() <= array.max() <= 32767:
            raise InvalidData("The cells of a matrix of signs must be from -32,767 to 32,767.")
        array = array.astype(np.int16)
    array = np.ascontiguousarray(array)
    least = np.iinfo(array.dtype).min
    for first, block in _blocks(array):
        mirror = array[:, first : first + BLOCK].T
        wrong = (block != -mirror) | (block == least)  # -least == least, so it is no valid cell
        if wrong.any():
            p, q = np.argwhere(wrong)[0]
            raise InvalidData(
                f"A matrix of signs must be antisymmetric; row {first + p}, column {q} is "
                f"{block[p, q]} and row {q}, column {first + p} is {mirror[p, q]}.",
                "An answer that pair p is more alike than pair q is +1 at (p, q) and -1 at (q, p).",
            )
    return array


def n_items(pairs: int) -> int:
    """Return n with n (n - 1) / 2 = ``pairs``, or raise :class:`InvalidData`."""
    n = (1 + math.isqrt(1 + 8 * pairs)) // 2
    if n * (n - 1) // 2 != pairs:
        raise InvalidData(
            f"A matrix of signs has a row for each pair of n items, n (n - 1) / 2 rows; {pairs} "
            "is not such a number.",
            f"{n} items have {n * (n - 1) // 2} pairs, {n + 1} have {n * (n + 1) // 2}.",
        )
    return n


def count_answers(table: NDArray[Any]) -> int:
    """Return the number of answers: the sum of the positive cells."""
    return sum(int(np.maximum(block, 0).sum(dtype=np.int64)) for _, block in _blocks(table))


def quadruplets(table: NDArray[Any]) -> NDArray[np.int32]:
    """Return the answers as quadruplets, int32 (m, 4); a cell c > 0 gives c equal rows."""
    high, low = np.tril_indices(n_items(len(table)), -1)  # ordered by the numbers of the pairs
    pairs = np.stack([low, high], axis=1).astype(np.int32)
    found = [np.empty((0, 4), np.int32)]
    for first, block in _blocks(table):
        p, q = np.nonzero(block > 0)
        times = block[p, q].astype(np.int64)
        found.append(np.repeat(np.hstack([pairs[first + p], pairs[q]]), times, axis=0))
    return np.concatenate(found)


def appearances(table: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of answers with each item, int64 (n,).

    An answer with the item in both pairs counts once.
    """
    n = n_items(len(table))
    high, low = np.tril_indices(n, -1)
    weight = np.concatenate(
        [np.zeros(0, np.int64)]
        + [
            np.abs(block.astype(np.int32)).sum(axis=1, dtype=np.int64)
            for _, block in _blocks(table)
        ]
    )
    found = np.zeros(n, np.int64)
    np.add.at(found, low, weight)
    np.add.at(found, high, weight)
    for item in range(n):
        own = np.flatnonzero((low == item) | (high == item))
        found[item] -= np.maximum(table[np.ix_(own, own)], 0).sum(dtype=np.int64)
    return found


def _blocks(table: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    for first in range(0, len(table), BLOCK):
        yield first, table[first : first + BLOCK]


__all__ = ["appearances", "check_sign_table", "count_answers", "n_items", "quadruplets"]
