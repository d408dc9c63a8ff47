"""Ward's linkage of neighbours: its parts against definitions, its trees against Ward's linkage."""

from __future__ import annotations

import numpy as np
import pytest
from fastcluster import linkage_vector
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

import hcviz
from hcviz import Problem
from hcviz.algorithms.neighbours import forest, merging


def finish(work):
    """The steps and the result of a generator."""
    steps = []
    while True:
        try:
            steps.append(next(work))
        except StopIteration as end:
            return steps, end.value


def clusters(n, d, seed=0):
    """Points of thirty clusters; and which cluster each is of."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(30, size=n)
    return 4 * rng.normal(size=(30, d))[truth] + rng.normal(size=(n, d)), truth


# ------------------------------------------------------------------------------ neighbours


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=80), st.data())
def test_select_partitions_at_the_middle(values, data):
    key = np.array(values, np.float32)
    order = np.arange(len(values), dtype=np.int32)
    middle = data.draw(st.integers(0, len(values) - 1))
    forest.select(key, order, 0, len(values) - 1, middle)
    assert np.array_equal(key, np.array(values, np.float32)[order])
    assert key[: middle + 1].max() <= key[middle:].min()
    assert sorted(order) == list(range(len(values)))


@pytest.mark.parametrize("n", [1, 2, 32, 33, 1000])
def test_leaves_are_small_and_have_each_point_once(n):
    points = np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)
    order = np.arange(n, dtype=np.int32)
    ends = forest.divide(points, order, 7)
    assert sorted(order) == list(range(n))
    assert ends[-1] == n
    sizes = np.diff([0, *ends])
    assert sizes.min() >= 1
    assert sizes.max() <= forest.LEAF


@pytest.mark.parametrize("d", [2, 10])
def test_most_neighbours_are_the_true_ones(d):
    """At least .9 of them: with ten seeds the share was .997 and .95 at least."""
    points = clusters(3000, d)[0].astype(np.float32)
    _, found = finish(forest.nearest_neighbours(points, 10, 4, np.random.default_rng(0)))
    distance = cdist(points, points)
    np.fill_diagonal(distance, np.inf)
    true = np.argsort(distance, axis=1)[:, :10]
    share = np.mean([np.isin(a, b).mean() for a, b in zip(found, true, strict=True)])
    assert share > 0.9
    near = np.take_along_axis(distance, found.astype(np.int64), axis=1)
    assert (np.diff(near, axis=1) > -1e-4).all()  # the nearest first, up to single precision
    assert all(len({i, *row}) == 11 for i, row in enumerate(found))


def test_few_points_have_all_others_as_neighbours():
    points = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
    _, found = finish(forest.nearest_neighbours(points, 6, 1, np.random.default_rng(0)))
    assert all(set(row) == {-1, *range(5)} - {i} for i, row in enumerate(found))


# ------------------------------------------------------------------------------ merging


def random_graph(rng, m):
    """A symmetric graph as starts and neighbours, and as sets."""
    near = np.triu(rng.random((m, m)) < 0.3, 1)
    near |= near.T
    start = np.concatenate([[0], np.cumsum(near.sum(1))]).astype(np.int64)
    return start, np.nonzero(near)[1].astype(np.int32), [set(np.flatnonzero(row)) for row in near]


@pytest.mark.parametrize("seed", range(10))
def test_the_nearest_cluster_has_the_least_linkage_value(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 30))
    centroid, size = rng.integers(0, 3, (m, 2)).astype(float), rng.integers(1, 4, m).astype(float)
    start, neighbour, near = random_graph(rng, m)
    found, value = merging.nearest_clusters(centroid, size, start, neighbour)
    for i in range(m):
        if not near[i]:
            assert found[i] == -1
            continue
        squared = ((centroid[i] - centroid) ** 2).sum(1)
        wards = {j: squared[j] * (2 * (size[i] * size[j]) / (size[i] + size[j])) for j in near[i]}
        assert value[i] == min(wards.values())
        assert wards[found[i]] == value[i]
    least = [i for i in range(m) if near[i] and value[i] == value.min()]
    assert not least or any(found[found[i]] == i for i in least)  # so each round merges a pair


@pytest.mark.parametrize("seed", range(10))
def test_a_contracted_graph_has_the_neighbours_of_the_parts(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 30))
    start, neighbour, near = random_graph(rng, m)
    new_of = rng.permutation(np.repeat(np.arange((m + 1) // 2), 2)[:m]).astype(np.int32)
    count = (m + 1) // 2
    made_start, made = merging.contract(new_of, count, start, neighbour)
    for new in range(count):
        parts = np.flatnonzero(new_of == new)
        expected = {int(new_of[j]) for part in parts for j in near[part]} - {new}
        found = made[made_start[new] : made_start[new + 1]].tolist()
        assert set(found) == expected
        assert len(found) == len(expected)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (3, 1), (60, 2), (merging.ALL_PAIRS, 4)])
def test_few_items_have_wards_linkage(n, d):
    points = np.random.default_rng(n).normal(size=(n, d))
    tree = hcviz.fit("neighbour-ward", Problem(features=points))
    if n == 1:
        assert tree.n_leaves == 1
        return
    expected = linkage(points, "ward")
    assert np.allclose(cophenet(tree.to_linkage()), cophenet(expected))


@pytest.mark.parametrize("d", [2, 10])
def test_many_items_have_nearly_wards_linkage(d):
    """The sum of squared heights is at most .5 % above; with ten seeds it was .02 %.

    The clusters agree to at least .9; with ten seeds, to .94.
    """
    points, truth = clusters(6000, d)
    tree = hcviz.fit("neighbour-ward", Problem(features=points))
    ours, wards = tree.to_linkage(), linkage_vector(points, "ward")
    assert (ours[:, 2] ** 2).sum() < 1.005 * (wards[:, 2] ** 2).sum()
    parts = [fcluster(each, 30, "maxclust") for each in (ours, wards)]
    assert adjusted_rand_score(*parts) > 0.9
    scores = [adjusted_rand_score(truth, each) for each in parts]
    assert scores[0] > scores[1] - 0.05


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((20_000, 2)),
        np.random.default_rng(0).integers(0, 3, (20_000, 2)).astype(float),
        np.exp(np.linspace(0, 700, 3_000))[:, None],
        np.full((2_000, 1), 1e300),
    ],
    ids=["equal", "nine places", "growing gaps", "large numbers"],
)
def test_equal_and_distant_points_merge_in_few_rounds(points):
    steps, (parent, height) = finish(
        merging.merge_neighbours(points, 10, 2, np.random.default_rng(0))
    )
    assert len(steps) < 1_000
    assert np.isfinite(height).all()
    assert (parent >= 0).sum() == 2 * len(points) - 2


def test_more_items_than_a_matrix_holds_and_answers_are_kept():
    points, truth = clusters(12_000, 3)
    group = np.flatnonzero(truth == 0)[:5].tolist() + np.flatnonzero(truth == 1)[:1].tolist()
    problem = Problem(features=points, groups=[group], triplets=[[20, 30, 40]])
    tree = hcviz.fit("neighbour-ward", problem)
    assert tree.has_clade(group)
    assert tree.satisfies([[20, 30, 40]]).all()
    assert tree.info.compared == "Euclidean distance of the features"
