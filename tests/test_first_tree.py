"""While a sampler is compiled, its run shows where it starts, and then waits for a worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import hcviz
from hcviz import Problem
from hcviz.core.errors import HcvizError
from hcviz.jobs import Runner, job
from hcviz.jobs.compiling import CompilingProgress
from hcviz.jobs.fair_share import LINE
from hcviz.jobs.first_tree import first_tree
from hcviz.jobs.shared_pool import SharedWorkers
from hcviz.jobs.task import Task
from hcviz.session.actions import Arrived, Failed, Finished, Stopped
from hcviz.ui.features.history.model import FIRST_TREE
from tests.conftest import ROOT
from tests.test_jobs import Inbox

STEPS = {"steps": 40, "every": 20}


class LateWorkers(SharedWorkers):
    """Workers that are being compiled until ``ready`` is set, and then are absent."""

    def __init__(self) -> None:
        super().__init__(0)
        self.ready, self.waits = threading.Event(), threading.Event()

    def wait_until_ready(self, stop: Callable[[], bool]) -> None:
        """Wait for the test, or until the run is stopped."""
        self.waits.set()
        while not stop() and not self.ready.wait(0.01):
            pass


@pytest.fixture
def problem() -> Problem:
    rng = np.random.default_rng(1)
    return Problem(features=rng.normal(size=(9, 3)), triplets=[(0, 1, 2), (3, 4, 0)])


@pytest.fixture
def workers() -> LateWorkers:
    return LateWorkers()


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The server is compiling."""
    progress = CompilingProgress(lambda: 0.0)
    monkeypatch.setattr(job, "COMPILING", progress)
    with progress.running():
        yield


def began(problem: Problem, workers: LateWorkers) -> Inbox:
    inbox = Inbox()
    inbox.runner = Runner(inbox, shared=workers)
    inbox.runner.start(1, "ddt", problem, STEPS, 0)
    return inbox


def test_it_is_the_first_tree_of_the_run(problem: Problem) -> None:
    found = first_tree(Task(1, "ddt", "hcviz.algorithms.ddt", problem, STEPS, 0, None))
    assert found is not None
    assert found.step == 0
    own = next(hcviz.run("ddt", problem, seed=0, **STEPS))
    assert own.step == 0
    assert np.array_equal(found.tree.parent, own.tree.parent)
    assert np.allclose(found.tree.height, own.tree.height)


def test_it_keeps_the_constraints_and_the_tree_before(problem: Problem) -> None:
    *_, last = hcviz.run("average", problem.with_triplets(()))
    before = last.tree
    found = first_tree(Task(1, "ddt", "hcviz.algorithms.ddt", problem, STEPS, 0, before))
    assert found is not None
    assert found.tree.satisfies(problem.triplets).all()


def test_faults_are_those_of_the_run(problem: Problem) -> None:
    contradictory = problem.with_triplets([(0, 1, 2), (1, 2, 0)])
    with pytest.raises(HcvizError):
        first_tree(Task(1, "ddt", "hcviz.algorithms.ddt", contradictory, STEPS, 0, None))


@pytest.mark.usefixtures("cold")
def test_a_run_waits_beside_its_first_tree(problem: Problem, workers: LateWorkers) -> None:
    inbox = began(problem, workers)
    assert workers.waits.wait(60)
    inbox.until(lambda messages: len(messages) == 1)
    assert inbox.steps == [0]
    workers.ready.set()
    assert inbox.until_over() == Finished(1)
    assert inbox.steps[-1] == STEPS["steps"]


@pytest.mark.usefixtures("cold")
def test_a_waiting_run_can_be_cancelled_and_replaced(
    problem: Problem, workers: LateWorkers
) -> None:
    inbox = began(problem, workers)
    assert workers.waits.wait(60)
    assert inbox.runner is not None
    inbox.runner.start(2, "ddt", problem.with_triplets([(5, 6, 7)]), STEPS, 0)
    inbox.until(lambda messages: bool(messages) and messages[-1].run == 2)
    tree = inbox.messages[-1].snapshot.tree
    assert tree.satisfies(np.array([(5, 6, 7)])).all()
    inbox.runner.cancel()
    assert inbox.until_over() == Stopped(2)


@pytest.mark.usefixtures("cold")
def test_a_waiting_run_has_no_place_in_the_line(problem: Problem, workers: LateWorkers) -> None:
    inbox = began(problem, workers)
    assert workers.waits.wait(60)
    assert inbox.runner is not None
    assert LINE.running == 0
    inbox.runner.close()


@pytest.mark.usefixtures("cold")
def test_a_fault_is_reported_at_once(problem: Problem, workers: LateWorkers) -> None:
    inbox = began(problem.with_triplets([(0, 1, 2), (1, 2, 0)]), workers)
    assert isinstance(inbox.until_over(), Failed)


def test_with_compiled_kernels_no_run_waits(problem: Problem, workers: LateWorkers) -> None:
    inbox = began(problem, workers)
    assert inbox.until_over() == Finished(1)
    assert not workers.waits.is_set()
    assert [type(each) for each in inbox.messages[:1]] == [Arrived]


def test_a_page_shows_it_before_any_kernel_is_compiled(tmp_path: Path) -> None:
    """Also after an answer; nothing is said of the posterior, and the answer holds."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.cold_page"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["compiled"] == []
    first, second = found["shown"]
    assert (first["run"], second["run"]) == (0, 1)
    for each in (first, second):
        assert each["step"] == 0
        assert each["message"].endswith(FIRST_TREE)
        assert each["status"] == "Getting ready: 0 %"
        assert each["drawn"]
        assert not each["supports"]
    assert found["satisfied"]
    assert first["parent"] != second["parent"]
