"""``hcviz.sample``: what is recorded, when it stops, and what its posterior says, from definitions.

Tolerances: 0.05 where exact supports are compared with settled ones, as that is what settled
means; elsewhere results are exact, up to the rounding of sums (1e-9).
"""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import hcviz
from hcviz import InconsistentTriplets, Problem, Tree
from hcviz.algorithms import generator, get
from hcviz.algorithms.ddt import recording
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.snapshot import Snapshot
from hcviz.posterior import ChainComparison, Draws, Posterior, compare_chains, ess_mean
from hcviz.posterior.burn_in import burn_in
from hcviz.posterior.sampling import SnapshotSampler, proposals_until_settled, sample_until_settled
from tests.ddtslow import consistent_triplets
from tests.trees import all_trees, random_tree


def features(n=12, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def clade_sets(tree):
    """The clades of a tree but the root and the items."""
    found = {frozenset(c.tolist()) for c in tree.clades()}
    return found - {frozenset(range(tree.n_leaves))}


def samplers(problem, chains=1, seed=0, **params):
    method = get("ddt")
    checked = method.parameters(chains=chains, **params)
    return method.recorded_run(problem, checked, generator(seed), None).chains


def never():
    return False


def trees_of(draws):
    rows = range(draws.after_burn_in().start, draws.n_draws)
    return [Tree(*draws.tree_arrays(row), draws.n_items) for row in rows]


def random_draws(n, number, seed, polytomies=False):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, n, polytomies) for _ in range(4)]
    draws = Draws(n, 1)
    for k in range(number):
        draws.append(trees[int(rng.choice(4, p=[0.6, 0.25, 0.1, 0.05]))], -float(k))
    return draws


# ---------------------------------------------------------------------- what is recorded


@pytest.mark.parametrize("options", [{}, {"latents": "gibbs"}, {"beta": 2.0}, {"learn": False}])
def test_recorded_draws_are_the_snapshots_of_the_run(options):
    """The same chain yields the same trees through ``run``, one snapshot for each draw."""
    problem = Problem(features=features(), triplets=[[0, 1, 2], [3, 4, 5]])
    draws = Draws(12, 30)
    (sampler,) = samplers(problem, **options)
    sampler.record(draws)
    for target in (7, 100, 101, 600):  # the division into calls has no effect
        sampler.advance(draws, target, never)
    snapshots = list(hcviz.run("ddt", problem, steps=600, every=30, **options))
    assert draws.n_draws == len(snapshots) == 21
    for row, snapshot in enumerate(snapshots):
        tree = Tree(*draws.tree_arrays(row), 12)
        assert clade_sets(tree) == clade_sets(snapshot.tree)
        assert np.sort(tree.height).tolist() == pytest.approx(np.sort(snapshot.tree.height))
        assert draws.log_joint[row] == pytest.approx(snapshot.metrics["log_joint"], abs=1e-9)


def test_full_arrays_keep_every_second_draw():
    problem = Problem(features=features(5))
    (sampler,), (plain,) = samplers(problem), samplers(problem)
    small, large = Draws(5, 10), Draws(5, 10)
    for name in ("parent", "height", "log_joint", "nodes"):
        setattr(small, name, getattr(small, name)[:8])
    for each, draws in ((sampler, small), (plain, large)):
        each.record(draws)
        each.advance(draws, 1000, never)
    assert small.thin == 160
    assert small.n_draws == 7
    assert small.log_joint[:7].tolist() == large.log_joint[:101:16].tolist()
    assert np.array_equal(small.parent[:7], large.parent[:101:16])
    assert small.after_burn_in() == slice(burn_in(small.log_joint[:7]), 7)


def test_a_sampler_stops_soon_after_it_is_asked_to():
    (sampler,) = samplers(Problem(features=features(40)))
    draws = Draws(40)
    calls = iter([False, False, True])
    sampler.advance(draws, 10**9, lambda: next(calls))
    assert 0 < draws.n_proposals < 10**6


@pytest.mark.parametrize("polytomies", [False, True])
def test_counts_from_arrays_equal_counts_from_trees(polytomies):
    chains = [random_draws(30, 150, seed, polytomies) for seed in range(2)]
    found, slow = Posterior.from_draws(chains), Posterior(30)
    for chain, draws in enumerate(chains):
        for k, tree in enumerate(trees_of(draws)):
            slow.add(tree, float(draws.log_joint[draws.after_burn_in().start + k]), chain=chain)
    counts = Counter(c for draws in chains for tree in trees_of(draws) for c in clade_sets(tree))
    total = sum(len(trees_of(draws)) for draws in chains)
    assert len(found) == len(slow) == total == 150
    for tree in trees_of(chains[0])[:5]:
        expected = [counts.get(frozenset(c.tolist()), total) / total for c in tree.clades()]
        assert found.support(tree).tolist() == pytest.approx(expected)
        assert slow.support(tree).tolist() == pytest.approx(expected)
    for one, other in zip(found.consensus(), slow.consensus(), strict=True):
        if isinstance(one, Tree):
            assert clade_sets(one) == clade_sets(other)
            assert one.height.tolist() == pytest.approx(other.height.tolist())
        else:
            assert one.tolist() == pytest.approx(other.tolist())
    assert found.record.n_draws == slow.record.n_draws
    assert found.best[1] == slow.best[1] == max(d.log_joint[75:150].max() for d in chains)
    assert clade_sets(found.summary_tree()) == clade_sets(slow.summary_tree())
    assert found.accuracy == pytest.approx(slow.accuracy)


def test_clades_lists_each_clade_with_its_support():
    draws = random_draws(9, 80, 3)
    found = Posterior.from_draws([draws])
    trees = trees_of(draws)
    counts = Counter(c for tree in trees for c in clade_sets(tree))
    for least in (0.0, 0.05, 0.5, 1.0):
        expected = {c: n / len(trees) for c, n in counts.items() if n / len(trees) >= least}
        listed = found.clades(least)
        assert {frozenset(items.tolist()): p for items, p in listed} == pytest.approx(expected)
        assert all(np.array_equal(items, np.sort(items)) for items, _ in listed)
        assert all(a[1] >= b[1] for a, b in pairwise(listed))
    with pytest.raises(InvalidParameter, match="from 0 to 1"):
        found.clades(1.5)
    with pytest.raises(InvalidData, match="No tree"):
        Posterior(4).clades()
    with pytest.raises(InvalidData, match="has 4 leaves, but the posterior has 9 items"):
        found.support(random_tree(np.random.default_rng(0), 4))


# ---------------------------------------------------------------------- when it has settled


def codes_of(draws):
    return draws.clade_codes(Posterior(draws.n_items).clade_table.keys)


def slow_difference(chains):
    """The 95 % quantile of the difference of supports, from sets of frozensets."""
    shares = []
    for trees in chains:
        counts = Counter(c for tree in trees for c in clade_sets(tree))
        shares.append({clade: n / len(trees) for clade, n in counts.items()})
    gaps = []
    for clade in set().union(*shares):
        each = [share.get(clade, 0.0) for share in shares]
        if sum(each) / len(each) > 0.05:
            gaps.append(
                max(
                    abs(x - (sum(each) - x) / (len(each) - 1))  # a chain and the mean of the others
                    for x in each
                )
            )
    return float(np.quantile(gaps, 0.95))


@pytest.mark.parametrize("chains", [2, 3, 4])
def test_the_difference_of_chains_matches_its_definition(chains):
    draws = [random_draws(14, 130, 10 * chains + seed // 2) for seed in range(chains)]
    found = compare_chains([codes_of(each) for each in draws])
    assert found.difference == pytest.approx(slow_difference([trees_of(each) for each in draws]))
    assert found.draws == 65


def test_one_chain_is_compared_with_itself():
    draws = random_draws(14, 240, 1)
    trees = trees_of(draws)
    found = compare_chains([codes_of(draws)])
    assert found.difference == pytest.approx(slow_difference([trees[:60], trees[60:]]))


def test_the_error_is_two_standard_errors_by_effective_draws():
    has = np.random.default_rng(0).random((2, 300)) < 0.3
    codes = [np.where(row[:, None], 5, 0).astype(np.uint64) for row in has]
    p = has.mean()
    expected = 2 * math.sqrt(p * (1 - p) / ess_mean(has))
    assert compare_chains(codes).error == pytest.approx(expected)


def test_agreement_by_chance_is_not_settled():
    """Both chains change once, halfway: their supports are equal, but worth two draws each."""
    chain = np.where(np.arange(400) < 200, 5, 6).astype(np.uint64)[:, None]
    found = compare_chains([chain, chain])
    assert found.difference == 0.0
    assert found.error > 0.3
    assert not found.settled


def test_too_few_draws_give_nan():
    chain = np.ones((49, 1), np.uint64)
    found = compare_chains([chain, chain])
    assert math.isnan(found.accuracy)
    assert not found.settled
    assert math.isnan(Posterior(5).accuracy)
    assert not Posterior(5).settled


def test_a_growing_posterior_compares_its_chains_again():
    rng = np.random.default_rng(0)
    one, other = random_tree(rng, 8), random_tree(rng, 8)
    made = Posterior(8)
    for _ in range(60):
        made.add(one, 0.0, chain=0)
        made.add(one, 0.0, chain=1)
    assert made.accuracy == 0.0
    assert made.settled
    assert made.verdict().accuracy == 0.0
    for _ in range(60):
        made.add(one, 0.0, chain=0)
        made.add(other, 0.0, chain=1)
    assert made.compare_chains().difference == pytest.approx(0.5)
    assert not made.settled


# ---------------------------------------------------------------------- the public call


def prior(tree):
    """The probability of a labelled shape under the Dirichlet diffusion tree, times integrated out.

    A product over inner nodes with l and n - l leaves below the children: (l-1)! (n-l-1)! /
    ((n-1)! H(n-1)), as in ``tests.ddtslow.law``.
    """
    found = 1.0
    for v in range(tree.n_leaves, tree.n_nodes):
        n, left = int(tree.size[v]), int(tree.size[tree.children(v)[0]])
        harmonic = sum(1 / k for k in range(1, n))
        found *= math.factorial(left - 1) * math.factorial(n - left - 1)
        found /= math.factorial(n - 1) * harmonic
    return found


@pytest.mark.parametrize("triplets", [[], [[0, 1, 2]], [[0, 1, 2], [1, 2, 4]]])
def test_settled_supports_agree_with_enumeration(triplets):
    """Constant columns leave the prior, restricted to the trees that satisfy the triplets.

    Of all clades of ten runs 95 % are right to within .05: what *settled* says of one run.
    """
    trees = list(all_trees(5, binary=True))
    assert sum(map(prior, trees)) == pytest.approx(1.0)
    legal = [t for t in trees if not triplets or t.satisfies(triplets).all()]
    total = sum(map(prior, legal))
    exact = Counter()
    for tree in legal:
        for clade in clade_sets(tree):
            exact[clade] += prior(tree) / total
    problem = Problem(features=np.ones((5, 2)), triplets=triplets or None)
    gaps = []
    for seed in range(10):
        found = hcviz.sample(problem, seed=seed)
        assert found.settled
        listed = {frozenset(items.tolist()): share for items, share in found.clades(0.0)}
        gaps += [abs(listed.get(each, 0.0) - p) for each, p in exact.items() if p > 0.05]
        assert set(listed) <= set(exact)
    assert np.quantile(gaps, 0.95) <= 0.05


def test_settled_supports_agree_with_a_long_run():
    problem = Problem(features=features(8))
    long = Posterior(8)
    for k, snapshot in enumerate(hcviz.run("ddt", problem, steps=400_000, every=100, seed=9)):
        if k >= 400:
            long.add_snapshot(snapshot)
    found = hcviz.sample(problem, seed=1)
    assert found.settled
    gaps = [abs(p - long.clade_support(items)) for items, p in found.clades(0.05)]
    assert np.quantile(gaps, 0.95) <= 0.05


def test_the_result_depends_on_the_seed_alone(monkeypatch):
    """The number of threads and the division into calls have no effect."""
    problem = Problem(features=features(10), triplets=[[0, 1, 2]])

    def result(cores, chunk, seed=5):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
        monkeypatch.setattr(recording, "CALL_SECONDS", chunk)
        made = hcviz.sample(problem, seed=seed)
        assert made.settled
        return made

    one, other = result(1, 0.015), result(4, 1e-4)
    assert one.proposals == other.proposals
    assert one.record.n_draws == other.record.n_draws
    assert one.summary_tree() == other.summary_tree()
    first, second = one.clades(0.0), other.clades(0.0)
    assert [(c.tolist(), p) for c, p in first] == [(c.tolist(), p) for c, p in second]
    assert one.record.scalars.value == other.record.scalars.value
    assert result(2, 0.015, seed=6).record.scalars.value != one.record.scalars.value


def test_the_default_number_of_chains_is_a_constant():
    found = hcviz.sample(features(4), seconds=30)
    assert set(found.record.n_draws) == {0, 1}
    assert set(hcviz.sample(features(4), chains=3, seconds=30).record.n_draws) == {0, 1, 2}
    assert set(hcviz.sample(features(4), chains=1, seconds=30).record.n_draws) == {0}


@pytest.mark.parametrize("composed", [True, False])
def test_the_summary_keeps_every_hard_triplet(composed):
    rng = np.random.default_rng(4)
    rows = consistent_triplets(random_tree(rng, 20), 25, rng)
    problem = Problem(features=features(20, 3), triplets=rows)
    found = hcviz.sample(problem, seconds=1)
    tree = found.summary_tree(composed)
    assert tree.is_binary
    assert tree.satisfies(rows).all()
    for items, _ in found.clades(0.0):  # and each clade was sampled under them
        inside = np.isin(rows, items)
        assert not np.any(inside[:, 0] & ~inside[:, 1] & inside[:, 2])
    assert hcviz.fit("ddt", problem, steps=500).satisfies(rows).all()


@pytest.mark.parametrize("seconds", [0, -1, math.inf, -math.inf, math.nan, "5", True, [1.0]])
def test_seconds_must_be_a_positive_number(seconds):
    with pytest.raises(InvalidParameter, match="seconds must be a positive number"):
        hcviz.sample(features(4), seconds=seconds)


def test_invalid_input_raises_a_clear_error():
    with pytest.raises(InvalidParameter, match="does not sample"):
        hcviz.sample(features(4), "average")
    with pytest.raises(InvalidParameter, match="no method"):
        hcviz.sample(features(4), "nothing")
    with pytest.raises(InvalidParameter, match="takes no 'steps'"):
        hcviz.sample(features(4), steps=10)
    with pytest.raises(InvalidParameter, match="no parameter"):
        hcviz.sample(features(4), depth=1)
    for chains in (0, 65, 1.5, "2"):
        with pytest.raises(InvalidParameter, match="chains must be"):
            hcviz.sample(features(4), chains=chains)
    with pytest.raises(InvalidData, match="two items or more"):
        hcviz.sample(features(1))
    with pytest.raises(InconsistentTriplets):
        hcviz.sample(Problem(features=features(4), triplets=[[0, 1, 2], [0, 2, 1]]))


@pytest.mark.parametrize("n", [2, 3])
def test_two_and_three_items_settle(n):
    found = hcviz.sample(features(n))
    assert found.settled
    assert found.summary_tree().n_leaves == n
    assert len(found.clades(0.0)) == (0 if n == 2 else 3)


@pytest.mark.parametrize(
    "table", [np.ones((15, 2)), np.random.default_rng(0).integers(0, 2, (15, 4)).astype(float)]
)
def test_degenerate_tables_give_a_posterior(table):
    found = hcviz.sample(table, seconds=5)
    assert 0 <= found.accuracy < 0.5
    assert found.summary_tree().n_leaves == 15


def test_after_the_time_limit_the_posterior_has_not_settled():
    found = hcviz.sample(features(400, 5), seconds=1e-6)
    assert not found.settled
    assert len(found) >= 2
    assert found.summary_tree().n_leaves == 400
    assert found.verdict().word == "too few trees yet"


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_progress_is_one_line_that_is_rewritten(capsys, monkeypatch, has_tqdm):
    if not has_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    hcviz.sample(features(6), progress=True)
    text = capsys.readouterr().err
    assert text.startswith("\r")
    assert text.count("\n") == 1
    assert "Dirichlet diffusion tree: " in text
    assert "supports accurate to about" in text
    hcviz.fit("ddt", features(6), steps=400, progress=True)
    for snapshot in hcviz.run("crsc", features(6), progress=True):
        last = snapshot
    text = capsys.readouterr().err
    assert "400" in text
    assert "Recursive sparsest cut" in text
    total = f"{last.step}/{last.total}" if has_tqdm else f"{last.step} of {last.total}"
    assert total in text.replace(".0", "")
    hcviz.sample(features(6))
    assert capsys.readouterr().err == ""


def test_the_proposals_until_settled_are_estimated():
    def found(accuracy):
        return ChainComparison(accuracy, 0.0, 10, 200)

    assert proposals_until_settled(1000, found(0.2)) == 16_000
    assert proposals_until_settled(1000, found(0.2), limit=5000) == 5000
    assert proposals_until_settled(1000, found(0.01)) == 1000
    assert proposals_until_settled(1000, found(float("nan"))) == 0


@pytest.mark.parametrize("method", ["ddt", "active-spectral"])
def test_seeds_may_be_none_or_generators(method):
    params = {"steps": 200} if method == "ddt" else {}
    data = features(30)
    one, other = (
        hcviz.fit(method, data, seed=np.random.default_rng(3), **params) for _ in range(2)
    )
    assert one == other == hcviz.fit(method, data, seed=one.info.seed, **params)
    seeds = {hcviz.fit(method, data, seed=None, **params).info.seed for _ in range(3)}
    assert len(seeds) == 3
    with pytest.raises(InvalidParameter, match="seed"):
        hcviz.fit(method, data, seed="today")


# ---------------------------------------------------------------------- fit, and other samplers


def test_fit_gives_the_summary_of_its_draws(monkeypatch):
    """With ``steps`` it makes exactly so many proposals; the same call gives the same tree."""
    problem = Problem(features=features(12))
    made = []
    kept = Posterior.from_draws

    def spy(draws, *more):
        made.append(kept(draws, *more))
        return made[-1]

    monkeypatch.setattr(Posterior, "from_draws", staticmethod(spy))
    tree = hcviz.fit("ddt", problem, steps=3001, seed=2)
    assert made[-1].proposals == 3001
    assert len(made[-1]) > 100
    assert tree == made[-1].summary_tree()
    assert tree == hcviz.fit("ddt", problem, steps=3001, seed=2)
    hcviz.fit("ddt", problem, steps=1000, chains=3)
    assert made[-1].proposals == 3000
    hcviz.fit("ddt", problem, steps=1000, every=10)
    assert 51 <= len(made[-1]) <= 89  # from half to seven eighths of 101 draws
    settled = hcviz.fit("ddt", problem, seed=2)
    assert settled == made[-1].summary_tree()
    assert made[-1].settled or made[-1].proposals == 2 * 5000 * 12
    assert settled == hcviz.fit("ddt", problem, seed=2)


def test_a_method_that_has_only_snapshots_can_be_sampled():
    """Runs of 40 snapshots, each of which goes on where the last one ended."""
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, 6) for _ in range(3)]
    starts = []

    def run(start):
        starts.append(start)
        yield None
        for step in range(start is not None, 40):
            yield Snapshot(trees[int(rng.integers(3))], step, 39, {"log_joint": 1.0})

    chains = [SnapshotSampler(run), SnapshotSampler(run)]
    found = sample_until_settled(chains, 6, seconds=60.0, thin=1)
    assert found.settled
    assert found.proposals >= 2 * 128
    assert starts[0] is None
    assert starts[-1].step == 39
    shares = found.support(trees[0])
    assert shares.min() == pytest.approx(1 / 3, abs=0.1)
