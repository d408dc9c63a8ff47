"""Proposition 1, the dependency digraph, the guarantee, and which constraints are useful."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import hcviz
from hcviz import InconsistentTriplets, Problem, Tree, Triplets, metrics
from hcviz.algorithms.structural.profile import cut_profile
from hcviz.core.errors import InvalidConstraint, InvalidData, InvalidParameter
from tests.test_structural_search import held_by, random_triplets, random_weights
from tests.trees import all_trees, caterpillar, from_nested, random_tree


def clades(tree):
    return {frozenset(clade.tolist()) for clade in tree.clades()}


def plain_triplets(tree):
    """Proposition 1's own loop: while siblings a, b have a parent below the root, emit ab|c.

    Any label of a subtree will do, so each of the three is the set of its leaves.
    """
    parent = dict(enumerate(tree.parent.tolist()))
    found = []
    for v in range(tree.n_leaves, tree.n_nodes - 1):  # children come before parents
        a, b = (w for w in parent if parent[w] == v)
        (sibling,) = (w for w in parent if parent[w] == parent[v] and w != v)
        found.append([set(tree.leaves(w).tolist()) for w in (a, b, sibling)])
    return found


@pytest.mark.parametrize("n", [3, 4, 5])
def test_a_binary_tree_is_k_minus_2_triplets_that_no_other_tree_satisfies(n):
    others = list(all_trees(n, binary=True))
    for tree in others:
        rows = metrics.tree_triplets(tree)
        assert len(rows) == n - 2 == len(plain_triplets(tree))
        for row, labels in zip(rows.tolist(), plain_triplets(tree), strict=True):
            assert all(item in leaves for item, leaves in zip(row, labels, strict=True)) or all(
                item in labels[k] for item, k in zip(row, (1, 0, 2), strict=True)
            )
        satisfying = [other for other in others if other.satisfies(rows).all()]
        assert [clades(other) for other in satisfying] == [clades(tree)]
        assert clades(metrics.triplets_tree(n, rows)) == clades(tree)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans())
def test_there_and_back_again(seed, n, polytomies):
    tree = random_tree(np.random.default_rng(seed), n, polytomies)
    rows = metrics.tree_triplets(tree)
    assert tree.satisfies(rows).all()
    assert clades(hcviz.build(n, rows)) == clades(tree)
    if tree.is_binary:
        assert len(rows) == max(0, n - 2)
        assert clades(metrics.triplets_tree(n, rows)) == clades(tree)


def test_deep_trees_are_no_trouble():
    tree = caterpillar(3000)
    assert clades(hcviz.build(3000, metrics.tree_triplets(tree))) == clades(tree)


def test_triplets_that_leave_something_open_are_no_tree():
    with pytest.raises(InvalidConstraint, match="items 0, 1 and 2"):
        metrics.triplets_tree(4, [[0, 1, 3], [1, 2, 3]])
    # ((0, 1), (2, 3)) is the Aho tree, binary, and nothing says that 2 and 3 belong together:
    # but then they are single components, and the tree is no longer binary.
    with pytest.raises(InvalidConstraint, match="several"):
        metrics.triplets_tree(4, [[0, 1, 2], [0, 1, 3]])
    with pytest.raises(InconsistentTriplets):
        metrics.triplets_tree(3, [[0, 1, 2], [0, 2, 1]])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 5), st.integers(1, 8))
def test_one_tree_or_a_sentence(seed, n, count):
    rng = np.random.default_rng(seed)
    rows = held_by(random_tree(rng, n), rng, count)
    fitting = [t for t in all_trees(n, binary=True) if t.satisfies(rows).all()]
    if len(fitting) == 1:
        assert clades(metrics.triplets_tree(n, rows)) == clades(fitting[0])
    else:
        with pytest.raises(InvalidConstraint):
            metrics.triplets_tree(n, rows)


# ---------------------------------------------------------------------- dependency


def plain_dmc(rows):
    """Definitions 1 to 3, word for word; classes as a dict from base to keys."""
    classes = {}
    for a, b, c in rows:
        classes.setdefault(frozenset((a, b)), set()).add(c)

    def after(base):
        return {
            other for z in classes[base] for x in base if (other := frozenset((x, z))) in classes
        }

    def longest(base, target):
        """Length of the longest path, -1 if there is none."""
        if base == target:
            return 0
        lengths = [longest(other, target) for other in after(base)]
        return max((1 + length for length in lengths if length >= 0), default=-1)

    best = 1.0
    for base in classes:
        layers = {}
        for other in classes:
            depth = longest(base, other)
            if depth >= 0:
                layers[depth] = layers.get(depth, 0) + len(classes[other])
        best = max(best, float(np.prod([1 + count for count in layers.values()])))
    return best


@pytest.mark.parametrize(
    ("rows", "dmc"),
    [
        ([], 1),
        ([[0, 1, 2]], 2),
        ([[0, 1, 2], [1, 0, 3], [0, 1, 4]], 4),  # three keys on one base
        ([[0, 1, 2], [0, 2, 3], [0, 3, 4]], 8),  # each key in the next base
        ([[0, 1, 2], [3, 4, 5]], 2),  # nothing to do with each other
        ([[0, 1, 2], [0, 1, 2], [1, 0, 2]], 2),  # given three times
        # 01|2 waits for 02|3 and for 12|4, both in one layer: 2 * (1 + 2)
        ([[0, 1, 2], [0, 2, 3], [1, 2, 4]], 6),
    ],
)
def test_dependency_by_hand(rows, dmc):
    assert metrics.dependency(np.reshape(rows, (-1, 3))).dmc == dmc


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 8), st.integers(0, 14))
def test_dependency_is_the_definition(seed, n, count):
    rng = np.random.default_rng(seed)
    rows = held_by(random_tree(rng, n), rng, count)
    found = metrics.dependency(rows)
    assert found.dmc == plain_dmc(rows.tolist())
    assert sorted(map(tuple, found.bases.tolist())) == sorted(
        {(min(a, b), max(a, b)) for a, b, _ in rows.tolist()}
    )
    for number, (base, members) in enumerate(zip(found.bases, found.members, strict=True)):
        assert all({*rows[row, :2].tolist()} == {*base.tolist()} for row in members)
        layers = found.layers(number)
        assert layers[0] == [number]
        size = [1 + sum(len(found.members[i]) for i in layer) for layer in layers]
        assert found.measures[number] == np.prod(size)
    # The direction: what an edge points to is resolved before the base of where it comes from.
    for i, j in found.edges.tolist():
        keys = {int(rows[row, 2]) for row in found.members[i]}
        assert len(keys & set(found.bases[j].tolist())) >= 1
        assert len(set(found.bases[i].tolist()) & set(found.bases[j].tolist())) == 1


def test_a_circle_is_refused():
    with pytest.raises(InvalidConstraint, match="circle"):
        metrics.dependency([[0, 1, 2], [1, 2, 0], [0, 2, 1]])


def test_the_guarantee():
    assert metrics.dependency_guarantee(10, np.empty((0, 3), int)) == pytest.approx(2 / 3)
    # Three of ten items are named, and a single triplet has DMC 2.
    assert metrics.dependency_guarantee(10, [[0, 1, 2]]) == pytest.approx(2 * 0.7 / 6)
    assert metrics.dependency_guarantee(3, [[0, 1, 2]]) == 0.0
    with pytest.raises(InvalidConstraint, match="no class 1"):
        metrics.dependency([[0, 1, 2]]).layers(1)


# ---------------------------------------------------------------------- useful ones


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 5), st.integers(1, 6))
def test_useful_constraints_are_those_that_rule_trees_out(seed, n, count):
    rng = np.random.default_rng(seed)
    rows = held_by(random_tree(rng, n), rng, count)
    without = random_tree(rng, n)
    found = metrics.usefulness(n, rows, without)
    everything = list(all_trees(n))
    for row in range(len(rows)):
        others = np.delete(rows, row, axis=0)
        fitting = [t for t in everything if t.satisfies(others).all()]
        assert found.implied[row] == all(t.satisfies(rows[row : row + 1]).all() for t in fitting)
        assert found.already[row] == without.satisfies(rows[row : row + 1])[0]
        assert found.useful[row] == (not found.implied[row] and not found.already[row])


def test_useful_by_hand():
    tree = from_nested((((0, 1), 2), 3), 4)
    rows = [[0, 1, 2], [1, 2, 3], [0, 2, 3]]  # 01|2 with either of the others gives the third
    found = metrics.usefulness(4, rows)
    assert found.implied.tolist() == [False, True, True]
    assert not found.already.any()
    assert metrics.usefulness(4, rows, tree).already.all()
    assert not metrics.usefulness(4, rows, Tree.star(4)).already.any()
    with pytest.raises(InconsistentTriplets):
        metrics.usefulness(3, list(itertools.permutations(range(3)))[:3])


# ---------------------------------------------------------------------- where the cost comes from


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.booleans())
def test_the_costs_of_the_nodes_are_those_of_their_pairs(seed, n, polytomies):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies)
    weights = random_weights(rng, n)
    rows = random_triplets(rng, n, 5 if n > 2 else 0)
    expected = np.zeros(tree.n_nodes)
    for i, j in itertools.combinations(range(n), 2):
        v = tree.lca(i, j)
        expected[v] += weights[i, j] * tree.size[v]
    assert metrics.node_costs(tree, weights) == pytest.approx(expected)
    for row in rows[~tree.satisfies(rows)].tolist():
        v = tree.lca(row[0], row[1])
        expected[v] += 0.5 * tree.size[v]
    found = metrics.node_costs(tree, weights, rows, 0.5)
    assert found == pytest.approx(expected)
    assert found.sum() == pytest.approx(metrics.regularised_cost(tree, weights, rows, 0.5))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.integers(0, 4))
def test_the_profile_has_the_cut_that_is_taken(seed, n, count):
    rng = np.random.default_rng(seed)
    weights = random_weights(rng, n)
    rows = held_by(random_tree(rng, n), rng, count)
    problem = Problem(similarity=weights, triplets=rows)
    profile = cut_profile(problem, range(n))
    assert sorted(np.concatenate(profile.supernodes).tolist()) == list(range(n))
    for cut in range(len(profile.inside)):
        left = np.concatenate(profile.supernodes[: cut + 1])
        right = np.setdiff1d(np.arange(n), left)
        weight = weights[np.ix_(left, right)].sum()
        assert profile.inside[cut] == len(left)
        assert profile.weight[cut] == pytest.approx(weight, abs=1e-9)
        assert profile.ratio[cut] == pytest.approx(weight / (len(left) * len(right)), abs=1e-9)
        assert profile.balance[cut] == min(len(left), len(right)) / n
    assert profile.ratio[profile.best] == pytest.approx(profile.ratio.min(), abs=1e-6)
    tree = hcviz.fit("crsc", problem)
    left = frozenset(tree.leaves(int(tree.children(tree.root)[0])).tolist())
    chosen = frozenset(np.concatenate(profile.supernodes[: profile.best + 1]).tolist())
    if profile.pieces == 1:
        assert left in (chosen, frozenset(range(n)) - chosen)
    balanced = np.flatnonzero(3 * profile.balance >= 1 - 1e-12)
    assert (profile.best_balanced < 0) == (len(balanced) == 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.sampled_from([0.0, 0.5, 30.0]))
def test_a_profile_of_priced_answers_has_hrscs_cut(seed, n, lam):
    rng = np.random.default_rng(seed)
    weights = random_weights(rng, n)
    rows = np.array([rng.choice(n, 3, replace=False) for _ in range(4)])  # they may contradict
    price = 0.5 + rng.random(4)
    items = np.sort(rng.choice(n, int(rng.integers(2, n + 1)), replace=False))
    problem = Problem(similarity=weights, triplets=Triplets(rows, price))
    profile = cut_profile(problem, items, lam=lam)
    assert sorted(int(x) for block in profile.supernodes for x in block) == items.tolist()
    for cut in range(len(profile.inside)):
        left = {int(block[0]) for block in profile.supernodes[: cut + 1]}
        right = set(items.tolist()) - left
        paid = sum(weights[i, j] for i in left for j in right)
        for (a, b, c), p in zip(rows.tolist(), price, strict=True):
            if {a, b, c} <= left | right and (a in left) != (b in left):
                paid += lam * p
        assert profile.weight[cut] == pytest.approx(paid, abs=1e-9)
    thin = Problem(similarity=csr_array(weights), triplets=problem.triplets)
    again = cut_profile(thin, items, lam=lam)
    assert (again.weight == profile.weight).all()
    if len(items) == n and profile.pieces == 1:
        tree = hcviz.fit("hrsc", problem, lam=lam)
        left = frozenset(tree.leaves(int(tree.children(tree.root)[0])).tolist())
        chosen = frozenset(np.concatenate(profile.supernodes[: profile.best + 1]).tolist())
        assert left in (chosen, frozenset(range(n)) - chosen)


def test_a_profile_takes_no_price_below_zero():
    for lam in (-1.0, float("inf"), float("nan")):
        with pytest.raises(InvalidParameter, match="lam must be finite"):
            cut_profile(Problem(similarity=np.ones((3, 3))), range(3), lam=lam)


def test_a_profile_of_one_item_is_a_sentence():
    with pytest.raises(InvalidData, match="nothing to cut"):
        cut_profile(Problem(similarity=np.ones((3, 3))), [1])
