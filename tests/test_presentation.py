"""The presentation without a browser: its stops, what it collapses, and what it leaves behind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hcviz
from hcviz.core.tree import Tree
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.features.presentation import model
from hcviz.ui.features.presentation.stops import MAX_ROWS, MAX_STOPS, collapsed_nodes, stops
from hcviz.ui.parts.palette import THEMES, muted

ZOO = hcviz.datasets.load("zoo")
TREE = hcviz.fit("average", ZOO)


def rows(tree, collapsed):
    return tree.n_leaves - sum(int(tree.size[node]) - 1 for node in collapsed)


def test_without_groups_the_stops_go_from_the_root_to_lower_clades():
    found = stops(TREE, (), np.arange(TREE.n_leaves))
    assert found[0] == TREE.root
    assert len(found) == MAX_STOPS + 1
    heights = TREE.height[list(found)]
    assert (np.diff(heights) <= 0).all()
    assert len(set(found)) == len(found)


def test_groups_are_the_stops_from_top_to_bottom_the_larger_first():
    tree = Tree([5, 5, 6, 7, 7, 6, 8, 8, -1], [0, 0, 0, 0, 0, 1, 2, 1, 3], 5)
    assert stops(tree, (7, 5, 6, -1, 8), range(5)) == (8, 6, 5, 7)
    assert stops(tree, (7, 5, 6), (3, 4, 2, 0, 1)) == (8, 7, 6, 5)


@pytest.mark.parametrize("node", [TREE.root - 1, TREE.root - 9, TREE.n_leaves + 3, 4])
def test_few_rows_remain_and_the_clade_talked_about_is_in_view(node):
    items = TREE.leaves(node)
    collapsed = collapsed_nodes(TREE, items, ())
    assert rows(TREE, collapsed) <= MAX_ROWS
    assert node not in collapsed
    owned = np.concatenate([TREE.leaves(each) for each in collapsed])
    assert len(owned) == len(set(owned.tolist()))
    if len(items) <= 5:
        assert not np.isin(items, owned).any()


def test_named_groups_stay_collapsed_unless_they_are_talked_about():
    named = TREE.smallest_clade(TREE.leaves(TREE.root - 1))
    assert named in collapsed_nodes(TREE, (), (named,))
    assert named not in collapsed_nodes(TREE, TREE.leaves(named), (named,))
    small = TREE.restrict(np.arange(10))
    assert collapsed_nodes(small, (), ()) == []


def test_muted_colours_keep_the_accent():
    for theme in THEMES.values():
        faint = muted(theme)
        assert faint.accent == theme.accent
        assert set(faint.clusters) == {faint.branch}
        assert faint.branch != theme.branch


@pytest.fixture
def explorer(loop):
    made = Explorer(loop.schedule, link=Link(data="zoo", method="average"))
    loop.until(lambda: made.store.session.status == "settled")
    yield made
    made.close()


def test_the_keys_step_and_the_page_is_as_before(explorer):
    store, press, centre = explorer.store, explorer.keyboard.press, explorer.centre
    store.change_view(selection=(3, 4), sheet="cloud", message="Hello.")
    centre.toggle_collapse(TREE.leaves(TREE.root - 1))
    centre.show_rows(2, 9)
    before, picture = store.view, centre.view_settings()
    press("p")
    assert model.state(store)["heading"] == "Zoo (101 animals)"
    assert centre.state.layout.n_rows <= MAX_ROWS
    for key in ("ArrowRight", "PageDown", "t", "u"):  # the last two do nothing
        press(key)
    shown = model.state(store)
    assert (shown["at"], shown["stops"]) == (2, MAX_STOPS)
    assert f"{len(store.view.selection)} of 101 items · " in shown["detail"]
    assert not store.view.draft.open
    press("ArrowLeft")
    assert model.state(store)["at"] == 1
    store.change_view(selection=(5, 50))  # a click beside the stops
    assert model.state(store)["at"] == 0
    assert "not one branch" in model.state(store)["detail"]
    press("Escape")
    assert replace(store.view, n_redraws=0) == replace(before, n_redraws=0)
    after = centre.view_settings()
    assert after["rows"] == picture["rows"]
    assert [each.tolist() for each in after["collapsed"]] == [
        each.tolist() for each in picture["collapsed"]
    ]


def test_a_presentation_does_not_begin_in_a_lesson_and_ends_with_its_tree(explorer, loop):
    store = explorer.store
    explorer.lessons.start_or_stop()
    explorer.keyboard.press("p")
    assert store.view.presenting is None
    assert "End the lesson first" in store.view.message
    explorer.lessons.start_or_stop()
    explorer.keyboard.press("p")
    assert store.view.presenting is not None
    store.open_data(replace(store.session.data, name="iris"))
    loop.until(lambda: store.session.status == "settled" and store.session.n_items == 150)
    assert store.view.presenting is None
    assert explorer.centre.figures.grid.scale == 1
