"""What people at a Python prompt give and get: frames, names, tables and pictures of a tree."""

from __future__ import annotations

import pickle
import sys
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

import hcviz
from hcviz import Problem, Tree, datasets
from hcviz.core.errors import InvalidConstraint, InvalidData, InvalidParameter, InvalidTree
from hcviz.core.layout import leaf_order
from tests.trees import random_tree

mpl.use("agg")

FRAME = pd.DataFrame(
    {"grams": [30.0, 4.0, 900.0, 1200.0], "colour": ["brown", "grey", "green", "green"]},
    index=["dog", "cat", "eel", "cod"],
)


@pytest.fixture
def pets() -> Problem:
    return Problem(FRAME)


def clades(tree):
    return set(tree.frame()["members"])


@st.composite
def trees(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return random_tree(rng, draw(st.integers(1, 14)), polytomies=True)


# ---------------------------------------------------------------------- what is given


def test_a_table_in_the_first_place_is_the_features(pets):
    assert pets.labels == ("dog", "cat", "eel", "cod")
    assert pets.feature_names == ("grams", "colour=brown", "colour=green", "colour=grey")
    same = Problem(features=FRAME)
    assert np.array_equal(pets.features, same.features)
    assert Problem(np.zeros((3, 2))).features.shape == (3, 2)
    with pytest.raises(InvalidData, match="Two tables"):
        Problem(FRAME, features=FRAME)


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.DataFrame])
def test_triplets_may_name_their_items(pets, form):
    rows = [("dog", "cat", "eel"), ("eel", "cod", "cat")]
    for made in (pets.with_triplets(form(rows)), Problem(FRAME, triplets=form(rows))):
        assert made.triplets.rows.tolist() == [[0, 1, 2], [2, 3, 1]]


def test_groups_may_name_their_items(pets):
    named = [{"eel", "cod"}, ["cat", "dog"]]
    for made in (pets.with_groups(named), Problem(FRAME, groups=named)):
        assert sorted(each.tolist() for each in made.groups) == [[0, 1], [2, 3]]
    assert [each.tolist() for each in pets.with_not_groups([["dog", "eel"]]).not_groups] == [[0, 2]]
    assert [each.tolist() for each in pets.with_group(["dog", "cod"]).groups] == [[0, 3]]
    for apart in ("eel", ["eel"], {"eel"}, [2]):
        assert pets.with_group({"dog", "cat"}, apart).triplets.rows.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("name", "hint"), [("eeel", "Did you mean 'eel'?"), ("zebra", "names in problem.labels")]
)
def test_an_unknown_name_is_one_sentence(pets, name, hint):
    with pytest.raises(InvalidConstraint) as raised:
        pets.with_triplets([("dog", "cat", name)])
    assert raised.value.message == f"The triplets name {name!r}, which is no item."
    assert hint in raised.value.hint


def test_a_data_set_is_run_as_the_page_runs_it():
    zoo = datasets.load("zoo")
    assert hcviz.fit("average", zoo) == hcviz.fit("average", zoo.problem())


# ---------------------------------------------------------------------- what is returned


@pytest.mark.parametrize("method", ["average", "crsc", "ddt"])
def test_trees_of_methods_have_names(pets, method):
    tree = hcviz.fit(method, pets)
    assert tree.labels == pets.labels
    again = Tree.from_newick(tree.to_newick(), pets.labels)
    assert clades(again) == clades(tree)
    assert hcviz.fit(method, FRAME.to_numpy()[:, :1].astype(float)).labels is None
    assert (tree.support is not None) == (method == "ddt")


def test_names_and_supports_are_kept_and_do_not_count_in_equality(pets):
    tree = hcviz.sample(pets, seconds=20).summary_tree()
    assert tree.labels == pets.labels
    assert tree.support[-1] == 1.0
    copy = pickle.loads(pickle.dumps(tree))
    assert copy == tree == tree.with_labels(None).with_support(None)
    assert copy.labels == tree.labels
    assert np.array_equal(copy.support, tree.support)
    assert tree.restrict([2, 0]).labels == ("eel", "dog")


def test_a_deferred_tree_keeps_its_names():
    tree = Tree.deferred(2, lambda: ([2, 2, -1], [0.0, 0.0, 1.0])).with_labels(["owl", "elm"])
    assert tree.root == 2
    assert tree.labels == ("owl", "elm")


def test_wrong_numbers_of_names_and_supports_are_refused():
    tree = Tree.star(3)
    with pytest.raises(InvalidTree, match="2 labels were given for a tree with 3 leaves"):
        tree.with_labels(["a", "b"])
    with pytest.raises(InvalidTree, match="3 supports were given for 1 inner nodes"):
        tree.with_support([1, 1, 1])


@pytest.mark.parametrize("wrong", ["abc", [0.5, 1.5], [-0.1, 1.0]])
def test_supports_are_shares(wrong):
    tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
    with pytest.raises(InvalidTree):
        tree.with_support(wrong)
    assert tree.with_support([np.nan, 1.0]).support[1] == 1.0


def test_clusters_are_those_of_scipy():
    points = np.random.default_rng(0).normal(size=(40, 3))
    tree = Tree.from_linkage(linkage(points, "average"))
    for k in (1, 2, 7, 40):
        ours = tree.clusters(k).to_numpy()
        theirs = fcluster(linkage(points, "average"), k, "maxclust")
        assert len(set(zip(ours.tolist(), theirs.tolist(), strict=True))) == k
        assert sorted(set(ours.tolist())) == list(range(1, k + 1))
        rank = np.argsort(leaf_order(tree))
        first = [rank[ours == c].min() for c in range(1, k + 1)]
        assert first == sorted(first)  # numbered from the top of the picture


@pytest.mark.parametrize("k", [0, 5, 1.5, "two"])
def test_a_number_of_clusters_that_cannot_be_is_one_sentence(pets, k):
    with pytest.raises(InvalidParameter, match="k must be"):
        hcviz.fit("average", pets).clusters(k)


@given(trees())
def test_the_frame_has_each_clade_once(tree):
    frame = tree.frame()
    expected = {
        v: tuple(sorted(tree.leaves(v).tolist())) for v in range(tree.n_leaves, tree.n_nodes)
    }
    assert frame["members"].to_dict() == expected
    assert frame["size"].to_dict() == {v: len(items) for v, items in expected.items()}
    assert frame["height"].to_dict() == {v: tree.height[v] for v in expected}
    assert frame["size"].is_monotonic_decreasing
    assert frame["support"].isna().all()


# ---------------------------------------------------------------------- pictures


@given(trees())
def test_the_picture_of_a_notebook_is_well_formed(tree):
    hostile = [f'<b>&"{i}' for i in range(tree.n_leaves)]
    found = ET.fromstring(tree.with_labels(hostile)._repr_html_())
    texts = [each.text for each in found if each.tag.endswith("text")]
    assert sorted(texts) == sorted(hostile)


def test_the_picture_of_a_notebook_has_the_supports_that_have_room():
    tree = Tree([4, 4, 5, 6, 5, 6, -1], [0, 0, 0, 0, 1, 1.01, 2], 4)
    svg = tree.with_support([0.4, 0.6, 1.0])._repr_html_()
    assert ">60<" in svg
    assert ">40<" not in svg  # its branch is a hundredth of the height
    assert Tree.star(4000)._repr_html_() is None


@pytest.mark.parametrize("orientation", ["left", "right", "top", "bottom"])
def test_a_plot_has_its_root_where_it_is_asked_for(pets, orientation):
    tree = hcviz.fit("average", pets).with_support([0.5, 0.6, 1.0])
    ax = tree.plot(orientation=orientation)
    lies = orientation in ("left", "right")
    low, high = ax.get_xlim() if lies else ax.get_ylim()
    assert (low > high) == (orientation in ("left", "bottom"))
    labels = ax.get_yticklabels() if lies else ax.get_xticklabels()
    assert sorted(each.get_text() for each in labels) == sorted(pets.labels)
    lines = np.concatenate(ax.collections[0].get_segments())
    assert lines[:, 0 if lies else 1].max() == pytest.approx(tree.height[-1])
    assert {each.get_text() for each in ax.texts} <= {"50", "60"}


def test_a_plot_takes_axes_and_styles(pets):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    tree = hcviz.fit("average", pets)
    assert tree.plot(ax, names=False, colors="red") is ax
    assert ax.collections[0].get_colors()[0][:3].tolist() == [1, 0, 0]
    assert ax.get_yticks().size == 0
    with pytest.raises(InvalidParameter, match="orientation"):
        tree.plot(ax, orientation="up")


@pytest.mark.parametrize("backend", ["bokeh", "matplotlib"])
@pytest.mark.parametrize("orientation", ["left", "right", "top", "bottom"])
def test_the_holoviews_element_is_drawn_by_both_backends(pets, backend, orientation):
    import holoviews as hv

    tree = hcviz.fit("average", pets)
    element = tree.hv(orientation=orientation)
    lies = orientation in ("left", "right")
    drawn = hv.render(element, backend=backend)
    if backend == "bokeh":
        x, y = ((r.start, r.end) for r in (drawn.x_range, drawn.y_range))
        axis = drawn.yaxis[0] if lies else drawn.xaxis[0]
        names = [axis.major_label_overrides[tick] for tick in axis.ticker.ticks]
    else:
        x, y = drawn.axes[0].get_xlim(), drawn.axes[0].get_ylim()
        ticks = drawn.axes[0].get_yticklabels() if lies else drawn.axes[0].get_xticklabels()
        names = [each.get_text() for each in ticks]
    along, across = (x, y) if lies else (y, x)
    assert (along[0] > along[1]) == (orientation in ("left", "bottom"))
    assert sorted(across) == [0, 4]
    assert (across[0] > across[1]) == lies  # the first item is at the top
    assert names == [pets.labels[i] for i in leaf_order(tree)]


def test_the_holoviews_element_has_the_values_of_the_clades(pets):
    tree = hcviz.fit("average", pets).with_support([0.5, 0.6, 1.0])
    element = tree.hv(names=False)
    table = element.Points.I.dframe().set_index("node")
    assert table["support"].to_dict() == {4: 0.5, 5: 0.6, 6: 1.0}
    assert table["height"].to_dict() == tree.frame()["height"].to_dict()
    corners = np.concatenate([piece.array() for piece in element.Path.I.split()])
    assert corners[:, 0].max() == pytest.approx(tree.height[-1])
    with pytest.raises(InvalidParameter, match="orientation"):
        tree.hv(orientation="up")


def test_arviz_gets_the_draws_of_each_chain(pets):
    import arviz

    posterior = hcviz.sample(pets, seconds=20)
    data = posterior.to_arviz()
    has = data.posterior["has_clade"]
    assert data.posterior.sizes["chain"] == data.sample_stats.sizes["chain"] == 2
    for k, (items, support) in enumerate(posterior.clades()):
        assert str(has["clade"].values[k]) == ", ".join(pets.labels[i] for i in items)
        assert float(has[..., k].mean()) == pytest.approx(support, abs=0.05)
    assert float(arviz.rhat(data)["root_height"]) < 1.05
    least = min(support for _, support in posterior.clades())
    fewer = posterior.to_arviz(min_support=least + 0.01).posterior
    assert fewer.sizes["clade"] < len(posterior.clades())


def test_arviz_is_optional(pets, monkeypatch):
    posterior = hcviz.sample(pets, seconds=20)
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(InvalidData, match=r"needs ArviZ, .* pip install arviz"):
        posterior.to_arviz()


# ---------------------------------------------------------------------- representations


def test_representations_are_one_short_line(pets):
    *_, last = hcviz.run("average", pets)
    shown = [
        repr(each)
        for each in (
            pets.with_group(["dog", "cat"]), datasets.load("zoo"), last, last.tree,
            hcviz.sample(pets, seconds=20),
        )
    ]  # fmt: skip
    assert shown[0] == "Problem(4 items, 4 features, 1 groups)"
    assert all(len(each) < 120 and "\n" not in each for each in shown)
    assert "accurate to" in shown[-1]


def test_a_table_is_read_as_the_page_reads_it(tmp_path):
    path = tmp_path / "pets.csv"
    FRAME.to_csv(path)
    for form in (path, str(path), path.read_bytes(), FRAME):
        data = hcviz.read_table(form)
        assert data.labels == ("dog", "cat", "eel", "cod")
        assert data.problem().similarity.shape == (4, 4)
    assert hcviz.read_table(path, columns={"colour": "off"}).feature_names == ("grams",)
    with pytest.raises(InvalidData, match="without options"):
        hcviz.read_table(FRAME, kind="similarity")
