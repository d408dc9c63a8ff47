"""The tour: its texts, when each step is done, and the controller on a real session."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hcviz.session import actions as act
from hcviz.session.draft import Draft
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.tour.controller import TourController
from hcviz.ui.features.tour.model import facts, state
from hcviz.ui.features.tour.steps import STEPS, Facts, Tour
from hcviz.ui.state.store import Store
from tests.test_language import sentences, words

TREE, SHARED, CLUSTERS, METHOD, ITEM, DRAFT, SENTENCE, LIST = range(8)


def test_eight_steps_of_two_short_sentences():
    assert len(STEPS) == 8
    for step in STEPS:
        for text in (step.text, step.missing):
            assert len(sentences(text)) <= 2
            assert words(text) < 25
        assert words(step.hint) <= 25
        assert step.targets


@pytest.mark.parametrize(
    ("at", "change", "to"),
    [
        (TREE, {"selection": (1, 2)}, SHARED),
        (TREE, {"selection": (1,)}, TREE),  # a name is no branch
        (SHARED, {"selection": (1, 2)}, SHARED),  # the person reads, and presses Next
        (CLUSTERS, {"clusters": 5}, METHOD),
        (CLUSTERS, {"selection": (1, 2)}, CLUSTERS),
        (METHOD, {"method": "average"}, ITEM),
        (ITEM, {"selection": (3,)}, DRAFT),
        (ITEM, {"selection": ()}, ITEM),
        (ITEM, {"is_drafted": True}, SENTENCE),  # a drag says both at once
        (DRAFT, {"is_drafted": True}, SENTENCE),
        (SENTENCE, {"is_drafted": True}, SENTENCE),
        (SENTENCE, {"n_constraints": 1}, LIST),
        (ITEM, {"is_drafted": True, "n_constraints": 1}, LIST),
        (LIST, {"n_constraints": 2}, LIST),
    ],
)
def test_a_step_is_done_by_what_it_asks_for(at, change, to):
    before = Facts(selection=(0, 1), clusters=None, method="crsc")
    tour = Tour(at, before)
    assert tour.after(before) == tour
    assert tour.after(replace(before, **change)).at == to


def test_back_does_not_go_on_with_what_was_done_before():
    now = Facts(selection=(1, 2), is_drafted=True, n_constraints=1)
    for at in range(8):
        assert Tour(7, Facts()).go_to(at, now).after(now).at == at
    assert Tour().go_to(-1, now).at == 0
    assert Tour().go_to(99, now).at == LIST


@pytest.fixture
def store(loop):
    made = Store(Session(method="crsc"), loop.schedule)
    made.open_data(DataSpec(kind="built-in", name="zoo"))
    loop.until(lambda: made.session.status == "settled")
    yield made
    made.close()


def test_the_tour_follows_a_session_to_the_first_correction(store, loop):
    tour = TourController(store)
    assert state(store) == {"on": False, "offered": True, "steps": 8}
    store.change_view(sheet="cloud", selection=())
    tour.act("start", {"at": 0})
    assert store.view.sheet == "tree"
    assert state(store)["at"] == TREE
    tour.act("next", {})
    assert state(store)["text"] == STEPS[SHARED].missing  # nothing is selected
    tour.act("back", {})
    store.change_view(selection=(1, 2))
    assert state(store)["text"] == STEPS[SHARED].text
    tour.act("next", {})
    store.change_view(clusters=5)
    assert state(store)["at"] == METHOD
    tour.act("next", {})
    store.change_view(selection=(4,))
    assert state(store)["at"] == DRAFT
    store.change_view(draft=Draft("odd", (4, 6)))
    assert state(store)["at"] == DRAFT
    store.change_view(draft=Draft("odd", (4, 6), (9,)))
    assert state(store)["at"] == SENTENCE
    store.change_view(draft=Draft())
    assert state(store)["text"] == STEPS[SENTENCE].missing
    store.dispatch(act.AddConstraint((4, 6), (9,)))
    assert state(store)["text"] == STEPS[LIST].text
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.Undo())
    assert state(store)["text"] == STEPS[LIST].missing
    tour.act("finish", {})
    assert store.view.tour is None
    assert "File" in store.view.message


def test_the_tour_is_left_and_resumed_at_its_step(store):
    tour = TourController(store)
    tour.act("start", {"at": 3})
    tour.act("leave", {})
    assert not state(store)["on"]
    store.change_view(clusters=7)  # no step is open
    assert store.view.tour is None
    tour.act("next", {})
    assert store.view.tour is None
    tour.act("start", {"at": 3})
    assert (state(store)["at"], state(store)["title"]) == (3, "The method")
    assert facts(store) == store.view.tour.before
