"""The sheet Side by side: what it runs, what it shows, and what its messages do."""

from __future__ import annotations

import base64
import json
import math

import numpy as np
import pytest

import hcviz
from hcviz.algorithms import fit_with_metrics
from hcviz.metrics import dasgupta_cost, triplet_distance
from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.side_by_side.lines import aligned_orders, item_colours, tree_lines
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.side_by_side import model, sheet
from hcviz.ui.features.tanglegram import sheet as tanglegram_sheet
from hcviz.ui.parts import method_runs
from tests.stores import over_zoo


@pytest.fixture
def zoo(loop):
    with over_zoo(loop, "average") as made:
        yield made


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """On a busy machine that compiles, a method takes longer than a person waits."""
    monkeypatch.setattr(method_runs, "TIMEOUT", 600.0)


@pytest.fixture
def runs(zoo, loop):
    driver = model.SideBySideRuns(zoo, loop.schedule)
    yield driver
    driver.close()


def send(store, act_name, **fields):
    sheet.SHEET.acts(Gestures(store), act_name, fields)


def finish(store, loop):
    """Until all methods have run and are measured."""
    loop.until(lambda: not store.view.side_wanted)
    loop.until(lambda: all(c["state"] in ("done", "failed") for c in sheet.state(store)["columns"]))
    return {column["name"]: column for column in sheet.state(store)["columns"]}


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def test_it_begins_with_the_sessions_method_and_says_how_each_works(zoo, runs):
    shown = sheet.state(zoo)
    json.dumps(shown)
    assert [column["name"] for column in shown["columns"]] == [
        "average", "complete", "ward", "crsc",
    ]  # fmt: skip
    assert shown["left"] == 4
    assert "farthest items" in shown["columns"][1]["how"]
    assert not shown["waiting"]


def test_the_figures_and_trees_are_those_of_the_methods(zoo, runs, loop):
    zoo.dispatch(act.AddConstraint((0, 1), 2), act.AddConstraint((3, 4), 5))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.change_view(side_methods=("average", "ward", "spectral", "random-cut"))
    tree, run = zoo.session.tree, zoo.session.run
    send(zoo, "run")
    columns = finish(zoo, loop)
    json.dumps(sheet.state(zoo))
    assert zoo.session.tree is tree
    assert zoo.session.run == run
    problem = method_runs.problem_for(zoo, "average")
    trees = {name: fit_with_metrics(name, problem, seed=0) for name in columns}
    similarity = zoo.problem.similarity_or_default
    for name, column in columns.items():
        alone = trees[name][0]
        assert column["sentence"] == ""
        assert column["cost"] == pytest.approx(dasgupta_cost(alone, similarity))
        assert column["distance"] == triplet_distance(trees["average"][0], alone)
        assert column["violated"] == 0
        assert column["seconds"] > 0
        lines = tree_lines(alone, unpacked(column["order"], np.int32), np.zeros(101, int))
        ends = unpacked(column["lines"], np.uint16).reshape(-1, 4) / sheet.COORDINATE_STEPS
        np.testing.assert_allclose(ends, lines.ends, atol=1e-4)
    assert columns["average"]["queries"] == 5050
    assert columns["spectral"]["queries"] == trees["spectral"][1]["queries"]
    assert columns["random-cut"]["queries"] is None
    # the first tree has the order of the page, and each other one is as near to it as it can be
    orders = [unpacked(column["order"], np.int32) for column in columns.values()]
    wanted = aligned_orders([made for made, _ in trees.values()], np.argsort(zoo.session.order))
    assert orders[0].tolist() == zoo.session.order.tolist()
    assert orders[1].tolist() == wanted[1].tolist()


def test_violated_answers_are_counted_for_methods_that_weigh_them(zoo, runs, loop):
    far = zoo.session.order
    zoo.dispatch(act.AddConstraint((int(far[0]), int(far[-1])), int(far[1])))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.dispatch(act.SetMethod("hrsc"), act.SetParams({"lam": 0.0}), act.SetMethod("average"))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.change_view(side_methods=("average", "hrsc"), side_wanted=True)
    columns = finish(zoo, loop)
    assert (columns["average"]["violated"], columns["hrsc"]["violated"]) == (0, 1)
    assert sheet.state(zoo)["answers"] == 1


def test_results_are_kept_until_their_inputs_change(zoo, runs, loop):
    zoo.change_view(side_methods=("average", "ward"), side_wanted=True)
    finish(zoo, loop)
    send(zoo, "choose", at=1, value="complete")
    assert sheet.state(zoo)["left"] == 1
    send(zoo, "choose", at=1, value="ward")
    assert sheet.state(zoo)["left"] == 0
    zoo.dispatch(act.SetSeed(3))
    assert sheet.state(zoo)["left"] == 2
    assert zoo.open_data(DataSpec(name="iris"))
    assert zoo.view.side_methods is None
    assert zoo.view.side_results == ()


def test_columns_are_chosen_added_and_removed(zoo, runs):
    send(zoo, "choose", at=4, value="hrsc")  # four are the most
    assert len(sheet.state(zoo)["columns"]) == 4
    send(zoo, "choose", at=0, value="")
    send(zoo, "choose", at=0, value="complete")  # it has a column
    send(zoo, "choose", at=0, value="4-al")  # these data have no comparisons
    send(zoo, "choose", at=7, value="hrsc")
    names = ["complete", "ward", "crsc"]
    assert [column["name"] for column in sheet.state(zoo)["columns"]] == names
    send(zoo, "choose", at=3, value="hrsc")
    send(zoo, "choose", at=0, value="single")
    assert zoo.view.side_methods == ("single", "ward", "crsc", "hrsc")


def test_stop_ends_the_run_and_keeps_what_is_there(zoo, runs, loop):
    zoo.dispatch(act.SetMethod("ddt"), act.SetParams({"steps": 10**8}), act.SetMethod("average"))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.change_view(side_methods=("average", "ddt"))
    send(zoo, "run")
    loop.until(lambda: zoo.view.side_running == "ddt")
    assert sheet.state(zoo)["running"] == "Dirichlet diffusion tree"
    assert sheet.state(zoo)["columns"][1]["state"] == "running"
    send(zoo, "cancel")
    assert zoo.view.side_running == ""
    assert not runs.busy
    assert [name for name, _ in zoo.view.side_results] == ["average"]


def test_the_error_of_a_method_is_a_sentence_in_its_column(zoo, runs, loop):
    zoo.dispatch(act.SetMethod("hrsc"))  # its answers may contradict each other
    zoo.dispatch(act.AddConstraint((0, 1), 2), act.AddConstraint((0, 2), 1))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.change_view(side_methods=("ward", "hrsc"), side_wanted=True)
    columns = finish(zoo, loop)
    assert columns["ward"]["state"] == "failed"
    assert zoo.session.labels[0] in columns["ward"]["sentence"]
    assert columns["hrsc"]["violated"] >= 1
    assert columns["hrsc"]["distance"] == 0  # it is the first tree
    assert zoo.view.error is None


def test_a_slow_method_is_stopped_with_its_last_tree(zoo, runs, loop, monkeypatch):
    monkeypatch.setattr(method_runs, "TIMEOUT", 0.5)
    zoo.dispatch(act.SetMethod("ddt"), act.SetParams({"steps": 10**8}), act.SetMethod("average"))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.change_view(side_methods=("ddt",), side_wanted=True)
    column = finish(zoo, loop)["ddt"]
    assert column["sentence"].startswith("Stopped after")


def test_a_method_becomes_the_pages_and_its_tree_can_be_compared(zoo, runs, loop):
    zoo.change_view(side_methods=("average", "ward"), side_wanted=True)
    finish(zoo, loop)
    send(zoo, "compare", value="ward")
    assert zoo.view.sheet == "before"
    shown = tanglegram_sheet.state(zoo)
    assert shown["heads"] == ["Ward's linkage", "On the page"]
    assert "only in the left tree" in shown["sentence"]
    send(zoo, "use", value="average")  # it is the page's already
    assert (zoo.view.sheet, zoo.session.status) == ("tree", "settled")
    send(zoo, "use", value="ward")
    loop.until(lambda: zoo.session.status == "settled")
    assert zoo.session.tree == hcviz.fit("ward", zoo.problem)
    send(zoo, "pick", id=3)
    assert zoo.view.selection == (3,)
    assert sheet.SHEET.live(zoo) == {"chosen": [3]}


def test_colours_are_those_of_the_page(zoo, runs):
    assert unpacked(sheet.state(zoo)["codes"], np.int16).tolist() == (
        item_colours(zoo.session.tree).tolist()
    )
    shown = np.full(101, 255, np.uint8)
    shown[:40] = 11
    zoo.item_colours = lambda: shown
    assert unpacked(sheet.state(zoo)["codes"], np.int16).tolist() == [11] * 40 + [-1] * 61


def test_heights_are_true_or_even(zoo, runs, loop):
    zoo.change_view(side_methods=("average",), side_wanted=True)
    true = finish(zoo, loop)["average"]["lines"]
    send(zoo, "heights", value="odd")
    assert finish(zoo, loop)["average"]["lines"] == true
    send(zoo, "heights", value="even")
    assert finish(zoo, loop)["average"]["lines"] != true


def test_data_without_similarities_have_no_cost(loop):
    with over_zoo(loop, "4-al", "flowers") as store:
        driver = model.SideBySideRuns(store, loop.schedule)
        store.change_view(side_methods=("4-al", "build"), side_wanted=True)
        columns = finish(store, loop)
        driver.close()
        assert columns["4-al"]["cost"] is None
        assert columns["4-al"]["queries"] is None
        assert math.isfinite(columns["build"]["distance"])
