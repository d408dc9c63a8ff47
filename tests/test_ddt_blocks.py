"""Local regrafts: their blocks against the definition, the laws that they keep, and their turns.

The laws of all moves together are in the tests of the prior, of the triplet classes and of the
noise: by default local regrafts take turns with those into the whole tree and with slides.
"""

from __future__ import annotations

import numba
import numpy as np
import pytest

from hcviz.algorithms.ddt.blocks import block_size, block_top, prunes_leaf
from hcviz.algorithms.ddt.chain import advance, draw_subtree
from hcviz.algorithms.ddt.density import log_joint, log_likelihood, refresh
from hcviz.algorithms.ddt.moves import detach, regraft
from hcviz.algorithms.ddt.start import put_first, tree_of
from hcviz.algorithms.ddt.starttrees import draw_prior_tree
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import (
    ACCEPTED,
    GIVEN,
    LEFT,
    PARENT,
    PROPOSALS,
    RIGHT,
    ROOT,
    SCALES,
    SIZE,
    SLIDES,
    SUBTREE,
    TRIES,
    H,
    allocate,
)
from tests.ddtslow import (
    LIMIT,
    chain,
    consistent_triplets,
    law,
    nested,
    shape_of,
    slow_log_joint,
    z_score,
)
from tests.test_ddt_prior import by_shape, compare, draw_data, prior_work, sampled
from tests.test_ddt_slide import clades
from tests.trees import all_trees, random_tree

FAST = not numba.config.DISABLE_JIT


def any_subtree(w, rng):
    """A node other than the root."""
    found = int(rng.integers(len(w.node) - 1))
    return found + (found >= w.tally[ROOT])


def sibling_of(w, subtree):
    parent = w.node[subtree, PARENT]
    left, right = w.node[parent, LEFT], w.node[parent, RIGHT]
    return int(right if left == subtree else left)


def slow_blocks(w, top, most):
    """Sets of branches at or below ``top``, by the top one: the largest clades of at most ``most``
    leaves, each with all of its branches."""

    def inside(v):
        found = {v}
        if w.node[v, LEFT] >= 0:
            found |= inside(int(w.node[v, LEFT])) | inside(int(w.node[v, RIGHT]))
        return found

    def visit(v):
        if w.node[v, SIZE] <= most:
            return {v: inside(v)}
        return visit(int(w.node[v, LEFT])) | visit(int(w.node[v, RIGHT]))

    return visit(top)


@pytest.mark.parametrize("most", [1, 2, 3, 8, 11])
def test_blocks_are_the_largest_clades_of_a_size(most):
    """In the pruned tree, from each of its branches; none if more leaves are below it."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        w = chain(random_tree(rng, 12), rng)
        subtree = any_subtree(w, rng)
        first = detach(w.node, subtree, int(w.node[subtree, PARENT]))
        root = first
        while w.node[root, PARENT] >= 0:
            root = int(w.node[root, PARENT])
        blocks = slow_blocks(w, root, most)
        assert sum(w.node[v, SIZE] for v in blocks) == w.node[root, SIZE]
        for top, branches in blocks.items():
            assert {int(block_top(w.node, v, most, root)) for v in branches} == {top}
            inner = next(iter(branches))
            for highest in (v for v in branches if inner in slow_blocks(w, v, most)[v]):
                assert block_top(w.node, inner, most, highest) == highest


@pytest.mark.parametrize("count", [0, 8])
def test_a_local_regraft_stays_in_its_block(count):
    """It moves, it keeps the triplets, and a subtree beside a larger clade stays where it is."""
    rng = np.random.default_rng(2 + count)
    tree = random_tree(rng, 14)
    rows = consistent_triplets(tree, count, rng)
    w = chain(tree, rng, triplets=rows, noise=0.05)
    moved = stayed = 0
    for _ in range(1500 if FAST else 200):
        subtree, most = any_subtree(w, rng), int(rng.integers(1, 14))
        parent, sibling = int(w.node[subtree, PARENT]), sibling_of(w, subtree)
        shape, times = nested(w), w.time.copy()
        outside = w.node[sibling, SIZE] > most
        rest = without(w, subtree)
        blocks = slow_blocks(rest, int(rest.tally[ROOT]), most)
        accepted = regraft(w, rng, subtree, 3, most)
        if outside:
            assert accepted == 0
            stayed += 1
        if accepted == 0:
            assert nested(w) == shape
            assert np.array_equal(times, w.time)
        else:
            block = next(part for part in blocks.values() if sibling in part)
            assert w.node[subtree, PARENT] == parent
            assert sibling_of(w, subtree) in block
            moved += nested(w) != shape
        assert tree_of(w).satisfies(rows).all() or not count
    assert moved > (100 if FAST else 10)
    assert stayed > 20
    assert log_joint(w) == pytest.approx(slow_log_joint(w), abs=1e-8)


def without(w, subtree):
    """A copy of ``w`` without the subtree, with its own root."""
    copy = w._replace(node=w.node.copy(), tally=w.tally.copy())
    root = detach(copy.node, subtree, int(copy.node[subtree, PARENT]))
    while copy.node[root, PARENT] >= 0:
        root = int(copy.node[root, PARENT])
    copy.tally[ROOT] = root
    return copy


# ---------------------------------------------------------------------- laws


@pytest.mark.parametrize("most", [2, 4])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_local_regrafts_alone_leave_the_joint_law_of_tree_and_data_alone(most, noise):
    """Trees from the prior and data given the tree are draws of the posterior; so after moves.

    Means of functions of both, before and after: their difference is 0. The draws are independent,
    and the difference of a pair varies little. Tolerance: 4.5 standard errors.
    """
    rng = np.random.default_rng(12)
    none = np.empty((0, 3), np.int32)
    w = allocate(6, np.zeros((6, 2)), none, np.empty(0), noise, None)
    square = np.empty(2)

    def seen():
        root = w.tally[ROOT]
        times = np.sort(w.time[6:, H])
        smaller = w.node[w.node[root, LEFT : RIGHT + 1], SIZE].min()
        pairs = (w.node[6:, SIZE] == 2).sum()
        return [log_likelihood(w, square), times[-1], times[0], times[1], smaller, pairs]

    gaps = []
    moved = 0
    for _ in range(8_000 if FAST else 300):
        draw_prior_tree(w, rng)
        refresh(w)
        w.data[:] = draw_data(w, rng)
        refresh(w)
        before = seen()
        for _ in range(4):
            moved += regraft(w, rng, any_subtree(w, rng), 2, most)
        gaps.append(np.subtract(seen(), before))
    errors = np.std(gaps, axis=0) / np.sqrt(len(gaps))
    assert moved > len(gaps) / 2
    assert np.all(np.abs(np.mean(gaps, axis=0)) <= LIMIT * errors)


@pytest.mark.parametrize("scales", [0, 2])
def test_regrafts_without_slides_have_the_prior(scales):
    """Into the whole tree only, and with blocks of 2 and 4 in turn."""
    rng = np.random.default_rng(14)
    w = prior_work(6)
    w.tally[[SLIDES, SCALES]] = 0, scales
    put_first(w, rng, "random")
    shapes, _ = sampled(w, rng, 6)
    assert compare([shape_of(s) for s in shapes], by_shape(6)) < LIMIT
    alone = sum(p for tree, p in law(frozenset(range(6))).items() if 0 in tree)
    assert abs(z_score([0 in s for s in shapes], float(alone))) < LIMIT


@pytest.mark.parametrize("seed", range(4))
def test_regrafts_on_six_leaves_have_the_filtered_law(seed):
    """Clades of all trees that satisfy a random set of triplets, without slides.

    Tolerance: 4.5 standard errors by 40 batch means, plus half of one as in the tests of the
    classes; some 150 comparisons are made.
    """
    rng = np.random.default_rng(70 + seed)
    trees = list(all_trees(6, binary=True))
    start = trees[int(rng.integers(len(trees)))]
    rows = consistent_triplets(start, 1 + seed % 3, rng)
    whole = law(frozenset(range(6)))
    kept = [nested(chain(t, rng, dims=0)) for t in trees if t.satisfies(rows).all()]
    mass = float(sum(whole[shape] for shape in kept))
    expected: dict = {}
    for shape in kept:
        for clade in clades(shape):
            expected[clade] = expected.get(clade, 0.0) + float(whole[shape]) / mass
    w = chain(start, rng, dims=0, triplets=rows)
    w.tally[SLIDES] = 0
    seen = []
    for _ in range(6_000 if FAST else 200):
        advance(w, rng, 12, 20, False, np.empty(0), False)
        seen.append(clades(nested(w)))
    assert set().union(*seen) <= set(expected)
    for clade, p in expected.items():
        if 1e-3 < p < 1 - 1e-9:
            assert abs(z_score([clade in each for each in seen], p)) < LIMIT + 0.5


# ---------------------------------------------------------------------- turns


def test_sizes_take_turns_and_given_locations_have_none():
    w = chain(random_tree(np.random.default_rng(5), 20), np.random.default_rng(5))
    assert [block_size(w.tally, turn, 20) for turn in range(40)] == [
        each for size in (2, 4, 8, 16, 2) for each in 4 * [size, 20]
    ]
    w.tally[SCALES] = 0
    assert block_size(w.tally, 3, 20) == 20
    w.tally[[SCALES, GIVEN]] = 3, 1
    assert block_size(w.tally, 0, 20) == 20
    for n, scales in ((2, 0), (3, 1), (4, 1), (5, 2), (257, 8)):
        none = np.empty((0, 3), np.int32)
        assert allocate(n, np.zeros((n, 1)), none, np.empty(0), 0.0, None).tally[SCALES] == scales


def test_every_size_of_block_is_for_leaves_and_for_any_subtree():
    """Three of four pairs of turns prune a leaf; with given locations none does."""
    w = chain(random_tree(np.random.default_rng(5), 20), np.random.default_rng(5))
    leaf = [prunes_leaf(w.tally, turn) for turn in range(16)]
    assert leaf == 2 * (6 * [True] + 2 * [False])
    kinds = {(block_size(w.tally, t, 20), prunes_leaf(w.tally, t)) for t in range(32)}
    assert kinds == {(size, is_leaf) for size in (2, 4, 8, 16, 20) for is_leaf in (True, False)}
    w.tally[GIVEN] = 1
    assert not any(prunes_leaf(w.tally, turn) for turn in range(16))


def test_subtrees_of_regrafts_are_drawn_uniformly():
    """Leaves among leaves, and nodes other than the root. Tolerance: 4.5 standard errors."""
    rng = np.random.default_rng(9)
    w = chain(random_tree(rng, 6), rng)
    for is_leaf, nodes in ((True, 6), (False, 11)):
        drawn = np.bincount([draw_subtree(w, rng, is_leaf) for _ in range(12_000)], minlength=nodes)
        expected = np.full(nodes, 12_000 / nodes)
        if not is_leaf:
            expected[:] = 1_200
            expected[w.tally[ROOT]] = 0
        assert drawn.size == nodes
        assert np.all(np.abs(drawn - expected) <= LIMIT * np.sqrt(expected))


def test_given_locations_make_the_moves_of_the_paper():
    """``latents="gibbs"``, the way of Vikram & Dasgupta (2016), has no local regrafts."""
    tree = random_tree(np.random.default_rng(7), 8)
    ends = []
    for scales in (2, 0):
        rng = np.random.default_rng(8)
        w = chain(tree, rng, noise=0.1)
        w.tally[[SCALES, GIVEN]] = scales, 1
        draw_locations(w, rng)
        advance(w, rng, 500, 8, True, np.ones(3), False)
        ends.append((w.time, w.msg))
    assert np.array_equal(ends[0][0], ends[1][0])
    assert np.array_equal(ends[0][1], ends[1][1])


@pytest.mark.parametrize("tries", [0, 1, 4])
def test_tries_that_reach_into_the_next_turn_do_not_depend_on_calls(tries):
    """A repaired tree may leave the counters anywhere in a turn."""
    ends = []
    for each in (1, 3, 100):
        rng = np.random.default_rng(10)
        w = chain(random_tree(rng, 10), rng, noise=0.1)
        w.tally[[PROPOSALS, TRIES]] = 4, tries
        w.tally[SUBTREE] = 0
        left = 100
        while left:
            advance(w, rng, min(each, left), 10, True, np.ones(3), False)
            left -= min(each, left)
        ends.append((tree_of(w), log_joint(w), rng.random(), int(w.tally[ACCEPTED])))
    assert ends[0] == ends[1] == ends[2]
