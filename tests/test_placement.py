"""Removing and inserting an item, for each place of each small tree, against definitions."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Tree
from hcviz.core.errors import InvalidData
from hcviz.metrics.placement import RemovedItem
from tests.trees import caterpillar, random_tree


def words(tree, item):
    """By the definition: for each pair of others, which triplet with the item the tree has."""
    found = {}
    for y, z in combinations([i for i in range(tree.n_leaves) if i != item], 2):
        rows = [(item, y, z), (item, z, y), (y, z, item)]
        holds = [row for row in rows if tree.satisfies([row])[0]]
        found[y, z] = holds[0] if holds else None
    return found


def clades(tree):
    return {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_nodes)}


trees = st.tuples(st.integers(0, 10**6), st.integers(3, 9), st.booleans())


@given(trees)
def test_an_inserted_item_is_next_to_the_clade_and_other_items_do_not_move(given_):
    seed, n, open_ = given_
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies=open_)
    item = int(rng.integers(n))
    gap = RemovedItem(tree, item)
    for place in range(gap.rest.n_nodes):
        made = gap.insert_at(place)
        below = frozenset(gap.clade(place).tolist())
        rest = {frozenset(gap.others[list(c)].tolist()) for c in clades(gap.rest)}
        assert clades(made) == (
            {c | {item} if below < c else c for c in rest}
            | {frozenset({item}), below | {item}}
        )  # fmt: skip
        assert made.restrict(gap.others) == gap.rest
        assert set(made.leaves(gap.new_node(place)).tolist()) == below | {item}
        assert gap.place(sorted(below)) == place
        assert gap.place([*sorted(below), item]) == place


@given(trees)
def test_counts_of_true_triplets_match_an_enumeration(given_):
    seed, n, open_ = given_
    rng = np.random.default_rng(seed)
    tree, target = random_tree(rng, n), random_tree(rng, n, polytomies=open_)
    item = int(rng.integers(n))
    gap = RemovedItem(tree, item)
    for place in range(gap.rest.n_nodes):
        clade = gap.clade(place).tolist()
        true = n_resolved = 0
        for s, o in product(clade, set(range(n)) - {item, *clade}):
            rows = [(item, s, o), (item, o, s), (s, o, item)]
            n_resolved += bool(target.satisfies(rows).any())
            true += bool(target.satisfies(rows)[0])
        assert gap.count_true_triplets(target, place) == (true, n_resolved)


@given(trees)
def test_at_the_target_place_all_triplets_are_true(given_):
    seed, n, open_ = given_
    rng = np.random.default_rng(seed)
    tree, target = random_tree(rng, n), random_tree(rng, n, polytomies=open_)
    gap = RemovedItem(tree, int(rng.integers(n)))
    own = set(gap.target_siblings(target).tolist())
    smaller = [set(target.leaves(v).tolist()) for v in range(target.n_nodes)]
    around = [c - {gap.item} for c in smaller if gap.item in c and len(c) > 1]
    assert own == min(around, key=len)
    alike = all(v < n for v in target.children(int(target.parent[gap.item])))
    for place in range(gap.rest.n_nodes):
        # Where the truth tells its mates apart from each other, one of them alone may be too near.
        if alike and set(gap.clade(place).tolist()) <= own:
            true, n_resolved = gap.count_true_triplets(target, place)
            assert true == n_resolved


@given(trees)
def test_violated_triplets_match_an_enumeration(given_):
    seed, n, open_ = given_
    rng = np.random.default_rng(seed)
    tree, target = random_tree(rng, n, polytomies=open_), random_tree(rng, n, polytomies=open_)
    item = int(rng.integers(n))
    true, here = words(target, item), words(tree, item)
    wanted = {w for k, w in true.items() if w is not None and w != here[k]}

    def plain(row):
        a, b, c = map(int, row)
        return (min(a, b), max(a, b), c)

    found = [plain(row) for row in RemovedItem(tree, item).violated_triplets(target)]
    assert sorted(found) == sorted(plain(row) for row in wanted)


@given(trees)
def test_the_path_between_two_places_is_the_shortest(given_):
    seed, n, open_ = given_
    rng = np.random.default_rng(seed)
    gap = RemovedItem(random_tree(rng, n, polytomies=open_), int(rng.integers(n)))
    rest = gap.rest
    near = {v: set() for v in range(rest.n_nodes)}  # places that meet at a node
    for v in range(rest.n_nodes):
        around = [v, *rest.children(v).tolist()] if v >= rest.n_leaves else []
        for a, b in combinations(around, 2):
            near[a].add(b)
            near[b].add(a)
    for start in range(rest.n_nodes):
        steps, edge = {start: 0}, [start]
        while edge:
            edge = [b for a in edge for b in near[a] if b not in steps and not steps.update(
                {b: steps[a] + 1})]  # fmt: skip
        for end in range(rest.n_nodes):
            way = gap.path(start, end)
            assert len(way) - 1 == steps[end]
            assert len(set(way.tolist())) == len(way)
            assert way[0] == gap.new_node(start)


def test_a_caterpillar_of_many_leaves():
    tree = caterpillar(20_000)
    gap = RemovedItem(tree, 7)
    true, n_resolved = gap.count_true_triplets(tree, gap.place([3]))
    assert 0 < true < n_resolved
    assert gap.insert_at(gap.rest.root).n_leaves == 20_000
    assert len(gap.path(0, gap.rest.root)) > 10_000


def test_items_that_cannot_be_removed_are_refused():
    with pytest.raises(InvalidData, match="Item 5 cannot be removed"):
        RemovedItem(Tree.star(4), 5)
    with pytest.raises(InvalidData, match="Item 0 cannot be removed"):
        RemovedItem(Tree.star(2), 0)
    with pytest.raises(InvalidData, match="one other item"):
        RemovedItem(Tree.star(4), 1).place([1])
    with pytest.raises(InvalidData, match="5 leaves"):
        RemovedItem(Tree.star(4), 1).count_true_triplets(Tree.star(5), 0)
