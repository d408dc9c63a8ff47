"""``hcviz reproduce ghoshdastidar2019`` and ``perrot2020``, at sizes that a test can wait for."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from hcviz import cli
from hcviz.algorithms.comparison.foural import four_al
from hcviz.core.errors import InvalidData
from hcviz.datasets import load, planted_hierarchy, sample_comparisons
from hcviz.metrics import aari
from hcviz.reproduce import ghoshdastidar2019 as hierarchies
from hcviz.reproduce import grid
from hcviz.reproduce import perrot2020 as partitions


@pytest.fixture
def small(monkeypatch, shared_data):
    monkeypatch.setenv("HCVIZ_DATA", str(shared_data))
    size = {"pure_size": 5, "deltas": (0.02, 0.2), "rates": (0.1,), "draws": 2}
    size |= {"cost_rates": (0.01,), "data": ("zoo",), "dimensions": (2,), "orders": 2}
    monkeypatch.setattr(hierarchies, "QUICK", size)
    monkeypatch.setattr(hierarchies, "STEPS", 20)
    size = {"n": 40, "k": 2, "powers": (4.0,), "eps": (1.0,), "draws": 1, "mnist": 40}
    size |= {"mnist_powers": (2.0,), "mnist_draws": 1, "embedded": 300}
    monkeypatch.setattr(partitions, "QUICK", size)
    digits = load("digits")  # in MNIST's place: 300 pictures instead of 10,000
    monkeypatch.setattr(partitions, "load", lambda n: digits if n == "mnist" else load(n))


def once(name, out, capsys, *more):
    assert cli.main(["reproduce", name, "--quick", "--out", str(out), *more]) == 0
    return capsys.readouterr()


@pytest.mark.parametrize("name", ["ghoshdastidar2019", "perrot2020"])
def test_a_second_run_computes_only_what_is_missing(name, small, tmp_path, capsys, monkeypatch):
    first = once(name, tmp_path, capsys, "--json")
    result = json.loads(first.out)
    cells = (tmp_path / f"{name}.cells.jsonl").read_text().splitlines()
    assert f"cell {len(cells)} of {len(cells)}" in first.err
    (tmp_path / f"{name}.cells.jsonl").write_text("\n".join(cells[:-1]) + "\n" + cells[-1][:40])
    again = once(name, tmp_path, capsys, "--json")
    assert f"{len(cells) - 1} of {len(cells)} cells are there" in again.err
    assert "cell 1 of 1:" in again.err
    assert json.loads(again.out) == result
    told = once(name, tmp_path, capsys).out
    assert all(claim["claim"] in told for claim in result["claims"])
    assert (tmp_path / f"{name}.svg").read_text().count("<svg") == 1
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / f"{name}.json").read_text())["claims"] == result["claims"]
    table = list(csv.DictReader((tmp_path / f"{name}.csv").open()))
    assert {row["part"] for row in table} >= {"car"}
    assert all(np.isfinite(float(row["value"])) for row in table)


def test_planted_hierarchies_are_those_of_the_paper(small, tmp_path, capsys):
    result = json.loads(once("ghoshdastidar2019", tmp_path, capsys, "--json").out)
    assert set(result["planted"]) == {"all", "0.1"}
    row = result["planted"]["0.1"]["0.2"]
    active = {"4k-al-active", hierarchies.ALL_LANDMARKS}
    assert set(row) == {"4k-al", "4-al", "4-al-i3", "4-al-i5"} | active
    assert set(result["planted"]["all"]["0.2"]) == {"sl", "cl"}
    # One of its numbers by hand: draw 0 at delta = .2, whole clusters of 5 known (4-AL-I5).
    assert hierarchies.planted(5, 0.2, 0.1, 0)["4-al-i5"] == pytest.approx(1.0)
    rng = np.random.default_rng((0, 200))
    data = planted_hierarchy(3, 5, 0.8, 0.2, 0.1, rng)
    rng = np.random.default_rng((0, 200, 100))
    answers = sample_comparisons(data.similarity, 0.1, seed=rng)
    trees = [four_al(40, answers, rng=np.random.default_rng(s)) for s in range(5)]
    near = [aari(data.target, tree, 3) for tree in trees]
    found = hierarchies.planted(5, 0.2, 0.1, 0)["4-al"]
    assert min(near) - 1e-9 <= found <= max(near) + 1e-9  # the order that breaks ties is another


def test_pure_clusters_are_drawn_inside_the_true_ones():
    initial = hierarchies.pure(6, 3, np.random.default_rng(0))
    assert initial.shape == (48,)
    for cluster in range(8):
        own = initial[6 * cluster : 6 * cluster + 6]
        assert sorted(own.tolist()) == [-1] * 3 + [cluster] * 3


def test_zoo_is_without_the_girl_and_cars_without_outliers(shared_data, monkeypatch):
    monkeypatch.setenv("HCVIZ_DATA", str(shared_data))
    assert hierarchies.cosine_of("zoo", 0).shape == (100, 100)
    assert hierarchies.cosine_of("newsgroups", 0).shape == (200, 200)
    known, truth = hierarchies.car_classes(load("car"))
    assert len(known) == len(truth) == 56
    assert len(np.unique(truth)) == 3


def test_what_is_not_there_is_left_out_and_said(small, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("HCVIZ_DATA", str(tmp_path))
    parts = {key["part"] for key in partitions.keys(partitions.QUICK)}
    assert parts == {"answers", "noise", "distribution"}
    said = capsys.readouterr().err
    assert "left out: The data set 'car'" in said
    assert "left out: The data set 'mnist'" in said


@pytest.mark.parametrize("name", list(partitions.DISTRIBUTIONS))
def test_the_distributions_are_as_far_apart_as_said(name):
    """P(w_in > w_out) = 3/4; 4 standard errors of 200,000 draws are below 0.004."""
    rng = np.random.default_rng(0)
    shape = partitions.DISTRIBUTIONS[name]
    if shape:
        above = shape["f_in"](rng, 200_000) > shape["f_out"](rng, 200_000)
        # N(3/4, 0.1^2) leaves [0, 1] now and then, which costs the mean 0.0002.
        assert above.mean() == pytest.approx(0.75, abs=0.0045)


def test_an_answers_rate_gives_the_number_that_the_paper_states():
    n = 300
    for kind, count in (("triplets", 300 * 299 * 298 / 2), ("quadruplets", 44850 * 44849 / 2)):
        assert partitions.rate(n, 2, kind) * count == pytest.approx(n * np.log(n) ** 2)
    assert partitions.rate(10, 9, "triplets") == 1


def test_a_grid_keeps_its_cells_whatever_ends_it(tmp_path):
    keys = [{"seed": s} for s in range(4)]

    def breaks(key):
        if key["seed"] == 2:
            raise KeyboardInterrupt
        return {"value": key["seed"] ** 2}

    with pytest.raises(KeyboardInterrupt):
        grid.run("squares", keys, breaks, tmp_path / "new")
    asked = []

    def works(key):
        asked.append(key["seed"])
        return {"value": key["seed"] ** 2}

    found = grid.run("squares", keys, works, tmp_path / "new")
    assert asked == [2, 3]
    assert [values["value"] for _, values in found] == [0, 1, 4, 9]
    assert grid.run("squares", keys, works, None) == found
    assert asked == [2, 3, 0, 1, 2, 3]
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidData, match="cannot be"):
        grid.run("squares", keys, works, tmp_path / "file")
