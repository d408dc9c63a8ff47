"""A statement that holds in the tree on the screen leaves that tree as it is, for every method."""

from __future__ import annotations

import pytest

from hcviz import Triplets
from hcviz.algorithms import algorithms, get
from hcviz.core.snapshot import Snapshot
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.applying import SEARCHING_TEXT
from hcviz.session.model import Constraint, equal_values, joined_triplets
from hcviz.session.replay import replay
from tests.sessions import Driver, FakeState, run_fake
from tests.trees import caterpillar

SAMPLERS = [name for name in algorithms() if get(name).samples]
OTHERS = [name for name in algorithms() if not get(name).samples]
TREE = caterpillar(8)  # 0 and 1 meet first, then 2, and so on
#: Statements that hold in this tree. None follows from the others.
TRUE = (((0, 1), 7), ((2, 1), 6), ((3, 0), 5))
FALSE = ((6, 7), 0)


def shown(method, params=()):
    """A session that has settled on ``TREE``."""
    driver = Driver(
        method=method,
        constraint_mode=get(method).constraint_mode(dict(params)),
        params=dict(params),
    )
    driver(act.Arrived(0, Snapshot(TREE, 4, 4, {"x": 1.0}, FakeState(TREE.height, 4))))
    driver(act.Finished(0))
    return driver


def stated(*statements, author="you"):
    return act.ImportConstraints(tuple(Constraint(0, *each, author=author) for each in statements))


WAYS = {
    "one": [act.AddConstraint(*TRUE[0])],
    "one by one": [act.AddConstraint(*each) for each in TRUE],
    "all at once": [stated(*TRUE)],
    "off and on": [
        act.ImportConstraints((Constraint(0, *TRUE[0], enabled=False),)), act.EnableConstraint(1),
    ],
    "an author": [
        act.ImportConstraints(tuple(Constraint(0, *t, author="Ann", enabled=False) for t in TRUE)),
        act.EnableAuthor("Ann", True),
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", [*OTHERS, "search with lam"])
def test_other_methods_do_nothing(method, way):
    name, params = ("dasgupta-search", {"lam": 1.0}) if "lam" in method else (method, {})
    driver = shown(name, params)
    for action in WAYS[way]:
        driver(action)
        assert driver.start is None
    assert driver.session.tree is TREE
    assert driver.session.status == "settled"
    assert driver.session.enabled
    driver(act.Rerun())  # a run that is asked for is under them, and is shown
    assert len(driver.start.triplets) == len(driver.session.triplets)
    driver.go()
    assert driver.session.tree is not TREE


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("params", [{}, {"beta": 3.0}])
@pytest.mark.parametrize("method", SAMPLERS)
def test_a_sampler_continues_in_the_background(method, params, way):
    driver = shown(method, params)
    for action in WAYS[way]:
        driver(action)
    assert driver.session.status == "sampling"
    assert driver.start.triplets == driver.session.triplets
    state = driver.session.snapshot.state
    driver.go()
    session = driver.session
    assert session.tree is TREE
    assert session.progress == (1, 4)
    assert session.shown == session.run
    assert session.snapshot.state is not state  # a later run goes on from here
    assert driver.settle().tree is TREE
    assert session.message.startswith(("Locked", "3 constraints added", "1 constraint", "Ann"))
    assert driver.session.message.startswith("Done.")
    driver(act.Rerun())
    assert driver.start.start is driver.session.snapshot
    driver.go()
    assert driver.session.tree is not TREE


@pytest.mark.parametrize("method", ["ddt", "crsc"])
def test_one_that_does_not_hold_changes_the_tree(method):
    for actions in ([act.AddConstraint(*FALSE)], [stated(TRUE[0], FALSE)]):
        driver = shown(method)
        driver(actions[0])
        assert driver.start is not None
        driver.settle()
        assert driver.session.tree is not TREE
        assert driver.session.tree.satisfies(driver.session.triplets).all()


@pytest.mark.parametrize("method", ["ddt", "average"])
@pytest.mark.parametrize("end", [act.Cancel(), act.Failed(1, "The worker has died.")])
def test_the_tree_changes_if_an_earlier_answer_has_no_tree_yet(method, end):
    driver = shown(method)
    driver(act.AddConstraint(*FALSE))
    driver(end)  # before the first tree
    assert driver.session.tree is TREE
    driver(act.AddConstraint(*TRUE[0]))
    assert driver.start is not None
    driver.settle()
    assert driver.session.tree is not TREE
    assert driver.session.tree.satisfies(driver.session.triplets).all()


def test_a_correction_during_a_background_run_is_shown_and_another_lock_is_not():
    driver = shown("ddt")
    driver(act.AddConstraint(*TRUE[0]))
    driver.go()
    driver(act.AddConstraint(*TRUE[1]))
    assert driver.start.run == 2
    driver.go()
    assert driver.session.tree is TREE
    driver(act.AddConstraint(*FALSE))
    driver.go()
    assert driver.session.tree is not TREE


def test_a_choice_between_answers_leaves_a_tree_that_agrees_with_it():
    driver = shown("crsc")
    driver(act.AddConstraint(*FALSE))
    driver(act.Cancel())  # it is enabled, and the tree is still the one that contradicts it
    driver(act.AddConstraint((0, 6), 7))
    assert driver.session.conflict is not None
    driver(act.ResolveConflict(2, (1,)))
    assert [each.id for each in driver.session.enabled] == [2]
    assert driver.start is None
    assert driver.session.tree is TREE


def test_undo_redo_files_and_replay_of_a_background_run():
    driver = Driver(method="ddt", constraint_mode="hard")
    driver.settle()
    driver(act.AddConstraint((0, 1), 2))
    driver.settle()
    tree, before = driver.session.tree, driver.session.snapshot
    driver(act.AddConstraint((0, 1), 3))
    driver.go(2)
    driver(act.EditConstraint(2, note="sure"))
    driver.settle()

    def run(spec, effect):
        return run_fake(spec, effect, 8)

    again = replay(load_session(save_session(driver.session)), run, get)
    assert equal_values(again, driver.session)
    after = driver.session.snapshot
    assert after.tree is tree
    driver(act.Undo())
    driver(act.Undo())
    assert driver.session.snapshot is before
    assert len(driver.session.enabled) == 1
    driver(act.Redo())
    assert driver.session.snapshot is after
    assert joined_triplets(driver.session.enabled) == Triplets([(0, 1, 2), (0, 1, 3)])


@pytest.mark.parametrize("method", ["ddt", "crsc"])
def test_a_lock_during_a_run_says_that_other_branches_may_change(method):
    driver = shown(method)
    driver(act.Rerun())
    driver(act.AddConstraint(*TRUE[0]))
    assert driver.session.message.startswith("Locked: ")
    assert driver.session.message.endswith(SEARCHING_TEXT)
    driver.settle()
    assert driver.session.tree is not TREE
