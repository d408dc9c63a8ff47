"""The cache computes each value once, newest requests first, off the page's thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from hcviz import Problem
from hcviz.core.errors import HcvizError
from hcviz.jobs import BackgroundRun, ComputeCache


@pytest.fixture
def cache(loop):
    signals = []
    made = ComputeCache(loop.schedule, lambda: signals.append(1))
    made.signals = signals
    yield made
    made.close()


def test_a_value_is_computed_once_on_another_thread(loop, cache):
    where = []
    request = {"key": lambda: where.append(threading.current_thread()) or 7}
    assert cache.ask("it", request) == {}
    assert cache.ask("it", request) == {}  # while it is computed
    loop.until(lambda: cache.signals)
    assert cache.ask("it", request) == {"key": 7}
    assert len(where) == len(cache.signals) == 1
    assert where[0] is not threading.current_thread()


def test_a_new_request_replaces_the_old_and_small_requests_come_first(loop, cache):
    gate, done = threading.Event(), []

    def work(name):
        return lambda: done.append(name) or name

    cache.ask("first", {"gate": gate.wait})
    cache.ask("one", {"old": work("old")})
    cache.ask("many", {k: work(k) for k in "abc"})
    cache.ask("one", {"new": work("new")})
    gate.set()
    loop.until(lambda: len(cache.signals) == 5)
    assert done == ["new", "a", "b", "c"]


def test_a_fault_is_an_answer(loop, cache, caplog):
    def refused():
        raise HcvizError("It cannot be.", "Try another.")

    def broken():
        raise ZeroDivisionError

    request = {1: refused, 2: broken}
    cache.ask("it", request)
    loop.until(lambda: len(cache.signals) == 2)
    found = cache.ask("it", request)
    assert found[1].message == "It cannot be."
    assert isinstance(found[2], HcvizError)
    assert "ZeroDivisionError" in caplog.text


def test_runs_go_through_a_runner_and_are_read(loop, cache):
    problem = Problem(similarity=np.exp(-np.abs(np.subtract.outer(np.arange(6), np.arange(6)))))
    request = {
        "tree": BackgroundRun("average", lambda: problem, lambda snapshot: snapshot.tree.n_leaves),
        "fault": BackgroundRun("crsc", lambda: problem, lambda snapshot: 0, {"oracle": "nothing"}),
    }
    cache.ask("it", request)
    loop.until(lambda: len(cache.signals) == 2)
    found = cache.ask("it", request)
    assert found["tree"] == 6
    assert "oracle" in found["fault"].message


def test_a_run_that_cannot_begin_is_a_fault_and_others_still_follow(loop, cache, caplog):
    def refused():
        raise HcvizError("Row 3 is odd.", "Leave it out.")

    def broken():
        raise ZeroDivisionError

    fine = Problem(features=np.arange(6.0)[:, None])
    request = {
        "refused": BackgroundRun("average", refused, lambda snapshot: 0),
        "broken": BackgroundRun("average", broken, lambda snapshot: 0),
        "fine": BackgroundRun("average", lambda: fine, lambda snapshot: snapshot.tree.n_leaves),
    }
    cache.ask("it", request)
    loop.until(lambda: len(cache.signals) == 3)
    found = cache.ask("it", request)
    assert cache.idle
    assert (found["refused"].message, found["refused"].hint) == ("Row 3 is odd.", "Leave it out.")
    assert isinstance(found["broken"], HcvizError)
    assert "ZeroDivisionError" in caplog.text
    assert found["fine"] == 6


def test_what_is_forgotten_is_not_answered_any_more(loop, cache):
    gate = threading.Event()
    cache.ask("it", {"old": gate.wait, "next": lambda: 1})
    cache.forget()
    cache.ask("it", {"new": lambda: 2})
    gate.set()
    loop.until(lambda: cache.signals)
    assert cache.ask("it", {"old": lambda: 3, "new": lambda: 4}) == {"new": 2}
