"""The line of jobs: its order, turns, cancelling while waiting, and what a page shows of it.

Time passes only where a test moves the clock. A job is a thread that waits in ``enter``. No result
depends on which thread is faster.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hcviz import Problem
from hcviz.algorithms import MODULES
from hcviz.core.cores import has_cores_alone, share_cores
from hcviz.jobs import Runner
from hcviz.jobs.fair_share import (
    FIRST_TURN,
    OLDEST_EACH,
    REPORT_SECONDS,
    SHORT_TURN,
    TURN,
    Line,
    Ticket,
)
from hcviz.jobs.pool import Pool
from hcviz.jobs.shared_pool import SharedWorkers
from hcviz.session.actions import Arrived, Finished, Stopped
from hcviz.session.model import Session
from hcviz.ui.features.top_bar.model import live
from hcviz.ui.state.store import Store
from tests import jobmethods
from tests.clock import Clock

LONG = 120.0


@pytest.fixture
def line(clock: Clock) -> Iterator[Line]:
    yield Line(2, clock)
    share_cores(0)


@pytest.fixture(autouse=True)
def job_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in jobmethods.ALGORITHMS:
        monkeypatch.setitem(MODULES, method.name, jobmethods.__name__)


def wait_for(condition: Callable[[], Any]) -> None:
    until = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.002)


def queue(line: Line, ticket: Ticket) -> threading.Thread:
    """A thread that enters; returns when the ticket has a place or waits for one."""
    thread = threading.Thread(target=ticket.enter, daemon=True)
    thread.start()
    wait_for(lambda: ticket.running or ticket in line.positions())
    return thread


def continued(line: Line) -> Ticket:
    """A running job that has had its first turn."""
    ticket = line.ticket()
    assert ticket.enter()
    ticket.leave()
    assert ticket.enter()
    return ticket


def test_no_more_jobs_run_than_there_are_places(line):
    tickets = [line.ticket() for _ in range(5)]
    for each in tickets:
        queue(line, each)
    assert [each.running for each in tickets] == [True, True, False, False, False]
    assert (line.running, line.waiting) == (2, 3)
    tickets[0].leave()
    wait_for(lambda: tickets[2].running)
    assert (line.running, line.waiting) == (2, 2)


def test_new_runs_come_before_continued_ones_and_both_before_the_background(line):
    first = continued(line)
    held = line.ticket()
    assert held.enter()
    background, new = line.ticket(background=True), line.ticket()
    queue(line, background)
    first.leave()
    wait_for(lambda: background.running)  # alone, it may run
    queue(line, first)
    queue(line, new)
    other = line.ticket(background=True)
    queue(line, other)
    assert line.positions() == {new: 0, first: 1, other: 2}


def test_a_turn_ends_only_while_others_wait(line, clock):
    one, two = continued(line), continued(line)
    clock.now = 100 * TURN
    assert not one.due
    other = continued_waiting(line, one, clock)
    assert two.due
    two.leave()
    wait_for(lambda: other.running)
    assert not other.due  # its turn has just begun, and no job waits


def continued_waiting(line: Line, runs: Ticket, clock: Clock) -> Ticket:
    """``runs`` gives up its place and waits, while a new job has taken that place for good."""
    taker = line.ticket()
    queue(line, taker)
    runs.leave()
    wait_for(lambda: taker.running)
    queue(line, runs)
    assert runs in line.positions()
    return runs


def test_the_first_turn_is_short_and_a_new_job_shortens_other_turns(line, clock):
    old, new = continued(line), line.ticket()
    assert new.enter()
    waits = line.ticket(background=True)
    queue(line, waits)
    clock.now = FIRST_TURN - 0.01
    assert not new.due
    assert not old.due
    clock.now = FIRST_TURN
    assert new.due
    assert not old.due
    queue(line, line.ticket())
    clock.now = FIRST_TURN + 0.01
    assert SHORT_TURN < clock.now < TURN
    assert old.due


def test_each_waiting_job_runs_although_new_ones_come_all_the_time(line):
    """Two places; continued and background jobs wait, and a new job comes for each free place."""
    runs = [line.ticket() for _ in range(2)]
    for each in runs:
        assert each.enter()
    background, patient = line.ticket(background=True), continued_ticket(line, runs)
    queue(line, background)
    queue(line, patient)
    granted = set()
    for _ in range(2 * OLDEST_EACH):
        runs.append(line.ticket())
        queue(line, runs[-1])
        next(each for each in (*runs, background, patient) if each.running).close()
        granted |= {each for each in (background, patient) if each not in line.positions()}
    assert granted == {background, patient}


def continued_ticket(line: Line, runs: list[Ticket]) -> Ticket:
    """A job that has had its first turn and is out of the line; ``runs`` run again."""
    runs[0].leave()
    ticket = line.ticket()
    assert ticket.enter()
    ticket.leave()
    assert runs[0].enter()
    return ticket


def test_a_ticket_closed_while_it_waits_leaves_the_line_and_its_thread_ends(line):
    runs = [line.ticket() for _ in range(2)]
    for each in runs:
        assert each.enter()
    closed, after = line.ticket(), line.ticket()
    thread = queue(line, closed)
    queue(line, after)
    assert line.positions() == {closed: 0, after: 1}
    closed.close()
    thread.join(LONG)
    assert not thread.is_alive()
    assert line.positions() == {after: 0}
    runs[0].leave()
    wait_for(lambda: after.running)
    assert not closed.enter()


def test_an_answer_while_a_run_waits_does_not_begin_at_the_end_of_the_line(line):
    runs = [line.ticket() for _ in range(2)]
    for each in runs:
        assert each.enter()
    one, two = continued_ticket(line, runs), continued_ticket(line, runs)
    queue(line, one)
    queue(line, two)
    one.close()  # the person answers
    replaced = line.ticket(before=one)
    queue(line, replaced)
    runs[0].leave()
    wait_for(lambda: replaced.running)
    replaced.leave()  # after its first turn
    runs[0].close()
    wait_for(lambda: two.running)
    third = continued_waiting_again(line, replaced)
    assert third.since < two.since
    finished = line.ticket(before=runs[0])  # which was not waiting
    assert finished.since > two.since


def continued_waiting_again(line: Line, ticket: Ticket) -> Ticket:
    queue(line, ticket)
    return ticket


def test_positions_are_reported_while_a_job_waits_and_when_it_runs(line, clock):
    positions: list[int | None] = []
    runs = [line.ticket() for _ in range(2)]
    for each in runs:
        assert each.enter()
    queue(line, line.ticket())
    waits = line.ticket(on_position=positions.append)
    queue(line, waits)
    line.report()
    assert positions == []  # a short wait is not shown
    clock.now = REPORT_SECONDS
    line.report()
    line.report()
    assert positions == [1]
    runs[0].leave()
    line.report()
    assert positions == [1, 0]
    runs[1].leave()
    wait_for(lambda: positions[-1] is None)
    assert positions == [1, 0, None]


def test_a_run_uses_threads_only_if_it_is_alone(line):
    one, two = line.ticket(), line.ticket()
    assert one.enter()
    assert has_cores_alone()
    assert two.enter()
    assert not has_cores_alone()
    two.leave()
    assert has_cores_alone()


# ---------------------------------------------------------------------- with the runner


class Sessions:
    """Runners of several sessions on a line with one place."""

    def __init__(self, pool: Pool, shared: SharedWorkers) -> None:
        self.line, self.pool, self.shared = Line(1), pool, shared
        self.runners: list[Runner] = []

    def add(self, **options: Any) -> tuple[Runner, list[Any]]:
        inbox: list[Any] = []

        def post(message: Any) -> None:
            inbox.append(message)
            if isinstance(message, Arrived):
                runner.acknowledge(message.run)

        runner = Runner(post, self.pool, line=self.line, shared=self.shared, **options)
        self.runners.append(runner)
        return runner, inbox


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(spares=0, warm=False, limit=4)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedWorkers]:
    made = SharedWorkers(1, warm=False)
    made.start(wait=True)
    yield made
    made.close()


@pytest.fixture
def sessions(pool: Pool, shared: SharedWorkers) -> Iterator[Sessions]:
    made = Sessions(pool, shared)
    yield made
    for runner in made.runners:
        runner.close()
    share_cores(0)


PROBLEM = Problem(labels=list("abcdef"))
ENDLESS = {"steps": 10**8, "rest": 0.001}


@pytest.mark.parametrize("where", ["thread", "process", "shared"])
def test_three_endless_runs_share_one_place(sessions, where):
    """Each of them brings trees again and again: none has the place for itself."""
    inboxes = []
    for run in range(3):
        runner, inbox = sessions.add()
        runner.start(run, f"counting-{where}", PROBLEM, ENDLESS, 0)
        inboxes.append(inbox)
    for _ in range(3):
        before = [len(inbox) for inbox in inboxes]
        wait_for(
            lambda before=before: all(
                len(inbox) > known for inbox, known in zip(inboxes, before, strict=True)
            )
        )
        assert sessions.line.running <= 1


@pytest.mark.parametrize("where", ["thread", "shared"])
def test_a_run_that_gave_up_its_place_ends_as_it_would_alone(sessions, where):
    """Same draws, all steps once, although it stood in line several times."""
    alone, first = sessions.add()
    alone.start(5, f"counting-{where}", PROBLEM, {"steps": 1500, "rest": 0.001}, 3)
    wait_for(lambda: first and first[-1] == Finished(5))
    rival, _ = sessions.add()
    rival.start(1, f"counting-{where}", PROBLEM, ENDLESS, 0)
    shared, second = sessions.add()
    shared.start(5, f"counting-{where}", PROBLEM, {"steps": 1500, "rest": 0.001}, 3)
    wait_for(lambda: second and second[-1] == Finished(5))
    last = [inbox[-2].snapshot for inbox in (first, second)]
    assert [each.step for each in last] == [1500, 1500]
    assert last[0].metrics["draw"] == last[1].metrics["draw"]


@pytest.mark.parametrize("how", ["cancel", "close"])
def test_a_run_can_be_cancelled_or_closed_while_it_waits(sessions, tmp_path, how):
    go = tmp_path / "go"
    stuck, inbox = sessions.add()
    stuck.start(1, "counting-thread", PROBLEM, {"halt": 1, "go": str(go)}, 0)
    wait_for(lambda: inbox)
    waits, silent = sessions.add()
    waits.start(2, "counting-thread", PROBLEM, ENDLESS, 0)
    wait_for(lambda: sessions.line.waiting == 1)
    assert waits.busy
    getattr(waits, how)()
    wait_for(lambda: sessions.line.waiting == 0)
    if how == "cancel":
        wait_for(lambda: silent)
    assert silent == ([Stopped(2)] if how == "cancel" else [])
    last, delivered = sessions.add()
    last.start(3, "counting-thread", PROBLEM, {"steps": 2}, 0)
    wait_for(lambda: sessions.line.waiting == 1)
    go.touch()
    wait_for(lambda: delivered and delivered[-1] == Finished(3))


@pytest.mark.parametrize("where", ["thread", "shared"])
def test_a_paused_run_gives_its_place_to_another(sessions, where):
    paused, first = sessions.add()
    paused.start(1, f"counting-{where}", PROBLEM, ENDLESS, 0)
    wait_for(lambda: first)
    paused.pause()
    wait_for(lambda: sessions.line.running == 0)
    other, second = sessions.add()
    other.start(2, f"counting-{where}", PROBLEM, {"steps": 3}, 0)
    wait_for(lambda: second and second[-1] == Finished(2))
    known = len(first)
    paused.resume()
    wait_for(lambda: len(first) > known + 1)


# ---------------------------------------------------------------------- the page


def test_the_page_shows_how_many_runs_come_first():
    store = Store(Session(), lambda call: call())
    try:
        store.session = type(store.session)(status="sampling")
        assert live(store)["text"] == "Running"
        for ahead, text in (
            (2, "Waiting: 2 before you"),
            (1, "Waiting: 1 before you"),
            (0, "Waiting: you are next"),
        ):
            store.runs.on_lined_up(ahead)
            assert live(store)["text"] == text
        store.change_view(paused=True)
        assert live(store)["text"] == "Paused"
        store.change_view(paused=False)
        store.runs.on_lined_up(None)
        assert live(store)["text"] == "Running"
    finally:
        store.close()
