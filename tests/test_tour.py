"""The tour: its texts, when each step is done, and the controller on a real session."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hcviz.core.tree import Tree
from hcviz.session import actions as act
from hcviz.session.draft import Draft
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.constraints.model import marked_leaves
from hcviz.ui.features.tour.controller import TourController
from hcviz.ui.features.tour.example import misplaced_item
from hcviz.ui.features.tour.model import facts, state
from hcviz.ui.features.tour.steps import STEPS, Facts, Suggestion, Tour
from hcviz.ui.state.store import Store
from tests.test_language import sentences, words

NAMES = ("r", "q", "p", "b1", "b2", "b3", "b4", "b5", "f", "g", "h", "i")
TREE, SHARED, CLUSTERS, METHOD, ITEM, DRAFT, SENTENCE, LIST = range(8)


EXAMPLE = Suggestion("tortoise", "tuatara", "ostrich", "reptile", "bird", 7)
#: Facts with which the cards say different things.
SITUATIONS = [
    Facts(has_tree=False),
    Facts(selection=(1,)),
    Facts(selection=(1, 2)),
    Facts(selection=(1, 2), has_features=False),
    Facts(clusters=7, has_classes=True),
    Facts(samples=True, suggestion=EXAMPLE, is_drafted=True),
    Facts(selection=(7,), suggestion=EXAMPLE, n_constraints=1),
    Facts(n_constraints=1, is_running=True, is_satisfied=False),
    Facts(n_constraints=1, is_running=True),
    Facts(n_constraints=1, is_satisfied=False),
    Facts(can_redo=True),
]


@pytest.mark.parametrize("now", SITUATIONS)
def test_eight_steps_of_few_short_sentences(now):
    assert len(STEPS) == 8
    for at, step in enumerate(STEPS):
        tour = Tour(at, Facts())
        for text, most in ((tour.text(now), 4), (tour.hint(now), 4)):
            assert len(sentences(text)) <= most
            assert all(words(each) <= 25 for each in sentences(text))
            assert words(text) <= 40
        assert tour.text(now)
        assert step.targets


def card_words(at, **facts):
    """What the card of a step says and hints at, with these facts."""
    tour = Tour(at, Facts())
    return f"{tour.text(Facts(**facts))} {tour.hint(Facts(**facts))}"


def test_the_cards_say_what_there_is_to_see():
    assert "first tree is being made" in card_words(TREE, has_tree=False)
    assert "Widen" in card_words(SHARED, selection=(1,))
    assert "Others" in card_words(SHARED, selection=(1, 2))
    assert "Others" not in card_words(SHARED, selection=(1, 2), has_features=False)
    assert "to 7 for example" in card_words(CLUSTERS)
    assert "to 2 for example" in card_words(CLUSTERS, n_items=5)
    assert "There are now 6 clusters" in card_words(CLUSTERS, clusters=6)
    assert "how many of 100" in card_words(METHOD, samples=True)
    assert "100" not in card_words(METHOD)
    assert "class of tortoise is reptile" in card_words(ITEM, suggestion=EXAMPLE)
    assert "tuatara" in card_words(DRAFT, suggestion=EXAMPLE, selection=(7,))
    assert "tuatara" not in card_words(DRAFT, suggestion=EXAMPLE, selection=(8,))
    assert "not complete" in card_words(SENTENCE)
    assert "in the list already" in card_words(SENTENCE, n_constraints=1)
    assert "not corrected anything yet" in card_words(LIST)
    assert "Redo" in card_words(LIST, can_redo=True)
    assert "being applied" in card_words(LIST, n_constraints=1, is_running=True, is_satisfied=False)
    assert "Done" in card_words(LIST, n_constraints=1)
    assert "may still change" in card_words(LIST, n_constraints=1, is_running=True)
    assert "does not follow" in card_words(LIST, n_constraints=1, is_satisfied=False)


def test_the_example_is_in_a_branch_of_another_class():
    # r stands among five birds; the two other reptiles are on the other side
    tree = Tree.from_newick("(((r,b1),((b2,b3),(b4,b5))),((q,p),((f,g),(h,i))));", list(NAMES))
    classes = ["reptile"] * 3 + ["bird"] * 5 + ["fish"] * 4
    found = misplaced_item(tree, classes)
    assert NAMES[found.item] == "r"
    assert NAMES[found.odd].startswith("b")
    assert NAMES[found.friend] in ("q", "p")
    assert (found.kind, found.other) == ("reptile", "bird")
    assert misplaced_item(tree, None) is None
    assert misplaced_item(tree, ["one"] * 12) is None
    assert misplaced_item(tree, list(NAMES)) is None  # no class has two items


@pytest.mark.parametrize(
    ("at", "change", "to"),
    [
        (TREE, {"selection": (1, 2)}, SHARED),
        (TREE, {"selection": (1,)}, TREE),  # a name is no branch
        (SHARED, {"selection": (1, 2)}, SHARED),  # the person reads, and presses Next
        (CLUSTERS, {"clusters": 5}, CLUSTERS),  # the person sees what the slider did
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


def test_without_a_tree_there_is_only_the_first_step():
    assert Tour(0, Facts()).go_to(1, Facts(has_tree=False)).at == TREE


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
    assert "Nothing is selected yet" in state(store)["text"]
    tour.act("back", {})
    store.change_view(selection=(1, 2))
    assert "Read only this part" in state(store)["text"]
    tour.act("next", {})
    store.change_view(n_clusters=5)
    assert state(store)["at"] == CLUSTERS
    assert "There are now 5 clusters" in state(store)["text"]
    tour.act("next", {})
    tour.act("next", {})
    labels = store.session.labels
    example = facts(store).suggestion
    assert example.item in state(store)["text"]
    store.change_view(selection=(labels.index(example.item),))
    assert state(store)["at"] == DRAFT
    assert example.friend in state(store)["text"]
    assert store.view.draft == Draft("together", store.view.selection)  # Together is on
    tour.act("back", {})
    assert not store.view.draft.open
    tour.act("next", {})
    assert store.view.draft.open
    item, friend, odd = map(labels.index, (example.item, example.friend, example.odd))
    store.change_view(draft=Draft("odd", (item, friend)))
    assert state(store)["at"] == DRAFT
    store.change_view(draft=Draft("odd", (item, friend), (odd,)))
    assert state(store)["at"] == SENTENCE
    store.change_view(draft=Draft())
    assert "not complete" in state(store)["text"]
    store.dispatch(act.AddConstraint((item, friend), (odd,)))
    assert state(store)["at"] == LIST
    loop.until(lambda: store.session.status == "settled")
    assert state(store)["text"].startswith("Done:")
    assert marked_leaves(store) == ((item, friend), (odd,))
    store.dispatch(act.Undo())
    assert "Redo" in state(store)["text"]
    assert marked_leaves(store) == ((), ())
    store.dispatch(act.Redo())
    tour.act("finish", {})
    assert store.view.tour is None
    assert marked_leaves(store) == ((), ())
    assert "File" in store.view.message


def test_the_tour_is_offered_when_there_is_a_tree(loop):
    made = Store(Session(method="crsc"), loop.schedule)
    assert not state(made)["offered"]
    tour = TourController(made)
    tour.act("start", {"at": 3})
    shown = state(made)
    assert (shown["at"], shown["ready"]) == (TREE, False)
    made.open_data(DataSpec(kind="built-in", name="zoo"))
    loop.until(lambda: made.session.status == "settled")
    assert state(made)["ready"]
    assert "Click a line" in state(made)["text"]
    made.close()


def test_the_tour_is_left_and_resumed_at_its_step(store):
    tour = TourController(store)
    tour.act("start", {"at": 3})
    tour.act("leave", {})
    assert not state(store)["on"]
    store.change_view(n_clusters=7)  # no step is open
    assert store.view.tour is None
    tour.act("next", {})
    assert store.view.tour is None
    tour.act("start", {"at": 3})
    assert (state(store)["at"], state(store)["title"]) == (3, "The method")
    assert facts(store) == store.view.tour.before
