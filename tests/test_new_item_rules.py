"""Accepted new items: data, groups, locks, undo, session files and replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hcviz import Group, Taxonomy
from hcviz.algorithms import get
from hcviz.core.errors import HcvizError, InvalidData, InvalidTaxonomy, SessionFileError
from hcviz.io.added_rows import read_added_rows, with_rows
from hcviz.io.session_file import load_session, save_session
from hcviz.io.tables import read_table
from hcviz.session import actions as act
from hcviz.session.added_rows import AddedRows
from hcviz.session.chosen_clusters import ChosenClusters
from hcviz.session.constraint import EVERYTHING_ELSE
from hcviz.session.constraint_rules import enabled_are_consistent
from hcviz.session.model import DataSpec, equal_values
from hcviz.session.new_item_rules import grown_order
from hcviz.session.replay import replay
from hcviz.ui.app.link import link_of
from hcviz.ui.state.data_sources import resolve
from hcviz.ui.state.view_state import ViewState
from tests.sessions import run_fake

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)
VERTEBRATES = (BAT, WHALE, LION, TROUT, PIKE, CROW, NEWT)
GROUPS = (
    Group("Vertebrates", VERTEBRATES, "bones", id="v"),
    Group("Mammals", (BAT, WHALE, LION), id="m"),
    Group("Fish", (TROUT, PIKE), id="f"),
    Group("Wings", (BAT, WASP, CROW), id="w"),
)
HOSTILE = '<img src=x onerror="1">,"=1+1"\u202e'


@pytest.fixture
def mine(settled):
    settled(act.ReplaceGroups(GROUPS))
    return settled


def rows(*labels, legs="4"):
    return AddedRows("new.csv", ("legs",), labels, ((legs,),) * len(labels))


def accept(driver, labels, groups):
    driver(act.AcceptItems(rows(*labels), groups))
    return driver.session


def members(session):
    return {group.name: group.members for group in session.groups}


def test_an_item_joins_its_group_and_the_groups_around_it(mine):
    now = accept(mine, ("seal", "eel", "stone"), ("m", "f", ""))
    assert now.labels[8:] == ("seal", "eel", "stone")
    assert members(now) == {
        "Vertebrates": (*VERTEBRATES, 8, 9),
        "Mammals": (BAT, WHALE, LION, 8),
        "Fish": (TROUT, PIKE, 9),
        "Wings": (BAT, WASP, CROW),
    }
    assert [group.note for group in now.groups] == ["bones", "", "", ""]
    assert now.data.n_added == 3
    assert mine.start is not None
    assert (mine.start.start, now.snapshot) == (None, None)
    assert now.message == "3 new items added to the data: seal, eel, stone."


def test_undo_restores_data_tree_and_groups_and_redo_the_new_items(mine):
    mine(act.AddConstraint((BAT, WHALE, LION), EVERYTHING_ELSE))
    mine.settle()
    before = mine.session
    accept(mine, ("seal",), ("m",))
    grown = mine.settle()
    mine(act.Undo())
    for name in (
        "data",
        "labels",
        "groups",
        "constraints",
        "snapshot",
        "chosen_clusters",
        "params",
    ):
        assert equal_values(getattr(before, name), getattr(mine.session, name)), name
    assert np.array_equal(before.order, mine.session.order)
    mine(act.Redo())
    for name in ("data", "labels", "groups", "constraints", "snapshot"):
        assert equal_values(getattr(grown, name), getattr(mine.session, name)), name


def test_locks_of_the_group_and_around_it_include_the_item(mine):
    for group in ((BAT, WHALE, LION), VERTEBRATES, (TROUT, PIKE), (WHALE, LION)):
        mine(act.AddConstraint(group, EVERYTHING_ELSE))
    mine(act.AddConstraint((TROUT, PIKE), WASP))
    mine.settle()
    steps = len(mine.session.past)
    now = accept(mine, ("seal",), ("m",))
    assert [(each.group, each.enabled) for each in now.constraints] == [
        ((BAT, WHALE, LION, 8), True),
        ((*VERTEBRATES, 8), True),
        ((TROUT, PIKE), True),
        ((WHALE, LION), True),
        ((TROUT, PIKE), True),
    ]
    assert len(now.past) == steps + 1
    assert now.message.endswith("2 locked groups include them.")
    assert "Mammals: " in now.sentence_of(now.constraints[0])
    assert enabled_are_consistent(now.constraints, now.n_items)
    assert set(next(iter(mine.start.groups))) == {BAT, WHALE, LION, 8}


def test_a_lock_around_a_group_without_one_includes_the_item_and_so_does_a_disabled_lock(mine):
    mine(act.AddConstraint(VERTEBRATES, EVERYTHING_ELSE))
    mine(act.AddConstraint((TROUT, PIKE), EVERYTHING_ELSE))
    mine(act.DisableConstraint(2))
    now = accept(mine, ("eel",), ("f",))
    assert [each.group for each in now.constraints] == [(*VERTEBRATES, 8), (TROUT, PIKE, 8)]
    mine(act.EnableConstraint(2))
    assert mine.session.constraints[1].enabled
    assert mine.session.conflict is None


def test_a_lock_at_the_place_of_a_group_includes_the_item(mine):
    mammals = (BAT, WHALE, LION)
    mine(act.AddConstraint(mammals, (TROUT, PIKE, WASP, CROW, NEWT)))
    mine(act.AddConstraint(mammals, EVERYTHING_ELSE))
    mine.settle()
    mine(act.ReplaceGroups((Group("Nearly mammals", (*mammals, WASP), id="n"),)))
    session = mine.session
    taxonomy = Taxonomy(session.labels, session.tree, session.groups)
    assert set(session.tree.leaves(taxonomy.nodes[0])) == set(mammals)
    now = accept(mine, ("seal",), ("n",))
    assert now.groups[0].members == (*mammals, WASP, 8)
    assert now.constraints[1].group == (*mammals, 8)
    assert enabled_are_consistent(now.constraints, now.n_items)


def test_enabled_locks_stay_consistent_after_any_change(mine):
    rng = np.random.default_rng(0)
    for _ in range(6):
        group = tuple(rng.choice(8, int(rng.integers(2, 6)), replace=False).tolist())
        mine(act.AddConstraint(group, EVERYTHING_ELSE))
    for k in range(20):
        target = GROUPS[int(rng.integers(4))]
        accept(mine, (f"new {k}",), (target.id,))
        assert enabled_are_consistent(mine.session.constraints, mine.session.n_items)
        new = mine.session.n_items - 1
        for each in mine.session.constraints:
            old = {item for item in each.group if item < 8}
            assert (new in each.group) == (set(target.members) <= old)


def test_chosen_clusters_take_the_items_of_their_groups(mine):
    mine(act.ChooseClusters(ChosenClusters((1, 1, 2, 3, 3, 4, 4, 5))))
    now = accept(mine, ("seal", "stone", "sand"), ("m", "", ""))
    assert now.chosen_clusters.of_item == (1, 1, 2, 3, 3, 4, 4, 5, 1, 6, 7)


def test_each_new_item_is_drawn_below_its_group():
    order = np.array([2, 0, 1, 4, 3], np.int32)
    added = [(frozenset({0, 2}), [5, 7]), (frozenset({3, 4}), [6])]
    assert grown_order(order, added, 9).tolist() == [2, 0, 5, 7, 1, 4, 3, 6, 8]


def test_known_names_and_unknown_groups_are_refused_in_a_sentence_that_names_them(mine):
    before = mine.session
    for labels, groups, wrong in (
        (
            ("seal", "bat", "newt"),
            ("m", "m", "m"),
            "2 new items are in the data already: bat, newt",
        ),
        ((), (), "no new item"),
    ):
        with pytest.raises(InvalidData, match=wrong):
            accept(mine, labels, groups)
    for groups in (("gone",), ("m", "m")):
        with pytest.raises(InvalidTaxonomy):
            accept(mine, ("seal",), groups)
    assert mine.session is before
    with pytest.raises(InvalidData, match="different names"):
        rows("seal", "seal")
    with pytest.raises(InvalidData, match="do not fit"):
        AddedRows("x.csv", ("a", "b"), ("seal",), (("1",),))


def test_a_review_and_answers_stay(mine):
    mine(act.OpenSecondVersion("second.md", GROUPS, tuple(range(8))))
    mine(act.AddConstraint((TROUT, PIKE), WASP))
    now = accept(mine, ("seal",), ("m",))
    assert now.second_version.theirs == GROUPS
    assert now.constraints[0].group == (TROUT, PIKE)


def test_a_session_with_new_items_is_saved_and_replayed(mine):
    mine(act.AddConstraint((BAT, WHALE, LION), EVERYTHING_ELSE))
    accept(mine, (HOSTILE, "line\nbreak"), ("m", ""))
    mine.settle()
    accept(mine, ("eel",), ("f",))
    mine.settle()
    mine(act.Undo())
    loaded = load_session(save_session(mine.session))
    assert equal_values(loaded, mine.session)
    again = replay(
        loaded,
        lambda spec, effect: run_fake(spec, effect, 8 + spec.n_added),
        get,
    )
    for name in ("data", "labels", "groups", "constraints", "snapshot", "past"):
        assert equal_values(getattr(again, name), getattr(loaded, name)), name


def test_a_session_file_whose_added_items_are_not_its_last_is_refused(mine):
    now = accept(mine, ("seal",), ("m",))
    with pytest.raises(SessionFileError, match="not its last items"):
        load_session(save_session(replace(now, data=replace(now.data, added=(rows("eel"),)))))


def test_a_link_leaves_the_new_items_out(mine):
    mine(act.AddConstraint((BAT, WHALE, LION), EVERYTHING_ELSE))
    now = accept(mine, ("seal", "eel"), ("m", "f"))
    mine(act.AddConstraint((8, 9), WASP))
    mine(act.AddConstraint((BAT, WHALE), (8, TROUT)))
    mine(act.AddConstraint((BAT, LION), 8))
    found = link_of(mine.session, ViewState()).constraints
    assert [each[:2] for each in found] == [
        ((BAT, WHALE, LION), EVERYTHING_ELSE), ((BAT, WHALE), TROUT),
    ]  # fmt: skip
    assert now.n_items == 10


# ---------------------------------------------------------------------- the data

TABLE = b"name,legs,kind,class\nbat,4,fur,a\nwasp,6,bare,b\nnewt,4,bare,a\n"


def table_spec(*added):
    return DataSpec("table", "t.csv", filename="t.csv", content=TABLE, added=added)


def test_rows_follow_the_table_and_its_features_stay():
    plain = resolve(table_spec())
    new, notes = read_added_rows(
        b"name,class,kind,more,legs\nseal,a,fur,x,2\neel,,scales,,\n", "new.csv"
    )
    assert notes == ()
    data = resolve(table_spec(new))
    assert data.labels == ("bat", "wasp", "newt", "seal", "eel")
    assert np.array_equal(data.features[:3], plain.features)
    names = list(data.feature_names)
    assert names == ["legs", "kind=bare", "kind=fur"]
    assert np.array_equal(data.features[3:], [[2, 0, 1], [np.nan, 0, 0]], equal_nan=True)
    assert data.classes == ("a", "b", "a", "a", None)
    assert data.table.rows == 5
    assert data.notes[-1] == "2 items added from new.csv."


def test_reading_in_parts_gives_the_same_features_as_reading_at_once():
    content = "\n".join(
        ["name;legs;kind", *(f"n{k};{k},5;{'fur' if k % 2 else '?'}" for k in range(6))]
    )
    new, _ = read_added_rows(content.encode(), "new.csv")
    whole = resolve(table_spec(new))
    parts = resolve(table_spec(new.chosen([0]), new.chosen([1, 2]), new.chosen([3, 4, 5])))
    assert whole.labels == parts.labels
    assert np.array_equal(whole.features, parts.features, equal_nan=True)
    assert whole.features[3, 0] == 0.5


def test_columns_that_are_switched_on_later_are_read_for_new_items_too():
    new, _ = read_added_rows(b"name,legs,kind,class\nseal,2,fur,c\n", "new.csv")
    from hcviz.core.column_options import ColumnOptions

    spec = replace(table_spec(new), columns=(ColumnOptions("kind", used=False),))
    assert resolve(spec).feature_names == ("legs",)
    assert resolve(replace(spec, columns=())).features.shape == (4, 3)


def test_built_in_data_grow_as_well_and_data_without_features_do_not():
    new, _ = read_added_rows(b"name,milk,legs\nyeti,1,2\n", "new.csv")
    grown = resolve(DataSpec(added=(new,)))
    assert (grown.labels[-1], grown.n_items, grown.target) == ("yeti", 102, None)
    assert grown.problem().similarity.shape == (102, 102)
    matrix = read_table(b",a,b,c\na,1,2,3\nb,2,1,4\nc,3,4,1\n", "m.csv", kind="similarity")
    with pytest.raises(HcvizError, match="have none"):
        with_rows(matrix, new)
    measured = replace(resolve(DataSpec()), similarity=np.eye(101))
    with pytest.raises(HcvizError, match="similarities beside"):
        with_rows(measured, new)
    with pytest.raises(InvalidData, match="1 new item is in the data already: bat"):
        with_rows(resolve(table_spec()), rows("bat"))
