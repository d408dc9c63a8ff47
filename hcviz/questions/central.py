"""Which of the sampled trees to show: the one that disagrees least with the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.questions import kernels
from hcviz.questions.question import triples

#: Random threes by which trees are compared: a share of them is off by 0.01 at most, typically.
THREES = 3000
#: Sampled trees that are compared at most, evenly taken.
COMPARED = 128


def disagreement(posterior: Posterior, rng: np.random.Generator) -> NDArray[np.float64]:
    """The share of threes of items that two sampled trees arrange differently: float64 (k, k).

    Of the trees that :func:`compared` numbers, estimated from ``THREES`` random threes (all of them
    where there are fewer). O(k^2 THREES + k n log n), some 10 ms at most.
    """
    n = posterior.n_items
    if n < 3 or not len(posterior.thinned_trees):
        raise InvalidData("There are no sampled trees over three items or more to compare.")
    threes = random_threes(n, THREES, rng)
    chosen = compared(posterior)
    place, gap = (np.ascontiguousarray(part[chosen]) for part in posterior.shapes()[:2])
    found = np.empty((len(place), len(threes), 1), np.uint8)
    kernels.arrangements(place, gap, threes, np.zeros((3, 3, 3), np.int32), found)
    same = np.empty((len(place), len(place)))
    kernels.agreements(found.reshape(len(place), -1), same)
    out: NDArray[np.float64] = 1.0 - same / len(threes)
    return out


def compared(posterior: Posterior) -> NDArray[np.intp]:
    """Which of the thinned trees: all, or ``COMPARED`` evenly spaced ones."""
    many = len(posterior.thinned_trees)
    return np.unique(np.linspace(0, many - 1, min(many, COMPARED)).round().astype(np.intp))


def central_tree(posterior: Posterior, rng: np.random.Generator) -> Tree:
    """The sampled tree with the least mean :func:`disagreement` with all of them, first of equals.

    Triplet distance is how Vikram & Dasgupta (2016) judges a tree; the tree that minimises its
    expectation under the posterior is then the one to show (Bayes' choice, here among the sampled
    ones: for binary trees the disagreement *is* the triplet distance). A single draw, which the
    paper shows, is worse by what the sampler does not know: on Iris about twice as far from the
    target.
    """
    apart = disagreement(posterior, rng)
    best = compared(posterior)[int(np.argmin(apart.sum(axis=1)))]
    parent, height, _ = posterior.thinned_trees.value[best]
    return Tree(parent, height, posterior.n_items)


def random_threes(n: int, number: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Up to ``number`` different items by threes, increasing within each: int32 (k, 3)."""
    if n * (n - 1) * (n - 2) // 6 <= number:
        return triples(n)
    draws = rng.integers(0, (n, n - 1, n - 2), size=(number, 3))
    draws[:, 1] += draws[:, 1] >= draws[:, 0]
    low, high = np.minimum(draws[:, 0], draws[:, 1]), np.maximum(draws[:, 0], draws[:, 1])
    draws[:, 2] += draws[:, 2] >= low
    draws[:, 2] += draws[:, 2] >= high
    return np.sort(draws, axis=1).astype(np.int32)
