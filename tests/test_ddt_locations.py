"""Positions drawn given a tree, against the exact conditional Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

import hcviz
from hcviz import Problem
from hcviz.algorithms.ddt import sample_locations
from hcviz.core.errors import InvalidData


def exact(tree, data, noise):
    """Mean (m, d) and covariance (m, m) of all positions given the leaves, in units of sigma.

    Positions have covariance t_lca; what is observed are the leaves', plus the noise.
    """
    n, m = tree.n_leaves, tree.n_nodes
    nodes = np.arange(m)
    both = 1.0 - tree.height[tree.lca(nodes[:, None], nodes[None, :])]
    seen = both[:n, :n] + noise * np.eye(n)
    gain = both[:, :n] @ np.linalg.inv(seen)
    left = both - gain @ both[:n, :]
    np.fill_diagonal(left, np.maximum(np.diag(left), 0.0))  # rounding below 0
    return gain @ data, left


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_draws_have_the_conditional_mean_and_covariance(noise):
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(size=5), np.full(5, 4.0), 3 * rng.normal(size=5)])
    problem = Problem(features=features)
    snapshot = list(hcviz.run("ddt", problem, steps=30, leaf_noise=noise))[-1]
    draws = np.array(
        [sample_locations(problem, snapshot, rng, leaf_noise=noise) for _ in range(4000)]
    )
    assert np.all(draws[:, :, 1] == 4.0)
    sigma, centre = snapshot.state.sigma, features[:, [0, 2]].mean(axis=0)
    scaled = (draws[:, :, [0, 2]] - centre) / sigma
    mean, covariance = exact(snapshot.tree, (features[:, [0, 2]] - centre) / sigma, noise)
    # standard errors: sqrt(var / 4000) for means, sqrt(2) var / sqrt(4000) at most for covariances
    error = np.sqrt(np.diag(covariance) / 4000)
    assert np.all(np.abs(scaled.mean(axis=0) - mean) < 5 * error[:, None] + 1e-9)
    spread = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    for d in range(2):
        gap = np.abs(np.cov(scaled[:, :, d].T) - covariance)
        assert np.all(gap < 5 * np.sqrt(2 / 4000) * spread + 1e-9)
    if noise == 0.0:
        assert draws[0, :5] == pytest.approx(features)


def test_snapshots_of_others_are_refused():
    problem = Problem(features=np.random.default_rng(1).normal(size=(5, 2)))
    other = Problem(features=np.random.default_rng(1).normal(size=(6, 2)))
    snapshot = next(hcviz.run("ddt", problem))
    plain = hcviz.Snapshot(snapshot.tree, 0, 1)
    for wrong in ((problem, plain), (other, snapshot)):
        with pytest.raises(InvalidData):
            sample_locations(*wrong, np.random.default_rng(0))
