"""Lessons: the truth hidden, a guess, its judgement, and session files that go step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.algorithms import get
from hcviz.core.tree import Tree
from hcviz.datasets import load
from hcviz.io.session_file import load_session, save_session
from hcviz.metrics import triplet_distance
from hcviz.metrics.placement import RemovedItem
from hcviz.session.model import DataSpec, equal_values
from hcviz.session.replay import replay, replay_steps
from hcviz.ui.app.main_pane import LESSON, Middle
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.history.steps import state as strip
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.lessons.controller import LESSON_AUTHOR, LessonController
from hcviz.ui.features.lessons.lesson import (
    PlacementQuestion,
    judge_guess,
    open_prepared_lesson,
    prepared_lessons,
)
from hcviz.ui.features.lessons.model import no_lesson_because, state, tree_to_show
from tests.stores import over_zoo
from tests.trees import random_tree
from tools.make_lessons import LESSONS, make, run_method


@pytest.fixture
def store(loop):
    with over_zoo(loop, "crsc") as made:
        yield made


@pytest.fixture
def room(store):
    made = LessonController(store)
    made.start_or_stop()
    return made


def asked(store):
    return store.view.lesson.asked


def own(store):
    """The largest clade of the tree shown that is among the item's own."""
    gap = asked(store).gap
    mates = set(gap.target_siblings(asked(store).target).tolist())
    fits = [v for v in range(gap.rest.n_nodes) if set(gap.clade(v).tolist()) <= mates]
    return tuple(gap.clade(max(fits, key=lambda v: int(gap.rest.size[v]))).tolist())


# ---------------------------------------------------------------------- judging


@given(st.integers(0, 10**6), st.integers(3, 9), st.booleans())
def test_the_best_place_is_the_nearest_among_the_items_own(seed, n, open_):
    rng = np.random.default_rng(seed)
    tree, target = random_tree(rng, n), random_tree(rng, n, polytomies=open_)
    gap = RemovedItem(tree, int(rng.integers(n)))
    mates = set(gap.target_siblings(target).tolist())
    good = [v for v in range(gap.rest.n_nodes) if set(gap.clade(v).tolist()) <= mates]
    for guess in range(gap.rest.n_nodes):
        found = judge_guess(PlacementQuestion(gap, target), tuple(gap.clade(guess).tolist()))
        assert found.guess == guess
        assert found.right == (guess in good)
        assert found.best in good
        assert found.off == min(len(gap.path(v, guess)) for v in good) - 1
        assert (found.true, found.n_stated) == gap.count_true_triplets(target, guess)
        assert found.tree == gap.insert_at(found.best)
        assert 0.0 <= found.share <= 1.0


# ---------------------------------------------------------------------- the lesson


def test_the_truth_is_hidden_as_long_as_the_lesson_lasts(store, room):
    item = asked(store).gap.item
    tree = tree_to_show(store)
    assert tree.restrict(asked(store).gap.others) == store.session.tree.restrict(
        asked(store).gap.others
    )
    assert tree.parent[item] == tree.root  # taken out
    assert constraints_model.marked_leaves(store) == ((item,), ())
    store.change_view(selection=(item,))
    facts = dict(inspector_model.state(store)["selection"]["facts"])
    assert "Class" not in facts
    store.change_view(selection=tuple(range(5)))
    assert "Mostly" not in dict(inspector_model.state(store)["selection"]["facts"])
    room.act("stop", {})
    store.change_view(selection=(item,))
    assert "Class" in dict(inspector_model.state(store)["selection"]["facts"])
    assert tree_to_show(store) is store.session.tree
    assert state(store) == {"on": False}


def test_a_right_guess_is_revealed_counted_and_becomes_a_constraint(store, room, loop):
    item, target = asked(store).gap.item, load("zoo").target
    name = store.session.labels[item]
    assert state(store)["item"] == name
    assert state(store)["guess"] == ""
    room.key("Enter")  # nothing chosen: nothing revealed
    assert store.view.lesson.outcome is None
    assert "click where" in store.view.message
    store.change_view(selection=own(store))
    assert state(store)["guess"].startswith("beside ")
    assert room.key("Enter")
    shown = state(store)
    assert shown["outcome"]["right"]
    assert shown["score"].startswith("1 of 1 right")
    assert f"In the correct tree {name} is with" in shown["outcome"]["sentence"]
    assert tree_to_show(store).parent[item] == store.view.lesson.outcome.way[0]
    room.key("Enter")
    (constraint,) = store.session.constraints
    assert constraint.author == LESSON_AUTHOR
    assert item in (*constraint.group, constraint.apart)
    assert target.satisfies(constraint.triplets).all()
    loop.until(lambda: store.session.status == "settled" and asked(store) is not None)
    assert asked(store).gap.item != item
    assert asked(store).gap.tree is store.session.tree
    assert store.session.tree.satisfies(constraint.triplets).all()


def test_a_wrong_guess_shows_its_distance(store, room):
    gap, target = asked(store).gap, asked(store).target
    mates = set(gap.target_siblings(target).tolist())
    far = next(item for item in gap.others.tolist() if item not in mates)
    store.change_view(selection=(far,))
    room.act("reveal", {})
    outcome = store.view.lesson.outcome
    shown = state(store)["outcome"]
    assert not shown["right"]
    assert outcome.off >= 1
    assert ("one branch" if outcome.off == 1 else f"{outcome.off} branches") in shown["sentence"]
    assert f"{100 * outcome.share:.0f} %" in shown["share"]
    assert state(store)["score"].startswith("0 of 1 right")
    again = store.view.lesson
    room.act("reveal", {})
    assert store.view.lesson is again  # counted once


def test_wider_goes_up_clade_by_clade_to_all_the_others(store, room):
    gap = asked(store).gap
    room.act("wider", {})
    assert store.view.selection == ()
    store.change_view(selection=(int(gap.others[0]),))
    before = 1
    while before < len(gap.others):
        room.act("wider", {})
        now = len(store.view.selection)
        assert now > before
        assert gap.item not in store.view.selection
        before = now
    assert state(store)["guess"] == "apart from all the others"
    room.act("reveal", {})
    assert store.view.lesson.outcome.n_stated == 0
    assert "no statement" in state(store)["outcome"]["share"]


def test_skipping_asks_about_each_item_once_and_then_no_more(store, room, monkeypatch):
    seen = []
    while asked(store) is not None:
        seen.append(asked(store).gap.item)
        room.act("skip", {})
    assert sorted(seen) == list(range(101))
    assert state(store)["item"] is None
    assert not state(store)["working"]


def test_undo_during_a_question_asks_again(store, room, loop):
    store.change_view(selection=own(store))
    room.key("Enter")
    room.key("Enter")
    loop.until(lambda: store.session.status == "settled" and asked(store) is not None)
    from hcviz.session import actions as act

    store.dispatch(act.Undo())
    assert asked(store).gap.tree is store.session.tree
    store.dispatch(act.Rerun())
    assert asked(store) is None or asked(store).gap.tree is store.session.tree
    loop.until(lambda: store.session.status == "settled" and asked(store) is not None)


def test_data_without_a_truth_has_no_lesson_and_ends_one(store, room, loop):
    table = "name,x,y\n" + "".join(f"item {k},{k},{k * k % 5}\n" for k in range(8))
    spec = DataSpec(kind="table", name="t.csv", filename="t.csv", content=table.encode())
    assert store.open_data(spec)
    loop.until(lambda: store.session.status == "settled")
    assert store.view.lesson is None
    assert "No correct tree" in no_lesson_because(store)
    room.start_or_stop()
    assert store.view.lesson is None
    assert "No correct tree" in store.view.error[0]
    room.open_prepared("../../secret")
    assert "no lesson" in store.view.error[0]


def test_no_sheet_shows_where_the_item_is(store, room):
    store.baseline = Tree.star(store.session.tree.n_leaves)  # something to compare with
    store.change_view(sheet="before")
    assert store.view.lesson is not None
    assert Middle.now(store) == "tree"
    assert {tab["lacks"] for tab in Middle.tabs_state(store)["tabs"]} == {"", LESSON}
    room.start_or_stop()  # the end of it
    assert store.view.lesson is None
    assert Middle.now(store) == "before"


# ---------------------------------------------------------------------- lessons that are files


@pytest.mark.parametrize("name", LESSONS)
def test_the_lessons_that_come_with_it_go_step_by_step_and_back(name, store, room, loop):
    room.open_prepared(name)
    seed, count = LESSONS[name]
    target = load(name).target
    assert store.session.seed == seed
    assert store.session.status == "settled"
    lesson = store.view.lesson
    assert lesson.replay
    assert state(store)["replay"]["of"] == count
    (only,) = strip(store)["steps"]  # later steps are not shown
    assert only["now"]
    distances, trees = [triplet_distance(target, store.session.tree)], [store.session.tree]
    for step in range(count):
        (fresh,) = [
            c for c in store.session.future[-1].constraints if c not in store.session.constraints
        ]
        assert asked(store).gap.item in (*fresh.group, fresh.apart)
        assert target.satisfies(fresh.triplets).all()
        if step % 2:
            room.act("forward", {})
        else:
            store.change_view(selection=own(store))
            room.key("Enter")
            room.key("Enter")
        assert state(store)["replay"]["at"] == step + 1
        assert store.session.constraints[-1] == fresh
        assert store.session.status == "settled"  # nothing had to run
        distances.append(triplet_distance(target, store.session.tree))
        trees.append(store.session.tree)
    assert state(store)["item"] is None
    assert not store.session.future
    assert min(distances[-3:]) < distances[0]
    for tree in reversed(trees[:-1]):
        room.act("back", {})
        assert store.session.tree == tree
    assert state(store)["replay"]["at"] == 0


def test_another_session_brings_none_of_the_samples_of_this_one(loop):
    """Runs are numbered in each session: the number alone does not say whose samples they are."""
    with over_zoo(loop, "ddt") as store:
        assert store.samples is not None
        assert store.restore(open_prepared_lesson("glass"))
        assert store.samples is None


def test_every_lesson_has_data_and_a_title():
    assert [name for name, _ in prepared_lessons()] == sorted(LESSONS)
    assert all(title for _, title in prepared_lessons())
    assert open_prepared_lesson("zoo").log


def test_a_lesson_is_made_by_its_seed_alone_and_its_log_plays_it_again():
    made = make("zoo", seed=5, steps=2, tried=2)
    assert save_session(make("zoo", seed=5, steps=2, tried=2)) == save_session(made)
    lesson = load_session(save_session(made))
    assert len(lesson.future) == 2
    assert not lesson.past
    played = list(replay_steps(lesson, run_method, get))
    assert len(played) == len(lesson.log) + 1
    assert equal_values(replay(lesson, run_method, get), lesson)
    counts = [len(each.enabled) for each in played]
    assert max(counts) == 2
    assert counts[-1] == 0
