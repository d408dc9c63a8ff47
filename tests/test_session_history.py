"""Undo, redo, other data, the log, and a loaded session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz import Snapshot, Tree
from hcviz.algorithms import get
from hcviz.core.snapshot import Mask, Matrix, Series
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session import history
from hcviz.session.effects import Announce, CancelRun, ReloadData
from hcviz.session.history import MAX_ARRAY_BYTES, MAX_MASK_BYTES, MAX_STEPS, without_large_arrays
from hcviz.session.model import DataSpec, equal_values
from hcviz.session.packed_mask import PackedMask
from hcviz.session.restore import Restore
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
    assert entry.label == "bat + whale together, apart from trout"
    assert set(entry.metrics) == {"log density"}


def test_undo_is_bounded_and_big_pictures_are_not_kept():
    driver = Driver()
    driver.settle()
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    for number in range(MAX_STEPS + 20):
        driver(act.EditConstraint(1, note=str(number)))
    assert len(driver.session.past) == MAX_STEPS
    side = int(np.sqrt(MAX_ARRAY_BYTES / 8)) + 1
    tree = Tree.star(3)
    snapshot = Snapshot(
        tree, 1, 1, matrices={"big": np.zeros((side, side))},
        views={"big": Matrix(np.zeros((side, side))), "small": Series(np.ones(2), np.ones(2))},
    )  # fmt: skip
    assert without_large_arrays(snapshot).matrices == {}
    assert list(without_large_arrays(snapshot).views) == ["small"]
    assert without_large_arrays(without_large_arrays(snapshot)) is not snapshot
    small = Snapshot(tree, 1, 1)
    assert without_large_arrays(small) is small


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
    assert len(settled.session.constraints) == 1  # the same names: the answers are still about them
    assert len(settled.start.triplets) == 1


def test_every_message_is_announced(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    assert Announce(settled.session.message) in settled.effects


def test_the_log_has_run_and_step(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.go(2)
    settled(act.DisableConstraint(1))
    kinds = [(type(e.action).__name__, e.run, e.step) for e in settled.session.log]
    assert kinds == [
        ("SessionStarted", -1, -1),
        ("LoadedData", -1, -1),
        ("Finished", 0, 4),
        ("AddConstraint", 0, 4),
        ("DisableConstraint", 1, 2),
    ]
    assert all(entry.time for entry in settled.session.log)


def test_restore_cancels_and_continues_from_the_saved_run_number(settled):
    saved = Driver(("x", "y", "z"))
    saved.go(2)
    for _ in range(3):
        settled(act.Rerun())
    stale = next(settled.stream)
    settled(Restore(saved.session))
    assert settled.effects[0] == CancelRun(3)
    assert isinstance(settled.effects[1], ReloadData)
    assert settled.session.labels == ("x", "y", "z")
    assert settled.session.status == "idle"
    assert settled.session.snapshot is saved.session.snapshot
    for run in range(5):
        settled(act.Arrived(run, stale))
        assert settled.session.snapshot is saved.session.snapshot
    settled(act.Rerun())
    assert settled.start.run == 1  # as it would have been; the store drops reports of the others
    assert settled.start.start is saved.session.snapshot


def test_update_is_pure_and_actions_compare_by_what_they_say():
    assert act.Undo() == act.Undo(time="long ago")
    driver = Driver()
    driver.go()
    action = act.AddConstraint((BAT, WHALE), TROUT)
    first, _ = update(driver.session, action, get)
    second, _ = update(driver.session, action, get)
    assert equal_values(first, second)
    assert not equal_values(first, driver.session)


def asking(n, seed=0, requests=16):
    """A snapshot of the session's animals, as one that was asked for much of n items would be."""
    rng = np.random.default_rng(seed)
    log = [
        (np.sort(rng.choice(n, n // 2, replace=False)).astype(np.int32),
         rng.choice(n, 40, replace=False).astype(np.int32))
        for _ in range(requests)
    ]  # fmt: skip
    return Snapshot(Tree.star(len(ANIMALS)), 1, 1, views={"asked": Mask.of(log)})


def same_mask(one, other):
    mine, theirs = vars(one), vars(other)
    return all(
        np.array_equal(mine[k], theirs[k]) and mine[k].dtype == theirs[k].dtype for k in mine
    )


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6), max_size=6), st.data())
def test_a_packed_mask_is_the_mask(lists, data):
    other = data.draw(st.permutations(lists))
    arrays = [[np.array(x, np.int32) for x in side] for side in (lists, other)]
    mask = Mask.of(list(zip(*arrays, strict=True)))
    assert same_mask(PackedMask.of(mask).mask(), mask)


def shown(driver, snapshot):
    """The session with another snapshot, as if a run had brought it."""
    driver.session = replace(driver.session, snapshot=snapshot)
    return driver.session.snapshot.views["asked"]


def test_undo_brings_large_masks_back():
    first, second = asking(10_000, 1), asking(10_000, 2)
    assert (
        MAX_ARRAY_BYTES
        < sum(part.nbytes for part in vars(first.views["asked"]).values())
        <= MAX_MASK_BYTES
    )
    driver = Driver()
    driver.settle()
    one = shown(driver, first)
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    two = shown(driver, second)
    kept = driver.session.past[-1].snapshot
    assert sum(each.nbytes for each in kept.views.values()) < MAX_ARRAY_BYTES
    driver(act.Undo())
    assert same_mask(driver.session.snapshot.views["asked"], one)
    driver(act.Redo())
    assert same_mask(driver.session.snapshot.views["asked"], two)
    driver(act.Undo())
    assert same_mask(driver.session.snapshot.views["asked"], one)
    # A file has what it had before: the one that is shown, and none of those to come back to.
    again = load_session(save_session(driver.session))
    assert same_mask(again.snapshot.views["asked"], one)
    assert again.future[-1].snapshot.views == {}
    assert again.future[-1].snapshot.tree == second.tree


def test_all_masks_together_have_a_bound_and_the_oldest_go(monkeypatch):
    driver = Driver()
    driver.settle()
    size = PackedMask.of(asking(10_000).views["asked"]).nbytes
    monkeypatch.setattr(history, "MAX_PACKED_BYTES", int(2.5 * size))
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    for seed in range(4):
        shown(driver, asking(10_000, seed))
        for note in "abc":  # steps that show the same tree hold the same mask, which counts once
            driver(act.EditConstraint(1, note=f"{note} {seed}"))
    past = [point.snapshot for point in driver.session.past if point.snapshot is not None]
    packed = [each for each in past if isinstance(each.views.get("asked"), PackedMask)]
    assert len({id(each) for each in packed}) == 2
    assert past[-len(packed) :] == packed
    assert len(packed) == 6
    monkeypatch.setattr(history, "MAX_MASK_BYTES", MAX_ARRAY_BYTES)
    shown(driver, asking(10_000, 9))
    driver(act.EditConstraint(1, note="too large"))
    assert driver.session.past[-1].snapshot.views == {}
