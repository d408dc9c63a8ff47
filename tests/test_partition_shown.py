"""The clusters that a method finds are what its tree is cut into, until somebody says how many."""

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
from hcviz.ui.partition import cut_into


def fallen(tree, height):
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
    found = cut_into(tree, labels)
    heights = np.unique(tree.height)
    levels = [*(heights[:-1] + heights[1:]) / 2, heights[-1] + 1]
    possible = any(fallen(tree, level) == parts(labels) for level in levels)
    assert (found is not None) == possible
    if found is not None:
        assert fallen(tree, found) == parts(labels)


@pytest.mark.parametrize("n", [1, 2])
def test_few_items(n):
    tree = Tree.star(n)
    assert cut_into(tree, np.zeros(n, np.int32)) == (
        None if n == 1 else tree.height[-1] * 1.02 + 1e-9
    )


def test_clusters_are_written_by_name_and_numbered_by_their_first_item():
    labels = ["Zoë", "a, b", 'say "hi"', "1"]
    text = write_clusters_csv(labels, [9, 4, 9, 0])
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [["item", "cluster"], *map(list, zip(labels, "1213", strict=True))]
