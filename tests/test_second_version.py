"""The review of a second version of the groups: taken over, kept, undone, saved and replayed."""

from __future__ import annotations

import pytest

from hcviz import Group
from hcviz.algorithms import get
from hcviz.core.errors import InvalidTaxonomy
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, equal_values
from hcviz.session.replay import replay
from tests.sessions import ANIMALS, run_fake

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)
ALL = tuple(range(8))
MINE = (
    Group("Mammals", (BAT, WHALE, LION), id="m"),
    Group("Fish", (TROUT, PIKE), "wet", id="f"),
    Group("Others", (WASP, CROW, NEWT), id="o"),
)


@pytest.fixture
def mine(settled):
    settled(act.ReplaceGroups(MINE))
    return settled


def review(driver, *theirs, items=ALL):
    driver(act.OpenSecondVersion("second.md", theirs, items))
    return driver.session.second_version.differences(driver.session.labels).groups


def row_of(rows, status):
    return next(k for k, row in enumerate(rows) if row.status == status)


def content(driver):
    return {group.name: group.members for group in driver.session.groups}


def test_each_status_is_taken_over_in_one_step_with_one_undo(mine):
    rows = review(
        mine,
        Group("Beasts", (BAT, WHALE, LION), "milk", ("Mammalia",), id="x"),
        Group("Fish", (TROUT, PIKE, NEWT), id="f"),
        Group("Small", (BAT, WASP), id="s"),
    )
    assert {row.status for row in rows} == {"renamed", "changed", "gone", "new"}
    before = mine.session.groups
    for status, expected in (
        ("renamed", {"Beasts": (BAT, WHALE, LION)}),
        ("changed", {"Fish": (TROUT, PIKE, NEWT)}),
        ("new", {"Small": (BAT, WASP)}),
    ):
        mine(act.TakeOver((row_of(rows, status),)))
        assert expected.items() <= content(mine).items()
        assert mine.session.second_version.taken == (row_of(rows, status),)
        mine(act.Undo())
        assert mine.session.groups == before
        assert mine.session.second_version.taken == ()
    mine(act.TakeOver((row_of(rows, "gone"),)))
    assert set(content(mine)) == {"Mammals", "Fish"}
    assert mine.session.message == "Taken over: Others. 3 left to decide."
    mine(act.TakeOver((row_of(rows, "renamed"),)))
    taken = mine.session.find_group("m")
    assert (taken.note, taken.alternatives) == ("milk", ("Mammalia",))


def test_a_split_group_is_taken_over_with_its_parts_and_a_merged_one_with_its_sources(mine):
    rows = review(
        mine,
        Group("Sea", (WHALE, LION), id="1"), Group("Air", (BAT,), id="2"),
        Group("Rest", (TROUT, PIKE, WASP, CROW, NEWT), id="3"),
    )  # fmt: skip
    mine(act.TakeOver((row_of(rows, "split"),)))
    assert {"Sea", "Air"} < set(content(mine))
    mine(act.TakeOver((row_of(rows, "merged"),)))
    assert content(mine) == {"Sea": (WHALE, LION), "Air": (BAT,), "Rest": (3, 4, 5, 6, 7)}
    assert mine.session.message.endswith("All groups are decided.")


def test_groups_with_exchanged_names_are_taken_over_together(mine):
    rows = review(
        mine,
        Group("Fish", MINE[0].members, id="1"), Group("Mammals", MINE[1].members, id="2"),
        MINE[2],
    )  # fmt: skip
    before = mine.session
    with pytest.raises(InvalidTaxonomy, match="the same name"):
        mine(act.TakeOver((0,)))
    assert mine.session.groups == before.groups
    assert rows[2].is_same
    mine(act.TakeOver((0, 1, 2)))
    assert content(mine)["Fish"] == MINE[0].members
    assert mine.session.second_version.undecided(mine.session.labels) == ()


def test_items_that_the_file_lacks_stay_in_their_groups(mine):
    rows = review(mine, Group("Beasts", (BAT, WHALE), id="x"), items=(0, 1, 3, 4, 5, 6, 7))
    mine(act.TakeOver((row_of(rows, "renamed"),)))
    assert content(mine)["Beasts"] == (BAT, WHALE, LION)


def test_groups_of_which_the_file_has_no_item_are_never_removed(settled):
    settled(act.ReplaceGroups((Group("A", (0, 1, 2, 3, 4), id="a"), Group("Tools", (5, 6, 7)))))
    rows = review(settled, Group("A2", (0, 1, 2, 3, 4), id="x"), items=(0, 1, 2, 3, 4))
    assert [row.status for row in rows] == ["renamed"]
    version = settled.session.second_version
    settled(act.TakeOver(version.undecided(settled.session.labels)))
    assert content(settled) == {"A2": (0, 1, 2, 3, 4), "Tools": (5, 6, 7)}
    assert settled.session.message.endswith("All groups are decided.")


def test_a_removed_group_keeps_the_items_that_the_file_lacks(settled):
    settled(act.ReplaceGroups((
        Group("A", (0, 1, 4, 5), id="a"), Group("Wide", (2, 3, 5, 6, 7), id="w"),
        Group("Tight", (3, 6, 7), id="t"), Group("Twins", (6, 7), id="s"),
        Group("Bare", (0, 3, 4), id="b"),
    )))  # fmt: skip
    rows = review(settled, Group("A", (1, 2), id="x"), items=(0, 1, 2, 3))
    assert {"gone", "new"} == {row.status for row in rows}
    settled(act.TakeOver(tuple(range(len(rows)))))
    assert content(settled) == {
        "A": (1, 2), "A 2": (4, 5), "Wide": (5, 6, 7), "Twins": (6, 7),
    }  # fmt: skip


@pytest.mark.parametrize("order", [("new", "split"), ("split", "new")])
def test_parts_of_a_split_are_taken_over_one_after_the_other(settled, order):
    settled(act.ReplaceGroups((Group("A", (0, 1, 2, 3, 4), id="a"),)))
    rows = review(settled, Group("B1", (0, 1, 2), id="1"), Group("B2", (3, 4), id="2"))
    for status in order:
        settled(act.TakeOver((row_of(rows, status),)))
    assert content(settled) == {"B1": (0, 1, 2), "B2": (3, 4)}
    assert settled.session.second_version.taken == (0, 1)


def test_a_group_is_taken_over_once(mine):
    rows = review(mine, *MINE, Group("Small", (BAT, WASP), id="s"))
    for _ in range(2):  # a double click
        mine(act.TakeOver((row_of(rows, "new"),)))
    assert [group.name for group in mine.session.groups].count("Small") == 1
    assert mine.session.message == "These groups are taken over already."


def test_an_id_that_is_in_use_is_not_given_twice(mine):
    rows = review(mine, *MINE, Group("Small", (BAT, WASP), id="new"))
    mine(act.NameGroup((WASP, CROW), "Wings", id="new"))
    mine(act.TakeOver((row_of(rows, "new"),)))
    assert [group.id for group in mine.session.groups[-2:]] == ["new", "new-2"]


def test_kept_groups_are_marked_and_change_nothing(mine):
    rows = review(mine, *MINE[:2], Group("Small", (BAT, WASP), id="s"))
    gone, new = row_of(rows, "gone"), row_of(rows, "new")
    mine(act.KeepMine((gone,)))
    assert mine.session.groups == MINE
    assert mine.session.second_version.undecided(mine.session.labels) == (new,)
    mine(act.TakeOver((gone,)))  # another decision
    assert (mine.session.second_version.taken, mine.session.second_version.kept) == ((gone,), ())
    mine(act.KeepMine((gone,)))
    assert "decided already" in mine.session.message


def test_rows_that_do_not_exist_or_do_not_differ_change_nothing(mine):
    review(mine, *MINE)
    steps = len(mine.session.past)
    for action in (act.TakeOver((0,)), act.TakeOver((-1, 99)), act.KeepMine((99,))):
        mine(action)
    assert (mine.session.groups, len(mine.session.past)) == (MINE, steps)
    mine(act.CloseSecondVersion())
    assert mine.session.second_version is None
    for action in (act.TakeOver((0,)), act.KeepMine((0,)), act.CloseSecondVersion()):
        mine(action)
        assert "review is closed" in mine.session.message
    mine(act.Undo())
    assert mine.session.second_version.name == "second.md"


def test_a_version_with_other_items_is_refused(mine):
    for items, groups in (((0, 1), (Group("A", (0, 1, 2)),)), ((0, 1, 99), ())):
        with pytest.raises(InvalidTaxonomy, match="other items than its own"):
            mine(act.OpenSecondVersion("x.md", groups, items))
    assert mine.session.second_version is None


def test_other_data_end_the_review(mine):
    review(mine, *MINE)
    mine(act.LoadedData(DataSpec(name="other"), ("x", "y")))
    assert mine.session.second_version is None
    mine(act.Undo())
    assert mine.session.second_version is not None


def test_a_review_is_saved_and_replayed(mine):
    rows = review(mine, Group("Beasts", (BAT, WHALE, LION), '"</script>\n', id="x"), MINE[1])
    mine(act.TakeOver((row_of(rows, "renamed"),)))
    mine(act.KeepMine((row_of(rows, "gone"),)))
    loaded = load_session(save_session(mine.session))
    assert equal_values(loaded.second_version, mine.session.second_version)
    assert equal_values(loaded.past[-1].second_version, mine.session.past[-1].second_version)
    again = replay(loaded, lambda spec, effect: run_fake(spec, effect, len(ANIMALS)), get)
    assert again.second_version == mine.session.second_version
    assert again.groups == mine.session.groups
