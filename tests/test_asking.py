"""The question card without a browser: what is put, what an answer does, what is never asked."""

from __future__ import annotations

import json

import pytest

from hcviz import questions
from hcviz.io.session_file import load_session, save_session
from hcviz.questions import Question, QuestionReason
from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.questions import model as questions_model
from hcviz.ui.features.questions.controller import QuestionController
from tests.stores import over_zoo


@pytest.fixture
def store(loop):
    with over_zoo(loop, "ddt") as made:
        yield made


@pytest.fixture
def card(store):
    return QuestionController(store)


def asked(store):
    return store.view.question


def test_a_piece_of_the_tree_is_shown_with_a_reason(store, card):
    assert card.key("q")
    question = asked(store)
    assert len(question.items) == 8
    shown = questions_model.state(store)["question"]
    json.dumps(shown)
    assert {item["id"] for item in shown["items"]} == set(question.items)
    assert shown["why"].endswith(".")
    tree = store.session.snapshot.tree
    facts = question.all_triplets()
    assert tree.satisfies(facts).all()  # the piece says what the tree says


def test_accepting_adds_nothing_and_the_next_is_another(store, card):
    card.key("q")
    first = asked(store)
    assert card.key("a")
    assert store.session.constraints == ()
    assert asked(store).key() != first.key()


def test_what_is_skipped_is_not_asked_again(store, card):
    card.act("strategy", {"value": "random"})
    card.act("size", {"value": "3"})
    card.key("q")
    seen = set()
    for _ in range(20):
        items = asked(store).items
        assert items not in seen
        seen.add(items)
        card.key(" ")


def test_what_was_skipped_or_accepted_is_known_in_a_session_that_is_opened_again(store, card):
    card.key("q")
    skipped = asked(store)
    card.key(" ")
    accepted = asked(store)
    card.key("a")
    assert [(each.items, each.accepted) for each in store.session.reviewed] == [
        (skipped.items, False),
        (accepted.items, True),
    ]
    content = save_session(store.session)
    before = card.memory
    other = QuestionController(store)
    assert store.restore(load_session(content))
    for memory in (card.memory, other.memory):
        assert memory.skipped == before.skipped
        assert {skipped.key(), accepted.key()} <= memory.asked
        assert {tuple(row) for row in memory.accepted.tolist()} == {
            tuple(row) for row in accepted.all_triplets().tolist()
        }
    store.dispatch(act.Undo())  # nothing was stated: there is nothing of it to take back
    assert len(store.session.reviewed) == 2


def test_a_correction_has_its_verdict_first_and_then_the_next_question(store, card, loop):
    gestures = Gestures(store)
    gestures.on_stated = card.another
    card.key("q")
    first = asked(store)
    rows = {tuple(row) for row in first.all_triplets().tolist()}
    a, b, c = next(iter(sorted(rows)))
    card.key("r")
    for item in (a, c, b):  # a and c before b: the shown piece says otherwise
        card.pick(item)
    draft = constraints_model.state(store)["draft"]
    assert draft["assessment"]["kind"] == "correction"
    assert draft["sampleShares"][0]["kind"] in ("surprising", "so far")
    assert "of the sampled trees" in draft["sampleShares"][0]["sentence"]
    assert asked(store) is first
    gestures.apply()
    assert asked(store) is None
    assert questions_model.state(store)["waiting"]
    loop.until(lambda: asked(store) is not None)
    assert store.session.status == "settled"
    assert store.session.snapshot.tree.satisfies([[a, c, b]])[0]
    assert asked(store).key() != first.key()


def test_while_names_are_asked_for_digits_pick_them_from_the_top(store, card):
    assert not card.key("1")
    card.key("q")
    assert not card.key("1")  # the question is whether, not which
    card.key("r")
    names = [item["id"] for item in questions_model.state(store)["question"]["items"]]
    for key in "821":
        assert card.key(key)
    assert store.view.draft.ready == ((names[7], names[1]), names[0])
    assert not card.key("9")
    card.key("x")
    card.act("strategy", {"value": "simple"})
    card.key("q")
    names = [item["id"] for item in questions_model.state(store)["question"]["items"]]
    assert card.key("2")
    assert store.view.draft.apart == (names[1],)


def test_locking_makes_constraints_of_the_piece(store, card, loop):
    card.key("q")
    first = asked(store)
    card.key("l")
    assert len(store.session.constraints) == len(first.items) - 2
    loop.until(lambda: store.session.status == "settled")
    assert store.session.snapshot.tree.satisfies(first.all_triplets()).all()
    store.dispatch(act.Undo())
    assert store.session.constraints == ()


def test_of_three_items_a_click_names_the_odd_one(store, card):
    card.act("strategy", {"value": "simple"})
    card.key("q")
    a, b, c = asked(store).items
    card.pick(b)
    assert store.view.draft.ready == ((a, c), b)


def test_the_whole_tree_is_asked_about_where_it_is_drawn(store, card):
    card.act("strategy", {"value": "smart"})
    card.key("q")
    assert questions_model.state(store)["question"]["whole"]


def test_distances_within_the_piece_are_asked_for_in_the_form(store, card, monkeypatch):
    calls = []
    choose = questions.ask
    monkeypatch.setattr(
        questions, "ask", lambda *a, **more: calls.append(more["induced"]) or choose(*a, **more)
    )
    assert not questions_model.state(store)[
        "varied"
    ]  # what is most informative looks at no distances
    card.act("strategy", {"value": "interleaved"})
    assert questions_model.state(store)["varied"]
    card.key("q")
    card.act("induced", {"value": "piece"})
    assert questions_model.state(store)["induced"]
    card.act("induced", {"value": "tree"})
    assert calls == [False, True, False]


def test_the_whole_tree_is_asked_about_again_after_a_skip_and_a_correction(store, card, loop):
    card.act("strategy", {"value": "smart"})
    card.key("q")
    card.key(" ")
    assert asked(store) is None
    tree = store.session.snapshot.tree
    a, b, c = questions.shown_triplets(
        Question("", "", tuple(range(tree.n_leaves)), tree, QuestionReason(""))
    )[0]
    store.dispatch(act.AddConstraint((int(a), int(c)), int(b)))
    loop.until(lambda: store.session.status == "settled")
    card.key("q")
    assert asked(store) is not None


def test_other_data_ends_the_conversation(store, card, loop):
    card.key("q")
    assert store.open_data(DataSpec(name="iris"))
    assert asked(store) is None
    loop.until(lambda: store.session.status == "settled")
    assert asked(store) is None
    card.key("q")
    assert max(asked(store).items) < 150


@pytest.mark.parametrize(("name", "value"), [("size", "2"), ("size", "x"), ("candidates", "10000")])
def test_a_number_out_of_range_is_a_sentence(store, card, name, value):
    card.act(name, {"value": value})
    assert "whole number" in store.view.error[0]
    assert store.view.question_size == 8


def test_keys_mean_nothing_without_a_question(store, card):
    assert not card.key("a")
    assert not card.key("r")
    assert not store.view.draft.open
