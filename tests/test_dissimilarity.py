"""Distances that were measured stay distances for the methods that want such."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

import hcviz
from hcviz import Problem, Tree, cli
from hcviz.algorithms import get
from hcviz.core.errors import InvalidData
from hcviz.core.similarity import from_distance
from hcviz.datasets import Dataset
from hcviz.io.session_file import load_session, save_session
from hcviz.io.tables import read_table
from hcviz.metrics import dasgupta_cost
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.history import steps as history_steps
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.features.node_costs import section as node_costs_section
from hcviz.ui.features.top_bar import model as top_bar_model
from hcviz.ui.state.store import Store


def written(matrix):
    names = [f"i{k}" for k in range(len(matrix))]
    cells = [list(map(repr, row)) for row in np.asarray(matrix, float).tolist()]
    rows = [",".join([name, *row]) for name, row in zip(names, cells, strict=True)]
    return "\n".join([",".join(["name", *names]), *rows]).encode()


@st.composite
def distance_matrices(draw):
    n = draw(st.integers(2, 7))
    some = st.one_of(st.integers(0, 5).map(float), st.floats(0, 1e6, allow_subnormal=False))
    condensed = draw(st.lists(some, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return squareform(condensed)


@given(distance_matrices(), st.sampled_from(["single", "complete", "average", "ward"]))
def test_linkages_of_an_uploaded_matrix_are_scipy_s_of_the_matrix_itself(matrix, method):
    data = read_table(written(matrix), "far.csv", kind="distance")
    assert np.array_equal(data.dissimilarity, matrix)
    assert np.array_equal(data.similarity, from_distance(matrix))
    tree = hcviz.fit(method, data.problem())
    wanted = Tree.from_linkage(linkage(squareform(matrix), method))
    assert tree == wanted  # ties too: the very numbers are asked
    assert hcviz.fit(method, Problem(dissimilarity=matrix)) == wanted


@given(distance_matrices())
def test_methods_for_dissimilarities_read_them(matrix):
    problem = read_table(written(matrix), "far.csv", kind="distance").problem()
    plain = Problem(similarity=matrix)  # numbers read as dissimilarities, as before
    for method, params in (
        ("densest-cut", {}),
        ("derandomised-cut", {}),
        ("dasgupta-search", {"objective": "dissimilarity", "proposals": 500}),
    ):
        assert hcviz.fit(method, problem, **params) == hcviz.fit(method, plain, **params)
    turned = Problem(similarity=from_distance(matrix))
    assert hcviz.fit("crsc", problem) == hcviz.fit("crsc", turned)


def test_of_the_other_problem_nothing_is_kept():
    far = squareform([1.0, 4.0, 2.0])
    problem = Problem(dissimilarity=far)
    assert np.array_equal(problem.similarity_or_default, from_distance(far))
    read = problem.as_dissimilarities()
    assert np.array_equal(read.similarity_or_default, far)
    assert np.array_equal(problem.similarity_or_default, from_distance(far))
    assert read.as_dissimilarities().similarity is read.similarity
    plain = Problem(similarity=far)
    assert plain.as_dissimilarities() is plain
    again = Dataset.from_problem(problem, "x").problem()
    assert np.array_equal(again.dissimilarity, far)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([[0, -1], [-1, 0]], "row 0, column 1 is -1"),
        ([[0, 1], [2, 0]], "must be symmetric"),
        ([[0, np.nan], [np.nan, 0]], "row 0, column 1"),
        ([[0, 1, 2]], "must be square"),
    ],
)
def test_what_are_no_distances_is_a_sentence(wrong, message):
    with pytest.raises(InvalidData, match=r"(?i)dissimilarit") as refused:
        Problem(dissimilarity=wrong)
    assert message.lower() in str(refused.value).lower()
    with pytest.raises(InvalidData, match="disagree"):
        Problem(dissimilarity=np.zeros((2, 2)), features=np.zeros((3, 1)))
    with pytest.raises(InvalidData, match="rows of dissimilarity"):
        Dataset("x", "x", ("a", "b"), dissimilarity=np.zeros((3, 3)))


def test_the_page_gives_the_distances_on(loop):
    matrix = squareform(np.random.default_rng(0).uniform(1, 9, 15))
    store = Store(Session(method="average", constraint_mode="ignored"), loop.schedule)
    try:
        spec = DataSpec(
            kind="table", name="far.csv", filename="far.csv", content=written(matrix),
            table_kind="distance",
        )  # fmt: skip
        assert store.open_data(spec)
        loop.until(lambda: store.session.status == "settled")
        assert store.session.tree == Tree.from_linkage(linkage(squareform(matrix), "average"))
        assert top_bar_model.state(store)["similarityNote"][0] == "distances"
        problem = store.problem
        assert node_costs_model.problem_as_read(store, problem) is problem
        store.session = replace(store.session, method="densest-cut")
        cost = dasgupta_cost(store.session.tree, matrix)
        read = node_costs_model.problem_as_read(store, problem)
        assert dasgupta_cost(store.session.tree, read.similarity) == pytest.approx(cost)
        assert inspector_model.DISSIMILARITY_NOTE not in inspector_model.state(store)["notes"]
    finally:
        store.close()


def clades(tree, labels):
    return {frozenset(labels[leaf] for leaf in clade) for clade in tree.clades()}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("densest-cut", {}),
        ("derandomised-cut", {}),
        ("random-cut", {}),
        ("dasgupta-search", {"objective": "dissimilarity", "proposals": 500}),
        ("average", {}),
    ],
)
def test_page_command_line_and_python_read_the_same_distances(
    method, params, loop, tmp_path, capsys
):
    """An opened distance matrix gives one tree and one cost, whichever way it comes in."""
    points = np.random.default_rng(3).normal(size=(9, 2))
    matrix = squareform(pdist(points))
    labels = [f"i{k}" for k in range(9)]
    path = tmp_path / "far.csv"
    path.write_bytes(written(matrix))

    tree = hcviz.fit(method, Problem(labels=labels, dissimilarity=matrix), **params)
    cost = dasgupta_cost(tree, matrix)
    frame = pd.DataFrame(matrix, labels, labels)
    assert hcviz.fit(method, Problem(dissimilarity=frame), **params) == tree

    options = [word for name, value in params.items() for word in (f"--{name}", str(value))]
    assert cli.main(["run", method, str(path), "--kind", "distance", "--json", *options]) == 0
    result = json.loads(capsys.readouterr().out)
    printed = Tree.from_newick(result["newick"], labels)
    assert clades(printed, labels) == clades(tree, labels)
    assert result["metrics"].get("cost", cost) == pytest.approx(cost)

    treats = get(method).triplets
    store = Store(Session(method=method, params=params, constraint_mode=treats), loop.schedule)
    try:
        spec = DataSpec(
            kind="table", name="far.csv", filename="far.csv", content=path.read_bytes(),
            table_kind="distance",
        )  # fmt: skip
        assert store.open_data(spec)
        loop.until(lambda: store.session.status == "settled")
        session = store.session
        assert session.tree == tree
        assert session.snapshot.metrics.get("cost", cost) == pytest.approx(cost)
        if method != "average":  # on the page: in the section on costs, and in the history
            store.drawn = session.snapshot
            assert node_costs_section.state(store)["cost"] == node_costs_section.format_cost(cost)
            assert history_steps.tree_cost(store, tree) == pytest.approx(cost)
            assert inspector_model.DISSIMILARITY_NOTE not in inspector_model.state(store)["notes"]
        else:
            near = dasgupta_cost(tree, from_distance(matrix))
            assert history_steps.tree_cost(store, tree) == pytest.approx(near)
        assert store.restore(load_session(save_session(session)))
        assert np.array_equal(store.problem.dissimilarity, matrix)
    finally:
        store.close()
