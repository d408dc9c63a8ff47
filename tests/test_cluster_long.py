"""Long tasks on a real Dask cluster: a sampler's chains, and any other method as a whole; workers
are killed in the middle, and cancelled runs leave nothing behind."""

from __future__ import annotations

import contextlib
import logging
import os
import signal

import numba
import numpy as np
import pytest
from distributed import Client
from distributed.core import Status

from hcviz import Problem, run
from hcviz.core.errors import ClusterError, HcvizError, InconsistentTriplets, InvalidData
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import cluster as clusters
from hcviz.jobs import long_task
from hcviz.jobs.cluster import MAX_QUEUED, Cluster, run_on
from hcviz.jobs.long_task import MAX_MESSAGES, MAX_WAITING
from hcviz.jobs.task import PauseControl, Task
from tests import jobmethods
from tests.test_jobs import FOREVER, LONG, job_methods, wait_for, wait_until_still

__all__ = ["job_methods"]  # a fixture for every test of this module

#: Proposals between two trees, and trees: more than a chain can be ahead of who asked for them, so
#: that it is at work when its worker is killed.
EVERY, TREES = (
    20 if numba.config.DISABLE_JIT else 120,
    MAX_QUEUED + (2 * MAX_MESSAGES + 3) * MAX_WAITING,
)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """A scheduler may take its time; what is sent can be taken up from there."""
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT", LONG)
    monkeypatch.setattr(long_task, "SCHEDULER_TIMEOUT", LONG)
    monkeypatch.setattr(clusters, "SCHEDULER_TIMEOUT", LONG)
    monkeypatch.setattr(long_task, "CHECKPOINT_SECONDS", 0.0)


@pytest.fixture
def client(cluster):
    with Client(cluster, timeout=LONG) as made:
        made.wait_for_workers(2, LONG)
        yield made


def problem(n=40):
    features = np.random.default_rng(0).normal(size=(n, 3))
    return Problem(features=features, triplets=[[0, 1, 2], [3, 4, 5], [0, 5, 9]])


def same(one: Snapshot, other: Snapshot) -> bool:
    """Bit for bit: the tree, the numbers, and every array of every chain's state."""
    mine, theirs = one.state.to_arrays(), other.state.to_arrays()
    return (
        (one.step, one.total, one.tree) == (other.step, other.total, other.tree)
        and np.array_equal(one.tree.height, other.tree.height)
        and one.metrics == other.metrics
        and mine.keys() == theirs.keys()
        and all(np.array_equal(mine[k], theirs[k], equal_nan=True) for k in mine)
    )


def drawn(cluster, params, between):
    """What "ddt" shows on the cluster; ``between()`` is called after its first checkpoint."""
    there = []
    for shown in run_on(cluster.scheduler_address, "ddt", problem(), **params):
        there.append(shown)
        if len(there) == 2 * MAX_WAITING:  # more than one message, hence a checkpoint
            between()
    return there


def at_work(client):
    """Worker -> the long tasks that it does."""
    found = {w: [k for k in keys if "hcviz-" in k] for w, keys in client.processing().items()}
    return {w: keys for w, keys in found.items() if keys}


def kill(client, worker):
    os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)


@pytest.mark.parametrize(("chains", "everyone"), [(1, False), (2, True)])
def test_a_sampler_draws_the_same_though_workers_are_killed(
    chains, everyone, client, cluster, caplog
):
    """One that is at work, or all, who come back under other addresses."""
    caplog.set_level(logging.INFO, logger=long_task.__name__)
    params = {"seed": 4, "steps": TREES * EVERY - 10, "every": EVERY, "chains": chains}
    here = list(run("ddt", problem(), **params))
    assert len(here) == TREES + 1
    busy = {}

    def between():
        busy.update(at_work(client))
        for worker in list(client.run(os.getpid)) if everyone else list(busy)[:1]:
            kill(client, worker)

    there = drawn(cluster, params, between)
    assert sum(map(len, busy.values())) == chains
    assert len(busy) == min(chains, 2), "chains are spread over the workers"
    assert len(there) == len(here)
    assert all(map(same, here, there))
    # It went on from a checkpoint rather than from the beginning.
    assert "continues from snapshot" in caplog.text


def pausing(held, dask_worker):
    """Pause the worker, as if its memory were full, or resume it."""
    watch = dask_worker.periodic_callbacks["memory_monitor"]
    if held:
        watch.stop()  # it would find that there is room
        dask_worker.status = Status.paused
    else:
        dask_worker.status = Status.running
        watch.start()


def test_a_chain_waits_for_no_worker_in_particular(client, cluster, caplog):
    """Its worker is killed while the other is paused: the next available worker continues it.

    That is the other, or a new one in the killed one's place, where the nanny is quicker.
    """
    caplog.set_level(logging.INFO, logger=long_task.__name__)
    params = {"seed": 4, "steps": TREES * EVERY, "every": EVERY, "chains": 2}
    here = list(run("ddt", problem(), **params))
    states = cluster.scheduler.tasks
    held = []

    def between():
        (mine, (chain,)), (other, _) = at_work(client).items()
        client.run(pausing, held=True, workers=[other])
        held.append(other)
        wait_for(lambda: cluster.scheduler.workers[other].status != Status.running)
        kill(client, mine)
        wait_for(lambda: states[chain].state in ("waiting", "no-worker"))
        client.run(pausing, held=False, workers=[held.pop()])

    try:
        there = drawn(cluster, params, between)
    finally:
        if held:
            client.run(pausing, held=False, workers=held)
    assert len(there) == len(here)
    assert all(map(same, here, there))
    assert "continues from snapshot" in caplog.text


def test_a_run_of_chains_continues_from_another_s_snapshot(cluster):
    params = {"steps": 400, "every": 40, "chains": 2}
    first = list(run("ddt", problem(), seed=1, **params))[-1]
    here = list(run("ddt", problem(), seed=2, start=first, **params))
    more = run_on(cluster.scheduler_address, "ddt", problem(), seed=2, start=first, **params)
    assert all(map(same, here, more))
    wider = params | {"chains": 3}  # one that begins beside two that go on
    here = list(run("ddt", problem(), seed=2, start=first, **wider))
    more = run_on(cluster.scheduler_address, "ddt", problem(), seed=2, start=first, **wider)
    assert all(map(same, here, more))


def test_a_method_without_a_state_is_repeated_and_nothing_counts_twice(client, cluster, tmp_path):
    go = tmp_path / "go"
    params = {"steps": 60, "halt": 30, "go": str(go)}
    items = Problem(labels=list("abcdef"))
    steps, pids = [], []
    for shown in run_on(cluster.scheduler_address, "counting-process", items, **params):
        steps.append(shown.step)
        pids.append(shown.metrics["pid"])
        if shown.step == 30:
            kill(client, next(iter(at_work(client))))
            go.touch()
    assert 30 in steps
    assert len(set(pids)) == 2, "another process finished it"
    assert steps == sorted(set(steps))
    assert steps[-1] == 60
    go.touch()
    here = list(run("counting-process", items, **params))[-1]
    assert shown.metrics["draw"] == here.metrics["draw"]


@pytest.mark.parametrize("method", ["average", "crsc", "build", "dasgupta-search"])
def test_any_method_runs_as_one_task(method, cluster):
    here = list(run(method, problem(), seed=3))[-1]
    there = list(run_on(cluster.scheduler_address, method, problem(), seed=3))[-1]
    assert there.tree == here.tree
    assert there.step == there.total
    assert there.metrics == here.metrics


def test_a_refusal_comes_back_as_itself(client, cluster):
    address, six = cluster.scheduler_address, Problem(labels=list("abcdef"))
    with pytest.raises(InconsistentTriplets, match=r"No tree has these\. Drop one\.") as caught:
        list(run_on(address, "contradicting-thread", six))
    assert caught.value.conflict == (1, 4, 6)
    assert (caught.value.message, caught.value.hint) == ("No tree has these.", "Drop one.")
    with pytest.raises(InvalidData, match="Item 3 is odd") as refused:
        list(run_on(address, "refusing-process", six))
    assert refused.value.hint == "Leave it out."
    # One that cannot travel is at least its sentence.
    with pytest.raises(HcvizError, match="Item 3 is odd") as last:
        list(run_on(address, "particular-thread", six))
    assert type(last.value) is HcvizError
    assert last.value.hint == "Leave it out."


@pytest.mark.parametrize("method", ["spinning-thread", "ddt"])
def test_a_cancelled_run_leaves_nothing_on_the_cluster(method, client, cluster, monkeypatch):
    scheduler = cluster.scheduler
    left, ended = {}, long_task.LongTask.ended
    monkeypatch.setattr(clusters, "STOP_TIMEOUT", LONG)
    monkeypatch.setattr(
        long_task.LongTask, "ended", lambda each: left.setdefault(each, []).append(ended(each))
        or left[each][-1],
    )  # fmt: skip
    params = {"steps": 10**9, "every": 40, "chains": 3} if method == "ddt" else {}
    variables = scheduler.extensions["variables"].variables
    queues = scheduler.extensions["queues"].queues
    before = {*variables, *queues}
    stream = run_on(cluster.scheduler_address, method, problem(), **params)
    next(stream)
    assert at_work(client)
    stream.close()
    assert len(left) == params.get("chains", 1)
    assert all(states[-1] for states in left.values()), "a worker did not leave off when told to"
    wait_for(lambda: not at_work(client))

    def threads(dask_worker):
        """Of the run: Dask counts a task as gone before its thread has ended."""
        import threading

        return [t.name for t in threading.enumerate() if "outbox-" in t.name]

    wait_for(lambda: not any(client.run(threads).values()))
    wait_for(lambda: {*variables, *queues} <= before)


def test_a_client_that_dies_stops_the_work(client, cluster):
    other = Cluster(cluster.scheduler_address)
    module = jobmethods.__name__
    stream = other.start(Task(0, "spinning-thread", module, problem(), {}, 0, None))
    while next(stream) is None:
        pass
    assert at_work(client)
    other.close()  # as the scheduler sees it; nothing sends a stop
    wait_for(lambda: not at_work(client))
    with pytest.raises(HcvizError, match="went away"):
        list(stream)


def test_refusals_and_faults_of_ours_come_back(cluster, caplog):
    items = Problem(labels=list("abcdef"))
    with pytest.raises(HcvizError, match="Item 3 is odd") as refused:
        list(run_on(cluster.scheduler_address, "refusing-process", items))
    assert refused.value.hint == "Leave it out."
    with pytest.raises(HcvizError, match="because of a bug"):
        list(run_on(cluster.scheduler_address, "breaking-thread", items))
    assert "a fault of ours" in caplog.text


class Local:
    n_items = 6

    def compare(self, first, second):
        return np.zeros(len(first), np.int8)

    def __reduce__(self):
        raise TypeError("cannot travel")


def test_a_problem_that_cannot_travel_is_refused_before_anything_runs(cluster):
    with pytest.raises(ClusterError, match="could not be sent"):
        run_on(cluster.scheduler_address, "counting-thread", Problem(oracle=Local()))


def test_a_pause_holds_the_work(cluster, client, tmp_path):
    control, tally = PauseControl(), tmp_path / "tally"
    other = Cluster(cluster.scheduler_address)
    items = Problem(labels=list("abcdef"))
    params = {"steps": FOREVER, "rest": 0.001, "tally": str(tally)}
    task = Task(0, "counting-thread", jobmethods.__name__, items, params, 0, None)
    with contextlib.closing(other), contextlib.closing(other.start(task, control)) as stream:

        def drained():
            """All that was made has come, and no more is made."""
            seen = tally.stat().st_size
            return all(next(stream) is None for _ in range(10)) and seen == tally.stat().st_size

        while next(stream) is None:
            pass
        control.pause(True)
        wait_for(drained)
        wait_until_still(tally)
        made = tally.stat().st_size
        control.pause(False)
        while (shown := next(stream)) is None or shown.step <= made:
            pass
