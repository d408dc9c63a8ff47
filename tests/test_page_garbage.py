"""When the server collects garbage: seldom, and while it rests."""

from __future__ import annotations

import gc
import weakref

import pytest

from hcviz.ui.app import page_garbage
from hcviz.ui.app.page_garbage import CLOSED, OPENED, PACE, SELDOM, PageGarbage


class Loop:
    """Calls back when the test says so."""

    def __init__(self):
        self.calls = []

    def call_later(self, seconds, call, *values):
        assert seconds == PACE
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


EXCLUDED, ALL = ["collect", "freeze"], ["unfreeze", "collect", "freeze"]


def test_a_page_is_excluded_when_the_server_rests(server):
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
    assert found.index(EXCLUDED) == OPENED - 1
    assert sum(map(bool, found)) == 1


def test_a_closed_page_is_freed_at_rest_or_after_a_minute(server):
    garbage, loop, second = server
    for _ in range(3):
        garbage.open(loop)
    assert second(busy=0) == EXCLUDED
    garbage.close()
    assert second(busy=0.9) == []
    assert second(busy=0) == ALL
    garbage.close()
    found = [second(busy=0.9) for _ in range(70)]
    assert found.index(ALL) == CLOSED - 1
    assert sum(map(bool, found)) == 1


def test_without_pages_nothing_is_called_after_the_last_is_freed(server):
    garbage, loop, second = server
    garbage.open(loop)
    garbage.close()
    assert second(busy=0) == ALL
    assert not loop.calls
    garbage.open(loop)
    assert second(busy=0) == EXCLUDED


def test_all_objects_are_looked_at_now_and_then(server):
    garbage, loop, second = server
    garbage.open(loop)
    found = [second(busy=0.01) for _ in range(int(3 * SELDOM))]
    assert found.count(ALL) == 3


def test_a_cycle_that_was_excluded_is_freed_when_a_page_closes():
    class Page:
        pass

    page = Page()
    page.itself = page
    alive, loop = weakref.ref(page), Loop()
    garbage = PageGarbage(work=lambda: 0.0)
    garbage.open(loop)
    loop.tick()
    del page
    gc.collect()
    assert alive() is not None  # it is excluded
    garbage.close()
    loop.tick()
    assert alive() is None
