"""The merges of a linkage: scipy's heights, and the distances of clusters by their definition."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from hcviz.algorithms import get
from hcviz.core import merge_steps as module
from hcviz.core.merge_steps import merge_steps
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree

POINTS = np.random.default_rng(4).normal(size=(9, 3))
DISTANCE = squareform(pdist(POINTS))


def distance_of(method, a, b):
    pairs = DISTANCE[np.ix_(a, b)]
    if method == "ward":
        gap = np.linalg.norm(POINTS[a].mean(0) - POINTS[b].mean(0))
        return gap * np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)))
    return {"average": pairs.mean(), "single": pairs.min(), "complete": pairs.max()}[method]


@pytest.mark.parametrize("method", ["average", "single", "complete", "ward"])
def test_each_step_has_the_distances_by_their_definition_and_merges_the_nearest(method):
    merges = linkage(pdist(POINTS), method)
    steps = merge_steps(Tree.from_linkage(merges), pdist(POINTS), method)
    assert len(steps) == 8
    for step, row in zip(steps, merges, strict=True):
        k = len(step.clusters)
        for p in range(k):
            for q in range(p):
                expected = distance_of(method, step.clusters[p], step.clusters[q])
                assert step.distances[p, q] == pytest.approx(expected)
                assert step.distances[q, p] == step.distances[p, q]
        assert step.height == pytest.approx(row[2])
        assert step.distances[step.pair] == pytest.approx(row[2])
        assert step.distances[step.pair] == step.distances[~np.eye(k, dtype=bool)].min()


def test_a_constraint_can_forbid_the_nearest_pair():
    method = get("average")
    problem = Problem(POINTS).with_triplets([(0, 5, 6)])
    *_, last = method.start_run(problem, method.parameters(), np.random.default_rng(0))
    steps = method.merge_steps(problem, last.tree)
    assert last.tree.satisfies([(0, 5, 6)]).all()
    nearest = [s.distances[~np.eye(len(s.clusters), dtype=bool)].min() for s in steps]
    merged = [s.distances[s.pair] for s in steps]
    assert any(a < b - 1e-9 for a, b in zip(nearest, merged, strict=True))


def test_a_tree_that_was_repaired_after_its_merges_has_none():
    method = get("average")
    problem = Problem(POINTS).with_triplets([(0, 5, 6), (1, 6, 2), (3, 8, 4)])
    params = method.parameters(constraints="repair")
    *_, last = method.start_run(problem, params, np.random.default_rng(0))
    assert last.tree.n_nodes == 17
    assert method.merge_steps(problem, last.tree) == ()
    free = Problem(POINTS)
    *_, last = method.start_run(free, params, np.random.default_rng(0))
    assert len(method.merge_steps(free, last.tree)) == 8


def test_a_tree_with_a_wide_node_has_no_merges():
    assert merge_steps(Tree.star(4), pdist(POINTS[:4]), "average") == ()


def test_the_examples_run():
    found = doctest.testmod(module)
    assert (found.attempted > 4, found.failed) == (True, 0)
