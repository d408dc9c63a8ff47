"""The uncertainty heatmap: what it counts, when, and what is shown meanwhile."""

from __future__ import annotations

import threading
from itertools import combinations

import numpy as np
import pytest

from hcviz.core.errors import InvalidData
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs import Samples
from hcviz.session import actions as act
from hcviz.session.model import Session
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.features.tree_tools import model as tree_tools_model
from hcviz.ui.features.uncertainty_map import model as uncertainty_map_model
from hcviz.ui.features.uncertainty_map.model import UncertaintyMap
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre, Items
from hcviz.ui.tree.heatmap_cells import uncertainty_cells
from tests.stores import over_zoo, samples_of
from tests.trees import random_tree


@pytest.fixture
def store(loop):
    with over_zoo(loop, "ddt") as made:
        made.drawn = made.session.snapshot
        yield made


def counted(store, loop):
    """A keeper of the store's picture, and what it has shown."""
    shown = []
    return UncertaintyMap(store, loop.schedule, shown.append), shown


def test_it_is_the_variance_of_the_depth_of_every_two_items_lca(loop):
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, 9, polytomies=True) for _ in range(12)]
    samples = samples_of(9, (Snapshot(tree, k, 12) for k, tree in enumerate(trees, 1)))
    with samples.open() as posterior:
        kept = posterior.trees()
    store = Store(Session(labels=tuple("abcdefghi")), loop.schedule)
    store.session = Session(labels=tuple("abcdefghi"), snapshot=Snapshot(kept[-1], 12, 12))
    store.posteriors.put(store.session.shown, samples)
    keeper, shown = counted(store, loop)
    keeper.update()
    assert loop.waiting.empty()  # it is not shown
    store.change_view(matrix="uncertainty")
    keeper.update()
    loop.until(lambda: shown)
    cells = shown[0]
    for i, j in combinations(range(9), 2):
        depths = [int(tree.depth[tree.lca(i, j)]) for tree in kept]
        assert cells.values[i, j] == cells.values[j, i] == pytest.approx(np.var(depths))
    assert cells.order is None
    assert cells.low == 0
    assert not cells.diverging
    store.close()


def test_equal_trees_are_all_of_one_colour_and_no_error():
    cells = uncertainty_cells(np.zeros((5, 5)))
    assert (cells.levels == 0).all()
    assert cells.high > cells.low


def test_it_is_counted_apart_from_the_page_and_once_for_the_same_trees(store, loop):
    keeper, shown = counted(store, loop)
    store.change_view(matrix="uncertainty")
    keeper.update()
    names = {thread.name for thread in threading.enumerate()}
    assert "hcviz-uncertainty" in names or not loop.waiting.empty()
    keeper.update()  # while it is under way
    loop.until(lambda: shown)
    keeper.update()
    assert len(shown) == 1
    store.dispatch(act.Rerun())
    loop.until(lambda: store.session.status == "settled")
    keeper.update()
    loop.until(lambda: len(shown) == 2)
    keeper.recompute()
    loop.until(lambda: len(shown) == 3)


def test_during_a_run_it_is_updated_at_intervals(store, loop, monkeypatch):
    keeper, shown = counted(store, loop)
    store.change_view(matrix="uncertainty")
    monkeypatch.setattr(uncertainty_map_model, "MIN_SECONDS", 1e6)
    keeper.update()
    loop.until(lambda: shown)
    store.dispatch(act.SetParams({"steps": 10**9}))
    before = len_of(store)
    loop.until(lambda: len_of(store) > before + 2)  # the same samples: the run only goes on
    keeper.update()
    assert not keeper.busy  # not yet
    store.dispatch(act.Cancel())
    keeper.update()
    loop.until(lambda: len(shown) == 2)


def len_of(store):
    with store.samples.open() as posterior:
        return 0 if posterior is None else len(posterior)


def test_an_unavailable_heatmap_falls_back_to_similarity_with_a_reason(loop):
    with over_zoo(loop, "average") as store:
        store.change_view(matrix="uncertainty")
        tools = tree_tools_model.state(store)
        assert tools["matrix"] == "similarity"
        assert tools["noUncertainty"] == "Only of trees that are sampled."
        assert uncertainty_map_model.depends_on(store) == (None,)
        keeper, shown = counted(store, loop)
        keeper.update()
        assert not keeper.busy
        assert not shown
    many = Store(Session(), loop.schedule)
    many.session = Session(labels=tuple(map(str, range(2001))))
    many.posteriors.put(many.session.shown, Samples(2001))
    assert uncertainty_map_model.unavailable_because(many) == "Only of 2,000 items or fewer."
    many.close()


def test_a_link_asks_for_it(loop):

    explorer = Explorer(loop.schedule, link=Link(data="zoo", matrix="uncertainty"))
    try:
        loop.until(lambda: explorer.centre.has_uncertainty)
        loop.until(lambda: explorer.tools.state["matrix"] == "uncertainty")
        assert explorer.centre.source.cells.kind == "uncertainty"
        assert "variance of the LCA" in explorer.centre.figures.grid.head.object
        explorer.store.change_view(matrix="similarity")
        assert explorer.centre.source.cells.kind == "similarity"
    finally:
        explorer.close()


def test_other_items_take_it_away(loop):

    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(Items(list("abc"), None, None, None, None, np.eye(3)))
    centre.set_tree(Tree.star(3))
    centre.set_uncertainty(uncertainty_cells(np.eye(3)))
    centre.set_matrix("uncertainty")
    assert centre.figures.heat.x_range.tags == ["rows"]  # columns are the items too
    with pytest.raises(InvalidData, match="4 items"):
        centre.set_uncertainty(uncertainty_cells(np.eye(4)))
    centre.set_items(Items(list("abcd"), None, None, None, None, np.eye(4)))
    assert not centre.has_uncertainty
