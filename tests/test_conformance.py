"""What every registered method must do. Adding one to the registry adds it here.

How fast a cancel stops a run is the runner's test.
"""

from __future__ import annotations

import itertools
from functools import cache
from importlib import import_module
from typing import get_args

import numpy as np
import pytest

import hcviz
from hcviz import InconsistentTriplets, Problem, Snapshot, Tree
from hcviz.algorithms import MODULES, generator, get
from hcviz.core.build import chain_triplets
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.snapshot import View
from hcviz.core.tree import INVARIANTS
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
    get.cache_clear()


def blobs(n, seed=0):
    """Three loose groups in three dimensions: float64 (n, 3)."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 3.0 * rng.integers(0, 3, (n, 1))


def with_everything(features):
    """A problem that any method can start from: whatever it needs, it finds."""
    features = np.asarray(features, float)
    n = len(features)
    apart = np.linalg.norm(features[:, None] - features[None], axis=2)
    similarity = np.exp(-apart)
    pairs = list(itertools.combinations(range(n), 2))
    rng = np.random.default_rng(1)
    drawn = (
        [(*pairs[i], *pairs[j]) for i, j in rng.integers(0, len(pairs), (400, 2)) if i != j]
        if pairs
        else []
    )
    rows = [
        (i, j, k, m) if similarity[i, j] >= similarity[k, m] else (k, m, i, j)
        for i, j, k, m in drawn
    ]
    return Problem(
        features=features,
        similarity=similarity,
        comparisons=rows if rows else None,
        oracle=hcviz.datasets.SignOracle(similarity),
        piles=sorted_by_similarity(similarity),
    )


def sorted_by_similarity(similarity):
    """Piles of five participants: each puts items on the pile of the most similar leader."""
    rng = np.random.default_rng(3)
    n = len(similarity)
    piles = []
    for who in "abcde":
        leaders = rng.permutation(n)[: 1 + n // 3]
        nearest = leaders[similarity[:, leaders].argmax(axis=1)]
        for leader in np.unique(nearest):
            items = tuple(np.flatnonzero(nearest == leader).tolist())
            piles.append(hcviz.datasets.Pile(who, f"like {leader}", items))
    return piles


#: Small data of every awkward kind: name -> problem.
DATA = {
    "blobs": lambda: with_everything(blobs(14)),
    "duplicates": lambda: with_everything(np.repeat(blobs(4), 3, axis=0)),
    "all equal": lambda: with_everything(np.ones((6, 2))),
    "binary": lambda: with_everything(np.random.default_rng(2).integers(0, 2, (12, 3))),
    "a constant column": lambda: with_everything(np.c_[blobs(9), np.full(9, 5.0)]),
    "features alone": lambda: Problem(features=blobs(11)),
    "similarity alone": lambda: Problem(
        similarity=np.exp(-np.abs(np.subtract.outer(*[np.arange(10.0)] * 2)))
    ),
    "one item": lambda: with_everything(blobs(1)),
    "two items": lambda: with_everything(blobs(2)),
    "three items": lambda: with_everything(blobs(3)),
}


@cache
def problem(data):
    return DATA[data]()


def starting(name, data):
    """The problem, if the method can start from it: else it must say so, and nothing else."""
    found = problem(data)
    if get(name).missing_data(found) is None:
        return found
    with pytest.raises(InvalidData):
        hcviz.run(name, found)
    return None


def planted_triplets(n, count, seed):
    """``count`` triplets that one random tree of three items or more satisfies."""
    rng = np.random.default_rng(seed)
    truth = random_tree(rng, n)
    draws = np.array([rng.choice(n, 3, replace=False) for _ in range(count)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return rows[truth.satisfies(rows)].astype(np.int32)


def check(snapshots, n, rows=None):
    """Everything that must hold of a run's snapshots; returns them as a list."""
    shown = list(snapshots)
    assert shown, "a run yields at least one snapshot"
    for snapshot in shown:
        assert isinstance(snapshot, Snapshot)
        assert isinstance(snapshot.tree, Tree)
        assert snapshot.tree.n_leaves == n
        for invariant, fault in INVARIANTS:
            assert fault(snapshot.tree) is None, invariant
        assert sorted(snapshot.tree.leaf_order.tolist()) == list(range(n))
        if rows is not None and len(rows):
            violated = rows[~snapshot.tree.satisfies(rows)]
            assert not len(violated), f"step {snapshot.step} violates {violated[0]}"
        assert snapshot.labels is None or snapshot.labels.shape == (n,)
        assert all(matrix.shape == (n, n) for matrix in snapshot.matrices.values())
        assert all(
            isinstance(value, int | float | np.number) for value in snapshot.metrics.values()
        )
    steps = [snapshot.step for snapshot in shown]
    totals = {snapshot.total for snapshot in shown}
    assert len(totals) == 1, "the total is known from the beginning"
    assert steps == sorted(steps)
    assert steps[0] >= 0
    assert steps[-1] == shown[-1].total > 0
    assert steps.count(steps[-1]) == 1, "only the last snapshot claims to be the end"
    return shown


@pytest.mark.parametrize("name", NAMES)
def test_the_registry_describes_it(name):
    method = get(name)
    assert method.name == name
    assert method.title
    assert method.triplets in {"hard", "soft", "ignored"}
    assert method.runs in {"thread", "process"}
    assert any(method.missing_data(problem(data)) is None for data in DATA)
    for parameter in method.parameter_names():
        assert method.params.param[parameter].doc, f"{parameter} needs a doc: the form shows it"


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", NAMES)
def test_trees_are_trees_and_progress_is_honest(name, data):
    found = starting(name, data)
    if found is None:
        return
    try:
        run = hcviz.run(name, found)
    except InvalidData:  # a model may have nothing to say of a single item, but of two it must
        assert found.n_items == 1
        return
    check(run, found.n_items)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_trees(name):
    found = problem("blobs")
    first, again = (list(hcviz.run(name, found, seed=3)) for _ in range(2))
    assert [s.tree for s in first] == [s.tree for s in again]
    assert [s.step for s in first] == [s.step for s in again]
    if not get(name).samples:
        assert hcviz.fit(name, found, seed=3) == first[-1].tree
    else:  # the summary of its draws
        some = {"steps": 200} if "steps" in get(name).parameter_names() else {}
        tree = hcviz.fit(name, found, seed=3, **some)
        assert tree.n_leaves == found.n_items
        assert tree == hcviz.fit(name, found, seed=3, **some)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_leaves_global_randomness_and_its_problem_alone(name):
    found = with_everything(blobs(8))
    before = (np.random.get_state()[1].copy(), found.features.copy(), found.similarity.copy())  # noqa: NPY002
    list(hcviz.run(name, found))
    after = (np.random.get_state()[1], found.features, found.similarity)  # noqa: NPY002
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))


@pytest.mark.parametrize("count", [1, 4, 16, 64])
@pytest.mark.parametrize(
    "data", ["blobs", "duplicates", "all equal", "features alone", "three items"]
)
@pytest.mark.parametrize("name", HARD)
def test_hard_means_every_snapshot(name, data, count):
    found = starting(name, data)
    if found is not None:
        rows = planted_triplets(found.n_items, count, seed=count)
        check(hcviz.run(name, found.with_triplets(rows)), found.n_items, rows)


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
        shown = check(run, n, rows)[-1]


@pytest.mark.parametrize("start", ["star", "random", "caterpillar"])
@pytest.mark.parametrize("name", NAMES)
def test_any_tree_will_do_to_start_from(name, start):
    found = problem("blobs")
    n = found.n_items
    tree = {
        "star": Tree.star(n),
        "random": random_tree(np.random.default_rng(0), n, polytomies=True),
        "caterpillar": hcviz.build(n, [[0, i, i + 1] for i in range(1, n - 1)]),
    }[start]
    rows = chain_triplets([0, 5, 9], 1)
    hard = rows if name in HARD else None
    check(hcviz.run(name, found.with_triplets(rows), start=tree), n, hard)


@pytest.mark.parametrize("name", HARD)
def test_contradictions_are_refused_before_anything_runs(name):
    rows = [[0, 1, 2], [3, 4, 5], [1, 2, 0], [0, 1, 2]]
    found = problem("blobs").with_triplets(rows)
    with pytest.raises(InconsistentTriplets) as caught:
        hcviz.run(name, found)
    assert caught.value.conflict == (0, 2)


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_gets_a_sentence_before_anything_runs(name):
    found = problem("blobs")
    with pytest.raises(InvalidParameter, match="no parameter 'nonsense'"):
        hcviz.run(name, found, nonsense=1)
    with pytest.raises(InvalidData, match="5 leaves"):
        hcviz.run(name, found, start=Tree.star(5))
    with pytest.raises(InvalidParameter):
        hcviz.run(name, found, start="a tree")
    bare = Problem(labels=["a", "b", "c"])
    if "items" not in get(name).needs:
        with pytest.raises(InvalidData) as caught:
            hcviz.run(name, bare)
        assert get(name).title in caught.value.message


@pytest.mark.parametrize("name", NAMES)
def test_its_views_are_those_that_it_declares(name):
    method = get(name)
    for declared in method.views.values():
        assert declared in get_args(View)
    for snapshot in hcviz.run(name, problem("blobs")):
        for view_name, view in snapshot.views.items():
            assert type(view) is method.views.get(view_name), view_name
    assert method.curve is None or method.curve.view in snapshot.views


@pytest.mark.parametrize("name", NAMES)
def test_it_makes_as_many_clusters_as_it_is_asked_for(name):
    method = get(name)
    if method.at_k is None:
        return
    last = list(hcviz.run(name, problem("blobs"), **method.at_k({}, 3)))[-1]
    assert len(np.unique(last.labels)) == last.metrics["k"] == 3


@pytest.mark.parametrize("name", NAMES)
def test_stopping_halfway_is_harmless(name):
    """A run that is dropped after its first snapshot closes without a complaint."""
    method = get(name)
    found = problem("blobs")
    stream = method.start_run(found, method.parameters(), generator(0))
    next(snapshot for snapshot in stream if snapshot is not None)
    close = getattr(stream, "close", None)
    if close is not None:
        close()


def test_an_unknown_method_is_refused():
    with pytest.raises(HcvizError, match="no method 'astrology'"):
        hcviz.run("astrology", problem("blobs"))
