"""Samplers in the processes that all sessions share: same draws, same supports, and faults."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from hcviz import Problem
from hcviz.algorithms import MODULES
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import Runner, Samples
from hcviz.jobs.shared_pool import SharedWorkers, worker_number
from hcviz.jobs.shared_worker import HostedJob
from hcviz.jobs.task import Task
from hcviz.session.actions import Arrived, Failed, Finished, Stopped
from tests import jobmethods
from tests.test_jobs import FOREVER, Inbox, wait_for

N = 12


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedWorkers]:
    made = SharedWorkers(2, warm=False)
    made.start(wait=True)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def job_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in jobmethods.ALGORITHMS:
        monkeypatch.setitem(MODULES, method.name, jobmethods.__name__)


@pytest.fixture
def problem() -> Problem:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(N, 3)) + 2.0 * rng.integers(0, 3, (N, 1))
    return Problem(features=features, triplets=[(0, 1, 2), (3, 4, 0)])


#: No process: samplers run on a thread of this process.
NO_WORKERS = SharedWorkers(0)


def sample(
    problem: Problem, shared: SharedWorkers, samples: Samples, start: Any = None, steps: int = 600
) -> Snapshot:
    """Return the last snapshot of a run of two chains."""
    inbox = Inbox()
    runner = inbox.runner = Runner(inbox, shared=shared)
    params = {"steps": steps, "every": 20, "chains": 2}
    runner.start(1, "ddt", problem, params, 5, start, samples)
    assert inbox.until_over() == Finished(1)
    runner.close()
    last: Snapshot = inbox.messages[-2].snapshot
    return last


def assert_same(found: tuple[Snapshot, Samples], expected: tuple[Snapshot, Samples]) -> None:
    """The same chain, the same draws, and the same supports of the same tree."""
    (one, draws), (other, known) = found, expected
    assert one.step == other.step
    assert {**one.metrics, "rhat": 0} == {**other.metrics, "rhat": 0}
    assert np.array_equal(one.state.parent, other.state.parent)
    assert one.state.generator == other.state.generator
    assert draws.reached == known.reached
    with draws.open() as posterior, known.open() as reference:
        assert posterior is not None
        assert reference is not None
        assert len(posterior) == len(reference)
        assert np.array_equal(posterior.support(other.tree), reference.support(other.tree))


def test_a_shared_worker_makes_the_draws_of_a_thread(problem, shared):
    here, there = Samples(N), Samples(N)
    expected = sample(problem, NO_WORKERS, here, steps=6000)
    found = sample(problem, shared, there, steps=6000)
    assert_same((found, there), (expected, here))
    assert np.array_equal(found.tree.parent, expected.tree.parent)
    last = there.settling()
    assert last is not None
    assert last.accuracy == here.settling().accuracy


def test_a_run_continues_the_chain_and_its_draws(problem, shared):
    """It continues what a thread has begun, and a thread continues what it has begun."""
    results = []
    for first, second in product((NO_WORKERS, shared), repeat=2):
        samples = Samples(N)
        begun = sample(problem, first, samples, steps=300)
        assert samples.contains_start(begun)
        results.append((sample(problem, second, samples, begun, steps=300), samples))
    for each in results[1:]:
        assert_same(each, results[0])


def test_a_cancelled_run_leaves_all_its_draws(problem, shared):
    """The page has the draws that belong to the last tree, and those after it."""
    inbox, samples = Inbox(), Samples(N)
    runner = inbox.runner = Runner(inbox, shared=shared)
    runner.start(1, "ddt", problem, {"steps": FOREVER, "every": 20}, 5, None, samples)
    inbox.until(lambda messages: len(messages) > 3)
    runner.cancel()
    assert inbox.until_over() == Stopped(1)
    last = inbox.messages[-2].snapshot
    wait_for(lambda: samples.reached >= last.metrics["proposals"])
    assert samples.contains_start(last)
    runner.close()


def test_a_replaced_run_writes_no_draws_to_the_next(problem, shared):
    """Both add to the same samples; only what the newer one sends counts."""
    inbox, samples = Inbox(), Samples(N)
    runner = inbox.runner = Runner(inbox, shared=shared)
    runner.start(1, "ddt", problem, {"steps": FOREVER, "every": 20}, 5, None, samples)
    inbox.until(lambda messages: len(messages) > 2)
    older = samples.writer
    runner.start(2, "ddt", problem, {"steps": 40, "every": 20}, 6, None, samples)
    inbox.until(lambda messages: messages[-1] == Finished(2))
    assert samples.writer is not older
    assert {m.run for m in inbox.messages if isinstance(m, Arrived)} == {1, 2}
    runner.close()


def test_a_killed_worker_is_replaced_and_its_runs_go_on(problem, shared):
    inbox, samples = Inbox(), Samples(N)
    runner = inbox.runner = Runner(inbox, shared=shared)
    runner.start(1, "ddt", problem, {"steps": FOREVER, "every": 20}, 5, None, samples)
    inbox.until(lambda messages: len(messages) > 3)
    pid = runner.worker_pid
    assert pid in shared.pids()
    drawn = samples.reached
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: runner.worker_pid not in (None, pid))
    wait_for(lambda: samples.reached > drawn)
    assert runner.busy
    assert all(isinstance(message, Arrived) for message in inbox.messages)
    wait_for(lambda: len(shared.pids()) == 2 and pid not in shared.pids())
    runner.close()


def test_a_run_whose_workers_are_killed_twice_ends_with_a_sentence(shared):
    inbox = Inbox()
    runner = inbox.runner = Runner(inbox, shared=shared)
    runner.start(1, "spinning-shared", Problem(labels=list("abcd")), {}, 0)
    pids: set[int] = set()
    for number in (1, 2):
        wait_for(lambda: runner.worker_pid is not None and runner.worker_pid not in pids)
        inbox.until(lambda messages, number=number: len(messages) >= number)
        pid = runner.worker_pid
        assert pid is not None
        pids.add(pid)
        os.kill(pid, signal.SIGKILL)
    end = inbox.until_over()
    assert isinstance(end, Failed)
    assert "SIGKILL" in end.message
    runner.close()


def test_without_a_ready_worker_a_thread_samples(problem):
    idle = SharedWorkers(1, warm=False)
    assert idle.host() is None
    assert sample(problem, idle, Samples(N), steps=40).step == 40


def test_runs_are_spread_over_the_workers(shared):
    wait_for(lambda: all(worker.is_ready for worker in shared.workers()))
    first, second = shared.host(), shared.host()
    assert first is not None
    assert second is not None
    assert first.pid != second.pid
    first.drop()
    third = shared.host()
    assert third is not None
    assert third.pid == first.pid
    second.drop()
    third.drop()


def test_a_run_that_a_page_leaves_ends_in_the_worker(shared, tmp_path):
    tally = tmp_path / "tally"
    inbox = Inbox()
    runner = inbox.runner = Runner(inbox, shared=shared)
    params = {"steps": FOREVER, "rest": 0.001, "tally": str(tally)}
    runner.start(1, "counting-shared", Problem(labels=list("abcd")), params, 0)
    inbox.until(lambda messages: len(messages) > 1)
    runner.close()
    wait_for(lambda: all(worker.load == (0, 0) for worker in shared.workers()))
    wait_for(lambda: not any(t.name == "hcviz-run-1" for t in threading.enumerate()))


def test_samples_that_cannot_be_read_end_the_run_with_a_sentence(problem):
    """Else the page would wait for ever: the run's thread has no other end."""
    replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
    task = Task(3, "ddt", MODULES["ddt"], problem, {"steps": 20}, 0, None)
    HostedJob(7, replies.put).start(3, pickle.dumps((task, b"damaged")))
    log, failed, ended = [replies.get(timeout=60) for _ in range(3)]
    assert log[1][:2] == ("log", "ddt")
    assert "Traceback" in log[1][2]
    assert isinstance(failed[1][1], Failed)
    assert "because of a bug" in failed[1][1].message
    assert ended == (7, ("ended",))


@pytest.mark.parametrize(("given", "number"), [("0", 0), ("3", 3), ("many", None)])
def test_the_number_of_workers_comes_from_the_environment(monkeypatch, given, number):
    monkeypatch.delenv("HCVIZ_WORKERS", raising=False)
    default = worker_number()
    assert default >= 1
    monkeypatch.setenv("HCVIZ_WORKERS", given)
    assert worker_number() == (default if number is None else number)
