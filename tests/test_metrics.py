"""Costs and distances against their definitions, on all small trees and random ones."""

from __future__ import annotations

import itertools
import time

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from hcviz import Problem, Tree, Triplets, metrics
from hcviz.core.errors import InvalidConstraint, InvalidData, InvalidParameter
from tests.trees import all_trees, caterpillar, from_nested, random_tree

#: Without the compiler the large case shrinks, and speed is not measured.
COMPILED = not numba.config.DISABLE_JIT


def slow_cost(tree, matrix):
    return sum(
        (matrix[i, j] + matrix[j, i]) / 2 * tree.size[tree.lca(i, j)]
        for i, j in itertools.combinations(range(tree.n_leaves), 2)
    )


def resolution(tree, triple):
    """The triplet that a tree resolves a triple to, or None."""
    a, b, c = triple
    for row in ((a, b, c), (a, c, b), (b, c, a)):
        if tree.satisfies([row])[0]:
            return row
    return None


def resolutions(tree):
    triples = itertools.combinations(range(tree.n_leaves), 3)
    return [resolution(tree, triple) for triple in triples]


def slow_distance(target, tree):
    pairs = [(t, s) for t, s in zip(target, tree, strict=True) if t is not None]
    return sum(t != s for t, s in pairs) / len(pairs) if pairs else 0.0


def slow_agreement(a, b):
    same = [t is not None and t == s for t, s in zip(a, b, strict=True)]
    return sum(same) / len(same) if same else 1.0


@st.composite
def pairs_of_trees(draw, most=13):
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return tuple(random_tree(rng, n, polytomies=draw(st.booleans())) for _ in range(2))


# ---------------------------------------------------------------------- cost


@settings(max_examples=60, deadline=None)
@given(pairs_of_trees(), st.integers(0, 2**32 - 1))
def test_cost_is_the_sum_over_pairs(trees, seed):
    tree = trees[0]
    n = tree.n_leaves
    matrix = np.random.default_rng(seed).normal(size=(n, n))  # neither symmetric nor positive
    assert metrics.dasgupta_cost(tree, matrix) == pytest.approx(slow_cost(tree, matrix), abs=1e-9)


def test_all_binary_trees_have_the_same_cost_of_a_clique():
    # Dasgupta (2016), theorem 3: with all weights 1 every binary tree costs (n^3 - n) / 3.
    for tree in all_trees(5, binary=True):
        assert metrics.dasgupta_cost(tree, np.ones((5, 5))) == (5**3 - 5) / 3
    assert metrics.dasgupta_cost(Tree.star(5), np.ones((5, 5))) == 50


def test_the_cost_ignores_the_diagonal():
    tree = from_nested(((0, 1), 2), 3)
    matrix = np.ones((3, 3))
    for value in (7.0, np.nan, np.inf):
        np.fill_diagonal(matrix, value)
        assert metrics.dasgupta_cost(tree, matrix) == 2 + 3 + 3


def test_the_cost_accepts_all_array_likes():
    tree = random_tree(np.random.default_rng(0), 9)
    matrix = np.random.default_rng(1).integers(0, 5, (9, 9))
    matrix = matrix + matrix.T
    expected = slow_cost(tree, matrix)
    frozen = Problem(similarity=matrix).similarity
    for given_ in (matrix, matrix.tolist(), matrix.astype(np.float32), matrix[::1].T, frozen):
        assert metrics.dasgupta_cost(tree, given_) == pytest.approx(expected)
    assert not frozen.flags.writeable


def test_errors_of_the_cost_name_the_cell():
    tree = Tree.star(3)
    with pytest.raises(InvalidData, match=r"\(2, 2\)"):
        metrics.dasgupta_cost(tree, np.ones((2, 2)))
    matrix = np.ones((3, 3))
    matrix[1, 2] = np.nan
    with pytest.raises(InvalidData, match="row 1, column 2"):
        metrics.dasgupta_cost(tree, matrix)


def test_regularised_cost_adds_violated_triplets():
    tree = from_nested((((0, 1), 2), 3), 4)
    matrix = np.ones((4, 4))
    plain = metrics.dasgupta_cost(tree, matrix)
    triplets = Triplets([[0, 1, 2], [0, 2, 1], [1, 3, 0]], weights=[5.0, 2.0, 0.5])
    # The first holds; |T[0,2]| = 3 and |T[1,3]| = 4 for the others.
    expected = plain + 10.0 * (2.0 * 3 + 0.5 * 4)
    assert metrics.regularised_cost(tree, matrix, triplets, 10.0) == expected
    assert metrics.regularised_cost(tree, matrix, None, 10.0) == plain
    with pytest.raises(InvalidParameter):
        metrics.regularised_cost(tree, matrix, triplets, -1.0)
    with pytest.raises(InvalidConstraint):
        metrics.regularised_cost(tree, matrix, [[0, 1, 9]], 1.0)


# ---------------------------------------------------------------------- triplets


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_triplet_distance_on_all_pairs_of_small_trees(n):
    trees = list(all_trees(n))
    resolved = [resolutions(tree) for tree in trees]
    for (a, of_a), (b, of_b) in itertools.product(zip(trees, resolved, strict=True), repeat=2):
        assert metrics.triplet_distance(a, b) == pytest.approx(slow_distance(of_a, of_b))
        assert metrics.triplet_agreement(a, b) == pytest.approx(slow_agreement(of_a, of_b))


@settings(max_examples=60, deadline=None)
@given(pairs_of_trees())
def test_triplet_distance_on_random_trees(trees):
    a, b = trees
    of_a, of_b = resolutions(a), resolutions(b)
    assert metrics.triplet_distance(a, b) == pytest.approx(slow_distance(of_a, of_b))
    assert metrics.triplet_agreement(a, b) == pytest.approx(slow_agreement(of_a, of_b))


def test_triplet_distance_is_not_symmetric():
    fine, coarse = from_nested((((0, 1), 2), 3), 4), from_nested(((0, 1), 2, 3), 4)
    assert metrics.triplet_distance(coarse, fine) == 0.0  # fine refines coarse
    assert metrics.triplet_distance(fine, coarse) == 0.5
    assert metrics.triplet_distance(Tree.star(4), fine) == 0.0  # it resolves nothing
    assert metrics.triplet_distance(fine, Tree.star(4)) == 1.0
    assert metrics.triplet_agreement(coarse, fine) == 0.5


def test_large_and_deep_trees():
    n = 20_000 if COMPILED else 300
    rng = np.random.default_rng(0)
    deep, bushy = caterpillar(n), random_tree(rng, n)
    metrics.warm()
    began = time.thread_time()
    assert metrics.triplet_distance(deep, deep) == 0.0
    there, back = metrics.triplet_distance(deep, bushy), metrics.triplet_distance(bushy, deep)
    assert (
        time.thread_time() - began < 10.0 or not COMPILED
    )  # some 0.2 s; an O(n^2) method needs minutes
    assert there == pytest.approx(back)  # binary trees resolve all triples, so it is symmetric
    # Triples drawn at random agree as often, within five standard errors of 20,000 draws.
    draws = np.array([rng.choice(n, 3, replace=False) for _ in range(20_000)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    same = (deep.satisfies(rows) & bushy.satisfies(rows)).sum() / len(draws)
    assert abs((1 - there) - same) < 5 * np.sqrt(there * (1 - there) / len(draws))


# ---------------------------------------------------------------------- cuts


def slow_cut(tree, count):
    """Undo merges one at a time, from the last, until there are enough clusters."""
    merges = sorted(range(tree.n_leaves, tree.n_nodes), key=lambda v: (tree.height[v], v))
    tops = [tree.root]
    while len(tops) < min(count, tree.n_leaves):
        last = merges.pop()
        tops.remove(last)
        tops += tree.children(last).tolist()
    labels = np.empty(tree.n_leaves, int)
    for label, top in enumerate(tops):
        labels[tree.leaves(top)] = label
    return labels


@settings(max_examples=60, deadline=None)
@given(pairs_of_trees(), st.integers(1, 9))
def test_cut_undoes_the_last_merges(trees, count):
    for tree in trees:
        labels = metrics.cut(tree, count)
        assert adjusted_rand_score(labels, slow_cut(tree, count)) == 1.0
        assert len(set(labels.tolist())) == labels.max() + 1
        if tree.is_binary:
            assert labels.max() + 1 == min(count, tree.n_leaves)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_adjusted_rand_index_equals_scikit_learns(seed, n):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, n).astype(np.int32), rng.integers(0, 3, n).astype(np.int32)
    expected = adjusted_rand_score(a, b)
    assert metrics.adjusted_rand_index(a, b) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(pairs_of_trees(), st.integers(1, 4))
def test_aari_is_the_mean_over_levels(trees, levels):
    a, b = trees
    each = [
        adjusted_rand_score(slow_cut(a, 2**level), slow_cut(b, 2**level))
        for level in range(1, levels + 1)
    ]
    assert metrics.aari(a, b, levels) == pytest.approx(np.mean(each), abs=1e-12)


def test_aari_of_a_tree_with_itself_is_one():
    tree = random_tree(np.random.default_rng(2), 40)
    assert metrics.aari(tree, tree, 3) == 1.0
    with pytest.raises(InvalidParameter):
        metrics.aari(tree, tree, 0)


# ---------------------------------------------------------------------- changes


@settings(max_examples=80, deadline=None)
@given(pairs_of_trees())
def test_clade_changes_are_set_differences(trees):
    before, after = trees

    def sets(tree):
        return {v: frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)}

    old, new = sets(before), sets(after)
    found = metrics.clade_changes(before, after)
    assert found.gained.tolist() == [v for v in new if new[v] not in old.values()]
    assert found.lost.tolist() == [v for v in old if old[v] not in new.values()]
    assert found.kept == len(set(old.values()) & set(new.values()))


def test_numbers_and_heights_of_nodes_are_no_change():
    tree = Tree.from_newick("(((0,1),2),((3,4),5));")
    other = Tree.from_newick("((5:1,(4:1,3:1):2):9,(2:1,(1:1,0:1):1):7);")
    found = metrics.clade_changes(tree, other)
    assert (found.gained.size, found.lost.size, found.kept) == (0, 0, 5)


@pytest.mark.parametrize(
    "compare",
    [
        metrics.triplet_distance,
        metrics.triplet_agreement,
        metrics.clade_changes,
        lambda a, b: metrics.aari(a, b, 1),
    ],
)
def test_trees_over_different_items_cannot_be_compared(compare):
    with pytest.raises(InvalidData, match="3 and 4 leaves"):
        compare(Tree.star(3), Tree.star(4))
