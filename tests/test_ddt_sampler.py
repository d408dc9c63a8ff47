"""The run as the page and scripts see it: starts, repairs, resumption, parameters, bad input."""

from __future__ import annotations

import os
from pathlib import Path

import numba
import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import hcviz
from hcviz import InconsistentTriplets, Problem, Tree
from hcviz.algorithms.ddt import DdtState, sample_locations
from hcviz.algorithms.ddt.density import put_scale, put_tree
from hcviz.algorithms.ddt.leafnoise import floors
from hcviz.algorithms.ddt.start import MAX_LINKAGE, average_tree, merges_of
from hcviz.algorithms.ddt.starttrees import bisected, children_of
from hcviz.algorithms.ddt.work import allocate
from hcviz.core.errors import InvalidData, InvalidParameter
from tests.ddtslow import consistent_triplets, slow_log_joint
from tests.trees import all_trees

FAST = not numba.config.DISABLE_JIT


def features(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def last(problem, **options):
    return list(hcviz.run("ddt", problem, **options))[-1]


def work_of(snapshot, problem, noise=0.0, centre=True, floor=None):
    """The kernel's arrays of a snapshot, for the slow definitions."""
    state = snapshot.state
    data = np.asarray(problem.features, float)
    data = data - data.mean(axis=0) if centre else data
    none = np.empty((0, 3), np.int32)
    w = allocate(problem.n_items, data, none, np.empty(0), noise, None, floor)
    put_scale(w, state.c, state.sigma)
    put_tree(w, state.parent, state.child, state.u)
    return w


# ---------------------------------------------------------------------- what a snapshot says


def test_log_joint_is_that_of_the_tree_shown():
    problem = Problem(features=features(12))
    for snapshot in hcviz.run("ddt", problem, steps=60, every=20):
        w = work_of(snapshot, problem)
        assert snapshot.metrics["log_joint"] == pytest.approx(slow_log_joint(w), abs=1e-8)
        # heights are 1 - t, and are what the definition sees
        u = -np.log(snapshot.tree.height[12:])
        assert np.sort(u) == pytest.approx(np.sort(snapshot.state.u[12:]))
        parent = snapshot.tree.parent.copy()
        shown = np.concatenate([np.full(12, np.inf), u])
        put_tree(w, parent, children_of(parent, 12), shown)
        assert snapshot.metrics["log_joint"] == pytest.approx(slow_log_joint(w), abs=1e-6)


def test_steps_every_and_counts():
    problem = Problem(features=features(10))
    steps = [s.step for s in hcviz.run("ddt", problem, steps=70, every=30)]
    assert steps == [0, 30, 60, 70]
    shown = list(hcviz.run("ddt", problem, steps=70, every=30))
    assert [s.metrics["proposals"] for s in shown] == [0, 30, 60, 70]
    accepted = [s.metrics["accepted"] for s in shown]
    assert accepted == sorted(accepted)
    assert accepted[-1] <= 70
    assert shown[-1].total == 70
    defaults = list(hcviz.run("ddt", Problem(features=features(4))))
    assert defaults[-1].step == 800
    assert defaults[1].step == 4


def test_a_long_run_stops_often_and_calls_are_short():
    """Between two snapshots far apart the generator yields None, a place to stop."""
    from hcviz.algorithms import generator, get

    method = get("ddt")
    params = method.parameters(steps=10**7, every=10**7)
    stream = method.start_run(Problem(features=features(30)), params, generator(0))
    items = [next(stream) for _ in range(8)]
    assert items[0] is not None
    assert items[1:] == [None] * 7
    stream.close()


# ---------------------------------------------------------------------- going on


@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize("cut", [37, 120, 150])
def test_going_on_is_the_same_run_bit_for_bit(learn, cut):
    problem = Problem(features=features(15), triplets=[[0, 1, 2], [3, 4, 0]])
    whole = last(problem, seed=3, steps=300, every=50, learn=learn)
    half = last(problem, seed=3, steps=cut, every=50, learn=learn)
    stored = DdtState.from_arrays(half.state.to_arrays())
    kept = hcviz.Snapshot(half.tree, half.step, half.total, {}, stored)
    rest = last(problem, seed=99, steps=300 - cut, every=1000, learn=learn, start=kept)
    assert rest.tree == whole.tree
    assert rest.metrics == whole.metrics
    assert rest.state.generator == whole.state.generator


def test_same_seed_same_tree_other_seed_another():
    problem = Problem(features=features(12))
    assert last(problem, seed=1, steps=200).tree == last(problem, seed=1, steps=200).tree
    assert last(problem, seed=1, steps=200).tree != last(problem, seed=2, steps=200).tree


def test_state_survives_npz_without_pickle(tmp_path):
    state = last(Problem(features=features(6)), steps=20).state
    np.savez(tmp_path / "state.npz", **state.to_arrays())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as arrays:
        again = DdtState.from_arrays(dict(arrays))
    assert all(
        np.array_equal(value, again.to_arrays()[name]) for name, value in state.to_arrays().items()
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parent", np.zeros(3, np.int32)),
        ("u", np.zeros(11)),
        ("c", np.array(-1.0)),
        ("sigma", np.array([0.0])),
        ("counts", np.array([0, 0, 99, 1])),
        ("generator", np.frombuffer(b"{}", np.uint8)),
        ("noise", np.array(-0.1)),
        ("child", np.full((11, 2), 3, np.int32)),
    ],
)
def test_a_tampered_state_is_refused(name, value):
    arrays = last(Problem(features=features(6)), steps=10).state.to_arrays()
    with pytest.raises(InvalidData, match="no state"):
        DdtState.from_arrays(arrays | {name: value})


def test_a_run_with_a_new_triplet_keeps_scale_counts_and_untouched_times():
    problem = Problem(features=features(20))
    before = last(problem, steps=400)
    a, b = before.tree.leaves(int(before.tree.parent[0]))[:2]
    others = [x for x in before.tree.leaf_order.tolist() if x not in (a, b)]
    far = next(x for x in others if not before.tree.satisfies([[a, x, b]])[0])
    added = problem.with_triplets([[a, far, b]])
    stream = hcviz.run("ddt", added, steps=100, start=before)
    first = next(stream)
    assert first.step == 0
    assert first.tree.satisfies([[a, far, b]]).all()
    assert first.metrics["c"] == before.metrics["c"]
    assert first.metrics["proposals"] == before.metrics["proposals"]
    assert first.state.generator == before.state.generator
    kept = np.isin(first.tree.height[20:], before.tree.height[20:]).mean()
    assert kept > 0.5
    for snapshot in stream:
        assert snapshot.tree.satisfies([[a, far, b]]).all()


@pytest.mark.parametrize("latents", ["integrated", "gibbs"])
def test_other_data_have_a_scale_of_their_own(latents):
    """Nothing that was learnt from some data is silently taken for that of others."""
    problem = Problem(features=features(15))
    other = Problem(features=100.0 * features(15, seed=1))
    before = last(problem, steps=200, latents=latents)
    fixed = {"learn": False, "latents": latents, "steps": 30}
    kept = last(problem, start=before, **fixed)
    assert (kept.metrics["c"], kept.metrics["sigma"]) == (before.state.c, before.metrics["sigma"])
    moved = list(hcviz.run("ddt", other, start=before, **fixed))
    started_again = last(other, **fixed)
    assert moved[0].tree.parent.tolist() == before.tree.parent.tolist()
    for snapshot in moved:
        assert snapshot.metrics["c"] == started_again.metrics["c"] == 1.0
        assert np.array_equal(snapshot.state.sigma, started_again.state.sigma)
        assert snapshot.metrics["log_joint"] == pytest.approx(
            slow_log_joint(work_of(snapshot, other)), abs=1e-6
        )
    again = DdtState.from_arrays(moved[-1].state.to_arrays())
    assert again.data == moved[-1].state.data != before.state.data


# ---------------------------------------------------------------------- several chains


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937])
def test_a_generator_put_into_a_state_by_hand_decides_every_chain(bits):
    """Its seed is then unknown (here: from the system), and has no say."""
    from hcviz.algorithms import get

    problem, method = Problem(features=features(8)), get("ddt")
    params = method.parameters(steps=40, every=20, chains=3)
    ends = []
    for seed in (5, 5, 6):
        by_hand = bits()
        by_hand.state = bits(seed).state
        stream = method.start_run(problem, params, np.random.Generator(by_hand))
        ends.append([s for s in stream if s is not None][-1].state.chains)
    for one, same, other in zip(*ends, strict=True):
        assert one.generator == same.generator != other.generator
        assert np.array_equal(one.u, same.u)
    assert len({state.generator for state in ends[0]}) == 3


@pytest.mark.parametrize("more", [{}, {"triplets": [[0, 1, 2], [3, 4, 0]]}])
def test_the_first_of_several_chains_is_the_one_that_runs_alone(more):
    problem = Problem(features=features(12), **more)
    alone = list(hcviz.run("ddt", problem, seed=5, steps=200, every=50))
    several = list(hcviz.run("ddt", problem, seed=5, steps=200, every=50, chains=3))
    assert [s.tree for s in several] == [s.tree for s in alone]
    for one, of_three in zip(alone, several, strict=True):
        assert one.metrics.items() <= of_three.metrics.items()
        assert one.state.generator == of_three.state.generator
        assert one.state.other_chains is None
        trees = [state.tree() for state in of_three.state.chains]
        assert len(trees) == 3
        assert np.array_equal(trees[0].parent, of_three.tree.parent)
        assert trees[0].height == pytest.approx(of_three.tree.height)
        assert trees[1] != trees[2]
        if more:
            assert all(tree.satisfies(more["triplets"]).all() for tree in trees)


def test_each_chain_has_the_log_joint_that_it_reports():
    problem = Problem(features=features(9))
    for snapshot in hcviz.run("ddt", problem, steps=60, every=20, chains=3):
        for state in snapshot.state.chains:
            own = hcviz.Snapshot(state.tree(), 0, 1, {}, state)
            assert state.log_joint == pytest.approx(slow_log_joint(work_of(own, problem)), abs=1e-6)


@pytest.mark.parametrize("cut", [210, 430])
def test_several_chains_go_on_bit_for_bit(cut, tmp_path):
    """Trees, numbers and the agreement of the chains, through a file."""
    problem = Problem(features=features(10), triplets=[[0, 1, 2]])
    options = {"every": 10, "chains": 3, "seed": 3}
    whole = last(problem, steps=800, **options)
    half = last(problem, steps=cut, **options)
    np.savez(tmp_path / "state.npz", **half.state.to_arrays())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as arrays:
        stored = DdtState.from_arrays(dict(arrays))
    kept = hcviz.Snapshot(half.tree, half.step, half.total, {}, stored)
    rest = last(problem, steps=800 - cut, start=kept, **(options | {"seed": 77}))
    assert rest.tree == whole.tree
    assert rest.metrics == whole.metrics
    assert {"rhat", "ess"} <= rest.metrics.keys()
    for one, other in zip(whole.state.chains, rest.state.chains, strict=True):
        assert one.generator == other.generator
        assert np.array_equal(one.u, other.u)
    assert np.array_equal(whole.state.other_chains.joints, rest.state.other_chains.joints)


def test_a_new_answer_bends_every_chain_and_forgets_what_they_agreed_on():
    problem = Problem(features=features(10))
    before = last(problem, steps=600, every=10, chains=3)
    assert "rhat" in before.metrics
    a, b = before.tree.leaves(int(before.tree.parent[0]))[:2]
    others = [x for x in before.tree.leaf_order.tolist() if x not in (a, b)]
    far = next(x for x in others if not before.tree.satisfies([[a, x, b]])[0])
    added = problem.with_triplets([[a, far, b]])
    for snapshot in hcviz.run("ddt", added, steps=50, every=10, chains=3, start=before):
        assert "rhat" not in snapshot.metrics
        for state in snapshot.state.chains:
            assert state.tree().satisfies([[a, far, b]]).all()
    assert len(snapshot.state.other_chains.joints) == 5
    more = last(added, steps=20, chains=4, start=snapshot)
    assert len(more.state.chains) == 4
    fewer = last(added, steps=20, chains=1, start=snapshot)
    assert fewer.state.other_chains is None


def test_chains_that_settle_report_it_and_threads_end():
    """Four chains of a small problem: R-hat falls toward 1; no thread outlives the run."""
    import threading

    problem, before = Problem(features=features(8)), set(threading.enumerate())
    shown = list(hcviz.run("ddt", problem, steps=12_000 if FAST else 1500, every=20, chains=4))
    assert 0.99 < shown[-1].metrics["rhat"] < (1.05 if FAST else 1.6)
    assert shown[-1].metrics["ess"] > (100 if FAST else 5)
    stream = hcviz.run("ddt", problem, steps=10**6, chains=2)
    next(stream), next(stream)
    stream.close()
    left = set(threading.enumerate()) - before  # those of other tests' runs may still end
    assert not [t for t in left if t.name.startswith("ddt-chain")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("company.joints", np.zeros((2, 5))),
        ("company.counts", np.array([0, 1])),
        ("chain 2.parent", np.zeros(3, np.int32)),
    ],
)
def test_a_tampered_record_of_other_chains_is_refused(name, value):
    arrays = last(Problem(features=features(6)), steps=10, chains=2).state.to_arrays()
    assert len(DdtState.from_arrays(arrays).chains) == 2
    with pytest.raises(InvalidData, match="no state"):
        DdtState.from_arrays(arrays | {name: value})


# ---------------------------------------------------------------------- triplets


@pytest.mark.parametrize("seed", range(4))
def test_any_consistent_triplets_hold_in_every_state(seed):
    """Triplets of a random tree, at odds with the data: repaired at once, held ever after."""
    rng = np.random.default_rng(seed)
    problem = Problem(features=features(25, seed=seed))
    other = hcviz.fit("ddt", Problem(features=features(25, seed=99 + seed)), steps=10)
    rows = consistent_triplets(other, 5 * (1 + seed), rng)
    problem = problem.with_triplets(rows)
    for start in (None, Tree.star(25), other):
        for snapshot in hcviz.run("ddt", problem, seed=seed, steps=300, every=3, start=start):
            assert snapshot.tree.satisfies(rows).all()
            assert snapshot.tree.is_binary
            assert snapshot.metrics["violated"] == 0
            assert np.isfinite(snapshot.metrics["log_joint"])


@pytest.mark.parametrize("repair", ["guided", "rebuild"])
def test_every_start_on_four_leaves_is_repaired(repair):
    rng = np.random.default_rng(0)
    data = features(4)
    for start in all_trees(4):
        for target in list(all_trees(4, binary=True))[::4]:
            rows = consistent_triplets(target, 3, rng)
            problem = Problem(features=data, triplets=rows)
            first = next(hcviz.run("ddt", problem, start=start, repair=repair))
            assert first.tree.satisfies(rows).all()


def test_the_guided_repair_is_ahead_at_once_and_stays_ahead():
    """The paper's repair throws the geometry below the LCA away; ours keeps it (Iris).

    Mean log joints over 8 new triplets, right after the repair and after 100 and 1,000 proposals.
    The guided repair was ahead by 885, 529 and 298; half of that is asked for. (A rebuilt tree
    recovers faster with slides than by regrafts alone.)
    """
    problem = Problem(features=load_iris().data)
    fixed = {"leaf_noise": 0.01}  # as the benchmark has it
    settled = last(problem, steps=8000 if FAST else 600, **fixed)
    rng = np.random.default_rng(0)
    shown = {"guided": [], "rebuild": []}
    for _ in range(8 if FAST else 2):
        rows = rng.choice(150, (1, 3), replace=False)
        while settled.tree.satisfies(rows)[0]:
            rows = rng.choice(150, (1, 3), replace=False)
        for repair, found in shown.items():
            options = {"start": settled, "repair": repair, "steps": 1000 if FAST else 100}
            options |= fixed
            snapshots = list(hcviz.run("ddt", problem.with_triplets(rows), every=100, **options))
            assert all(s.tree.satisfies(rows).all() for s in snapshots)
            joints = [s.metrics["log_joint"] for s in snapshots]
            found.append([joints[0], joints[1], joints[-1]])
    ahead = np.mean(shown["guided"], axis=0) - np.mean(shown["rebuild"], axis=0)
    assert np.all(ahead > ([440, 260, 150] if FAST else [100, 50, 50]))


def test_contradictions_are_refused_before_anything_runs():
    problem = Problem(features=features(5), triplets=[[3, 4, 0], [0, 1, 2], [0, 2, 1]])
    with pytest.raises(InconsistentTriplets) as fault:
        hcviz.run("ddt", problem)
    assert fault.value.conflict == (1, 2)
    soft = list(hcviz.run("ddt", problem, beta=2.0, steps=50))
    assert soft[-1].metrics["violated"] >= 1


def test_a_larger_beta_satisfies_more_soft_triplets():
    rng = np.random.default_rng(5)
    other = hcviz.fit("ddt", Problem(features=features(15, seed=7)), steps=10)
    rows = consistent_triplets(other, 12, rng)
    problem = Problem(features=features(15), triplets=rows)
    lost = []
    for beta in (0.0, 50.0):
        seen = hcviz.run("ddt", problem, beta=beta, steps=3000, every=100)
        lost.append(np.mean([s.metrics["violated"] for s in list(seen)[10:]]))
    assert lost[1] < 0.3 * lost[0]


# ---------------------------------------------------------------------- data of every kind


def zoo_like(n=60):
    """Binary features with many equal rows, and a count column, as Zoo's raw features are."""
    rng = np.random.default_rng(1)
    kinds = (rng.random((12, 15)) < 0.4).astype(float)
    legs = rng.choice([0, 2, 4, 6, 8], 12)
    which = rng.integers(12, size=n)
    return np.column_stack([kinds, legs])[which]


@pytest.mark.parametrize(
    "data",
    [
        zoo_like(),
        load_iris().data,
        load_digits().data[:80],
        np.empty((9, 0)),
        features(2),
        np.ones((5, 2)),
        np.column_stack([features(8), np.full(8, 7.0)]),
        np.zeros((6, 1)) + np.arange(6)[:, None] // 3,
        features(7) * 1e9,
        features(7) * 1e-9,
        features(7) * [1e-120, 1e-90, 1e90],
    ],
    ids=[
        "zoo",
        "iris",
        "digits",
        "none",
        "two",
        "constant",
        "a constant",
        "pairs",
        "big",
        "small",
        "both",
    ],
)
@pytest.mark.parametrize("init", ["average", "random"])
def test_defaults_work_on(data, init):
    problem = Problem(features=data)
    for snapshot in hcviz.run("ddt", problem, steps=8 * len(data), init=init):
        assert all(np.isfinite(value) for value in snapshot.metrics.values())
        assert snapshot.tree.is_binary
        assert snapshot.tree.n_leaves == len(data)


def test_ties_get_noise_and_other_tables_none():
    """Learnt with sigma, 0.01 where sigma stays; exactly 0 only where no column has ties."""
    data = features(8)
    plain = Problem(features=data)
    doubled = Problem(features=np.concatenate([data, data[:1]]))
    tied = Problem(features=np.column_stack([data, np.arange(8) < 3]))
    for snapshot in hcviz.run("ddt", plain, steps=20):
        assert snapshot.metrics["leaf_noise"] == snapshot.state.noise == 0.0
        w = work_of(snapshot, plain)
        assert snapshot.metrics["log_joint"] == pytest.approx(slow_log_joint(w))
    for problem in (doubled, tied):
        shown = list(hcviz.run("ddt", problem, steps=200, every=20))
        noises = [snapshot.metrics["leaf_noise"] for snapshot in shown]
        assert len(set(noises)) > 5
        for snapshot, noise in zip(shown, noises, strict=True):
            assert noise == snapshot.state.noise > 0
            centred = problem.features - problem.features.mean(axis=0)
            floor = floors(centred, np.ones(centred.shape[1]))
            w = work_of(snapshot, problem, noise, floor=floor)
            assert snapshot.metrics["log_joint"] == pytest.approx(slow_log_joint(w))
        for snapshot in hcviz.run("ddt", problem, steps=20, learn=False):
            assert snapshot.metrics["leaf_noise"] == 0.01
            w = work_of(snapshot, problem, 0.01)
            assert snapshot.metrics["log_joint"] == pytest.approx(slow_log_joint(w))
    noisy = doubled
    with pytest.raises(InvalidData, match="Rows 0 and 8"):
        hcviz.run("ddt", noisy, leaf_noise=0)
    assert np.isfinite(last(noisy, leaf_noise="0.2", steps=50).metrics["log_joint"])


@pytest.mark.parametrize("mu", ["mean", "zero"])
def test_constant_columns_count_where_sigma_is_given(mu):
    """One of zeros adds -1/2 log |K| at each tree, and any other one more; sigma None leaves them
    out, for want of a scale."""
    data = np.column_stack([features(6, 2), np.full(6, 7.1)])
    problem = Problem(features=data)
    given = {"mu": mu, "learn": False, "steps": 60, "every": 20}
    for sigma in ([1.0, 1.0, 2.0], 1.5):
        for snapshot in hcviz.run("ddt", problem, sigma=sigma, **given):
            w = work_of(snapshot, problem, centre=mu == "mean")
            assert w.sigma.tolist() == np.broadcast_to(sigma, 3).tolist()
            assert snapshot.metrics["log_joint"] == pytest.approx(slow_log_joint(w), abs=1e-6)
        place = sample_locations(problem, snapshot, np.random.default_rng(0), mu=mu)
        assert place[:6] == pytest.approx(data)
        assert np.ptp(place[:, 2]) > 0.01  # on its way the diffusion may be elsewhere
    learnt = last(problem, sigma=[1.0, 1.0, 2.0], mu=mu, steps=60)
    assert learnt.state.sigma.size == 3
    assert np.isfinite(learnt.metrics["log_joint"])
    assert last(problem, mu=mu, steps=60).state.sigma.size == 2
    with pytest.raises(InvalidParameter, match="2 numbers, but the features have 3 columns"):
        hcviz.run("ddt", problem, sigma=[1.0, 1.0])


@pytest.mark.parametrize("init", ["average", "random"])
@pytest.mark.parametrize("c", [1e-8, 1e-3, 1e3, 1e8])
def test_c_may_be_very_small_or_large(c, init):
    for data in (features(8), np.empty((8, 0))):
        for snapshot in hcviz.run(
            "ddt", Problem(features=data), c=c, init=init, learn=False, steps=80
        ):
            assert all(np.isfinite(value) for value in snapshot.metrics.values())
            assert snapshot.metrics["c"] == c


def test_mu_and_sigma_as_given():
    data = features(6) + 3.0
    problem = Problem(features=data)
    first = next(hcviz.run("ddt", problem, mu="zero", sigma=[1.0, 2.0, 0.5], learn=False, c=0.7))
    w = work_of(first, problem, centre=False)
    assert list(w.sigma) == [1.0, 2.0, 0.5]
    assert w.real[0] == 0.7
    assert first.metrics["log_joint"] == pytest.approx(slow_log_joint(w))
    done = last(problem, sigma=2.0, c=0.7, learn=False, steps=50)
    assert (done.metrics["c"], done.metrics["sigma"]) == pytest.approx((0.7, 2.0))
    learnt = last(problem, sigma=2.0, steps=50)  # one number given: one number learnt
    assert np.ptp(learnt.state.sigma) == 0
    assert learnt.state.sigma[0] != 2.0


def test_times_of_other_methods_trees_are_sensible():
    """A tree without times of its own starts within reach of the sampler's own start."""
    problem = Problem(features=load_iris().data)
    own = next(hcviz.run("ddt", problem)).metrics["log_joint"]
    tree = hcviz.fit("average", problem)
    assert next(hcviz.run("ddt", problem, start=tree)).metrics["log_joint"] > own - 400
    settled = last(problem, steps=3000)
    again = next(hcviz.run("ddt", problem, start=settled.tree)).metrics["log_joint"]
    assert abs(again - settled.metrics["log_joint"]) < 150  # its 1 - t are known for what they are


@pytest.mark.parametrize(
    "options",
    [
        {"c": 0.0},
        {"c": -1.0},
        {"c": float("nan")},
        {"sigma": 0.0},
        {"sigma": [1.0, -1.0, 1.0]},
        {"sigma": [1.0, 1.0]},
        {"sigma": float("inf")},
        {"sigma": "wide"},
        {"sigma": [[1.0, 1.0, 1.0]]},
        {"leaf_noise": -0.1},
        {"leaf_noise": "some"},
        {"beta": -1.0},
        {"steps": -1},
        {"init": "ward"},
        {"nonsense": 1},
        {"steps": True},
        {"chains": True},
        {"c": True},
        {"sigma": True},
        {"leaf_noise": True},
        {"c": 1e-9},
        {"c": 1e9},
    ],
)
def test_bad_parameters_are_refused_before_anything_runs(options):
    with pytest.raises(InvalidParameter):
        hcviz.run("ddt", Problem(features=features(5)), **options)


def test_bad_data_are_refused_before_anything_runs():
    with pytest.raises(InvalidData):
        hcviz.run("ddt", Problem(features=np.ones((1, 2))))
    with pytest.raises(InvalidData, match="column 1 of the features"):
        hcviz.run("ddt", Problem(features=features(5) * [1.0, 1e200, 1.0]))
    with pytest.raises(InvalidData):
        hcviz.run("ddt", Problem(similarity=np.eye(3)))
    with pytest.raises(InvalidData):
        hcviz.run("ddt", Problem(features=features(5)), start=Tree.star(4))


# ---------------------------------------------------------------------- size


def test_a_large_start_is_bisected():
    points = features(MAX_LINKAGE + 1, 2)
    parent = average_tree(points)
    tree = Tree.with_size_heights(parent, len(points))
    assert tree.is_binary
    near = bisected(np.array([[0.0], [0.1], [5.0], [5.1]]))
    assert Tree.with_size_heights(near, 4).satisfies([[0, 1, 2], [2, 3, 0]]).all()
    assert bisected(np.zeros((9, 2))).size == 17  # equal points, too


def test_average_linkage_is_scipy_s():
    """Merges in scipy's order, ties included; and no matter for rounding that inverts heights."""
    from scipy.cluster.hierarchy import linkage

    rng = np.random.default_rng(3)
    for points in (rng.normal(size=(60, 3)), rng.integers(0, 3, (50, 2)).astype(float), zoo_like()):
        expected = [(int(i), int(j)) for i, j, _, _ in linkage(points, "average")]
        assert merges_of(points) == expected
    assert merges_of(np.zeros((2, 1))) == [(0, 1)]


def test_2000_items_with_triplets_of_another_tree():
    n = 2000 if FAST else 200
    rng = np.random.default_rng(2)
    other = next(hcviz.run("ddt", Problem(features=np.empty((n, 0))))).tree
    rows = consistent_triplets(other, 50, rng)
    problem = Problem(features=features(n, 5), triplets=rows)
    for snapshot in hcviz.run("ddt", problem, steps=2 * n):
        assert snapshot.tree.satisfies(rows).all()


# ---------------------------------------------------------------------- the posterior


def means(problem, seeds, steps, **options):
    found = []
    for seed in seeds:
        run = hcviz.run("ddt", problem, seed=seed, steps=steps, every=500, **options)
        found.append(np.mean([s.metrics["log_joint"] for s in run][steps // 2500 :]))
    return found


def reference_data(name):
    """The prepared files of the references; if they are missing, iris.dat is made here.

    The recipe: centred columns plus N(0, 0.01^2), which splits the duplicates. zoo.dat's selection
    of 93 animals is not shipped: None.
    """
    root = os.environ.get("HCVIZ_DATA") or Path(__file__).parents[2] / "shared" / "data"
    path = Path(root) / "ddt" / f"{name}.dat"
    if path.is_file():
        return np.loadtxt(path)
    if name == "zoo":
        return None
    raw = load_iris().data
    return raw - raw.mean(axis=0) + np.random.default_rng(0).normal(scale=0.01, size=raw.shape)


@pytest.mark.parametrize(
    ("name", "sigma", "expected", "tolerance"), [("iris", 1 / 3, -479, 8), ("zoo", 1.0, -1274, 5)]
)
def test_posterior_means_are_those_of_four_chains_of_neals_program(
    name, sigma, expected, tolerance
):
    """c = 1, mu = 0, nothing learnt. From average linkage and from a draw of the prior."""
    data = reference_data(name)
    known = data is not None
    if data is None:  # then the two starts must agree with each other on what is shipped
        data = hcviz.datasets.load("zoo").features
        spread = np.random.default_rng(0).normal(scale=0.01, size=data.shape)
        data = (data - data.mean(axis=0)) / (0.5 * data.std(axis=0)) + spread
    problem = Problem(features=data)
    fixed = {"sigma": sigma, "c": 1.0, "learn": False, "mu": "zero"}
    steps = 150_000 if FAST else 2_500
    warm = means(problem, [0, 1], steps, **fixed)
    cold = means(problem, [2], steps, init="random", **fixed)
    if not known:
        other = cold[0] if FAST else warm[1]  # without the compiler too short to come from afar
        assert warm[0] == pytest.approx(other, abs=(6 if FAST else 30) * tolerance)
    elif FAST:
        assert np.mean(warm + cold) == pytest.approx(expected, abs=tolerance)
        assert np.ptp(warm + cold) < 6 * tolerance
    else:  # too short to settle: near, from an average-linkage start
        assert np.mean(warm) == pytest.approx(expected, abs=20 * tolerance)
