"""A tree is cut into the clusters that its method finds, until a person sets their number."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Tree
from hcviz.core.agglomerate import agglomerate
from hcviz.io.clusters_csv import write_clusters_csv
from hcviz.ui.parts.palette import THEMES, contrast
from hcviz.ui.tree import partition
from hcviz.ui.tree.clusters import coloured_clusters
from hcviz.ui.tree.partition import cut_height
from tests.trees import from_nested, random_tree


def cut_clades(tree, height):
    """The clusters under a height, each a set of items."""
    if height >= tree.height[-1]:
        return {frozenset(range(tree.n_leaves))}
    nodes = range(tree.n_nodes - 1)
    tops = [v for v in nodes if tree.height[v] <= height < tree.height[tree.parent[v]]]
    return {frozenset(tree.leaves(v).tolist()) for v in tops}


def parts(labels):
    return {frozenset(np.flatnonzero(labels == name).tolist()) for name in np.unique(labels)}


@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_the_cut_is_the_partition_or_there_is_none(n, k, seed, ours):
    """Of a tree that was grown within the clusters first, and of any."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n).astype(np.int32)
    values = np.triu(rng.integers(-3, 4, (n, n)), 1).astype(float)
    tree = agglomerate(values + values.T, groups=labels if ours else None)
    found = cut_height(tree, labels)
    heights = np.unique(tree.height)
    levels = [*(heights[:-1] + heights[1:]) / 2, heights[-1] + 1]
    possible = any(cut_clades(tree, level) == parts(labels) for level in levels)
    assert (found is not None) == possible
    if found is not None:
        assert cut_clades(tree, found) == parts(labels)


@pytest.mark.parametrize("n", [1, 2])
def test_few_items(n):
    tree = Tree.star(n)
    assert cut_height(tree, np.zeros(n, np.int32)) == (
        None if n == 1 else tree.height[-1] * 1.02 + 1e-9
    )


def test_clusters_are_written_by_name_and_numbered_by_their_first_item():
    labels = ["Zoë", "a, b", 'say "hi"', "1"]
    text = write_clusters_csv(labels, [9, 4, 9, 0])
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [["item", "cluster"], *map(list, zip(labels, "1213", strict=True))]


# ---------------------------------------------------------------------- as many as asked for


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_equal_heights_fall_into_as_many_clusters_as_asked_for(n, seed):
    """The last merges by height are undone, then by node number; each cluster is a clade."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n)
    tree = Tree(tree.parent, np.ceil(2 * tree.height / tree.height[-1]), n)  # heights of 0, 1, 2
    for count in range(1, n + 1):
        parted = partition.by_count(tree, count)
        assert parted.count == count == len(np.unique(parted.of_item))
        ranked = sorted(range(n, tree.n_nodes), key=lambda v: (tree.height[v], v))
        undone = set(ranked[len(ranked) - count + 1 :])
        tops = {v for v in range(tree.n_nodes) if v not in undone}
        tops = {v for v in tops if v == tree.root or int(tree.parent[v]) in undone}
        assert parts(parted.of_item) == {frozenset(tree.leaves(v).tolist()) for v in tops}
        kept = [v for v in range(tree.n_nodes) if v not in undone]
        assert tree.height[kept].max() <= parted.cut
        assert all(parted.cut <= tree.height[v] for v in undone)


def test_a_node_of_many_branches_is_not_split():
    tree = from_nested(((0, 1, 2), (3, 4)), 5)
    assert [partition.by_count(tree, k).count for k in (1, 2, 3, 4, 5)] == [1, 2, 4, 4, 5]


@given(st.integers(2, 30), st.floats(-0.1, 1.1), st.integers(0, 2**32 - 1))
def test_a_line_and_the_number_that_it_gives_are_the_same_clusters(n, share, seed):
    tree = random_tree(np.random.default_rng(seed), n, polytomies=True)
    under = partition.at_height(tree, share * float(tree.height[-1]))
    assert parts(partition.by_count(tree, under.count).of_item) == parts(under.of_item)


def test_clusters_are_numbered_as_in_the_file():
    tree = from_nested(((3, 4), (0, (1, 2))), 5)
    parted = partition.by_count(tree, 2)
    assert parted.of_item.tolist() == [1, 1, 1, 2, 2]
    text = write_clusters_csv("abcde", parted.of_item)
    assert [row.split(",")[1] for row in text.split()[1:]] == list("11122")


def test_clusters_that_no_line_parts_are_coloured_by_their_labels():
    """{0, 1, 2} and {3, 4} are clades but merge within above where they part elsewhere; {0, 3} is
    no clade at all."""
    tree = Tree([5, 5, 7, 6, 6, 7, 8, 8, -1], [0, 0, 0, 0, 0, 1, 1, 3, 3], 5)
    for labels in ([0, 0, 0, 1, 1], [0, 1, 1, 0, 2]):
        labels = np.array(labels, np.int32)
        parted = partition.of_method(tree, labels)
        assert parted is not None
        assert parted.cut is None
        count, nodes, leaves = coloured_clusters(tree, parted, 8, tree.leaf_order)
        assert count == len(np.unique(labels))
        seen = {(name, code) for name, code in zip(labels.tolist(), leaves.tolist(), strict=True)}
        assert len(seen) == count  # one colour a cluster, or none where it is one item
        for v in range(tree.n_nodes):
            inside = labels[tree.leaves(v)]
            mixed = len(set(inside.tolist())) > 1
            assert (nodes[v] < 0) == (mixed or (labels == inside[0]).sum() == 1)


# ---------------------------------------------------------------------- their colours


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_colour_is_repeated_among_sixteen_clusters(theme):
    colours = THEMES[theme].clusters
    assert len(set(colours)) == len(colours) == 16
    assert min(contrast(colour, THEMES[theme].paper) for colour in colours) > 2.9
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 64)
    before = None
    for count in (10, 16, 12):
        parted = partition.by_count(tree, count)
        _, _, before = coloured_clusters(tree, parted, 16, tree.leaf_order, before)
        several = [k for k in range(1, count + 1) if (parted.of_item == k).sum() > 1]
        used = {int(before[np.flatnonzero(parted.of_item == k)[0]]) for k in several}
        assert len(used) == len(several)
