"""Agglomerative first trees for the search: average linkage and Paris (Bonald et al. 2018)."""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Generator
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from hcviz.core.arrays import Counters, FloatM, IntList
from hcviz.core.jit import njit
from hcviz.core.tree import Tree

#: Operations between two places to stop: about 20 ms.
CHUNK = 20_000_000
#: Places in ``state``: the length of the chain, the merges done, the first active cluster, and the
#: passes over a list of edges.
LENGTH, MERGED, FIRST, PASSES = range(4)


def agglomerate(matrix: NDArray[Any], mass: NDArray[np.float64]) -> Generator[None, None, Tree]:
    """Merge the clusters of largest w(A, B) / (mass(A) mass(B)), in steps; return the tree.

    Masses add up. Masses of 1 give average linkage of the similarities. The sums of the rows give
    Paris (Bonald et al. 2018), whose distance is the inverse of this number times the total.
    A nearest-neighbour chain finds the merges in O(n^2) time and a float32 (n, n) copy.
    """
    n = len(mass)
    weights = matrix.astype(np.float32)
    heaviest = float(mass.max(initial=0.0)) or 1.0
    mass = np.maximum(mass / heaviest, 1e-12)
    chain, node = np.empty(n, np.int32), np.arange(n, dtype=np.int32)
    up, state = np.full(2 * n - 1, -1, np.int32), np.zeros(3, np.int64)
    active = np.ones(n, np.bool_)
    while state[MERGED] < n - 1:
        advance(weights, mass, active, chain, node, up, state, max(1, CHUNK // n))
        yield
    return Tree.with_size_heights(up, n)


@njit
def advance(weights, mass, active, chain, node, up, state, rows):
    """Continue the chain for at most ``rows`` passes over a row of the weights."""
    n = mass.size
    for _ in range(rows):
        if state[MERGED] == n - 1:
            return
        if state[LENGTH] == 0:
            while not active[state[FIRST]]:
                state[FIRST] += 1
            chain[0] = state[FIRST]
            state[LENGTH] = 1
        a = chain[state[LENGTH] - 1]
        before = chain[state[LENGTH] - 2] if state[LENGTH] > 1 else -1
        row = weights[a]
        best, most = before, -np.inf
        if before >= 0:  # another one must be nearer by more than rounding: chains have no circles
            most = row[before] / mass[before]
            most += 1e-9 * abs(most)
        for j in range(n):
            if active[j] and j != a:
                value = row[j] / mass[j]
                if value > most:
                    best, most = j, value
        if best != before:
            chain[state[LENGTH]] = best
            state[LENGTH] += 1
            continue
        state[LENGTH] -= 2
        made = n + state[MERGED]
        up[node[a]] = made
        up[node[best]] = made
        node[best] = made
        active[a] = False
        mass[best] += mass[a]
        other = weights[best]
        for j in range(n):
            other[j] += row[j]
            weights[j, best] = other[j]
        state[MERGED] += 1


def agglomerate_sparse(matrix: Any, mass: NDArray[np.float64]) -> Generator[None, None, Tree]:
    """Do the same as :func:`agglomerate` for a sparse matrix, with memory linear in its entries.

    A cluster has a list of edges. A merge joins two lists, and the next pass over a list adds up
    its parallel edges. Clusters without edges are merged at the end, the smallest ones first.
    """
    n = len(mass)
    off = matrix.indices != np.repeat(np.arange(n), np.diff(matrix.indptr))
    kept = off & (matrix.data > 0)
    start = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr].astype(np.int64)
    edges = Edges(
        matrix.indices[kept].astype(np.int32),
        np.asarray(matrix.data[kept], np.float64),
        np.arange(1, start[-1] + 1),
        np.where(start[1:] > start[:-1], start[:-1], -1),
        start[1:] - 1,
        np.arange(n, dtype=np.int32),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
    )
    edges.following[start[1:][start[1:] > start[:-1]] - 1] = -1
    mass = np.maximum(mass / (float(mass.max(initial=0.0)) or 1.0), 1e-12)
    chain, node = np.empty(n, np.int32), np.arange(n, dtype=np.int32)
    up, state = np.full(2 * n - 1, -1, np.int32), np.zeros(4, np.int64)
    ended = np.zeros(n, np.bool_)
    active = np.ones(n, np.bool_)
    while advance_sparse(edges, mass, active, ended, chain, node, up, state, CHUNK):
        yield
    made = n + int(state[MERGED])
    return _joined(up, made, node[ended], n)


def _joined(up: NDArray[np.int32], made: int, roots: NDArray[np.int32], n: int) -> Tree:
    """Merge the trees of the pieces of a graph, the smallest ones first, and return the tree."""
    size = np.zeros(2 * n - 1, np.int64)
    size[:n] = 1
    for v in range(made):
        if up[v] >= 0:
            size[up[v]] += size[v]
    waiting = [(int(size[root]), int(root)) for root in roots]
    heapify(waiting)
    while len(waiting) > 1:
        (least, a), (more, b) = heappop(waiting), heappop(waiting)
        up[a] = up[b] = made
        heappush(waiting, (least + more, made))
        made += 1
    return Tree.with_size_heights(up, n)


class Edges(NamedTuple):
    """The lists of edges of the clusters. A cluster is named by one of its items."""

    target: IntList
    weight: FloatM
    following: Counters  # the next edge of the list, or -1
    first: Counters  # (n,): the first edge of a cluster
    last: Counters  # (n,)
    cluster: IntList  # (n,): toward the item that names a cluster
    seen: Counters  # (n,): the last pass that met a cluster
    at: Counters  # (n,): the edge to a cluster


@njit
def cluster_of(cluster, item):
    """Return the item that names an item's cluster, and shorten the way to it."""
    while cluster[item] != item:
        cluster[item] = cluster[cluster[item]]
        item = cluster[item]
    return item


@njit
def join_parallel(edges, a, stamp):
    """Add up the parallel edges of a cluster, and remove those inside; return the work."""
    e, before, work = edges.first[a], -1, 0
    while e >= 0:
        work += 8
        after = edges.following[e]
        t = cluster_of(edges.cluster, edges.target[e])
        if t != a and edges.seen[t] != stamp:
            edges.seen[t] = stamp
            edges.at[t] = e
            edges.target[e] = t
            before = e
        else:
            if t != a:
                edges.weight[edges.at[t]] += edges.weight[e]
            if before < 0:
                edges.first[a] = after
            else:
                edges.following[before] = after
        e = after
    edges.last[a] = before
    return work


@njit
def advance_sparse(edges, mass, active, ended, chain, node, up, state, work):
    """Continue the chain for about ``work`` operations; return False at the end."""
    n = mass.size
    while work > 0:
        if state[LENGTH] == 0:
            while state[FIRST] < n and not active[state[FIRST]]:
                state[FIRST] += 1
            if state[FIRST] == n:
                return False
            chain[0] = state[FIRST]
            state[LENGTH] = 1
        a = chain[state[LENGTH] - 1]
        before = chain[state[LENGTH] - 2] if state[LENGTH] > 1 else -1
        state[PASSES] += 1
        work -= 8 + join_parallel(edges, a, state[PASSES])
        best, most = before, 0.0
        if before >= 0:  # as in `advance`
            most = edges.weight[edges.at[before]] / mass[before] * (1.0 + 1e-9)
        e = edges.first[a]
        while e >= 0:
            value = edges.weight[e] / mass[edges.target[e]]
            if value > most:
                best, most = edges.target[e], value
            e = edges.following[e]
        if best < 0:  # nothing is left that it is similar to
            active[a] = False
            ended[a] = True
            state[LENGTH] = 0
            continue
        if best != before:
            chain[state[LENGTH]] = best
            state[LENGTH] += 1
            continue
        state[LENGTH] -= 2
        made = n + state[MERGED]
        up[node[a]] = made
        up[node[best]] = made
        node[best] = made
        active[a] = False
        mass[best] += mass[a]
        edges.cluster[a] = best
        edges.following[edges.last[best]] = edges.first[a]
        edges.last[best] = edges.last[a]
        state[MERGED] += 1
    return True


def masses(matrix: Any) -> list[NDArray[np.float64]]:
    """Return the masses of average linkage, and of Paris if no similarity is negative."""
    found = [np.ones(matrix.shape[0])]
    if issparse(matrix):  # it has no negative entries
        found.append(np.asarray(matrix.sum(axis=1)).ravel() - matrix.diagonal())
    elif matrix.min(initial=0.0) >= 0:
        found.append(matrix.sum(axis=1) - matrix.diagonal())
    return found


def warm() -> None:
    """Compile the kernels."""
    for _ in agglomerate(np.eye(3), np.ones(3)):
        pass
    for _ in agglomerate_sparse(csr_array(np.ones((3, 3))), np.ones(3)):
        pass
