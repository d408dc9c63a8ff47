"""Similarities against their definitions, pair by pair."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

from hcviz import HcvizError
from hcviz.core.similarity import SIMILARITIES, from_distance, similarity_from_features, zscore

features = arrays(
    float,
    st.tuples(st.integers(1, 12), st.integers(0, 5)),
    elements=st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, 1e-9, 3e7])),
)


def plain_zscore(x):
    out = np.zeros_like(x)
    for j in range(x.shape[1]):
        column = [float(v) for v in x[:, j]]
        mean = math.fsum(column) / len(column)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in column) / len(column))
        for i, value in enumerate(column):
            out[i, j] = (value - mean) / spread if spread > 1e-12 * abs(mean) else 0.0
    return out


def plain_cosine(a, b):
    length = math.sqrt(math.fsum(a * a)) * math.sqrt(math.fsum(b * b))
    return math.fsum(a * b) / length if length > 0 else 0.0


def plain_distance(a, b):
    return math.sqrt(math.fsum((a - b) ** 2))


def pairwise(x, function):
    return np.array([[function(a, b) for b in x] for a in x]).reshape(len(x), len(x))


def plain(kind, x):
    z = plain_zscore(x)
    if kind == "cosine":
        return pairwise(x, plain_cosine)
    if kind == "cosine-z":
        return (1 + pairwise(z, plain_cosine)) / 2
    if kind == "correlation":
        centred = np.array([row - math.fsum(row) / len(row) for row in x])
        return (1 + pairwise(centred, plain_cosine)) / 2
    if kind == "gower":
        width = [float(np.ptp(column)) or 1.0 for column in x.T]
        return 1 - pairwise(x, lambda a, b: np.mean(np.abs(a - b) / width))
    distance = pairwise(z, plain_distance)
    if kind == "euclidean":
        return (distance.max() - distance) / distance.max()
    seventh = [sorted(row)[min(7, len(x) - 1)] for row in distance]
    width = float(np.median(seventh))
    if width == 0:
        positive = [d for i, row in enumerate(distance) for d in row[:i] if d > 0]
        width = float(np.median(positive)) if positive else 1.0
    return np.exp(-(distance**2) / (2 * width**2))


@pytest.mark.parametrize("kind", SIMILARITIES)
def test_each_kind_matches_its_definition(kind):
    rng = np.random.default_rng(5)
    for n, d in [(2, 1), (3, 4), (9, 2), (20, 7)]:
        x = rng.normal(2, 3, (n, d)).round(1)
        x[0] = x[-1]  # a duplicate
        if d > 1:
            x[:, 0] = 4.0  # a column that never varies
        if kind == "euclidean" and np.ptp(x, axis=0).max() == 0:
            continue
        assert similarity_from_features(x, kind) == pytest.approx(plain(kind, x), abs=1e-9)


@given(features, st.sampled_from(sorted(SIMILARITIES)))
def test_finite_symmetric_and_in_range(x, kind):
    matrix = similarity_from_features(x, kind)
    assert matrix.shape == (len(x), len(x))
    assert np.isfinite(matrix).all()
    assert np.array_equal(matrix, matrix.T)
    assert matrix.min() >= (-1.0 if kind == "cosine" else 0.0)
    assert matrix.max() <= 1.0


@given(arrays(float, (7, 3), elements=st.integers(-2000, 2000).map(lambda k: k / 8)))
def test_zscore_matches_its_definition(x):
    assert zscore(x) == pytest.approx(plain_zscore(x), abs=1e-9)


def test_zscore_detects_a_constant_of_any_size():
    """0.1 + 1e8 is no exact float: its mean is off by a rounding, and must not be blown up to 1."""
    for constant in (1e8 + 0.1, 0.1, 1e-20, -3e15):
        assert not zscore(np.full((1001, 1), constant)).any()
    tiny = zscore(np.array([[1e-15], [2e-15], [3e-15]]))[:, 0]
    assert tiny == pytest.approx([-math.sqrt(1.5), 0, math.sqrt(1.5)])


def test_constant_rows_and_items_without_features():
    x = np.array([[1.0, 1, 1], [1, 2, 3], [0, 0, 0]])
    assert similarity_from_features(x, "cosine")[2].tolist() == [0, 0, 0]
    assert similarity_from_features(x, "correlation")[0].tolist() == [0.5, 0.5, 0.5]
    for kind in SIMILARITIES:
        assert np.ptp(similarity_from_features(np.ones((4, 3)), kind)) < 1e-12


def test_a_width_of_duplicates():
    """Ten copies and two others: the seventh neighbour is at distance 0 for most items."""
    x = np.array([[0.0]] * 10 + [[1.0]] * 2)
    matrix = similarity_from_features(x, "gaussian")
    assert matrix[0, 1] == 1
    assert matrix[0, 11] == pytest.approx(math.exp(-0.5))


def test_similarities_from_distances():
    distance = np.array([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])
    assert from_distance(distance).tolist() == [[1, 0.75, 0], [0.75, 1, 0.5], [0, 0.5, 1]]
    assert from_distance(np.zeros((2, 2))).tolist() == [[1, 1], [1, 1]]


def test_an_unknown_name_raises_a_clear_error():
    with pytest.raises(HcvizError, match=r"no similarity 'cosin'.*cosine-z"):
        similarity_from_features(np.ones((2, 2)), "cosin")
