"""Constraints in a session: added, judged, refused, imported, edited."""

from __future__ import annotations

from itertools import combinations

import pytest

from hcviz import HcvizError, Tree
from hcviz.core.errors import InvalidConstraint
from hcviz.session import actions as act
from hcviz.session.assessment import assess, constraint_states
from hcviz.session.model import Constraint
from tests.sessions import ANIMALS

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)


def test_constraint_validates_itself_and_has_a_sentence():
    answer = Constraint(1, (BAT, WHALE), TROUT, weight=2)
    assert answer.sentence(ANIMALS) == "bat + whale together, apart from trout"
    assert answer.triplets.rows.tolist() == [[BAT, WHALE, TROUT]]
    long = Constraint(2, (0, 1, 2, 4, 5, 6, 7), 3, weight=3)
    assert long.sentence(ANIMALS) == "bat + whale + lion and 4 more together, apart from trout"
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
    assert constraint_states(settled.session) == {1: "satisfied"}


def test_a_lock_restarts_a_run_whose_trees_are_shown(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.settle()
    settled(act.Rerun())
    settled.go()
    a, b, c = next(row for row in combinations(range(8), 3) if lock(settled, row))
    settled(act.AddConstraint((a, b), c))
    assert settled.start is not None
    assert settled.start.start is settled.session.snapshot
    assert len(settled.start.triplets) == 2
    assert not settled.session.keeps_tree


def lock(driver, row):
    """True if ab|c holds in the tree shown, and does not follow from the answers."""
    verdict = assess(driver.session, row[:2], row[2])
    return verdict.kind == "holds"


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
    assert constraint_states(settled.session)[3] == "implied"
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
    for words in ("bat + trout together, apart from whale", "bat + whale", "whale + lion", "lion"):
        assert words in session.conflict.sentence
    assert constraint_states(session)[4] == "conflict"
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
    assert constraint_states(settled.session)[2] == "disabled"
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
    settled(act.SetMethod("hrsc"))
    settled.settle()
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled.settle()
    settled(act.EditConstraint(1, weight=5))
    assert settled.start.triplets.weights.tolist() == [5.0]


def test_a_method_that_ignores_constraints_warns_and_does_not_run(settled, unconstrained):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled(act.SetMethod(unconstrained))
    assert "ignores constraints" in settled.session.message
    assert isinstance(settled.start.start, Tree)
    settled.settle()
    assert "ignores constraints" in settled.session.message
    settled(act.AddConstraint((BAT, LION), TROUT))
    assert settled.start is None
    assert "ignores constraints" in settled.session.message
    assert len(settled.session.enabled) == 2


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


def a_file_that_contradicts_three_times() -> act.ImportConstraints:
    return act.ImportConstraints(
        (
            Constraint(1, (BAT, TROUT), WHALE),  # against 1
            Constraint(2, (LION, CROW), NEWT),
            Constraint(3, (WASP, NEWT), PIKE),  # against 2
            Constraint(4, (WHALE, TROUT), BAT),  # against 1 as well, and against the first here
        )
    )


@pytest.fixture
def refused(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled(act.AddConstraint((WASP, PIKE), NEWT))
    settled.settle()
    return settled(a_file_that_contradicts_three_times()), settled


def test_every_refused_answer_of_an_import_has_its_turn(refused):
    session, driver = refused
    assert [(c.id, c.enabled) for c in session.constraints] == [
        (1, True), (2, True), (3, False), (4, True), (5, False), (6, False),
    ]  # fmt: skip
    assert "3 constraints contradict earlier ones and are kept switched off" in session.message
    assert driver.start is not None  # the one that could be switched on was
    assert (session.conflict.constraint_id, session.conflict.waiting) == (3, (5, 6))
    assert session.conflict.with_ids == (1,)
    assert {k for k, state in constraint_states(session).items() if state == "conflict"} == {
        3,
        5,
        6,
    }
    run = session.run
    session = driver(act.DismissConflict())
    assert (session.conflict.constraint_id, session.conflict.waiting) == (5, (6,))
    assert session.conflict.with_ids == (2,)
    assert session.run == run
    session = driver(act.DismissConflict())
    assert (session.conflict.constraint_id, session.conflict.waiting) == (6, ())
    assert driver(act.DismissConflict()).conflict is None
    assert len(session.constraints) == 6


def test_refused_answers_can_be_left_all_at_once(refused):
    _, driver = refused
    session = driver(act.DismissConflict(all=True))
    assert session.conflict is None
    assert [c.id for c in session.constraints if not c.enabled] == [3, 5, 6]


def test_what_a_resolved_conflict_frees_is_switched_on_with_it(settled):
    settled(act.AddConstraint((BAT, WHALE), TROUT))
    settled(
        act.ImportConstraints(
            (
                Constraint(1, (BAT, TROUT), WHALE),  # these two say nothing against each other,
                Constraint(2, (LION, TROUT, BAT), WHALE),  # but both are against the first answer
                Constraint(3, (WHALE, TROUT), BAT),
            )
        )
    )
    assert settled.session.conflict.waiting == (3, 4)
    steps = len(settled.session.past)
    session = settled(act.ResolveConflict(2, (1,)))
    assert [(c.id, c.enabled) for c in session.constraints] == [
        (1, False), (2, True), (3, True), (4, False),
    ]  # fmt: skip
    assert len(settled.start.triplets) == 3
    assert "1 constraint refused before is enabled too" in session.message
    assert (session.conflict.constraint_id, session.conflict.waiting) == (4, ())
    assert len(session.past) == steps + 1
    assert [c.enabled for c in settled(act.Undo()).constraints] == [True, False, False, False]


def test_a_refused_answer_waits_while_another_is_refused_or_deleted(refused):
    _, driver = refused
    session = driver(act.AddConstraint((LION, NEWT), CROW))
    assert (session.conflict.constraint_id, session.conflict.waiting) == (7, (3, 5, 6))
    session = driver(act.DeleteConstraint(7))
    assert (session.conflict.constraint_id, session.conflict.waiting) == (3, (5, 6))
    session = driver(act.EnableConstraint(6))  # asked about by hand: its turn is now
    assert (session.conflict.constraint_id, session.conflict.waiting) == (6, (3, 5))
    session = driver(act.DisableConstraint(1))  # nothing contradicts 3 and 6 any more
    assert (session.conflict.constraint_id, session.conflict.waiting) == (5, ())
    assert not session.find(3).enabled
