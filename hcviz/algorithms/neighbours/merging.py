"""Ward's linkage on a graph of neighbours, by rounds of merges of mutual nearest neighbours."""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hcviz.algorithms.neighbours.forest import nearest_neighbours
from hcviz.core.jit import njit

#: From so few clusters on, all pairs of clusters are neighbours, and the merges are Ward's.
ALL_PAIRS = 1_024
#: A new graph is made when so large a share of the clusters is left.
RENEW = 0.25


@dataclass
class Clusters:
    """The clusters at one time.

    Attributes
    ----------
    centroid : float64 (m, d)
    size : float64 (m,), numbers of items
    node : int32 (m,), nodes of the tree
    """

    centroid: NDArray[np.float64]
    size: NDArray[np.float64]
    node: NDArray[np.int32]


def merge_neighbours(
    points: NDArray[np.float64], k: int, trees: int, rng: np.random.Generator
) -> Generator[int, None, tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Merge all points, in steps; return the tree's parents and heights, of 2 n - 1 nodes each.

    Yields the number of clusters. Each round merges all pairs of clusters that are nearest to each
    other among their neighbours in a graph. The graph is made again of the centroids when a quarter
    of the clusters is left, or when no neighbours are left. A height is the linkage value, or that
    of the highest child if that is higher.
    """
    n = len(points)
    parent, height = np.full(2 * n - 1, -1, np.int32), np.zeros(2 * n - 1)
    centred = points - points.mean(axis=0)  # numbers near 1, for the squares and float32
    scale = float(np.abs(centred).max(initial=0.0)) or 1.0
    now = Clusters(centred / scale, np.ones(n), np.arange(n, dtype=np.int32))
    graph: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None
    graph_of, used = n, n  # clusters when the graph was made, and nodes
    while (m := len(now.size)) > 1:
        if graph is None or m < RENEW * graph_of:
            graph = yield from _graph(now.centroid, k, trees, rng)
            graph_of = m
        nearest, value = nearest_clusters(now.centroid, now.size, *graph)
        yield m
        merged = merge(now.centroid, now.size, now.node, nearest, value, parent, height, used)
        new_of, now = merged[0], Clusters(*merged[1:])
        used += m - len(now.size)
        graph = contract(new_of, len(now.size), *graph) if len(now.size) < m else None
        yield len(now.size)
    return parent, scale * height


def _graph(
    centroid: NDArray[np.float64], k: int, trees: int, rng: np.random.Generator
) -> Generator[int, None, tuple[NDArray[np.int64], NDArray[np.int32]]]:
    """Return a symmetric graph of near clusters as starts and neighbours, without loops."""
    m = len(centroid)
    if m <= ALL_PAIRS:
        pair = np.arange(m * (m - 1), dtype=np.int32)
        row, column = pair // (m - 1), pair % (m - 1)
        column += column >= row  # not itself
        return np.arange(m + 1, dtype=np.int64) * (m - 1), column
    search = nearest_neighbours(np.ascontiguousarray(centroid, np.float32), k, trees, rng)
    while True:
        try:
            next(search)
        except StopIteration as end:
            found: NDArray[np.int32] = end.value
            break
        yield m
    row = np.repeat(np.arange(m, dtype=np.int32), k)[found.ravel() >= 0]
    column = found.ravel()[found.ravel() >= 0]
    one: Any = csr_array((np.ones(row.size, np.int8), (row, column)), shape=(m, m))
    both = (one + one.T).tocsr()
    return both.indptr.astype(np.int64), both.indices.astype(np.int32)


@njit
def nearest_clusters(centroid, size, start, neighbour):
    """Return the neighbour of least linkage value of each cluster, or -1, and the value squared.

    Of equal values, the pair with the least number of a hash is taken. So many clusters that are
    equally near, such as equal points, also merge in few rounds.
    """
    m, d = centroid.shape
    nearest, value = np.full(m, -1, np.int32), np.full(m, np.inf)
    for i in range(m):
        best = np.uint64(0)
        for at in range(start[i], start[i + 1]):
            j = neighbour[at]
            total = 0.0
            for column in range(d):
                gap = centroid[i, column] - centroid[j, column]
                total += gap * gap
            total *= 2.0 * (size[i] * size[j]) / (size[i] + size[j])
            if total <= value[i]:
                chance = pair_hash(min(i, j), max(i, j))
                if total < value[i] or chance < best or nearest[i] < 0:
                    nearest[i], value[i], best = j, total, chance
    return nearest, value


@njit
def pair_hash(i, j):
    """Return a number for a pair, in no order (splitmix64)."""
    mixed = (np.uint64(i) << np.uint64(32)) | np.uint64(j)
    mixed += np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@njit
def merge(centroid, size, node, nearest, value, parent, height, used):
    """Merge mutual nearest neighbours.

    Writes their parents and heights, from node ``used`` on. Returns the new number of each cluster,
    and the centroids, sizes and nodes of the new clusters.
    """
    m, d = centroid.shape
    new_of = np.full(m, -1, np.int32)
    count = 0
    for i in range(m):
        j = nearest[i]
        if new_of[i] < 0:
            if j >= 0 and nearest[j] == i:
                new_of[j] = count
            new_of[i] = count
            count += 1
    made_centroid, made_size = np.zeros((count, d)), np.zeros(count)
    made_node = np.full(count, -1, np.int32)
    for i in range(m):
        new = new_of[i]
        if made_node[new] < 0:
            made_node[new], made_size[new] = node[i], size[i]
            made_centroid[new] = centroid[i]
            continue
        a, b = made_node[new], node[i]
        parent[a] = parent[b] = used
        height[used] = max(np.sqrt(value[i]), height[a], height[b])
        total = made_size[new] + size[i]
        share = size[i] / total
        for column in range(d):
            made_centroid[new, column] += share * (centroid[i, column] - made_centroid[new, column])
        made_node[new], made_size[new] = used, total
        used += 1
    return new_of, made_centroid, made_size, made_node


@njit
def contract(new_of, count, start, neighbour):
    """Return the graph of the new clusters: each has the neighbours of its parts."""
    m = new_of.size
    first, second = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    for i in range(m):
        new = new_of[i]
        if first[new] < 0:
            first[new] = i
        else:
            second[new] = i
    seen = np.full(count, -1, np.int32)
    made_start = np.zeros(count + 1, np.int64)
    made = np.empty(neighbour.size, np.int32)
    used = 0
    for new in range(count):
        for part in (first[new], second[new]):
            if part < 0:
                continue
            for at in range(start[part], start[part + 1]):
                other = new_of[neighbour[at]]
                if other != new and seen[other] != new:
                    seen[other] = new
                    made[used] = other
                    used += 1
        made_start[new + 1] = used
    return made_start, made[:used].copy()


__all__ = ["ALL_PAIRS", "merge_neighbours"]
