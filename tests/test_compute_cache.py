"""What is worked out beside a run: each once, the newest wishes first, off the page's thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from hcviz import Problem
from hcviz.core.errors import HcvizError
from hcviz.jobs import BackgroundRun, ComputeCache


@pytest.fixture
def aside(loop):
    told = []
    made = ComputeCache(loop.schedule, lambda: told.append(1))
    made.told = told
    yield made
    made.close()


def test_an_answer_is_worked_out_once_on_another_thread(loop, aside):
    where = []
    wish = {"key": lambda: where.append(threading.current_thread()) or 7}
    assert aside.ask("it", wish) == {}
    assert aside.ask("it", wish) == {}  # while it is worked out
    loop.until(lambda: aside.told)
    assert aside.ask("it", wish) == {"key": 7}
    assert len(where) == len(aside.told) == 1
    assert where[0] is not threading.current_thread()


def test_a_new_wish_takes_the_place_of_the_old_and_few_wishes_come_first(loop, aside):
    gate, done = threading.Event(), []

    def work(name):
        return lambda: done.append(name) or name

    aside.ask("first", {"gate": gate.wait})
    aside.ask("one", {"old": work("old")})
    aside.ask("many", {k: work(k) for k in "abc"})
    aside.ask("one", {"new": work("new")})
    gate.set()
    loop.until(lambda: len(aside.told) == 5)
    assert done == ["new", "a", "b", "c"]


def test_a_fault_is_an_answer(loop, aside, caplog):
    def refused():
        raise HcvizError("It cannot be.", "Try another.")

    def broken():
        raise ZeroDivisionError

    wish = {1: refused, 2: broken}
    aside.ask("it", wish)
    loop.until(lambda: len(aside.told) == 2)
    found = aside.ask("it", wish)
    assert found[1].message == "It cannot be."
    assert isinstance(found[2], HcvizError)
    assert "ZeroDivisionError" in caplog.text


def test_runs_go_through_a_runner_and_are_read(loop, aside):
    problem = Problem(similarity=np.exp(-np.abs(np.subtract.outer(np.arange(6), np.arange(6)))))
    wish = {
        "tree": BackgroundRun("average", lambda: problem, lambda snapshot: snapshot.tree.n_leaves),
        "fault": BackgroundRun("crsc", lambda: problem, lambda snapshot: 0, {"oracle": "nothing"}),
    }
    aside.ask("it", wish)
    loop.until(lambda: len(aside.told) == 2)
    found = aside.ask("it", wish)
    assert found["tree"] == 6
    assert "oracle" in found["fault"].message


def test_a_run_that_cannot_begin_is_a_fault_and_others_still_follow(loop, aside, caplog):
    def refused():
        raise HcvizError("Row 3 is odd.", "Leave it out.")

    def broken():
        raise ZeroDivisionError

    fine = Problem(features=np.arange(6.0)[:, None])
    wish = {
        "refused": BackgroundRun("average", refused, lambda snapshot: 0),
        "broken": BackgroundRun("average", broken, lambda snapshot: 0),
        "fine": BackgroundRun("average", lambda: fine, lambda snapshot: snapshot.tree.n_leaves),
    }
    aside.ask("it", wish)
    loop.until(lambda: len(aside.told) == 3)
    found = aside.ask("it", wish)
    assert aside.idle
    assert (found["refused"].message, found["refused"].hint) == ("Row 3 is odd.", "Leave it out.")
    assert isinstance(found["broken"], HcvizError)
    assert "ZeroDivisionError" in caplog.text
    assert found["fine"] == 6


def test_what_is_forgotten_is_not_answered_any_more(loop, aside):
    gate = threading.Event()
    aside.ask("it", {"old": gate.wait, "next": lambda: 1})
    aside.forget()
    aside.ask("it", {"new": lambda: 2})
    gate.set()
    loop.until(lambda: aside.told)
    assert aside.ask("it", {"old": lambda: 3, "new": lambda: 4}) == {"new": 2}
