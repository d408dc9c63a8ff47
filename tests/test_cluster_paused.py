"""Runs whose workers are paused: the page reports it, and the run can be cancelled at once."""

from __future__ import annotations

import contextlib

import pytest

from hcviz import cli, run
from hcviz.algorithms.active import framework, queries
from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs import RunLocation, Runner, worker_watchdog
from hcviz.jobs import job as one_job
from hcviz.jobs.cluster import Cluster, run_on
from hcviz.jobs.long_task import LongTask
from hcviz.jobs.worker_watchdog import paused_sentence, watch_workers
from hcviz.session.actions import Finished, Stopped
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app.subscriptions import everything
from hcviz.ui.features.history.model import state as foot
from hcviz.ui.features.top_bar.model import live as bar_live
from hcviz.ui.state.store import Store
from tests.test_cluster_long import at_work, client, pausing, problem, unhurried
from tests.test_jobs import LONG, Inbox, items, job_methods, wait_for

__all__ = ["client", "job_methods", "unhurried"]  # fixtures

BOTH = paused_sentence(2)


@pytest.fixture
def hold(client, cluster):
    """Pauses both workers, or lets them go on."""

    def held(on):
        client.run(pausing, held=on)
        states = cluster.scheduler.workers.values()
        wait_for(lambda: len({each.status for each in states} | {None}) == 2)
        wait_for(lambda: bool(cluster.scheduler.running) is not on)

    yield held
    held(False)


@pytest.mark.parametrize("method", ["average", "ddt", "active-spectral"])
def test_a_run_reports_that_all_workers_are_paused_and_resumes_with_them(
    method, hold, cluster, monkeypatch
):
    """As a long task, as chains, and as shards and sets."""
    monkeypatch.setattr(framework, "TASK", 20)
    monkeypatch.setattr(queries, "BLOCK", 200)
    params = {"s": 10} if method == "active-spectral" else {}
    if method == "ddt":
        params = {"steps": 400, "every": 40, "chains": 2}
    here = list(run(method, problem(), seed=3, **params))[-1]
    sentences = []

    def report(sentence):
        sentences.append(sentence)
        if sentence:
            hold(False)

    hold(True)
    there = list(
        run_on(cluster.scheduler_address, method, problem(), seed=3, on_waiting=report, **params)
    )
    assert sentences == [BOTH, ""]
    assert there[-1].tree == here.tree
    assert there[-1].metrics == here.metrics


def test_the_page_can_cancel_what_waits_and_leaves_nothing_behind(
    hold, client, cluster, monkeypatch
):
    """It does not wait, either, for a task to leave off that has never begun."""
    monkeypatch.setattr(one_job, "CONNECT_TIMEOUT", LONG)
    inbox, places, waited = Inbox(), [], []
    there = Cluster(cluster.scheduler_address)
    queues = cluster.scheduler.extensions["queues"].queues
    before = set(queues)
    runner = inbox.runner = Runner(inbox, cluster=there, on_location=places.append)
    with contextlib.closing(there), contextlib.closing(runner):
        hold(True)
        with monkeypatch.context() as patched:
            patched.setattr(LongTask, "ended", waited.append)
            runner.start(4, "counting-thread", items(), {"steps": 3}, 0)
            wait_for(lambda: len(places) == 2)
            assert places == [RunLocation(there.address), RunLocation(there.address, waiting=BOTH)]
            runner.cancel()
            assert inbox.until_over() == Stopped(4)
            assert not runner.busy
            wait_for(lambda: set(queues) <= before)
            wait_for(lambda: not any("hcviz-" in key for key in cluster.scheduler.tasks))
        assert not waited
        hold(False)
        inbox.messages.clear()
        runner.start(5, "counting-thread", items(), {"steps": 3}, 0)
        assert inbox.until_over() == Finished(5)
    assert not at_work(client)


def test_the_page_shows_what_a_run_waits_for(loop, hold, cluster):
    there = Cluster(cluster.scheduler_address)
    store = Store(Session(method="average"), loop.schedule, cluster=there)
    shown = []
    try:
        store.subscribe(everything, lambda _: shown.append(foot(store)["sentence"]))
        hold(True)
        assert store.open_data(DataSpec(name="zoo"))
        loop.until(lambda: store.view.place is not None and store.view.place.waiting)
        assert bar_live(store)["text"] == "Waiting for a worker"
        assert foot(store)["sentence"] == shown[-1] == BOTH
        store.change_view(paused=True)
        assert bar_live(store)["text"] == "Paused"
        store.change_view(paused=False)
        hold(False)
        loop.until(lambda: store.session.status == "settled")
        assert bar_live(store)["text"].startswith(("Done", "Tree done"))
        assert BOTH not in foot(store)["sentence"]
    finally:
        store.close()
        there.close()


def test_the_command_reports_it_too(hold, cluster, monkeypatch, capsys):
    sentence = worker_watchdog.paused_sentence

    def released(workers):
        hold(False)
        return sentence(workers)

    monkeypatch.setattr(worker_watchdog, "paused_sentence", released)
    hold(True)
    assert cli.main(["run", "average", "zoo", "--scheduler", cluster.scheduler_address]) == 0
    assert f"hcviz: {BOTH}\n" in capsys.readouterr().err


# ---------------------------------------------------------------------- without a cluster


SHOWN = Snapshot(Tree.star(2), 1, 2)


def watching(counts, monkeypatch, shown=()):
    """What a stream of nothing yields, a count of workers for each; with snapshots at ``shown``."""
    monkeypatch.setattr(worker_watchdog, "CHECK_SECONDS", -1.0)  # each time
    closed, notices, left = [], [], iter(counts)

    def nothing():
        try:
            for place in range(len(counts) + len(shown)):
                yield SHOWN if place in shown else None
        finally:
            closed.append(True)

    stream = watch_workers(nothing(), lambda: next(left), notices.append)
    return stream, notices, closed


def test_a_notice_is_posted_once_and_withdrawn(monkeypatch):
    stream, notices, closed = watching(
        [(2, 2), (2, 0), (2, 0), (1, 0), (1, 1), (0, 0), (3, 0)], monkeypatch, shown=(7,)
    )
    assert [each is SHOWN for each in stream] == [False] * 7 + [True]
    assert notices == [paused_sentence(2), paused_sentence(1), "", paused_sentence(3), ""]
    assert "only worker" in paused_sentence(1)
    assert closed


def test_a_cluster_without_any_worker_is_given_up_and_one_that_pauses_is_not(monkeypatch):
    clock = iter(range(0, 10**6, 10))
    monkeypatch.setattr(worker_watchdog.time, "monotonic", lambda: float(next(clock)))
    stream, notices, closed = watching([(1, 0)] * 100 + [(0, 0)] * 3 + [(0, 0)], monkeypatch)
    for _ in range(103):
        assert next(stream) is None
    with pytest.raises(HcvizError, match="no worker for 30 seconds"):
        next(stream)
    assert notices == [paused_sentence(1), ""]
    assert closed


def test_a_consumer_that_stops_closes_the_stream(monkeypatch):
    stream, _, closed = watching([(1, 1)] * 3, monkeypatch)
    next(stream)
    stream.close()
    assert closed
