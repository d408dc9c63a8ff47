"""Each public way to get a tree of named items gives the tree the names; and one reader of data."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hcviz
from hcviz.core.errors import InvalidData
from hcviz.io.reference_tree import read_reference_tree
from hcviz.io.tables import read_table
from hcviz.posterior import Posterior
from hcviz.questions import central_tree, teach
from hcviz.sklearn import HierarchicalClustering
from tests.test_notebook import until

NAMES = ["owl", "rook", "elm", "yew", "cod"]
FRAME = pd.DataFrame({"legs": [2.0, 2.1, 0.0, 0.1, 5.0], "size": [1.0, 1.2, 9, 9.5, 4]}, NAMES)
NEWICK = "(((owl,rook),cod),(elm,yew));"
PROBLEM = hcviz.Problem(FRAME)


@cache
def posterior() -> Posterior:
    return hcviz.sample(FRAME, seconds=5)


@cache
def added() -> Posterior:
    made = Posterior(5)
    for snapshot in hcviz.run("ddt", FRAME, steps=400, every=20):
        made.add(snapshot.tree, snapshot.metrics["log_joint"])
    return made


def linkage_file() -> bytes:
    file = io.BytesIO()
    np.save(file, hcviz.fit("average", FRAME).to_linkage())
    return file.getvalue()


def of_posterior(made: Posterior) -> list[hcviz.Tree]:
    found = [*made.trees(3), made.consensus()[0], made.max_credibility(), made.summary_tree()]
    found.append(central_tree(made, np.random.default_rng(0)))
    return [*found, made.best[0]]


def explored(data: Any) -> Any:
    view = hcviz.explore(data, method="crsc")  # it runs on a thread
    until(lambda: view.explorer.store.session.status == "settled")
    return view


WAYS = {
    "fit": lambda: [hcviz.fit("average", FRAME), hcviz.fit("ddt", FRAME, steps=200)],
    "fit with constraints": lambda: [
        hcviz.fit(name, PROBLEM.with_triplets([("owl", "cod", "elm")]))
        for name in ("crsc", "dasgupta-search")
    ],
    "methods": lambda: [hcviz.methods.ward(FRAME)],
    "run": lambda: [
        snapshot.tree
        for name in ("average", "crsc", "ddt", "active-spectral", "kmeans", "build")
        for snapshot in hcviz.run(name, FRAME)
    ],
    "run from a tree": lambda: [
        each.tree
        for each in hcviz.run("ddt", FRAME, start=hcviz.Tree.star(5), steps=20)
    ],
    "sample": lambda: of_posterior(posterior()),
    "Posterior.add": lambda: of_posterior(added()),
    "compare_methods": lambda: [
        each.tree for each in hcviz.compare_methods(FRAME, ["average", "ddt", "crsc"]).results
    ],
    "HierarchicalClustering": lambda: [HierarchicalClustering().fit(FRAME).tree_],
    "Tree.from_newick": lambda: [
        hcviz.Tree.from_newick(NEWICK, NAMES),
        hcviz.Tree.from_newick("(((owl,rook),elm),(yew,cod));"),
    ],
    "Tree.restrict": lambda: [hcviz.fit("average", FRAME).restrict([0, 1, 2, 3, 4])],
    "read_reference_tree": lambda: [
        read_reference_tree("((owl,rook,elm,yew),cod);", NAMES).tree
    ],
    "Taxonomy": lambda: [
        hcviz.Taxonomy(NAMES, hcviz.Tree.star(5)).tree,
        hcviz.Taxonomy(NAMES, hcviz.Tree.star(5)).carried_to(hcviz.build(5, groups=[{0, 1}])).tree,
        hcviz.Taxonomy.from_text("Birds\n  owl\n  rook\nPlants\n  elm\n  yew\ncod\n", NAMES).tree,
    ],
    "Dataset.target": lambda: [
        hcviz.datasets.Dataset("b", "B", tuple(NAMES), target=hcviz.Tree.star(5)).target
    ],
    "explore": lambda: [explored(FRAME).tree],
    "teach": lambda: [
        each.tree
        for each in teach(
            PROBLEM,
            hcviz.datasets.SimulatedUser(hcviz.Tree.from_newick(NEWICK, NAMES)),
            answers=2, proposals_per_item=20, samples=4,
        )
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_trees_have_the_names_of_their_items(way):
    trees = WAYS[way]()
    assert trees
    for tree in trees:
        assert tree.labels == tuple(NAMES)


def test_a_file_of_a_tree_keeps_its_names():
    assert read_table(NEWICK.encode(), "tree.nwk").target.labels == (
        "owl", "rook", "cod", "elm", "yew",
    )  # fmt: skip
    assert read_table(linkage_file(), "tree.npy", kind="tree").target.labels == tuple(
        f"item {k}" for k in range(5)
    )


def test_snapshots_and_samples_say_how_they_were_made():
    *_, last = hcviz.run("average", FRAME, seed=3)
    assert last.tree.info == hcviz.fit("average", FRAME, seed=3).info
    assert posterior().trees(1)[0].info.method == "ddt"


def test_numbered_items_have_no_names():
    *_, last = hcviz.run("average", FRAME.to_numpy())
    assert last.tree.labels is None


# ---------------------------------------------------------------------- what is accepted as data


def used_labels(data):
    return {
        "fit": hcviz.fit("average", data).labels,
        "compare_methods": hcviz.compare_methods(data, ["average"]).problem.own_labels,
        "describe_group": tuple(
            hcviz.describe_group(data, hcviz.fit("average", data), [0, 1]) and NAMES
        ),
    }


def test_all_functions_accept_the_same_data(tmp_path):
    path = tmp_path / "things.csv"
    FRAME.to_csv(path)
    forms = [FRAME, PROBLEM, read_table(path), str(path), path]
    for data in forms:
        assert set(used_labels(data).values()) == {tuple(NAMES)}
        assert hcviz.worksheet(data).startswith(b"%PDF")
    assert explored(path).problem.labels == tuple(NAMES)
    assert hcviz.fit("average", "zoo").labels == hcviz.datasets.load("zoo").labels


FUNCTIONS = {
    "fit": lambda data: hcviz.fit("average", data),
    "run": lambda data: hcviz.run("average", data),
    "sample": hcviz.sample,
    "compare_methods": lambda data: hcviz.compare_methods(data, ["average"]),
    "worksheet": hcviz.worksheet,
    "describe_group": lambda data: hcviz.describe_group(data, hcviz.Tree.star(3), [0, 1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_data_is_refused_in_the_same_words(name):
    with pytest.raises(InvalidData) as raised:
        FUNCTIONS[name](7)
    assert raised.value.message == "The data must be a Problem, a DataFrame or an array, not int."
    with pytest.raises(InvalidData, match="'zooo' is neither a built-in data set nor a file"):
        FUNCTIONS[name]("zooo")
