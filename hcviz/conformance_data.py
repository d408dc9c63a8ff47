"""Small problems of every awkward kind, for :mod:`hcviz.conformance`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.piles import Pile
from hcviz.core.problem import Problem
from hcviz.core.sign_oracle import SignOracle
from hcviz.core.tree import Tree

Float = NDArray[np.float64]


def blobs(n: int, seed: int = 0) -> Float:
    """Return three loose groups in three dimensions: float64 (n, 3)."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 3.0 * rng.integers(0, 3, (n, 1))


def with_everything(features: ArrayLike) -> Problem:
    """Return a problem that has what any method needs."""
    points = np.asarray(features, float)
    n = len(points)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    similarity = np.exp(-apart)
    pairs = list(itertools.combinations(range(n), 2))
    rng = np.random.default_rng(1)
    drawn = (
        [(*pairs[i], *pairs[j]) for i, j in rng.integers(0, len(pairs), (400, 2)) if i != j]
        if pairs
        else []
    )
    rows = [
        (i, j, k, m) if similarity[i, j] >= similarity[k, m] else (k, m, i, j)
        for i, j, k, m in drawn
    ]
    return Problem(
        features=points,
        similarity=similarity,
        comparisons=rows if rows else None,
        oracle=SignOracle(similarity),
        piles=_piles(similarity),
    )


def _piles(similarity: Float) -> list[Pile]:
    """Return the piles of five participants, each with the items most similar to a leader."""
    rng = np.random.default_rng(3)
    n = len(similarity)
    piles = []
    for participant in "abcde":
        leaders = rng.permutation(n)[: 1 + n // 3]
        nearest = leaders[similarity[:, leaders].argmax(axis=1)]
        for leader in np.unique(nearest):
            items = tuple(np.flatnonzero(nearest == leader).tolist())
            piles.append(Pile(participant, f"like {leader}", items))
    return piles


#: Name -> function that makes the problem.
DATA: dict[str, Callable[[], Problem]] = {
    "blobs": lambda: with_everything(blobs(14)),
    "duplicates": lambda: with_everything(np.repeat(blobs(4), 3, axis=0)),
    "all equal": lambda: with_everything(np.ones((6, 2))),
    "binary": lambda: with_everything(np.random.default_rng(2).integers(0, 2, (12, 3))),
    "a constant column": lambda: with_everything(np.c_[blobs(9), np.full(9, 5.0)]),
    "features alone": lambda: Problem(features=blobs(11)),
    "similarity alone": lambda: Problem(
        similarity=np.exp(-np.abs(np.subtract.outer(*[np.arange(10.0)] * 2)))
    ),
    "one item": lambda: with_everything(blobs(1)),
    "two items": lambda: with_everything(blobs(2)),
    "three items": lambda: with_everything(blobs(3)),
}


def random_tree(rng: np.random.Generator, n: int) -> Tree:
    """Return a tree of n items by merging at random, at most three at a time."""
    alive = list(range(n))
    children: list[list[int]] = []
    while len(alive) > 1:
        count = int(rng.integers(2, min(len(alive), 3) + 1))
        children.append([alive.pop(int(rng.integers(len(alive)))) for _ in range(count)])
        alive.append(n + len(children) - 1)
    return Tree.from_children(children, n)


def planted_triplets(n: int, count: int, seed: int) -> NDArray[np.int32]:
    """Return about ``count`` triplets that one random tree of three items or more satisfies."""
    rng = np.random.default_rng(seed)
    truth = random_tree(rng, n)
    draws = np.array([rng.choice(n, 3, replace=False) for _ in range(count)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return np.asarray(rows[truth.satisfies(rows)], dtype=np.int32)


__all__: list[Any] = [
    "DATA", "blobs", "planted_triplets", "random_tree", "with_everything",
]  # fmt: skip
