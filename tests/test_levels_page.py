"""The row of levels on the page, without a browser: clusters by hand, names, collapsed levels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link, from_query, link_of, to_query
from hcviz.ui.features.levels import model
from hcviz.ui.features.tree_tools import model as tools_model


@pytest.fixture
def begun(loop):
    made = []

    def begin(**link):
        explorer = Explorer(loop.schedule, link=Link(**{"method": "average", **link}))
        made.append(explorer)
        loop.until(lambda: explorer.store.session.status == "settled")
        return explorer

    yield begin
    for explorer in made:
        explorer.close()


def press(explorer, name, **fields):
    explorer.controls["tools"].act(name, fields)


def of_item(explorer):
    found = explorer.centre.clusters()
    return None if found is None else tuple(found.tolist())


def collapsed(explorer):
    return {frozenset(each.tolist()) for each in explorer.centre.state.collapsed}


def by_hand(explorer):
    """Make a cut by hand: the largest of four clusters is split."""
    press(explorer, "clusters", value="4")
    numbers = explorer.centre.clusters()
    largest = int(np.bincount(numbers).argmax())
    explorer.store.change_view(selection=tuple(np.flatnonzero(numbers == largest).tolist()))
    press(explorer, "split")
    return numbers


def test_a_split_is_one_step_and_undo_brings_the_line_back(begun):
    explorer = begun()
    store, centre = explorer.store, explorer.centre
    before = by_hand(explorer)
    line = store.view.cut
    assert store.view.n_clusters == 5
    assert centre.state.cut is None
    assert tools_model.state(store)["levels"]["byHand"]
    assert model.cluster_field(store) == 5
    store.dispatch(act.Undo())
    assert np.array_equal(centre.clusters(), before)
    assert centre.state.cut == line
    store.dispatch(act.Redo())
    assert store.view.n_clusters == 5
    press(explorer, "merge")  # the selected clade is a part of the tree that was one cluster
    assert np.array_equal(centre.clusters(), before)


def test_a_number_and_the_line_replace_what_was_chosen_in_one_step(begun):
    explorer = begun()
    store = explorer.store
    by_hand(explorer)
    chosen = of_item(explorer)
    for replace_it in (
        lambda: press(explorer, "clusters", value="7"),
        lambda: explorer.centre.take_cut(0.5 * float(explorer.centre.state.tree.height[-1])),
    ):
        replace_it()
        assert store.session.chosen_clusters is None
        assert store.clusters.cut is not None
        store.dispatch(act.Undo())
        assert of_item(explorer) == chosen


def test_chosen_clusters_go_through_runs_files_and_links(begun, loop):
    explorer = begun()
    store = explorer.store
    by_hand(explorer)
    chosen = of_item(explorer)
    assert model.changes_sentence(store) == ""
    store.dispatch(act.SetMethod("single"))
    loop.until(lambda: store.session.status == "settled")
    tree = store.session.tree
    for number in set(of_item(explorer)):
        items = np.flatnonzero(np.array(of_item(explorer)) == number)
        assert int(tree.size[tree.smallest_clade(items)]) == items.size
    assert store.session.chosen_clusters.of_item == chosen
    assert "chosen by hand" in model.changes_sentence(store)
    store.dispatch(act.SetMethod("average"))
    loop.until(lambda: store.session.status == "settled")
    assert of_item(explorer) == chosen
    assert model.changes_sentence(store) == ""

    link = from_query(to_query(link_of(store.session, store.view)))
    assert of_item(begun(**vars(link))) == chosen
    press(explorer, "level", value="clusters")
    kept = replace(store.session, look=store.look_to_save)
    other = begun()
    assert other.store.restore(load_session(save_session(kept)))
    assert of_item(other) == chosen
    assert collapsed(other) == collapsed(explorer)
    assert other.store.view.level == "clusters"


def test_a_link_with_clusters_of_other_items_is_reported(begun):
    explorer = begun(chosen=(1, 2))
    assert explorer.store.session.chosen_clusters is None
    assert "clusters are of 2 items" in explorer.store.view.error[0]


def test_a_disabled_button_explains_why(begun):
    explorer = begun()
    store = explorer.store
    press(explorer, "split")
    assert store.view.message == model.SELECT_FIRST
    store.change_view(selection=(0,))
    press(explorer, "clusters", value=str(store.session.n_items))
    press(explorer, "split")
    assert "one item" in store.view.message
    assert store.session.chosen_clusters is None
    tree = store.session.tree
    store.change_view(selection=tuple(range(tree.n_leaves)))
    press(explorer, "split")
    assert "Several clusters" in store.view.message


def test_clusters_are_named_in_one_step_and_collapsed_by_level(begun):
    explorer = begun()
    store = explorer.store
    press(explorer, "name-clusters")
    assert "No clusters are marked" in store.view.message
    press(explorer, "clusters", value="6")
    press(explorer, "name-clusters")
    several = [k for k in set(of_item(explorer)) if of_item(explorer).count(k) > 1]
    assert len(store.session.groups) == len(several)
    assert set(model.cluster_names(store)) == set(several)
    press(explorer, "name-clusters")
    assert "has a name already" in store.view.message or "have a name already" in store.view.message
    assert len(store.session.groups) == len(several)
    press(explorer, "clusters", value="2")
    press(explorer, "name-clusters")
    press(explorer, "level", value="1")
    outer = collapsed(explorer)
    press(explorer, "level", value="2")
    assert outer != collapsed(explorer)
    assert all(any(inner <= each for each in outer) for inner in collapsed(explorer))
    store.dispatch(act.Undo(), act.Undo())
    assert store.session.groups == ()
    assert collapsed(explorer) == set()
    assert model.shown_level(store) == "all"


def test_the_collapsed_picture_follows_the_number_until_a_hand_changes_it(begun):
    explorer = begun()
    store, centre = explorer.store, explorer.centre
    press(explorer, "clusters", value="3")
    press(explorer, "level", value="clusters")
    three = collapsed(explorer)
    press(explorer, "clusters", value="8")
    assert collapsed(explorer) != three
    centre.expand(sorted(next(iter(collapsed(explorer)))))
    assert store.view.level == "hand"
    left = collapsed(explorer)
    press(explorer, "clusters", value="3")
    assert collapsed(explorer) == left
    press(explorer, "level", value="all")
    assert collapsed(explorer) == set()
