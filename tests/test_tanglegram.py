"""Leaf orders for tanglegrams, against all possible orders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.core.errors import InvalidData
from hcviz.core.tanglegram import crossings, untangle
from hcviz.core.tree import Tree
from tests.trees import caterpillar, random_tree


def orders(tree: Tree, node: int | None = None) -> list[list[int]]:
    """All depth-first leaf orders."""
    node = tree.root if node is None else node
    if node < tree.n_leaves:
        return [[node]]
    found = []
    for children in itertools.permutations(tree.children(node).tolist()):
        for parts in itertools.product(*(orders(tree, child) for child in children)):
            found.append([leaf for part in parts for leaf in part])
    return found


def slow_crossings(left, right) -> int:
    place = {leaf: k for k, leaf in enumerate(right)}
    return sum(place[a] > place[b] for a, b in itertools.combinations(left, 2))


@given(st.permutations(range(9)), st.permutations(range(9)))
def test_crossings_are_the_pairs_out_of_order(left, right):
    assert crossings(left, right) == slow_crossings(left, right)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.booleans())
def test_each_order_is_valid_and_optimal_for_the_other(n, seed, polytomies):
    rng = np.random.default_rng(seed)
    first, second = (random_tree(rng, n, polytomies) for _ in range(2))
    left, right, count = untangle(first, second)
    assert left.tolist() in orders(first)
    assert right.tolist() in orders(second)
    assert count == slow_crossings(left, right)
    if first.is_binary:
        assert count == min(slow_crossings(each, right) for each in orders(first))
    if second.is_binary and first.is_binary:
        assert count == min(slow_crossings(left, each) for each in orders(second))


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.booleans())
def test_a_tree_and_itself_have_no_crossings(n, seed, polytomies):
    rng = np.random.default_rng(seed)
    tree, targets = random_tree(rng, n, polytomies), rng.random(n)
    left, right, count = untangle(tree, tree, targets)
    assert count == 0
    np.testing.assert_array_equal(left, right)


def test_a_caterpillar_of_thousands_and_its_reverse():
    tree = caterpillar(5_000)
    turned = Tree(tree.parent, tree.height, tree.n_leaves)
    assert untangle(tree, turned, -np.arange(5_000.0))[2] == 0


def test_trees_over_different_items_are_refused():
    with pytest.raises(InvalidData, match="One tree has 3 leaves and the other 4"):
        untangle(Tree.star(3), Tree.star(4))
