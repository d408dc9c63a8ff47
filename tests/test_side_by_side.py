"""Several methods on the same data: their trees, their figures, and pictures side by side."""

from __future__ import annotations

import math

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from scipy.ndimage import binary_dilation

import hcviz
from hcviz import Problem, Tree
from hcviz.core.errors import InconsistentTriplets, InvalidData, InvalidParameter
from hcviz.core.tree_colours import BRANCH_COLOUR, CLUSTER_COLOURS
from hcviz.metrics import dasgupta_cost, triplet_distance
from hcviz.side_by_side import lines
from hcviz.side_by_side.lines import (
    COLOURS,
    MAX_EXACT,
    MIXED,
    aligned_orders,
    clade_colours,
    item_colours,
    tree_lines,
)

matplotlib.use("agg")

#: Two far groups of three, and an item apart.
POINTS = np.array([[0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9], [30, -5]], float)


def test_the_figures_are_those_of_the_trees():
    names = ["average", "ward", "crsc", "densest-cut", "active-spectral"]
    rule = [(0, 3, 1), (0, 1, 5)]  # the first contradicts the data
    compared = hcviz.compare_methods(POINTS, names, triplets=rule, seed=4)
    frame = compared.frame()
    assert list(frame.index) == list(compared.trees) == names
    problem = Problem(features=POINTS)
    for name, tree in compared.trees.items():
        alone = hcviz.fit(name, problem.with_triplets(rule), seed=4)
        assert tree == alone
        cost = dasgupta_cost(tree, problem.similarity_or_default)
        assert frame.loc[name, "cost"] == pytest.approx(cost)
        distance = triplet_distance(compared.trees["average"], tree)
        assert frame.loc[name, "distance"] == distance
        broken = sum(tree.lca(a, b) >= tree.lca(a, c) for a, b, c in rule)
        assert frame.loc[name, "violated"] == broken
    assert frame.loc["average", "queries"] == 21
    assert 0 < frame.loc["active-spectral", "queries"] <= 21
    assert math.isnan(frame.loc["ward", "queries"]) == (not rule)
    assert (frame["seconds"] > 0).all()


def test_parameters_groups_and_constraints_that_are_ignored():
    table = pd.DataFrame(POINTS, index=list("abcdefg"))
    compared = hcviz.compare_methods(
        table, {"average": {}, "ward": {"constraints": "repair"}}, groups=[{"a", "g"}]
    )
    assert compared.frame()["violated"].tolist() == [0, 0]
    assert compared.trees["ward"].has_clade([0, 6])
    assert compared.trees["ward"].info.params == {"constraints": "repair"}
    # a method that cannot keep this constraint runs without it, and its violation counts
    apart = Problem(features=POINTS).with_not_groups([{3, 4, 5}])
    compared = hcviz.compare_methods(apart, ["average"])
    assert compared.frame().loc["average", "violated"] == 1


def test_data_without_similarities_has_no_cost():
    problem = Problem(labels=list("abcd"), comparisons=[[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    frame = hcviz.compare_methods(problem, ["4k-al", "build"]).frame()
    assert frame["cost"].isna().all()
    assert frame["queries"].isna().all()


@pytest.mark.parametrize(
    ("methods", "error", "sentence"),
    [
        ([], InvalidParameter, "No method was given"),
        ("average", InvalidParameter, "must be a list of names"),
        (3, InvalidParameter, "must be a list of names"),
        (["average", "average"], InvalidParameter, "'average' is given twice"),
        (["average", "avrage"], InvalidParameter, "no method 'avrage'"),
        ({"average": {"speed": 3}}, InvalidParameter, "no parameter 'speed'"),
        ({"average": 3}, InvalidParameter, "must be a mapping"),
        (["average", "4-al"], InvalidData, "needs comparisons"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_run(methods, error, sentence, monkeypatch):
    monkeypatch.setattr(
        "hcviz.side_by_side.comparison.fit_with_metrics", lambda *_, **__: pytest.fail("it ran")
    )
    with pytest.raises(error, match=sentence):
        hcviz.compare_methods(POINTS, methods)


def test_contradictions_and_other_things_are_refused():
    with pytest.raises(InconsistentTriplets):
        hcviz.compare_methods(POINTS, ["average"], triplets=[(0, 1, 2), (0, 2, 1)])
    with pytest.raises(InvalidData, match="not int"):
        hcviz.compare_methods(3, ["average"])


def test_a_picture_has_the_same_colours_in_every_tree():
    compared = hcviz.compare_methods(
        pd.DataFrame(POINTS, index=list("abcdefg")), ["average", "single", "crsc"]
    )
    axes = compared.plot()
    assert [each.get_title(loc="left") for each in axes] == [
        "Average linkage", "Single linkage", "Recursive sparsest cut",
    ]  # fmt: skip
    inks = [
        {text.get_text(): to_hex(text.get_color()) for text in each.get_yticklabels()}
        for each in axes
    ]
    assert inks[0] == inks[1] == inks[2]
    assert inks[0]["a"] == inks[0]["b"] != inks[0]["d"]
    branches = axes[0].collections[0]
    assert {to_hex(each) for each in branches.get_colors()} <= {BRANCH_COLOUR, *CLUSTER_COLOURS}
    assert "0 violated" in axes[0].get_xlabel()
    with pytest.raises(InvalidParameter, match="1 axes were given for 3 methods"):
        compared.plot(axes[:1])


def test_a_notebook_shows_trees_and_figures_and_escapes_names():
    table = pd.DataFrame(POINTS, index=["<b>", *"bcdefg"])
    page = hcviz.compare_methods(table, ["average", "ward"])._repr_html_()
    assert page.count("<svg") == 2
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "violated" in page


def test_branches_have_the_colour_that_all_their_items_have():
    tree = Tree.from_newick("(((0,1),2),(3,4));")
    codes = [0, 0, 1, 2, 2]
    assert clade_colours(tree, codes)[:5].tolist() == codes
    of_clade = {tuple(np.sort(tree.leaves(v))): clade_colours(tree, codes)[v] for v in range(5, 9)}
    assert of_clade == {(0, 1): 0, (3, 4): 2, (0, 1, 2): MIXED, (0, 1, 2, 3, 4): MIXED}


def test_colours_are_of_the_larger_clusters():
    tree = hcviz.fit("average", POINTS)
    codes = item_colours(tree)
    assert codes[6] == MIXED  # alone
    assert {int(codes[0]), int(codes[3])} == {0, 1}
    assert codes[:6].tolist() == [codes[0]] * 3 + [codes[3]] * 3
    assert item_colours(Tree.star(2)).tolist() == [MIXED, MIXED]


def test_later_trees_are_turned_towards_the_first():
    first, second = Tree.from_newick("((0,1),(2,3));"), Tree.from_newick("((3,2),(1,0));")
    one, other = aligned_orders([first, second])
    assert one.tolist() == other.tolist()


def painted(ends: np.ndarray) -> np.ndarray:
    """The cells of a grid that lines along the axes cover."""
    found = np.zeros((201, 201), bool)
    for x0, y0, x1, y1 in np.round(ends * 200).astype(int):
        found[min(x0, x1) : max(x0, x1) + 1, min(y0, y1) : max(y0, y1) + 1] = True
    return found


def test_merged_lines_of_a_large_tree_cover_the_same_picture(monkeypatch):
    rng = np.random.default_rng(0)
    n = 2 * MAX_EXACT
    tree = hcviz.fit("ward", rng.normal(size=(n, 2)))
    order, codes = aligned_orders([tree])[0], item_colours(tree)
    merged = tree_lines(tree, order, codes)
    assert len(merged.ends) < tree.n_nodes
    assert set(merged.colours.tolist()) <= {MIXED, *range(COLOURS)}
    monkeypatch.setattr(lines, "MAX_EXACT", n)
    exact = tree_lines(tree, order, codes)
    one, other = painted(merged.ends), painted(exact.ends)
    assert not (one & ~binary_dilation(other, np.ones((3, 3)))).any()
    assert not (other & ~binary_dilation(one, np.ones((3, 3)))).any()
