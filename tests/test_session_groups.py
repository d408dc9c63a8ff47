"""Named groups in a session: named, edited, removed, undone, saved and replayed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz import Group
from hcviz.algorithms import get
from hcviz.core.errors import InvalidTaxonomy, SessionFileError
from hcviz.io.journal import Journal, read_journal
from hcviz.io.session_codec import Decoder, Encoder
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.assessment import is_consistent_set
from hcviz.session.constraint import EVERYTHING_ELSE, Constraint
from hcviz.session.model import DataSpec, Session, equal_values
from hcviz.session.replay import replay
from hcviz.session.update import update
from tests.sessions import ANIMALS, Driver, run_fake
from tests.test_journal import ABOUT, actions

BAT, WHALE, LION, TROUT, PIKE = range(5)
HOSTILE = ['"', "\n", "=1+1", "</script>", "אבג", "👩‍👩‍👧", "a, b: [c](d)", "\x00", "-", "𝔘"]
NAMES = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


def named(driver, *pairs):
    for name, members in pairs:
        driver(act.NameGroup(members, name))
    return driver.session.groups


def test_a_name_is_one_undo_step_and_starts_no_run(settled):
    run, tree = settled.session.run, settled.session.tree
    (mammals,) = named(settled, ("Mammals", (LION, BAT, WHALE)))
    assert (mammals.name, mammals.members, mammals.status) == ("Mammals", (0, 1, 2), "draft")
    assert settled.start is None
    assert settled.session.message == "Named: Mammals, 3 items."
    settled(act.Undo())
    assert settled.session.groups == ()
    settled(act.Redo())
    assert settled.session.groups == (mammals,)
    assert (settled.session.run, settled.session.tree) == (run, tree)


def test_a_group_is_edited_and_keeps_its_id(settled):
    (group,) = named(settled, ("Mammals", (BAT, WHALE)))
    settled(act.EditGroup(group.id, name="Beasts", note="warm", alternatives=("M",)))
    settled(act.EditGroup(group.id, status="accepted"))
    settled(act.SetGroupMembers(group.id, (BAT, LION)))
    expected = Group("Beasts", (BAT, LION), "warm", ("M",), "accepted", id=group.id)
    assert settled.session.groups == (expected,)
    assert "+1, −1" in settled.session.message
    settled(act.RemoveGroup(group.id))
    assert settled.session.groups == ()
    for gone in (
        act.RemoveGroup(group.id),
        act.EditGroup(group.id, name="x"),
        act.SetGroupMembers(group.id, (1, 2)),
    ):
        steps = len(settled.session.past)
        settled(gone)
        assert "no longer in the list" in settled.session.message
        assert len(settled.session.past) == steps
    settled(act.Undo())
    assert settled.session.groups == (expected,)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (act.NameGroup((TROUT, PIKE), "  "), "A group needs a name"),
        (act.NameGroup((), "Fish"), "has no members"),
        (act.NameGroup((1, 99), "Fish"), "only 8 items"),
        (act.NameGroup((WHALE, BAT), "Fish"), "These 2 items are the group 'Mammals' already"),
        (act.NameGroup((TROUT, PIKE), "Mammals"), "a group 'Mammals' at the top level already"),
        (act.NameGroup((BAT, LION, WHALE, PIKE), "Birds"), "a group 'Birds' at the top level"),
        (act.NameGroup((TROUT, PIKE), "\ud800"), "incomplete character"),
        (act.EditGroup("m", name=""), "A group needs a name"),
        (act.EditGroup("m", status="final"), "The status of 'Mammals'"),
        (act.SetGroupMembers("m", (5, 6)), "These 2 items are the group 'Birds' already"),
        (act.ReplaceGroups((Group("A", [0], id="a"), Group("B", [0], id="b"))), "the same items"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(settled, action, words):
    settled(act.ReplaceGroups((Group("Mammals", [BAT, WHALE], id="m"), Group("Birds", [5, 6]))))
    before = settled.session
    with pytest.raises(InvalidTaxonomy, match=words):
        settled(action)
    assert settled.session is before


def test_the_same_name_is_allowed_in_another_group(settled):
    named(settled, ("Fish", (TROUT, PIKE, 5)), ("Birds", (6, 7, BAT)))
    named(settled, ("Other", (TROUT, PIKE)), ("Other", (6, 7)))
    assert [each.name for each in settled.session.groups] == ["Fish", "Birds", "Other", "Other"]


def test_other_items_take_the_groups_away_until_undo(settled):
    groups = named(settled, ("Fish", (TROUT, PIKE)))
    settled(act.LoadedData(DataSpec(name="same"), ANIMALS))
    assert settled.session.groups == groups
    settled(act.LoadedData(DataSpec(name="other"), ANIMALS[::-1]))
    assert settled.session.groups == ()
    assert "The groups of the earlier items come back with undo." in settled.session.message
    settled(act.Undo())
    assert settled.session.groups == groups


def test_runs_and_methods_leave_the_groups_as_they_are(settled):
    groups = named(settled, ("Fish", (TROUT, PIKE)))
    settled(act.SetMethod("crsc"))
    settled.settle()
    settled(act.AddConstraint((BAT, WHALE), LION))
    settled.settle()
    assert settled.session.groups is groups


def test_a_group_that_gets_all_items_has_no_lock_and_the_file_can_be_read(settled):
    most = tuple(range(len(ANIMALS) - 1))
    _, inner = named(settled, ("Most", most), ("Inner", (BAT, WHALE)))
    settled(act.AddConstraint(most, EVERYTHING_ELSE))
    settled(act.AddConstraint((BAT, WHALE, len(ANIMALS) - 1), EVERYTHING_ELSE, into=inner.id))
    assert settled.session.groups[0].members == tuple(range(len(ANIMALS)))
    assert [each.group for each in settled.session.constraints] == [(0, 1, 7)]
    assert equal_values(load_session(save_session(settled.session)), settled.session)


def test_items_do_not_move_where_the_locks_would_contradict_an_answer(settled):
    inner, _ = named(settled, ("A", (BAT, WHALE, LION)), ("B", (BAT, WHALE, TROUT)))
    four = (BAT, WHALE, LION, TROUT)
    for statement in (
        ((BAT, WHALE, TROUT), EVERYTHING_ELSE), ((BAT, TROUT), WHALE), (four, EVERYTHING_ELSE),
    ):  # fmt: skip
        settled(act.AddConstraint(*statement))
    before = settled.settle()
    after = settled(
        act.AddConstraint(four, EVERYTHING_ELSE, into=inner.id)
    )  # B would be BAT, WHALE
    assert is_consistent_set(after.enabled, after.n_items)
    assert (after.groups, after.constraints, after.past) == (
        before.groups, before.constraints, before.past,
    )  # fmt: skip
    assert "already in the list" in after.message


@given(
    names=st.lists(NAMES.filter(str.strip), min_size=1, max_size=4, unique_by=str.strip),
    note=NAMES,
    other=NAMES,
)
@settings(max_examples=30, deadline=None)
def test_hostile_names_come_back_from_files_logs_and_replay(names, note, other):
    driver = Driver(seed=3)
    driver.settle()
    for size, name in enumerate(names, 2):
        driver(act.NameGroup(tuple(range(size)), name))
    edited = driver.session.groups[-1]
    driver(act.EditGroup(edited.id, note=note, alternatives=(other, other)))
    driver(act.SetGroupMembers(driver.session.groups[0].id, (6, 7)))
    driver(act.RemoveGroup(edited.id))
    driver(act.Undo())
    content = save_session(driver.session)
    loaded = load_session(content)
    assert equal_values(loaded, driver.session)
    assert save_session(loaded) == content
    again = replay(loaded, lambda spec, effect: run_fake(spec, effect, len(ANIMALS)), get)
    assert equal_values(again, driver.session)


def test_the_journal_keeps_groups(settled, tmp_path):
    named(settled, ("Fish", (TROUT, PIKE)), ("</script>", (BAT, WHALE)))
    settled(act.EditGroup(settled.session.groups[0].id, note="wet", status="accepted"))
    settled(act.ReplaceGroups((*settled.session.groups, Group("Rest", (5, 6, 7)))))
    settled(act.Undo())
    journal = Journal(tmp_path / "session")
    journal.append(actions(settled.session), ABOUT)
    journal.close()
    kept = read_journal(tmp_path / "session", get)
    assert not kept.damaged
    assert kept.session.groups == settled.session.groups
    assert update(kept.session, act.Redo(), get)[0].groups[-1].name == "Rest"


def test_a_file_of_an_earlier_version_has_no_groups(settled):
    """A file without the field opens; its session has no groups."""
    encoder = Encoder()
    document = encoder.document(settled.session)
    for part in (document["session"], *document["session"]["past"]):
        assert part.pop("groups") == []
    loaded = Decoder(document, encoder.entries.__getitem__).session()
    assert equal_values(loaded, settled.session)


def test_a_file_with_groups_that_cannot_be_is_refused(settled):
    named(settled, ("Fish", (TROUT, PIKE)))
    group = settled.session.groups[0]
    for groups in ((group, replace(group, id="other")), (Group("Far", (1, 99)),)):
        content = save_session(replace(settled.session, groups=groups))
        with pytest.raises(SessionFileError, match=r"the same items|only 8 items"):
            load_session(content)


def test_a_lock_has_the_name_of_the_group_that_it_is_the_place_of():
    """The conflict card names both groups, also if a lock is of a few more items than its group."""
    groups = (Group("Birds", (0, 1, 2)), Group("Fish", (3, 4)), Group("All", tuple(range(6))))
    session = Session(labels=tuple("abcdefgh"), groups=groups)

    def sentence_of(*items):
        return session.sentence_of(Constraint(1, items, EVERYTHING_ELSE))

    assert sentence_of(0, 1, 2) == "Birds: a + b + c are a group"
    assert sentence_of(0, 1, 2, 7).startswith("Birds: ")
    assert sentence_of(3, 4).startswith("Fish: ")
    assert sentence_of(0, 1, 2, 3, 4).startswith("All: ")
    assert sentence_of(5, 7) == "f + h are a group"
    session, _ = update(
        replace(session, constraints=(Constraint(1, (0, 1, 2, 7), EVERYTHING_ELSE),), next_id=2),
        act.AddConstraint((2, 3, 4), EVERYTHING_ELSE),
        get,
    )
    assert "“Fish: " in session.conflict.sentence
    assert "“Birds: " in session.conflict.sentence
