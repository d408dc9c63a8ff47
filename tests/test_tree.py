"""Tree: derived quantities against their definitions, on all small trees and random ones."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage, linkage

import hcviz
from hcviz import Tree
from hcviz.core import treekernels as kernels
from hcviz.core.errors import InvalidConstraint, InvalidTree, TooLarge
from hcviz.core.tree import INVARIANTS, MAX_QUADRATIC, N_COMPILED
from tests.trees import all_trees, caterpillar, random_tree


def ancestors(tree, v):
    chain = [v]
    while tree.parent[chain[-1]] >= 0:
        chain.append(int(tree.parent[chain[-1]]))
    return chain


def slow_lca(tree, i, j):
    above = set(ancestors(tree, i))
    return next(v for v in ancestors(tree, j) if v in above)


def below(tree, v):
    return {leaf for leaf in range(tree.n_leaves) if v in ancestors(tree, leaf)}


@st.composite
def trees(draw, least=1, most=24):
    n = draw(st.integers(least, most))
    seed = draw(st.integers(0, 2**32 - 1))
    return random_tree(np.random.default_rng(seed), n, polytomies=draw(st.booleans()))


#      6
#     / \
#    5   \          clades {0,1}, {0,1,2}, {0,1,2,3}
#   / \   \
#  4   2   3
# / \
# 0  1
LADDER = hcviz.Tree([4, 4, 5, 6, 5, 6, -1], [0, 0, 0, 0, 1, 2, 3], 4)


def test_a_small_caterpillar_by_hand():
    assert LADDER.children(5).tolist() == [2, 4]
    assert LADDER.lca(0, 3) == 6
    assert LADDER.lca(0, 1) == 4
    assert [sorted(c) for c in LADDER.clades()] == [[0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert LADDER.lca_size()[0].tolist() == [1, 2, 3, 4]
    assert LADDER.satisfies([[0, 1, 2], [0, 2, 1], [1, 2, 3]]).tolist() == [True, False, True]


@pytest.mark.parametrize("n", range(1, 6))
def test_structure_on_all_small_trees(n):
    for tree in all_trees(n):
        check_structure(tree)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_structure_on_random_trees(tree):
    check_structure(tree)


def check_structure(tree):
    n, m = tree.n_leaves, tree.n_nodes
    leaf_sets = [below(tree, v) for v in range(m)]
    assert tree.size.tolist() == [len(s) for s in leaf_sets]
    assert tree.depth.tolist() == [len(ancestors(tree, v)) - 1 for v in range(m)]
    for v in range(m):
        assert tree.children(v).tolist() == [u for u in range(m) if tree.parent[u] == v]
        assert set(tree.leaves(v).tolist()) == leaf_sets[v]
    assert sorted(tree.leaf_order.tolist()) == list(range(n))
    assert [set(c.tolist()) for c in tree.clades()] == leaf_sets[n:]
    i, j = np.meshgrid(np.arange(m), np.arange(m), indexing="ij")
    expected = [[slow_lca(tree, a, b) for b in range(m)] for a in range(m)]
    assert tree.lca(i, j).tolist() == expected
    sizes = tree.lca_size()
    assert sizes.dtype == np.int32
    for a in range(n):
        for b in range(n):
            assert sizes[a, b] == len(leaf_sets[expected[a][b]])
    if n >= 3:
        rows = [(a, b, c) for a in range(n) for b in range(n) for c in range(n)]
        rows = [r for r in rows if len(set(r)) == 3]
        held = [any(a in s and b in s and c not in s for s in leaf_sets) for a, b, c in rows]
        assert tree.satisfies(rows).tolist() == held


@settings(max_examples=60, deadline=None)
@given(trees(least=2), st.data())
def test_restrict_keeps_exactly_the_clades_it_should(tree, data):
    n = tree.n_leaves
    kept = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    small, origin = tree.restrict_with_origin(kept)
    full = {frozenset(c.tolist()) & frozenset(kept) for c in tree.clades()}
    expected = {c for c in full if len(c) > 1}
    assert {frozenset(kept[x] for x in c) for c in small.clades()} == expected
    for v in range(small.n_nodes):
        members = [kept[x] for x in small.leaves(v)]
        top = members[0]
        for item in members[1:]:
            top = tree.lca(top, item)
        assert origin[v] == top
        assert small.height[v] == tree.height[top]


@settings(max_examples=60, deadline=None)
@given(trees(least=2))
def test_linkage_and_newick_round_trips(tree):
    z = tree.to_linkage()
    assert is_valid_linkage(z)
    binary = hcviz.Tree.from_linkage(z)
    clades = {frozenset(c.tolist()) for c in tree.clades()}
    assert clades <= {frozenset(c.tolist()) for c in binary.clades()}
    assert np.array_equal(binary.to_linkage(), z)
    names = [f"it's no. {i}, (so: to_speak)" for i in range(tree.n_leaves)]
    for labels in (None, names):
        back = hcviz.Tree.from_newick(tree.to_newick(labels), labels)
        assert {frozenset(c.tolist()) for c in back.clades()} == clades
        for v, clade in enumerate(back.clades(), back.n_leaves):
            original = tree.lca(int(clade[0]), int(clade[-1]))
            for item in clade:
                original = tree.lca(original, int(item))
            assert back.height[v] == pytest.approx(tree.height[original], abs=1e-9)


def test_linkage_equals_scipys_and_inversions_become_ranks():
    x = np.random.default_rng(0).normal(size=(30, 3))
    z = linkage(x, "average")
    assert np.array_equal(hcviz.Tree.from_linkage(z).to_linkage(), z)
    rng = np.random.default_rng(1)
    for _ in range(50):
        z = linkage(rng.normal(size=(12, 2)), "centroid")
        height = hcviz.Tree.from_linkage(z).height[12:]
        parent = hcviz.Tree.from_linkage(z).parent
        values = np.concatenate([np.zeros(12), z[:, 2]])
        inverted = np.any(values[:-1] > values[parent[:-1]])
        assert height.tolist() == (list(range(1, 12)) if inverted else z[:, 2].tolist())


@pytest.mark.parametrize(
    ("text", "labels", "clades"),
    [
        ("((0,1),2);", None, {(0, 1), (0, 1, 2)}),
        ("((a:1,b:2)ab:3,[a comment]c:4)root;", ["c", "a", "b"], {(1, 2), (0, 1, 2)}),
        ("(('it''s','a b'),(x_y));", ["it's", "a b", "x y"], {(0, 1), (0, 1, 2)}),
        ("(((a)),(b));", ["a", "b"], {(0, 1)}),
    ],
)
def test_newick_dialects(text, labels, clades):
    tree = hcviz.Tree.from_newick(text, labels)
    assert {tuple(sorted(c.tolist())) for c in tree.clades()} == clades


def test_newick_without_lengths_takes_clade_sizes():
    assert hcviz.Tree.from_newick("((0,1),2);").height.tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("text", "labels", "word"),
    [
        ("((0,1),2)", None, "semicolon"),
        ("((0,1,2);", None, "more opening"),
        ("((0,1),5);", None, "'5'"),
        ("((a,b),b);", ["a", "b", "c"], "twice"),
        ("(a,b);", ["a", "b", "c"], "lacks"),
        ("((a,b),a);", None, "twice"),
        ("((a,b),);", None, "not an item"),
        ("('a,b);", ["a", "b"], "never closed"),
        ("(0:x,1:2);", None, "branch length"),
        ("(0,1);(0,1);", None, "one tree"),
        ("", None, "semicolon"),
        ("(0,1))(2;", None, "outside"),
        ("((0,1)2 3,4);", None, "two names"),
        ("(0,1)(2,3);", None, "comma"),
    ],
)
def test_invalid_newick_raises_a_clear_error(text, labels, word):
    with pytest.raises(InvalidTree, match=word):
        hcviz.Tree.from_newick(text, labels)


def test_a_newick_text_brings_its_own_names():
    tree = hcviz.Tree.from_newick("((owl:1,'wood ant':1):1,elm_1:2);")
    assert tree.labels == ("owl", "wood ant", "elm_1")
    again = hcviz.Tree.from_newick(tree.to_newick())  # its items are in the order of the text
    assert sorted(again.labels) == sorted(tree.labels)
    assert hcviz.Tree.from_newick(again.to_newick(), tree.labels) == tree
    assert hcviz.Tree.from_newick("((2,0),1);").labels is None


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="(),;:'[]ab01. _", max_size=30))
def test_any_text_is_a_tree_or_an_error(text):
    try:
        tree = hcviz.Tree.from_newick(text)
    except hcviz.HcvizError:
        return
    assert tree.n_leaves >= 1


@pytest.mark.parametrize(
    ("parent", "height", "n", "word"),
    [
        ([2, 2, -1], [0, 0, 1, 2], 2, "length"),
        ([2, 2, 3, -1], [0, 0, 1, 1], 2, "nodes in all"),
        ([1, 2, -1], [0, 0, 1], 2, "the leaf 1 as its parent"),
        ([3, 3, 2, 4, -1], [0, 0, 0, 1, 2], 3, "parent"),
        ([2, 2, 0], [0, 0, 1], 2, "root"),
        ([2, 2, -1], [0, 1, 1], 2, "other than 0"),
        ([3, 3, 4, 4, -1], [0, 0, 0, 3, 2], 3, "higher than its parent"),
        ([2, 2, -1], [0, 0, np.nan], 2, "finite"),
        ([4, 4, 4, 4, -1], [0, 0, 0, 1, 2], 3, "inner node 3 has 0"),
    ],
)
def test_invalid_arrays_raise_a_clear_error(parent, height, n, word):
    with pytest.raises(InvalidTree, match=word):
        hcviz.Tree(parent, height, n)


def test_arrays_stay_read_only_after_pickle_and_copy():
    for tree in (LADDER, pickle.loads(pickle.dumps(LADDER)), copy.deepcopy(LADDER)):
        assert tree == LADDER
        assert hash(tree) == hash(LADDER)
        with pytest.raises(ValueError, match="read-only"):
            tree.parent[0] = 3
        with pytest.raises(ValueError, match="read-only"):
            tree.size[0] = 3


def test_all_linear_functions_handle_a_caterpillar_of_20000_leaves():
    n = 20_000
    tree = caterpillar(n)
    assert tree.depth.max() == n - 1
    assert tree.lca(0, n - 1) == tree.root
    assert tree.restrict(np.arange(0, n, 2)).n_leaves == n // 2
    assert sum(1 for _ in tree.clades()) == n - 1
    rows = np.stack([np.arange(n - 2), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    assert tree.satisfies(rows).all()
    assert hcviz.Tree.from_linkage(tree.to_linkage()) == tree
    assert hcviz.Tree.from_newick(tree.to_newick()).depth.max() == n - 1
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert n > MAX_QUADRATIC
    with pytest.raises(TooLarge, match="20,000 leaves"):
        tree.lca_size()


def test_unknown_items_raise_a_clear_error():
    with pytest.raises(InvalidConstraint, match="item 4"):
        LADDER.satisfies([[0, 1, 4]])
    with pytest.raises(InvalidTree, match="needs nodes in 0"):
        LADDER.lca(0, 7)
    for leaves, word in (([], "no leaves"), ([0, 9], "outside"), ([1, 1], "twice")):
        with pytest.raises(InvalidTree, match=word):
            LADDER.restrict(leaves)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_smallest_clade_around_some_leaves(n):
    for tree in all_trees(n):
        clades = [set(tree.leaves(v).tolist()) for v in range(tree.n_nodes)]
        for size in range(1, n + 1):
            for leaves in itertools.permutations(range(n), size):
                holding = [v for v, clade in enumerate(clades) if set(leaves) <= clade]
                assert tree.smallest_clade(leaves) == min(holding, key=lambda v: len(clades[v]))
    for wrong in ([], [-1], [n]):
        with pytest.raises(InvalidTree, match="takes leaves"):
            tree.smallest_clade(wrong)


# ---------------------------------------------------------------------- the compiled check


def damaged(rng):
    """Arrays of a random tree with one changed entry, which is usually wrong."""
    n = int(rng.integers(1, 7))
    tree = random_tree(rng, n, polytomies=True) if n > 1 else Tree([-1], [0.0], 1)
    parent, height = tree.parent.copy(), tree.height.copy()
    at = int(rng.integers(parent.size))
    kind = int(rng.integers(6))
    if kind == 0:
        parent[at] = rng.integers(-2, parent.size + 2)
    elif kind == 1:
        height[at] = rng.choice([-1.0, 0.0, 0.5, 100.0, np.nan, np.inf, -np.inf])
    elif kind == 2:
        n += int(rng.choice([-1, 1]))
    elif kind == 3:
        parent = parent[:-1]
    elif kind == 4:
        height = height[1:]
    return parent, height, n


def test_the_compiled_check_equals_the_six_invariants():
    """The compiled check is True exactly if no invariant reports a fault."""
    rng = np.random.default_rng(0)
    seen = {True: 0, False: 0}
    for _ in range(3000):
        parent, height, n = damaged(rng)
        if parent.size == 0 or n < 1:
            continue
        plain = object.__new__(Tree)
        plain.__dict__.update(parent=parent, height=height, n_leaves=n)
        faults = False
        for _, check in INVARIANTS[:N_COMPILED]:
            faults = faults or check(plain) is not None  # the first one hides the others
        assert bool(kernels.is_valid_tree(parent, height, n)) is not faults
        seen[faults] += 1
    assert min(seen.values()) > 300


def test_a_deferred_tree_is_computed_on_first_access():
    calls = []

    def make():
        calls.append(1)
        return LADDER.parent.copy(), LADDER.height.copy()

    tree = Tree.deferred(LADDER.n_leaves, make)
    assert tree.n_leaves == LADDER.n_leaves
    assert not calls
    assert tree == LADDER
    assert tree.size.tolist() == LADDER.size.tolist()
    assert not tree.parent.flags.writeable
    assert len(calls) == 1
    assert pickle.loads(pickle.dumps(Tree.deferred(LADDER.n_leaves, make))) == LADDER
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        Tree.deferred(3, make).colour  # noqa: B018
    with pytest.raises(InvalidTree, match="Not a tree"):
        Tree.deferred(3, lambda: (np.array([3, 3, -1], np.int32), np.zeros(3))).height  # noqa: B018


def test_constraints_by_name_are_those_by_number():
    tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).with_labels(["ant", "bee", "fox"])
    found = tree.satisfies([("ant", "bee", "fox"), ("ant", "fox", "bee")], [{"ant", "bee"}])
    assert found.tolist() == [True, False, True]
    assert np.array_equal(found, tree.satisfies([(0, 1, 2), (0, 2, 1)], [{0, 1}]))
    with pytest.raises(InvalidConstraint, match="wolf"):
        tree.satisfies([("ant", "bee", "wolf")])
