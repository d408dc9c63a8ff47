"""``hcviz reproduce ghoshdastidar2019`` and ``perrot2020``, at sizes that a test can wait for."""

from __future__ import annotations

import csv
import json
from functools import lru_cache

import numpy as np
import pytest

from hcviz import Tree, cli
from hcviz.algorithms.comparison.foural import four_al
from hcviz.core.errors import InvalidData
from hcviz.datasets import load, planted_hierarchy, planted_partition, sample_comparisons
from hcviz.metrics import aari
from hcviz.reproduce import ghoshdastidar2019 as hierarchies
from hcviz.reproduce import grid
from hcviz.reproduce import perrot2020 as partitions
from hcviz.reproduce.comparison_figure import draw_cars


@pytest.fixture
def small(monkeypatch, shared_data):
    monkeypatch.setenv("HCVIZ_DATA", str(shared_data))
    size = {"pure_size": 5, "deltas": (0.02, 0.2), "rates": (0.1,), "draws": 2}
    size |= {"cost_rates": (0.01,), "data": ("zoo",), "dimensions": (2,), "orders": 2}
    monkeypatch.setattr(hierarchies, "QUICK", size)
    monkeypatch.setattr(hierarchies, "STEPS", 20)
    monkeypatch.setattr(hierarchies, "car_tree", each_once(hierarchies.car_tree))
    size = {"n": 40, "k": 2, "powers": (4.0,), "eps": (1.0,), "draws": 1, "mnist": 40}
    size |= {"mnist_powers": (2.0,), "mnist_draws": 1, "embedded": 150, "starts": 2}
    monkeypatch.setattr(partitions, "QUICK", size)
    # One t-SNE for all runs of a test.
    monkeypatch.setattr(partitions, "EmbeddedDigits", lru_cache(partitions.EmbeddedDigits))
    digits = load("digits")  # in MNIST's place: 150 pictures instead of 10,000
    monkeypatch.setattr(partitions, "load", lambda n: digits if n == "mnist" else load(n))


def each_once(car_tree):
    """The same function, which makes each tree of the cars once."""
    trees = {}

    def made(method, data, seed=0):
        if (method, seed) not in trees:
            trees[method, seed] = car_tree(method, data, seed)
        return trees[method, seed]

    return made


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
    with pytest.MonkeyPatch.context() as patched:  # the pictures were drawn above
        patched.setattr(grid.record, "write_files", lambda *_: None)
        again = once(name, tmp_path, capsys, "--json")
        output = once(name, tmp_path, capsys).out
    assert f"{len(cells) - 1} of {len(cells)} cells are finished already" in again.err
    assert "cell 1 of 1:" in again.err
    assert json.loads(again.out) == result
    assert all(claim["claim"] in output for claim in result["claims"])
    assert (tmp_path / f"{name}.svg").read_text().count("<svg") == 1
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    cars = (tmp_path / f"{name}-cars.svg").exists()
    assert cars == (name == "ghoshdastidar2019")
    assert json.loads((tmp_path / f"{name}.json").read_text())["claims"] == result["claims"]
    table = list(csv.DictReader((tmp_path / f"{name}.csv").open()))
    assert {row["part"] for row in table} >= {"car"}
    assert all(np.isfinite(float(row["value"])) for row in table)
    check_interrupted(name, cells, tmp_path, capsys, monkeypatch)


def test_planted_hierarchies_are_those_of_the_paper(small, monkeypatch, capsys):
    monkeypatch.setitem(hierarchies.QUICK, "data", ())
    monkeypatch.setattr(grid, "is_available", lambda name: False)  # nor the cars
    assert cli.main(["reproduce", "ghoshdastidar2019", "--quick", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
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


def test_missing_data_sets_are_left_out_with_a_note(small, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("HCVIZ_DATA", str(tmp_path))
    parts = {key["part"] for key in partitions.keys(partitions.QUICK)}
    assert parts == {"answers", "noise", "distribution"}
    errors = capsys.readouterr().err
    assert "left out: The data set 'car'" in errors
    assert "left out: The data set 'mnist'" in errors


def test_each_pair_of_distributions_is_seen_at_both_powers():
    cells = [key for key in partitions.keys(partitions.QUICK) if key["part"] == "distribution"]
    pairs = {(key["x"], key["power"]) for key in cells}
    names = ("normal-normal", "uniform-beta", "uniform-normal")
    assert pairs == {(pair, power) for pair in names for power in (3.0, 4.0)}
    key = {"part": "distribution", "n": 24, "k": 2, "kind": "triplets", "power": 4.0, "draw": 1}
    for pair in names:
        data = planted_partition(24, 2, p=partitions.rate(24, 4.0, "triplets"), kind="triplets",
                                 pair=pair, seed=1)  # fmt: skip
        expected = partitions.partitions(24, data.comparisons, partitions.codes(data.classes), 1)
        assert partitions.compute({**key, "x": pair}, None) == expected


def test_the_cars_trees_are_those_of_four_methods(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("HCVIZ_DATA", str(shared_data))
    monkeypatch.setattr(hierarchies, "fit", lambda *args, **options: Tree.star(60))
    trees, data = hierarchies.car_trees()
    assert [title.split(",")[0] for title in trees] == ["4K-AL", "4-AL", "FORTE-AL", "t-STE-AL"]
    photographs = sum(image is not None for image in data.images)
    assert photographs == 60
    draw_cars(dict(list(trees.items())[:2]), data, [tmp_path / "two.svg"])
    drawn = (tmp_path / "two.svg").read_text()
    assert drawn.count("<image") == 2 * photographs


def test_an_answers_rate_gives_the_number_that_the_paper_states():
    n = 300
    for kind, count in (("triplets", 300 * 299 * 298 / 2), ("quadruplets", 44850 * 44849 / 2)):
        assert partitions.rate(n, 2, kind) * count == pytest.approx(n * np.log(n) ** 2)
    assert partitions.rate(10, 9, "triplets") == 1


def check_interrupted(name, lines, tmp_path, capsys, monkeypatch):
    """An interrupt at any cell reports the finished part of the grid."""
    module = {"ghoshdastidar2019": hierarchies, "perrot2020": partitions}[name]

    def interrupts(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "compute", interrupts)
    drawn = {1}  # a picture takes a second
    for done in range(1, len(lines)):
        kept = tmp_path / f"{done}"
        kept.mkdir()
        (kept / f"{name}.cells.jsonl").write_text("\n".join(lines[:done]) + "\n")
        with pytest.MonkeyPatch.context() as patched:
            if done not in drawn:
                patched.setattr(grid.record, "write_files", lambda *_: None)
            arguments = ["reproduce", name, "--quick", "--out", str(kept)]
            assert cli.main(arguments) == 130
        output = capsys.readouterr().out
        assert output.startswith(f"Interrupted: {done} of {len(lines)} cells are finished")
        assert (kept / f"{name}.svg").exists() == (done in drawn)


def test_a_grid_keeps_its_cells_after_any_end(tmp_path):
    keys = [{"seed": s} for s in range(4)]

    def breaks(key):
        if key["seed"] == 2:
            raise KeyboardInterrupt
        return {"value": key["seed"] ** 2}

    with pytest.raises(KeyboardInterrupt):
        grid.run("squares", keys[2:], breaks, tmp_path / "none")
    found = grid.run("squares", keys, breaks, tmp_path / "new")
    assert [values["value"] for _, values in found] == [0, 1]
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


def test_every_first_draw_comes_before_any_second_one():
    keys = [{"part": part, "draw": draw} for part in "ab" for draw in range(2)]
    keys.insert(1, {"part": "cars"})
    asked = []

    def works(key):
        asked.append((key["part"], key.get("draw")))
        return {}

    assert [key for key, _ in grid.run("two parts", keys, works, None)] == keys
    assert asked == [("a", 0), ("cars", None), ("b", 0), ("a", 1), ("b", 1)]
