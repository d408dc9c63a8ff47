"""Linkages under triplets, against their definition, against scipy's, and on the registry."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

import hcviz
from hcviz import InconsistentTriplets, Problem, Tree
from hcviz.core import linkagekernels as kernels
from hcviz.core.build import build_guided, is_consistent
from hcviz.core.constrained import constrained_linkage
from hcviz.core.errors import InvalidConstraint, InvalidData, InvalidParameter
from hcviz.core.groups import NO_GROUPS, Nesting
from tests.trees import random_tree


def merges(square, code, rows):
    """Call the kernel without groups."""
    none = Nesting(NO_GROUPS, len(square))
    return kernels.merges(square, code, rows, none.home, none.over, none.size)


CODES = {
    "average": kernels.AVERAGE,
    "single": kernels.SINGLE,
    "complete": kernels.COMPLETE,
    "ward": kernels.WARD,
}
METHODS = list(CODES)


def clade_heights(tree):
    """The height of each clade."""
    n = tree.n_leaves
    return {frozenset(tree.leaves(v).tolist()): tree.height[v] for v in range(n, tree.n_nodes)}


def planted(rng, n, count):
    """``count`` triplets that one random tree satisfies; none of two items."""
    if n < 3 or not count:
        return np.empty((0, 3), np.int32)
    truth = random_tree(rng, n)
    draws = np.array([rng.choice(n, 3, replace=False) for _ in range(count)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return rows[truth.satisfies(rows)].astype(np.int32)


# ---------------------------------------------------------------------- the definition


def linkage_value(method, points, distance, p, q):
    """The distance of two clusters of items, by definition."""
    p, q = sorted(p), sorted(q)
    if method == "ward":
        apart = np.linalg.norm(points[p].mean(axis=0) - points[q].mean(axis=0))
        return float(np.sqrt(2 * len(p) * len(q) / (len(p) + len(q))) * apart)
    values = distance[np.ix_(p, q)]
    return float({"average": np.mean, "single": np.min, "complete": np.max}[method](values))


def have_tree(n, rows, clades):
    """Whether some tree satisfies the rows and has all the clades: BUILD, each clade spelled out
    as one triplet for each two members and each other item."""
    spelled = [
        (a, b, c)
        for clade in clades
        for a, b in combinations(sorted(clade), 2)
        for c in range(n)
        if c not in clade
    ]
    return is_consistent(n, np.array([*map(tuple, rows), *spelled], np.int32).reshape(-1, 3))


def slow(method, points, distance, rows):
    """``(p, q, value)`` of each merge: the nearest pair of clusters whose union may be a clade."""
    n = len(distance)
    alive = [frozenset([i]) for i in range(n)]
    made: list[frozenset[int]] = []
    merges = []
    while len(alive) > 1:
        alive.sort(key=min)
        pairs = [
            (linkage_value(method, points, distance, p, q), at, p, q)
            for at, (p, q) in enumerate(combinations(alive, 2))
            if have_tree(n, rows, [*made, p | q])
        ]
        value, _, p, q = min(pairs)
        merges.append((p, q, value))
        made.append(p | q)
        alive = [each for each in alive if each not in (p, q)] + [p | q]
    return merges


def lifted(merges):
    """The height of each clade: its linkage value, or that of a higher clade inside it."""
    height: dict[frozenset[int], float] = {}
    for p, q, value in merges:
        inside = [each for clade, each in height.items() if clade < p | q]
        height[p | q] = max([value, *inside])
    return height


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.sampled_from(METHODS), st.integers(0, 12))
def test_the_nearest_allowed_pair_is_merged(seed, n, method, count):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    rows = planted(rng, n, count)
    condensed = pdist(points)
    tree = Tree.from_linkage(constrained_linkage(condensed, method, rows))
    wanted = lifted(slow(method, points, squareform(condensed), rows))
    found = clade_heights(tree)
    assert found.keys() == wanted.keys()
    for clade, height in wanted.items():
        assert found[clade] == pytest.approx(height, rel=1e-9)
    assert tree.satisfies(rows).all()


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(3, 7), st.sampled_from(["single", "complete"]),
    st.integers(0, 6),
)  # fmt: skip
def test_in_a_tie_the_pair_with_the_lowest_items_is_merged(seed, n, method, count):
    """Distances 1, 2 and 3; minima and maxima of them are exact, so ties are exact too."""
    rng = np.random.default_rng(seed)
    square = squareform(rng.integers(1, 4, n * (n - 1) // 2).astype(float))
    rows = planted(rng, n, count)
    first, second, value, _ = merges(square.copy(), CODES[method], rows.copy())
    wanted = slow(method, None, square, rows)
    assert first.tolist() == [min(p) for p, _, _ in wanted]
    assert second.tolist() == [min(q) for _, q, _ in wanted]
    assert value.tolist() == [each for _, _, each in wanted]


def test_a_union_that_becomes_as_near_as_another_comes_first_if_it_is_lower():
    """0 is 2 from item 2 and from item 3; once 1 and 3 are together, 0 merges with them."""
    square = np.array([[0, 3, 2, 2], [3, 0, 3, 1], [2, 3, 0, 3], [2, 1, 3, 0.0]])
    first, second, _, _ = merges(square, kernels.SINGLE, np.empty((0, 3), np.int32))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(1, 3), (0, 1), (0, 2)]


# ---------------------------------------------------------------------- without triplets


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3, 10, 120])
def test_without_triplets_the_merges_are_scipys(method, n):
    points = np.random.default_rng(n).normal(size=(n, 4))
    condensed = pdist(points)
    wanted = Tree.from_linkage(linkage(condensed, method))
    tree = Tree.from_linkage(constrained_linkage(condensed, method, []))
    assert np.array_equal(tree.parent, wanted.parent)
    assert np.allclose(tree.height, wanted.height, rtol=1e-12)
    square = squareform(condensed ** (2 if method == "ward" else 1))
    none = np.empty((0, 3), np.int32)
    _, _, value, tests = merges(square, CODES[method], none)
    assert np.allclose(np.sqrt(value) if method == "ward" else value, wanted.height[n:])
    assert tests == 0


@pytest.mark.parametrize("method", METHODS)
def test_triplets_that_the_linkage_satisfies_change_nothing(method):
    rng = np.random.default_rng(0)
    condensed = pdist(rng.normal(size=(60, 3)))
    free = Tree.from_linkage(linkage(condensed, method))
    draws = np.array([rng.choice(60, 3, replace=False) for _ in range(300)])
    rows = draws[free.satisfies(draws)]
    assert len(rows) > 50
    tree = Tree.from_linkage(constrained_linkage(condensed, method, rows))
    assert np.array_equal(tree.parent, free.parent)


# ---------------------------------------------------------------------- many triplets, and few


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [20, 200, 3000])
def test_some_merge_is_always_allowed(method, count):
    """Triplets of a tree that knows nothing of the distances: they forbid most near pairs."""
    rng = np.random.default_rng(count)
    condensed = pdist(rng.normal(size=(70, 2)))
    rows = planted(rng, 70, count)
    tree = Tree.from_linkage(constrained_linkage(condensed, method, rows))
    assert tree.is_binary
    assert tree.satisfies(rows).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_triplet_tests_three_pairs_at_most(method):
    """a with b, a with c, b with c: a pair that was refused is tested again only when one of its
    clusters merges with another that the triplet names."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(80, 2))
        apart = squareform(pdist(points))
        a, c = 0, int(apart[0, 1:].argmin()) + 1  # the nearest to a must wait for the farthest
        b = int(apart[0].argmax())
        square = apart ** (2 if method == "ward" else 1)
        _, _, _, tests = merges(square, CODES[method], np.array([[a, b, c]], np.int32))
        assert 1 <= tests <= 3


def test_a_node_is_not_lower_than_its_children():
    """0 and 1 are 1 apart, but wait for 1 and 2, which are 3 apart; 3 stays away at 9."""
    square = np.array([[0, 1, 4, 9], [1, 0, 3, 9], [4, 3, 0, 9], [9, 9, 9, 0.0]])
    tree = Tree.from_linkage(constrained_linkage(squareform(square), "single", [[1, 2, 0]]))
    assert clade_heights(tree) == {
        frozenset({1, 2}): 3.0, frozenset({0, 1, 2}): 3.0, frozenset({0, 1, 2, 3}): 9.0
    }  # fmt: skip


# ---------------------------------------------------------------------- bad input


def test_invalid_input_raises_a_clear_error():
    good = np.ones(3)
    with pytest.raises(InconsistentTriplets) as caught:
        constrained_linkage(good, "average", [[0, 1, 2], [1, 2, 0]])
    assert caught.value.conflict == (0, 1)
    with pytest.raises(InvalidConstraint, match="3"):
        constrained_linkage(good, "average", [[0, 1, 3]])
    with pytest.raises(InvalidParameter, match="no linkage 'centroid'"):
        constrained_linkage(good, "centroid", [])
    broken = [[1.0, each, 2.0] for each in (np.nan, np.inf, -1.0, 1e200, "far")]
    for bad in (np.ones(4), np.ones((3, 3)), [], *broken):
        with pytest.raises(InvalidData, match="needs condensed distances"):
            constrained_linkage(bad, "average", [])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_equal_items_keep_triplets_too(method, zero):
    rows = [[0, 4, 1], [1, 2, 0]]
    tree = Tree.from_linkage(constrained_linkage(np.full(15, zero), method, rows))
    assert tree.satisfies(rows).all()
    assert np.all(tree.height == 0)


def test_forbidden_pairs_keep_small_distances_exactly():
    points = 1e-12 * np.random.default_rng(4).normal(size=(8, 2))
    rows = planted(np.random.default_rng(5), 8, 10)
    small = constrained_linkage(pdist(points), "average", rows)
    large = constrained_linkage(pdist(1e12 * points), "average", rows)
    assert np.allclose(1e12 * small[:, 2], large[:, 2], rtol=1e-9)


# ---------------------------------------------------------------------- the registry's methods


def corrections(tree, rng, count):
    """Random ab|c that the tree contradicts, each within a clade of at most 12 items."""
    small = [v for v in range(tree.n_leaves, tree.n_nodes) if 3 <= tree.size[v] <= 12]
    found = []
    while len(found) < count:
        row = rng.choice(tree.leaves(int(rng.choice(small))), 3, replace=False)
        if not tree.satisfies([row])[0]:
            found.append(row)
    return found


@pytest.fixture(scope="module")
def zoo():
    return hcviz.datasets.load("zoo").problem()


@pytest.mark.parametrize("method", METHODS)
def test_repair_changes_the_linkage_as_the_guided_repair_does(method, zoo):
    free = hcviz.fit(method, zoo)
    rows = corrections(free, np.random.default_rng(1), 1)
    tree = hcviz.fit(method, zoo.with_triplets(rows), constraints="repair")
    assert tree == build_guided(free, rows)
    holds = [(rows[0][0], rows[0][2], rows[0][1]), (rows[0][1], rows[0][2], rows[0][0])]
    holds = [row for row in holds if free.satisfies([row])[0]]
    assert hcviz.fit(method, zoo.with_triplets(holds), constraints="repair") == free


@pytest.mark.parametrize("constraints", ["merge", "repair"])
@pytest.mark.parametrize("method", METHODS)
def test_one_correction_changes_few_clades(method, constraints, zoo):
    """The median over 20 corrections: at most 15 % of the clades, and of the repair at most 2."""
    free = hcviz.fit(method, zoo)
    before = set(clade_heights(free))
    changed = []
    for row in corrections(free, np.random.default_rng(0), 20):
        tree = hcviz.fit(method, zoo.with_triplets([row]), constraints=constraints)
        assert tree.satisfies([row]).all()
        changed.append(len(before - set(clade_heights(tree))))
    limit = 2 if constraints == "repair" else 0.15 * len(before)
    assert 1 <= np.median(changed) <= limit


def test_a_linkage_of_features_similarities_and_distances_keeps_triplets():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(25, 3))
    apart = squareform(pdist(features))
    rows = planted(rng, 25, 12)
    for method in METHODS:
        wanted = Tree.from_linkage(constrained_linkage(pdist(features), method, rows))
        for problem in (Problem(features=features), Problem(dissimilarity=apart)):
            assert hcviz.fit(method, problem.with_triplets(rows)) == wanted
        turned = Problem(similarity=apart.max() - apart).with_triplets(rows)
        assert hcviz.fit(method, turned).satisfies(rows).all()


def test_an_unknown_mode_raises_a_clear_error(zoo):
    with pytest.raises(InvalidParameter, match="constraints must be 'merge' or 'repair'"):
        hcviz.run("average", zoo, constraints="ignore")
