"""SPUR, its range and its choice; the partition's tree."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hcviz
from hcviz import Comparisons, Problem
from hcviz.algorithms.comparison.partition import lambda_range, rows_partition, theta
from hcviz.algorithms.comparison.sdp import partition_matrix, solve
from hcviz.algorithms.comparison.similarities import adds, mulk3, mulk4
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.datasets import planted_partition
from hcviz.metrics import adjusted_rand_index


def planted(n=60, k=3, kind="triplets", seed=0, **options):
    options = {"eps": 1.0, "delta": 0.8} | options
    data = planted_partition(n=n, k=k, kind=kind, seed=seed, **options)
    return data, np.unique(data.classes, return_inverse=True)[1].astype(np.int32)


def last(problem, **params):
    return list(hcviz.run("adds-sdp", problem, **params))[-1]


@pytest.mark.parametrize("kind", ["triplets", "quadruplets"])
@pytest.mark.parametrize("k", [2, 4])
def test_spur_finds_the_planted_clusters_and_how_many(kind, k):
    data, truth = planted(64, k, kind)
    shown = last(Problem(comparisons=data.comparisons))
    assert shown.metrics["k"] == k
    assert adjusted_rand_index(shown.labels, truth) == 1.0
    assert shown.metrics["theta"] == pytest.approx(1.0, abs=1e-3)
    assert shown.metrics["gap"] <= 1e-3
    sizes = {frozenset(shown.tree.leaves(v).tolist()) for v in range(64, shown.tree.n_nodes)}
    assert {frozenset(np.flatnonzero(truth == g).tolist()) for g in range(k)} <= sizes


def test_spur_is_the_best_theta_of_its_range():
    data, _ = planted(40, 3, delta=0.4, eps=0.7, p=0.05)
    shown = last(Problem(comparisons=data.comparisons))
    count = len(data.comparisons)
    s = adds(40, data.comparisons)
    low_lambda, high_lambda = lambda_range(40, count)
    assert low_lambda == math.sqrt(count * math.log(40) / 40)
    assert high_lambda == count / 40
    low = max(2, round(np.trace(solve(s, lam=high_lambda, tolerance=1e-2).x)))
    high = round(np.trace(solve(s, lam=low_lambda, tolerance=1e-2).x)) + 2
    line = shown.views["theta by k"]
    assert line.x.tolist() == list(range(low, high + 1))
    cold = [theta(solve(s, k=k), k) for k in range(low, high + 1)]
    assert np.allclose(line.y, cold, atol=0.02)  # both within a gap of 1e-3 of the optimum
    assert shown.metrics["k"] == low + int(np.argmax(line.y))
    assert shown.metrics["theta"] == line.y.max()


def test_theta_is_one_for_a_partition_and_less_otherwise():
    class Solved:
        x = partition_matrix(np.array([0, 0, 1, 1, 2]))

    assert theta(Solved, 3) == pytest.approx(1)
    assert theta(Solved, 2) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("similarity", "make"), [("mulk-3", mulk3), ("mulk-4", mulk4)])
def test_multiplicative_kernels_with_k(similarity, make):
    data, truth = planted(45, 3)
    shown = last(Problem(comparisons=data.comparisons), k=3, similarity=similarity)
    assert np.array_equal(
        shown.matrices[{"mulk-3": "MulK-3", "mulk-4": "MulK-4"}[similarity]],
        make(45, data.comparisons),
    )
    assert adjusted_rand_index(shown.labels, truth) == 1.0


def test_labels_are_numbered_by_their_first_item():
    x = partition_matrix(np.array([2, 0, 0, 1, 2]))
    assert rows_partition(x, 3, np.random.default_rng(0)).tolist() == [0, 1, 1, 2, 0]
    flat = np.full((4, 4), 0.25)
    assert rows_partition(flat, 2, np.random.default_rng(0)).tolist() == [0, 0, 0, 0]


def test_an_item_never_compared_is_placed_and_reported():
    data, _ = planted(30, 3)
    labels = [str(i) for i in range(31)]
    shown = last(Problem(labels=labels, comparisons=data.comparisons), k=3)
    assert shown.tree.n_leaves == 31
    assert shown.metrics["never compared"] == 1


def test_repeats_count_or_not():
    rows = [[0, 1, 2], [0, 1, 2], [0, 2, 1], [1, 2, 0], [3, 0, 1], [4, 1, 0]]
    problem = Problem(comparisons=rows)
    counted = last(problem, k=2).matrices["AddS"]
    assert np.array_equal(counted, adds(5, Comparisons(rows)))
    once = last(problem, k=2, repeats="once").matrices["AddS"]
    assert np.array_equal(once, adds(5, Comparisons(rows[3:])))


def test_what_cannot_be_done_gets_a_sentence():
    few = Problem(labels=[str(i) for i in range(20)], comparisons=[[0, 1, 2]])
    with pytest.raises(InvalidData, match="more than n ln n = 60"):
        hcviz.run("adds-sdp", few)
    assert last(few, k=2).labels.shape == (20,)
    with pytest.raises(InvalidParameter, match="at most 20"):
        hcviz.run("adds-sdp", few, k=21)
    with pytest.raises(InvalidParameter, match="needs k"):
        hcviz.run("adds-sdp", few, similarity="mulk-4")
    with pytest.raises(InvalidData, match="MulK-3 needs triplets"):
        hcviz.run("adds-sdp", Problem(comparisons=[[0, 1, 2, 3]]), k=2, similarity="mulk-3")


@pytest.mark.parametrize("solver", ["scs", "clarabel"])
def test_cvxpy_finds_the_same_clusters(solver):
    data, truth = planted(24, 3)
    problem = Problem(comparisons=data.comparisons)
    shown = last(problem, k=3, solver=solver)
    assert adjusted_rand_index(shown.labels, truth) == 1.0
    assert shown.metrics["value"] == pytest.approx(last(problem, k=3).metrics["value"], rel=1e-3)
    with pytest.raises(InvalidParameter, match="needs k"):
        hcviz.run("adds-sdp", problem, solver=solver)
    many = Problem(labels=[str(i) for i in range(201)], comparisons=[[0, 1, 2]])
    with pytest.raises(InvalidParameter, match="200 items at most, not 201"):
        hcviz.run("adds-sdp", many, k=2, solver=solver)


def test_where_our_steps_do_not_suffice_cvxpy_tries_as_well():
    """Noise, and two steps: the gap of the answer is that of SCS."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.choice(20, 3, replace=False) for _ in range(150)])
    shown = last(Problem(comparisons=rows), k=4, max_steps=2)
    assert solve(adds(20, Comparisons(rows)), k=4, max_steps=2).gap > 0.05
    assert shown.metrics["gap"] < 0.01


def test_spur_too_has_cvxpy_where_our_steps_do_not_suffice():
    rng = np.random.default_rng(0)
    rows = np.array([rng.choice(20, 3, replace=False) for _ in range(150)])
    shown = last(Problem(comparisons=rows), max_steps=2)
    k = int(shown.metrics["k"])
    assert solve(adds(20, Comparisons(rows)), k=k, max_steps=2).gap > 0.05
    assert shown.metrics["gap"] < 0.01
    full = last(Problem(comparisons=rows))
    assert shown.views["theta by k"].x.tolist() == full.views["theta by k"].x.tolist()
    assert np.allclose(shown.views["theta by k"].y, full.views["theta by k"].y, atol=0.02)


@pytest.mark.parametrize("solver", ["admm", "scs"])
def test_sdp_lambda_is_a_parameter(solver):
    data, truth = planted(24, 3)
    problem = Problem(comparisons=data.comparisons)
    low, high = lambda_range(24, len(data.comparisons))
    lam = math.sqrt(low * high)
    shown = last(problem, lam=lam, solver=solver)
    assert shown.metrics["k"] == 3
    assert adjusted_rand_index(shown.labels, truth) == 1.0
    s = adds(24, data.comparisons)
    x = shown.views["X"].values
    assert shown.metrics["value"] == pytest.approx((s * x).sum() - lam * np.trace(x))
    assert shown.metrics["value"] == pytest.approx(solve(s, lam=lam).value, rel=2e-3)
    all_one = last(problem, lam=1e9, solver=solver)
    assert all_one.metrics["k"] == 1
    assert not all_one.labels.any()
    assert last(problem, lam=0).metrics["k"] == last(problem).metrics["k"] == 3  # SPUR


def test_sdp_lambda_needs_no_more_answers_than_there_are():
    few = Problem(labels=[str(i) for i in range(20)], comparisons=[[0, 1, 2], [3, 4, 5]])
    shown = last(few, lam=0.5)
    assert 1 <= shown.metrics["k"] <= 20
    assert len(set(shown.labels.tolist())) <= shown.metrics["k"]
    with pytest.raises(InvalidParameter, match="cannot both be given"):
        hcviz.run("adds-sdp", few, lam=0.5, k=3)
    with pytest.raises(InvalidParameter, match="lam must be a number from 0"):
        hcviz.run("adds-sdp", few, lam=-1)
    assert last(few, lam=1e100).metrics["k"] == 1
    for most in (1e101, math.inf, math.nan):
        with pytest.raises(InvalidParameter, match="lam must be a number from 0 to 1e"):
            hcviz.run("adds-sdp", few, lam=most)
        with pytest.raises(InvalidParameter, match="lam must be 1e"):
            solve(np.eye(3), lam=most)


@pytest.mark.parametrize("solver", ["admm", "scs"])
def test_converged_means_that_the_gap_is_within_the_tolerance(solver):
    """SCS thinks that it is done far from 1e-12, of noise that no partition is optimal for."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.choice(20, 3, replace=False) for _ in range(150)])
    for tolerance in (1e-12, 0.5):
        options = {"k": 4, "solver": solver, "max_steps": 50, "tolerance": tolerance}
        metrics = last(Problem(comparisons=rows), **options).metrics
        assert metrics["converged"] == (metrics["gap"] <= tolerance) == (tolerance == 0.5)


def test_labels_follow_the_tree_where_constraints_move_it():
    """Items 0 and 1 are of one cluster, 8 of another; with 0 8|1, all three cannot stay."""
    data, truth = planted(24, 3, seed=1)
    problem = Problem(comparisons=data.comparisons)
    free = last(problem, k=3)
    assert adjusted_rand_index(free.labels, truth) == 1.0
    assert "moved" not in free.metrics
    held = last(problem.with_triplets([[0, 8, 1]]), k=3)
    assert held.tree.satisfies([[0, 8, 1]]).all()
    clades = {frozenset(held.tree.leaves(v).tolist()) for v in range(held.tree.n_nodes)}
    clusters = [frozenset(np.flatnonzero(held.labels == g).tolist()) for g in range(3)]
    assert set(clusters) <= clades
    assert sum(map(len, clusters)) == 24
    assert not held.labels[0] == held.labels[1] != held.labels[8]
    assert held.labels[0] == 0
    matches = max(
        sum(held.labels[i] == order[g] for i, g in enumerate(free.labels))
        for order in itertools.permutations(range(3))
    )
    assert held.metrics["moved"] == 24 - matches > 0


def test_constraints_that_fit_move_nothing():
    data, _ = planted(24, 3, seed=1)
    problem = Problem(comparisons=data.comparisons)
    held = last(problem.with_triplets([[0, 1, 8], [9, 10, 20], [0, 8, 20]]), k=3)
    assert held.metrics["moved"] == 0
    assert np.array_equal(held.labels, last(problem, k=3).labels)
