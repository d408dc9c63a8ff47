"""The linkages: scipy's trees of the distances that their docstrings promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

import hcviz
from hcviz import Problem, Tree
from hcviz.algorithms.linkage import distances
from hcviz.core.errors import InvalidData, TooLarge

METHODS = ["average", "single", "complete", "ward"]


def same(first: Tree, second: Tree) -> bool:
    """Return True for the same clades at the same heights, up to rounding."""

    def heights(tree: Tree) -> dict[tuple[int, ...], float]:
        nodes = range(tree.n_leaves, tree.n_nodes)
        return {tuple(sorted(tree.leaves(v).tolist())): float(tree.height[v]) for v in nodes}

    one, other = heights(first), heights(second)
    return one.keys() == other.keys() and np.allclose(
        list(one.values()), [other[clade] for clade in one], rtol=1e-9
    )


@pytest.fixture
def features():
    return np.random.default_rng(0).normal(size=(17, 3))


@pytest.mark.parametrize("method", METHODS)
def test_features_mean_euclidean_distance(method, features):
    tree = hcviz.fit(method, Problem(features=features))
    assert same(tree, Tree.from_linkage(linkage(pdist(features), method)))


@pytest.mark.parametrize("method", METHODS)
def test_a_similarity_is_turned_round_by_its_largest_entry(method, features):
    similarity = np.exp(-squareform(pdist(features)))
    np.fill_diagonal(similarity, 99.0)  # ignored
    highest = max(similarity[i, j] for i in range(17) for j in range(i))
    apart = np.array([highest - similarity[i, j] for i in range(17) for j in range(i + 1, 17)])
    tree = hcviz.fit(method, Problem(similarity=similarity))
    assert same(tree, Tree.from_linkage(linkage(apart, method)))


def test_ward_prefers_features_and_the_others_the_similarity(features):
    similarity = np.random.default_rng(1).random((17, 17))
    similarity = similarity + similarity.T
    both = Problem(features=features, similarity=similarity)
    assert hcviz.fit("ward", both) == hcviz.fit("ward", Problem(features=features))
    assert hcviz.fit("average", both) == hcviz.fit("average", Problem(similarity=similarity))


@pytest.mark.parametrize("method", METHODS)
def test_few_items_and_duplicates(method):
    assert hcviz.fit(method, Problem(features=[[1.0]])).n_nodes == 1
    assert hcviz.fit(method, Problem(similarity=[[1.0, 0.2], [0.2, 1.0]])).n_nodes == 3
    tree = hcviz.fit(method, Problem(features=np.zeros((6, 2))))
    assert tree.is_binary
    assert np.all(tree.height == 0)


@pytest.mark.parametrize("method", METHODS)
def test_without_similarities_there_is_a_sentence(method):
    with pytest.raises(InvalidData, match="needs similarity"):
        hcviz.run(method, Problem(labels=["a", "b"]))


@pytest.mark.parametrize("method", METHODS)
def test_large_data_give_scipys_tree(method):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(1500, 5)) + 4 * rng.integers(0, 4, size=(1500, 1))
    tree = hcviz.fit(method, Problem(features=points))
    assert same(tree, Tree.from_linkage(linkage(pdist(points), method)))


@pytest.mark.parametrize("method", METHODS)
def test_ties_of_a_small_table_are_scipys(method):
    problem = hcviz.datasets.load("zoo").problem()  # half of the animals have an equal one
    apart = pdist(problem.features) if method == "ward" else distances(problem)
    tree = hcviz.fit(method, problem)
    assert same(tree, Tree.from_linkage(linkage(apart, method)))


def test_ward_takes_any_number_of_items_and_the_others_do_not():
    rng = np.random.default_rng(3)
    which = rng.permutation(np.repeat([0.0, 50.0], 6_000))
    points = rng.normal(size=(12_000, 2)) + which[:, None]
    labels = hcviz.fit("ward", Problem(features=points)).clusters(2).to_numpy()
    assert len(set(zip(labels.tolist(), which.tolist(), strict=True))) == 2
    with pytest.raises(TooLarge):
        hcviz.fit("average", Problem(features=points))
    with pytest.raises(TooLarge):  # triplets need the distances
        hcviz.fit("ward", Problem(features=points, triplets=[(0, 1, 2)]))
