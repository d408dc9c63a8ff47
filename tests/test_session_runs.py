"""Runs of a session: what starts one, from where, and what it may say."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.algorithms import get
from hcviz.session import actions as act
from hcviz.session.effects import ReloadData, StartRun
from hcviz.session.model import DataSpec, Session
from hcviz.session.update import update
from tests.sessions import Driver, FakeState, run_fake

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)


def test_the_first_data_start_run_0_from_nothing():
    driver = Driver()
    assert driver.session.run == 0
    assert driver.start.run == 0
    assert driver.start.seed == 0
    assert driver.start.start is None
    assert driver.session.status == "sampling"
    assert driver.session.past == ()


def test_stale_snapshots_never_show(settled):
    old = next(run_fake(DataSpec(), settled.started[0], 8))
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    before = settled.session
    for late in (
        act.Arrived(0, old),
        act.Finished(0),
        act.Stopped(0),
        act.Failed(0, "boom"),
        act.Arrived(2, old),
    ):
        after, effects = update(before, late, get)
        assert after is before
        assert effects == ()


def test_each_method_remembers_its_parameters(settled):
    settled(act.SetParams({"c": 2.0, "beta": np.float64(1.5)}))
    assert dict(settled.start.params) == {"c": 2.0, "beta": 1.5}
    assert type(settled.session.params["beta"]) is float
    with pytest.raises(TypeError):
        settled.session.params["c"] = 3
    settled(act.SetMethod("crsc"))
    assert dict(settled.session.params) == {}
    settled(act.SetParams({"cut": "spectral"}))
    settled(act.SetMethod("ddt"))
    assert dict(settled.session.params) == {"c": 2.0, "beta": 1.5}
    run = settled.session.run
    settled(act.SetParams({"c": 2.0}))
    assert settled.session.run == run
    settled(act.SetMethod("crsc"))
    assert dict(settled.session.params) == {"cut": "spectral"}


def test_a_seed_runs_from_nothing_and_rerun_runs_on(settled):
    shown = settled.session.snapshot
    settled(act.Rerun())
    assert settled.start.start is shown
    settled(act.Rerun(fresh=True))
    assert settled.start.start is None
    settled(act.SetSeed(7))
    assert (settled.start.seed, settled.start.start, settled.start.run) == (7, None, 3)


def test_a_quick_second_action_does_not_bring_an_older_state_back(settled):
    """Until the new seed, method or data show a tree, what is shown is not theirs to go on from."""
    settled(act.SetSeed(7))
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    assert settled.start.start is None
    settled.go()
    settled(act.SetMethod("crsc"))
    settled(act.Failed(settled.session.run, "Too few features."))
    settled(act.SetParams({"cut": "exact"}))
    assert settled.start.start is settled.session.tree
    settled.go()
    settled(act.Rerun())
    assert settled.start.start is settled.session.snapshot
    settled(act.SetSimilarity("gaussian"))
    settled(act.Undo())
    settled(act.Rerun())
    assert settled.start.start is settled.session.snapshot


def test_cancel_and_failure_keep_the_tree(settled):
    shown = settled.session.snapshot
    settled(act.Rerun())
    settled(act.Cancel())
    assert settled.cancelled == [1]
    assert settled.session.status == "cancelled"
    settled(act.Stopped(1))
    assert settled.session.snapshot is shown
    settled(act.Rerun())
    settled(act.Failed(2, "No memory.", "Take fewer items."))
    assert settled.session.status == "failed"
    assert settled.session.error == ("No memory.", "Take fewer items.")
    assert settled.session.snapshot is shown
    settled(act.Rerun())
    assert settled.session.error is None


def test_data_options_reload_before_they_run(settled):
    for action, field in (
        (act.SetSimilarity("gaussian"), "similarity"),
        (act.SetMissing("row-mean"), "missing"),
        (act.SetScaling("rank"), "scaling"),
    ):
        settled(action)
        kinds = [type(effect) for effect in settled.effects]
        assert kinds.index(ReloadData) < kinds.index(StartRun)
        assert getattr(settled.session.data, field) == action.kind
        settled(action)
        assert settled.effects == ()


def test_an_empty_session_does_not_run():
    session, effects = update(Session(), act.Rerun(), get)
    assert session.run == -1
    assert not any(isinstance(effect, StartRun) for effect in effects)
    assert isinstance(FakeState(np.zeros(1), 0).to_arrays(), dict)
