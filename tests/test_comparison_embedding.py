"""t-STE and FORTE: their losses word by word, their gradients by differences, what they recover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import check_grad

import hcviz
from hcviz import Comparisons, Problem
from hcviz.algorithms.comparison import embedding
from hcviz.algorithms.comparison.embedding import logistic_loss, student_loss
from hcviz.core.errors import InvalidParameter
from hcviz.datasets import planted_hierarchy, sample_comparisons


def drawn(seed, n=7, d=3, m=25):
    rng = np.random.default_rng(seed)
    rows = [[*rng.choice(n, 2, False), *rng.choice(n, 2, False)] for _ in range(m - 5)]
    rows += Comparisons([rng.choice(n, 3, False) for _ in range(5)]).as_quadruplets().rows.tolist()
    return rng.normal(size=(n, d)), np.array(rows, np.int32)


def squared(x, i, j):
    return sum((x[i] - x[j]) ** 2)


@pytest.mark.parametrize("freedom", [1.0, 2.5])
def test_losses_are_their_definitions(freedom):
    x, rows = drawn(0)

    def kernel(i, j):
        return (1 + squared(x, i, j) / freedom) ** (-(1 + freedom) / 2)

    student = [-math.log(kernel(i, j) / (kernel(i, j) + kernel(k, m))) for i, j, k, m in rows]
    assert student_loss(x, rows, freedom)[0] == pytest.approx(np.mean(student))
    logistic = [math.log1p(math.exp(squared(x, i, j) - squared(x, k, m))) for i, j, k, m in rows]
    assert logistic_loss(x, rows)[0] == pytest.approx(np.mean(logistic))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [lambda x, r: student_loss(x, r, 1.5), logistic_loss])
def test_gradients_are_differences(loss, seed):
    x, rows = drawn(seed)
    error = check_grad(
        lambda v: loss(v.reshape(x.shape), rows)[0],
        lambda v: loss(v.reshape(x.shape), rows)[1].ravel(),
        x.ravel(),
    )
    assert error < 1e-6


@pytest.mark.parametrize("name", ["t-ste", "forte"])
def test_two_clear_clusters_come_apart(name):
    data = planted_hierarchy(levels=1, pure_size=12, delta=0.8, sigma=0.1, seed=2)
    answers = sample_comparisons(data.similarity, 0.3, "triplets", seed=0)
    shown = list(hcviz.run(name, Problem(comparisons=answers), seed=1))[-1]
    assert hcviz.metrics.aari(data.target, shown.tree, 1) == 1.0
    assert shown.metrics["agreement"] > 0.7  # half of all answers are within a cluster: noise
    assert shown.views["points"].xy.shape == (24, 2)


@pytest.mark.parametrize("name", ["t-ste", "forte"])
def test_of_several_starts_the_lowest_is_taken(name, monkeypatch):
    """There are as many descents as starts, all standard normal, and the lowest is kept."""
    _, rows = drawn(2, n=12, m=80)
    problem = Problem(comparisons=rows)
    seen = []
    real = embedding.descend

    def watched(loss, start, steps):
        x = real(loss, start, steps)
        seen.append((loss(x)[0], x))
        return x

    monkeypatch.setattr(embedding, "descend", watched)
    shown = list(hcviz.run(name, problem, starts=7, max_steps=15, seed=3))[-1]
    assert len(seen) == 7
    least, points = min(seen, key=lambda end: end[0])
    assert least < max(seen, key=lambda end: end[0])[0] - 1e-6  # there is something to choose
    assert shown.metrics["loss"] == least
    assert np.array_equal(shown.views["points"].xy, points)
    seen.clear()
    monkeypatch.setattr(
        embedding, "MAX_TRIAL_ROWS", 30
    )  # the starts see 30 answers, the best then all
    shown = list(hcviz.run(name, problem, starts=3, max_steps=15, seed=3))[-1]
    assert len(seen) == 4
    assert shown.metrics["loss"] == seen[-1][0]
    full = embedding.student_loss(seen[-1][1], rows, 1.0) if name == "t-ste" else None
    assert full is None or full[0] == seen[-1][0]


def test_more_dimensions_and_bad_ones():
    x, rows = drawn(1)
    shown = list(hcviz.run("t-ste", Problem(comparisons=rows), dimensions=4, freedom=2.0))[-1]
    assert not shown.views
    assert shown.tree.n_leaves == len(x)
    with pytest.raises(InvalidParameter):
        hcviz.run("forte", Problem(comparisons=rows), dimensions=0)
