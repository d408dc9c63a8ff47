"""Sets of items that must not be clades, in :mod:`hcviz.core.not_groups`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.core.build import is_consistent
from hcviz.core.errors import InconsistentTriplets
from hcviz.core.groups import Groups
from hcviz.core.not_groups import avoid, avoids, find_witnesses
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree
from tests.trees import all_trees, random_tree

BINARY = {n: list(all_trees(n, binary=True)) for n in (3, 4, 5)}


@st.composite
def cases(draw):
    """Draw (n, triplets, groups, sets to avoid)."""
    n = draw(st.integers(3, 5))
    group = st.lists(st.integers(0, n - 1), min_size=2, max_size=n - 1, unique=True)
    triplet = st.permutations(range(n)).map(lambda order: order[:3])
    return (
        n,
        draw(st.lists(triplet, max_size=3)),
        draw(st.lists(group, max_size=2)),
        draw(st.lists(group, min_size=1, max_size=4)),
    )


def holds(tree, triplets, groups, not_groups):
    """The definition."""
    return tree.satisfies(triplets, groups).all() and not any(map(tree.has_clade, not_groups))


@given(cases())
def test_a_tree_is_found_if_and_only_if_one_of_all_binary_trees_fits(case):
    n, triplets, groups, not_groups = case
    fits = any(holds(tree, triplets, groups, not_groups) for tree in BINARY[n])
    rows = Problem(labels=[str(k) for k in range(n)], triplets=triplets, groups=groups)
    result = find_witnesses(n, rows.constraint_rows, Groups(not_groups).members)
    assert result.complete
    assert (result.rows is not None) == fits
    if result.rows is not None:
        assert is_consistent(n, [*triplets, *result.rows.tolist()], groups)


@given(cases(), st.data())
def test_a_repaired_tree_fits_or_no_tree_does(case, data):
    n, triplets, groups, not_groups = case
    tree = data.draw(st.sampled_from(BINARY[n]))
    if any(holds(each, triplets, groups, not_groups) for each in BINARY[n]):
        found = avoid(tree, not_groups, triplets, groups)
        assert holds(found, triplets, groups, not_groups)
        assert found.is_binary
        if holds(tree, triplets, groups, not_groups):
            assert found is tree
    else:
        with pytest.raises(InconsistentTriplets):
            avoid(tree, not_groups, triplets, groups)


def test_a_repair_of_a_large_tree_keeps_most_clades():
    """Sixty items: each of ten clades is left by one change nearby."""
    tree = random_tree(np.random.default_rng(3), 60)
    clades = [tree.leaves(v) for v in range(60, tree.n_nodes - 1)]
    chosen = [each for each in clades if 2 <= each.size <= 20][:10]
    found = avoid(tree, chosen)
    assert avoids(found, chosen).all()
    assert not avoids(tree, chosen).any()
    kept = sum(found.has_clade(each) for each in clades)
    assert kept >= len(clades) - 3 * len(chosen)


def test_a_group_that_constraints_force_cannot_be_avoided():
    triplets = [[0, 1, 2], [0, 1, 3]]
    found = find_witnesses(4, np.array(triplets, np.int32), [np.array([0, 1], np.int32)])
    assert found.rows is None
    assert found.complete
    with pytest.raises(InconsistentTriplets, match=r"\{0, 1\} is not a clade"):
        avoid(Tree.from_newick("(((0,1),2),3);"), [[0, 1]], triplets)


def test_parts_of_two_groups_are_no_required_group():
    """Neighbours of two groups of four make four items, but not a group of them."""
    rows = Groups([[0, 1, 8, 9], [2, 3, 6, 7]]).rows
    found = find_witnesses(11, rows, [np.array([0, 1, 2, 3], np.int32)])
    assert found.rows is not None


def test_all_pairs_of_three_items_cannot_be_avoided():
    pairs = [list(each) for each in itertools.combinations(range(3), 2)]
    with pytest.raises(InconsistentTriplets, match="and 2 other"):
        avoid(Tree.from_newick("((0,1),2);"), pairs)


def test_a_search_that_ends_at_its_limit_proves_nothing():
    pairs = [np.array(each, np.int32) for each in itertools.combinations(range(3), 2)]
    none = np.empty((0, 3), np.int32)
    found = find_witnesses(3, none, pairs, work_limit=1)
    assert (found.rows, found.complete) == (None, False)
    found = find_witnesses(3, none, pairs)
    assert (found.rows, found.complete) == (None, True)


def test_nine_of_each_ten_locked_items_are_no_group():
    """A witness of each set is the tenth item of its locked group, of 80 or 200 items."""
    for n, size in ((80, 10), (200, 20)):
        locked = [list(range(k, k + size)) for k in range(0, n, size)]
        rows = Groups(locked).rows
        sets = [np.array(each[1:], np.int32) for each in locked]
        sets += [np.array(each[:-1], np.int32) for each in locked]
        found = find_witnesses(n, rows, sets)
        assert found.rows is not None
        assert is_consistent(n, found.rows, locked)
        assert found.work < 100_000
