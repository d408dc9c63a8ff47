"""Approximate nearest neighbours of points, by random projection trees (Dasgupta & Freund 2008)."""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from hcviz.core.jit import njit

#: Most points of a leaf, in which all pairs are compared.
LEAF = 32
#: Points between two places to stop.
BLOCK = 20_000


def nearest_neighbours(
    points: NDArray[np.float32], k: int, trees: int, rng: np.random.Generator
) -> Generator[None, None, NDArray[np.int32]]:
    """Find about the k nearest neighbours of each point, in steps; return int32 (n, k).

    Each tree halves the points at the median of their projections on the line through two of them,
    until at most ``LEAF`` are left, and compares all pairs of a leaf. Then the neighbours of
    neighbours are compared once. -1 stands for a neighbour that was not found.
    O(n log n d) time for each tree, and O(n k^2 d) for the last step.
    """
    n = len(points)
    found = np.full((n, k), -1, np.int32)
    squared = np.full((n, k), np.inf, np.float32)
    for _ in range(trees if n > LEAF else 1):
        order = np.arange(n, dtype=np.int32)
        ends = divide(points, order, int(rng.integers(1, 2**31)))
        yield
        for first in range(0, len(ends), BLOCK // LEAF):
            compare_leaves(points, order, ends, first, BLOCK // LEAF, found, squared)
            yield
    if n > LEAF:
        before = found.copy()
        for first in range(0, n, BLOCK):
            compare_second(points, before, first, min(first + BLOCK, n), found, squared)
            yield
    return found


@njit
def divide(points, order, seed):
    """Sort ``order`` so that the points of each leaf are consecutive; return the leaves' ends."""
    n, d = points.shape
    key, ends, state = np.empty(n, np.float32), np.empty(n, np.int32), np.uint64(seed)
    low, high = np.empty(128, np.int32), np.empty(128, np.int32)
    low[0], high[0], waiting, leaves = 0, n, 1, 0
    while waiting:
        waiting -= 1
        start, end = low[waiting], high[waiting]
        if end - start <= LEAF:
            ends[leaves] = end
            leaves += 1
            continue
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        a = points[order[start + np.int64(state % np.uint64(end - start))]]
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        b = points[order[start + np.int64(state % np.uint64(end - start))]]
        for at in range(start, end):
            point, value = points[order[at]], np.float32(0.0)
            for column in range(d):
                value += (a[column] - b[column]) * point[column]
            key[at] = value
        middle = (start + end) // 2
        select(key, order, start, end - 1, middle)
        # The first half is taken next, so that leaves come in the order of their points.
        low[waiting], high[waiting] = middle, end
        low[waiting + 1], high[waiting + 1] = start, middle
        waiting += 2
    return ends[:leaves].copy()


@njit
def select(key, order, left, right, middle):
    """Partition both arrays so that no key before ``middle`` is larger than one after it."""
    while left < right:
        pivot = key[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit
def compare_leaves(points, order, ends, first, count, found, squared):
    """Compare all pairs in some leaves."""
    for leaf in range(first, min(first + count, ends.size)):
        start = ends[leaf - 1] if leaf else 0
        for at in range(start, ends[leaf]):
            for other in range(start, at):
                i, j = order[at], order[other]
                distance = squared_distance(points, i, j)
                insert(found, squared, i, j, distance)
                insert(found, squared, j, i, distance)


@njit
def compare_second(points, before, first, last, found, squared):
    """Compare some points with the neighbours of their neighbours."""
    for i in range(first, last):
        for j in before[i]:
            if j < 0:
                continue
            for other in before[j]:
                if other >= 0 and other != i:
                    insert(found, squared, i, other, squared_distance(points, i, other))


@njit
def squared_distance(points, i, j):
    """Return the squared Euclidean distance of two points."""
    total = np.float32(0.0)
    for column in range(points.shape[1]):
        gap = points[i, column] - points[j, column]
        total += gap * gap
    return total


@njit
def insert(found, squared, i, j, distance):
    """Add j to the neighbours of i, which are sorted by distance, if it is near enough and new."""
    last = found.shape[1] - 1
    if not distance < squared[i, last]:
        return
    for place in range(last + 1):
        if found[i, place] == j:
            return
    while last and squared[i, last - 1] > distance:
        squared[i, last], found[i, last] = squared[i, last - 1], found[i, last - 1]
        last -= 1
    squared[i, last], found[i, last] = distance, j


__all__ = ["LEAF", "nearest_neighbours"]
