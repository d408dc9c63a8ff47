"""Methods that ask: the tree of the hidden similarities, and how much they ask for it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hcviz
from hcviz import Problem
from hcviz.algorithms import generator, get
from hcviz.algorithms.comparison.oracle import Asker, ranks
from hcviz.core.agglomerate import agglomerate
from hcviz.core.errors import InvalidData
from hcviz.datasets import SignOracle, planted_hierarchy
from hcviz.metrics import aari


def last(name, oracle, seed=0, **params):
    return list(hcviz.run(name, Problem(oracle=oracle), seed=seed, **params))[-1]


def symmetric(values):
    values = np.triu(values, 1)
    return values + values.T


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([2, 1000000]))
def test_the_sort_ranks_every_pair(seed, n, spread):
    rng = np.random.default_rng(seed)
    w = symmetric(rng.integers(0, spread, (n, n)))
    sort = ranks(Asker(SignOracle(w)), n, rng)
    while True:
        try:
            next(sort)
        except StopIteration as end:
            rank = end.value
            break
    values = w[np.triu_indices(n, 1)]
    assert rank.tolist() == np.unique(values, return_inverse=True)[1].tolist()


@pytest.mark.parametrize(("name", "method"), [("sl", "single"), ("cl", "complete")])
def test_linkages_find_the_tree_of_the_hidden_similarities(name, method):
    for seed in range(5):
        w = symmetric(np.random.default_rng(seed).normal(size=(30, 30)))
        tree, expected = last(name, SignOracle(w)).tree, agglomerate(w, method)
        assert [set(tree.leaves(v)) for v in range(30, 59)] == [
            set(expected.leaves(v)) for v in range(30, 59)
        ]


@pytest.mark.parametrize("name", ["sl", "cl"])
@pytest.mark.parametrize("n", [10, 40, 90])
def test_questions_grow_as_n_squared_log_n(name, n):
    oracle = SignOracle(symmetric(np.random.default_rng(n).normal(size=(n, n))))
    shown = last(name, oracle)
    pairs = n * (n - 1) // 2
    assert shown.metrics["queries"] == oracle.asked
    # quicksort takes 2 ln 2 M log2 M = 1.39 M log2 M at most in expectation, deviating by O(M)
    assert pairs - 1 <= oracle.asked <= 1.39 * pairs * math.log2(pairs) + 3 * pairs


def slow_kernel(w, landmarks, reference):
    n = len(w)
    kernel = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for a, b in reference:
                for k in landmarks:
                    if i != j and k not in (i, j):
                        kernel[i, j] += np.sign(w[i, k] - w[a, b]) * np.sign(w[j, k] - w[a, b])
    return kernel


@pytest.mark.parametrize("variant", ["paper", "published"])
def test_the_active_kernel_is_equation_2(variant):
    for seed in range(6):
        n, p = 9, 0.4
        w = symmetric(np.random.default_rng(seed).normal(size=(n, n)))
        oracle = SignOracle(w)
        shown = last("4k-al-active", oracle, seed, variant=variant, p=p)
        rng = generator(seed)  # the same draws, in the order of the docstring
        pairs = 36
        landmarks = np.arange(n)
        if variant == "paper":
            landmarks = np.flatnonzero(rng.random(n) < math.log(n) / n)
            landmarks = landmarks if landmarks.size else rng.integers(n, size=1)
        count = int(min(pairs, max(1, p * pairs * (pairs - 1) / 2 // (n * len(landmarks)))))
        reference = np.transpose(np.triu_indices(n, 1))
        reference = reference[np.sort(rng.choice(pairs, count, replace=False))]
        assert np.array_equal(
            shown.matrices["kernel"], slow_kernel(w, landmarks.tolist(), reference)
        )
        metrics = shown.metrics
        assert metrics["queries"] == oracle.asked <= n * len(landmarks) * count
        assert (metrics["landmarks"], metrics["references"]) == (len(landmarks), count)
        assert metrics["budget"] == p * pairs * (pairs - 1) / 2


@pytest.mark.parametrize("n", [40, 120])
def test_the_kernel_asks_more_than_the_linkages_or_fewer_as_its_words_say(n):
    w = symmetric(np.random.default_rng(n).normal(size=(n, n)))
    pairs = n * (n - 1) // 2

    def asked(name, **params):
        return last(name, SignOracle(w), **params).metrics["queries"]

    linkage = asked("sl")
    level = 2 * math.log2(pairs) / pairs  # where p M^2 / 2 = M log2 M
    # sl asks 1.0 to 1.4 M log2 M; a factor of 2 to either side is clear of that and of rounding
    assert asked("4k-al-active", p=level / 2) < linkage < asked("4k-al-active", p=2 * level)
    assert 2 * level < 0.1
    by_default = asked("4k-al-active")
    assert by_default > 2 * linkage
    # less what two landmarks share and what rounding |R| down leaves, some |S| / (2 N) and N |S|
    assert by_default == pytest.approx(0.1 * pairs**2 / 2, rel=0.2)
    least = last("4k-al-active", SignOracle(w), p=4 * math.log(n) / n**3).metrics
    assert least["references"] == 1
    assert least["queries"] <= n * least["landmarks"]
    kernel = get("4k-al-active")
    assert kernel.parameters().p == 0.1
    assert "for p = 0.1 far more" in kernel.summary
    assert "p is above 2 log2 M / M" in kernel.params.param.p.doc
    m = 120 * 119 / 2
    assert f"above {2 * math.log2(m) / m:.4f} for 120 items" in kernel.params.param.p.doc


def test_a_clear_hierarchy_is_recovered_by_all():
    data = planted_hierarchy(levels=2, pure_size=15, delta=0.6, sigma=0.1, seed=1)
    asked = [("sl", {}), ("cl", {}), ("4k-al-active", {"variant": "published"})]
    for name, params in asked:  # the paper's ln N = 4 landmarks can miss a cluster of 60 items
        tree = last(name, SignOracle(data.similarity), **params).tree
        assert aari(data.target, tree, 2) == 1.0


def test_an_inconsistent_oracle_still_gets_a_tree():
    w = symmetric(np.random.default_rng(0).normal(size=(20, 20)))
    for name in ("sl", "cl", "4k-al-active"):
        assert last(name, SignOracle(w, eps=0.2)).tree.n_leaves == 20


def test_an_oracle_that_answers_nonsense_is_refused():
    class Nonsense:
        n_items = 4

        def compare(self, first, second):
            return np.full(len(first), 7)

    with pytest.raises(InvalidData, match="answer each with 1, 0 or -1"):
        last("sl", Nonsense())
