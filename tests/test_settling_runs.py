"""A sampler's run on the page goes on until it has settled, and shows the summary tree."""

from __future__ import annotations

import threading
from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest

import hcviz
from hcviz.algorithms import generator, get
from hcviz.core.build import build_guided
from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs import Samples, budget
from hcviz.jobs.budget import Budget
from hcviz.jobs.task import PauseControl, Task, run_task
from hcviz.posterior import Posterior
from hcviz.posterior.chain_comparison import ChainComparison
from hcviz.posterior.draws import Draws
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app.page import budget as page_budget
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.features.top_bar import model as top_bar_model
from hcviz.ui.state.store import Store

PAIR = Tree([2, 2, -1], [0.0, 0.0, 1.0], 2)


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: self.now))


def accuracy(value: float) -> SimpleNamespace:
    """Samples whose supports are as accurate as this."""
    found = ChainComparison(value, value, 10, 100)
    return SimpleNamespace(settling=lambda: found, seconds=0.0)


def test_a_run_ends_when_its_supports_have_settled(monkeypatch):
    Clock(monkeypatch)
    going = Budget(accuracy(0.1), 20.0)
    found = going.update(Snapshot(PAIR, 500, 10**9))
    assert not going.over
    assert found.total == pytest.approx(2000, abs=2)  # a quarter is done: (0.05 / 0.1)^2
    samples = accuracy(0.1)
    done = Budget(samples, 20.0)
    samples.settling = accuracy(0.05).settling
    found = done.update(Snapshot(PAIR, 500, 10**9))
    assert done.over
    assert found.step == found.total == 500


def test_a_run_from_settled_supports_takes_all_of_its_time(monkeypatch):
    clock = Clock(monkeypatch)
    going = Budget(accuracy(0.04), 20.0)
    clock.now += 19.0
    going.update(Snapshot(PAIR, 500, 10**9))
    assert not going.over
    assert not going.end_in_time()
    clock.now += 1.0
    assert going.end_in_time()
    going.update(Snapshot(PAIR, 501, 10**9))
    assert going.over


def test_a_long_way_between_two_trees_does_not_outlast_the_budget():
    method = get("ddt")
    problem = Problem(features=np.random.default_rng(0).normal(size=(9, 3)))
    found = method.endless(method.parameters(every=10**9), problem)
    assert found["every"] == 200 * 9
    assert "every" not in method.endless(method.parameters(), problem)
    assert method.endless(method.parameters(every=7), problem)["every"] == 7
    assert not method.endless(method.parameters(steps=5), problem)


def test_a_run_begins_with_the_tree_on_the_screen(settling_store, loop):
    """Not with the draw that its state holds; repaired where an answer contradicts it."""
    store = settling_store
    if store.session.method != "ddt":
        store.dispatch(act.SetMethod("ddt"))
    loop.until(lambda: store.session.status == "settled")
    shown, begun = store.session.tree, []
    store.subscribe(
        lambda s: s.session.snapshot,
        lambda snapshot: begun.append(snapshot) if snapshot.step == 0 else None,
    )
    store.dispatch(act.Rerun())
    loop.until(lambda: begun, 60)
    assert begun[0].tree == shown
    store.dispatch(act.Cancel())
    begun.clear()
    a, b, c = next(
        row
        for row in np.random.default_rng(0).integers(0, 8, (1000, 3)).tolist()
        if len(set(row)) == 3 and not shown.satisfies([row]).all()
    )
    before = store.session.tree
    store.dispatch(act.AddConstraint((a, b), c))
    loop.until(lambda: begun, 60)
    assert begun[0].tree == build_guided(before, [[a, b, c]])


def test_a_run_ends_with_its_time_and_pauses_do_not_count(monkeypatch):
    clock = Clock(monkeypatch)
    going = Budget(accuracy(float("nan")), 20.0)
    clock.now += 5.0
    found = going.update(Snapshot(PAIR, 500, 10**9))
    assert found.total == pytest.approx(2000, abs=2)
    clock.now += 14.0
    going.extend(14.0)
    found = going.update(Snapshot(PAIR, 501, 10**9))
    assert not going.over
    assert found.total == pytest.approx(2004, abs=8)
    clock.now += 15.0
    assert going.end_in_time()
    assert going.update(Snapshot(PAIR, 502, 10**9)).total == 502
    assert going.over


def test_the_compilation_before_the_first_tree_does_not_count(monkeypatch):
    clock, samples = Clock(monkeypatch), accuracy(0.1)
    going = Budget(samples, 20.0)
    clock.now += 400.0
    going.end_in_time()
    going.update(Snapshot(PAIR, 0, 10**9))
    assert not going.over
    clock.now += 5.0
    assert going.update(Snapshot(PAIR, 500, 10**9)).total > 500
    assert samples.seconds == pytest.approx(5.0)
    clock.now += 15.0
    assert going.end_in_time()


class Receiver:
    def __init__(self):
        self.snapshots, self.message = [], None

    def offer(self, snapshot):
        self.snapshots.append(snapshot)

    def end(self, message):
        self.message = message


def run_here(problem, samples, start=None, seconds=0.0, control=None, **params):
    """Run a task on this thread; return what was received."""
    found = Receiver()
    task = Task(1, "ddt", "hcviz.algorithms.ddt", problem, params, 0, start, seconds=seconds)
    run_task(task, found, control or PauseControl(), samples=samples)
    return found


@pytest.fixture(scope="module")
def few():
    return Problem(features=np.random.default_rng(0).normal(size=(9, 3)))


def test_a_summary_takes_the_place_of_every_draw(few):
    """The definition: the summary tree of the draws that are shown."""
    samples = Samples(9)
    shown = run_here(few, samples, steps=200_000, every=9).snapshots
    trees = [each.tree for each in shown]
    different = sum(a is not b for a, b in pairwise(trees))
    assert 1 <= different < len(trees)  # a posterior is made now and then
    with samples.open() as posterior:
        expected = posterior.summary_tree()
    assert np.array_equal(trees[-1].parent, expected.parent)
    assert np.array_equal(trees[-1].height, expected.height)


def test_the_chains_of_a_run_add_the_draws_that_hcviz_run_makes(few):
    """The definition: every tree that hcviz.run yields, until the draws are thinned."""
    samples, options = Samples(9), {"steps": 1_800, "every": 9, "chains": 2}
    last = run_here(few, samples, **options).snapshots[-1]
    method = get("ddt")
    expected = list(method.start_run(few, method.parameters(**options), generator(0, 1)))
    assert last.state.generator == expected[-1].state.generator
    made = Posterior.from_draws([draws_of(expected, chain) for chain in range(2)])
    with samples.open() as posterior:
        assert len(posterior) == len(made)
        assert len(made.clades()) > 5
        for items, support in made.clades():
            assert posterior.clade_support(items) == support


def draws_of(snapshots, chain):
    draws = Draws(9, 1)
    for each in snapshots:
        if each is not None:
            state = each.state.chains[chain]
            draws.append(state.tree(), state.log_joint)
    return draws


def test_a_run_from_an_earlier_snapshot_repeats_its_draws_and_none_counts_twice(few):
    samples = Samples(9)
    middle = run_here(few, samples, steps=30_000, every=9).snapshots[-1]
    run_here(few, samples, middle, steps=60_000, every=9)
    with samples.open() as posterior:
        once = posterior.record.scalars.value
    assert samples.contains_start(middle)
    last = run_here(few, samples, middle, steps=60_000, every=9).snapshots[-1]
    with samples.open() as posterior:
        assert posterior.record.scalars.value == once
    assert last.metrics["proposals"] == samples.reached == 90_000


def test_a_run_that_rests_makes_the_same_draws(few):
    class Restless(PauseControl):
        """Rests each time that it is asked, until it waits."""

        rests = 0

        def __init__(self):
            super().__init__()
            self.rest = threading.Event()

        def must_wait(self):
            self.rest.set()
            return True

        def wait(self):
            Restless.rests += 1
            if Restless.rests % 3 == 0:
                self.must_wait = lambda: False

    calm, restless = Samples(9), Samples(9)
    expected = run_here(few, calm, steps=60_000, every=9, chains=2).snapshots[-1]
    found = run_here(few, restless, control=Restless(), steps=60_000, every=9, chains=2)
    assert Restless.rests >= 3
    assert found.snapshots[-1].state.generator == expected.state.generator
    with calm.open() as one, restless.open() as other:
        assert one.record.scalars.value == other.record.scalars.value


def test_the_end_of_a_settled_run_depends_on_the_seed_alone(few):
    """Checks are made at fixed numbers of draws, so the clock has no part in it."""
    ends = [run_here(few, Samples(9), seconds=600.0).snapshots[-1] for _ in range(2)]
    assert ends[0].step == ends[0].total == ends[1].step
    assert np.array_equal(ends[0].tree.height, ends[1].tree.height)


@pytest.fixture
def settling_store(loop):
    made = Store(Session(method="ddt", constraint_mode="hard"), loop.schedule, seconds=30.0)
    rows = "".join(f"item {k},{k % 4},{(k * k) % 7}.5\n" for k in range(8))
    spec = DataSpec(kind="table", name="few.csv", filename="few.csv",
                    content=b"name,a,b\n" + rows.encode())  # fmt: skip
    assert made.open_data(spec)
    yield made
    made.close()


def test_the_page_runs_two_chains_until_they_agree(settling_store, loop):
    store = settling_store
    if store.session.method != "ddt":
        store.dispatch(act.SetMethod("ddt"))
    assert store.runs_until_settled
    loop.until(lambda: store.session.status == "settled")
    snapshot = store.session.snapshot
    assert snapshot.step == snapshot.total
    assert len(snapshot.state.chains) == 2
    found = store.samples.settling()
    assert found is not None
    assert found.settled
    with store.samples.open() as posterior:
        assert np.array_equal(snapshot.tree.parent, posterior.summary_tree().parent)
    before = store.session.snapshot
    store.dispatch(act.SetParams({"steps": 160}))  # as many as the person says
    assert not store.runs_until_settled
    loop.until(lambda: store.session.status == "settled")
    assert store.session.snapshot is not before
    assert store.session.snapshot.total == 160


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.072, "Settling · ±8 points"), (0.01, "Settling · ±1 point"),
     (float("nan"), "Settling")],
)  # fmt: skip
def test_the_bar_shows_how_far_it_has_settled(settling_store, value, text):
    store = settling_store
    session = SimpleNamespace(status="sampling", progress=(300, 1000), run=1)
    fake = SimpleNamespace(
        session=session, view=store.view, runs_until_settled=True, samples=accuracy(value),
        runs=SimpleNamespace(ahead=None),
    )  # fmt: skip
    assert top_bar_model.live(fake)["text"] == text


@pytest.mark.parametrize("given", [-1, float("inf"), float("nan"), "soon"])
def test_a_budget_that_is_none_is_refused_in_a_sentence(given):
    with pytest.raises(InvalidParameter, match="must be a number of seconds, 0 or more"):
        page_budget(given)


def test_the_budget_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("HCVIZ_SECONDS", "7.5")
    assert page_budget() == 7.5
    assert page_budget(0) == 0.0
    monkeypatch.delenv("HCVIZ_SECONDS")
    assert page_budget() == 20.0


@pytest.fixture
def doubtful_store(loop):
    """Points of a normal distribution: hardly any clade has support. Runs have 200 n steps."""
    made = Store(Session(method="ddt", constraint_mode="hard"), loop.schedule)
    points = np.random.default_rng(5).normal(size=(24, 3)).round(3)
    rows = "".join(f"item {k},{x},{y},{z}\n" for k, (x, y, z) in enumerate(points.tolist()))
    spec = DataSpec(kind="table", name="many.csv", filename="many.csv",
                    content=b"name,a,b,c\n" + rows.encode())  # fmt: skip
    assert made.open_data(spec)
    yield made
    made.close()


def test_an_answer_keeps_the_clades_that_the_draws_do_not_contradict(doubtful_store, loop):
    """The definition: the summary with the repaired old picture as the tree before it."""
    store = doubtful_store
    if store.session.method != "ddt":
        store.dispatch(act.SetMethod("ddt"))
    loop.until(lambda: store.session.status == "settled")
    old = store.session.snapshot.tree
    a, b, c = next(row for row in permutations(range(24), 3) if not old.satisfies([row])[0])
    store.dispatch(act.AddConstraint((a, b), c))
    loop.until(lambda: store.session.status == "settled")
    new = store.session.snapshot.tree
    assert new.satisfies([[a, b, c]])[0]
    with store.samples.open() as posterior:
        expected = posterior.summary_tree(before=build_guided(old, [[a, b, c]]))
        alone = posterior.summary_tree()
    assert np.array_equal(new.parent, expected.parent)
    assert not np.array_equal(new.parent, alone.parent)


@pytest.mark.parametrize("step", [0, 40])
def test_only_a_summary_of_draws_is_kept(step):
    """A snapshot at step 0 shows the tree that a run starts from, which may be any tree."""
    problem = Problem(features=np.random.default_rng(0).normal(size=(12, 3)))
    start = next(s for s in hcviz.run("ddt", problem, steps=40, every=40) if s.step == step)
    samples = Samples(12)
    run_here(problem, samples, start, steps=40)
    assert (samples.before is not None) == (step > 0)


@pytest.mark.parametrize(
    ("accuracy", "seconds", "text"),
    [(0.1, 20.0, "; reaching 5 points takes about 60 s more"),
     (0.07, 20.0, "; reaching 5 points takes about 20 s more"),
     (0.2, 20.0, "; reaching 5 points takes about 5 minutes more"),
     (0.05, 20.0, ""), (0.1, 0.0, ""), (0.6, 20.0, ""), (float("nan"), 20.0, "")],
)  # fmt: skip
def test_the_time_left_grows_with_the_square_of_the_accuracy(accuracy, seconds, text):
    """20 s at 10 points: 80 s in all for 5, so 60 s more; at 20 points 320 s in all."""
    assert supports_model.time_left(ChainComparison(accuracy, 0.0, 9, 99), seconds) == text


def test_a_budget_adds_up_the_time_of_its_runs(monkeypatch):
    clock = Clock(monkeypatch)
    samples = Samples(2)
    for run in range(2):
        going = Budget(samples, 20.0)
        clock.now += 15.0
        going.update(Snapshot(PAIR, 5, 10**9))
        assert samples.seconds == pytest.approx(15.0 * (run + 1))
