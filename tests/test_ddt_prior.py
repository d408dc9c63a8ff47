"""Chains without data against the exact laws of the prior, with and without triplets.

z-scores come from batch means, which allow for autocorrelation; with 40 batches, 4.5 standard
errors are crossed by chance once in some 10,000 comparisons, and a few dozen are made.
"""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import put_scale, refresh
from hcviz.algorithms.ddt.start import put_first
from hcviz.algorithms.ddt.starttrees import draw_prior_tree
from hcviz.algorithms.ddt.sweep import sweep
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import GIVEN, PARENT, ROOT, SLIDES, C, H, U, allocate
from tests.ddtslow import LIMIT, MOVES, chain, exact_harmonic, law, nested, shape_of, z_score
from tests.trees import all_trees

SAMPLES = 1500 if numba.config.DISABLE_JIT else 16_000
#: Items and divergence parameters of the priors.
SIZES = [(2, 1.0), (3, 0.5), (4, 1.0), (4, 3.0), (5, 1.0), (6, 1.0)]


def test_the_law_is_the_known_one():
    assert sum(law(frozenset(range(5))).values()) == 1
    assert set(law(frozenset(range(3))).values()) == {Fraction(1, 3)}
    assert sorted(set(law(frozenset(range(4))).values())) == [Fraction(2, 33), Fraction(1, 11)]
    fives = by_shape(5)
    assert sorted(fives.values()) == [Fraction(9, 55), Fraction(2, 5), Fraction(24, 55)]
    sixes: dict = {}
    for shape, p in by_shape(6).items():
        smaller = min(part.count(".") for part in shape)
        sixes[smaller] = sixes.get(smaller, 0) + p
    assert [float(sixes[k]) for k in (1, 2, 3)] == pytest.approx(
        [0.52555, 0.32847, 0.14599], abs=1e-5
    )


def by_shape(n):
    """The law of the shapes without labels: {shape: probability}."""
    found: dict = {}
    for tree, p in law(frozenset(range(n))).items():
        found[shape_of(tree)] = found.get(shape_of(tree), Fraction(0)) + p
    return found


def prior_work(n, c=1.0, rows=(), beta=None, moves="both"):
    rows = np.asarray(rows, np.int32).reshape(-1, 3)
    w = allocate(n, np.empty((n, 0)), rows, np.ones(len(rows)), 0.0, beta)
    put_scale(w, c, np.empty(0))
    w.tally[SLIDES] = MOVES[moves]
    return w


def compare(shapes, expected):
    """Largest |z| over the shapes; no shape outside the law."""
    assert set(shapes) <= set(expected)
    return max(
        abs(z_score([s == shape for s in shapes], float(p))) for shape, p in expected.items()
    )


def sampled(w, rng, thin, use=None, times=False, samples=SAMPLES):
    """Shapes after every ``thin`` proposals; sweeps of the times between them if ``times``."""
    no_scale = np.empty(0)
    shapes, used = [], []
    for _ in range(samples):
        advance(w, rng, thin, 10**9, False, no_scale, False)
        if times:
            sweep(w, rng, False, no_scale, False)
        shapes.append(nested(w))
        if use is not None:
            used.append(use(w))
    return shapes, np.array(used)


@pytest.mark.parametrize(
    ("n", "c", "moves"),
    [
        *((n, c, "both") for n, c in SIZES),
        *((n, c, "slides") for n, c in SIZES),
        (4, 1.0, "regrafts"),
        (6, 1.0, "regrafts"),
    ],
)
def test_shapes_and_times_without_data(n, c, moves):
    rng = np.random.default_rng(n)
    w = prior_work(n, c, moves=moves)
    put_first(w, rng, "random")

    def times(w):
        above = set()
        x = 0
        while x >= 0:
            above.add(x)
            x = int(w.node[x, PARENT])
        y = 1
        while y not in above:
            y = int(w.node[y, PARENT])
        return 1 - w.time[w.tally[ROOT], H], 1 - w.time[y, H]

    shapes, found = sampled(w, rng, 6, times)
    if n <= 4:
        assert compare(shapes, law(frozenset(range(n)))) < LIMIT
    else:  # 105 and 945 labelled trees: their 3 and 6 shapes, and one item's place among them
        assert compare([shape_of(s) for s in shapes], by_shape(n)) < LIMIT
        alone = sum(p for tree, p in law(frozenset(range(n))).items() if 0 in tree)
        assert abs(z_score([0 in s for s in shapes], float(alone))) < LIMIT
    assert abs(z_score(found[:, 0], 1 / (1 + c * float(exact_harmonic(n - 1))))) < LIMIT
    assert abs(z_score(found[:, 1], 1 / (1 + c))) < LIMIT


@pytest.mark.parametrize("n", [4, 6])
def test_the_simulator_draws_from_the_law(n):
    rng = np.random.default_rng(11)
    w = prior_work(n, 0.8)
    shapes, roots = [], []
    for _ in range(SAMPLES):
        draw_prior_tree(w, rng)
        refresh(w)
        shapes.append(nested(w))
        roots.append(1 - w.time[w.tally[ROOT], H])
    if n == 4:
        assert compare(shapes, law(frozenset(range(4)))) < LIMIT
    assert compare([shape_of(s) for s in shapes], by_shape(n)) < LIMIT
    assert abs(z_score(roots, 1 / (1 + 0.8 * float(exact_harmonic(n - 1))))) < LIMIT


def test_the_time_slices_alone_leave_the_prior_alone():
    """Start from the prior, sweep once: still the prior (independent draws, so a sharp test)."""
    rng = np.random.default_rng(12)
    w = prior_work(4, 1.3)
    roots, seconds = [], []
    for _ in range(SAMPLES):
        draw_prior_tree(w, rng)
        refresh(w)
        sweep(w, rng, False, np.empty(0), False)
        roots.append(1 - w.time[w.tally[ROOT], H])
        seconds.append(np.sort(w.time[4:, U])[1] > 0.7)
    assert abs(z_score(roots, 1 / (1 + 1.3 * float(exact_harmonic(3))))) < LIMIT
    twice = []
    for _ in range(SAMPLES):
        draw_prior_tree(w, rng)
        twice.append(np.sort(w.time[4:, U])[1] > 0.7)
    gap = np.mean(seconds) - np.mean(twice)
    assert abs(gap) < LIMIT * np.sqrt(0.5 / SAMPLES)


@pytest.mark.parametrize("moves", ["both", "slides"])
def test_hard_triplets_filter_the_times_too(moves):
    """The root's time under {01|2, 02|3}: the chain against prior draws that pass."""
    rows = [(0, 1, 2), (0, 2, 3)]
    rng = np.random.default_rng(21)
    w = prior_work(4)
    passed = []
    while len(passed) < SAMPLES // 8:
        draw_prior_tree(w, rng)
        if nested(w) == frozenset((frozenset((frozenset((0, 1)), 2)), 3)):
            passed.append((w.time[w.tally[ROOT], U], w.time[4:, U].max()))
    tree = next(t for t in all_trees(4, binary=True) if t.satisfies(rows).all())
    w = chain(tree, rng, dims=0, triplets=rows)
    w.tally[SLIDES] = MOVES[moves]
    _, found = sampled(w, rng, 6, lambda w: (w.time[w.tally[ROOT], U], w.time[4:, U].max()))
    for column in range(2):
        draws = np.exp(-np.array(passed)[:, column])
        error = draws.std() / np.sqrt(len(draws))
        values = np.exp(-found[:, column])
        batch = values[: len(values) // 40 * 40].reshape(40, -1).mean(axis=1)
        both = np.hypot(error, batch.std(ddof=1) / np.sqrt(40))
        assert abs(draws.mean() - values.mean()) < LIMIT * both


@pytest.mark.parametrize("moves", MOVES)
def test_soft_triplets_tilt_the_law(moves):
    rows = [(0, 1, 2), (1, 2, 3), (0, 3, 1)]
    beta = 0.9
    rng = np.random.default_rng(31)
    tilted = {}
    for tree in all_trees(4, binary=True):
        shape = nested(chain(tree, np.random.default_rng(0), dims=0))
        lost = float((~tree.satisfies(rows)).sum())
        tilted[shape] = float(law(frozenset(range(4)))[shape]) * np.exp(-beta * lost)
    mass = sum(tilted.values())
    w = prior_work(4, 1.0, rows, beta, moves)
    put_first(w, rng, "random")
    shapes, _ = sampled(w, rng, 6, times=True)
    assert compare(shapes, {s: p / mass for s, p in tilted.items()}) < LIMIT


@pytest.mark.parametrize(
    ("latents", "moves"), [("integrated", "both"), ("integrated", "slides"), ("gibbs", "both")]
)
@pytest.mark.parametrize("common", [False, True])
def test_geweke_with_learning(common, latents, moves):
    """Parameters, tree and data drawn jointly, against a chain that alternates moves and new data.

    If every move leaves the posterior alone, the successive-conditional chain has the prior as its
    marginal (Geweke 2004): c ~ Gamma(1, 1), 1/sigma^2 ~ Gamma(1) / scale, times and shapes the
    prior's given c. Means of bounded functions of them are compared.
    """
    rng = np.random.default_rng(41)
    n, dims, scale = 4, 2, np.array([1.0, 1.0])
    w = allocate(n, np.zeros((n, dims)), np.empty((0, 3), np.int32), np.empty(0), 0.1, None)
    put_scale(w, 1.0, np.ones(dims))
    draw_prior_tree(w, rng)
    w.tally[GIVEN] = latents == "gibbs"
    w.tally[SLIDES] = MOVES[moves]
    found = []
    for _ in range(SAMPLES):
        w.data[:] = draw_data(w, rng)
        refresh(w)
        if latents == "gibbs":  # data and locations, given the tree
            draw_locations(w, rng)
        advance(w, rng, 6, 6, True, scale, common)
        found.append(
            (
                np.exp(-w.real[C]),
                1 / (1 + w.sigma[0] ** 2),
                np.exp(-w.real[C] * w.time[w.tally[ROOT], U] * 11 / 6),
            )
        )
    values = np.array(found)
    assert abs(z_score(values[:, 0], 0.5)) < LIMIT  # E exp(-c), c ~ Exp(1)
    # E 1 / (1 + s), 1/s ~ Exp(1): integral of x e^-x / (1 + x) = 1 - e E1(1)
    assert abs(z_score(values[:, 1], 1 - np.e * 0.21938393439552029)) < LIMIT
    assert abs(z_score(values[:, 2], 0.5)) < LIMIT  # c H(3) u_root ~ Exp(1)


def draw_data(w, rng):
    n, dims = w.data.shape
    cov = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            above = set()
            x = i
            while x >= 0:
                above.add(x)
                x = int(w.node[x, PARENT])
            y = j
            while y not in above:
                y = int(w.node[y, PARENT])
            cov[i, j] = 1 - w.time[y, H] + (w.real[1] if i == j else 0.0)
    return np.linalg.cholesky(cov) @ rng.normal(size=(n, dims)) * w.sigma
