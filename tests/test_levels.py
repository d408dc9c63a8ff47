"""Clusters that are chosen by hand: split, merged, kept on other trees, undone, saved and named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Group, Taxonomy, Tree
from hcviz.core.clade_clusters import (
    complete_clusters,
    item_clusters,
    make_cluster,
    split_cluster,
    top_nodes,
)
from hcviz.core.errors import InvalidData, InvalidTaxonomy, SessionFileError
from hcviz.io.clusters_csv import write_clusters_csv
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.model import ChosenClusters, equal_values
from hcviz.taxonomy.drafting import draft_groups
from hcviz.taxonomy.placement import place, place_disjoint
from hcviz.ui.app.link import Link, from_query, to_query
from hcviz.ui.tree import partition
from tests.sessions import Driver
from tests.trees import from_nested, random_tree

TREES = st.builds(
    lambda n, seed, polytomies: random_tree(
        np.random.default_rng(seed), n, polytomies=polytomies
    ),
    st.integers(2, 20), st.integers(0, 2**32 - 1), st.booleans(),
)  # fmt: skip
CHANGES = st.lists(st.tuples(st.booleans(), st.integers(0, 10**6)), max_size=12)


def clade(tree, node):
    return frozenset(tree.leaves(int(node)).tolist())


def clusters(tree, tops):
    return {clade(tree, top) for top in tops}


def all_clades(tree):
    return {clade(tree, node) for node in range(tree.n_nodes)}


def children(tree, items):
    (node,) = (v for v in range(tree.n_nodes) if clade(tree, v) == items)
    return {clade(tree, child) for child in tree.children(node)}


def slow_split(tree, before, items):
    around = [each for each in before if items <= each]
    if not around or len(around[0]) == 1:
        return before
    return before - set(around) | children(tree, around[0])


def slow_make(tree, before, items):
    """The clade, the clusters outside, and the largest clades of what is left of a cluster."""
    after = {each for each in before if not each & items} | {items}
    for each in before:
        if items < each:
            rest = {c for c in all_clades(tree) if c <= each - items}
            after |= {c for c in rest if not any(c < other for other in rest)}
    return after


# ---------------------------------------------------------------------- splits and merges


@given(TREES, CHANGES)
def test_any_splits_and_merges_leave_each_item_in_exactly_one_clade(tree, changes):
    tops = np.array([tree.root])
    for is_split, number in changes:
        node = number % tree.n_nodes
        before = clusters(tree, tops)
        slow = slow_split if is_split else slow_make
        tops = (split_cluster if is_split else make_cluster)(tree, tops, node)
        assert clusters(tree, tops) == slow(tree, before, clade(tree, node))
        assert sorted(item for each in clusters(tree, tops) for item in each) == list(
            range(tree.n_leaves)
        )
        labels = item_clusters(tree, tops)
        assert np.array_equal(top_nodes(tree, labels), tops)
        shown = partition.of_nodes(tree, tops)
        assert shown.by_hand
        assert shown.cut is None
        assert shown.count == len(tops)
        for node in range(tree.n_nodes):
            inside = set(shown.of_item[tree.leaves(node)].tolist())
            assert shown.of_node[node] == (inside.pop() if len(inside) == 1 else -1)


def test_a_split_takes_the_branches_that_are_drawn():
    """Of ((0,1),(2,3)),4 with a hidden inner node, the root has three branches."""
    tree = from_nested((((0, 1), (2, 3)), 4), 5)
    hidden = np.zeros(tree.n_nodes, bool)
    hidden[tree.smallest_clade([0, 1, 2, 3])] = True
    found = clusters(tree, split_cluster(tree, [tree.root], 0, hidden))
    assert found == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4})}


@given(TREES, st.integers(0, 2**32 - 1))
def test_the_fewest_clades_complete_disjoint_ones(tree, seed):
    rng = np.random.default_rng(seed)
    given_nodes = []
    for node in rng.permutation(tree.n_nodes)[:6].tolist():
        if not any(clade(tree, node) & clade(tree, other) for other in given_nodes):
            given_nodes.append(node)
    found = clusters(tree, complete_clusters(tree, given_nodes))
    named = {clade(tree, node) for node in given_nodes}
    free = {c for c in all_clades(tree) if not any(c & other for other in named)}
    assert found == named | {c for c in free if not any(c < other for other in free)}


# ---------------------------------------------------------------------- on another tree


@given(TREES, st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_disjoint_groups_are_placed_as_any_groups_are(tree, k, seed):
    labels = np.random.default_rng(seed).integers(0, k, tree.n_leaves)
    groups = [np.flatnonzero(labels == each).tolist() for each in np.unique(labels)]
    assert place_disjoint(tree, groups) == place(tree, groups)


@given(TREES, CHANGES)
def test_chosen_clusters_are_the_same_on_their_own_tree(tree, changes):
    tops = np.array([tree.root])
    for is_split, number in changes:
        tops = (split_cluster if is_split else make_cluster)(tree, tops, number % tree.n_nodes)
    chosen = ChosenClusters(tuple(item_clusters(tree, tops).tolist()))
    shown = partition.chosen(tree, chosen.sets())
    assert tuple(shown.of_item.tolist()) == chosen.of_item


def test_on_another_tree_a_cluster_is_at_the_most_similar_clade():
    chosen = ChosenClusters((1, 1, 1, 2, 2, 3, 3, 3))
    tree = from_nested((((0, 1), ((2, 3), 4)), (5, (6, 7))), 8)
    shown = partition.chosen(tree, chosen.sets())
    assert shown.of_item.tolist() == [1, 1, 2, 2, 2, 3, 3, 3]


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_number_of_clusters_is_met_exactly_in_a_binary_tree_and_nearly_in_others(count, seed):
    """In another tree, the last node that is divided gives more than are asked for."""
    rng = np.random.default_rng(seed)
    assert partition.by_count(random_tree(rng, 12), count).count == count
    tree = random_tree(rng, 12, polytomies=True)
    found = partition.by_count(tree, count).count
    assert count <= found
    if found > count:
        heights = sorted(tree.height[12:])
        fewer = [partition.at_height(tree, height).count for height in heights]
        assert count not in fewer


# ---------------------------------------------------------------------- in a session


def numbers(session):
    return None if session.chosen_clusters is None else session.chosen_clusters.of_item


@given(st.lists(st.none() | st.lists(st.integers(0, 4), min_size=5, max_size=5), max_size=6))
def test_undo_of_chosen_clusters_is_exact(choices):
    driver = Driver()
    driver.settle()
    n, seen = driver.session.n_items, [numbers(driver.session)]
    run, tree = driver.session.run, driver.session.tree
    for choice in choices:
        made = None if choice is None else ChosenClusters(tuple(k % 5 for k in (choice * n)[:n]))
        driver(act.ChooseClusters(made))
        assert driver.start is None
        if numbers(driver.session) != seen[-1]:
            seen.append(numbers(driver.session))
    for before in reversed(seen[:-1]):
        driver(act.Undo())
        assert numbers(driver.session) == before
    for after in seen[1:]:
        driver(act.Redo())
        assert numbers(driver.session) == after
    assert (driver.session.run, driver.session.tree) == (run, tree)


def test_chosen_clusters_are_in_session_files_with_the_undo_steps():
    driver = Driver()
    driver.settle()
    n = driver.session.n_items
    driver(act.ChooseClusters(ChosenClusters(tuple(range(n)))))
    driver(act.ChooseClusters(ChosenClusters((0,) * n), "Merged."))
    assert driver.session.message == "Merged."
    loaded = load_session(save_session(driver.session))
    assert equal_values(loaded.chosen_clusters, driver.session.chosen_clusters)
    assert loaded.past[-1].chosen_clusters == ChosenClusters(tuple(range(n)))
    short = replace(driver.session, chosen_clusters=ChosenClusters((1, 2)))
    with pytest.raises(SessionFileError, match="clusters are of 2 items"):
        load_session(save_session(short))
    with pytest.raises(InvalidData, match="clusters are of 1 items"):
        driver(act.ChooseClusters(ChosenClusters((1,))))


def test_chosen_clusters_are_in_links():
    link = Link(data="zoo", chosen=(1, 1, 2, 1), level="clusters")
    assert from_query(to_query(link)) == link
    assert "chosen=1.1.2.1" in to_query(link)


# ---------------------------------------------------------------------- a first draft


def test_clusters_become_groups_with_free_names_in_the_order_of_the_picture():
    tree = Tree.from_newick("((0,1),(2,3),(4,5),6);")
    known = Taxonomy("abcdefg", tree, [Group("Group 2", [4, 5]), Group("<b>", [0, 1, 2, 3, 4])])
    found = draft_groups(known, [3, 3, 1, 1, 2, 2, 9], [2, 3, 0, 1, 4, 5, 6])
    assert [(group.name, group.members) for group in found.groups] == [
        ("Group 1", (2, 3)), ("Group 3", (0, 1)),
    ]  # fmt: skip
    assert (found.named, found.single) == (1, 1)
    with pytest.raises(InvalidTaxonomy, match="7 items, but 2"):
        draft_groups(known, [1, 2])


@given(TREES, CHANGES)
def test_a_draft_makes_each_cluster_a_group_and_a_second_one_nothing(tree, changes):
    tops = np.array([tree.root])
    for is_split, number in changes:
        tops = (split_cluster if is_split else make_cluster)(tree, tops, number % tree.n_nodes)
    labels = [f"item {k}" for k in range(tree.n_leaves)]
    of_item = item_clusters(tree, tops)
    made = draft_groups(Taxonomy(labels, tree), of_item)
    drafted = Taxonomy(labels, tree, made.groups)
    assert {frozenset(group.members) for group in made.groups} == {
        each for each in clusters(tree, tops) if len(each) > 1
    }
    assert not drafted.changes
    assert not drafted.unplaced
    assert not draft_groups(drafted, of_item).groups


def test_the_outline_is_cut_at_a_level():
    text = "A\n  B\n    C\n      a\n      b\n    c\n  d\n  e\nF\n  f\n  g\n"
    outline = Taxonomy.from_text(text).outline
    names = [[each.name for each in outline.at_level(level)] for level in (1, 2, 3, 9)]
    assert names == [["A", "F"], ["B", "F"], ["C", "F"], ["C", "F"]]


def test_the_file_of_clusters_has_the_names_of_groups():
    text = write_clusters_csv("abc", [7, 7, 2], {7: 'x, "y"'})
    assert text.splitlines() == ["item,cluster,name", 'a,1,"x, ""y"""', 'b,1,"x, ""y"""', "c,2,"]
