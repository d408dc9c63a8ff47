"""The linkages: scipy's trees of the distances that their docstrings promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

import hcviz
from hcviz import Problem, Tree
from hcviz.core.errors import InvalidData

METHODS = ["average", "single", "complete", "ward"]


@pytest.fixture
def features():
    return np.random.default_rng(0).normal(size=(17, 3))


@pytest.mark.parametrize("method", METHODS)
def test_features_mean_euclidean_distance(method, features):
    tree = hcviz.fit(method, Problem(features=features))
    assert tree == Tree.from_linkage(linkage(pdist(features), method))


@pytest.mark.parametrize("method", METHODS)
def test_a_similarity_is_turned_round_by_its_largest_entry(method, features):
    similarity = np.exp(-squareform(pdist(features)))
    np.fill_diagonal(similarity, 99.0)  # ignored
    highest = max(similarity[i, j] for i in range(17) for j in range(i))
    apart = np.array([highest - similarity[i, j] for i in range(17) for j in range(i + 1, 17)])
    tree = hcviz.fit(method, Problem(similarity=similarity))
    assert tree == Tree.from_linkage(linkage(apart, method))


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
