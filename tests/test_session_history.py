"""Undo, redo, other data, the log, and a loaded session."""

from __future__ import annotations

import numpy as np

from hcviz import Snapshot, Tree
from hcviz.core.snapshot import Matrix, Series
from hcviz.session import actions as act
from hcviz.session.effects import Announce, CancelRun, ReloadData
from hcviz.session.history import LIGHT, MAX_STEPS, light
from hcviz.session.model import DataSpec, same
from hcviz.session.update import update
from tests.sessions import ANIMALS, Driver

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)


def test_undo_brings_tree_and_state_back_without_a_run(settled):
    first = settled.session.snapshot
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.go(2)
    second = settled.session.snapshot
    settled(act.Undo())
    assert settled.start is None
    assert settled.cancelled == [1]
    assert settled.session.snapshot is first
    assert settled.session.status == "settled"
    assert settled.session.constraints == ()
    settled(act.Arrived(1, second))
    assert settled.session.snapshot is first
    settled(act.Redo())
    assert settled.session.snapshot is second
    assert settled.session.status == "idle"  # it had not been settled, and nothing runs now
    assert len(settled.session.constraints) == 1
    assert settled.start is None
    settled(act.Redo())
    assert "nothing to redo" in settled.session.message


def test_undoing_what_started_no_run_leaves_the_run_alone(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.go()
    settled(act.EditConstraint(1, note="!"))
    settled.go()
    shown = settled.session.snapshot
    settled(act.Undo())
    assert settled.session.find(1).note == ""
    assert settled.session.status == "sampling"
    assert settled.session.snapshot is shown
    assert settled.cancelled == []
    settled.settle()
    assert settled.session.status == "settled"


def test_a_new_action_after_undo_keeps_the_abandoned_tree_in_the_history(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.settle()
    abandoned = settled.session.tree
    settled(act.Undo())
    assert len(settled.session.future) == 1
    settled(act.AddConstraint((LION, PIKE), WASP))
    assert settled.session.future == ()
    trees = [entry.tree for entry in settled.session.history]
    assert abandoned in trees
    entry = settled.session.history[trees.index(abandoned)]
    assert entry.n_constraints == 1
    assert entry.label == "bat + whale together, before trout"
    assert set(entry.metrics) == {"log density"}


def test_undo_is_bounded_and_big_pictures_are_not_kept():
    driver = Driver()
    driver.settle()
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    for number in range(MAX_STEPS + 20):
        driver(act.EditConstraint(1, note=str(number)))
    assert len(driver.session.past) == MAX_STEPS
    side = int(np.sqrt(LIGHT / 8)) + 1
    tree = Tree.star(3)
    snapshot = Snapshot(
        tree, 1, 1, matrices={"big": np.zeros((side, side))},
        views={"big": Matrix(np.zeros((side, side))), "small": Series(np.ones(2), np.ones(2))},
    )  # fmt: skip
    assert light(snapshot).matrices == {}
    assert list(light(snapshot).views) == ["small"]
    assert light(light(snapshot)) is not snapshot
    small = Snapshot(tree, 1, 1)
    assert light(small) is small


def test_other_data_begin_without_constraints_and_undo_brings_them_back(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.settle()
    tree = settled.session.tree
    settled(act.LoadedData(DataSpec(name="iris"), ("a", "b", "c")))
    assert settled.session.constraints == ()
    assert settled.session.snapshot is None
    assert settled.start.start is None
    assert "undo" in settled.session.message
    settled.settle()
    settled(act.Undo())
    assert ReloadData(DataSpec()) in settled.effects
    assert settled.session.labels == ANIMALS
    assert settled.session.tree is tree
    assert len(settled.session.constraints) == 1
    settled(act.Redo())
    assert ReloadData(DataSpec(name="iris")) in settled.effects
    assert settled.session.labels == ("a", "b", "c")
    settled(act.Undo())
    settled(act.LoadedData(DataSpec(name="zoo-2"), ANIMALS))
    assert len(settled.session.constraints) == 1  # the same names: the answers still speak of them
    assert len(settled.start.triplets) == 1


def test_every_message_is_announced(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    assert Announce(settled.session.message) in settled.effects


def test_the_log_knows_run_and_step(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.go(2)
    settled(act.DisableConstraint(1))
    kinds = [(type(e.action).__name__, e.run, e.step) for e in settled.session.log]
    assert kinds == [
        ("Began", -1, -1),
        ("LoadedData", -1, -1),
        ("Finished", 0, 4),
        ("AddConstraint", 0, 4),
        ("DisableConstraint", 1, 2),
    ]
    assert all(entry.time for entry in settled.session.log)


def test_restore_cancels_and_never_reuses_a_running_number(settled):
    saved = Driver(("x", "y", "z"))
    saved.go(2)
    for _ in range(3):
        settled(act.Rerun())
    stale = next(settled.stream)
    settled(act.Restore(saved.session))
    assert settled.effects[0] == CancelRun(3)
    assert isinstance(settled.effects[1], ReloadData)
    assert settled.session.labels == ("x", "y", "z")
    assert settled.session.status == "idle"
    assert settled.session.snapshot is saved.session.snapshot
    for run in range(5):
        settled(act.Arrived(run, stale))
        assert settled.session.snapshot is saved.session.snapshot
    settled(act.Rerun())
    assert settled.start.run == 4
    assert settled.start.start is saved.session.snapshot


def test_update_is_pure_and_actions_compare_by_what_they_say():
    assert act.Undo() == act.Undo(time="long ago")
    driver = Driver()
    driver.go()
    action = act.AddConstraint((BAT, WHALE), TROUT)
    first, _ = update(driver.session, action)
    second, _ = update(driver.session, action)
    assert same(first, second)
    assert not same(first, driver.session)
