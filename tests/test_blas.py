"""Linear algebra is limited to one thread during a step, and only then."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hcviz import Comparisons, Problem, run
from hcviz.algorithms.comparison import embedding, sdp
from hcviz.core.blas import controller, one_thread


def threads():
    """Of numpy's and scipy's BLAS: others, as the solvers of cvxpy bring, may know of one only."""
    found = [each for each in controller().info() if each["user_api"] == "blas"]
    ours = [each for each in found if "numpy" in each["filepath"] or "scipy" in each["filepath"]]
    return {each["num_threads"] for each in ours or found}  # a library that both share: conda's


@pytest.fixture
def two():
    """Two threads outside, whatever the machine has."""
    with threadpool_limits(2, user_api="blas"):
        yield


def test_each_step_has_one_thread_and_other_code_has_the_former_number(two):
    def steps():
        yield threads()
        yield threads()
        return threads()

    held = one_thread(steps())
    assert threads() == {2}
    assert next(held) == {1}
    assert threads() == {2}
    assert next(held) == {1}
    with pytest.raises(StopIteration) as end:
        next(held)
    assert end.value.value == {1}
    assert threads() == {2}


def test_an_error_or_a_stop_restores_the_number_of_threads(two):
    left = []

    def steps():
        try:
            yield None
            raise ValueError("a fault")
        finally:
            left.append(threads())

    held = one_thread(steps())
    next(held)
    with pytest.raises(ValueError, match="a fault"):
        next(held)
    assert threads() == {2}
    stopped = one_thread(steps())
    next(stopped)
    stopped.close()
    assert len(left) == 2
    assert threads() == {2}


@pytest.fixture
def seen(monkeypatch, two):
    """The threads at each projection of the solver."""
    found = []
    plain = sdp.SpectralProjection.project

    def project(self, matrix, k):
        found.append(threads())
        return plain(self, matrix, k)

    monkeypatch.setattr(sdp.SpectralProjection, "project", project)
    return found


def test_the_solver_has_one_thread(seen):
    w = np.random.default_rng(0).normal(size=(12, 12))
    sdp.solve(w + w.T, k=3)
    assert seen
    assert all(each == {1} for each in seen)
    assert threads() == {2}


def test_a_run_has_one_thread(seen):
    rows = [[0, 1, 2], [1, 0, 2], [3, 4, 0], [4, 3, 1]]
    problem = Problem(labels=list("abcde"), comparisons=Comparisons(rows))
    for _ in run("adds-sdp", problem, k=2):
        assert threads() == {2}
    assert seen
    assert all(each == {1} for each in seen)


@pytest.mark.parametrize("method", ["t-ste", "forte"])
def test_an_embedding_descends_with_one_thread(method, monkeypatch, two):
    found = []
    plain = embedding.descend

    def descend(loss, start, max_steps):
        found.append(threads())
        return plain(loss, start, max_steps)

    monkeypatch.setattr(embedding, "descend", descend)
    problem = Problem(labels=list("abcde"), comparisons=Comparisons([[0, 1, 2], [3, 4, 0]]))
    assert list(run(method, problem))
    assert found
    assert all(each == {1} for each in found)
    assert threads() == {2}


def test_two_concurrent_generators_restore_the_number_of_threads():
    before = threads()
    inside, leave = threading.Event(), threading.Event()

    def first():
        yield None
        inside.set()
        assert leave.wait(60)

    def second():
        assert threads() == {1}
        leave.set()
        other.join(60)
        yield None

    other = threading.Thread(target=lambda: list(one_thread(first())))
    other.start()
    assert inside.wait(60)
    assert list(one_thread(second())) == [None]
    assert threads() == before
    assert list(one_thread(threads() for _ in range(1))) == [{1}]
