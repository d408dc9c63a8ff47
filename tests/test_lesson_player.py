"""Lesson scripts on the page: the prepared lessons forward and back, and a script of one's own."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hcviz.algorithms import algorithms
from hcviz.core.errors import HcvizError
from hcviz.io.lesson_script import check_items, check_settings, read_lesson
from hcviz.metrics import dasgupta_cost, triplet_distance
from hcviz.session import actions as act
from hcviz.session.model import Session
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.app.sheets import SHEETS, TREE
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.features.history import steps as history_steps
from hcviz.ui.features.lesson_player.controller import PlayerController
from hcviz.ui.features.lesson_player.model import open_panels, state
from hcviz.ui.features.lesson_player.prepared import prepared_scripts, prepared_text
from hcviz.ui.features.merges import model as merges_model
from hcviz.ui.state.data_sources import resolve
from hcviz.ui.state.store import Store

NAMES = [name for name, _ in prepared_scripts()]


@pytest.fixture
def store(loop):
    made = Store(Session(), loop.schedule)
    yield made
    made.close()


@pytest.fixture
def player(store):
    return PlayerController(store)


def settle(loop, store):
    loop.until(lambda: store.session.status == "settled")
    assert store.view.error is None, store.view.error


def open_lesson(name, player, loop):
    player.open_prepared(next(each for each in NAMES if name in each))
    settle(loop, player.store)


def go(player, loop, times=1):
    for _ in range(times):
        player.act("next", {})
        settle(loop, player.store)


def test_there_are_seven_lessons_with_titles():
    assert len(NAMES) == 7
    assert all(title for _, title in prepared_scripts())


@pytest.mark.parametrize("name", NAMES)
def test_a_prepared_lesson_plays_to_its_last_step_and_back(name, player, store, loop):
    lesson = read_lesson(prepared_text(name))
    check_items(lesson, resolve(lesson.data).labels)
    check_settings(lesson, algorithms(), [TREE, *SHEETS])
    player.open_prepared(name)
    settle(loop, store)
    frames = store.view.playing.frames
    trees, seen = [store.session.tree], [state(store)]
    while not state(store)["last"]:
        go(player, loop)
        shown = state(store)
        assert shown != seen[-1]
        assert shown["sentence"]
        assert Middle.now(store) == store.view.playing.sheet
        assert set(store.view.selection) <= set(range(store.session.n_items))
        trees.append(store.session.tree)
        seen.append(shown)
    assert len(seen) == len(frames)
    assert {each["step"] for each in seen} == set(range(1, len(lesson.steps) + 1))
    for each in store.session.enabled:
        assert each.holds_in(store.session.tree)
    player.act("next", {})  # there is no further step
    assert store.view.playing.frame == len(frames) - 1
    for tree, before in zip(reversed(trees[:-1]), reversed(seen[:-1]), strict=True):
        player.act("back", {})
        settle(loop, store)
        assert store.session.tree == tree
        assert state(store) == before
    assert not store.session.constraints
    assert not store.session.choices


def test_a_step_asks_before_it_does_anything_and_says_what_was_right(player, store, loop):
    open_lesson("one-constraint", player, loop)
    go(player, loop, 3)
    assert state(store)["phase"] == "predict"
    assert not store.session.constraints
    assert {each["right"] for each in state(store)["choices"]} == {None}
    player.act("vote", {"choice": 1})
    assert [each["voted"] for each in state(store)["choices"]] == [False, True, False]
    player.act("vote", {"choice": 9})
    player.act("vote", {"choice": 0})
    go(player, loop)
    shown = state(store)
    assert (shown["phase"], len(store.session.constraints)) == ("reveal", 1)
    assert [each["right"] for each in shown["choices"]] == [False, False, True]
    assert [each["voted"] for each in shown["choices"]] == [True, False, False]
    player.act("vote", {"choice": 2})  # too late
    assert state(store) == shown
    assert open_panels(store) == "left"


def test_the_costs_that_the_lesson_tells_are_those_of_its_trees(player, store, loop):
    open_lesson("one-constraint", player, loop)
    (told,) = (each.reveal for each in store.view.playing.lesson.steps if "cost was" in each.reveal)
    before = dasgupta_cost(store.session.tree, store.problem.similarity)
    go(player, loop, 5)  # the class predicts the cost
    assert history_steps.state(store) == {"steps": []}
    go(player, loop)
    costs = [each["cost"] for each in history_steps.state(store)["steps"]]
    now = dasgupta_cost(store.session.tree, store.problem.similarity)
    assert [int(each) for each in re.findall(r"\d+", told)] == [before, now, now - before]
    assert [float(re.findall(r"[\d.]+", each)[0]) for each in costs[-2:]] == [before, now]


def wrong_share(store):
    return triplet_distance(store.dataset.target, store.session.tree)


def test_what_the_lessons_reveal_is_so(player, store, loop):
    open_lesson("the-tree-asks", player, loop)
    dolphin, carp, bear = map(store.session.labels.index, ("dolphin", "carp", "bear"))
    assert store.session.tree.satisfies([(dolphin, carp, bear)]).all()
    open_lesson("comparisons", player, loop)
    classes = np.array([name.split(",")[0] for name in store.dataset.classes])
    assert all(store.session.tree.has_clade(np.flatnonzero(classes == c)) for c in ("red", "blue"))
    shares = [wrong_share(store)]
    while store.session.method == "4-al":
        go(player, loop)
    shares.append(wrong_share(store))
    assert [round(100 * each) for each in shares] == [6, 2]
    open_lesson("a-mask", player, loop)
    before = wrong_share(store)
    while store.session.params["s"] == 10:
        go(player, loop)
    assert wrong_share(store) < before
    open_lesson("card-sorting", player, loop)
    groups = store.session.tree.n_internal
    while store.session.method == "best-merge":
        go(player, loop)
    assert store.session.tree.n_internal < groups


def test_merges_go_one_by_one_with_their_cell_marked(player, store, loop):
    open_lesson("linkage", player, loop)
    assert Middle.now(store) == "merges"
    assert (merges_model.state(store)["done"], merges_model.state(store)["mark"]) == (0, None)
    assert open_panels(store) == "none"
    go(player, loop, 2)
    shown = merges_model.state(store)
    assert shown["sentence"] == "Dale and Elm merge at 1."
    assert len(shown["brackets"]) == 1
    row, column = shown["mark"]
    assert shown["cells"][row][column][1] == "1"
    smallest = min(value for cells in shown["cells"] for value, _ in cells)
    assert shown["cells"][row][column][0] == smallest
    go(player, loop, 2)
    shown = merges_model.state(store)  # the next prediction: nothing is marked
    assert (len(shown["clusters"]), shown["mark"], shown["done"]) == (4, None, 1)
    assert any(text == "6.5" for cells in shown["cells"] for _, text in cells)


def test_merges_under_a_constraint_say_why_the_nearest_clusters_wait(player, store, loop):
    text = prepared_text(NAMES[0])
    table = text[text.index("```") : text.index("1. ")]
    answer = "- answer: Cedar + Dale before Elm\n"
    player.open(f"# Towns\n{table}\n1. A.\n- merge\n2. B.\n{answer}3. C.\n" + "- merge\n" * 3)
    settle(loop, store)
    assert merges_model.state(store)["sentence"] == "Dale and Elm merge at 1."
    go(player, loop)
    assert merges_model.state(store)["done"] == 0
    seen = []
    player.act("stop", {})
    for to in range(1, 5):
        SHEETS["merges"].acts(type("Page", (), {"store": store})(), "go", {"to": to})
        seen.append(merges_model.state(store)["sentence"])
    assert "Nearer pairs may not merge: a constraint forbids it." in seen[0]
    assert "Dale" not in seen[0]


def test_a_repaired_tree_has_no_merges_to_play(player, store, loop):
    open_lesson("linkage", player, loop)
    player.act("stop", {})
    store.dispatch(act.SetParams({"constraints": "repair"}))
    store.dispatch(act.AddConstraint((0, 3), 4))
    settle(loop, store)
    assert merges_model.state(store) == {"waiting": False}


def test_a_conflict_is_shown_and_resolved_by_the_script(player, store, loop):
    open_lesson("conflicts", player, loop)
    while store.session.conflict is None:
        go(player, loop)
    assert len(store.session.conflict.with_ids) == 1
    while state(store)["step"] == 4:
        go(player, loop)
    go(player, loop)
    assert store.session.conflict is None
    assert [each.enabled for each in store.session.constraints] == [True, False, True]


def test_the_class_sees_the_items_that_it_compares(player, store, loop):
    open_lesson("comparisons", player, loop)
    while not store.view.three:
        go(player, loop)
    assert [store.session.labels[item] for item in store.view.three] == [
        "flower 1", "flower 2", "flower 5",
    ]  # fmt: skip
    assert state(store)["phase"] == "predict"
    go(player, loop)
    assert (store.view.three, len(store.session.choices)) == ((), 1)


def test_next_after_back_redoes_and_does_again_after_something_else(player, store, loop):
    open_lesson("the-tree-asks", player, loop)
    while not store.session.constraints:
        go(player, loop)
    tree, run = store.session.tree, store.session.run
    player.key("PageUp")
    player.key("ArrowRight")
    assert store.session.tree == tree
    assert store.session.run == run  # nothing had to run
    player.key("ArrowLeft")
    store.dispatch(act.AddConstraint((0, 1), 2))
    settle(loop, store)
    player.key("PageDown")
    settle(loop, store)
    assert len(store.session.constraints) == 2
    assert not player.key("x")


def test_a_teacher_saves_a_script_and_opens_it_again(player, store, loop):
    open_lesson("linkage", player, loop)
    sent = []
    player.download = lambda *file: sent.append(file)
    player.act("save", {})
    name, content, _ = sent[0]
    assert (name, content.decode()) == ("linkage-by-hand.md", prepared_text(NAMES[0]))
    player.act("stop", {})
    assert state(store) == {"on": False}
    assert open_panels(store) == ""
    files = FileController(store, None, None)
    files.open_lesson = player.open
    wrong = content.decode().replace("merge: Dale + Elm", "merge: Ash + Elm", 1)
    files.open("lesson", name, wrong.encode())
    loop.until(lambda: store.session.status == "settled")
    while store.view.error is None:
        player.act("next", {})
    assert store.view.error[1] == "Write: - merge: Dale + Elm"


def test_a_script_that_does_not_fit_leaves_the_page_as_it_is(player, store, loop):
    open_lesson("linkage", player, loop)
    before = store.session
    for text in (
        prepared_text(NAMES[0]).replace("merge: Dale", "merge: Dael", 1),
        prepared_text(NAMES[0]).replace("method: average", "method: averag"),
        prepared_text(NAMES[0]).replace("- method: average", "- parameter: links = 3"),
        "no lesson",
    ):
        with pytest.raises(HcvizError) as wrong:
            player.open(text)
        assert wrong.value.hint
        assert store.session is before
    player.open_prepared("../../secret")
    assert "no lesson" in store.view.error[0]


def test_other_data_end_the_lesson(player, store, loop):
    open_lesson("linkage", player, loop)
    assert store.open_data(store.session.data.__class__(name="iris"))
    assert store.view.playing is None
    assert not player.key("ArrowRight")


def test_the_sheet_of_merges_has_its_own_buttons_without_a_lesson(player, store, loop):
    open_lesson("linkage", player, loop)
    send = SHEETS["merges"].acts
    actions = type("Page", (), {"store": store})()
    send(actions, "go", {"to": 3})
    assert store.view.merges == 0  # the lesson has the buttons
    player.act("stop", {})
    send(actions, "go", {"to": 9})
    shown = merges_model.state(store)
    assert (shown["done"], shown["all"], len(shown["brackets"])) == (4, 4, 4)
    send(actions, "go", {"to": 0})
    assert merges_model.state(store)["brackets"] == []
