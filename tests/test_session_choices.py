"""Answers about three items in a session: kept, undone, saved, and followed by runs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hcviz import Comparisons, Problem
from hcviz.algorithms import get
from hcviz.core.errors import InvalidConstraint, InvalidData, SessionFileError
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.choice import Choice, comparisons_of
from hcviz.session.effects import ReloadData
from hcviz.session.model import DataSpec, equal_values
from hcviz.session.replay import replay
from tests.sessions import Driver, run_fake

ODD = act.AddChoice("odd", (0, 1, 2))
CENTRAL = act.AddChoice("central", (3, 1, 2), author="Ann")


@pytest.fixture
def settled():
    """With a method that reads comparisons."""
    driver = Driver(method="4-al", constraint_mode="hard")
    driver.settle()
    return driver


def test_choices_become_the_comparisons_that_their_questions_mean():
    made = comparisons_of((Choice("odd", (0, 1, 2)), Choice("central", (3, 1, 2))))
    assert made.rows.tolist() == [[1, 2, 0], [2, 1, 0], [1, 3, 2], [2, 3, 1]]
    assert comparisons_of(()) is None
    sentences = (
        Choice("odd", (0, 1, 2)).sentence("xyz"),
        Choice("central", (0, 1, 2)).sentence("xyz"),
    )
    assert sentences == (
        "x is the odd one out beside y and z",
        "x is the most central beside y and z",
    )


@pytest.mark.parametrize("items", [(0, 1, 1), (-1, 0, 1), (0, 1)])
def test_a_choice_is_of_three_different_items(items):
    with pytest.raises(InvalidConstraint, match="three different items"):
        Choice("odd", items)


def test_a_run_follows_where_the_method_reads_comparisons(settled):
    settled(ODD)
    assert settled.session.choices[0].items == (0, 1, 2)
    assert settled.start.comparisons == Comparisons([[1, 2, 0], [2, 1, 0]])
    settled.settle()
    settled(act.SetMethod("crsc"))
    settled.settle()
    run = settled.session.run
    settled(CENTRAL)
    assert settled.session.run == run
    assert "does not read such answers" in settled.session.message
    assert settled.session.choices[1].author == "Ann"


def test_answers_during_a_run_wait_for_its_end_and_share_the_next(settled):
    settled(ODD)
    run = settled.session.run
    settled.go()
    for k in range(3):
        settled(act.AddChoice("odd", (k, k + 1, k + 2)))
        assert settled.session.run == run
    assert settled.session.rerun_pending
    settled.settle()
    assert settled.session.run == run + 1
    assert len(settled.started[-1].comparisons) == 8
    assert not settled.session.rerun_pending


@pytest.mark.parametrize("end", [act.Cancel(), "fail", "stop"])
def test_no_run_follows_one_that_was_ended(settled, end):
    settled(ODD)
    settled(CENTRAL)
    run = settled.session.run
    settled({"fail": act.Failed(run, "boom"), "stop": act.Stopped(run)}.get(str(end), end))
    assert not settled.session.rerun_pending
    assert settled.session.run == run


def test_an_answer_is_undone_and_redone(settled):
    tree = settled.session.tree
    settled(ODD)
    settled.settle()
    settled(act.Undo())
    assert settled.session.choices == ()
    assert settled.session.tree == tree
    settled(act.Redo())
    assert len(settled.session.choices) == 1
    settled(CENTRAL)
    assert len(settled.start.comparisons) == 4


def test_other_items_leave_the_answers_behind_in_undo(settled):
    settled(ODD)
    settled(act.LoadedData(DataSpec(name="other"), tuple("abcdefgh")))
    assert settled.session.choices == ()
    assert settled.start.comparisons is None
    assert "come back with undo" in settled.session.message
    settled(act.Undo())
    assert len(settled.session.choices) == 1


def test_an_answer_about_no_item_changes_nothing(settled):
    before = settled.session
    with pytest.raises(InvalidConstraint, match="names item 8, but there are only 8"):
        settled(act.AddChoice("odd", (0, 1, 8)))
    assert settled.session is before


def test_a_session_file_keeps_the_answers_and_its_log_replays(settled):
    settled(ODD)
    settled.settle()
    settled(CENTRAL)
    settled.go()
    settled(ODD)
    settled.settle()
    again = load_session(save_session(settled.session))
    assert again.choices == settled.session.choices
    assert equal_values(again, settled.session)

    def run(spec, effect):
        return run_fake(spec, effect, settled.session.n_items)

    assert equal_values(replay(settled.session, run, get), settled.session)


def test_a_file_of_answers_is_a_part_of_the_data(settled):
    attach = act.AddComparisons(
        "said.csv", b"anchor,near,far\nbat,lion,newt\n", "1 comparison added."
    )
    tree, run = settled.session.tree, settled.session.run
    settled(attach)
    spec = settled.session.data
    assert spec.answers == (("said.csv", attach.content),)
    assert settled.effects[0] == ReloadData(spec)
    assert settled.session.run == run + 1
    assert settled.session.message == "1 comparison added."
    settled.settle()
    assert settled.session.message == "1 comparison added. Done."
    assert settled.session.past[-1].label == "Comparisons: said.csv"
    settled(act.SetMethod("crsc"))
    settled.settle()
    settled(dataclasses.replace(attach, filename="more.csv"))
    assert settled.session.run == run + 2
    unread = f"{settled.session.method} does not read such answers."
    assert settled.session.message == f"1 comparison added. {unread}"
    assert [name for name, _ in settled.session.data.answers] == ["said.csv", "more.csv"]
    again = load_session(save_session(settled.session))
    assert equal_values(again, settled.session)
    settled(act.Undo())
    assert settled.session.data == spec
    assert settled.effects[0] == ReloadData(spec)
    settled(act.Undo())  # the method
    settled(act.Undo())
    assert settled.session.data.answers == ()
    assert settled.session.tree == tree
    settled(act.Redo())
    assert settled.session.data == spec
    settled(act.Rerun())
    settled.settle()
    assert settled.session.message == "Done."


def test_a_forged_file_of_answers_is_refused(settled):
    forged = dataclasses.replace(settled.session.data, answers=((b"said.csv", "no bytes"),))
    with pytest.raises(SessionFileError, match=r"DataSpec\.answers is of the wrong kind"):
        load_session(save_session(dataclasses.replace(settled.session, data=forged)))


def test_a_file_with_an_answer_about_no_item_is_refused(settled):
    forged = dataclasses.replace(settled.session, choices=(Choice("odd", (0, 1, 99)),))
    with pytest.raises(SessionFileError, match="names item 99"):
        load_session(save_session(forged))


def test_comparisons_are_joined_as_the_same_kind():
    three, four = Comparisons([[0, 1, 2]]), Comparisons([[0, 1, 2, 3]])
    assert (three + three).rows.tolist() == [[0, 1, 2]] * 2
    assert (three + four).rows.tolist() == [[0, 1, 0, 2], [0, 1, 2, 3]]
    assert (four + three).rows.tolist() == [[0, 1, 2, 3], [0, 1, 0, 2]]


def test_a_problem_takes_more_answers_and_stays_what_it_is():
    bare = Problem(similarity=np.eye(4))
    more = bare.with_comparisons(Comparisons([[0, 1, 2]]))
    assert bare.comparisons is None
    assert more.comparisons == Comparisons([[0, 1, 2]])
    assert more.similarity is bare.similarity
    assert more.with_comparisons(None) is more
    assert len(more.with_comparisons(Comparisons([[2, 1, 0]])).comparisons) == 2
    with pytest.raises(InvalidData, match="name item 4, but there are only 4"):
        bare.with_comparisons(Comparisons([[0, 1, 4]]))
