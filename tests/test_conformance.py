"""What every registered method must do. Adding one to the registry adds it here.

How fast a cancel stops a run is the runner's test.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from functools import cache
from importlib import import_module

import numpy as np
import param
import pytest

import hcviz
from hcviz import HcvizError
from hcviz import conformance as conformance_module
from hcviz.algorithms import MODULES, _imported, get
from hcviz.algorithms._template import ALGORITHMS as TEMPLATE
from hcviz.algorithms.base import Algorithm
from hcviz.conformance import CHECKS, check_run, conformance, load_methods
from hcviz.conformance_data import DATA
from hcviz.core.errors import InvalidParameter
from tests.conftest import ROOT
from tests.trees import random_tree

#: Methods outside the registry that must conform as well: the file to copy, and a newcomer's.
UNREGISTERED = {"template": "hcviz.algorithms._template", "toy": "tests.toymethod"}
NAMES = [*hcviz.algorithms(), *UNREGISTERED]


def mode(name):
    """How a method treats triplets, before the fixture below has added it."""
    methods = import_module({**MODULES, **UNREGISTERED}[name]).ALGORITHMS
    return next(method.triplets for method in methods if method.name == name)


HARD = [name for name in NAMES if mode(name) == "hard"]


@pytest.fixture(autouse=True)
def all_registered(monkeypatch):
    for name, module in UNREGISTERED.items():
        monkeypatch.setitem(MODULES, name, module)
    yield
    _imported.cache_clear()


@cache
def problem(data):
    return DATA[data]()


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", NAMES)
def test_it_conforms(name, check):
    method = get(name)
    assert method.name == name
    CHECKS[check](method)


@pytest.mark.parametrize("name", NAMES)
def test_fit_gives_the_last_tree_or_the_summary(name):
    found = problem("blobs")
    if not get(name).samples:
        assert hcviz.fit(name, found, seed=3) == list(hcviz.run(name, found, seed=3))[-1].tree
    else:  # the summary of its draws
        some = {"steps": 200} if "steps" in get(name).parameter_names() else {}
        tree = hcviz.fit(name, found, seed=3, **some)
        assert tree.n_leaves == found.n_items
        assert tree == hcviz.fit(name, found, seed=3, **some)


@pytest.mark.parametrize("name", HARD)
def test_answers_may_come_one_after_another(name):
    """Each run starts from the last shown snapshot, with one more answer that it violates."""
    found = problem("blobs")
    n = found.n_items
    truth = random_tree(np.random.default_rng(9), n)
    rows = np.empty((0, 3), np.int32)
    every = np.array(list(itertools.permutations(range(n), 3)), np.int32)
    every = every[truth.satisfies(every)]
    shown = list(hcviz.run(name, found))[-1]
    for _ in range(4):
        wrong = every[~shown.tree.satisfies(every)]
        if not len(wrong):
            break
        rows = np.concatenate([rows, wrong[:1]])
        run = hcviz.run(name, found.with_triplets(rows), start=shown)
        shown = check_run(run, n, rows)[-1]


# ---------------------------------------------------------------------- the checks find faults


def broken(**changes):
    """The template with a fault."""
    return Algorithm(**{**vars(TEMPLATE[0]), **changes})


def run_with(change):
    """The template's run, with a change of each snapshot or problem."""

    def run(problem, params, rng, start):
        yield from change(problem, TEMPLATE[0].run(problem, params, rng, start))

    return run


def changing_data(problem, snapshots):
    problem.features.flags.writeable = True
    problem.features[0, 0] += 1.0
    yield from snapshots


FAULTS = {
    "is described": {"title": ""},
    "valid trees": {"run": run_with(lambda problem, found: list(found)[:-1])},
    "same seed, same trees": {"run": run_with(changing_data)},
    "hard constraints": {"triplets": "hard"},
    "any start": {"run": lambda problem, params, rng, start: iter([])},
    # A class of parameters that accepts the name of the check.
    "bad input": {"params": type("Loose", (TEMPLATE[0].params,), {"nonsense": param.Parameter()})},
    "declared views": {"views": {}},
    "stopping": {"run": lambda problem, params, rng, start: iter([None])},
}


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_finds_its_fault(check):
    found = {each.check: each for each in conformance([broken(**FAULTS[check])])}
    assert set(found) == set(CHECKS)
    assert not found[check].passed
    assert found[check].fault
    problem.cache_clear()
    conformance_module.problem_named.cache_clear()


def test_the_template_conforms():
    assert [each for each in conformance(TEMPLATE) if not each.passed] == []
    assert TEMPLATE[0].summary


def test_methods_are_loaded_from_a_place():
    assert load_methods("tests.toymethod:ALGORITHMS")[0].name == "toy"
    assert load_methods("tests.toymethod")[0].name == "toy"
    for place in ("no.such.module:X", "tests.toymethod:nothing", "tests.toymethod:np", ""):
        with pytest.raises(InvalidParameter):
            load_methods(place)


# ---------------------------------------------------------------------- other packages


def test_a_method_of_another_package_is_found_by_its_entry_point(tmp_path):
    """A new process with an installed package that declares the toy method, and a broken one."""
    folder = tmp_path / "toys-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[hcviz.algorithms]\ntoy = tests.toymethod\nlost = no_such_package\n"
        "ward = tests.toymethod\n"
    )
    code = """
import hcviz
names = hcviz.algorithms()
print("toy" in names, names.count("ward"))
print(hcviz.fit("toy", [[0.0], [1.0], [5.0]]))
print(hcviz.fit("ward", [[0.0], [1.0], [5.0]]))
try:
    hcviz.fit("lost", [[0.0], [1.0]])
except hcviz.HcvizError as error:
    print(error)
"""
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[0] == "True 1"
    assert lines[1] == "Tree(3 leaves, 1 inner nodes)"
    assert lines[2] == "Tree(3 leaves, 2 inner nodes)"  # hcviz's own
    assert "'lost' cannot be imported from no_such_package" in lines[3]


def test_an_unknown_method_is_refused():
    with pytest.raises(HcvizError, match="no method 'astrology'"):
        hcviz.run("astrology", problem("blobs"))
