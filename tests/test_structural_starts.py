"""The first tree of the search: two agglomerations, and the choice of the cheapest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import hcviz
from hcviz import Problem, Tree, metrics
from hcviz.algorithms import get
from hcviz.algorithms.structural import starts
from hcviz.core.build import build_guided


def finish(steps):
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        return stop.value


def weights(rng, n):
    upper = np.triu(rng.random((n, n)), 1)
    return upper + upper.T


def paris_by_definition(matrix):
    """Merge the pair of largest w(A, B) / (d(A) d(B)), by comparing all pairs each time."""
    degree = matrix.sum(axis=1)
    clusters, clades = [frozenset([i]) for i in range(len(matrix))], set()
    while len(clusters) > 1:
        pairs = [(a, b) for k, a in enumerate(clusters) for b in clusters[:k]]
        a, b = max(
            pairs,
            key=lambda p: (
                matrix[np.ix_(list(p[0]), list(p[1]))].sum()
                / (degree[list(p[0])].sum() * degree[list(p[1])].sum())
            ),
        )
        clusters = [c for c in clusters if c not in (a, b)] + [a | b]
        clades.add(a | b)
    return clades


def clades(tree):
    below = [frozenset([i]) for i in range(tree.n_leaves)]
    below += [frozenset()] * (tree.n_nodes - tree.n_leaves)
    for k, over in enumerate(tree.parent[:-1]):
        below[over] |= below[k]
    return set(below[tree.n_leaves :])


@pytest.mark.parametrize("seed", range(5))
def test_the_agglomerations_are_average_linkage_and_paris(seed):
    matrix = weights(np.random.default_rng(seed), 25)
    average, paris = (finish(starts.agglomerate(matrix, m)) for m in starts.masses(matrix))
    expected = linkage(squareform(1 - matrix, checks=False), "average")
    assert clades(average) == clades(Tree.from_linkage(expected))
    assert clades(paris) == paris_by_definition(matrix)


@pytest.mark.parametrize("fill", [0.0, 1.0, -1.0])
def test_ties_end(fill):
    matrix = np.full((40, 40), fill)
    for mass in starts.masses(matrix):
        assert finish(starts.agglomerate(matrix, mass)).is_binary


@pytest.mark.parametrize("rows", [[], [[0, 20, 1], [3, 4, 25]]])
def test_the_search_begins_at_the_cheapest(rows):
    rng = np.random.default_rng(0)
    matrix = weights(rng, 30) ** 4
    problem = Problem(similarity=matrix, triplets=rows)
    method = get("dasgupta-search")
    first = next(s for s in method.start_run(problem, method.parameters(), rng) if s is not None)
    assert first.tree.satisfies(problem.triplets).all()
    others = [hcviz.fit("crsc", problem)]
    for mass in starts.masses(matrix):
        tree = finish(starts.agglomerate(matrix, mass))
        others.append(build_guided(tree, problem.triplets))
    costs = [metrics.dasgupta_cost(tree, matrix) for tree in others]
    assert len(set(costs)) == 3
    assert first.metrics["cost"] == pytest.approx(min(costs))
