"""DataFrames and arrays in the place of a problem: the same as the table in a file."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import hcviz
from hcviz import Problem
from hcviz.core.dataframes import features_of_frame
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.datasets import Dataset
from hcviz.io.tables import read_frame, read_table
from hcviz.ui.app.page import as_dataset

KITCHEN = """product,price,material,electric,rating,species,remark
Chef knife,36.29,steel,no,3.5,a,one
Whisk,4.5,,yes,,b,two
Pan,59,iron,no,4,b,three
Pot,61,iron,,4.1,a,four
Grater,9,steel,no,2,b,five
"""


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "kitchen.csv"
    path.write_text(KITCHEN)
    return path


@pytest.fixture
def frame(table) -> pd.DataFrame:
    return pd.read_csv(table, index_col=0)


def same(one, other) -> None:
    assert one.labels == other.labels
    assert one.feature_names == other.feature_names
    assert np.array_equal(one.features, other.features, equal_nan=True)


def test_a_frame_gives_the_same_data_as_its_file(table, frame):
    wanted = read_table(table)
    data = read_frame(frame, "kitchen")
    same(data, wanted)
    assert (data.feature_kinds, data.classes) == (wanted.feature_kinds, wanted.classes)
    assert (data.notes, data.title) == (wanted.notes, "kitchen")
    assert np.isnan(data.features).sum() == 4  # material twice, electric, rating
    with pytest.warns(UserWarning, match="'species' holds a class .* 'remark' holds 5 different"):
        problem = Problem(features=frame)
    same(problem, Problem(wanted.labels, wanted.filled(), feature_names=wanted.feature_names))
    assert problem.feature_names == (
        "price", "material=iron", "material=steel", "electric", "rating"
    )  # fmt: skip
    assert problem.labels[1] == "Whisk"
    assert problem.features[1].tolist() == [4.5, 0.5, 0.5, 1.0, pytest.approx(3.4)]


def test_a_frame_and_its_parquet_file_are_the_same(tmp_path):
    frame = pd.DataFrame(
        {
            "grams": pd.array([1, None, 3, 5], "Int64"),
            "sour": pd.array([True, None, False, True], "boolean"),
            "size": pd.Categorical(["s", "m", "m", "s"]),
            "colour": pd.Series(["red", None, "green", "red"], dtype="string"),
            "few": pd.arrays.SparseArray([0.0, 0.0, 1.5, 0.0]),
            "truth": [True, False, True, True],
        }
    )
    frame.index = ["a", "b", "c", "d"]
    frame["rank"] = pd.Categorical([1, 2, 2, 1])
    frame.drop(columns=["few", "rank"]).to_parquet(tmp_path / "fruit.parquet")
    wanted = read_table(tmp_path / "fruit.parquet")
    same(read_frame(frame.drop(columns=["few", "rank"]), "fruit"), wanted)
    assert wanted.feature_names == (
        "grams", "sour", "size=m", "size=s", "colour=green", "colour=red", "truth"
    )  # fmt: skip
    problem = Problem(features=frame)
    assert problem.features[:, problem.feature_names.index("few")].tolist() == [0, 0, 1.5, 0]
    assert problem.feature_names[-2:] == ("rank=1", "rank=2")  # categories, though numbers
    assert read_frame(frame, "fruit").feature_names == problem.feature_names
    assert problem.features[1, :2].tolist() == [3.0, pytest.approx(2 / 3)]


def test_given_names_override_those_of_the_frame():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["a", "b"])
    problem = Problem(labels=["p", "q"], features=frame, feature_names=["u", "v"])
    assert (problem.labels, problem.feature_names) == (("p", "q"), ("u", "v"))
    plain = Problem(features=pd.DataFrame(np.eye(3)))
    assert (plain.labels, plain.feature_names) == (("0", "1", "2"), ("0", "1", "2"))


def test_the_names_of_matrices_become_labels():
    near = np.array([[1, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1]])
    frame = pd.DataFrame(near, index=list("abc"), columns=list("abc"))
    shuffled = frame[list("cab")]
    for given in (frame, shuffled, frame.set_axis(range(3), axis=0)):
        problem = Problem(similarity=given)
        assert problem.labels == ("a", "b", "c")
        assert np.array_equal(problem.similarity, near)
    far = Problem(dissimilarity=1.0 - frame)
    assert far.labels == ("a", "b", "c")
    assert np.array_equal(far.dissimilarity, 1.0 - near)
    with pytest.raises(InvalidData, match="Row 'c' of the similarity has the column 'd'"):
        Problem(similarity=frame.set_axis(list("abd"), axis=1))
    with pytest.raises(InvalidData, match="features and similarity have different items"):
        Problem(features=pd.DataFrame({"x": [1, 2, 4]}, index=list("acb")), similarity=frame)


def test_functions_accept_features_instead_of_a_problem(table):
    frame = pd.read_csv(table, index_col=0)[["price", "material", "electric"]]
    problem = Problem(features=frame)
    tree = hcviz.fit("average", problem)
    array = problem.coordinates  # z-scores, since the columns have different units
    assert np.allclose(array.std(axis=0), 1.0)
    assert hcviz.fit("average", frame) == tree
    assert hcviz.fit("average", array) == tree
    assert hcviz.fit("average", array.tolist()) == tree
    assert [each.tree for each in hcviz.run("average", frame)][-1] == tree
    assert hcviz.fit("crsc", frame) == hcviz.fit("crsc", problem)


def test_explore_takes_frames_and_arrays(frame):
    same(as_dataset(frame, "x"), read_frame(frame, "x"))
    data = as_dataset(np.array([[1.0, np.nan], [2.0, 3.0]]), "x")
    assert isinstance(data, Dataset)
    assert data.labels == ("0", "1")
    assert data.filled().tolist() == [[1, 3], [2, 3]]
    assert as_dataset([[1, 2], [3, 4]], "x").features.tolist() == [[1, 2], [3, 4]]


def test_numbers_with_a_few_texts_are_categories_of_a_frame():
    frame = pd.DataFrame({"size": [38, 39, "L"], "n": [1, 2, 3]})
    with pytest.warns(UserWarning, match="'size' has the text 'L' among numbers, so it is read as"):
        found = features_of_frame(frame)
    assert found.names == ("size=38", "size=39", "size=L", "n")


def test_the_explorer_shows_a_frame(frame):
    view = hcviz.explore(frame, method="crsc")
    try:
        store = view.explorer.store
        assert store.session.labels == tuple(frame.index)
        assert store.view.error is None
    finally:
        view.explorer.close()


DAYS = pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1, "a", 2, 3, 4]}, "Row '1', column 'x' holds the text 'a' among numbers"),
        ({"x": [1, [2], 3]}, r"Row '1', column 'x' holds list '\[2\]'"),
        ({"x": np.array([1, 2j, 3], object)}, "Row '1', column 'x' holds complex"),
        ({"x": np.array([1, 2j, 3])}, "'x' holds complex numbers"),
        ({"x": [np.nan] * 3}, "no column of numbers or categories. The column 'x' is empty"),
        ({"x": [None] * 3}, "The column 'x' is empty"),
        ({"x": ["p", "q", "r"]}, "'x' holds 3 different texts and was left out"),
        ({"x": DAYS}, "The column 'x' holds dates or times"),
        ({"x": DAYS.tz_localize("UTC")}, "holds dates or times"),
        ({"x": DAYS - DAYS[0]}, "holds dates or times"),
        ({"x": DAYS.to_period("D")}, "holds dates or times"),
        ({"x": [1, DAYS[0].date(), 2]}, "Row '1', column 'x' holds dates"),
        ({"x": [1.0, np.inf, 2]}, "Row '1', column 'x' holds inf, which is too large"),
        ({}, "has no rows"),
    ],
)
def test_invalid_columns_raise_a_clear_error(columns, message):
    frame = pd.DataFrame(columns)
    for take in (lambda: Problem(features=frame), lambda: hcviz.fit("average", frame)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(InvalidData, match=message) as refused:
                take()
        assert "\n" not in str(refused.value)
    with pytest.raises(HcvizError) as refused:
        as_dataset(frame, "x")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"x": [1, 2]}, index=["a", "a"]), "'a' occurs twice in the index"),
        (pd.DataFrame({"x": [1, 2]}, index=["a", None]), "row 1 of the DataFrame .* has no name"),
        (pd.DataFrame({"x": [1, 2]}, index=["a", " "]), "row 1 of the DataFrame .* has no name"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "'x' occurs twice in the columns"),
        (pd.DataFrame(index=["a", "b"]), "has no columns"),
        (pd.DataFrame({"x": []}), "has no rows"),
        (
            pd.DataFrame({"x": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
            r"index of the DataFrame has 2 levels \(a MultiIndex\)",
        ),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
            "columns of the DataFrame have 2 levels",
        ),
        (pd.Series([1.0, 2.0], name="x"), r"shape \(n, d\), not \(2,\). .*to_frame\(\)"),
        (np.arange(3.0), r"not \(3,\). .*reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"not \(2, 2, 2\)"),
        ([1, 2, 3], r"not \(3,\)"),
        ([[1, 2], [3]], "Features must"),
        ([["a", "b"], ["c", "d"]], "are not numbers"),
        (csr_array(np.eye(3)), "features are a sparse matrix"),
    ],
)
def test_invalid_frames_raise_a_clear_error(frame, message):
    for take in (
        lambda: Problem(features=frame),
        lambda: as_dataset(frame, "x"),
        lambda: hcviz.fit("average", frame),
    ):
        with pytest.raises(InvalidData, match=f"(?s){message}") as refused:
            take()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("given", [None, 3, {"x": [1, 2]}, "zooo"])
def test_other_types_are_refused(given):
    with pytest.raises(
        InvalidData, match=r"must be a Problem|are a dict|neither a built-in data set"
    ):
        hcviz.fit("average", given)


def test_the_error_for_missing_cells_explains_how_to_fill_them():
    with pytest.raises(InvalidData, match="fill_missing"):
        hcviz.fit("average", np.array([[1.0], [np.nan]]))


@pytest.mark.parametrize("name", ["average", "ddt", "build", "dasgupta-search"])
def test_a_conflict_names_the_items(frame, name):
    told = [("Pan", "Pot", "Whisk"), ("Whisk", "Pot", "Pan"), ("Pan", "Whisk", "Grater")]
    problem = Problem(frame[["price", "rating"]].fillna(3.0)).with_triplets(told)
    with pytest.raises(hcviz.InconsistentTriplets, match=r"Pan, Pot \| Whisk; ") as caught:
        hcviz.fit(name, problem)
    assert caught.value.conflict == (0, 1)
    assert "Grater" not in caught.value.message
