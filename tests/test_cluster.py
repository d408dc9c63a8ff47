"""The active methods on a real Dask cluster: two worker processes, one of which is killed."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
from distributed import Client, LocalCluster

from hcviz import Problem, cli, run
from hcviz.algorithms.active import ActiveCluster, framework, growth
from hcviz.core.errors import InvalidParameter
from hcviz.datasets import noisy_blocks
from hcviz.jobs.cluster import connected, grow_on, run_on
from tests.trees import true_triplets


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        host="127.0.0.1", silence_logs=50,
    ) as made:  # fmt: skip
        yield made


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """So that a few thousand items are work for two."""
    monkeypatch.setattr(framework, "TASK", 300)
    monkeypatch.setattr(growth, "BLOCK", 20_000)


def told(shown):
    return shown.tree, shown.metrics


def here(made, data, rows):
    *_, last = made.grow(data.oracle, 3, rows, threads=1)
    return told(last)


def test_a_cluster_gives_the_same_tree_though_a_worker_is_killed(cluster):
    data = noisy_blocks(6000, 5, 0.3, seed=1)
    rows = true_triplets(data.target, np.random.default_rng(0), 4)
    made = ActiveCluster(s=30)
    with Client(cluster) as client:
        pids = client.run(os.getpid)
        assert len(pids) == 2
        killed = False
        for shown in grow_on(client, made, data.oracle, 3, rows):
            if shown is not None:
                last = shown
                if not killed and shown.step > 0.4 * shown.total:
                    os.kill(next(iter(pids.values())), signal.SIGKILL)
                    killed = True
                    assert shown.step < shown.total
        assert killed
    assert told(last) == here(made, data, rows)


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


def test_what_is_refused(cluster):
    problem = Problem(oracle=noisy_blocks(40, 2, 0.1).oracle)
    with pytest.raises(InvalidParameter, match="does not run on a cluster"):
        run_on(cluster.scheduler_address, "average", problem)
    with pytest.raises(InvalidParameter, match="No Dask scheduler"):
        connected("tcp://127.0.0.1:1")
    last = list(run_on(cluster.scheduler_address, "heurspec", problem, seed=2))[-1]
    assert last.tree == list(run("heurspec", problem, seed=2))[-1].tree
