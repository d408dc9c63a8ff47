"""The leaf order with the fewest inversions, against all possible orders."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest

from hcviz import HcvizError, Tree
from hcviz.core import alignment
from hcviz.core.alignment import aligned_order
from hcviz.core.layout import leaf_order
from hcviz.core.tanglegram import crossings
from tests.trees import all_trees, caterpillar, random_tree


def orders(tree: Tree, node: int | None = None) -> Iterator[tuple[int, ...]]:
    """Every leaf order in which each clade is together: the definition."""
    node = tree.root if node is None else node
    if node < tree.n_leaves:
        yield (node,)
        return

    def joined(below: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not below:
            yield ()
            return
        for first in orders(tree, int(below[0])):
            for rest in joined(below[1:]):
                yield first + rest

    for below in permutations(tree.children(node)):
        yield from joined(below)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_no_order_of_any_small_tree_has_fewer_inversions(n):
    rng = np.random.default_rng(n)
    for tree in all_trees(n):
        reference = rng.permutation(n)
        found = aligned_order(tree, reference)
        assert tuple(found.tolist()) in set(orders(tree))
        assert crossings(found, reference) == min(crossings(o, reference) for o in orders(tree))


@pytest.mark.parametrize("seed", range(40))
def test_no_order_of_a_larger_tree_has_fewer_inversions(seed):
    """Seven leaves, with two polytomies and more: up to 7! / 2 orders."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, polytomies=True)
    reference = rng.permutation(7)
    found = aligned_order(tree, reference)
    assert crossings(found, reference) == min(crossings(o, reference) for o in orders(tree))


@pytest.mark.parametrize("polytomies", [False, True])
def test_an_order_of_the_same_tree_does_not_change(polytomies):
    rng = np.random.default_rng(3)
    for n in (2, 9, 60):
        tree = random_tree(rng, n, polytomies)
        shown = leaf_order(tree, rng.standard_normal(n))
        assert np.array_equal(aligned_order(tree, shown), shown)


def test_the_numbers_of_the_nodes_have_no_effect():
    """The same clades with heights that number the inner nodes otherwise."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        nodes = [[0, 1], [2, 3], [4, 5, 6]]
        orders_ = []
        for turn in (nodes, nodes[::-1]):
            tree = Tree.from_children([*turn, [7, 8, 9]], 7)
            orders_.append(tree)
        reference = rng.permutation(7)
        first, second = (aligned_order(tree, reference).tolist() for tree in orders_)
        assert first == second


def test_a_node_of_many_children_keeps_what_is_in_order_and_improves_the_rest(monkeypatch):
    rng = np.random.default_rng(1)
    n = 60
    parent = np.concatenate([np.repeat(np.arange(n, n + 20), 3), np.full(20, n + 20), [-1]])
    tree = Tree.with_size_heights(parent.astype(np.int32), n)  # twenty clades of three
    shown = leaf_order(tree, rng.standard_normal(n))
    assert np.array_equal(aligned_order(tree, shown), shown)
    reference = rng.permutation(n)
    place = np.argsort(reference)
    by_mean = leaf_order(tree, place.astype(float))
    assert crossings(aligned_order(tree, reference), reference) <= crossings(by_mean, reference)
    star = Tree.star(500)
    assert np.array_equal(aligned_order(star, rng.permutation(500)[:500]).size, 500)
    order = rng.permutation(500)
    assert np.array_equal(aligned_order(star, order), order)


@pytest.mark.parametrize("n", [100_000])
def test_large_trees_of_any_shape(n):
    """What two counts of inversions agree on: nothing that is swapped once becomes better."""
    rng = np.random.default_rng(2)
    for tree in (caterpillar(n), random_tree(rng, n), Tree.star(n)):
        shown = leaf_order(tree, rng.standard_normal(n))
        assert np.array_equal(aligned_order(tree, shown), shown)
    reference = rng.permutation(n)
    found = aligned_order(caterpillar(n), reference)
    by_mean = leaf_order(caterpillar(n), np.argsort(reference).astype(float))
    assert crossings(found, reference) <= crossings(by_mean, reference)


def test_a_reference_names_each_item_once():
    for wrong in ([0, 0, 1], [0, 1], [0, 1, 3]):
        with pytest.raises(HcvizError, match="each of the 3 items once"):
            aligned_order(Tree.star(3), wrong)
    assert alignment.MAX_EXACT == 8
