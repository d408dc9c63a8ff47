"""Leaf noise that is learnt: its density, its moves, the laws they keep, and the stated bound."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import log_joint, put_scale, refresh
from hcviz.algorithms.ddt.leafnoise import floors, resolutions
from hcviz.algorithms.ddt.scales import (
    gamma_below,
    log_gamma_cdf,
    log_noise_given_tree,
    log_rescaled,
    rescale,
    root_message,
)
from hcviz.algorithms.ddt.start import put_first
from hcviz.algorithms.ddt.starttrees import draw_prior_tree
from hcviz.algorithms.ddt.sweep import squares_part
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import GIVEN, LEARNT, NOISE, PARENT, ROOT, SLIDES, C, H, U, allocate
from hcviz.core.jit import njit
from tests.ddtslow import (
    LIMIT,
    MOVES,
    chain,
    exact_harmonic,
    law,
    nested,
    slow_bound,
    slow_log_joint,
    slow_log_likelihood,
    slow_log_prior,
    z_score,
)
from tests.test_ddt_density import random_tree
from tests.test_ddt_prior import draw_data

FAST = not numba.config.DISABLE_JIT
SAMPLES = 16_000 if FAST else 1500


def noisy(tree, rng, floor=(0.02, 0.0, 0.3), noise=0.2, **more):
    """As :func:`chain`, with learnt noise and a sigma that its floors allow."""
    w = chain(tree, rng, dims=len(floor), noise=noise, floor=floor, **more)
    w.sigma[:] = np.maximum(w.sigma, 1.1 * np.sqrt(w.noise_floor / noise))
    refresh(w)
    return w


# ---------------------------------------------------------------------- resolution


def test_the_resolution_is_the_distance_from_a_tied_value_to_its_neighbour():
    columns = {
        "yes or no": ([0, 1, 1, 0, 1, 0], 1.0),
        "no ties": ([0.1, 0.5, 0.2, 0.9, 3.0, 4.0], 0.0),
        "tenths": ([0.1, 0.2, 0.2, 0.5, 0.9, 0.9], 0.1),
        "many zeros": ([0, 0, 0, 2.0, 2.001, 7.0], 2.0),
        "constant": ([4, 4, 4, 4, 4, 4], np.inf),
        "equal but for rounding": ([0.3, 0.1 + 0.2, 5.0, 6.0, 7.0, 8.0], 4.7),
    }
    data = np.column_stack([values for values, _ in columns.values()])
    found = resolutions(data)
    assert found == pytest.approx([expected for _, expected in columns.values()])
    scale = np.full(len(columns), 3.0)
    squares = [3.0 if np.isinf(x) else x**2 for x in found]
    assert floors(data, scale) == pytest.approx(np.array(squares) / 12)


# ---------------------------------------------------------------------- the density


@pytest.mark.parametrize("n", [2, 7, 20])
def test_the_joint_with_learnt_noise_is_the_definition(n):
    rng = np.random.default_rng(n)
    w = noisy(random_tree(n, rng), rng, c=0.7)
    times = w.time[n:, U].sum()
    whole = slow_log_prior(w) - times - 2 * math.log(1 + w.real[NOISE]) + slow_log_likelihood(w)
    assert slow_log_joint(w) == pytest.approx(whole)
    assert log_joint(w) == pytest.approx(whole, abs=1e-8)
    w.tally[LEARNT] = 0
    assert log_joint(w) == pytest.approx(slow_log_prior(w) + slow_log_likelihood(w), abs=1e-8)


@pytest.mark.parametrize("common", [False, True])
def test_the_density_of_the_noise_has_sigma_integrated_out(common):
    """Differences between values of nu, against quadrature over log sigma^2 above the floor."""
    rng = np.random.default_rng(5)
    scale = np.array([0.7, 1.3])
    w = noisy(random_tree(6, rng), rng, floor=(0.1, 0.0))
    kept = w.sigma.copy()
    found, expected = [], []
    for nu in (0.01, 0.2, 0.21, 3.0):
        w.real[NOISE] = nu
        w.sigma[:] = kept[0] if common else kept
        refresh(w)
        out = np.empty(2)
        logs = np.zeros(1)
        squares_part(w, out, logs, 0, len(w.node))
        found.append(log_noise_given_tree(w, scale, common, nu, logs[0], out))
        expected.append(math.log(nu) - 2 * math.log1p(nu) + integrated_sigma(w, scale, common, nu))
    assert np.diff(found) == pytest.approx(np.diff(expected), abs=1e-6)


def integrated_sigma(w, scale, common, nu):
    """log integral of likelihood and inverse-Gamma(1, scale) prior over the allowed sigma."""

    def value(d, sigma):
        alone = w._replace(data=w.data[:, d], sigma=np.full(len(d), sigma))
        return slow_log_likelihood(alone)

    total = 0.0
    for d in [[0, 1]] if common else [[0], [1]]:
        s, low = scale[d[0]], math.log(max(w.noise_floor[d].max() / nu, 1e-6))

        def density(x, d=d, s=s):
            return math.exp(value(d, math.exp(0.5 * x)) + 30 - x - s * math.exp(-x))

        total += math.log(integrate.quad(density, low, low + 40, limit=500)[0])
    return total


def test_rescaling_weighs_the_whole_joint():
    """Its density of z against the definition of everything, at both ends of z."""
    rng = np.random.default_rng(6)
    for common in (False, True):
        w = noisy(random_tree(8, rng), rng, c=0.4)
        if common:
            w.sigma[:] = w.sigma.max()
            refresh(w)
        scale = np.full(3, 0.8) if common else np.array([0.8, 1.7, 0.2])
        k = 1 if common else 3
        top, root = root_message(w), int(w.tally[ROOT])
        square = float(np.sum((top[1:] / w.sigma) ** 2))
        ratio = float(np.sum((scale / w.sigma**2)[:k]))
        fall = w.real[C] * float(exact_harmonic(7))

        def weight(
            z,
            w=w,
            top=top,
            h=float(w.time[root, H]),
            nu=float(w.real[NOISE]),
            more=(fall, k, ratio, square),
        ):
            fall, k, ratio, square = more
            return log_rescaled(z, fall, k, ratio, nu, top[0], h, square, 3)

        def whole(w=w, k=k, scale=scale):  # of u, log nu and log sigma^2
            value = slow_log_joint(w) + math.log(w.real[NOISE])
            return value - float(np.sum((np.log(w.sigma**2) + scale / w.sigma**2)[:k]))

        first, start = whole(), (w.time.copy(), w.real[NOISE], w.sigma.copy())
        for z in (-0.9 * float(w.time[root, U]), 0.3, 4.0):
            w.time[8:, U] = start[0][8:, U] + z
            w.real[NOISE] = start[1] * math.exp(-z)
            w.sigma[:] = start[2] * math.exp(0.5 * z)
            refresh(w)
            assert whole() - first == pytest.approx(weight(z) - weight(0.0), abs=1e-7)


def test_rescaling_keeps_the_noise_in_the_data_s_units():
    rng = np.random.default_rng(7)
    w = noisy(random_tree(9, rng), rng)
    before = w.real[NOISE] * w.sigma**2
    moved = 0
    for _ in range(50):
        u = w.time[9:, U].copy()
        rescale(w, rng, np.ones(3), False, root_message(w))
        refresh(w)
        assert w.real[NOISE] * w.sigma**2 == pytest.approx(before)
        assert np.ptp(w.time[9:, U] - u) < 1e-9
        moved += not np.array_equal(u, w.time[9:, U])
    assert moved > 40


@pytest.mark.parametrize("shape", [1.5, 3.0, 41.0, 2000.0])
def test_the_incomplete_gamma_function_is_scipy_s(shape):
    for share in (1e-3, 0.3, 0.9, 1.0, 1.1, 2.0, 10.0):
        expected = special.gammainc(shape, share * shape)
        if expected > 1e-290:
            found = log_gamma_cdf(shape, share * shape)
            assert found == pytest.approx(math.log(expected), rel=1e-9, abs=1e-12)
    assert log_gamma_cdf(shape, 0.0) == -math.inf


@njit
def many_gammas(rng, shape, top, count):
    out = np.empty(count)
    for k in range(count):
        out[k] = gamma_below(rng, shape, top)
    return out


@pytest.mark.parametrize("shape", [1.5, 3.0, 41.0])
def test_truncated_gammas_have_their_law(shape):
    """Kolmogorov-Smirnov against the exact law; p < 1e-4 comes once in 10,000 by chance."""
    rng = np.random.default_rng(8)
    for share in (0.01, 0.5, 0.97, 1.2, np.inf):
        top = share * shape
        draws = many_gammas(rng, shape, top, 4000 if FAST else 400)
        assert draws.max() <= top
        whole = special.gammainc(shape, top) if np.isfinite(top) else 1.0
        p = stats.kstest(draws, lambda x, m=whole: special.gammainc(shape, x) / m).pvalue
        assert p > 1e-4


# ---------------------------------------------------------------------- the laws


def test_without_columns_the_noise_follows_its_prior_and_shapes_theirs():
    """nu / (1 + nu) is uniform: mean 1/2, mean square 1/3. Means by batches, 4.5 errors."""
    rng = np.random.default_rng(9)
    w = allocate(
        4, np.empty((4, 0)), np.empty((0, 3), np.int32), np.empty(0), 0.3, None, np.empty(0)
    )
    put_scale(w, 1.0, np.empty(0))
    put_first(w, rng, "random")
    shapes, found = [], []
    for _ in range(SAMPLES):
        advance(w, rng, 12, 6, True, np.empty(0), False)
        shapes.append(nested(w))
        share = w.real[NOISE] / (1 + w.real[NOISE])
        found.append((share, share**2, np.exp(-w.real[C])))
    values = np.array(found)
    for column, mean in enumerate((1 / 2, 1 / 3, 1 / 2)):
        assert abs(z_score(values[:, column], mean)) < LIMIT
    for shape, p in law(frozenset(range(4))).items():
        assert abs(z_score([s == shape for s in shapes], float(p))) < LIMIT


def prior_means(scale, floor, common):
    """E nu / (1 + nu), and E 1 / (1 + sigma_0^2), under the restricted prior, by quadrature.

    P(sigma^2 >= a) = 1 - exp(-s^2 / a) for inverse-Gamma(1, s^2), so nu has the density
    (1 + nu)^-2 prod_d (1 - exp(-s_d^2 nu / floor_d)), up to its integral.
    """
    if common:
        scale, floor = scale[:1], np.array([max(floor)])

    pairs = list(zip(scale, floor, strict=True))

    def mass(r):  # density of r = nu / (1 + nu)
        nu = r / (1 - r)
        return math.prod(-math.expm1(-s * nu / f) if f > 0 else 1.0 for s, f in pairs)

    def seen(r):  # E[1 / (1 + sigma_0^2); allowed], x = 1 / sigma^2
        top = r / (1 - r) / floor[0]
        part = integrate.quad(
            lambda x: x / (1 + x) * scale[0] * math.exp(-scale[0] * x), 0, min(top, 60)
        )[0]
        return part * mass(r) / -math.expm1(-scale[0] * top)

    whole = integrate.quad(mass, 0, 1)[0]
    share = integrate.quad(lambda r: r * mass(r), 0, 1)[0] / whole
    return share, integrate.quad(seen, 1e-12, 1 - 1e-12, limit=200)[0] / whole


@pytest.mark.parametrize(
    ("latents", "moves"), [("integrated", "both"), ("integrated", "slides"), ("gibbs", "both")]
)
@pytest.mark.parametrize("common", [False, True])
def test_geweke_with_learnt_noise(common, latents, moves):
    """Parameters, tree and data drawn jointly, against a chain that alternates moves and new data.

    As ``test_geweke_with_learning``: every move must leave the posterior alone for the marginals of
    the successive-conditional chain to be the prior's. Tolerance: 4.5 standard errors by 40 batch
    means, which chance exceeds once in some 10,000 comparisons; 30 are made.
    """
    rng = np.random.default_rng(43)
    n, dims = 4, 2
    scale, floor = np.array([1.0, 1.0]), np.array([0.4, 0.1])
    none = np.empty((0, 3), np.int32)
    w = allocate(n, np.zeros((n, dims)), none, np.empty(0), 1.0, None, floor)
    put_scale(w, 1.0, np.ones(dims))
    draw_prior_tree(w, rng)
    w.tally[GIVEN] = latents == "gibbs"
    w.tally[SLIDES] = MOVES[moves]
    found = []
    for _ in range(SAMPLES):
        w.data[:] = draw_data(w, rng)
        refresh(w)
        if latents == "gibbs":
            draw_locations(w, rng)
        advance(w, rng, 12, 6, True, scale, common)
        nu = w.real[NOISE]
        assert np.all(nu * w.sigma**2 >= w.noise_floor * (1 - 1e-9))
        root = w.tally[ROOT]
        found.append(
            (
                nu / (1 + nu),
                1 / (1 + w.sigma[0] ** 2),
                np.exp(-w.real[C]),
                np.exp(-w.real[C] * w.time[root, U] * 11 / 6),
                w.node[root, 3] == n and min(w.node[w.node[root, 1:3], 3]) == 1,
            )
        )
    values = np.array(found, float)
    expected = (*prior_means(scale, floor, common), 0.5, 0.5, 8 / 11)
    for column, mean in enumerate(expected):
        assert abs(z_score(values[:, column], mean)) < LIMIT, column


def test_chains_keep_the_messages_and_the_floors():
    rng = np.random.default_rng(10)
    w = noisy(random_tree(12, rng), rng)
    for _ in range(60):
        advance(w, rng, 11, 7, True, np.ones(3), False)
        assert log_joint(w) == pytest.approx(slow_log_joint(w), abs=1e-7)
        assert np.all(w.real[NOISE] * w.sigma**2 >= w.noise_floor * (1 - 1e-9))


# ---------------------------------------------------------------------- the bound


def tied(kind, rng):
    if kind == "binary":
        return (rng.random((8, 5)) < 0.5).astype(float)
    data = np.column_stack(
        [rng.normal(size=(8, 2)), np.arange(8) < 4, np.round(rng.normal(size=8))]
    )
    return data - data.mean(axis=0)


@pytest.mark.parametrize("kind", ["binary", "mixed"])
def test_no_path_leads_above_the_stated_bound(kind):
    """Heights to 0, sigma to infinity, nu to its floor, one by one and jointly, then maximised.

    On the tree that suits the ties best. The bound is :func:`slow_bound` (docs/leaf-noise.md). The
    same paths without noise pass any bound, so the test can fail.
    """
    rng = np.random.default_rng(11)
    data = tied(kind, rng)
    scale = np.maximum(2 * data.var(axis=0), 1e-3)
    floor = floors(data, scale)
    n, dims = data.shape
    none = np.empty((0, 3), np.int32)
    w = allocate(n, data, none, np.empty(0), 0.1, None, floor)
    w.real[C] = 0.5
    put_scale(w, 0.5, np.sqrt(scale))
    put_first(w, rng, "average")
    bound = slow_bound(w)
    order = np.argsort(w.time[n:, U]) + n
    known = np.full(2 * n - 1, -1)
    known[order] = np.arange(n - 1)
    root = order[0]

    def value(x, learnt=True):
        """log joint at unconstrained coordinates: log steps of u, log sigma, log nu above."""
        u = np.empty(2 * n - 1)
        for v in order:
            begin = 0.0 if v == root else u[w.node[v, PARENT]]
            u[v] = begin + math.exp(min(x[known[v]], 5.0))
        if u[n:].max() > 590:
            return -1e9
        w.time[n:, U] = u[n:]
        w.sigma[:] = np.exp(np.clip(x[n - 1 : n - 1 + dims], -150, 150))
        least = (w.noise_floor / w.sigma**2).max()
        w.real[NOISE] = least + math.exp(min(max(x[-1], -300.0), 300.0)) if learnt else 0.0
        w.tally[LEARNT] = learnt
        refresh(w)
        with np.errstate(all="ignore"):
            return float(log_joint(w))

    highest, free = -np.inf, -np.inf
    for s in np.linspace(0.0, 150.0, 61):  # sigma^2 times e^2s, heights over e^2s, nu likewise
        for depth in (0.0, 1.0, 2.0):
            x = np.full(n - 1 + dims + 1, -1.0)
            x[0] = math.log(max(depth * s, 1e-3))
            x[1 : n - 1] = math.log(max((2.0 - depth) * s / n, 1e-3))
            x[n - 1 : -1] = s
            for least in (-2 * s - 1, -300.0, 0.0):
                x[-1] = least
                highest = max(highest, value(x))
    for _ in range(6 if FAST else 1):
        start = np.concatenate([rng.normal(size=n - 1), rng.normal(0, 3, size=dims + 1)])
        best = optimize.minimize(
            lambda x: -value(x), start, method="Powell", options={"maxfev": 6000, "xtol": 1e-3}
        )
        highest = max(highest, -best.fun)
        best = optimize.minimize(
            lambda x: -value(x, learnt=False), start, method="Powell", options={"maxfev": 6000}
        )
        free = max(free, -best.fun)
    assert highest < bound
    assert highest > -400  # the search came to somewhere sensible
    if FAST:
        assert free > bound  # as it was: no noise, no bound
