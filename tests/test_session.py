"""The session's behaviour: what each action does, and what no sequence of them can break."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hcviz import HcvizError, Snapshot, Tree
from hcviz.core.build import is_consistent
from hcviz.core.errors import InvalidConstraint
from hcviz.core.snapshot import Matrix, Series
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.effects import Announce, CancelRun, ReloadData, StartRun
from hcviz.session.history import LIGHT, MAX_STEPS, light
from hcviz.session.judge import states
from hcviz.session.model import Constraint, DataSpec, Session, same
from hcviz.session.replay import replay
from hcviz.session.update import update
from tests.sessions import ANIMALS, Driver, FakeState, run_fake

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)


@pytest.fixture
def settled() -> Driver:
    driver = Driver()
    driver.settle()
    return driver


def test_the_first_data_start_run_0_from_nothing():
    driver = Driver()
    assert driver.session.run == 0
    assert driver.start.run == 0
    assert driver.start.seed == 0
    assert driver.start.start is None
    assert driver.session.status == "sampling"
    assert driver.session.past == ()


def test_constraint_checks_itself_and_speaks():
    answer = Constraint(1, (BAT, WHALE), TROUT, weight=2)
    assert answer.sentence(ANIMALS) == "bat + whale together, before trout"
    assert answer.triplets.rows.tolist() == [[BAT, WHALE, TROUT]]
    long = Constraint(2, (0, 1, 2, 4, 5, 6, 7), 3, weight=3)
    assert long.sentence(ANIMALS) == "bat + whale + lion and 4 more together, before trout"
    assert len(long.triplets) == 6
    assert long.triplets.weights.tolist() == [0.5] * 6
    for group, apart in (((1,), 2), ((1, 1), 2), ((1, 2), 2), ((-1, 2), 3)):
        with pytest.raises(InvalidConstraint):
            Constraint(1, group, apart)
    for weight in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InvalidConstraint):
            Constraint(1, (0, 1), 2, weight=weight)


def test_a_correction_reruns_from_the_shown_state(settled):
    shown = settled.session.snapshot
    settled(act.AddConstraint((BAT, WHALE), TROUT, author="Ada", weight=2, note="mammals"))
    start = settled.start
    assert start.run == 1
    assert start.start is shown
    assert start.start.state.draws == 4
    assert list(start.triplets) == [(BAT, WHALE, TROUT)]
    made = settled.session.constraints[0]
    assert (made.id, made.author, made.weight, made.note, made.enabled) == (
        1, "Ada", 2.0, "mammals", True,
    )  # fmt: skip
    assert made.time
    assert settled.session.snapshot is shown  # until the first new one arrives
    settled.settle()
    assert settled.session.message == "Done. The constraint holds."
    assert states(settled.session) == {1: "satisfied"}


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
        after, effects = update(before, late)
        assert after is before
        assert effects == ()


def test_a_lock_runs_nothing_when_nothing_runs_and_restarts_a_running_sampler(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.settle()
    shown = settled.session.tree
    extra = next(
        (a, b, c)
        for a, b, c in combinations(range(8), 3)
        if shown.satisfies([[a, b, c]])[0] and (a, b, c) != (BAT, WHALE, TROUT)
        # BUILD's tree keeps what nobody spoke of apart: {bat, whale} against each other item
    )
    settled(act.AddConstraint(extra[:2], extra[2]))
    assert settled.start is None
    assert settled.session.status == "settled"
    assert settled.session.tree is shown
    settled(act.DeleteConstraint(2))
    settled.settle()
    settled(act.Rerun())
    settled.go()
    settled(act.AddConstraint(extra[:2], extra[2]))
    assert settled.start is not None
    assert settled.start.start is settled.session.snapshot
    assert len(settled.start.triplets) == 2


def test_what_follows_from_earlier_answers_runs_nothing_even_while_sampling(settled):
    settled(act.AddConstraint((BAT, WHALE), LION))
    settled(act.AddConstraint((WHALE, LION), TROUT))
    settled.go()
    assert settled.session.status == "sampling"
    settled(act.AddConstraint((BAT, LION), TROUT))
    assert settled.start is None
    assert settled.session.run == 2
    assert len(settled.session.enabled) == 3
    settled.settle()
    assert states(settled.session)[3] == "implied"
    settled(act.DisableConstraint(3))  # still follows from the others
    assert settled.start is None
    settled(act.DisableConstraint(2))
    assert settled.start is not None


def test_a_repeat_changes_nothing_and_switches_a_disabled_twin_on(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    constraints = settled.session.constraints
    settled(act.AddConstraint((WHALE, BAT), TROUT))
    assert settled.session.constraints is constraints
    assert "already" in settled.session.message
    settled(act.DisableConstraint(1))
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    assert [c.enabled for c in settled.session.constraints] == [True]
    settled(act.AddConstraint((BAT, WHALE), TROUT, author="Bo"))
    assert [c.author for c in settled.session.constraints] == ["you", "Bo"]


def test_a_contradiction_is_kept_disabled_explained_and_runs_nothing(settled):
    settled(act.AddConstraint((BAT, WHALE), LION))
    settled(act.AddConstraint((WHALE, LION), TROUT))
    settled(act.AddConstraint((WASP, CROW), NEWT))
    settled.settle()
    run, shown = settled.session.run, settled.session.snapshot
    settled(act.AddConstraint((BAT, TROUT), WHALE))
    session = settled.session
    assert session.run == run
    assert session.snapshot is shown
    assert [c.enabled for c in session.constraints] == [True, True, True, False]
    assert session.conflict.constraint_id == 4
    # either of the two alone allows it: it takes both
    assert session.conflict.with_ids == (1, 2)
    assert session.conflict.repairs == (1, 2)
    for words in ("bat + trout together, before whale", "bat + whale", "whale + lion", "lion"):
        assert words in session.conflict.sentence
    assert states(session)[4] == "conflict"
    settled(act.EnableConstraint(4))
    assert not settled.session.find(4).enabled
    settled(act.ResolveConflict(4, (2,)))
    assert [c.enabled for c in settled.session.constraints] == [True, False, True, True]


def test_resolving_a_conflict_is_one_step(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled(act.AddConstraint((BAT, TROUT), WHALE))
    assert settled.session.conflict.with_ids == (1,)
    steps = len(settled.session.past)
    settled(act.ResolveConflict(2, (1,)))
    assert [c.enabled for c in settled.session.constraints] == [False, True]
    assert settled.session.conflict is None
    assert len(settled.session.past) == steps + 1
    assert list(settled.start.triplets) == [(BAT, TROUT, WHALE)]
    settled(act.Undo())
    assert [c.enabled for c in settled.session.constraints] == [True, False]


def test_dismissing_a_conflict_keeps_the_answer(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled(act.AddConstraint((BAT, TROUT), WHALE))
    settled(act.DismissConflict())
    assert settled.session.conflict is None
    assert states(settled.session)[2] == "disabled"
    settled(act.DeleteConstraint(1))
    settled(act.EnableConstraint(2))
    assert settled.session.find(2).enabled


def test_editing_and_unknown_numbers(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    run = settled.session.run
    settled(act.EditConstraint(1, note="see page 4", weight=3, author="Cy"))
    edited = settled.session.find(1)
    assert (edited.note, edited.weight, edited.author) == ("see page 4", 3.0, "Cy")
    assert settled.session.run == run
    with pytest.raises(HcvizError):
        settled(act.EditConstraint(1, weight=-1))
    assert settled.session.find(1) is edited
    for action in (act.EnableConstraint, act.DisableConstraint, act.DeleteConstraint):
        settled(action(99))
        assert settled.session.constraints == (edited,)
    for group, apart in (((0, 99), 1), ((0, 1), 99), ((0,), 1), ((0, 1), 1)):
        before = settled.session
        with pytest.raises(InvalidConstraint):
            settled(act.AddConstraint(group, apart))
        assert settled.session is before


def test_soft_methods_rerun_for_a_weight_and_for_what_is_true_already(settled):
    settled(act.SetMethod("hrsc", "soft"))
    settled.settle()
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.settle()
    settled(act.EditConstraint(1, weight=5))
    assert settled.start.triplets.weights.tolist() == [5.0]


def test_a_method_that_ignores_constraints_says_so_and_runs_nothing_for_them(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled(act.SetMethod("average", "ignored"))
    assert "ignores constraints" in settled.session.message
    assert isinstance(settled.start.start, Tree)
    settled.settle()
    assert "ignores constraints" in settled.session.message
    settled(act.AddConstraint((BAT, LION), TROUT))
    assert settled.start is None
    assert "ignores constraints" in settled.session.message
    assert len(settled.session.enabled) == 2


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


def test_import_keeps_all_but_repeats(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled(
        act.ImportConstraints(
            (
                Constraint(1, (WHALE, BAT), TROUT),  # a repeat
                Constraint(2, (BAT, TROUT), WHALE, note="wrong"),  # contradicts
                Constraint(3, (LION, BAT), PIKE, author="Bo", time="2026-01-01T00:00:00+00:00"),
                Constraint(4, (CROW, BAT), NEWT, enabled=False),
            )
        )
    )
    session = settled.session
    assert [(c.id, c.enabled) for c in session.constraints] == [
        (1, True), (2, False), (3, True), (4, False),
    ]  # fmt: skip
    assert session.constraints[2].time == "2026-01-01T00:00:00+00:00"
    assert session.conflict.constraint_id == 2
    assert "3 constraints added" in session.message
    assert settled.start is not None
    before = session
    with pytest.raises(InvalidConstraint):
        settled(act.ImportConstraints((Constraint(1, (0, 99), 1),)))
    assert settled.session is before


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


# ---------------------------------------------------------------------- any sequence of actions

ITEMS = st.integers(0, len(ANIMALS) - 1)


class AnySequence(RuleBasedStateMachine):
    """Random work; after each step the invariants, at the end undo, files and replay."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(seed=3)
        self.highest = 0

    @rule(items=st.lists(ITEMS, min_size=3, max_size=5, unique=True))
    def add(self, items):
        before = self.driver.session
        self.driver(act.AddConstraint(tuple(items[:-1]), items[-1]))
        assert len(self.driver.session.constraints) >= len(before.constraints)

    @rule(id=st.integers(1, 6), kind=st.sampled_from([act.EnableConstraint, act.DisableConstraint]))
    def switch(self, id, kind):
        self.driver(kind(id))

    @rule(id=st.integers(1, 6))
    def delete(self, id):
        self.driver(act.DeleteConstraint(id))

    @rule(id=st.integers(1, 6), note=st.text(max_size=3))
    def note(self, id, note):
        self.driver(act.EditConstraint(id, note=note))

    @rule(all_of_them=st.booleans())
    def resolve(self, all_of_them):
        conflict = self.driver.session.conflict
        if conflict is not None:
            chosen = conflict.with_ids if all_of_them else conflict.repairs[:1]
            self.driver(act.ResolveConflict(conflict.constraint_id, chosen))
            if conflict.repairs and chosen:
                assert self.driver.session.find(conflict.constraint_id).enabled

    @rule(name=st.sampled_from(["ddt", "crsc", "average"]))
    def method(self, name):
        self.driver(act.SetMethod(name, "ignored" if name == "average" else "hard"))

    @rule(value=st.floats(0.1, 2))
    def params(self, value):
        self.driver(act.SetParams({"c": value}))

    @rule(seed=st.integers(0, 3))
    def seed(self, seed):
        self.driver(act.SetSeed(seed))

    @rule(name=st.sampled_from(["zoo", "other"]))
    def data(self, name):
        labels = ANIMALS if name == "zoo" else ANIMALS[::-1]
        self.driver(act.LoadedData(DataSpec(name=name, content=name.encode()), labels))

    @rule(count=st.integers(1, 5))
    def runs(self, count):
        self.driver.go(count)

    @rule(action=st.sampled_from([act.Undo(), act.Redo(), act.Cancel(), act.Rerun()]))
    def simple(self, action):
        self.driver(action)

    @precondition(lambda self: self.driver.session.past)
    @rule()
    def undo_then_redo_comes_back(self):
        here = self.driver.session
        back, _ = update(here, act.Undo())
        again, effects = update(back, act.Redo())
        assert not any(isinstance(effect, StartRun) for effect in effects)
        for name in ("constraints", "data", "labels", "method", "params", "seed", "treats"):
            assert getattr(again, name) == getattr(here, name), name
        assert again.tree is here.tree
        assert len(again.past) == len(here.past)
        assert len(again.future) == len(here.future)

    @invariant()
    def enabled_constraints_have_a_tree(self):
        session = self.driver.session
        assert is_consistent(session.n_items, session.triplets)
        if session.status == "settled" and session.treats == "hard":
            # a settled tree obeys every enabled answer, those that started no run included
            assert session.tree.satisfies(session.triplets).all()
        assert all(c.id < session.next_id for c in session.constraints)
        assert session.run >= self.highest
        self.highest = session.run
        assert set(states(session)) == {c.id for c in session.constraints}

    def teardown(self):
        session = self.driver.session
        content = save_session(session)
        loaded = load_session(content)
        assert same(loaded, session)
        assert save_session(loaded) == content
        assert isinstance(loaded.snapshot, Snapshot | None)

        def run_method(spec, effect):
            return run_fake(spec, effect, len(ANIMALS))

        again = replay(loaded, run_method)
        assert same(again, session)


AnySequence.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestAnySequence = AnySequence.TestCase


def test_replay_refuses_a_log_that_its_method_does_not_follow(settled):
    settled(act.Rerun())
    settled.go(3)

    def shorter(spec, effect):
        return run_fake(spec, effect, len(ANIMALS), steps=2)

    with pytest.raises(HcvizError, match="does not come to step"):
        replay(settled.session, shorter)


def test_an_empty_session_has_nothing_to_run():
    session, effects = update(Session(), act.Rerun())
    assert session.run == -1
    assert not any(isinstance(effect, StartRun) for effect in effects)
    assert isinstance(FakeState(np.zeros(1), 0).to_arrays(), dict)
