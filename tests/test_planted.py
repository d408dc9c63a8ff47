"""Planted models, comparisons drawn from a similarity, and the simulated user."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Tree
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter, TooLarge
from hcviz.datasets import (
    SimulatedUser,
    count_comparisons,
    planted_hierarchy,
    planted_partition,
    sample_comparisons,
    stream_comparisons,
)
from hcviz.datasets.sampling import unrank_pairs
from tests.trees import all_trees, caterpillar, from_nested, random_tree

# ---------------------------------------------------------------------- planted similarities


@pytest.mark.parametrize(("levels", "size"), [(0, 1), (0, 4), (1, 1), (2, 3), (3, 2)])
def test_without_noise_the_hierarchy_is_the_definition(levels, size):
    """mu_ij = mu - (L - l) delta, l the level of the LCA: counted by halving the index range."""
    data = planted_hierarchy(levels, size, mu=0.8, delta=0.1, sigma=0.0)
    n = 2**levels * size
    assert data.n_items == n

    def level(i, j):
        low, high = 0, n
        for depth in range(levels):
            middle = (low + high) // 2
            if (i < middle) != (j < middle):
                return depth
            low, high = (low, middle) if i < middle else (middle, high)
        return levels

    for i, j in itertools.product(range(n), repeat=2):
        assert data.similarity[i, j] == pytest.approx(0.8 - (levels - level(i, j)) * 0.1)
    for i, j, k in itertools.permutations(range(n), 3):
        held = data.target.satisfies([(i, j, k)])[0]
        assert held == (level(i, j) > max(level(i, k), level(j, k)))
    assert [len(set(strip)) for strip in data.strips.values()] == (
        [2**k for k in range(levels, 0, -1)] if levels else [1]
    )


def test_planted_noise_has_its_size():
    data = planted_hierarchy(levels=2, pure_size=25, sigma=0.3, delta=0.2, seed=1)
    clean = planted_hierarchy(levels=2, pure_size=25, sigma=0.0, delta=0.2)
    noise = (data.similarity - clean.similarity)[np.triu_indices(100, 1)]
    # 4950 independent values: the mean has a standard error of 0.0043, the deviation 0.0030.
    assert abs(noise.mean()) < 4 * 0.0043
    assert abs(noise.std() - 0.3) < 4 * 0.0030
    assert np.array_equal(data.similarity, data.similarity.T)
    again = planted_hierarchy(levels=2, pure_size=25, sigma=0.3, delta=0.2, seed=1)
    assert np.array_equal(again.similarity, data.similarity)


def test_planted_partition_has_its_delta():
    data = planted_partition(n=200, k=4, delta=0.5, p=0, seed=2)
    assert data.comparisons is None
    same = np.equal.outer(np.array(data.classes), np.array(data.classes))
    upper = np.triu(np.ones((200, 200), bool), 1)
    inside, across = data.similarity[same & upper], data.similarity[~same & upper]
    assert len(inside) == 4 * 50 * 49 // 2
    above = np.searchsorted(np.sort(across), inside).mean() / len(across)
    # P(in > out) is (1 + delta)/2 = 0.75; the estimate's error is about 0.25/sqrt(4900).
    assert above == pytest.approx(0.75, abs=4 * 0.0036)
    assert across.std() == pytest.approx(0.1, rel=0.05)
    assert sorted(len(c) for c in data.target.clades()) == [50, 50, 50, 50, 200]


def test_planted_partition_takes_sizes_and_distributions():
    data = planted_partition(
        sizes=[2, 3], p=1, kind="triplets", eps=1,
        f_in=lambda rng, m: 1 + rng.random(m), f_out=lambda rng, m: rng.random(m),
    )  # fmt: skip
    assert data.classes == ("A", "A", "B", "B", "B")
    assert len(data.comparisons) == 5 * 6
    group = np.array([0, 0, 1, 1, 1])
    for anchor, near, far in data.comparisons.rows.tolist():
        if (group[anchor] == group[near]) != (group[anchor] == group[far]):
            assert group[anchor] == group[near]
    assert [planted_partition(n=7, k=3, p=0).classes.count(c) for c in "ABC"] == [3, 2, 2]


def test_the_paper_draws_n_log_n_to_the_fourth():
    data = planted_partition(n=120, k=3, seed=4)
    expected = 120 * math.log(120) ** 4
    assert len(data.comparisons) == pytest.approx(expected, abs=5 * math.sqrt(expected))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: planted_hierarchy(levels=-1), "levels must be"),
        (lambda: planted_hierarchy(pure_size=1.5), "pure_size must be"),
        (lambda: planted_hierarchy(sigma=-1), "sigma must be"),
        (lambda: planted_hierarchy(levels=12), "limit"),
        (lambda: planted_partition(n=3, k=4), "3 items cannot make 4"),
        (lambda: planted_partition(delta=1.0), "delta must be"),
        (lambda: planted_partition(sizes=[]), "sizes must"),
        (lambda: planted_partition(n=20_000), "limit"),
        (lambda: planted_partition(n=9, eps=2), "eps must be"),
        (lambda: planted_partition(n=9, p=-1), "p must be"),
        (lambda: planted_partition(n=9, p=float("nan")), "p must be"),
    ],
)
def test_bad_parameters_are_sentences(make, message):
    with pytest.raises(HcvizError, match=message):
        make()


@pytest.mark.parametrize("pair", ["normal-normal", "uniform-beta", "uniform-normal"])
def test_pairs_of_distributions_have_the_given_distance(pair):
    """P(w_in > w_out) = 3/4: of 40,000 pairs of independent draws, four standard errors are
    0.0087. (N(3/4, 0.1^2) leaves [0, 1] now and then, which costs 0.0002.)"""
    data = planted_partition(404, 2, pair=pair, p=0.0, seed=3)
    same = np.equal.outer(data.classes, data.classes)
    above = np.triu(np.ones((404, 404), bool), 1)
    inside, across = data.similarity[same & above], data.similarity[~same & above]
    assert (inside[:40_000] > across[:40_000]).mean() == pytest.approx(0.75, abs=0.0088)
    if pair != "normal-normal":
        assert across.min() >= 0
        assert across.max() <= 1
        assert across.mean() == pytest.approx(0.5, abs=4 * 0.29 / np.sqrt(len(across)))
        assert inside.std() == pytest.approx({"b": 0.1936, "n": 0.1}[pair[8]], rel=0.02)
        assert pair in data.provenance


def test_a_pair_has_a_name_that_is_known():
    with pytest.raises(InvalidParameter, match="no pair of distributions 'beta'"):
        planted_partition(10, 2, pair="beta")
    mixed = planted_partition(10, 2, pair="uniform-beta", f_in=lambda g, m: np.full(m, 2.0), p=0)
    assert mixed.similarity[0, 1] == 2.0
    assert 0 <= mixed.similarity[0, 9] <= 1


# ---------------------------------------------------------------------- comparisons


def questions(n, kind):
    if kind == "triplets":
        return {
            (i, frozenset(pair))
            for i in range(n)
            for pair in itertools.combinations([x for x in range(n) if x != i], 2)
        }
    pairs = [frozenset(pair) for pair in itertools.combinations(range(n), 2)]
    return {frozenset(two) for two in itertools.combinations(pairs, 2)}


def asked(row):
    if len(row) == 3:
        return row[0], frozenset(row[1:])
    return frozenset([frozenset(row[:2]), frozenset(row[2:])])


@pytest.mark.parametrize("kind", ["triplets", "quadruplets"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_at_rate_one_every_question_is_answered_once_and_rightly(n, kind):
    w = np.random.default_rng(n).random((n, n))
    w = w + w.T
    rows = sample_comparisons(w, 1.0, kind).rows.tolist()
    assert count_comparisons(n, kind) == len(questions(n, kind)) == len(rows)
    assert {asked(row) for row in rows} == questions(n, kind)
    for row in rows:
        i, j, k, m = (row[0], row[1], row[0], row[2]) if len(row) == 3 else row
        assert w[i, j] > w[k, m]


@pytest.mark.parametrize("kind", ["triplets", "quadruplets"])
def test_rates(kind):
    w = np.random.default_rng(0).random((24, 24))
    w = w + w.T
    total = count_comparisons(24, kind)
    for p, eps in [(0.3, 0.5), (0.02, 1.0), (0.9, 0.0)]:
        rows = np.concatenate(list(stream_comparisons(w, p, kind, eps, seed=7)))
        assert len({asked(row) for row in rows.tolist()}) == len(rows)
        # Binomial counts, held to five standard deviations.
        assert abs(len(rows) - p * total) < 5 * math.sqrt(total * p * (1 - p))
        left = w[rows[:, 0], rows[:, 1]]
        right = w[rows[:, 0], rows[:, 2]] if kind == "triplets" else w[rows[:, 2], rows[:, 3]]
        share = np.mean(left > right)
        want = (1 + eps) / 2
        assert abs(share - want) <= 5 * math.sqrt(want * (1 - want) / len(rows))


def test_each_question_is_as_likely_as_any_other():
    """Four items have 12 triplet questions; each is seen with probability 1/4, 4000 times."""
    w = np.arange(16.0).reshape(4, 4)
    w = w + w.T
    seen = {question: 0 for question in questions(4, "triplets")}
    rng = np.random.default_rng(3)
    for _ in range(4000):
        for row in sample_comparisons(w, 0.25, "triplets", seed=rng).rows.tolist():
            seen[asked(row)] += 1
    # Each count is binomial: 1000 with a standard deviation of 27.
    assert max(abs(count - 1000) for count in seen.values()) < 5 * 27.4


def test_ties_are_coins():
    rows = sample_comparisons(np.zeros((30, 30)), 1.0, "triplets", seed=1).rows
    first = np.mean(rows[:, 1] < rows[:, 2])
    assert abs(first - 0.5) < 5 * 0.5 / math.sqrt(len(rows))


def test_rare_comparisons_of_many_items_cost_what_is_seen():
    """1.2e11 quadruplets of 1000 items; 1e-8 of them are drawn in a moment."""
    w = np.random.default_rng(0).random((1000, 1000))
    drawn = sample_comparisons(w + w.T, 1e-8, "quadruplets", seed=0)
    assert abs(len(drawn) - 1247) < 5 * 36
    assert drawn.rows.max() > 900
    assert len(sample_comparisons(w + w.T, 1e-300, "quadruplets")) == 0
    assert len(sample_comparisons(w + w.T, 0.0, "triplets")) == 0
    with pytest.raises(TooLarge, match=r"stream_comparisons"):
        sample_comparisons(w + w.T, 0.01, "quadruplets")
    with pytest.raises(InvalidParameter, match="p must be"):
        sample_comparisons(w + w.T, 1.01)


@given(st.integers(0, 10**15))
def test_pairs_are_numbered(index):
    low, high = (int(x[0]) for x in unrank_pairs(np.array([index])))
    assert 0 <= low < high
    assert high * (high - 1) // 2 + low == index


# ---------------------------------------------------------------------- the simulated user


def violated(shown: Tree, target: Tree) -> dict[int, set[tuple[int, int, int]]]:
    """Every triplet of the target that the shown tree lacks, by the shown node it belongs to."""
    found: dict[int, set[tuple[int, int, int]]] = {}
    for a, b, c in itertools.permutations(range(target.n_leaves), 3):
        if a < b and target.satisfies([(a, b, c)])[0] and not shown.satisfies([(a, b, c)])[0]:
            found.setdefault(shown.lca(shown.lca(a, b), c), set()).add((a, b, c))
    return found


def ordered(answer):
    a, b, c = answer
    return min(a, b), max(a, b), c


def check_answer(shown, target, rule, seed):
    by_node = violated(shown, target)
    answer = SimulatedUser(target, rule, seed).answer(shown)
    if not by_node:
        assert answer is None
        return
    node = next(v for v, rows in by_node.items() if ordered(answer) in rows)
    if rule == "paper":  # no node above it has a fault
        while node != shown.root:
            node = int(shown.parent[node])
            assert node not in by_node


def test_user_on_every_pair_of_small_trees():
    trees = [tree for n in (1, 2, 3, 4) for tree in all_trees(n)]
    for target, shown in itertools.product(trees, repeat=2):
        if target.n_leaves == shown.n_leaves:
            for rule in ("paper", "uniform"):
                check_answer(shown, target, rule, seed=0)


@given(st.integers(0, 2**32 - 1), st.integers(5, 9), st.sampled_from(["paper", "uniform"]))
def test_user_on_random_trees(seed, n, rule):
    rng = np.random.default_rng(seed)
    target, shown = random_tree(rng, n, True), random_tree(rng, n, True)
    check_answer(shown, target, rule, seed)


def test_user_draws_uniformly():
    r"""
    target: ((0,1),(2,3),4), shown: ((0,2),(1,3),4): at the root nine triplets are violated.
    """
    target, shown = from_nested(((0, 1), (2, 3), 4), 5), from_nested(((0, 2), (1, 3), 4), 5)
    faults = violated(shown, target)
    assert set(faults) == {shown.root}
    counts = dict.fromkeys(faults[shown.root], 0)
    user = SimulatedUser(target, seed=8)
    for _ in range(3000):
        counts[ordered(user.answer(shown))] += 1
    mean = 3000 / len(counts)
    assert max(abs(k - mean) for k in counts.values()) < 5 * math.sqrt(mean)  # near Poisson


def test_user_answers_in_items_of_the_shown_part():
    target = from_nested((((0, 1), (2, 3)), (4, 5)), 6)
    items = [5, 0, 2, 1]
    shown = from_nested(((0, 1), (2, 3)), 4)  # ((5, 0), (2, 1))
    answer = SimulatedUser(target).answer(shown, items)
    assert set(answer) <= set(items)
    assert target.satisfies([answer])[0]
    part = target.restrict(items)
    assert SimulatedUser(target).answer(part, items) is None
    with pytest.raises(InvalidData, match="4 leaves, and 3 items"):
        SimulatedUser(target).answer(shown, [0, 1, 2])


def test_user_searches_both_children():
    """The root split is right, and so is one child; the fault is in the other, for every seed."""
    target = from_nested(((0, 1, 2), ((3, 4), 5)), 6)
    shown = from_nested((((0, 1), 2), (3, (4, 5))), 6)
    for seed in range(8):
        assert ordered(SimulatedUser(target, seed=seed).answer(shown)) == (3, 4, 5)


def test_user_finds_the_odd_one_out():
    user = SimulatedUser(from_nested(((0, 1, 2), 3), 4))
    assert user.odd_one_out([3, 0, 2]) == (0, 2, 3)
    assert user.odd_one_out([0, 1, 2]) is None
    with pytest.raises(InvalidData, match="three items"):
        user.odd_one_out([0, 1])
    with pytest.raises(InvalidParameter, match="no rule"):
        SimulatedUser(Tree.star(3), rule="wild")


def test_user_on_the_deepest_trees():
    n = 20_000
    deep = caterpillar(n)
    assert deep.satisfies([SimulatedUser(deep).answer(Tree.star(n))])[0]
    assert SimulatedUser(Tree.star(n)).answer(Tree.star(n)) is None
    assert SimulatedUser(caterpillar(500)).answer(caterpillar(500)) is None
