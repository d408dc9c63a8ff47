"""The history strip as data: what each step says, its tree in small, its cost."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.core.tree import Tree
from hcviz.metrics import dasgupta_cost
from hcviz.session import actions as act
from hcviz.ui.features.history import steps as history_steps
from tests.stores import over_zoo
from tests.trees import caterpillar, random_tree


@pytest.fixture
def store(loop):
    with over_zoo(loop, "average") as made:
        made.drawn = made.session.snapshot
        yield made


def change(store, loop, action):
    store.dispatch(action)
    loop.until(lambda: store.session.status == "settled")


def test_each_step_names_what_led_there_and_what_its_tree_costs(store, loop):
    trees = [store.session.tree]
    for kind in ("single", "complete"):
        change(store, loop, act.SetMethod(kind))
        trees.append(store.session.tree)
    shown = history_steps.state(store)["steps"]
    assert [s["label"] for s in shown] == ["Start", "Method: single", "Method: complete"]
    assert [s["by"] for s in shown] == [-2, -1, 0]
    assert [s["now"] for s in shown] == [False, False, True]
    store.dispatch(act.Undo())
    moved = history_steps.state(store)["steps"]
    assert [s["label"] for s in moved] == [
        s["label"] for s in shown
    ]  # the steps stay in their order
    assert [s["by"] for s in moved] == [-1, 0, 1]
    for step, tree in zip(moved, trees, strict=True):
        assert step["thumb"] == history_steps.thumbnail(tree)
        cost = dasgupta_cost(tree, store.problem.similarity)
        assert step["cost"] == f"cost {cost:,.0f}"
        assert step["answers"] == "0 answers"
    assert len({step["thumb"] for step in moved}) == 3


def test_many_steps_are_cut_to_the_newest_with_a_count_of_the_rest(store):
    for seed in range(1, history_steps.BACK + 4):
        store.dispatch(act.SetSeed(seed))
    shown = history_steps.state(store)["steps"]
    assert len(shown) == history_steps.BACK + 1
    assert (
        shown[0]["label"]
        == store.session.past[-history_steps.BACK - 1].label.removesuffix(".")
        != "Start"
    )
    for _ in range(history_steps.FORTH + 2):
        store.dispatch(act.Undo())
    shown = history_steps.state(store)["steps"]
    assert [s["by"] for s in shown][-history_steps.FORTH - 1 :] == list(
        range(history_steps.FORTH + 1)
    )


def test_during_a_run_its_step_has_no_tree_and_the_strip_is_unchanged(loop):
    with over_zoo(loop, "ddt") as store:
        store.dispatch(act.SetParams({"steps": 10**9}))
        loop.until(lambda: store.session.shown == store.session.run)
        shown = history_steps.state(store)["steps"]
        assert [bool(s["thumb"]) for s in shown] == [True, False]
        before = history_steps.depends_on(store)
        tree = store.session.tree
        loop.until(lambda: store.session.tree is not tree)
        after = history_steps.depends_on(store)
        assert all(x is y or x == y for x, y in zip(before, after, strict=True))
        store.dispatch(act.Cancel())
        assert all(s["thumb"] for s in history_steps.state(store)["steps"])


def test_without_a_cheap_similarity_a_draw_shows_its_log_joint(loop, monkeypatch):
    monkeypatch.setattr(history_steps, "PAIRS", 10)
    with over_zoo(loop, "ddt") as store:
        joint = store.session.snapshot.metrics["log_joint"]
        (step,) = history_steps.state(store)["steps"]
        assert step["cost"] == f"log joint {history_steps.short_number(joint)}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (41230.4, "41,230"),
        (1_234_567, "1.23 M"),
        (-2e9, "−2 G"),
        (0.12345, "0.123"),
        (-12.0, "−12"),
    ],
)
def test_numbers_are_short(value, text):
    assert history_steps.short_number(value) == text


def numbers(path):
    return [int(x) for x in re.findall(r"-?\d+", path)]


@given(st.integers(2, 120), st.integers(0, 2**32 - 1))
def test_a_thumbnail_is_small_and_within_its_box(n, seed):
    tree = random_tree(np.random.default_rng(seed), n, polytomies=True)
    path = history_steps.thumbnail(tree)
    assert re.fullmatch(r"([MLHVZ][\d ]*)+", path)
    assert len(path) < 1000
    assert all(0 <= x <= history_steps.WIDE for x in numbers(path))
    opened, tips = history_steps.opened_nodes(tree)
    assert len(tips) <= history_steps.TIPS
    assert sum(int(tree.size[tip]) for tip in tips) == n  # the tips are all of the tree, once
    leaves = np.concatenate([tree.leaves(tip) for tip in tips])
    assert np.unique(leaves).size == n
    assert all(int(tree.parent[tip]) in opened for tip in tips if tip != tree.root)
    wedges = sum(tree.size[tip] > 1 for tip in tips)
    assert path.count("L") == 2 * wedges or not opened


@pytest.mark.parametrize("tree", [caterpillar(20_000), Tree.star(500), Tree.star(1)])
def test_thumbnails_of_extreme_trees(tree):
    path = history_steps.thumbnail(tree)
    assert path.startswith("M")
    assert len(path) < 1000
    assert history_steps.thumbnail(tree) is path


def test_two_items_are_a_fork():
    assert history_steps.thumbnail(Tree.star(2)) == "M0 15V45M0 15H96M0 45H96"
