"""The posterior that a session's runs add up to: what counts, and what starts again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import hcviz
from hcviz.core.groups import NO_GROUPS
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.samples import Samples
from hcviz.posterior.burn_in import burn_in
from hcviz.session import actions as act
from hcviz.ui.state.posterior_cache import KEPT_RUNS, conditions
from tests.stores import add_draws, over_zoo, samples_of


def draw(step: int, total: int) -> Snapshot:
    tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1.0, 2.0], 3)
    return Snapshot(tree, step, total, {"log_joint": -1.0})


def count(samples: Samples) -> int:
    with samples.open() as posterior:
        return 0 if posterior is None else len(posterior)


def joints(samples: Samples) -> list[float]:
    """The log joints that are kept to judge by: all that are shown, while they are few."""
    with samples.open() as posterior:
        return [] if posterior is None else [value[0] for value in posterior.record.scalars.value]


@pytest.mark.parametrize("number", [3, 40, 1500])
def test_the_burn_in_is_that_of_the_draws(number):
    """The definition is in test_burn_in: while the log joint rises, half of the draws."""
    snapshots = [
        Snapshot(draw(1, 1).tree, k, 10**9, {"log_joint": float(k)}) for k in range(1, number + 1)
    ]
    samples = samples_of(3, snapshots)
    assert count(samples) == number - burn_in([float(k) for k in range(number)])
    assert min(joints(samples)) == number - count(samples) + 1  # the first ones are left out


def test_a_transient_leaves():
    """A chain that was elsewhere for its first tenth: later its supports do not tell of it."""
    there, here = ([3, 3, 4, 4, -1], [4, 3, 3, 4, -1])
    snapshots = []
    for number in range(1000):
        tree = Tree(there if number < 100 else here, [0, 0, 0, 1.0, 2.0], 3)
        joint = -50.0 if number < 100 else number % 3
        snapshots.append(Snapshot(tree, number + 1, 1000, {"log_joint": joint}))
    with samples_of(3, snapshots).open() as posterior:
        assert posterior.clade_support([0, 1]) == 0.0
        assert posterior.clade_support([1, 2]) == 1.0


def test_the_start_of_a_run_is_no_draw():
    samples = Samples(3)
    for _ in range(5):
        samples.take_tree(draw(0, 100))
    samples.check(is_last=True)
    assert count(samples) == 0


def test_draws_that_were_taken_before_count_once():
    samples = Samples(3)
    made = [replace(draw(k, 100), metrics={"log_joint": -1.0, "proposals": k}) for k in range(50)]
    add_draws(samples, made)
    once = count(samples)
    add_draws(samples, made)
    assert count(samples) == once > 0


@pytest.fixture
def store(loop):
    with over_zoo(loop, "ddt") as made:
        yield made


def run(store, loop, *actions):
    store.dispatch(*actions)
    loop.until(lambda: store.session.status == "settled")
    return store.samples


def test_runs_with_the_same_answers_add_up_and_others_start_again(store, loop):
    first = store.samples
    assert 201 / 2 <= count(first) <= 201 * 7 / 8 + 1  # with the first tree
    assert run(store, loop, act.Rerun()) is first
    assert 401 / 2 <= count(first) <= 401 * 7 / 8 + 1
    assert run(store, loop, act.SetParams({"steps": 5_000})) is first  # only how long it runs
    names = [store.session.labels.index(name) for name in ("dolphin", "porpoise", "gorilla")]
    constrained = run(store, loop, act.AddConstraint((names[0], names[2]), names[1]))
    assert constrained is not first
    with constrained.open() as posterior:
        assert posterior.triplet_probability([[names[0], names[2], names[1]]])[0] == 1.0
    store.dispatch(act.Undo())
    assert store.samples is first
    assert run(store, loop, act.SetSeed(5)) not in (first, constrained)


def test_no_draw_counts_twice(store, loop):
    """A run from an earlier snapshot has its random numbers, and makes the same draws once more."""
    first, n = store.samples, len(store.session.labels)
    assert run(store, loop, act.SetParams({"steps": 3_000})) is first
    longer = first.reached
    assert longer == 200 * n + 3_000
    store.dispatch(act.Undo())
    assert run(store, loop, act.Rerun()) is first
    assert first.reached == 400 * n  # from the end of the first run
    assert len(set(joints(first))) == len(joints(first)) == count(first)
    # a run that is ended: what was drawn after the tree on the screen comes again, too
    for _ in range(3):
        store.dispatch(act.SetParams({"steps": 10**6}))
        began = first.reached
        loop.until(lambda began=began: first.reached > began + 40_000)
        store.dispatch(act.Cancel())
        loop.until(lambda: store.session.status != "sampling")
        shown = store.session.snapshot.metrics["proposals"]
        store.dispatch(act.SetParams({"steps": 50_000}))
        assert store.samples is first
        loop.until(lambda: store.session.status == "settled")
        assert first.reached == shown + 50_000
    assert len(set(joints(first))) == len(joints(first))


def test_a_start_from_another_tree_has_separate_samples(store, loop):
    """The same question from a tree that these samples never came by."""
    first, snapshot = store.samples, store.session.snapshot
    assert first.contains_start(snapshot)
    assert not first.contains_start(None)
    assert not first.contains_start(snapshot.tree)
    apart = list(hcviz.run("ddt", store.problem, seed=99, steps=300))[-1]
    assert not first.contains_start(apart)
    params, none = store.session.params, store.problem.triplets
    where = conditions(store.session.data, none, NO_GROUPS, "hard")

    def begin(number, start):
        shown = store.session.shown
        return store.posteriors.begin(number, shown, "ddt", params, store.problem, where, start)

    assert begin(77, apart) is not first
    assert begin(78, snapshot) is first


def test_a_method_that_does_not_sample_has_none_and_old_runs_are_forgotten(store, loop):
    assert run(store, loop, act.SetMethod("crsc")) is None
    for seed in range(1, KEPT_RUNS + 2):
        run(store, loop, act.SetMethod("ddt"), act.SetSeed(seed))
    assert len(store.posteriors) == KEPT_RUNS
