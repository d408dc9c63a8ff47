"""The posterior that a session's runs add up to: what counts, what goes on, what begins anew."""

from __future__ import annotations

import pytest

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.samples import MOST_LEFT_OUT, Samples
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.store import KEPT_SAMPLES, Store
from tests.test_store import Loop


def draw(step: int, total: int) -> Snapshot:
    tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1.0, 2.0], 3)
    return Snapshot(tree, step, total, {"log_joint": -1.0})


def count(samples: Samples) -> int:
    with samples.open() as posterior:
        return 0 if posterior is None else len(posterior)


def test_the_first_quarter_of_a_run_does_not_count_and_what_goes_on_counts_whole():
    samples = Samples(3)
    for step in range(0, 101, 10):
        samples.take(draw(step, 100))
    assert count(samples) == 8  # 30, 40, ... 100
    for step in range(0, 101, 10):
        samples.take(draw(step, 100))
    assert count(samples) == 18  # the start is the end of the run before


def test_an_endless_run_counts_after_a_while():
    samples = Samples(3)
    for step in range(1, MOST_LEFT_OUT + 6):
        samples.take(draw(step, 10**9))
    assert count(samples) == 5


@pytest.fixture
def loop():
    return Loop()


@pytest.fixture
def store(loop):
    made = Store(Session(method="ddt", treats="hard"), loop.schedule)
    assert made.open_data(DataSpec(name="zoo"))
    loop.until(lambda: made.session.status == "settled")
    yield made
    made.close()


def run(store, loop, *actions):
    store.dispatch(*actions)
    loop.until(lambda: store.session.status == "settled")
    return store.samples


def test_runs_under_the_same_answers_add_up_and_others_begin_anew(store, loop):
    first = store.samples
    assert 100 < count(first) <= 151
    before = count(first)
    assert run(store, loop, act.Rerun()) is first
    assert count(first) == before + 200
    assert run(store, loop, act.SetParams({"steps": 5_000})) is first  # only how long it runs
    names = [store.session.labels.index(name) for name in ("dolphin", "porpoise", "gorilla")]
    told = run(store, loop, act.AddConstraint((names[0], names[2]), names[1]))
    assert told is not first
    with told.open() as posterior:
        assert posterior.triplet_probability([[names[0], names[2], names[1]]])[0] == 1.0
    store.dispatch(act.Undo())
    assert store.samples is first
    assert run(store, loop, act.SetSeed(5)) not in (first, told)


def test_a_method_that_does_not_sample_has_none_and_old_runs_are_forgotten(store, loop):
    assert run(store, loop, act.SetMethod("crsc", "hard")) is None
    for seed in range(1, KEPT_SAMPLES + 2):
        run(store, loop, act.SetMethod("ddt", "hard"), act.SetSeed(seed))
    assert len(store._samples) == KEPT_SAMPLES
