"""Groups (clade constraints): the same results as from all triplets that they imply."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz import Problem, Tree
from hcviz.algorithms import algorithms, get
from hcviz.core.build import (
    aho_components,
    build,
    build_guided,
    implies,
    is_consistent,
    minimal_conflict,
)
from hcviz.core.constrained import constrained_linkage
from hcviz.core.errors import InconsistentTriplets, InvalidConstraint, InvalidTree
from hcviz.core.groups import Groups, Nesting
from hcviz.core.triplets import Triplets


def implied(groups, n):
    """Return all triplets aa'|b with a, a' in a group and b outside: the definition."""
    rows = [
        (a, b, c)
        for items in groups
        for a, b in combinations(sorted(items), 2)
        for c in range(n)
        if c not in items
    ]
    return np.array(rows, np.int32).reshape(-1, 3)


def clades(tree):
    return {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_nodes)}


@st.composite
def constraint_sets(draw, max_items=8):
    """Draw (n, groups, triplets); most are consistent for few constraints."""
    n = draw(st.integers(3, max_items))
    items = st.integers(0, n - 1)
    group = st.sets(items, min_size=2, max_size=n - 1)
    groups = draw(st.lists(group, min_size=1, max_size=3))
    triplet = st.lists(items, min_size=3, max_size=3, unique=True)
    return n, groups, draw(st.lists(triplet, max_size=3))


def heights(tree):
    return {frozenset(tree.leaves(v).tolist()): tree.height[v] for v in range(tree.n_nodes)}


def random_binary(n, seed):
    rng = np.random.default_rng(seed)
    return hcviz.fit("average", rng.normal(size=(n, 2)))


@given(constraint_sets())
def test_build_gives_the_tree_of_all_implied_triplets(case):
    n, groups, triplets = case
    rows = np.concatenate([np.array(triplets, np.int32).reshape(-1, 3), implied(groups, n)])
    consistent = is_consistent(n, rows)
    assert is_consistent(n, triplets, groups) == consistent
    if consistent:
        tree = build(n, triplets, groups)
        assert clades(tree) == clades(build(n, rows))
        assert all(tree.has_clade(items) for items in groups)


@given(constraint_sets(), st.integers(0, 5))
def test_repair_gives_the_tree_of_all_implied_triplets(case, seed):
    n, groups, triplets = case
    rows = np.concatenate([np.array(triplets, np.int32).reshape(-1, 3), implied(groups, n)])
    if is_consistent(n, rows):
        start = random_binary(n, seed)
        tree = build_guided(start, triplets, groups)
        assert tree.satisfies(triplets, groups).all()
        assert tree.is_binary
        expected = build_guided(start, rows)  # its nodes may be numbered in another order
        assert heights(tree) == heights(expected)


@given(constraint_sets())
def test_a_conflict_of_groups_and_triplets_is_minimal(case):
    n, groups, triplets = case
    if is_consistent(n, triplets, groups):
        return
    with pytest.raises(InconsistentTriplets) as caught:
        build(n, triplets, groups)
    known = list(Groups(groups))
    for dropped in [("row", k) for k in caught.value.conflict] + [
        ("group", k) for k in caught.value.groups
    ]:
        rest = [triplets[k] for k in caught.value.conflict if ("row", k) != dropped]
        others = [known[k] for k in caught.value.groups if ("group", k) != dropped]
        assert is_consistent(n, rest, others)
    rest = [triplets[k] for k in caught.value.conflict]
    assert not is_consistent(n, rest, [known[k] for k in caught.value.groups])


@given(constraint_sets(), st.integers(2, 8))
def test_components_are_those_of_all_implied_triplets(case, size):
    n, groups, triplets = case
    members = np.arange(min(size, n))  # it may have some items of a group only
    rows = np.concatenate([np.array(triplets, np.int32).reshape(-1, 3), implied(groups, n)])
    found = aho_components(members, triplets, groups)
    expected = aho_components(members, rows)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


def test_a_group_implies_its_triplets_and_no_others():
    groups = [{0, 1, 2}]
    assert implies(5, None, [0, 2, 4], groups)
    assert not implies(5, None, [0, 1, 2], groups)
    assert not implies(5, None, [3, 4, 0], groups)


def planted(n=14, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 3))
    groups = Groups([[0, 3, 5], [0, 3, 5, 7, 9], [1, 2], [4, 6, 8, 10]])
    return features, groups


def hard_methods():
    return [name for name in algorithms() if get(name).triplets == "hard"]


OPTIONS = {
    "ddt": {"steps": 3000},
    "dasgupta-search": {"proposals": 30_000},
    "addt-s": {},
}


def problem_for(method, features, **constraints):
    """Return a problem with the input that a method needs."""
    from hcviz.core.triplets import Comparisons

    needs = get(method).needs
    n = len(features)
    given = {"features": features}
    if not {"features", "similarity", "items", "triplets"} & set(needs):
        apart = ((features[:, None] - features[None]) ** 2).sum(-1)
        if "piles" in needs:
            leaders = [np.random.default_rng(k).permutation(n)[:4] for k in range(6)]
            nearest = [each[apart[:, each].argmin(axis=1)] for each in leaders]
            piles = [
                hcviz.datasets.Pile(str(k), str(leader), tuple(np.flatnonzero(each == leader)))
                for k, each in enumerate(nearest)
                for leader in np.unique(each)
            ]
            given = {"piles": piles, "labels": [f"i{k}" for k in range(n)]}
        elif "comparisons" in needs:
            rng = np.random.default_rng(1)
            rows = np.array([rng.choice(n, 3, replace=False) for _ in range(900)])
            wrong = apart[rows[:, 0], rows[:, 1]] > apart[rows[:, 0], rows[:, 2]]
            rows[wrong] = rows[wrong][:, [0, 2, 1]]
            given = {"comparisons": Comparisons(rows), "labels": [f"i{k}" for k in range(n)]}
        else:
            given = {"oracle": hcviz.FeatureOracle(features)}
    return Problem(**given, **constraints)


@pytest.mark.parametrize("method", hard_methods())
def test_a_method_gives_the_same_tree_as_from_all_implied_triplets(method):
    features, groups = planted()
    n = len(features)
    params = OPTIONS.get(method, {})
    extra = [[11, 12, 0], [4, 6, 8]]
    with_groups = problem_for(method, features, groups=groups, triplets=extra)
    expanded = Triplets(np.concatenate([extra, groups.triplets(n)]))
    tree = hcviz.fit(method, with_groups, seed=3, **params)
    assert tree.satisfies(extra, groups).all()
    assert clades(tree) == clades(
        hcviz.fit(method, problem_for(method, features, triplets=expanded), seed=3, **params)
    )


@pytest.mark.parametrize("method", hard_methods())
def test_every_tree_on_the_way_has_the_groups(method):
    features, groups = planted(seed=1)
    problem = problem_for(method, features, groups=groups)
    for snapshot in hcviz.run(method, problem, seed=0, **OPTIONS.get(method, {})):
        assert snapshot.tree.satisfies(groups=groups).all()


@pytest.mark.parametrize("method", hard_methods())
def test_groups_that_overlap_are_refused_with_both_named(method):
    problem = problem_for(method, planted()[0], groups=[[0, 1, 2], [2, 3], [5, 6]])
    both = r"\{0, 1, 2\}, \{2, 3\}|a group of i0 \+ i1 \+ i2; a group of i2 \+ i3\."
    with pytest.raises(InconsistentTriplets, match=both) as caught:  # by name, if items have any
        hcviz.fit(method, problem)
    assert caught.value.groups == (0, 1)


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_soft_methods_price_groups(beta):
    features, groups = planted()
    problem = Problem(features=features, groups=groups)
    for method, softened in (("hrsc", {}), ("ddt", {"beta": beta, "steps": 500})):
        tree = hcviz.fit(method, problem, **softened)
        assert tree.n_leaves == len(features)


def test_a_higher_price_makes_more_of_a_group_hold():
    features, groups = planted()
    problem = Problem(features=features, groups=groups)
    rows = groups.triplets(problem.n_items)
    held = [
        hcviz.fit("dasgupta-search", problem, lam=lam, proposals=30_000).satisfies(rows).mean()
        for lam in (0.0, 1e3)
    ]
    assert held[0] < 1.0 == held[1]


@given(st.integers(3, 90), st.integers(2, 88))
def test_soft_triplets_name_every_item_and_keep_the_weight(n, size):
    size = min(size, n - 1)
    rows, weights = Groups([range(size)], [3.0]).soft_triplets(n)
    assert set(rows.ravel().tolist()) == set(range(n))
    assert weights.sum() == pytest.approx(3.0)
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    assert (rows[:, 2] >= size).all()
    assert (rows[:, :2] < size).all()


@pytest.mark.parametrize("linkage", ["average", "single", "complete", "ward"])
@pytest.mark.parametrize("seed", range(4))
def test_a_linkage_merges_the_same_clusters_as_from_all_implied_triplets(linkage, seed):
    rng = np.random.default_rng(seed)
    n = 30
    apart = rng.random(n * (n - 1) // 2)
    order = rng.permutation(n)
    groups = Groups([order[:12], order[:5], order[3:5], order[12:20], order[20:23]])
    extra = [[*order[20:22], order[22]], [order[0], order[1], order[9]]]
    rows = np.concatenate([np.array(extra), groups.triplets(n)])
    found = constrained_linkage(apart, linkage, extra, groups)
    np.testing.assert_allclose(found, constrained_linkage(apart, linkage, rows))


def test_nesting_finds_the_smallest_groups():
    nesting = Nesting(Groups([[0, 1, 2, 3], [0, 1], [5, 6]]), 8)
    assert nesting.size.tolist() == [2, 2, 4]
    assert nesting.home.tolist() == [0, 0, 2, 2, -1, 1, 1, -1]
    assert nesting.over.tolist() == [2, -1, -1]
    # 1 3|7: both are in the group of four, so it holds. 2 5|7: two groups meet at the top level.
    # 0 2|3: inside the group of four, where {0, 1} is one part. 5 6|4: both in one group.
    rows = [[1, 3, 7], [2, 5, 7], [0, 2, 3], [6, 5, 4]]
    assert nesting.slots(rows).tolist() == [[0, 5, 7], [0, 2, 3]]


def test_nesting_refuses_overlap():
    with pytest.raises(InvalidConstraint, match="overlap"):
        Nesting(Groups([[0, 1], [1, 2]]), 4)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0]], "two items or more"),
        ([[0, 0, 1]], "names an item twice"),
        ([[0, 9]], "names item 9, but there are only 4 items"),
        ([[-1, 2]], "names item -1"),
        ([[0, 1, 2, 3]], "has all 4 items"),
        (7, "must be a list of sets"),
        ([[0, 1.5]], "integers|whole"),
        ([["a", "zebra"]], "which is no item"),
    ],
)
def test_bad_groups_get_one_sentence(groups, message):
    with pytest.raises(InvalidConstraint, match=message):
        Problem(labels=list("abcd"), groups=groups)


def test_with_group_adds_a_constraint():
    problem = Problem(labels=list("abcdef")).with_group({0, 1}).with_group([2, 3, 4], apart={5})
    assert [each.tolist() for each in problem.groups] == [[0, 1]]
    assert problem.triplets.rows.tolist() == [[2, 3, 5], [3, 4, 5]]
    assert problem.n_constraints == 3
    assert problem.without_constraints().n_constraints == 0
    assert len(problem.constraint_rows) == 3
    with pytest.raises(InvalidConstraint):
        problem.with_group([0, 1], apart=[1])


def test_no_item_apart_is_refused():
    with pytest.raises(InvalidConstraint, match="No item is apart"):
        Problem(labels=list("abc")).with_group([0, 1], apart=[])


def test_has_clade_reads_sets_and_refuses_nonsense():
    tree = Tree.from_newick("((0,1),(2,3));")
    assert tree.has_clade({2, 3})
    assert not tree.has_clade([0, 2])
    for wrong in ([], [0, 0], [7]):
        with pytest.raises(InvalidTree):
            tree.has_clade(wrong)


def test_repeated_groups_are_kept_and_their_weights_add_up():
    groups = Groups([[1, 0], [0, 1], [2, 3]], [1.0, 5.0, 2.0])
    assert len(groups) == 3
    rows, weights = groups.soft_triplets(4)
    assert weights[(rows[:, :2] == [0, 1]).all(axis=1)].sum() == 6.0
    assert Nesting(groups, 4).size.tolist() == [2, 2]
    tree = build(5, groups=groups)
    assert tree.satisfies(groups=groups).tolist() == [True] * 3
    with pytest.raises(InconsistentTriplets) as caught:
        build(5, groups=[[0, 1], [1, 0], [1, 2]])
    assert len(caught.value.groups) == 2
    assert 2 in caught.value.groups


def test_the_sampler_makes_the_same_draws_as_from_all_implied_triplets():
    # The legal places of a subtree are the same, so the same random numbers give the same draws.
    # The posterior under triplets is tested against enumeration.
    features, groups = planted(n=12, seed=5)
    triplets = Triplets(groups.triplets(12))
    # They begin at a tree that satisfies all: the two repairs may number its nodes differently.
    start = build_guided(hcviz.fit("average", features), groups=groups)
    for options in ({}, {"latents": "gibbs"}):
        runs = [
            hcviz.run("ddt", problem, seed=2, steps=4000, every=50, start=start, **options)
            for problem in (
                Problem(features=features, groups=groups),
                Problem(features=features, triplets=triplets),
            )
        ]
        for one, other in zip(*runs, strict=True):
            assert one.tree == other.tree
            assert one.metrics["log_joint"] == other.metrics["log_joint"]


def test_a_sampler_continues_bit_for_bit_under_groups():
    features, groups = planted()
    problem = Problem(features=features, groups=groups)
    whole = list(hcviz.run("ddt", problem, seed=4, steps=2000, every=500))
    half = list(hcviz.run("ddt", problem, seed=4, steps=1000, every=500))
    rest = list(hcviz.run("ddt", problem, seed=9, steps=1000, every=500, start=half[-1]))
    assert [s.tree for s in rest] == [s.tree for s in whole[2:]]


def test_the_teaching_loop_keeps_groups():
    from hcviz.questions.teach import teach

    class Stubborn:
        """Always answers 0 5|1, which contradicts the group."""

        def answer(self, shown, items):
            return (0, 5, 1)

        def odd_one_out(self, items):
            return (0, 5, 1)

    features = np.random.default_rng(0).normal(size=(8, 2))
    problem = Problem(features=features, groups=[[0, 1, 2]])
    steps = list(
        teach(problem, Stubborn(), "interleaved", answers=3, proposals_per_item=10, samples=4)
    )
    # the loop ends when there is nothing left to ask
    assert {step.kind for step in steps[1:]} == {"conflict"}
    assert all(step.tree.has_clade([0, 1, 2]) for step in steps)


def test_minimal_conflict_names_the_rows_against_a_group():
    assert minimal_conflict(5, [[3, 4, 0], [0, 3, 1]], [[0, 1]]) == (1,)
    assert minimal_conflict(5, [[3, 4, 0]], [[0, 1]]) == ()
