"""Leaf orders change only with the tree: those of a session, and of its page."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.algorithms import get
from hcviz.core.alignment import aligned_order
from hcviz.core.snapshot import Snapshot
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, equal_values
from hcviz.session.replay import replay
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from tests.sessions import Driver, run_fake
from tests.trees import random_tree

N = 30
LABELS = tuple(f"item {k}" for k in range(N))


def tree(seed):
    return random_tree(np.random.default_rng(seed), N, polytomies=True)


def finished(driver, seed, between=()):
    """The newest run shows trees of the seeds ``between``, and ends with that of ``seed``."""
    run = driver.session.run
    for step, each in enumerate((*between, seed)):
        driver(act.Arrived(run, Snapshot(tree(each), step, len(between))))
    return driver(act.Finished(run)).order


def begun(seed=0):
    driver = Driver(labels=(), method="average", constraint_mode="ignored")
    order = np.random.default_rng(seed).permutation(N).astype(np.int32)
    driver(act.LoadedData(DataSpec(), LABELS, order=order))
    return driver, order


def test_the_first_tree_is_as_close_as_possible_to_the_order_of_the_data():
    driver, order = begun()
    assert np.array_equal(finished(driver, 1), aligned_order(tree(1), order))


def test_later_trees_stand_as_near_as_can_be_to_the_picture_before():
    driver, _ = begun()
    before = finished(driver, 1)
    driver(act.Rerun())
    assert np.array_equal(finished(driver, 2), aligned_order(tree(2), before))


def test_trees_on_the_way_have_no_effect():
    orders = []
    for between in ((), (7,), (7, 8, 9)):
        driver, _ = begun()
        finished(driver, 1, between)
        driver(act.Rerun())
        orders.append(finished(driver, 2, between[::-1]).tolist())
    assert orders[0] == orders[1] == orders[2]


def test_undo_redo_and_what_follows_them():
    driver, _ = begun()
    first = finished(driver, 1)
    driver(act.Rerun())
    second = finished(driver, 2, (7,))
    driver(act.Rerun())
    third = finished(driver, 1)  # the same clades as at first, and another order
    assert third.tolist() != first.tolist()
    for orders in ([second, first], [second, third], [second, first]):
        move = act.Redo() if orders[-1] is third else act.Undo()
        for order in orders:
            assert np.array_equal(driver(move).order, order)
    driver(act.Rerun())
    assert np.array_equal(finished(driver, 3), aligned_order(tree(3), first))


def test_a_step_without_a_run_moves_nothing():
    driver, _ = begun()
    finished(driver, 1)
    driver(act.Rerun())
    order = finished(driver, 2)
    driver(act.AddConstraint((0, 1), 2))  # ignored by the method
    driver(act.Undo())
    assert np.array_equal(driver.session.order, order)


def test_files_and_replays_have_the_same_orders():
    driver = Driver(labels=(), method="ddt", constraint_mode="hard")
    order = np.random.default_rng(5).permutation(8).astype(np.int32)
    driver(act.LoadedData(DataSpec(), tuple("abcdefgh"), order=order))
    for group, apart in (((0, 1), 2), ((3, 4, 5), 6), ((2, 7), 0)):
        driver.settle()
        driver(act.AddConstraint(group, apart))
        driver.go(2)
    driver(act.Undo())
    loaded = load_session(save_session(driver.session))
    assert equal_values(loaded, driver.session)
    again = replay(loaded, lambda spec, effect: run_fake(spec, effect, 8), get)
    assert equal_values(again, driver.session)
    back = Driver(labels=())
    back.session = again
    while driver.session.past:
        assert np.array_equal(back(act.Undo()).order, driver(act.Undo()).order)


def test_other_items_have_an_order_of_their_own_and_undo_brings_the_old_back():
    driver, _ = begun()
    order = finished(driver, 1)
    driver(act.LoadedData(DataSpec(name="other"), ("x", "y"), order=np.array([1, 0], np.int32)))
    assert driver.session.order is None
    driver(act.Undo())
    assert np.array_equal(driver.session.order, order)


@pytest.fixture
def page(loop):
    made = []

    def opened(method):
        explorer = Explorer(loop.schedule, link=Link(method=method))
        made.append(explorer)
        loop.until(lambda: explorer.store.session.status == "settled")
        return explorer

    yield opened
    for each in made:
        each.close()


def test_the_page_shows_the_order_of_the_session(page, loop):
    """Undo after a correction, on the zoo, as it is drawn."""
    explorer = page("average")
    store, centre = explorer.store, explorer.centre
    first = centre.order.copy()
    assert np.array_equal(first, store.session.order)
    store.dispatch(act.SetMethod("crsc"), act.AddConstraint((5, 50), 60))
    loop.until(lambda: store.session.status == "settled")
    second = centre.order.copy()
    assert np.array_equal(second, store.session.order)
    assert second.tolist() != first.tolist()
    store.dispatch(act.Undo(), act.Undo())
    assert np.array_equal(centre.order, first)
    store.dispatch(act.Redo(), act.Redo())
    assert np.array_equal(centre.order, second)
    store.change_view(heights="even")
    assert np.array_equal(centre.order, second)
