"""Agglomerative clustering against its definition, with fractions and sets."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from hcviz import InconsistentTriplets, Tree, metrics
from hcviz.core.agglomerate import agglomerate
from tests.trees import all_trees, random_tree


def clades(tree):
    return {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)}


def merge_order(tree):
    """The clades in the order in which they were made."""
    return [frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)]


def slow(matrix, method, rows=(), groups=None):
    """The clades in order: O(n^4) and worse, straight from the definition."""
    n = len(matrix)
    exact = [[Fraction(float(x)) for x in row] for row in matrix]
    alive = [frozenset([i]) for i in range(n)]
    groups = [0] * n if groups is None else groups
    made: list[frozenset] = []
    trees = [t for t in all_trees(n) if t.satisfies(np.array(rows)).all()] if len(rows) else []

    def possible(clade):
        if not len(rows):
            return True
        return any(set([*made, clade]) - {frozenset(range(n))} <= clades(t) for t in trees)

    def similarity(p, q):
        values = [exact[i][j] for i in p for j in q]
        return {"average": lambda v: sum(v) / len(v), "single": max, "complete": min}[method](
            values
        )

    while len(alive) > 1:
        alive.sort(key=min)
        best = None
        for inside in (True, False):
            for p, q in combinations(alive, 2):
                if inside and len({groups[i] for i in p | q}) > 1:
                    continue
                if possible(p | q):
                    value = similarity(p, q)
                    if best is None or value > best[0]:
                        best = (value, p, q)
            if best is not None:
                break
        _, p, q = best
        alive = [c for c in alive if c not in (p, q)] + [p | q]
        made.append(p | q)
    return made


def whole_matrix(rng, n, spread):
    upper = np.triu(rng.integers(-spread, spread + 1, (n, n)), 1)
    return (upper + upper.T).astype(float)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 8),
    st.sampled_from(["average", "single", "complete"]),
    st.sampled_from([1, 2, 50]),
    st.booleans(),
)
def test_each_merge_matches_the_definition_also_in_ties(seed, n, method, spread, grouped):
    rng = np.random.default_rng(seed)
    matrix = whole_matrix(rng, n, spread)
    groups = rng.integers(0, 3, n) if grouped else None
    tree = agglomerate(matrix, method, groups=groups)
    assert merge_order(tree) == slow(matrix, method, groups=groups)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(3, 5),
    st.sampled_from(["average", "single", "complete"]),
    st.integers(1, 8),
)
def test_with_triplets_only_consistent_merges_are_made(seed, n, method, count):
    rng = np.random.default_rng(seed)
    matrix = whole_matrix(rng, n, 3)
    truth = random_tree(rng, n)
    rows = np.array([rng.choice(n, 3, replace=False) for _ in range(count)])
    rows = rows[truth.satisfies(rows)]
    tree = agglomerate(matrix, method, triplets=rows)
    assert merge_order(tree) == slow(matrix, method, rows)
    assert tree.satisfies(rows).all() if len(rows) else True


@pytest.mark.parametrize("method", ["average", "single", "complete"])
def test_it_agrees_with_scipy_where_nothing_ties(method):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(80, 3))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = Tree.from_linkage(linkage(squareform(apart, checks=False), method))
    tree = agglomerate(-apart, method, rng=rng)
    assert clades(tree) == clades(expected)
    heights = np.sort(tree.height[80:] - tree.height[80:].min())
    assert np.allclose(heights, np.sort(expected.height[80:] - expected.height[80:].min()))


def test_ties_do_not_depend_on_the_numbers_of_items():
    """All similarities equal: each pair is the first merge equally often (chi-squared, 5 d.f.:
    above 25.7 with probability 1e-4)."""
    seen = np.zeros((4, 4))
    for seed in range(600):
        tree = agglomerate(np.ones((4, 4)), rng=np.random.default_rng(seed))
        a, b = sorted(merge_order(tree)[0])[:2]
        seen[a, b] += 1
    counts = seen[np.triu_indices(4, 1)]
    assert ((counts - 100) ** 2 / 100).sum() < 25.7


def test_hundreds_of_items_under_many_answers():
    rng = np.random.default_rng(0)
    n = 150
    truth = random_tree(rng, n)
    rows = np.array([rng.choice(n, 3, replace=False) for _ in range(3000)])
    rows = rows[truth.satisfies(rows)]
    matrix = whole_matrix(rng, n, 100)
    tree = agglomerate(matrix, triplets=rows)
    assert tree.satisfies(rows).all()
    free = agglomerate(matrix)
    before = metrics.triplet_distance(truth, free)
    assert metrics.triplet_distance(truth, tree) < before


def test_contradictions_are_named():
    with pytest.raises(InconsistentTriplets):
        agglomerate(np.ones((3, 3)), triplets=[[0, 1, 2], [1, 2, 0]])


def test_one_item_and_two():
    assert agglomerate([[0.0]]).n_leaves == 1
    assert agglomerate(np.ones((2, 2))).n_nodes == 3
