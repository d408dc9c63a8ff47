"""The page's runner with a Dask cluster: arrivals, cancel, a killed worker, a lost scheduler."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from distributed import Client

from hcviz import Problem, run
from hcviz.algorithms import generator, get
from hcviz.algorithms.active import framework
from hcviz.core.errors import ClusterError
from hcviz.datasets import noisy_blocks
from hcviz.jobs import RunLocation, Runner, Samples, long_task
from hcviz.jobs import cluster as clusters
from hcviz.jobs import job as one_job
from hcviz.jobs.cluster import Cluster, run_on
from hcviz.session.actions import Failed, Finished, Stopped
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app.page import cluster_of
from hcviz.ui.features.parameters import model as parameters_model
from hcviz.ui.features.parameters.model import state
from hcviz.ui.state.store import Store
from tests.conftest import ROOT
from tests.jobmethods import Slow
from tests.test_cluster_long import Local, at_work, client, kill, problem, unhurried
from tests.test_jobs import FOREVER, LONG, Inbox, gone, items, job_methods, wait_for

__all__ = ["client", "job_methods", "unhurried"]  # fixtures


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A page does not wait long for a scheduler; a busy machine's may take longer to answer."""
    monkeypatch.setattr(one_job, "CONNECT_TIMEOUT", LONG)


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def places():
    return []


@pytest.fixture
def runner(inbox, cluster, client, places):
    there = Cluster(cluster.scheduler_address)
    made = inbox.runner = Runner(inbox, cluster=there, on_location=places.append)
    yield made
    made.close()
    wait_for(lambda: not at_work(client))
    there.close()


@pytest.mark.parametrize("where", ["thread", "process"])
def test_a_run_arrives_in_order_from_another_process(where, runner, inbox, places, cluster):
    runner.start(7, f"counting-{where}", items(), {"steps": 5, "rest": 0.05}, 11)
    assert inbox.until_over() == Finished(7)
    assert inbox.steps == sorted(set(inbox.steps))
    assert inbox.steps[-1] == 5
    pids = {m.snapshot.metrics["pid"] for m in inbox.messages[:-1]}
    assert len(pids) == 1
    assert os.getpid() not in pids
    assert places == [RunLocation(cluster.scheduler_address)]
    # Run 7's numbers, as here.
    drawn = generator(11, 7).random(5)
    assert inbox.messages[-2].snapshot.metrics["draw"] == drawn[-1]


def test_the_newest_job_wins_and_the_older_leaves_the_cluster(runner, inbox, client):
    runner.start(1, "spinning-thread", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    assert runner.busy
    runner.start(2, "counting-process", items(), {"steps": 3, "rest": 0.05}, 0)
    inbox.until_over()
    assert inbox.messages[-1] == Finished(2)
    assert {m.run for m in inbox.messages[1:]} == {2}
    wait_for(lambda: not at_work(client))


def test_a_cancel_shows_at_once_and_stops_the_work(runner, inbox, client):
    runner.start(1, "spinning-process", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    assert at_work(client)
    runner.cancel()
    assert inbox.until_over() == Stopped(1)
    assert not runner.busy
    wait_for(lambda: not at_work(client))
    assert len(inbox.messages) == 2


def test_nothing_arrives_during_a_pause_and_then_the_rest(runner, inbox, tmp_path):
    go = tmp_path / "go"
    params = {"steps": 150, "halt": 50, "go": str(go)}
    inbox.acknowledging = False  # the second tree is not under way when the pause begins
    runner.start(1, "counting-thread", items(), params, 0)
    inbox.until(lambda messages: len(messages) == 1)
    time.sleep(0.2)  # it waits, most likely
    runner.pause()
    inbox.acknowledging = True
    runner.acknowledge(1)
    time.sleep(0.5)
    assert len(inbox.messages) == 1
    assert runner.busy
    runner.resume()
    go.touch()
    assert inbox.until_over() == Finished(1)
    assert inbox.steps[-1] == 150


def test_a_killed_worker_is_not_seen_on_the_page(runner, inbox, client, tmp_path):
    go = tmp_path / "go"
    params = {"steps": 60, "halt": 30, "go": str(go)}
    runner.start(1, "counting-process", items(), params, 3)
    inbox.until(lambda messages: messages and messages[-1].snapshot.step == 30)
    kill(client, next(iter(at_work(client))))
    go.touch()
    assert inbox.until_over() == Finished(1)
    assert inbox.steps == sorted(set(inbox.steps))
    assert inbox.messages[-2].snapshot.metrics["draw"] == generator(3, 1).random(60)[-1]


def test_every_draw_of_a_sampler_counts_and_once(runner, inbox):
    """The page's samples see all, though few are drawn; chains' numbers are those of a run here."""
    params = {"steps": 4000, "every": 20, "chains": 2}
    taken = []

    class Noting(Samples):
        def take_tree(self, snapshot, is_last=False):
            taken.append(snapshot)
            super().take_tree(snapshot, is_last)

    runner.start(0, "ddt", problem(), params, 5, samples=Noting(40))
    inbox.until_over()
    here = list(run("ddt", problem(), seed=5, **params))
    assert [s.step for s in taken] == [s.step for s in here]
    assert [s.metrics for s in taken] == [s.metrics for s in here]
    assert [s.tree for s in taken] == [s.tree for s in here]


def test_large_sets_are_divided_by_all_workers(runner, inbox, monkeypatch):
    monkeypatch.setattr(framework, "TASK", 300)
    features = np.random.default_rng(0).normal(size=(1500, 3))
    problem_given = Problem(features=features)
    runner.start(2, "active-spectral", problem_given, {"s": 20}, 1)
    assert inbox.until_over() == Finished(2)
    method = get("active-spectral")
    *_, last = (
        s
        for s in method.start_run(problem_given, method.parameters(s=20), generator(1, 2))
        if s is not None
    )
    assert inbox.messages[-2].snapshot.tree == last.tree
    assert inbox.messages[-2].snapshot.metrics["queries"] == last.metrics["queries"]


@pytest.mark.parametrize(
    ("method", "message"),
    [("no-such-method", "no method 'no-such-method'"), ("average", "needs similarity"),
     ("refusing-process", "Item 3 is odd."), ("breaking-thread", "because of a bug")],
)  # fmt: skip
def test_what_is_wrong_is_posted(method, message, runner, inbox):
    runner.start(2, method, items(), {}, 0)
    end = inbox.until_over()
    assert isinstance(end, Failed)
    assert message in end.message


def test_what_cannot_travel_is_done_here(runner, inbox, places):
    runner.start(1, "counting-thread", Problem(oracle=Local()), {"steps": 3}, 0)
    assert inbox.until_over() == Finished(1)
    assert inbox.messages[0].snapshot.metrics["pid"] == os.getpid()
    assert "could not be sent" in places[0].fault.message


NOWHERE = "tcp://127.0.0.1:1"


@pytest.fixture
def nowhere(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT", 0.2)
    monkeypatch.setattr(clusters, "RETRY_SECONDS", LONG)
    return Cluster(NOWHERE)


def test_without_an_answer_a_run_is_done_here(inbox, places, nowhere):
    runner = inbox.runner = Runner(inbox, cluster=nowhere, on_location=places.append)
    with contextlib.closing(runner):
        runner.start(1, "counting-thread", items(), {"steps": 3}, 0)
        assert inbox.until_over() == Finished(1)
    assert inbox.messages[0].snapshot.metrics["pid"] == os.getpid()
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in places[0].fault.message


def test_the_page_shows_where_runs_are_done_and_reports_once_without_an_answer(loop, nowhere):
    store = Store(Session(method="average"), loop.schedule, cluster=nowhere)
    try:
        assert store.open_data(DataSpec(name="zoo"))
        loop.until(lambda: store.session.status == "settled")
        assert store.session.snapshot is not None
        assert "No Dask scheduler answers" in store.view.error[0]
        assert store.view.error[1] == "Runs are done on this machine."
        assert state(store)["place"].startswith("Runs are computed on this machine.")
        store.change_view(error=None)
        assert store.open_data(DataSpec(name="zoo"))
        loop.until(lambda: store.session.status == "settled")
        assert store.view.error is None
    finally:
        store.close()


def test_the_page_shows_that_runs_are_done_there(loop, cluster):
    there = Cluster(cluster.scheduler_address)
    store = Store(Session(method="average"), loop.schedule, cluster=there)
    pages = []
    try:
        assert store.open_data(DataSpec(name="zoo"))
        store.subscribe(parameters_model.depends_on, lambda _: pages.append(state(store)))
        loop.until(lambda: store.session.status == "settled")
        address = cluster.scheduler_address
        sentence = f"Runs are computed on the cluster at {address}."
        assert state(store)["place"] == sentence
        assert pages[-1]["place"] == sentence, "the form was repainted when that was known"
        assert store.view.error is None
    finally:
        store.close()
        there.close()


def test_the_environment_names_the_scheduler(monkeypatch):
    monkeypatch.delenv("HCVIZ_SCHEDULER", raising=False)
    assert cluster_of() is None
    monkeypatch.setenv("HCVIZ_SCHEDULER", " tcp://127.0.0.1:2 ")
    assert cluster_of().address == "tcp://127.0.0.1:2"
    assert cluster_of() is cluster_of("tcp://127.0.0.1:2"), "one client for all sessions"
    assert cluster_of("tcp://127.0.0.1:3").address == "tcp://127.0.0.1:3"
    assert cluster_of("") is None


SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    made = LocalCluster(
        n_workers=int(sys.argv[1]), threads_per_worker=1, processes=len(sys.argv) > 2,
        protocol="tcp://", dashboard_address=None, host="127.0.0.1", silence_logs=50,
    )
    print(made.scheduler_address, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def apart():
    """Starts a scheduler (with workers) in a process of its own: (the process, its address)."""
    started = []

    def start(workers, *more):
        made = subprocess.Popen(
            [sys.executable, "-c", SCHEDULER, str(workers), *more], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        started.append(made)
        return made, made.stdout.readline().strip()

    yield start
    for each in started:
        each.stdin.close()  # its workers end with it
        try:
            each.wait(10)
        except subprocess.TimeoutExpired:
            each.kill()
            each.wait()


def ends(process, monkeypatch):
    """A scheduler with short timeouts from now on."""
    monkeypatch.setattr(one_job, "CONNECT_TIMEOUT", 0.5)
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT", 0.5)
    for module in (clusters, long_task):
        monkeypatch.setattr(module, "SCHEDULER_TIMEOUT", 0.5)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert gone(process.pid)


def test_a_scheduler_that_goes_away_is_a_sentence_and_the_next_run_is_done_here(
    apart, inbox, places, monkeypatch
):
    monkeypatch.setattr(
        clusters, "CONNECT_TIMEOUT", 10.0
    )  # so long a client looks for what is gone
    process, address = apart(1)
    there = Cluster(address)
    runner = inbox.runner = Runner(inbox, cluster=there, on_location=places.append)
    with contextlib.closing(there), contextlib.closing(runner):
        runner.start(1, "counting-thread", items(), {"steps": FOREVER, "rest": 0.01}, 0)
        inbox.until(lambda messages: len(messages) >= 2)
        ends(process, monkeypatch)
        end = inbox.until_over()
        assert isinstance(end, Failed)
        assert f"The Dask scheduler at {address} went away" in end.message
        assert "kept" in end.hint
        inbox.messages.clear()
        runner.start(2, "counting-thread", items(), {"steps": 2}, 0)
        assert inbox.until_over() == Finished(2)
    assert [place.fault is None for place in places] == [True, False]


def test_a_scheduler_that_goes_away_from_a_large_set_is_a_sentence_too(apart, inbox, monkeypatch):
    monkeypatch.setattr(framework, "TASK", Slow.n_items - 1)  # its parts are tasks
    monkeypatch.setattr(
        clusters, "CONNECT_TIMEOUT", 10.0
    )  # so long a client looks for what is gone
    process, address = apart(1)
    there = Cluster(address)
    runner = inbox.runner = Runner(inbox, cluster=there)
    with contextlib.closing(there), contextlib.closing(runner):
        runner.start(1, "active-spectral", Problem(oracle=Slow()), {"s": 20}, 0)
        with Client(address, timeout=LONG) as watching:
            wait_for(lambda: any(watching.processing().values()))
        ends(process, monkeypatch)
        end = inbox.until_over()
    assert isinstance(end, Failed)
    assert "went away" in end.message or "held the data ended" in end.message


def refused_at_once(there, sessions=3):
    """The sentences that many sessions get that ask together, none of which waits for the answer:
    it is still awaited then."""
    faults = []

    def ask():
        try:
            there.client(0.2)
        except ClusterError as fault:
            faults.append((fault.message, there.is_checking))

    asking = [threading.Thread(target=ask) for _ in range(sessions)]
    for each in asking:
        each.start()
    for each in asking:
        each.join(50)
    assert len(faults) == sessions
    assert all(waiting for _, waiting in faults)
    return {message for message, _ in faults}


def test_a_silent_scheduler_blocks_nothing(monkeypatch):
    """It takes connections, and that is all; a look at it would take a minute."""
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT", 60.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        taken = []

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    taken.append(silent.accept()[0])

        listening = threading.Thread(target=accept, daemon=True)
        listening.start()
        address = "tcp://{}:{}".format(*silent.getsockname())
        there = Cluster(address)
        assert refused_at_once(there) == {f"No Dask scheduler answers at {address}."}
        wait_for(lambda: taken)
        silent.shutdown(socket.SHUT_RDWR)
        listening.join(30)
        for each in taken:
            each.close()
    there.close()


def test_a_scheduler_that_hangs_with_a_client_blocks_nothing(apart, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT", 60.0)
    process, address = apart(1)
    there = Cluster(address)
    with contextlib.closing(there):
        first = there.client(LONG)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            assert refused_at_once(there) == {f"No Dask scheduler answers at {address}."}
        finally:
            os.kill(process.pid, signal.SIGCONT)
        wait_for(lambda: not there.is_checking)
        assert there.client(LONG) is first


def test_a_scheduler_without_workers_is_as_good_as_none(apart, inbox, places):
    _, address = apart(0)
    there = Cluster(address)
    runner = inbox.runner = Runner(inbox, cluster=there, on_location=places.append)
    with contextlib.closing(there), contextlib.closing(runner):
        runner.start(2, "counting-thread", items(), {"steps": 2}, 0)
        assert inbox.until_over() == Finished(2)
    assert "has no workers" in places[0].fault.message


def test_the_scheduler_needs_no_hcviz(apart, monkeypatch):
    """It unpickles what it passes on, so an import there would delay all its clients."""
    monkeypatch.setattr(framework, "TASK", 100)
    _, address = apart(1, "processes")
    oracle = noisy_blocks(500, 2, 0.1).oracle
    for method, task in (("ddt", problem()), ("active-spectral", Problem(oracle=oracle))):
        assert list(run_on(address, method, task, **({"chains": 2} if method == "ddt" else {})))

    def known():
        import sys

        return "distributed" in sys.modules, "hcviz" in sys.modules

    with Client(address, timeout=LONG) as client:
        assert client.run_on_scheduler(known) == (True, False)
        assert list(client.run(known).values()) == [(True, True)]
