"""When the server collects garbage: seldom, and while it is idle."""

from __future__ import annotations

import gc
import weakref

import pytest

from hcviz.ui.app import page_garbage
from hcviz.ui.app.page_garbage import (
    FULL_INTERVAL,
    INTERVAL,
    MAX_WAIT_CLOSED,
    MAX_WAIT_OPENED,
    MIN_WAIT_CLOSED,
    PageGarbage,
)


class Loop:
    """Calls back when the test says so."""

    def __init__(self):
        self.calls = []

    def call_later(self, seconds, call, *values):
        assert seconds == INTERVAL
        self.calls.append(lambda: call(*values))

    def tick(self):
        calls, self.calls = self.calls, []
        for call in calls:
            call()


@pytest.fixture
def server(monkeypatch):
    """A collector with clocks that the test sets, and what it does."""
    done = []
    for name in ("collect", "freeze", "unfreeze"):
        monkeypatch.setattr(page_garbage.gc, name, lambda name=name: done.append(name))
    clocks = {"time": 100.0, "work": 10.0}
    garbage = PageGarbage(lambda: clocks["time"], lambda: clocks["work"])
    loop = Loop()

    def second(busy):
        clocks["time"] += 1
        clocks["work"] += busy
        loop.tick()
        found = done.copy()
        done.clear()
        return found

    return garbage, loop, second


EXCLUDED, ALL, LAST = (
    ["collect", "freeze"],
    ["unfreeze", "collect", "freeze"],
    ["unfreeze", "collect"],
)


def test_a_page_is_excluded_when_the_server_is_idle(server):
    garbage, loop, second = server
    garbage.open(loop)
    assert second(busy=0.8) == []
    assert second(busy=0.01) == EXCLUDED
    assert second(busy=0.01) == []


def test_a_busy_server_excludes_a_page_after_some_seconds(server):
    garbage, loop, second = server
    garbage.open(loop)
    garbage.open(loop)
    assert len(loop.calls) == 1
    found = [second(busy=0.9) for _ in range(20)]
    assert found.index(EXCLUDED) == MAX_WAIT_OPENED - 1
    assert sum(map(bool, found)) == 1


def test_a_closed_page_is_freed_in_an_idle_second_or_after_a_minute(server):
    garbage, loop, second = server
    for _ in range(4):
        garbage.open(loop)
    assert second(busy=0) == EXCLUDED
    garbage.close()
    found = [second(busy=0) for _ in range(10)]
    assert found.index(ALL) == MIN_WAIT_CLOSED - 1  # what ends with the page has ended
    garbage.close()
    found = [second(busy=0.9) for _ in range(10)]
    assert not any(found)
    assert second(busy=0) == ALL
    garbage.close()
    found = [second(busy=0.9) for _ in range(70)]
    assert found.index(ALL) == MAX_WAIT_CLOSED - 1
    assert sum(map(bool, found)) == 1


def test_pages_that_close_one_after_the_other_do_not_wait_for_ever(server):
    garbage, loop, second = server
    for _ in range(100):
        garbage.open(loop)
    assert second(busy=0) == EXCLUDED
    found = []
    for _ in range(70):
        garbage.close()
        found.append(second(busy=0))
    assert found.index(ALL) == MAX_WAIT_CLOSED - 1


def test_without_pages_nothing_stays_excluded_and_nothing_is_called(server):
    garbage, loop, second = server
    garbage.open(loop)
    garbage.close()
    found = [second(busy=0) for _ in range(10)]
    assert LAST in found
    assert found[-1] == []
    assert not loop.calls
    garbage.open(loop)
    assert second(busy=0) == EXCLUDED


def test_another_server_of_the_process_has_its_own_loop(server):
    garbage, loop, _ = server
    garbage.open(loop)
    garbage.close()  # and its loop ends
    other = Loop()
    garbage.open(other)
    assert len(other.calls) == 1
    loop.tick()
    assert not loop.calls


def test_a_full_collection_is_made_now_and_then(server):
    garbage, loop, second = server
    garbage.open(loop)
    found = [second(busy=0.01) for _ in range(int(3 * FULL_INTERVAL))]
    assert found.count(ALL) == 3
    found = [second(busy=0.9) for _ in range(int(FULL_INTERVAL + MAX_WAIT_CLOSED))]
    assert found.count(ALL) == 1


def test_a_cycle_that_was_excluded_is_freed_when_a_page_closes():
    class Page:
        pass

    page, seconds = Page(), [0.0]
    page.itself = page
    alive, loop = weakref.ref(page), Loop()
    garbage = PageGarbage(lambda: seconds[0], lambda: 0.0)
    garbage.open(loop)
    loop.tick()
    del page
    gc.collect()
    assert alive() is not None  # it is excluded
    garbage.close()
    seconds[0] += MIN_WAIT_CLOSED
    loop.tick()
    assert alive() is None
