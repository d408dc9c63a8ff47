"""BUILD, minimal conflicts and repair, against brute force over all small trees."""

from __future__ import annotations

import itertools
import time

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hcviz
from hcviz import InconsistentTriplets, Tree, build
from hcviz.core.build import (
    aho_components,
    build_guided,
    chain_triplets,
    implies,
    is_consistent,
    minimal_conflict,
)
from hcviz.core.errors import InvalidConstraint
from tests.trees import all_trees, caterpillar, random_tree, true_triplets

#: Without the compiler the large cases shrink, and speed is not measured.
COMPILED = not numba.config.DISABLE_JIT
LARGE = 20_000 if COMPILED else 400

BINARY = {n: list(all_trees(n, binary=True)) for n in (3, 4, 5)}


def clades(tree):
    return {frozenset(clade.tolist()) for clade in tree.clades()}


def slow_build(items, rows):
    """The Aho tree as a set of clades, by definition; None if no tree exists."""
    items = frozenset(items)
    if len(items) == 1:
        return set()
    inside = [row for row in rows if items.issuperset(row)]
    blocks = [{x} for x in sorted(items)]
    for a, b, _ in inside:
        first = next(block for block in blocks if a in block)
        second = next(block for block in blocks if b in block)
        if first is not second:
            first |= second
            blocks.remove(second)
    if len(blocks) == 1:
        return None
    found = {items}
    for block in blocks:
        below = slow_build(block, inside)
        if below is None:
            return None
        found |= below
    return found


def holds(tree, rows):
    return bool(tree.satisfies(rows).all())


@st.composite
def triplet_sets(draw, least=3, most=5, rows=8):
    n = draw(st.integers(least, most))
    row = st.permutations(range(n)).map(lambda order: tuple(order[:3]))
    return n, draw(st.lists(row, min_size=1, max_size=rows))


@settings(max_examples=150, deadline=None)
@given(triplet_sets())
def test_build_finds_a_tree_iff_there_is_one(case):
    n, rows = case
    exists = any(holds(tree, rows) for tree in BINARY[n])
    assert is_consistent(n, rows) == exists
    expected = slow_build(range(n), rows)
    if exists:
        tree = build(n, rows)
        assert holds(tree, rows)
        assert clades(tree) == expected
        assert np.array_equal(tree.height, tree.size - 1.0)
        assert minimal_conflict(n, rows) == ()
    else:
        assert expected is None
        with pytest.raises(InconsistentTriplets) as caught:
            build(n, rows)
        assert_minimal(n, rows, caught.value.conflict)


def assert_minimal(n, rows, conflict):
    rows = np.asarray(rows)
    conflict = list(conflict)
    assert conflict == sorted(set(conflict))
    assert not is_consistent(n, rows[conflict])
    for k in range(len(conflict)):
        assert is_consistent(n, rows[conflict[:k] + conflict[k + 1 :]])


@settings(max_examples=80, deadline=None)
@given(triplet_sets(least=4, most=7, rows=20))
def test_build_agrees_with_the_plain_recursion(case):
    n, rows = case
    expected = slow_build(range(n), rows)
    assert is_consistent(n, rows) == (expected is not None)
    if expected is not None:
        assert clades(build(n, rows)) == expected
    else:
        assert_minimal(n, rows, minimal_conflict(n, rows))


def test_without_triplets_the_tree_is_a_star_or_a_leaf():
    assert build(5, []) == Tree.star(5)
    assert build(1, None).n_nodes == 1
    assert build(2, []).n_nodes == 3


def test_repeated_rows_have_no_effect():
    # Rows 0, 1 and 3 say one thing, 2 and 4 the contrary: a conflict takes one of each.
    rows = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [0, 1, 2], [2, 0, 1]]
    with pytest.raises(InconsistentTriplets) as caught:
        build(3, rows)
    assert caught.value.conflict == (0, 2)
    assert "0,1|2" in caught.value.message
    assert "row(s) 0, 2" in caught.value.message
    assert caught.value.hint


def test_a_minimal_conflict_takes_less_than_a_second():
    rng = np.random.default_rng(3)
    rows = np.array([rng.choice(150, 3, replace=False) for _ in range(300)])
    is_consistent(3, [])  # compiled before the clock starts
    began = time.thread_time()  # a busy machine stretches seconds, not the work
    with pytest.raises(InconsistentTriplets) as caught:
        build(150, rows)
    assert time.thread_time() - began < 1.0 or not COMPILED
    assert_minimal(150, rows, caught.value.conflict)


def test_a_conflict_has_no_unrelated_rows():
    # A long consistent chain, and three rows on other items that go round in a circle.
    chain = [[0, i, i + 1] for i in range(1, 60)]
    circle = [[70, 71, 72], [71, 72, 70], [5, 6, 70]]
    rows = chain[:30] + circle[:1] + chain[30:] + circle[1:]
    assert minimal_conflict(80, rows) == (30, 60)


@settings(max_examples=60, deadline=None)
@given(triplet_sets(rows=4))
def test_implies_is_true_of_every_tree(case):
    n, rows = case
    fitting = [tree for tree in BINARY[n] if holds(tree, rows)]
    asked = [p for p in itertools.permutations(range(n), 3) if p[0] < p[1]]
    for abc in asked[:12]:
        if fitting:
            assert implies(n, rows, abc) == all(holds(tree, [abc]) for tree in fitting)
        else:
            with pytest.raises(InconsistentTriplets):
                implies(n, rows, abc)


def test_aho_components():
    rows = [[5, 9, 3], [2, 3, 7], [9, 11, 5], [3, 11, 4]]  # the last two name 4 or need 11 inside
    found = [part.tolist() for part in aho_components([9, 5, 2, 3, 11], rows)]
    assert found == [[2], [3], [5, 9, 11]]
    assert aho_components([], rows) == []
    assert [part.tolist() for part in aho_components([4], [])] == [[4]]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_chained_triplets_imply_every_pair(size):
    rows = chain_triplets(range(size), size)
    assert rows.dtype == np.int32
    assert rows.shape == (size - 1, 3)
    for pair in itertools.combinations(range(size), 2):
        assert implies(size + 2, rows, (*pair, size))


@pytest.mark.parametrize("group", [[1], [1, 1], [1, 7]])
def test_invalid_groups_are_refused(group):
    with pytest.raises(InvalidConstraint):
        chain_triplets(group, 7)


def test_unknown_items_are_refused():
    with pytest.raises(InvalidConstraint, match="item 9"):
        build(5, [[0, 1, 9]])
    with pytest.raises(InvalidConstraint):
        build(0, [])


def test_a_caterpillar_is_built():
    n = LARGE
    rows = np.array([[0, i, i + 1] for i in range(1, n - 1)], np.int32)
    tree = build(n, rows)
    assert tree.n_internal == n - 1  # (((0, 1), 2), ...) in full
    assert holds(tree, rows)


# ---------------------------------------------------------------------- repair


def test_repair_on_all_small_trees():
    for old in all_trees(4):
        for rows in itertools.combinations(
            [p for p in itertools.permutations(range(4), 3) if p[0] < p[1]], 2
        ):
            if not is_consistent(4, rows):
                with pytest.raises(InconsistentTriplets):
                    build_guided(old, rows)
                continue
            new = build_guided(old, rows)
            assert holds(new, rows)
            assert new is old or not holds(old, rows)
            assert new.is_binary or not old.is_binary


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 24), st.booleans(), st.booleans())
def test_repair_keeps_clades_that_no_triplet_names(seed, n, rough, polytomies):
    rng = np.random.default_rng(seed)
    old = random_tree(rng, n, rough)
    rows = true_triplets(random_tree(rng, n, polytomies), rng, int(rng.integers(1, 2 * n)))
    new = build_guided(old, rows)  # the tree's own invariants hold: heights among them
    assert rows.size == 0 or holds(new, rows)
    if old.is_binary:
        assert new.is_binary
    named = set(rows.ravel().tolist())
    untouched = {clade for clade in clades(old) if not clade & named}
    assert untouched <= clades(new)
    for node in range(n, new.n_nodes):
        leaves = new.leaves(node)
        above = old.height[old.lca(leaves[0], leaves).max()]
        assert new.height[node] <= above + 1e-12
        if frozenset(leaves.tolist()) in untouched:
            assert new.height[node] == above


def test_one_triplet_moves_one_branch():
    #    .----+-----.              .----+-----.        The triplet is 03|1. The old
    #  .-+-.     .--+-.          .-+-.     .--+--.     clades {0, 1} and {0, 1, 2} contradict that;
    # .+.  2    .+.   5          1   2    .+-.   0     {3, 4, 5} does not, so it stays whole and 0
    # 0 1       3 4                      .+. 5         comes to it.
    #                                    3 4
    old = hcviz.Tree.from_newick("(((0,1),2),((3,4),5));")
    new = build_guided(old, [[0, 3, 1]])
    wanted = [{3, 4}, {1, 2}, {3, 4, 5}, {0, 3, 4, 5}, set(range(6))]
    assert clades(new) == {frozenset(clade) for clade in wanted}
    assert np.all(new.height[:-1] < new.height[new.parent[:-1]])  # strictly, as the old one's
    assert new.height[-1] == old.height[-1]


def test_repair_of_large_trees_is_fast_and_correct():
    n = LARGE
    rng = np.random.default_rng(0)
    old = caterpillar(n)
    build_guided(caterpillar(3), [[1, 2, 0]])
    for rows in ([[5, n - 10, 7]], true_triplets(random_tree(rng, n), rng, 200)):
        began = time.thread_time()
        new = build_guided(old, rows)
        assert holds(new, rows)
        assert new.is_binary
        assert time.thread_time() - began < 5.0 or not COMPILED
