"""The posterior that a session's runs add up to: what is added, continued and started again."""

from __future__ import annotations

import time

import pytest

import hcviz
from hcviz.core.groups import NO_GROUPS
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.samples import Samples
from hcviz.session import actions as act
from hcviz.ui.state.posterior_cache import KEPT_RUNS, circumstances
from tests.stores import over_zoo


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


def test_while_the_joint_rises_burn_in_is_a_quarter_or_more():
    """However long it goes on: never less than a quarter, never more than half."""
    samples = Samples(3)
    for number in range(1, 1500):
        samples.take(Snapshot(draw(1, 1).tree, number, 10**9, {"log_joint": float(number)}))
        if number == 1:
            assert count(samples) == 0
            continue
        left = number - count(samples)
        assert 0.25 * number <= left <= 0.5 * number
        assert min(joints(samples)) == left + 1  # the first ones, and all of them
        assert len(joints(samples)) == count(samples)


def test_at_the_level_of_the_joint_burn_in_is_a_sixteenth_to_a_quarter():
    """The level is reached after five draws, so from draw 128 on the counted draws begin later."""
    samples = Samples(3)
    for number in range(1, 3000):
        joint = -100.0 / number**2 if number < 5 else number % 7 - 3.0
        samples.take(Snapshot(draw(1, 1).tree, number, 10**9, {"log_joint": joint}))
        if number >= 128:
            left = number - count(samples)
            assert number / 16 - 1 <= left <= number / 4


def test_a_transient_leaves():
    """A chain that was elsewhere for its first tenth: later its supports do not tell of it."""
    there, here = ([3, 3, 4, 4, -1], [4, 3, 3, 4, -1])
    samples = Samples(3)
    for number in range(1000):
        tree = Tree(there if number < 100 else here, [0, 0, 0, 1.0, 2.0], 3)
        joint = -50.0 if number < 100 else number % 3
        samples.take(Snapshot(tree, number + 1, 1000, {"log_joint": joint}))
    with samples.open() as posterior:
        assert posterior.clade_support([0, 1]) == 0.0
        assert posterior.clade_support([1, 2]) == 1.0


def test_the_start_of_a_run_is_no_draw():
    samples = Samples(3)
    for _ in range(5):
        samples.take(draw(0, 100))
    assert count(samples) == 0


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
    once = count(first)
    assert 200 / 2 <= once <= 200 * 15 / 16
    assert run(store, loop, act.Rerun()) is first
    assert max(once, 400 / 2) <= count(first) <= 400 * 15 / 16
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
    first = store.samples
    assert run(store, loop, act.SetParams({"steps": 3_000})) is first
    store.dispatch(act.Undo())
    assert run(store, loop, act.Rerun()) is first
    assert first.n_offered == 200 + 30 + 171  # 29 draws came again
    assert len(set(joints(first))) == len(joints(first)) == count(first)
    # a run that is ended: what was drawn after the tree on the screen comes again, too
    for _ in range(3):
        store.dispatch(act.SetParams({"steps": 10**6}))
        began = first.n_offered
        while first.n_offered < began + 40:
            time.sleep(0.01)  # the page does not keep up
        store.dispatch(act.Cancel())
        loop.until(lambda: store.session.status != "sampling")
        store.dispatch(act.SetParams({"steps": 10**6 + 1}))
        assert store.samples is first
        loop.until(lambda: store.session.snapshot.step > 3_000)
        store.dispatch(act.Cancel())
        loop.until(lambda: store.session.status != "sampling")
    time.sleep(0.1)  # the last draw of a thread that ends
    with first.open() as posterior:
        kept = [value[0] for value in posterior.record.scalars.value]
        assert len(set(kept)) == len(kept)


def test_a_start_from_another_tree_has_separate_samples(store, loop):
    """The same question from a tree that these samples never came by."""
    first, snapshot = store.samples, store.session.snapshot
    assert first.contains_start(snapshot)
    assert not first.contains_start(None)
    assert not first.contains_start(snapshot.tree)
    apart = list(hcviz.run("ddt", store.problem, seed=99, steps=300))[-1]
    assert not first.contains_start(apart)
    params, none = store.session.params, store.problem.triplets
    where = circumstances(store.session.data, none, NO_GROUPS, "hard")

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
