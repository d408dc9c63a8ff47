"""How often the parts of the page get a run's trees, and that all get the last."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from hcviz.session import actions as act
from hcviz.session.model import Session
from hcviz.ui.app import subscriptions as watching
from hcviz.ui.state.store import Store
from tests.stores import over_zoo

PACE = 0.5


@pytest.fixture
def store(loop):
    with over_zoo(loop, "crsc") as made:
        yield made


@pytest.fixture
def clock(monkeypatch):
    """A clock that does not move unless it is set."""
    made = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


@pytest.fixture
def running(loop):
    """A store in the middle of a run that sends nothing by itself."""
    made = Store(replace(Session(), status="sampling", run=1), loop.schedule)
    yield made
    made.close()


def shown_by(store):
    """The values that a watched part gets; it shows the session's parameters."""
    seen_values = []
    watching.watch(
        store, lambda s: (s.session.params,), lambda seen: seen_values.append(seen[0]), PACE
    )
    return seen_values


def comes(store, **session):
    """Something new in the session, as a run's tree is: nothing else says so."""
    store.session = replace(store.session, **session)
    store.change_view()


@pytest.mark.parametrize("method", ["average", "crsc"])
def test_the_last_tree_of_a_run_is_always_shown(store, loop, clock, method):
    seen_values = []
    watching.watch(
        store, lambda s: (s.session.method, s.session.snapshot), seen_values.append, PACE
    )
    store.dispatch(act.SetMethod(method if store.session.method != method else "ward"))
    loop.until(lambda: store.session.status == "settled")
    assert seen_values[-1][1] is store.session.snapshot


def test_trees_that_follow_each_other_fast_are_shown_now_and_then(running, clock):
    seen_values = shown_by(running)
    for k in range(1, 5):
        clock.now += 0.2
        comes(running, params={"k": k})
    assert [params.get("k") for params in seen_values] == [None, 3]


def test_what_came_too_soon_is_shown_at_the_next_word_though_no_other_tree_comes(running, clock):
    seen_values = shown_by(running)
    comes(running, params={"k": 1})
    comes(running, progress=0.1)
    assert len(seen_values) == 1
    clock.now += PACE
    comes(running, progress=0.2)
    assert [params.get("k") for params in seen_values] == [None, 1]
    comes(running, progress=0.3)
    assert len(seen_values) == 2  # once


@pytest.mark.parametrize("rests", ["settled", "cancelled", "failed", "paused"])
def test_when_a_run_rests_what_it_last_brought_is_shown_once(running, clock, rests):
    seen_values = shown_by(running)
    comes(running, params={"k": 1})
    assert len(seen_values) == 1
    if rests == "paused":
        running.change_view(paused=True)
    else:
        comes(running, status=rests)
    assert [params.get("k") for params in seen_values] == [None, 1]
    running.change_view(message="something else")
    assert len(seen_values) == 2


def test_a_part_gets_no_update_of_what_it_shows(running, clock):
    seen_values = shown_by(running)
    comes(running, params={"k": 1})
    comes(running, params=seen_values[0])
    clock.now += PACE
    comes(running, status="settled")
    assert len(seen_values) == 1


def test_what_a_person_does_is_shown_at_once(running, clock):
    seen_values = shown_by(running)
    running.change_view(theme="dark")
    comes(running, params={"k": 1}, log=("an entry",))
    assert [params.get("k") for params in seen_values] == [None, 1]
