"""SDP-k and SDP-lambda: feasible, bounded from above, and as good as cvxpy's."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from hcviz.algorithms.comparison import kernels, sdp
from hcviz.algorithms.comparison.sdp import (
    capped_threshold,
    certified,
    partition_matrix,
    solve,
    solve_steps,
)
from hcviz.algorithms.comparison.similarities import adds
from hcviz.algorithms.comparison.stated import solve_stated
from hcviz.core.errors import InvalidParameter, TooLarge
from hcviz.datasets import planted_partition


def reference(s, k=None, lam=None):
    """The program as it is written, by Clarabel (an interior point method): (value, X)."""
    n = len(s)
    x = cp.Variable((n, n), PSD=True)
    rules = [x >= 0, cp.sum(x, axis=1) == 1]
    goal = cp.trace(s @ x)
    if k is not None:
        rules.append(cp.trace(x) == k)
    else:
        goal = goal - lam * cp.trace(x)
    problem = cp.Problem(cp.Maximize(goal), rules)
    problem.solve(solver="CLARABEL")
    return problem.value, x.value


def noise(n, seed):
    values = np.triu(np.random.default_rng(seed).integers(-9, 10, (n, n)), 1).astype(float)
    return values + values.T


def planted(n, k, seed=0):
    data = planted_partition(n=n, k=k, kind="triplets", seed=seed, eps=1.0, delta=0.8)
    return adds(n, data.comparisons), np.unique(data.classes, return_inverse=True)[1]


def check_feasible(x, k=None):
    assert np.allclose(x, x.T, atol=1e-9)
    assert x.min() >= -1e-12
    assert np.allclose(x.sum(axis=1), 1, atol=1e-9)
    assert np.linalg.eigvalsh(x).min() > -1e-9
    if k is not None:
        assert np.trace(x) == pytest.approx(k, abs=1e-8)


@pytest.mark.parametrize("n", [3, 7, 14])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_sdp_k_is_the_reference(n, k):
    s = noise(n, n + k)
    value, _ = reference(s, k=k)
    found = solve(s, k=k, tolerance=1e-4)
    assert found.converged
    assert found.gap <= 1e-4
    check_feasible(found.x, k)
    scale = max(1.0, abs(found.value), abs(found.bound))
    assert found.value <= value + 1e-5 * scale <= found.bound + 2e-5 * scale  # Clarabel's own error
    assert np.sum(s * found.x) == pytest.approx(found.value)


@pytest.mark.parametrize("n", [3, 8, 14])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 2.0])
def test_sdp_lambda_is_the_reference(n, share):
    s = noise(n, n)
    lam = share * float(np.linalg.eigvalsh(s)[-1])
    value, x = reference(s, lam=lam)
    found = solve(s, lam=lam, tolerance=1e-4)
    assert found.converged
    check_feasible(found.x)
    scale = max(1.0, abs(found.value), abs(found.bound))
    assert found.value <= value + 1e-5 * scale <= found.bound + 2e-5 * scale
    if share == 2.0:
        assert np.trace(x) == pytest.approx(np.trace(found.x), abs=0.02) == 1


@pytest.mark.parametrize("solver", ["scs", "clarabel"])
@pytest.mark.parametrize("asked", [{"k": 3}, {"lam": 8.0}])
def test_the_stated_program_is_certified_like_ours(solver, asked):
    """SCS and Clarabel against ADMM: each one's value is below the other's bound. Their own
    tolerance is 1e-4 (SCS) at most, so their gaps are below ten times that."""
    s = noise(13, 3)
    ours = solve(s, tolerance=1e-4, **asked)
    stated = solve_stated(s, solver=solver, **asked)
    assert stated.converged
    check_feasible(stated.x, asked.get("k"))
    assert stated.gap <= 1e-3
    assert stated.value <= ours.bound
    assert ours.value <= stated.bound


def test_the_stated_program_is_refused_where_it_would_take_minutes():
    with pytest.raises(TooLarge, match="200 items at most, not 201"):
        solve_stated(np.ones((201, 201)), k=2)
    with pytest.raises(InvalidParameter, match="no solver 'gurobi'"):
        solve_stated(np.ones((4, 4)), k=2, solver="gurobi")


def test_a_solver_that_failed_is_still_a_feasible_point_with_a_bound():
    s = noise(9, 0)
    nothing = certified(s, None, None, 1.0, k=3, lam=None, converged=True)
    assert not nothing.converged
    check_feasible(nothing.x, 3)
    assert nothing.value <= solve(s, k=3).bound
    assert solve(s, k=3).value <= nothing.bound


@pytest.mark.parametrize("n", [60, 300])
def test_planted_clusters_come_out_exactly(n):
    s, truth = planted(n, 3)
    found = solve(s, k=3)
    assert found.converged
    assert np.allclose(found.x, partition_matrix(truth))


def test_few_eigenvectors_give_what_all_give(monkeypatch):
    """The steps that ask for the top eigenvectors only against full eigendecompositions."""
    s, _ = planted(120, 4, seed=2)
    few = solve(s, k=4)
    seen = []

    def every_one(matrix, **options):
        if options.get("eigvals_only"):
            return eigh(matrix, **options)
        values, vectors = eigh(matrix)
        first = options.get("subset_by_index", [0])[0]
        seen.append(first)
        return values[first:], vectors[:, first:]

    monkeypatch.setattr(sdp, "eigh", every_one)
    every = solve(s, k=4)
    assert max(seen) > 90  # a few of 120 were asked for
    assert few.steps == every.steps
    assert np.allclose(few.x, every.x, atol=1e-6)


@pytest.mark.parametrize("k", [3, 6])
def test_updated_eigenvectors_lead_to_the_same_optimum(monkeypatch, k):
    """Noise, where the solution is no partition: both gaps hold the optimum between them."""
    s = noise(60, 5)
    exact = solve(s, k=k)
    monkeypatch.setattr(sdp, "FOLLOW", 1)
    monkeypatch.setattr(sdp, "NARROW", 2)
    followed = solve(s, k=k)
    assert followed.converged
    check_feasible(followed.x, k)
    assert followed.value <= exact.bound
    assert exact.value <= followed.bound


def test_directions_that_were_missed_are_found_by_the_bound():
    """Followed vectors saw a bound here that was lower than the true one, and without all
    eigenvectors from then on it took 655 steps for the 25 of now."""
    s = adds(400, planted_partition(n=400, k=4, kind="triplets").comparisons)
    found = solve(s, k=4)
    assert found.converged
    assert found.steps <= 100


def test_updated_vectors_stay_orthogonal_to_the_ones():
    """Where they are invariant already, a step adds directions of rounding to them. What those have
    of 1 must not be taken for an eigenvector: 1 has a large eigenvalue, which is no business of the
    projection. In single precision, where that happened within a hundred steps."""
    n = 200
    inside = partition_matrix(np.arange(n) % 4) - 1.0 / n
    target = (inside + 5.0 / n).astype(np.float32)
    spectrum = sdp.SpectralProjection(n)
    for step in range(2 * sdp.REFRESH):
        x = spectrum.project(target, 4)
        assert np.allclose(x.sum(axis=1), 1, atol=1e-4), step
        assert np.allclose(x, inside + 1 / n, atol=1e-5)


def test_single_precision_leads_to_the_same_optimum(monkeypatch):
    """Noise: no partition that the rounding to a feasible point could fall back on."""
    s = noise(160, 6)
    single = solve(s, k=5, tolerance=2e-3)
    monkeypatch.setattr(sdp, "SINGLE", 1.0)
    double = solve(s, k=5, tolerance=2e-3)
    for found in (single, double):
        assert found.converged
        assert found.x.dtype == np.float64
        check_feasible(found.x, 5)
    assert not np.array_equal(single.x, double.x)
    assert single.value <= double.bound
    assert double.value <= single.bound


def test_lines_bound_every_trace():
    """A dual point of one k bounds all others, and SDP-lambda; the more of them the closer."""
    s = noise(14, 9)
    best = {k: solve(s, k=k, tolerance=1e-5) for k in range(2, 10)}
    for found in best.values():
        a, b = found.line
        for k, other in best.items():
            assert other.value <= a + b * (k - 1) + 1e-9
    assert best[4].line[0] + 3 * best[4].line[1] == pytest.approx(best[4].bound)
    lam = (best[4].line[1] + best[5].line[1]) / 2
    lines = [found.line for found in best.values()]
    plain = solve(s, lam=lam, tolerance=1e-5)
    for asked in (1e-2, 1e-5):
        helped = solve(s, lam=lam, tolerance=asked, lines=lines, warm=best[5])
        assert helped.converged
        assert helped.value <= plain.bound
        assert plain.value <= helped.bound
        assert helped.gap <= asked
    a, b = plain.line
    assert all(found.value <= a + b * (k - 1) + 1e-9 for k, found in best.items())


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=6),
    st.integers(2, 9),
)
def test_the_height_under_lines(lines, n):
    """Against a fine grid: no lower anywhere, and no further above than one step can rise."""
    t = np.linspace(0, n - 1, 2001)
    grid = np.min([a + b * t for a, b in lines], axis=0).max()
    steepest = max(abs(b) for _, b in lines)
    assert grid - 1e-9 <= sdp.least_line(lines, None, n) <= grid + steepest * (t[1] - t[0]) + 1e-9
    assert sdp.least_line(lines, 2, n) == min(a + b for a, b in lines)


@pytest.mark.parametrize("k", [None, 4])
def test_a_point_is_mended_where_it_is_negative_and_nowhere_else(k):
    """From points that meet all but X >= 0; what is feasible stays as it is."""
    rng = np.random.default_rng(3)
    n = 20
    for size in (1e-6, 1e-2, 0.3):
        inner = sdp.double_centred(rng.normal(size=(n, n)))
        half = np.linalg.eigh(inner + inner.T)[1][:, -3:]
        x = (1 - size) * partition_matrix(np.arange(n) % 4) + size * (half @ half.T + 1 / n)
        check_feasible(sdp.repaired(x, k), k)
    good = partition_matrix(np.arange(n) % 4)
    assert np.allclose(sdp.repaired(good, k), good)
    x = good + 1e-7 * (half @ half.T - (3.0 / 4) * (good - 1 / n))
    assert np.abs(sdp.repaired(x, k) - x).max() < 1e-6


@pytest.mark.parametrize("k", [None, 2, 5])
def test_a_step_is_the_nearest_point_of_its_set(k):
    """The spectral projection against cvxpy's, from any rank that the step before had."""
    n = 12
    matrix = noise(n, 4)
    x = cp.Variable((n, n), PSD=True)
    rules = [cp.sum(x, axis=1) == 1, np.eye(n) - x >> 0]
    rules += [] if k is None else [cp.trace(x) == k]
    cp.Problem(cp.Minimize(cp.sum_squares(x - matrix)), rules).solve(solver="CLARABEL")
    for rank in (0, 1, n):
        spectrum = sdp.SpectralProjection(n)
        spectrum.rank = rank
        assert np.allclose(spectrum.project(matrix, k), x.value, atol=1e-4)


def test_a_warm_start_is_no_other_answer():
    s = noise(30, 1)
    cold = [solve(s, k=k) for k in (4, 5)]
    warm = solve(s, k=5, warm=cold[0])
    assert warm.converged
    assert warm.value <= cold[1].bound
    assert cold[1].value <= warm.bound


def test_it_can_be_stopped_and_reports_its_progress():
    s = noise(40, 2)
    steps = solve_steps(s, k=4)
    next(steps)
    steps.close()
    cut = solve(s, k=4, max_steps=7)
    assert not cut.converged
    assert cut.steps == 7
    check_feasible(cut.x, 4)
    best = solve(s, k=4, tolerance=1e-4)
    assert cut.value <= best.bound
    assert best.value <= cut.bound


@pytest.mark.parametrize("asked", [{"k": 3}, {"lam": 5.0}])
@pytest.mark.parametrize("size", [1e-5, 1e-2])
def test_the_gap_is_relative_for_small_similarities(asked, size):
    """A kernel's are below 1: the gap must not be an absolute one there."""
    s = noise(16, 11)
    large = solve(s, **asked)
    small = solve(size * s, **{name: size * v if name == "lam" else v for name, v in asked.items()})
    for found in (small, solve_stated(size * s, k=3)):
        assert found.bound - found.value == pytest.approx(found.gap * found.bound)
        assert found.gap <= 2e-3  # SCS's own tolerance is 1e-4
    assert small.gap <= 1e-3
    assert small.value <= size * large.bound
    assert size * large.value <= small.bound
    zero = solve(np.zeros((4, 4)), k=2)
    assert zero.floor == 1.0
    assert zero.gap < 1e-12


def test_flat_similarities_are_no_trouble():
    for value in (0.0, 3.0, -2.0):
        found = solve(np.full((6, 6), value), k=2)
        assert found.converged
        check_feasible(found.x, 2)


def test_bad_requests_get_a_sentence():
    for wrong in ({}, {"k": 2, "lam": 1.0}, {"k": 0}, {"k": 9}):
        with pytest.raises(InvalidParameter):
            solve(np.ones((4, 4)), **wrong)


@given(
    st.lists(st.one_of(st.floats(-5, 5), st.integers(-2, 2)), min_size=1, max_size=8),
    st.floats(0.01, 1),
    st.booleans(),
)
def test_the_capped_simplex_projection(values, share, whole):
    """Nearest to ``values`` of all in [0, 1] with that sum: what is between the ends is moved by
    one number, what is at 0 would fall lower by it, and what is at 1 would rise higher."""
    values = np.array(values, float)
    total = max(1.0, np.floor(share * len(values))) if whole else share * len(values)
    tau = capped_threshold(values, total)
    projected = np.clip(values - tau, 0, 1)
    assert projected.sum() == pytest.approx(total)
    wanted = slow_capped(values, total)
    assert np.abs(projected - wanted).max() < 1e-7


def slow_capped(values, total):
    """By bisection on what is taken off."""
    low, high = values.min() - 2, values.max() + 1
    for _ in range(200):
        tau = (low + high) / 2
        low, high = (tau, high) if np.clip(values - tau, 0, 1).sum() > total else (low, tau)
    return np.clip(values - low, 0, 1)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # to 1e-4 it is accurate
@pytest.mark.parametrize("k", [None, 2, 5, 9])
def test_the_bound_is_the_most_over_the_spectral_constraints(k):
    """For N = 0 and for some other N: cvxpy's maximum of <S + N, X> without X >= 0, but with
    X <= I, which X >= 0 and X 1 = 1 imply."""
    n = 10
    for seed in (0, 1):
        total = noise(n, seed) - (0.0 if k else 3.0) * np.eye(n)
        x = cp.Variable((n, n), PSD=True)
        rules = [cp.sum(x, axis=1) == 1, np.eye(n) - x >> 0]
        rules += [] if k is None else [cp.trace(x) == k]
        problem = cp.Problem(cp.Maximize(cp.trace(total @ x)), rules)
        problem.solve(solver="CLARABEL")
        a, b = sdp.dual_line(total, k)
        assert a + b * ((k or 1) - 1) == pytest.approx(problem.value, abs=1e-4)


def test_what_is_lacking_and_how_fast_it_falls():
    """The compiled sum against numpy's, and its slope against a difference."""
    x = noise(15, 2) / 40

    def lacking(mix):
        mixed = (1 - mix) * x + mix / 15
        np.fill_diagonal(mixed, 0)
        return np.maximum(-mixed, 0).sum()

    for mix in (0.0, 1e-3, 0.3, 1.0):
        short, fall = kernels.shortfall(x, mix)
        assert short == pytest.approx(lacking(mix), abs=1e-12)
        if mix < 1:
            assert fall == pytest.approx((lacking(mix) - lacking(mix + 1e-9)) / 1e-9, rel=1e-4)
        out = np.empty_like(x)
        kernels.lift(x, mix, out)
        assert out.min() >= 0
        mixed = (1 - mix) * x + mix / 15
        step = out - mixed  # a sum of t (e_i + e_j)(e_i + e_j)^T: diagonally dominant
        off = step - np.diag(np.diag(step))
        assert np.all(np.diag(step) >= off.sum(axis=1) - 1e-12)


def test_mixing_first_costs_less_than_repair_alone():
    """Many tiny negative entries, as a solver's iterates have them: repair alone would take twice
    the sum of all of them from the trace."""
    n, k = 60, 3
    rng = np.random.default_rng(4)
    s, truth = planted(n, k)
    good = partition_matrix(truth)
    inner = np.linalg.qr(sdp.double_centred(rng.normal(size=(n, n))))[0][:, :2]
    x = good + 1e-3 * (inner @ inner.T - (2.0 / (k - 1)) * (good - 1 / n))
    assert (x < 0).sum() > n
    made = sdp.repaired(x, k)
    check_feasible(made, k)
    short = np.maximum(-x, 0).sum()
    alone = short / (k - 1) * np.sum(s * good)  # mixed with 1 1^T / n until the trace is k
    assert np.sum(s * x) - np.sum(s * made) < 0.7 * alone


@given(st.integers(2, 12), st.integers(0, 10**6), st.floats(0.05, 0.9))
def test_the_parts_are_the_components(n, seed, density):
    """Against scipy's, on random graphs whose diagonals differ; the roots numbered in order."""
    rng = np.random.default_rng(seed)
    split = np.where(rng.random((n, n)) < density / 2, rng.random((n, n)), -rng.random((n, n)))
    split = np.triu(split, 1) + np.triu(split, 1).T + np.diag(rng.random(n) + 0.1)
    top = np.sqrt(np.outer(np.diag(split), np.diag(split)))
    count, labels = connected_components(csr_matrix(split > 0.4 * top), directed=False)
    ours = np.empty(n, np.int64)
    assert kernels.parts(split, 0.4, ours) == count
    assert ours.tolist() == labels.tolist()
