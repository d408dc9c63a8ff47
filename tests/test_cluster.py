"""The active methods on a real Dask cluster: two worker processes, one of which is killed."""

from __future__ import annotations

import gc
import http.server
import json
import os
import signal
import threading

import numpy as np
import pytest
from distributed import Client

from hcviz import FileOracle, Problem, cli, run
from hcviz.algorithms.active import ActiveCluster, framework, queries
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import ClusterError, InvalidData, InvalidParameter
from hcviz.core.similarity_oracles import FeatureOracle
from hcviz.datasets import noisy_blocks
from hcviz.jobs import cluster as clusters
from hcviz.jobs.cluster import (
    DaskExecutor,
    connect,
    distribute_features,
    grow_on_client,
    pausable,
    run_on,
)
from hcviz.jobs.task import PauseControl
from tests import jobmethods
from tests.test_cluster_long import unhurried
from tests.test_jobs import LONG, wait_for
from tests.trees import true_triplets

__all__ = ["unhurried"]  # a fixture for every test of this module


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """So that a few thousand items are work for two, with snapshots all the way even where the
    machine is slow."""
    monkeypatch.setattr(framework, "MIN_INTERVAL", 0.0)
    monkeypatch.setattr(framework, "INTERVAL_FACTOR", 0.0)
    monkeypatch.setattr(framework, "TASK", 300)
    monkeypatch.setattr(queries, "BLOCK", 20_000)


def content(shown):
    return shown.tree, shown.metrics


def here(made, data, rows):
    *_, last = made.grow(data.oracle, 3, rows, threads=1)
    return content(last)


@pytest.mark.parametrize("doing", ["tally", "build_subtree"])
def test_a_cluster_gives_the_same_tree_though_workers_are_killed(doing, cluster, monkeypatch):
    """And all who hold what the tasks are about, with the first of either kind: much is left."""
    data = noisy_blocks(4000, 5, 0.3, seed=1)
    rows = true_triplets(data.target, np.random.default_rng(0), 4)
    made, killed = ActiveCluster(s=30), []
    with Client(cluster, timeout=LONG) as client:
        client.wait_for_workers(2, LONG)  # one may be restarting
        pids = client.run(os.getpid)
        assert len(pids) == 2
        submit = getattr(DaskExecutor, doing)

        def submitted(executor, *given):
            future = submit(executor, *given)
            if not killed:
                assert future.exception(LONG) is None
                (holders,) = client.who_has(executor.oracle).values()
                killed.extend(pids[each] for each in holders)
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            return future

        monkeypatch.setattr(DaskExecutor, doing, submitted)
        *_, last = grow_on_client(client, made, data.oracle, 3, rows)
    assert killed
    assert content(last) == here(made, data, rows)


def test_the_command_line_takes_an_address(cluster, tmp_path, capsys):
    table = tmp_path / "table.csv"
    features = np.random.default_rng(0).normal(size=(700, 3)).round(6)
    lines = [f"i{k}," + ",".join(map(str, row)) for k, row in enumerate(features)]
    table.write_text("name,a,b,c\n" + "\n".join(lines) + "\n")
    out = []
    for more in ([], ["--scheduler", cluster.scheduler_address]):
        words = ["run", "active-spectral", str(table), "--s", "20", "--json", *more]
        assert cli.main(words) == 0
        out.append(json.loads(capsys.readouterr().out))
    assert out[0]["newick"] == out[1]["newick"]
    assert out[0]["metrics"] == out[1]["metrics"]


def test_the_callers_own_counting_oracle_counts_what_the_workers_asked(cluster):
    """Asked here or over there: each distinct pair once, in the caller's count as in the run's."""
    data = noisy_blocks(1500, 4, 0.3, seed=2)
    mine = CountingOracle(data.oracle)
    with Client(cluster, timeout=LONG) as client:
        client.wait_for_workers(2, LONG)
        *_, last = grow_on_client(client, ActiveCluster(s=30), mine, 3)
    assert mine.queries == last.metrics["queries"]
    again = CountingOracle(data.oracle)
    *_, same = ActiveCluster(s=30).grow(again, 3, threads=1)
    assert again.queries == mine.queries
    assert same.tree == last.tree


@pytest.mark.parametrize("address", ["nonsense", "", "tls://127.0.0.1:1"])
def test_what_is_no_scheduler_gets_a_sentence_and_nothing_else(address, capfd):
    with pytest.raises(ClusterError, match="No Dask scheduler answers"):
        connect(address, timeout=1)
    gc.collect()
    assert capfd.readouterr().err == ""


def test_a_server_that_is_no_scheduler_gets_a_sentence(capfd):
    """A dashboard's port, say."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(ClusterError, match="No Dask scheduler answers"):
            connect(f"tcp://127.0.0.1:{server.server_port}", timeout=1)
    finally:
        server.shutdown()
        server.server_close()
    gc.collect()
    assert "Traceback" not in capfd.readouterr().err


def test_a_closed_gate_holds_what_is_divided_here():
    control = PauseControl()
    drawn = []

    def divide_set():
        for step in range(4):
            drawn.append(step)
            yield step

    stream = pausable(divide_set, control)
    assert next(stream) == 0
    control.pause(True)
    assert [next(stream) for _ in range(3)] == [None] * 3
    assert drawn == [0]
    control.pause(False)
    assert [each for each in stream if each is not None] == [1, 2, 3]


def test_what_is_refused(cluster):
    problem = Problem(oracle=noisy_blocks(40, 2, 0.1).oracle)
    with pytest.raises(InvalidParameter, match="no method 'averages'"):
        run_on(cluster.scheduler_address, "averages", problem)
    with pytest.raises(InvalidParameter, match="no parameter 'j'"):
        run_on(cluster.scheduler_address, "average", problem, j=3)
    with pytest.raises(InvalidData, match="needs features"):
        run_on(cluster.scheduler_address, "ddt", problem)
    with pytest.raises(InvalidParameter, match="No Dask scheduler"):
        connect("tcp://127.0.0.1:1", timeout=1)


def test_a_small_problem_is_one_task(cluster):
    problem = Problem(oracle=noisy_blocks(40, 2, 0.1).oracle)
    last = list(run_on(cluster.scheduler_address, "heurspec", problem, seed=2))[-1]
    assert content(last) == content(list(run("heurspec", problem, seed=2))[-1])


class Heavy(FeatureOracle):
    """Its parts arrive at a worker only when the file ``go`` is there."""

    def __init__(self, rows, go):
        super().__init__(rows)
        self.go = go

    def part(self, items):
        return jobmethods.Awaited(super().part(items), self.go)


def test_shards_are_spread_over_the_workers(cluster, tmp_path):
    go = tmp_path / "go"
    oracle = Heavy(np.random.default_rng(0).normal(size=(1001, 3)), str(go))
    with Client(cluster, timeout=LONG) as client:
        client.wait_for_workers(2, LONG)
        shards = distribute_features(client, oracle, 100)
        keys = {each.key for each in shards}

        def shares():
            return [len(keys & set(names)) for names in client.processing().values()]

        wait_for(lambda: sum(shares()) == len(keys) == 11)
        assert sorted(shares()) == [5, 6]
        go.touch()
        parts = [each.result(LONG) for each in shards]
        assert [part.n_items for part in parts] == [100] * 10 + [1]
        assert np.array_equal(np.concatenate([part.rows for part in parts]), oracle.rows)


@pytest.mark.parametrize(("kind", "doing"), [("cosine-z", "tally"), ("gaussian", "build_subtree")])
def test_features_in_shards_give_the_same_tree_though_workers_are_killed(
    kind, doing, cluster, monkeypatch
):
    """Bit for bit, with what was asked for, though all workers die, with all shards, in between."""
    monkeypatch.setattr(clusters, "SHARD_BYTES", 250 * 4 * 8)
    n = 4000
    rng = np.random.default_rng(4)
    features = rng.normal(size=(n, 4)) + 3 * rng.normal(size=(8, 4))[rng.integers(0, 8, n)]
    oracle = CountingOracle(FeatureOracle(features, kind))  # the caller's counts too
    rows = np.array([[1, 2, 3000], [5, 900, 3999]])
    made, killed = ActiveCluster(s=30), []
    with Client(cluster, timeout=LONG) as client:
        client.wait_for_workers(2, LONG)
        pids = client.run(os.getpid)
        submit = getattr(DaskExecutor, doing)

        def submitted(executor, *given):
            future = submit(executor, *given)
            if not killed:
                assert future.exception(LONG) is None
                killed.extend(pids.values())
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            return future

        monkeypatch.setattr(DaskExecutor, doing, submitted)
        *_, last = grow_on_client(client, made, oracle, 3, rows)
    assert len(killed) == 2
    alone = CountingOracle(FeatureOracle(features, kind))
    *_, here = made.grow(alone, 3, rows, threads=1)
    assert content(last) == content(here)
    assert oracle.queries == alone.queries
    assert np.array_equal(oracle.mask(size=40), alone.mask(size=40))


def test_features_in_a_file_are_read_where_they_are_compared(cluster, tmp_path):
    """The features are not sent: the scheduler gets the path of the file."""
    np.save(tmp_path / "features.npy", np.random.default_rng(6).normal(size=(3000, 40)))
    oracle = FileOracle(tmp_path / "features.npy")
    made = ActiveCluster(s=30)
    sent = []
    with Client(cluster, timeout=LONG) as client:
        client.wait_for_workers(2, LONG)
        submit = client.submit

        def submitted(task, *given, **more):
            sent.extend(len(each) for each in given if isinstance(each, bytes))
            return submit(task, *given, **more)

        client.submit = submitted
        *_, there = grow_on_client(client, made, oracle, 3)
    *_, here = made.grow(oracle, 3, threads=1)
    assert content(there) == content(here)
    assert len(sent) > 2
    assert max(sent) < 3000 * 8 * 4  # numbers of items, and no features
    assert sent[0] < 3000  # the oracle


def test_parts_of_features_have_the_values_of_the_whole():
    rng = np.random.default_rng(5)
    items = rng.permutation(60)[:30].astype(np.int32)
    for kind in FeatureOracle.KINDS:
        whole = FeatureOracle(rng.normal(size=(60, 5)) + rng.normal(size=5), kind)
        one, other = whole.part(items[:12]), whole.part(items[12:])
        both = one.joined_with(other)
        everyone = np.arange(30, dtype=np.int32)
        want = whole.similarity(items, items)
        assert np.array_equal(both.similarity(everyone, everyone), want)
        assert both.n_items == 30
