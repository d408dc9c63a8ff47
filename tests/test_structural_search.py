"""The search for the cheapest tree: each regraft against the definition, the whole against OPT."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hcviz
from hcviz import InconsistentTriplets, Problem, Tree, metrics
from hcviz.algorithms.structural import regraft
from hcviz.algorithms.structural.search import allocate, binary_children
from hcviz.core.similarity import cosine, cosine_zscored
from hcviz.core.triplets import Triplets
from tests.trees import all_trees, random_tree


def random_weights(rng, n, negative=False):
    weights = rng.random((n, n)) - (0.5 if negative else 0.0)
    weights *= rng.random((n, n)) < 0.8  # some pairs have nothing in common
    return np.triu(weights, 1) + np.triu(weights, 1).T


def random_triplets(rng, n, count):
    rows = [rng.choice(n, 3, replace=False) for _ in range(count)]
    return np.array(rows, np.int32).reshape(-1, 3)


def held_by(tree, rng, count):
    draws = random_triplets(rng, tree.n_leaves, count)
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return rows[tree.satisfies(rows)]


def optimum(weights, rows=(), prices=None, best=min):
    """The best objective of all binary trees, by dynamic programming over subsets.

    A split of A at its root costs |A| w(S, A - S), and with prices |A| c for each ab|c inside A
    that it violates: a and b apart while c is in A. Without prices no such split is allowed.
    """
    n = len(weights)
    masks = [(1 << a, 1 << b, 1 << c) for a, b, c in np.asarray(rows, int).reshape(-1, 3).tolist()]
    within = [0.0] * (1 << n)  # the weight of all pairs of a subset
    for group in range(1, 1 << n):
        items = [i for i in range(n) if group >> i & 1]
        within[group] = sum(weights[i, j] for i, j in itertools.combinations(items, 2))
    found = {1 << i: 0.0 for i in range(n)}
    for group in range(1, 1 << n):  # a subset of it is a smaller number
        if group in found:
            continue
        inside = [(t, m) for t, m in enumerate(masks) if all(bit & group for bit in m)]
        options = []
        side = (group - 1) & group
        while side:
            rest = group ^ side
            apart = [t for t, (a, b, _) in inside if bool(a & side) != bool(b & side)]
            allowed = prices is not None or not apart
            if side > rest and allowed and None not in (found[side], found[rest]):
                cut = within[group] - within[side] - within[rest]
                cut += sum(prices[t] for t in apart)
                options.append(group.bit_count() * cut + found[side] + found[rest])
            side = (side - 1) & group
        found[group] = best(options) if options else None
    return found[(1 << n) - 1]


# ---------------------------------------------------------------------- one regraft


def lay_out(tree, weights, triplets, lam, sign=1.0):
    n = tree.n_leaves
    s = allocate(n, triplets, lam)
    regraft.put_tree(s, *binary_children(tree), 2 * n - 2)
    regraft.put_cuts(s, weights, sign, 0, n)
    regraft.put_penalties(s)
    return s


def shown(s):
    n = s.place.size
    return Tree.with_size_heights(regraft.parents(s.leaf.copy(), s.up.copy(), n), n)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 8), st.integers(0, 12), st.booleans())
def test_every_regraft_is_weighed_right(seed, n, count, dissimilarity):
    """All places for one subtree: the cost of the tree that results, from its definition."""
    rng = np.random.default_rng(seed)
    weights = random_weights(rng, n, negative=True)
    sign, lam = (-1.0 if dissimilarity else 1.0), float(rng.choice([0.3, 2.0]))
    triplets = Triplets(random_triplets(rng, n, count), rng.random(count) + 0.1)
    tree = random_tree(rng, n)

    def cost(tree):
        both = metrics.regularised_cost(tree, weights, triplets, lam)
        plain = metrics.dasgupta_cost(tree, weights)
        return sign * plain + (both - plain)

    s = lay_out(tree, weights, triplets, lam, sign)
    for _ in range(4):  # one move after the other: what is kept up to date stays right
        before = cost(shown(s))
        assert regraft.total_cost(s) == pytest.approx(before, abs=1e-9)
        k = int(rng.integers(1, 2 * n - 1))
        saved = [a.copy() for a in (s.size, s.cut, s.up, s.leaf)]
        best, least, now = regraft.evaluate_places(s, weights, sign, k)
        value = s.value.copy()
        assert least == value.min() == value[best]
        regraft.put_back(s, k)
        for old, new in zip(saved, (s.size, s.cut, s.up, s.leaf), strict=True):
            assert np.array_equal(old, new)
        p = s.up[k]
        sibling = s.end[k] if k == p + 1 else p + 1
        allowed = np.flatnonzero(np.isfinite(value))
        assert set(allowed) == set(range(2 * n - 1)) - {p} - set(range(k, s.end[k]))
        for u in allowed[allowed != sibling]:
            other = lay_out(shown_tree := shown(s), weights, triplets, lam, sign)
            # The copy has the same clades, perhaps in another order: find S and u by their items.
            at, to = find(other, items(s, k)), find(other, items(s, u) - items(s, k))
            regraft.evaluate_places(other, weights, sign, at)
            assert other.value[to] == pytest.approx(value[u], abs=1e-9)
            regraft.move(other, at, to)
            assert cost(shown(other)) - cost(shown_tree) == pytest.approx(value[u] - now, abs=1e-9)
        if len(allowed) > 1:
            regraft.evaluate_places(s, weights, sign, k)
            regraft.move(s, k, int(rng.choice(allowed[allowed != sibling])))


def items(s, k):
    return frozenset(x for x in s.leaf[k : s.end[k]].tolist() if x >= 0)


def find(s, wanted):
    """The lowest position that has all the wanted items below it (S itself may be among them)."""
    return max(k for k in range(s.size.size) if wanted <= items(s, k))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 7), st.integers(1, 8))
def test_hard_triplets_allow_exactly_the_regrafts_that_keep_them(seed, n, count):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n)
    rows = held_by(tree, rng, count)
    weights = random_weights(rng, n)
    for k in range(1, 2 * n - 1):
        s = lay_out(tree, weights, Triplets(rows), 0.0)
        subtree = items(s, k)
        regraft.evaluate_places(s, weights, 1.0, k)
        value = s.value.copy()
        p = s.up[k]
        sibling = s.end[k] if k == p + 1 else p + 1
        for u in set(range(2 * n - 1)) - {p, sibling} - set(range(k, s.end[k])):
            other = lay_out(tree, weights, Triplets(), 0.0)  # the same layout, nothing forbidden
            assert items(other, k) == subtree
            regraft.evaluate_places(other, weights, 1.0, k)
            regraft.move(other, k, u)
            assert np.isfinite(value[u]) == shown(other).satisfies(rows).all()


def test_all_trees_are_reached_and_none_twice_as_cheap():
    """The optimum that the tests rely on is that of all trees, one by one."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        weights = random_weights(rng, 5)
        rows, prices = random_triplets(rng, 5, 4), rng.random(4)
        costs = [
            metrics.regularised_cost(t, weights, Triplets(rows, prices), 1.0)
            for t in all_trees(5, binary=True)
        ]
        assert optimum(weights, rows, prices) == pytest.approx(min(costs))
        hard = rows[:1]
        costs = [
            metrics.dasgupta_cost(t, weights)
            for t in all_trees(5, binary=True)
            if t.satisfies(hard).all()
        ]
        assert optimum(weights, hard) == pytest.approx(min(costs))


# ---------------------------------------------------------------------- the whole search


def test_it_finds_the_optimum_of_nearly_all_small_problems():
    """200 random instances of 4 to 8 items, without triplets, with hard and with soft ones.

    Seen over 600 of each kind: 2,399 of 2,400 optimal, with the default budget of 2500 n^2.
    """
    rng = np.random.default_rng(0)
    missed = []
    for number in range(200):
        n = 4 + number % 5
        weights = random_weights(rng, n)
        kind = ("free", "hard", "soft", "far")[number % 4]
        rows = held_by(random_tree(rng, n), rng, 3) if kind != "free" else ()
        problem, options, best = Problem(similarity=weights, triplets=rows), {}, min
        prices = None
        if kind == "soft":
            rows = random_triplets(rng, n, 6)
            problem, options = Problem(similarity=weights, triplets=rows), {"lam": 0.5}
            prices = np.full(6, 0.5)
        if kind == "far":
            options, best = {"objective": "dissimilarity"}, max
        tree = hcviz.fit("dasgupta-search", problem, **options)
        reached = metrics.regularised_cost(tree, weights, rows, 0.5 if kind == "soft" else 0.0)
        truth = optimum(weights, rows, prices, best)
        if kind == "far":
            assert reached <= truth + 1e-9
        else:
            assert reached >= truth - 1e-9
        if reached != pytest.approx(truth, abs=1e-9):
            missed.append((number, kind, n, reached, truth))
    assert len(missed) <= 2, missed


def data(name):
    if name == "zoo-100":  # the paper's 100 animals: the first of the two frogs dropped
        found = hcviz.datasets.load("zoo")
        frog = next(i for i, label in enumerate(found.labels) if label.startswith("frog"))
        matrix = cosine(np.delete(found.features, frog, axis=0))
    else:
        matrix = cosine_zscored(hcviz.datasets.load(name).features)
    return (matrix + matrix.T) / 2


@pytest.mark.parametrize(
    ("name", "known"),
    # The best costs known before this search was written, by another implementation. Its Glass was
    # read in another way (average linkage here is below its 1453634.171), so that bound would say
    # nothing: the one here is the worst of ten seeds of this search, the best being 1441419.081.
    [("zoo-100", 170989.294), ("zoo", 140037.512), ("iris", 393139.239), ("glass", 1441431.467)],
)
def test_no_known_tree_is_cheaper(name, known):
    matrix = data(name)
    tree = hcviz.fit("dasgupta-search", Problem(similarity=matrix))
    assert metrics.dasgupta_cost(tree, matrix) <= known + 0.0005


def test_costs_only_fall_and_are_what_they_say():
    matrix = cosine_zscored(hcviz.datasets.load("digits").features)
    start = random_tree(np.random.default_rng(3), 300)
    problem = Problem(similarity=matrix)
    run = list(hcviz.run("dasgupta-search", problem, start=start, proposals=20_000_000))
    costs = [snapshot.metrics["cost"] for snapshot in run]
    assert costs[0] == pytest.approx(metrics.dasgupta_cost(start, matrix))
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) > 2
    for snapshot in run:
        cost = metrics.dasgupta_cost(snapshot.tree, matrix)
        assert snapshot.metrics["cost"] == pytest.approx(cost, rel=1e-12)


def test_what_it_ends_with_is_locally_optimal():
    matrix = data("zoo")
    problem = Problem(
        similarity=matrix,
        triplets=held_by(random_tree(np.random.default_rng(1), 101), np.random.default_rng(2), 30),
    )
    tree = hcviz.fit("dasgupta-search", problem)
    s = lay_out(tree, matrix, problem.triplets, 0.0)
    for k in range(1, 201):
        _, least, now = regraft.evaluate_places(s, matrix, 1.0, k)
        regraft.put_back(s, k)
        assert now - least <= 1e-6


def test_adding_a_constant_changes_nothing():
    matrix = data("zoo") - 2.0
    same = hcviz.fit("dasgupta-search", Problem(similarity=matrix))
    n = len(matrix)
    cost = metrics.dasgupta_cost(same, matrix) + 2.0 * (n**3 - n) / 3
    assert cost == pytest.approx(140037.5115, abs=0.0005)


def test_more_weight_on_the_answers_breaks_fewer():
    rng = np.random.default_rng(5)
    matrix = data("zoo")
    rows = random_triplets(rng, 101, 60)  # answers that have nothing to do with the animals
    broken = []
    for lam in (0.0, 1.0, 1000.0):
        tree = hcviz.fit("dasgupta-search", Problem(similarity=matrix, triplets=rows), lam=lam)
        broken.append(metrics.regularised_cost(tree, np.zeros_like(matrix), rows, 1.0))
    assert broken[0] > broken[1] > broken[2]


def test_contradictions_are_refused_unless_they_have_a_price():
    problem = Problem(similarity=np.ones((4, 4)), triplets=[[0, 1, 2], [0, 2, 1]])
    with pytest.raises(InconsistentTriplets):
        hcviz.run("dasgupta-search", problem)
    last = list(hcviz.run("dasgupta-search", problem, lam=1.0))[-1]
    assert last.metrics["violated"] == 1
    assert last.metrics["regularised"] == metrics.regularised_cost(
        last.tree, problem.similarity, problem.triplets, 1.0
    )


def test_deep_trees_are_no_trouble():
    n = 3000
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    chain = hcviz.build(n, [[0, i, i + 1] for i in range(1, n - 1)])
    problem = Problem(similarity=1.0 / (1.0 + apart))
    run = list(hcviz.run("dasgupta-search", problem, start=chain, proposals=60_000))
    assert run[-1].metrics["cost"] < run[0].metrics["cost"]


def test_what_costs_the_same_stays_as_it_was():
    """Twins can be arranged in many trees of one cost. Here only what the answer is about changes:
    the start is the cheapest tree without the answer, repaired, and the repair is as cheap."""
    rng = np.random.default_rng(3)
    twins = np.repeat(rng.normal(size=(8, 3)), 6, axis=0)
    problem = Problem(features=twins)
    tree = hcviz.fit("dasgupta-search", problem)
    before = {tuple(sorted(clade.tolist())) for clade in tree.clades()}
    again = hcviz.fit("dasgupta-search", problem, start=tree)
    assert {tuple(sorted(clade.tolist())) for clade in again.clades()} == before
    four = [0, 1, 2, 3]  # twins of each other
    row = next(
        (a, b, c)
        for a, b, c in itertools.permutations(four, 3)
        if not tree.satisfies([[a, b, c]])[0]
    )
    answered = hcviz.fit("dasgupta-search", problem.with_triplets([row]))
    assert answered.satisfies([row]).all()
    after = {tuple(sorted(clade.tolist())) for clade in answered.clades()}
    assert all(set(clade) <= set(range(6)) for clade in before - after)


def test_the_search_with_an_answer_costs_no_more_than_from_scratch():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        problem = Problem(features=rng.normal(size=(30, 3))).with_triplets(
            [rng.choice(30, 3, replace=False)]
        )
        scratch = list(hcviz.run("dasgupta-search", problem))[-1].metrics["cost"]
        fitted = hcviz.fit("dasgupta-search", problem)
        found = list(hcviz.run("dasgupta-search", problem, start=fitted, proposals=1))[-1]
        assert found.metrics["cost"] <= 1.01 * scratch
