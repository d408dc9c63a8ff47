"""Runs of which only the end counts: what they report, and when they report nothing."""

from __future__ import annotations

import logging
import threading

import pytest

from hcviz import Problem, fit
from hcviz.algorithms import MODULES
from hcviz.core.errors import HcvizError
from hcviz.jobs import BackgroundRuns
from tests import jobmethods
from tests.test_jobs import wait_for


@pytest.fixture
def background(loop, monkeypatch):
    for method in jobmethods.ALGORITHMS:
        monkeypatch.setitem(MODULES, method.name, jobmethods.__name__)
    made = BackgroundRuns(loop.schedule)
    yield made
    made.close()


class Results(list):
    """``(last snapshot, fault)`` of each run that ended."""

    def __call__(self, last, fault):
        self.append((last, fault))


ITEMS = Problem(labels=list("abcdef"))


def test_the_last_snapshot_is_reported_once_and_is_that_of_run_0(loop, background):
    results = Results()
    background.start("counting-thread", ITEMS, {"steps": 30, "rest": 0.001}, 11, results)
    assert background.busy
    loop.until(lambda: results)
    ((last, fault),) = results
    assert (last.step, fault) == (30, None)
    assert not background.busy
    # Whatever ran before it, a run is that of its seed.
    background.start("counting-thread", ITEMS, {"steps": 30}, 11, results)
    loop.until(lambda: len(results) == 2)
    assert results[1][0].metrics["draw"] == last.metrics["draw"]
    assert last.tree == fit("counting-thread", ITEMS, steps=30)


def test_a_fault_is_reported_with_the_last_snapshot(loop, background):
    results = Results()
    background.start("refusing-thread", ITEMS, {}, 0, results)
    loop.until(lambda: results)
    ((last, fault),) = results
    assert last.step == 1
    assert isinstance(fault, HcvizError)
    assert str(fault) == "Item 3 is odd. Leave it out."
    background.start("average", ITEMS, {}, 0, results)
    loop.until(lambda: len(results) == 2)
    assert results[1][0] is None
    assert "needs similarity" in results[1][1].message


def test_the_limit_stops_it_and_the_last_one_stays(loop, background):
    results = Results()
    background.start(
        "counting-thread", ITEMS, {"steps": 10**6, "rest": 0.001}, 0, results, limit=2.0
    )
    loop.until(lambda: results)
    ((last, fault),) = results
    assert 0 < last.step < 10**6
    assert str(fault) == "Stopped after 2 seconds."
    assert not background.busy


def test_closed_or_replaced_runs_report_nothing(loop, background):
    results, newer = Results(), Results()
    background.start("spinning-thread", ITEMS, {}, 0, results)
    background.start("counting-thread", ITEMS, {"steps": 3}, 0, newer)
    loop.until(lambda: newer)
    background.start("counting-thread", ITEMS, {"steps": 3}, 0, results)
    background.close()
    assert not background.busy
    background.start("counting-thread", ITEMS, {"steps": 3}, 0, newer)
    loop.until(lambda: len(newer) == 2)
    assert results == []


@pytest.mark.parametrize(("calls_before", "limit"), [(0, None), (1, 0.1)])
def test_a_page_that_has_gone_stops_the_run_and_nothing_is_raised(
    calls_before, limit, background, caplog, monkeypatch
):
    """Whether the run's first message finds out, or the limit after it."""
    calls, raised, before = [], [], set(threading.enumerate())
    monkeypatch.setattr(threading, "excepthook", raised.append)

    def schedule(callback):
        calls.append(callback)
        if len(calls) > calls_before:
            raise RuntimeError("the document is closed")

    gone, results = BackgroundRuns(schedule), Results()
    gone.start("spinning-thread", ITEMS, {}, 0, results, limit=limit)
    wait_for(lambda: len(calls) > calls_before)

    def new_threads():
        return [t.name for t in threading.enumerate() if t not in before]

    wait_for(lambda: not any(name.startswith("hcviz-") for name in new_threads()))
    assert raised == results == []
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]
