"""Zoo as Chatziafratis et al.'s (2018) experiment has it, and what of its target a method is
told."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import fit
from hcviz.core.problem import Problem
from hcviz.core.similarity import similarity_from_features
from hcviz.core.tree import Tree
from hcviz.datasets import load
from hcviz.metrics import dasgupta_cost, triplet_distance


@dataclass(frozen=True, eq=False)
class Zoo:
    """The first ``animals`` animals, first frog dropped: features, similarity of them all, T*."""

    features: NDArray[np.float64]
    similarity: NDArray[np.float64]
    target: Tree

    @classmethod
    def first(cls, animals: int) -> Zoo:
        data = load("zoo")
        assert data.features is not None
        frog = data.labels.index("frog")
        features = np.delete(data.features, frog, axis=0)[:animals]
        similarity = similarity_from_features(features, "cosine")
        return cls(features, similarity, fit("crsc", Problem(similarity=similarity)))

    def noisy(self, features: int, triplets: Any = None) -> Problem:
        """What a method is given."""
        seen = similarity_from_features(self.features[:, :features], "cosine")
        return Problem(similarity=seen, triplets=triplets)

    def judged(self, tree: Tree) -> tuple[float, float]:
        """Cost under all features, and triplet distance to T*."""
        return dasgupta_cost(tree, self.similarity), triplet_distance(self.target, tree)


def cut_triplets(tree: Tree, cuts: int) -> NDArray[np.int32]:
    """Triplets that induce a binary tree's ``cuts`` largest cuts and ask for nothing below them.

    For a cut of a clade into S and R the items of S are chained against one of R, and the other way
    round: on that clade the supergraph then has two nodes. As many as items, less two, a cut.
    """
    inner = range(tree.n_leaves, tree.n_nodes)
    rows = []
    for v in sorted(inner, key=lambda v: (-int(tree.size[v]), -v))[:cuts]:
        left, right = (tree.leaves(int(child)) for child in tree.children(v))
        rows += [(a, b, right[0]) for a, b in pairwise(left)]
        rows += [(a, b, left[0]) for a, b in pairwise(right)]
    return np.array(rows, np.int32).reshape(-1, 3)


def random_triplets(tree: Tree, count: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """What a binary tree says of ``count`` random threes of its items."""
    threes = np.array([rng.choice(tree.n_leaves, 3, replace=False) for _ in range(count)], np.int32)
    turned = [threes, threes[:, [0, 2, 1]], threes[:, [1, 2, 0]]]
    true = np.argmax([tree.satisfies(rows) for rows in turned], axis=0)
    found: NDArray[np.int32] = np.stack(turned)[true, np.arange(count)]
    return found


def with_wrong(
    triplets: NDArray[np.int32], share: float, rng: np.random.Generator
) -> NDArray[np.int32]:
    """A ``share`` of the triplets replaced by one of the two other answers."""
    told = triplets.copy()
    for k in rng.permutation(len(told))[: round(share * len(told))]:
        told[k] = told[k][[0, 2, 1] if rng.random() < 0.5 else [1, 2, 0]]
    return told


def renamed(tree: Tree, names: NDArray[np.int64]) -> Tree:
    """The tree whose leaf ``names[i]`` is the given one's leaf i."""
    parent = tree.parent.copy()
    parent[names] = tree.parent[: tree.n_leaves]
    return Tree.with_size_heights(parent, tree.n_leaves)
