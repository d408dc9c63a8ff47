"""Locations given in turn with the tree (the paper's way) have the posterior of the integrated."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import hcviz
from hcviz import Problem
from hcviz.algorithms.ddt import DdtState
from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import integrated, log_joint, put_scale, refresh
from hcviz.algorithms.ddt.start import put_first, tree_of
from hcviz.algorithms.ddt.state import locations_of
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import GIVEN, ROOT, SLIDES, H, allocate
from tests.ddtslow import LIMIT, MOVES, consistent_triplets, nested, slow_log_joint, z_score
from tests.trees import random_tree

FAST = not numba.config.DISABLE_JIT
SAMPLES = 16_000 if FAST else 1_000
WAYS = ["integrated", "gibbs"]


def work(data, latents, rng, noise=0.1, rows=(), c=1.0):
    data = np.asarray(data, float)
    rows = np.asarray(rows, np.int32).reshape(-1, 3)
    w = allocate(len(data), data, rows, np.ones(len(rows)), noise, None)
    put_scale(w, c, np.ones(data.shape[1]))
    put_first(w, rng, "random")
    w.tally[GIVEN] = latents == "gibbs"
    if latents == "gibbs":
        draw_locations(w, rng)
    return w


def by_quadrature(data, c, noise, steps=150):
    """Exact P(tree | data) of three items and E[t_root | data]: the likelihood averaged over the
    prior's times, u_root ~ Exp(3/2 c), u - u_root ~ Exp(c), at the midpoints of equal shares."""
    share = (np.arange(steps) + 0.5) / steps
    first = -np.log1p(-share)[:, None] / (1.5 * c)
    t_root = -np.expm1(-np.broadcast_to(first, (steps, steps)))
    t_pair = -np.expm1(-(first - np.log1p(-share)[None, :] / c))
    mass, moment = {}, 0.0
    for a, b, apart in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        cov = np.empty((steps, steps, 3, 3))
        cov[...] = t_root[..., None, None]
        cov[..., a, b] = cov[..., b, a] = t_pair
        for i in range(3):
            cov[..., i, i] = 1.0 + noise
        x = np.asarray(data, float)
        _, logdet = np.linalg.slogdet(cov)
        fit = np.einsum("id,...ij,jd->...", x, np.linalg.inv(cov), x)
        like = np.exp(-0.5 * (x.shape[1] * logdet + fit))
        mass[frozenset((frozenset((a, b)), apart))] = like.mean()
        moment += (like * t_root).mean()
    total = sum(mass.values())
    return {tree: m / total for tree, m in mass.items()}, moment / total


@pytest.mark.parametrize(
    ("latents", "moves"), [("integrated", "both"), ("integrated", "slides"), ("gibbs", "both")]
)
def test_three_items_against_quadrature(latents, moves):
    data = [[0.4, -0.3], [0.9, 0.1], [-0.8, 0.5]]
    expected, root = by_quadrature(data, 0.8, 0.1)
    rng = np.random.default_rng(1)
    w = work(data, latents, rng, c=0.8)
    w.tally[SLIDES] = MOVES[moves]
    shapes, roots = [], []
    for _ in range(SAMPLES):
        advance(w, rng, 6, 3, False, np.ones(2), False)
        shapes.append(nested(w))
        roots.append(1 - w.time[w.tally[ROOT], H])
    for tree, p in expected.items():
        assert abs(z_score([s == tree for s in shapes], p)) < LIMIT
    assert abs(z_score(roots, root)) < LIMIT


@pytest.mark.parametrize("rows", [(), ((0, 1, 2),)])
def test_both_ways_have_one_posterior(rows):
    """Five items: log joint, root time and every clade that is there a tenth of the time or more,
    with and without a triplet. Standard errors by batch means, both ways' together."""
    data = np.random.default_rng(3).normal(size=(5, 2))
    found = {}
    for latents in WAYS:
        rng = np.random.default_rng(4)
        w = work(data, latents, rng, rows=())
        if rows:
            w = started(data, latents, rng, rows)
        seen = []
        for _ in range(SAMPLES):
            advance(w, rng, 10, 5, False, np.ones(2), False)
            clades = parts(nested(w))
            seen.append([integrated(w), w.time[w.tally[ROOT], H], *[c in clades for c in PAIRS]])
        found[latents] = np.array(seen, float)
    means, errors = zip(*[batches(found[latents]) for latents in WAYS], strict=True)
    assert np.all(np.abs(means[0] - means[1]) < LIMIT * np.hypot(*errors) + 1e-9)


PAIRS = [frozenset((i, j)) for i in range(5) for j in range(i)]


def started(data, latents, rng, rows):
    """As :func:`work`, from a start that satisfies ``rows``."""
    while True:
        w = work(data, latents, rng, rows=rows)
        if tree_of(w).satisfies(rows).all():
            return w


def parts(shape):
    """The pairs that are clades of a nested shape."""
    if not isinstance(shape, frozenset):
        return set()
    own = {shape} if all(not isinstance(x, frozenset) for x in shape) else set()
    return own.union(*(parts(x) for x in shape))


def batches(values, number=40):
    size = len(values) // number
    means = values[: size * number].reshape(number, size, -1).mean(axis=1)
    return means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(number)


def test_given_locations_are_the_leaves_data_and_the_log_joint_stays_integrated():
    rng = np.random.default_rng(5)
    w = work(rng.normal(size=(12, 3)), "gibbs", rng)
    for _ in range(30):
        advance(w, rng, 25, 12, True, np.ones(3), False)
        before = locations_of(w)
        assert integrated(w) == pytest.approx(slow_log_joint(w), abs=1e-8)
        assert np.array_equal(locations_of(w), before)
        inner = np.arange(12, 23)
        assert np.all(w.msg[2 * inner + w.node[inner, 4], 0] == 0)
        leaves = 2 * np.arange(12) + w.node[:12, 4]
        assert w.msg[leaves, 1:] == pytest.approx(w.data / w.sigma)
    w.tally[GIVEN] = 0
    refresh(w)
    assert log_joint(w) == pytest.approx(slow_log_joint(w), abs=1e-8)


@pytest.mark.parametrize("chains", [1, 2])
def test_a_run_continues_bit_for_bit(chains):
    features = np.random.default_rng(0).normal(size=(14, 3))
    problem = Problem(features=features, triplets=[[0, 1, 2]])
    options = {"latents": "gibbs", "every": 10, "chains": chains}
    whole = list(hcviz.run("ddt", problem, steps=170, **options))[-1]
    half = list(hcviz.run("ddt", problem, steps=90, **options))[-1]
    state = DdtState.from_arrays(half.state.to_arrays())
    kept = hcviz.Snapshot(half.tree, half.step, half.total, {}, state)
    rest = list(hcviz.run("ddt", problem, steps=80, start=kept, seed=9, **options))[-1]
    assert rest.tree == whole.tree
    assert rest.metrics == whole.metrics
    assert np.array_equal(rest.state.places, whole.state.places)


def test_from_either_way_to_the_other_and_under_new_triplets():
    features = np.random.default_rng(0).normal(size=(14, 3))
    problem = Problem(features=features)
    snapshot = list(hcviz.run("ddt", problem, steps=50))[-1]
    for latents in ("gibbs", "integrated", "gibbs"):
        run = hcviz.run("ddt", problem, steps=50, start=snapshot, latents=latents)
        first = next(run)
        assert first.tree == snapshot.tree
        assert first.metrics["log_joint"] == pytest.approx(snapshot.metrics["log_joint"])
        snapshot = list(run)[-1]
        assert (snapshot.state.places is None) == (latents == "integrated")
    rng = np.random.default_rng(1)
    rows = consistent_triplets(random_tree(rng, 14), 10, rng)
    for shown in hcviz.run(
        "ddt", problem.with_triplets(rows), start=snapshot, latents="gibbs", steps=140
    ):
        assert shown.tree.satisfies(rows).all()
    flat = Problem(features=np.empty((6, 0)))
    assert list(hcviz.run("ddt", flat, latents="gibbs", steps=60))[-1].step == 60


@pytest.mark.parametrize("latents", WAYS)
def test_where_calls_are_cut_has_no_say(latents):
    """One proposal a call, as on a loaded machine, or all at once: the same bits."""
    data = np.random.default_rng(2).normal(size=(10, 2))
    ends = []
    for each in (1, 3, 400):
        rng = np.random.default_rng(5)
        w = work(data, latents, rng)
        left = 400
        while left:
            advance(w, rng, min(each, left), 10, True, np.ones(2), False)
            left -= min(each, left)
        ends.append((tree_of(w), integrated(w), rng.random()))
    assert ends[0] == ends[1] == ends[2]


def test_a_large_sweep_in_parts_is_the_same_sweep(monkeypatch):
    """The cut of the work has no say: with every sweep made in parts, the same trees."""
    from hcviz.algorithms.ddt import running

    problem = Problem(features=np.random.default_rng(2).normal(size=(40, 3)))
    for latents in WAYS:
        whole = list(hcviz.run("ddt", problem, steps=200, every=70, latents=latents))[-1]
        with monkeypatch.context() as changed:
            changed.setattr(running, "LARGE", 0)
            changed.setattr(running, "PART", 300)
            parts = list(hcviz.run("ddt", problem, steps=200, every=70, latents=latents))[-1]
        assert parts.tree == whole.tree
        assert parts.metrics == whole.metrics
