"""One rule says which distance is used: docs/distances.md."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

import hcviz
from hcviz import Problem, cli
from hcviz.algorithms import get
from hcviz.core.errors import InvalidData
from hcviz.core.similarity import similarity_from_features, zscore
from hcviz.datasets import Dataset
from hcviz.metrics import clade_changes, triplet_distance
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.features.parameters import model as parameters_model
from tests.stores import over_zoo

ZOO = hcviz.datasets.load("zoo")
FRAME = pd.DataFrame(ZOO.features, index=list(ZOO.labels), columns=list(ZOO.feature_names))
EXPECTED = hcviz.Tree.from_linkage(linkage(pdist(zscore(ZOO.features)), "average"))


def same_clades(tree, other):
    changes = clade_changes(tree, other)
    return not changes.gained.size and not changes.lost.size


@pytest.mark.parametrize(
    "given",
    [ZOO, ZOO.problem(), FRAME, Problem(FRAME), hcviz.read_table(FRAME), zscore(ZOO.features)],
    ids=["data set", "its problem", "frame", "problem of a frame", "table read", "z-scores"],
)
def test_python_has_one_answer(given):
    tree = hcviz.fit("average", given)
    assert same_clades(tree, EXPECTED)
    assert round(triplet_distance(ZOO.target, tree), 3) == 0.188
    assert hcviz.fit("crsc", given) == hcviz.fit("crsc", ZOO)


def test_the_command_line_has_the_same_answer(capsys):
    assert cli.main(["run", "average", "zoo"]) == 0
    assert same_clades(hcviz.Tree.from_newick(capsys.readouterr().out, ZOO.labels), EXPECTED)


def test_the_page_has_the_same_answer_and_its_picture_names_it(loop):
    explorer = Explorer(loop.schedule, link=Link(data="zoo", method="average"))
    try:
        loop.until(lambda: explorer.store.session.status == "settled")
        assert same_clades(explorer.store.drawn.tree, EXPECTED)
        saved = []
        explorer.files.part.download = lambda *file: saved.append(file[1].decode())
        parts = {"heatmap": False, "supports": False, "names": False, "caption": True}
        explorer.files.act("save-picture", {"format": "svg", "width": 0, "height": 0, **parts})
        loop.until(lambda: saved)
        assert "Euclidean distance of the z-scored columns." in saved[0]
    finally:
        explorer.store.close()


def test_the_page_says_what_the_method_compares(loop):
    for method, compared in (
        ("average", "Euclidean distance of the z-scored columns"),
        ("crsc", "cosine of the z-scored columns"),
    ):
        with over_zoo(loop, method) as store:
            assert parameters_model.state(store)["about"].endswith(f" Compared: {compared}.")


def test_measured_and_chosen_values_come_first():
    features = np.array([[0.0], [1.0], [5.0], [7.5]])
    near = 1.0 - np.abs(np.subtract.outer([0, 9, 1, 8], [0, 9, 1, 8])) / 9.0
    for problem in (
        Problem(features=features, similarity=near),
        Problem(features=features, dissimilarity=1.0 - near),
    ):
        assert hcviz.fit("average", problem).has_clade([0, 2])
        assert "measured" in problem.distance_text
    chosen = ZOO.problem(similarity="gaussian")
    condensed = chosen.similarity.max() - chosen.similarity[np.triu_indices(101, 1)]
    linked = hcviz.Tree.from_linkage(linkage(condensed, "complete"))
    assert same_clades(hcviz.fit("complete", chosen), linked)


def test_the_heatmap_and_the_cuts_have_the_cosine():
    expected = similarity_from_features(ZOO.features, "cosine-z")
    assert np.allclose(ZOO.problem().similarity, expected)
    assert np.allclose(Problem(FRAME).similarity_or_default, expected)


def test_an_array_is_taken_as_it_is():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 300.0], [9.0, 301.0]])
    linked = hcviz.Tree.from_linkage(linkage(points, "average"))
    assert same_clades(hcviz.fit("average", points), linked)
    assert hcviz.fit("average", points).info.compared == "Euclidean distance of the features"


def test_another_oracle_is_not_the_default():
    problem = ZOO.problem().with_oracle(hcviz.FeatureOracle(ZOO.features))
    assert problem.similarity_kind is None
    with pytest.raises(InvalidData, match="Only features"):
        Problem(labels=["a", "b"]).with_similarity_kind("cosine-z")


def test_a_given_problem_is_compared_again_on_the_page():
    data = hcviz.datasets.Dataset.from_problem(ZOO.problem())
    assert data.similarity is None
    assert same_clades(hcviz.fit("average", data), EXPECTED)


# ---------------------------------------------------------------------- tree.info


def test_the_info_names_method_distance_seed_and_constraints():
    problem = Problem(FRAME).with_triplets([("dolphin", "bear", "carp")])
    tree = hcviz.fit("crsc", problem, seed=3, refine=True)
    assert (tree.info.method, tree.info.seed) == ("crsc", 3)
    assert tree.info.constraints == {"triplets": 1}
    assert tree.info.params == {"refine": True}
    assert str(tree.info).endswith("1 triplet (hard). Refine = True. Seed 3.")
    copy = pickle.loads(pickle.dumps(tree))
    assert copy.info == tree.info
    assert tree.with_labels(None).info == tree.info
    assert tree.restrict([0, 1, 2]).info is None
    assert hcviz.Tree.star(2).info is None


def test_the_trees_of_a_sampler_have_it():
    posterior = hcviz.sample(FRAME.iloc[:8], seconds=5, seed=2, beta=1.0)
    for tree in (posterior.summary_tree(), hcviz.fit("ddt", FRAME.iloc[:8], seed=2, steps=400)):
        assert (tree.info.method, tree.info.seed, tree.info.n_items) == ("ddt", 2, 8)
    assert posterior.info.constraint_mode == "soft"


@pytest.mark.parametrize("name", hcviz.algorithms())
def test_every_method_says_what_it_compares(name):
    method = get(name)
    comparisons = [[0, 1, 2], [1, 0, 2]]
    problem = Problem(features=np.eye(3), comparisons=comparisons, triplets=[[0, 1, 2]])
    text = method.info(problem, {}, None).compared
    needs = set(method.needs)
    assert text or needs <= {"items", "triplets", "comparison oracle", "piles"}


def test_one_set_that_is_no_group_is_in_the_singular():
    made = Problem(features=[[0.0], [1.0], [5.0]], not_groups=[[0, 2]])
    assert "1 set that is no group (hard)" in str(get("ddt").info(made, {}))
    two = made.with_not_groups([[0, 2], [1, 2]])
    assert "2 sets that are no groups (hard)" in str(get("ddt").info(two, {}))


def test_a_copy_of_a_tables_problem_is_still_a_table():
    copied = replace(Problem(FRAME), triplets=[(0, 1, 2)])
    assert (copied.is_table, copied.scaling) == (True, "zscore")
    np.testing.assert_array_equal(copied.coordinates, Problem(FRAME).coordinates)
    unchanged = replace(Problem(FRAME), piles=())
    assert hcviz.fit("average", unchanged) == hcviz.fit("average", Problem(FRAME))


@pytest.mark.parametrize("scaling", ["none", "range", "centred", "zscore"])
def test_a_problem_keeps_the_weights_of_columns_on_the_page(scaling):
    table = np.random.default_rng(0).normal(size=(12, 3))
    table[:, 2] = 4.0
    names = [f"i{k}" for k in range(12)]
    given = Dataset("some", "Some", names, table, feature_weights=[9.0, 1.0, 2.0])
    given = given.problem(scaling=scaling)
    data = Dataset.from_problem(given)
    assert data.feature_weights == pytest.approx((9.0, 1.0, 2.0))
    page = data.problem(scaling=scaling)
    np.testing.assert_allclose(page.features, given.features)
    np.testing.assert_allclose(page.similarity_or_default, given.similarity_or_default)
    trees = [hcviz.fit("average", each) for each in (page, given)]
    np.testing.assert_array_equal(trees[0].parent, trees[1].parent)
    np.testing.assert_allclose(trees[0].height, trees[1].height)
