"""Summaries of a posterior against their definitions on all added trees."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import combinations, permutations

import numba
import numpy as np
import pytest

import hcviz
from hcviz import Problem, Tree
from hcviz.core.errors import InvalidConstraint, InvalidData, InvalidParameter, TooLarge
from hcviz.core.snapshot import Snapshot
from hcviz.posterior import CladeTable, Posterior, ThinnedStream, ess_bulk, summary
from tests.trees import all_trees, caterpillar, from_nested, random_tree

FAST = not numba.config.DISABLE_JIT


def near_trees(n, number, seed=0, polytomies=False):
    """Trees with common clades: each differs from one of three by a few random merges."""
    rng = np.random.default_rng(seed)
    bases = [random_tree(rng, n, polytomies) for _ in range(3)]
    for _ in range(number):
        base = bases[int(rng.choice(3, p=[0.7, 0.2, 0.1]))]
        swap = np.arange(n)
        if rng.random() < 0.5:
            i, j = rng.choice(n, 2, replace=False)
            swap[[i, j]] = swap[[j, i]]
        parent = base.parent.copy()
        parent[:n] = parent[swap]
        yield Tree(parent, base.height * (1 + 0.1 * rng.random()), n)


def filled(trees, **options):
    trees = list(trees)
    made = Posterior(trees[0].n_leaves, **options)
    for k, tree in enumerate(trees):
        made.add(tree, -float(k))
    return made, trees


def clade_sets(tree):
    return [frozenset(c.tolist()) for c in tree.clades()]


# ---------------------------------------------------------------------- clades


@pytest.mark.parametrize("polytomies", [False, True])
def test_support_is_the_share_of_trees_with_the_clade(polytomies):
    made, trees = filled(near_trees(12, 80, polytomies=polytomies))
    counts = Counter(c for tree in trees for c in clade_sets(tree))
    stranger = random_tree(np.random.default_rng(99), 12)
    for tree in (trees[0], trees[-1], stranger):
        expected = [counts[c] / 80 for c in clade_sets(tree)]
        assert made.support(tree).tolist() == pytest.approx(expected)
        entropy = [-sum(p * np.log2(p) for p in (q, 1 - q) if p > 0) for q in expected]
        assert made.clade_entropy(tree) == pytest.approx(entropy)
    assert made.clade_error == 0.0
    for clade in list(counts)[::5]:
        assert made.clade_support(list(clade)) == pytest.approx(counts[clade] / 80)
    assert made.clade_support([3]) == made.clade_support(range(12)) == 1.0


def test_all_clades_have_different_codes():
    """Every subset of 12 items has a code of its own (4,096 of them; chance says 10^-31)."""
    table = CladeTable(12)
    codes = set()
    for size in range(13):
        for items in combinations(range(12), size):
            code = np.bitwise_xor.reduce(table.keys[list(items)], axis=0, initial=0)
            codes.add(tuple(code.tolist()))
    assert len(codes) == 4096


def test_counts_of_a_full_table_are_within_the_error():
    """Many different trees and a small table: each count is within the error."""
    rng = np.random.default_rng(0)
    table = CladeTable(10, capacity=60)
    counts: Counter = Counter()
    fixed = random_tree(rng, 10)
    for k in range(400):
        tree = fixed if k % 3 == 0 else random_tree(rng, 10)
        table.add(tree, table.codes(tree))
        counts.update(clade_sets(tree)[:-1])
        if k % 50 == 49:
            assert table.n_clades <= 60
            assert 0 < table.error <= 2 * 8 * (k + 1) / 60
            for clade, seen in counts.items():
                held = table.count_of(np.array(sorted(clade), np.int32))
                assert held <= seen <= held + table.error
    held = [table.count_of(np.sort(c).astype(np.int32)) for c in list(fixed.clades())[:-1]]
    assert min(held) > 400 / 3 - table.error
    assert table.used.sum() == table.n_clades


def test_a_growing_table_is_exact_before_it_is_full():
    rng = np.random.default_rng(1)
    table = CladeTable(40)
    counts: Counter = Counter()
    for _ in range(90):
        tree = random_tree(rng, 40)
        table.add(tree, table.codes(tree))
        counts.update(clade_sets(tree)[:-1])
    assert table.error == 0
    assert table.n_clades == len(counts) > 1024
    for clade, seen in counts.items():
        assert table.count_of(np.array(sorted(clade), np.int32)) == seen


# ---------------------------------------------------------------------- one tree for many


@pytest.mark.parametrize("polytomies", [False, True])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_the_consensus_has_exactly_the_majority_clades(polytomies, threshold):
    for seed in range(4):
        made, trees = filled(near_trees(11, 61, seed, polytomies))
        counts = Counter(c for tree in trees for c in clade_sets(tree))
        tree, support = made.consensus(threshold)
        assert set(clade_sets(tree)) == {c for c, k in counts.items() if k > threshold * 61}
        assert support.tolist() == pytest.approx([counts[c] / 61 for c in clade_sets(tree)])


def test_consensus_heights_are_means():
    low, high = (Tree([3, 3, 4, 4, -1], [0, 0, 0, h, 1.0], 3) for h in (0.2, 0.6))
    other = Tree([4, 3, 3, 4, -1], [0, 0, 0, 0.5, 0.7], 3)
    made, _ = filled([low, high, other])
    tree, support = made.consensus()
    assert tree.height[3:].tolist() == pytest.approx([0.4, 0.9])
    assert support.tolist() == pytest.approx([2 / 3, 1.0])


def test_the_consensus_of_contradicting_trees_is_a_star():
    made, _ = filled([from_nested(t, 3) for t in (((0, 1), 2), ((0, 2), 1), ((1, 2), 0))])
    assert made.consensus()[0].n_internal == 1


def test_clades_can_gain_and_lose_the_majority():
    """A clade that gains the majority after the row of its members was reused."""
    rng = np.random.default_rng(3)
    first, later = random_tree(rng, 30), random_tree(rng, 30)
    made = Posterior(30)
    for k in range(100):
        made.add(first if k < 20 else later if k % 4 else random_tree(rng, 30), 0.0)
    assert set(clade_sets(made.consensus()[0])) == set(clade_sets(later))


def test_max_credibility_is_the_best_of_the_thinned_trees():
    made, trees = filled(near_trees(9, 50, seed=5))
    counts = Counter(c for tree in trees for c in clade_sets(tree))
    credit = [sum(np.log(counts[c] / 50) for c in clade_sets(tree)) for tree in trees]
    chosen = made.max_credibility()
    assert any(chosen == tree for tree in trees)
    got = sum(np.log(counts[c] / 50) for c in clade_sets(chosen))
    assert got == pytest.approx(max(credit))


def test_the_most_credible_tree_is_kept_though_thinning_drops_it():
    """The best tree is removed by thinning, but it is stored separately."""
    rng = np.random.default_rng(6)
    base = random_tree(rng, 8)
    made = Posterior(8, max_trees=4)
    near = list(near_trees(8, 60, seed=6))
    for k in range(60):
        made.add(base if k in {41, 43} else near[k], 0.0)

    def credit(tree):
        return np.log(np.maximum(made.support(tree), 0.5 / len(made))).sum()

    best = credit(made.max_credibility()) + 1e-9
    assert best >= max(credit(tree) for tree in made.trees())
    assert best >= credit(base)


def test_the_state_of_the_highest_log_joint_is_stored():
    made = Posterior(5)
    for k, value in enumerate([-5.0, -2.0, -3.0]):
        made.add(random_tree(np.random.default_rng(k), 5), value, state=f"state {k}")
    assert made.best is not None
    assert made.best[1:] == (-2.0, "state 1")


# ---------------------------------------------------------------------- triplets


@pytest.mark.parametrize("polytomies", [False, True])
def test_triplet_shares_match_satisfies(polytomies):
    made, trees = filled(near_trees(9, 40, polytomies=polytomies))
    rows = np.array(list(permutations(range(9), 3)), np.int32)
    found = made.triplet_shares(rows)
    for column, order in enumerate(([0, 1, 2], [0, 2, 1], [1, 2, 0])):
        expected = np.mean([tree.satisfies(rows[:, order]) for tree in trees], axis=0)
        assert found[:, column] == pytest.approx(expected)
    assert made.triplet_probability(rows) == pytest.approx(found[:, 0])
    parts = np.c_[found, np.maximum(1 - found.sum(axis=1), 0)]
    entropy = [-sum(p * np.log2(p) for p in row if p > 0) for row in parts]
    assert made.triplet_entropy(rows) == pytest.approx(entropy)


def test_all_trees_of_four_and_five_leaves():
    for n in (4, 5):
        made, trees = filled(all_trees(n), max_trees=512)
        rows = np.array(list(permutations(range(n), 3)), np.int32)
        expected = np.mean([tree.satisfies(rows) for tree in trees], axis=0)
        assert made.triplet_probability(rows) == pytest.approx(expected)
        subsets = np.array(list(combinations(range(n), 3)))
        check_distances(made, trees, subsets)


def test_joint_probability_needs_all_triplets():
    made, trees = filled(near_trees(10, 50, seed=2))
    rows = np.array([(0, 1, 2), (3, 4, 5)])
    rows = rows if trees[0].satisfies(rows).all() else rows[:, [0, 2, 1]]
    for chosen in (rows, rows[:1], np.empty((0, 3), int)):
        expected = np.mean([tree.satisfies(chosen).all() for tree in trees])
        assert made.joint_probability(chosen) == pytest.approx(expected)


# ---------------------------------------------------------------------- distances and depths


def edges(tree, u, v):
    return int(tree.depth[u] + tree.depth[v] - 2 * tree.depth[tree.lca(u, v)])


def check_distances(made, trees, subsets):
    for induced in (True, False):
        found = made.distance_variances(subsets, induced)
        for got, subset in zip(found, subsets, strict=True):
            seen = []
            for tree in trees:
                of = tree.restrict(subset) if induced else tree
                named = range(len(subset)) if induced else subset
                seen.append([[edges(of, int(u), int(v)) for v in named] for u in named])
            assert got == pytest.approx(np.var(seen, axis=0), abs=1e-9)
        assert made.distance_variance(subsets, induced) == pytest.approx(found.max(axis=(1, 2)))


@pytest.mark.parametrize("polytomies", [False, True])
@pytest.mark.parametrize("s", [2, 3, 6, 14])
def test_distance_variance_matches_its_definition(s, polytomies):
    made, trees = filled(near_trees(14, 30, seed=s, polytomies=polytomies))
    rng = np.random.default_rng(s)
    subsets = np.array([rng.choice(14, s, replace=False) for _ in range(4)])
    check_distances(made, trees, subsets)


def test_depth_moments_match_their_definition():
    made, trees = filled(near_trees(10, 25, polytomies=True))
    every = np.arange(10)
    depths = [t.depth[t.lca(every[:, None], every[None, :])] for t in trees]
    mean, variance = made.depth_moments()
    assert mean == pytest.approx(np.mean(depths, axis=0))
    assert variance == pytest.approx(np.var(depths, axis=0), abs=1e-12)


# ---------------------------------------------------------------------- bounds


def test_thinning_keeps_every_2_to_the_k_th():
    kept = ThinnedStream(8)
    for number in range(1000):
        kept.add(0, number, number)
        assert len(kept) <= 8
        assert kept.value == list(range(0, number + 1, kept.stride))
        assert number < 8 or len(kept) >= 4


def test_thinning_is_equal_in_all_chains():
    kept = ThinnedStream(12)
    for number in range(200):
        for chain in range(3):
            kept.add(chain, number, (chain, number))
    rows = kept.by_chain()
    assert [len(r) for r in rows] == [len(rows[0])] * 3
    for chain, positions in enumerate(rows):
        assert [kept.value[i] for i in positions] == [
            (chain, kept.stride * k) for k in range(len(positions))
        ]


@pytest.mark.parametrize("each", [0, 1, 3])
def test_thinning_keeps_a_draw_of_each_chain(each):
    """More chains than capacity: doubling the stride for ever would make no room among the first
    draws, all of which are multiples of it."""
    kept = ThinnedStream(4, each)
    for number in range(40):
        for chain in range(9):
            kept.add(chain, number, (chain, number))
            assert len(kept) <= max(4, 9 * each, 9)
    assert all(kept.value[rows[0]][1] == 0 for rows in kept.by_chain())
    assert len(kept.by_chain()) == 9


def test_trees_without_a_log_joint():
    """They count; the verdict leaves out the log joint."""
    rng = np.random.default_rng(0)
    made = Posterior(6)
    for _ in range(80):
        made.add_snapshot(Snapshot(random_tree(rng, 6), 1, 1))
    assert "the log joint" not in made.verdict().numbers
    assert "the root's height" in made.verdict().numbers
    made.add(random_tree(rng, 6), -5.0)
    assert made.best[1] == -5.0


def test_memory_does_not_grow_with_the_number_of_trees():
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, 20) for _ in range(50)]
    made = Posterior(20, max_trees=16)
    sizes = []
    for k in range(9000 if FAST else 1200):
        made.add(trees[k % 50], 0.0)
        if k in {599, 1199, 4499, 8999}:
            record = made.record
            sizes.append((len(made.thinned_trees), len(record.scalars), len(record.codes)))
    assert all(ring <= 16 and draws <= 2048 and codes <= 2048 for ring, draws, codes in sizes)
    assert len(made.clade_table.used) <= 2 * made.clade_table.capacity


def test_trees_of_20000_leaves():
    n = 20_000 if FAST else 500
    tree, other = caterpillar(n), Tree.star(n)
    made, _ = filled([tree, other, tree])
    assert np.all(made.support(tree)[:-1] == pytest.approx(2 / 3))
    assert made.triplet_shares([[0, 1, n - 1]])[0, 0] == pytest.approx(2 / 3)
    assert made.distance_variance([[0, n // 2, n - 1]]).shape == (1,)
    assert made.max_credibility() == other  # which claims nothing that is in doubt
    if FAST:
        with pytest.raises(TooLarge):
            made.depth_moments()


def test_a_posterior_can_be_pickled_and_continued():
    made, trees = filled(near_trees(8, 30))
    again = pickle.loads(pickle.dumps(made))
    for one in (made, again):
        one.add(trees[3], 1.0)
    assert np.array_equal(made.support(trees[0]), again.support(trees[0]))
    assert made.consensus()[0] == again.consensus()[0]
    assert again.best[1] == 1.0


def test_trees_are_spread_evenly():
    made, trees = filled(near_trees(6, 30))
    assert made.trees() == trees
    assert made.trees(3) == [trees[0], trees[14], trees[29]] or len(made.trees(3)) == 3
    assert len(made.trees(1)) == 1


# ---------------------------------------------------------------------- words


def test_the_verdict_of_different_streams():
    """Independent trees settle, chains of different trees do not, few say nothing."""
    rng = np.random.default_rng(4)
    trees = [random_tree(rng, 6) for _ in range(400)]
    made = Posterior(6)
    assert made.verdict().word == "too few trees yet"
    for k in range(800):
        made.add(trees[int(rng.integers(400))], rng.normal(), chain=k % 2)
    found = made.verdict()
    assert found.word == "settled"
    assert len(found.numbers) == 7
    assert all(name.strip() == name for name in found.numbers)
    assert found.chains == 2
    stuck = Posterior(6)
    for k in range(800):
        stuck.add(trees[k % 2], rng.normal(), chain=k % 2)
    assert stuck.verdict().word == "still settling"


def test_the_verdict_names_its_clades():
    """By their items where they are few, else by their number; no two alike, no space after."""
    shapes = [
        ((0, 1), 2, 3, 4, 5),
        ((0, 1, 2, 3), 4, 5),
        (0, (1, 2, 3, 4), 5),
        ((1, 2, 5), 0, 3, 4),
    ]
    made = Posterior(6)
    rng = np.random.default_rng(5)
    for k in rng.permutation(400):
        made.add(from_nested(shapes[k % 4], 6), rng.normal())
    names = set(made.verdict(labels=["ant", "bee", "cat", "dog", "eel", "fox"]).numbers)
    assert names - {"the log joint", "the root's height"} == {
        "the clade of ant and bee (25 % of the trees)",
        "a clade of 4 items (25 % of the trees)",
        "a clade of 4 items (25 % of the trees), number 2",
        "the clade of bee, cat and fox (25 % of the trees)",
    }
    assert "the clade of 1, 2 and 5 (25 % of the trees)" in made.verdict().numbers


def test_many_chains_can_settle():
    """Each chain has enough recorded draws, whatever the number of chains."""
    rng = np.random.default_rng(6)
    trees = [random_tree(rng, 6) for _ in range(60)]
    for chains in (31, 64):
        made = Posterior(6)
        for _ in range(600 if FAST else 300):
            for chain in range(chains):
                made.add(trees[int(rng.integers(60))], rng.normal(), chain=chain)
        found = made.verdict()
        assert found.chains == chains
        assert 50 <= found.draws <= 256
        assert (found.word, len(found.numbers)) == ("settled", 7)
        assert len(made.record.scalars) <= 256 * chains


def test_ten_thousand_items_can_settle():
    """Only a share of the clades is recorded, with enough draws."""
    n = 10_000 if FAST else 1_000
    rng = np.random.default_rng(7)
    first, second = random_tree(rng, n), random_tree(rng, n)
    made = Posterior(n, max_trees=16)
    for k in range(2600):
        made.add((first, second)[int(rng.integers(2))], rng.normal(), chain=k % 2)
    found = made.verdict()
    assert (found.word, len(found.numbers)) == ("settled", 7)
    assert sum(row.nbytes for row in made.record.codes.value) < 2048 * 8 * 1.5 * 256


def test_snapshots_of_the_sampler_can_be_added():
    problem = Problem(features=np.random.default_rng(0).normal(size=(15, 2)))
    made = Posterior(15)
    for snapshot in hcviz.run("ddt", problem, steps=60 * 15, chains=2):
        made.add_snapshot(snapshot)
    assert len(made) == 122
    assert made.verdict().chains == 2
    support = made.support(snapshot.tree)
    assert np.all(support > 0)
    assert np.isfinite(made.distance_variance([range(10)])).all()
    tree, shown = made.consensus()
    assert np.all(shown > 0.5)
    assert tree.n_leaves == 15


# ---------------------------------------------------------------------- bad input


def test_invalid_input_raises_a_clear_error():
    with pytest.raises(InvalidParameter):
        Posterior(1)
    made = Posterior(5)
    with pytest.raises(InvalidData, match="No tree"):
        made.consensus()
    with pytest.raises(InvalidData, match="4 leaves"):
        made.add(Tree.star(4), 0.0)
    made.add(Tree.star(5), 0.0)
    for wrong in ([[0, 0]], [[0]], [[0, 5]], [[0.5, 1]], []):
        with pytest.raises(InvalidData):
            made.distance_variance(wrong)
    with pytest.raises(InvalidConstraint):
        made.triplet_shares([[0, 1, 5]])
    with pytest.raises(InvalidParameter):
        made.consensus(0.3)
    with pytest.raises(InvalidData):
        made.clade_support([7])


def test_warm_runs():
    summary.warm()


def test_support_sizes_are_the_effective_sizes_of_clade_indicators():
    """Against ess_bulk of the column, by hand; a clade that all trees have counts in full."""
    rng = np.random.default_rng(5)
    with_ab = Tree.from_newick("(((a,b),c),(d,e));", list("abcde"))
    without = Tree.from_newick("((a,(b,c)),(d,e));", list("abcde"))
    posterior = Posterior(5)
    column, has = [], True
    for _ in range(300):
        has = has if rng.random() < 0.9 else not has  # a chain that lingers
        column.append(has)
        posterior.add(with_ab if has else without, 0.0)
    nodes = np.arange(5, with_ab.root)
    sizes = dict(zip(nodes.tolist(), posterior.support_sizes(with_ab, nodes), strict=True))
    for node in nodes.tolist():
        leaves = frozenset(with_ab.leaves(node).tolist())
        if leaves == {0, 1}:
            assert sizes[node] == pytest.approx(ess_bulk(np.array(column, float)))
            assert sizes[node] < 100
        else:
            assert sizes[node] == 300
    few = Posterior(5)
    for _ in range(20):
        few.add(with_ab, 0.0)
    assert np.isnan(few.support_sizes(with_ab, nodes)).all()


def test_with_many_items_only_a_share_of_the_clades_has_support_sizes():
    rng = np.random.default_rng(6)
    tree = random_tree(rng, 700)
    posterior = Posterior(700)
    for _ in range(60):
        posterior.add(tree, 0.0)
    sizes = posterior.support_sizes(tree, np.arange(700, tree.root))
    known = np.isfinite(sizes)
    assert 0.2 < known.mean() < 0.5  # every third, by its code
    assert (sizes[known] == 60).all()
