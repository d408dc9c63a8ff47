"""``hcviz reproduce vikram2016``: what it prints and writes, at a size that a test can wait for."""

from __future__ import annotations

import csv
import json
import math
from itertools import permutations

import numpy as np
import pytest

from hcviz import Problem, Tree, cli
from hcviz.datasets import load
from hcviz.questions import strategies
from hcviz.reproduce import cases, vikram2016
from hcviz.reproduce.cases import Case
from tests.trees import all_trees


@pytest.fixture
def short(monkeypatch):
    """Three answers instead of 60 to 100, two runs."""
    monkeypatch.setattr(vikram2016, "ANSWERS_QUICK", {"": 3})
    monkeypatch.setattr(vikram2016, "RUNS_QUICK", 2)
    monkeypatch.setattr(vikram2016, "PROPOSALS", 20)


def test_the_command_prints_and_writes_what_it_should(short, tmp_path, capsys):
    out = tmp_path / "figures" / "one"
    assert cli.main(["reproduce", "vikram2016", "--quick", "--json", "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == {"iris", "zoo"}
    for found in printed.values():
        assert set(found) == {*strategies(), "average", "vanilla"}
        for kind in strategies():
            assert found[kind]["answers"] == [0, 1, 2, 3]
            assert len(found[kind]["td"]) == 4
            assert all(0 <= td <= 1 for td in found[kind]["td"])
        assert 0 < found["average"] < 1
        assert 0 < found["vanilla"] < 1
    assert printed["iris"]["average"] == pytest.approx(0.1015, abs=5e-4)
    assert (out / "vikram2016.svg").read_text().count("<svg") == 1
    assert (out / "vikram2016.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((out / "vikram2016.csv").open()))
    kinds = len(strategies()) * 4 + 1  # vanilla has a quarter of the answers, here none
    assert len(rows) == 2 * 2 * kinds
    mean = np.mean(
        [float(r["td"]) for r in rows
         if (r["data"], r["question"], r["answers"]) == ("zoo", "smart", "2")]
    )  # fmt: skip
    assert mean == pytest.approx(printed["zoo"]["smart"]["td"][2], abs=2e-6)
    assert {int(r["iterations"]) for r in rows if r["data"] == "iris"} == {
        20 * 150 * k for k in (1, 2, 3, 4)
    }
    record = json.loads((out / "vikram2016.json").read_text())
    assert record["quick"] is True
    assert record["settings"]["seeds"] == [1, 2]
    assert len(record["goals"]) == len(vikram2016.GOALS)
    assert record["data"]["zoo"]["items"] == 101
    assert set(record["data"]["iris"]["corrections"]) == set(strategies())


def test_the_table_for_people(short, capsys):
    assert cli.main(["reproduce", "vikram2016", "--quick"]) == 0
    output = capsys.readouterr().out
    for word in (*strategies(), "average linkage", "vanilla", "Iris (150 flowers)"):
        assert word in output
    assert output.count("within") == len(vikram2016.GOALS)


def test_an_out_that_is_a_file_is_refused_before_anything_runs(tmp_path, capsys):
    file = tmp_path / "x"
    file.write_text("")
    assert cli.main(["reproduce", "vikram2016", "--quick", "--out", str(file)]) == 2
    assert "is a file" in capsys.readouterr().err


def folder_of(tmp_path):
    """Data of the shapes of the real files, which are not in this repository."""
    rng = np.random.default_rng(0)
    for name in ("mnist", "newsgroups", "zoo"):
        (tmp_path / name).mkdir()
    labels = rng.integers(0, 5, 200)
    np.savez(
        tmp_path / "mnist/mnist10k.npz",
        images=rng.integers(0, 256, (200, 28, 28), dtype=np.uint8),
        labels=labels,
    )
    np.savez(
        tmp_path / "newsgroups/newsgroups1000.npz",
        features=rng.normal(size=(200, 30)),
        labels=labels,
    )
    newick = "((lion,(bear,wolf)),(dove,lark));"
    (tmp_path / "zoo/opentree_published.json").write_text(json.dumps({"newick": newick}))
    return tmp_path


def test_data_outside_is_used_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("HCVIZ_DATA", str(folder_of(tmp_path)))
    found = {case.key: case for case in cases.cases(quick=False)}
    assert list(found) == ["iris", "zoo", "zoo-published", "mnist", "newsgroups"]
    published = found["zoo-published"]
    assert published.problem.labels == ("bear", "dove", "lark", "lion", "wolf")
    assert published.target.satisfies([[0, 4, 3], [1, 2, 0]]).all()
    raw = load("zoo")
    assert published.problem.features.shape == (5, 16)
    assert raw.features[raw.labels.index("bear")].shape == (16,)
    for key in ("mnist", "newsgroups"):
        assert found[key].problem.features.shape == (150, 10)
        assert found[key].target.n_internal == 6
    broken = tmp_path / "zoo/opentree_published.json"
    broken.write_text(json.dumps({"newick": "((unicorn,bear),wolf);"}))
    assert "zoo-published" not in {case.key for case in cases.cases(quick=False)}


def test_digits_stand_in_where_there_is_no_data(monkeypatch):
    monkeypatch.delenv("HCVIZ_DATA", raising=False)
    found = [case.key for case in cases.cases(quick=False)]
    assert found == ["iris", "zoo", "digits"]
    digits = cases.digits()
    assert digits.problem.features.shape == (150, 10)
    assert digits.target.n_internal == 11


def test_first_below():
    learning_curve = [0.5, 0.3, 0.1, 0.2, 0.05]
    assert vikram2016.first_below(learning_curve, 0.3) == 1
    assert vikram2016.first_below(learning_curve, 0.3, strictly=True) == 2
    assert vikram2016.first_below(learning_curve, 0.01) is None


def test_the_bits_of_a_target_count_its_relabellings():
    for tree in all_trees(5):
        clades = {
            frozenset(
                frozenset(order[leaf] for leaf in clade.tolist()) for clade in tree.clades()
            )
            for order in permutations(range(5))
        }  # fmt: skip
        case = Case("x", "x", Problem(features=np.eye(5)), tree, 0.0, "")
        assert vikram2016.target_bits(case) == pytest.approx(math.log2(len(clades)))
    assert vikram2016.target_bits(Case("", "", cases.iris().problem, Tree.star(9), 0.0, "")) == 0
