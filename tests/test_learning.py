"""The learning curve: which trees count, what by, and what they are seen beside."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz.datasets import SimulatedUser, load
from hcviz.jobs import BackgroundRuns
from hcviz.session import actions as act
from hcviz.session.learning_curve import count_satisfied, curve_points, held_out_scores
from hcviz.session.model import Constraint, DataSpec
from hcviz.ui.features.learning_curve import model as learning_curve_model
from hcviz.ui.features.learning_curve.model import BaselineRuns
from hcviz.ui.features.learning_curve.section import state, target_distance
from tests.sessions import ANIMALS, Driver
from tests.stores import over_zoo
from tests.trees import random_tree


def counts(session):
    return [len(each.answers) for each in curve_points(session)]


def test_a_state_is_the_last_tree_under_so_many_answers():
    driver = Driver()
    first = driver.settle().tree
    assert counts(driver.session) == [0]
    driver(act.AddConstraint((0, 1), 2))
    assert driver.session.tree is first  # nothing has come yet under the answer
    assert counts(driver.session) == [0]
    driver.go()
    early = driver.session.tree
    assert [each.tree for each in curve_points(driver.session)] == [first, early]
    second = driver.settle().tree
    assert [each.tree for each in curve_points(driver.session)] == [first, second]
    driver(act.AddConstraint((3, 4), 5))
    driver(act.AddConstraint((5, 6), 0))  # before a tree came under the one before
    driver.settle()
    assert counts(driver.session) == [0, 1, 3]
    driver(act.Rerun())
    later = driver.settle().tree
    assert [each.tree for each in curve_points(driver.session)] == [first, second, later]


def test_a_step_taken_back_is_taken_off_the_curve():
    driver = Driver()
    first = driver.settle().tree
    driver(act.AddConstraint((0, 1), 2))
    driver.settle()
    driver(act.Undo())
    assert [each.tree for each in curve_points(driver.session)] == [first]
    driver(act.Redo())
    assert counts(driver.session) == [0, 1]


def test_a_lock_keeps_the_tree_it_was_stated_about():
    driver = Driver()
    driver.settle()
    driver(act.AddConstraint((0, 1), 2))
    tree = driver.settle().tree
    driver(act.AddConstraint((0, 1), 3))
    driver.settle()  # the sampler goes on under it
    assert counts(driver.session) == [0, 1, 2]
    assert curve_points(driver.session)[1].tree is curve_points(driver.session)[2].tree is tree


def test_trees_over_other_items_do_not_count():
    driver = Driver()
    driver.settle()
    driver(act.AddConstraint((0, 1), 2))
    driver.settle()
    driver(act.LoadedData(DataSpec(name="iris"), tuple("abcdef")))
    driver.settle()
    assert counts(driver.session) == [0]
    assert curve_points(driver.session)[0].tree.n_leaves == 6


# ---------------------------------------------------------------------- without a target


def slowly_true(tree, constraint):
    """By the definition: every pair of the group meets below where either meets the one apart."""

    def lca_size(x, y):
        return min(
            int(tree.size[v]) for v in range(tree.n_nodes) if {x, y} <= set(tree.leaves(v).tolist())
        )

    return all(
        lca_size(x, y) < min(lca_size(x, constraint.apart), lca_size(y, constraint.apart))
        for x, y in combinations(constraint.group, 2)
    )


@given(st.integers(0, 10**6), st.integers(4, 9))
def test_a_constraint_counts_as_a_whole(seed, n):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n)
    made = []
    for number in range(5):
        items = rng.permutation(n)[: rng.integers(3, n + 1)].tolist()
        made.append(Constraint(number + 1, tuple(items[1:]), items[0]))
    assert count_satisfied(tree, made) == sum(slowly_true(tree, each) for each in made)


def test_held_out_answers_are_those_a_state_did_not_have():
    driver = Driver()
    driver.settle()
    for group, apart in (((0, 1), 2), ((3, 4), 5), ((5, 6), 0), ((1, 2), 7)):
        driver(act.AddConstraint(group, apart))
        driver.settle()
    session = driver.session
    found = held_out_scores(session)
    for each in found:
        (state,) = (s for s in curve_points(session) if len(s.answers) == each.answers)
        left = [c for c in session.enabled if c not in state.answers]
        assert each.held == len(left) == 4 - each.answers
        assert each.true == sum(slowly_true(state.tree, c) for c in left)
        assert each.share == each.true / each.held
    assert [each.answers for each in found] == counts(session)[:-1]
    driver(act.DisableConstraint(4))
    assert held_out_scores(driver.session)[0].held == 3


# ---------------------------------------------------------------------- with one


def slow_distance(target, tree):
    """Of the target's resolved triples, the share that the tree has otherwise or leaves open."""
    violated = resolved = 0
    for i, j, k in combinations(range(target.n_leaves), 3):
        for row in ((i, j, k), (i, k, j), (j, k, i)):
            if target.satisfies([row])[0]:
                resolved += 1
                violated += not tree.satisfies([row])[0]
    return violated / resolved if resolved else 0.0


@given(st.integers(0, 10**6), st.integers(3, 9))
def test_the_distance_is_the_share_of_the_target_that_is_violated(seed, n):
    rng = np.random.default_rng(seed)
    target, tree = random_tree(rng, n, polytomies=True), random_tree(rng, n)
    assert target_distance(target, tree) == pytest.approx(slow_distance(target, tree), abs=1e-12)


# ---------------------------------------------------------------------- on the page


@pytest.fixture
def store(loop):
    with over_zoo(loop, "ddt") as made:
        yield made


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(learning_curve_model, "SHARED_TREES", {})


def test_the_curve_on_the_page_is_the_distance_of_each_state(store, loop):
    target = load("zoo").target
    user = SimulatedUser(target, seed=1)
    assert state(store) is None
    before = store.session.tree
    for _ in range(3):
        a, b, c = user.answer(store.session.tree)
        store.dispatch(act.AddConstraint((a, b), c))
        loop.until(lambda: store.session.status == "settled")
    found = state(store)
    assert [x for x, _ in found["points"]] == [0, 1, 2, 3]
    assert found["points"][0][1] == target_distance(target, before)
    assert found["points"][-1][1] == target_distance(target, store.session.tree)
    assert found["sentence"].startswith("After 3 answers: 0.")
    assert "target" in found["measure"]


def test_without_a_target_the_answers_themselves_are_the_measure(store, loop):
    table = "name,x,y\n" + "".join(f"{name},{k},{k * k % 5}\n" for k, name in enumerate(ANIMALS))
    spec = DataSpec(kind="table", name="t.csv", filename="t.csv", content=table.encode())
    assert store.open_data(spec)
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.AddConstraint((0, 7), 1))
    loop.until(lambda: store.session.status == "settled")
    tree = store.session.tree
    store.dispatch(act.AddConstraint((2, 6), 3))
    loop.until(lambda: store.session.status == "settled")
    found = state(store)
    assert [x for x, _ in found["points"]] == [0, 1]
    assert found["points"][1][1] == float(tree.satisfies([(2, 6, 3)])[0])
    assert found["sentence"].startswith("After 1 answer: ")
    assert "No target tree" in found["better"]


def test_baselines_are_made_once_there_is_an_answer_and_then_known(store, loop, monkeypatch):
    baselines = BaselineRuns(store, loop.schedule)
    loop.until(lambda: store.session.status == "settled")
    assert store.view.baselines == ()
    first = store.session.tree
    a, b, c = SimulatedUser(load("zoo").target, seed=1).answer(first)
    store.dispatch(act.AddConstraint((a, b), c))
    loop.until(lambda: len(store.view.baselines) == 2)
    (one, average), (other, sampler) = store.view.baselines
    assert (one, other) == ("average linkage", "sampler without answers")
    assert sampler == first  # same seed, run and settings: the same draws
    problem = load("zoo").problem()
    assert average == hcviz.fit("average", problem)
    assert [title for title, _ in state(store)["baselines"]] == [one, other]
    monkeypatch.setattr(BackgroundRuns, "start", None)  # nothing runs a second time
    again = BaselineRuns(store, loop.schedule)
    assert len(store.view.baselines) == 2
    again.close()
    baselines.close()


def test_other_data_while_a_baseline_is_made_gets_its_own(store, loop):
    baselines = BaselineRuns(store, loop.schedule)
    store.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: store.session.status == "settled" and baselines.busy)
    assert store.open_data(DataSpec(name="iris"))
    assert store.view.baselines == ()
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.AddConstraint((0, 60), 1))
    loop.until(lambda: len(store.view.baselines) == 2)
    assert all(tree.n_leaves == 150 for _, tree in store.view.baselines)
    baselines.close()


def test_data_without_features_or_similarity_has_no_baseline(store, loop, monkeypatch):
    baselines = BaselineRuns(store, loop.schedule)
    pairs = [("no such method", "x"), ("average", "average linkage")]
    monkeypatch.setattr(learning_curve_model, "baseline_methods", lambda: pairs)

    class Lacking:
        def missing_data(self, problem):
            return "It cannot."

    real = learning_curve_model.get_algorithm
    monkeypatch.setattr(
        learning_curve_model,
        "get_algorithm",
        lambda name: Lacking() if name == "no such method" else real(name),
    )
    store.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: len(store.view.baselines) == 1)
    assert store.view.baselines[0][0] == "average linkage"
    baselines.close()
