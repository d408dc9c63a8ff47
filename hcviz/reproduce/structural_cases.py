"""Zoo for the experiment of Chatziafratis et al. (2018), and triplets of its target."""

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
    """Features of some animals, their similarity, and the target T*."""

    features: NDArray[np.float64]
    similarity: NDArray[np.float64]
    target: Tree

    @classmethod
    def first(cls, animals: int) -> Zoo:
        """Return the first ``animals`` animals, without the first frog."""
        data = load("zoo")
        assert data.features is not None
        frog = data.labels.index("frog")
        features = np.delete(data.features, frog, axis=0)[:animals]
        similarity = similarity_from_features(features, "cosine")
        return cls(features, similarity, fit("crsc", Problem(similarity=similarity)))

    def noisy(self, features: int, triplets: Any = None) -> Problem:
        """Return a problem with similarities of the first ``features`` features."""
        seen = similarity_from_features(self.features[:, :features], "cosine")
        return Problem(similarity=seen, triplets=triplets)

    def judged(self, tree: Tree) -> tuple[float, float]:
        """Return Dasgupta's cost under all features, and the triplet distance to T*."""
        return dasgupta_cost(tree, self.similarity), triplet_distance(self.target, tree)


def cut_triplets(tree: Tree, cuts: int) -> NDArray[np.int32]:
    """Return triplets that determine a binary tree's ``cuts`` largest cuts, and nothing below.

    A cut of a clade into S and R gives triplets aa'|r for consecutive items a, a' of S and an item
    r of R, and the same with S and R exchanged. The items of S, and those of R, are then one
    supernode each. A clade of m items gives m - 2 triplets.
    """
    inner = range(tree.n_leaves, tree.n_nodes)
    rows = []
    for v in sorted(inner, key=lambda v: (-int(tree.size[v]), -v))[:cuts]:
        left, right = (tree.leaves(int(child)) for child in tree.children(v))
        rows += [(a, b, right[0]) for a, b in pairwise(left)]
        rows += [(a, b, left[0]) for a, b in pairwise(right)]
    return np.array(rows, np.int32).reshape(-1, 3)


def random_triplets(tree: Tree, count: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return a binary tree's triplets for ``count`` random triples of items."""
    threes = np.array([rng.choice(tree.n_leaves, 3, replace=False) for _ in range(count)], np.int32)
    turned = [threes, threes[:, [0, 2, 1]], threes[:, [1, 2, 0]]]
    true = np.argmax([tree.satisfies(rows) for rows in turned], axis=0)
    found: NDArray[np.int32] = np.stack(turned)[true, np.arange(count)]
    return found


def with_wrong_answers(
    triplets: NDArray[np.int32], share: float, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return the triplets with a ``share`` replaced by one of the two other triplets."""
    changed = triplets.copy()
    for k in rng.permutation(len(changed))[: round(share * len(changed))]:
        changed[k] = changed[k][[0, 2, 1] if rng.random() < 0.5 else [1, 2, 0]]
    return changed


def relabelled(tree: Tree, names: NDArray[np.int64]) -> Tree:
    """Return the tree in which leaf i becomes leaf ``names[i]``."""
    parent = tree.parent.copy()
    parent[names] = tree.parent[: tree.n_leaves]
    return Tree.with_size_heights(parent, tree.n_leaves)
