"""Each type of view has one renderer, which makes plain JSON of any method's view."""

from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from PIL import Image

from hcviz.core.snapshot import Graph, Mask, Matrix, Points, Series, View
from hcviz.ui.app.sections import SECTIONS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.method_views import renderers
from hcviz.ui.features.similarity_queries import model as similarity_queries_model
from hcviz.ui.features.tree_tools import model as tree_tools_model
from hcviz.ui.state import data_sources as sources
from tests.conftest import ROOT
from tests.stores import over_zoo

SECTION = SECTIONS["views"]
N = 101


@pytest.fixture
def store(loop):
    with over_zoo(loop, "build") as made:
        made.drawn = made.session.snapshot
        yield made


def shown(store, **given):
    """What the section draws of these views, by name."""
    snapshot = replace(store.session.snapshot, views=given)
    store.session = replace(store.session, snapshot=snapshot)
    store.drawn = snapshot
    found = SECTION.state(store)
    assert json.loads(json.dumps(found)) == found
    return {} if found is None else {each.pop("name"): each for each in found["views"]}


def test_every_type_of_view_has_one_renderer():
    assert set(renderers.RENDERERS) == set(get_args(View))


def test_the_browser_draws_every_kind():
    script = (ROOT / "hcviz" / "ui" / "parts" / "plots.js").read_text()
    known = set(re.findall(r"^VIEWS\.(\w+) =", script, re.MULTILINE))
    source = (ROOT / "hcviz" / "ui" / "features" / "method_views" / "renderers.py").read_text()
    assert set(re.findall(r'"kind": "(\w+)"', source)) == known


def test_without_views_there_is_no_section(store):
    assert shown(store) == {}


def test_a_series_is_a_line_with_gaps(store):
    line = Series(np.array([0.0, 1.0, 2.0]), np.array([3.0, np.nan, 5.0]), "round", "cost")
    assert shown(store, cost=line)["cost"] == {
        "kind": "series", "points": [[0.0, 3.0], None, [2.0, 5.0]], "x": "round", "y": "cost",
    }  # fmt: skip
    long = np.arange(5_000.0)
    assert len(shown(store, long=Series(long, long))["long"]["points"]) <= renderers.MAX_POINTS
    assert shown(store, none=Series(long[:0], long[:0])) == {}


def test_a_matrix_is_a_picture_dark_where_it_is_high(store):
    found = shown(store, table=Matrix(np.array([[0.0, 1.0, np.nan], [2.0, 4.0, 0.0]])))["table"]
    image = Image.open(io.BytesIO(base64.b64decode(found.pop("image").partition(",")[2])))
    grey, seen = np.moveaxis(np.asarray(image), -1, 0)
    assert grey.tolist() == [[255, 191, 255], [128, 0, 255]]
    assert seen.tolist() == [[255, 255, 0], [255, 255, 255]]  # the unknown cell is transparent
    assert found == {"kind": "matrix", "rows": 2, "cols": 3, "low": "0", "high": "4"}


def test_a_large_matrix_keeps_its_highest_value(store):
    """One high cell of 300 x 300 is in the picture and in the caption, at any place."""
    values = np.zeros((300, 300))
    values[100, 101] = 100.0
    values[7, 7] = np.nan
    found = shown(store, table=Matrix(values))["table"]
    image = Image.open(io.BytesIO(base64.b64decode(found["image"].partition(",")[2])))
    assert max(image.size) <= renderers.MAX_CELLS
    assert (np.asarray(image)[..., 0] == 0).sum() == 1
    assert (found["low"], found["high"]) == ("0", "100")
    nothing = shown(store, table=Matrix(np.full((2, 2), np.nan)))["table"]
    assert nothing == {"kind": "sentence", "sentence": "This matrix has no values."}


def test_whether_there_is_a_section_draws_nothing(store, monkeypatch):
    """It is asked for after every change of the page."""
    square = np.ones((2, 2))
    shown(store, table=Matrix(square))
    called = []
    monkeypatch.setattr(renderers, "RENDERERS", {Matrix: lambda *given: called.append(given)})
    assert SECTION.depends_on(store)[0]
    assert called == []


def test_a_matrix_of_items_is_a_heatmap(store):
    square = np.add.outer(np.arange(N), np.arange(N)) / N
    assert shown(store, kernel=Matrix(square, items=True)) == {}
    problem, snapshot = store.problem, store.session.snapshot
    assert sources.similarity_to_show(problem, snapshot, "kernel")[1] is square
    assert ["kernel", "kernel"] in tree_tools_model.state(store)["sources"]


def test_a_graph_has_a_place_for_every_node(store):
    edges = np.array([[0, 1], [1, 2]], np.int32)
    found = shown(store, chain=Graph(("a", "b", "c"), edges, directed=True))["chain"]
    assert (found["names"], found["edges"], found["directed"]) == (
        ["a", "b", "c"], [[0, 1], [1, 2]], True,
    )  # fmt: skip
    places = np.array(found["at"])
    assert places.shape == (3, 2)
    assert (places.min() >= 0) & (places.max() <= 1)
    assert len({tuple(place) for place in found["at"]}) == 3
    assert shown(store, chain=Graph(("a", "b", "c"), edges, directed=True))["chain"] == found
    large = Graph(tuple(map(str, range(500))), edges)
    assert len(shown(store, large=large)["large"]["at"]) == 500
    huge = Graph(tuple(map(str, range(5_000))), edges)
    assert shown(store, huge=huge)["huge"] == {
        "kind": "sentence", "sentence": "5,000 nodes: up to 1,000 are drawn.",
    }  # fmt: skip
    assert shown(store, wrong=Graph(("a", "b"), edges)) == {}


def test_points_are_items_and_a_click_selects_one(store):
    xy = np.random.default_rng(0).normal(size=(N, 2))
    found = shown(store, plane=Points(xy))["plane"]
    assert [each["id"] for each in found["points"]] == list(range(N))
    assert [each["name"] for each in found["points"]] == list(store.session.labels)
    SECTION.acts(Gestures(store), "item", {"id": 5})
    assert store.view.selection == (5,)
    chosen = [
        each["id"] for each in shown(store, plane=Points(xy))["plane"]["points"] if each["chosen"]
    ]
    assert chosen == [5]
    SECTION.acts(Gestures(store), "item", {"id": N})
    assert store.view.selection == (5,)
    assert shown(store, others=Points(xy[:7])) == {}


def test_a_mask_darkens_the_heatmap_of_any_method_and_has_a_switch(store):
    some = np.arange(4, dtype=np.int32)
    mask = Mask.of([(some, some)])
    assert shown(store, looked=mask)["looked"] == {"kind": "mask", "on": True}
    assert similarity_queries_model.heatmap_mask(store) is mask
    SECTION.acts(Gestures(store), "mask", {})
    assert shown(store, looked=mask)["looked"] == {"kind": "mask", "on": False}
    assert similarity_queries_model.heatmap_mask(store) is None
    everything = np.arange(N, dtype=np.int32)
    assert shown(store, looked=Mask.of([(everything, everything)])) == {}


@pytest.mark.parametrize("method", ["spectral", "kmeans", "active-spectral"])
def test_the_mask_has_one_switch_at_most(loop, method):
    with over_zoo(loop, method) as store:
        assert any(isinstance(view, Mask) for view in store.session.snapshot.views.values())
        assert SECTION.state(store) is None


def test_the_curve_of_clusters_is_drawn_by_its_own_section():
    spur = (ROOT / "hcviz" / "ui" / "features" / "cluster_count" / "section.js").read_text()
    assert "VIEWS.series(" in spur
    assert "svg(" not in spur
