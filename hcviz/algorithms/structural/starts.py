"""Agglomerative first trees for the search: average linkage and Paris (Bonald et al. 2018)."""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.jit import njit
from hcviz.core.tree import Tree

#: Operations between two places to stop: about 20 ms.
CHUNK = 20_000_000
#: Places in ``state``: the length of the chain, the merges done, and the first active cluster.
LENGTH, MERGED, FIRST = range(3)


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


def masses(matrix: Any) -> list[NDArray[np.float64]]:
    """Return the masses of average linkage, and of Paris if no similarity is negative."""
    found = [np.ones(len(matrix))]
    if matrix.min(initial=0.0) >= 0:
        found.append(matrix.sum(axis=1) - matrix.diagonal())
    return found


def warm() -> None:
    """Compile the kernel."""
    for _ in agglomerate(np.eye(3), np.ones(3)):
        pass
