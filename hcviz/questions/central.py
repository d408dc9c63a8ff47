"""Choose the sampled tree that disagrees least with the other sampled trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.questions import kernels
from hcviz.questions.question import triples

#: Number of random triples of items by which trees are compared. The typical error is 0.01.
N_TRIPLES = 3000
#: At most this many sampled trees are compared; they are evenly spaced.
MAX_COMPARED = 128


def disagreement(posterior: Posterior, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the share of triples of items that two sampled trees resolve differently.

    Parameters
    ----------
    posterior : Posterior
        Sampled trees over at least three items.
    rng : numpy.random.Generator
        Draws the triples.

    Returns
    -------
    ndarray of float64, shape (k, k)
        Entry (s, t) compares trees s and t of :func:`compared_trees`.

    Raises
    ------
    InvalidData
        If there are no sampled trees, or fewer than three items.

    Notes
    -----
    The share is estimated from ``N_TRIPLES`` random triples, or all triples where there are fewer.
    O(k^2 N_TRIPLES + k n log n); at most about 10 ms.
    """
    n = posterior.n_items
    if n < 3 or not len(posterior.thinned_trees):
        raise InvalidData("There are no sampled trees over three items or more to compare.")
    threes = random_triples(n, N_TRIPLES, rng)
    chosen = compared_trees(posterior)
    place, gap = (np.ascontiguousarray(part[chosen]) for part in posterior.shapes()[:2])
    found = np.empty((len(place), len(threes), 1), np.uint8)
    kernels.arrangements(place, gap, threes, np.zeros((3, 3, 3), np.int32), found)
    same = np.empty((len(place), len(place)))
    kernels.agreements(found.reshape(len(place), -1), same)
    out: NDArray[np.float64] = 1.0 - same / len(threes)
    return out


def compared_trees(posterior: Posterior) -> NDArray[np.intp]:
    """Return the indices of the compared trees: all, or ``MAX_COMPARED`` evenly spaced ones."""
    many = len(posterior.thinned_trees)
    return np.unique(np.linspace(0, many - 1, min(many, MAX_COMPARED)).round().astype(np.intp))


def central_tree(posterior: Posterior, rng: np.random.Generator) -> Tree:
    """Return the sampled tree with the least mean disagreement with all sampled trees.

    The first of several equally good trees is returned.

    Parameters
    ----------
    posterior : Posterior
        Sampled trees over at least three items.
    rng : numpy.random.Generator
        Draws the triples by which trees are compared.

    Returns
    -------
    Tree

    Notes
    -----
    Vikram & Dasgupta (2016) measure a tree by its triplet distance to the target. The best tree to
    show therefore minimises the expected triplet distance under the posterior. This function takes
    the best of the sampled trees. For binary trees, the disagreement equals the triplet distance.
    The paper shows a single draw instead. On Iris, a single draw is about twice as far from the
    target.
    """
    apart = disagreement(posterior, rng)
    best = compared_trees(posterior)[int(np.argmin(apart.sum(axis=1)))]
    parent, height, _ = posterior.thinned_trees.value[best]
    found = Tree(parent, height, posterior.n_items)
    return found.with_labels(posterior.labels).with_info(posterior.info)


def random_triples(n: int, number: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return up to ``number`` triples of different items, increasing in each row: int32 (k, 3)."""
    if n * (n - 1) * (n - 2) // 6 <= number:
        return triples(n)
    draws = rng.integers(0, (n, n - 1, n - 2), size=(number, 3))
    draws[:, 1] += draws[:, 1] >= draws[:, 0]
    low, high = np.minimum(draws[:, 0], draws[:, 1]), np.maximum(draws[:, 0], draws[:, 1])
    draws[:, 2] += draws[:, 2] >= low
    draws[:, 2] += draws[:, 2] >= high
    return np.sort(draws, axis=1).astype(np.int32)
