"""The slide move: its density against the definition, its part of the path, its place in the cycle.

The laws that it keeps are in the tests of the prior, of the triplet classes and of the noise, where
slides take turns with regrafts, or make all proposals (:data:`tests.ddtslow.MOVES`).
"""

from __future__ import annotations

from itertools import combinations, permutations

import numba
import numpy as np
import pytest

from hcviz.algorithms.ddt import slide as moves
from hcviz.algorithms.ddt.chain import advance, slides_due
from hcviz.algorithms.ddt.density import log_joint, log_likelihood, refresh
from hcviz.algorithms.ddt.legal import legal_region, violated_weight
from hcviz.algorithms.ddt.moves import LATEST, TRIES_EACH, attach, detach, log_fit
from hcviz.algorithms.ddt.start import put_first, tree_of
from hcviz.algorithms.ddt.starttrees import draw_prior_tree
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import (
    ACCEPTED,
    BETA,
    GIVEN,
    LEFT,
    PARENT,
    PATH,
    PROPOSALS,
    ROOT,
    SIZE,
    SLIDES,
    SLIDES_EACH,
    SUBTREE,
    TRIES,
    C,
    H,
    U,
    allocate,
)
from tests.ddtslow import (
    LIMIT,
    SLIDES_ALONE,
    ancestors,
    chain,
    consistent_triplets,
    gather_rules,
    law,
    nested,
    slow_log_joint,
    z_score,
)
from tests.test_ddt_legal import slow_satisfied
from tests.test_ddt_prior import draw_data
from tests.trees import all_trees, random_tree

FAST = not numba.config.DISABLE_JIT


def pruned(w, rng):
    """A subtree cut out as a slide does: what the kernel says of its path, and the path."""
    node, tally, path = w.node, w.tally, w.spare[PATH]
    parent, subtree, place, length = moves.draw_path(node, path, rng, w.data.shape[0])
    own = float(w.time[parent, U])
    first = int(path[place])
    assert detach(node, subtree, parent) == first
    assert ancestors(w, int(path[0])) == path[:length].tolist()
    top, floor = length - 1, -1
    found = gather_rules(w, subtree)
    if w.real[BETA] < 0 and found:
        highest, floor = legal_region(node, w.time, tally, w.active_triplets, found, int(path[top]))
        top = path.tolist().index(highest)
    return parent, subtree, place, length, top, floor, found, own


@pytest.mark.parametrize("beta", [None, 0.7])
@pytest.mark.parametrize("count", [0, 5])
@pytest.mark.parametrize("dims", [0, 3])
def test_the_density_of_a_point_is_the_joint(dims, count, beta):
    """Along each path the log density differs from the joint's (in t) by one constant.

    At a random point of every branch, in random order, so that messages are computed in any order.
    Points are legal exactly where the definition says so. The tolerance is for rounding alone.
    """
    rng = np.random.default_rng(1 + dims + count)
    seen = refused = 0
    for _ in range(120 if FAST else 30):
        tree = random_tree(rng, 9)
        rows = consistent_triplets(tree, count, rng)
        if beta is not None and count:
            rows[:, [1, 2]] = rows[:, [2, 1]]  # violated ones too
        w = chain(
            tree, rng, dims=dims, triplets=rows, beta=beta, c=rng.uniform(0.3, 3.0), noise=0.02
        )
        node, time, tally, path = w.node, w.time, w.tally, w.spare[PATH].copy()
        parent, subtree, place, length, top, floor, found, own = pruned(w, rng)
        path = w.spare[PATH].copy()
        root = int(path[length - 1])
        leaves, c = node[subtree, SIZE], w.real[C]
        last, low = moves.prior_along(
            node, time, w.table, path, w.path_prior, top, subtree, floor, c, leaves
        )
        begin = node[path[top], PARENT]
        high = time[begin, H] if begin >= 0 else 1.0
        assert low < np.exp(-own) < high
        current, reached = place + 1, length - 1
        w.outer[root, :] = 0.0
        constants = []
        for k in [place, *rng.permutation(length).tolist()]:
            branch = int(path[k])
            over = int(node[branch, PARENT])
            starts = float(time[over, U]) if over >= 0 else 0.0
            ends = min(float(time[branch, U]), starts + 2.0)
            u = starts + (ends - starts) * rng.uniform(0.02, 0.98)
            inside = last <= k <= top and low < np.exp(-u) < high
            value = 0.0
            if inside:
                value = moves.log_prior_at(
                    node, time, w.table, branch, u, w.path_prior[k], c, leaves
                )
                if dims:
                    current, reached = moves.extend(
                        node, time, w.msg, w.outer, path, k, current, reached
                    )
                    value += log_fit(node, time, w.msg, w.outer, subtree, branch, u)
                if beta is not None:
                    value -= beta * violated_weight(
                        node, tally, w.active_triplets, w.weight, found, branch
                    )
            time[parent] = u, np.exp(-u)
            attach(node, subtree, parent, branch)
            holds = np.array(slow_satisfied(w, w.triplets), bool)
            legal = u < time[subtree, U] and (beta is not None or bool(holds.all()))
            assert inside == legal
            if inside:
                target = slow_log_joint(w)
                if beta is not None:
                    target -= beta * w.weight[~holds].sum()
                constants.append(value - target)
            detach(node, subtree, parent)
            seen += inside
            refused += not inside
        assert np.ptp(constants or [0.0]) == pytest.approx(0.0, abs=1e-7)
    assert seen > (300 if FAST else 60)
    assert refused > (100 if FAST else 20)


def test_the_pair_of_leaf_and_ancestor_is_uniform():
    """Every pair on a fixed tree: chi-square by the normal limit, 4.5 standard deviations."""
    rng = np.random.default_rng(2)
    w = chain(random_tree(rng, 6), rng, dims=0)
    expected = {}
    for leaf in range(6):
        above = ancestors(w, leaf)[1:]
        for parent in above:
            expected[leaf, parent] = 1 / (6 * len(above))
    total = 20_000 if FAST else 4_000
    counts = dict.fromkeys(expected, 0)
    for _ in range(total):
        parent, subtree, place, length = moves.draw_path(w.node, w.spare[PATH], rng, 6)
        leaf = int(w.spare[3, 0])
        assert subtree in w.node[parent, LEFT : LEFT + 2]
        assert subtree not in ancestors(w, leaf)
        assert w.node[w.spare[3, place], PARENT] == parent
        assert length == len(ancestors(w, leaf)) - 1
        counts[leaf, int(parent)] += 1
    for pair, p in expected.items():
        assert abs(counts[pair] - total * p) < LIMIT * np.sqrt(total * p * (1 - p))


@pytest.mark.parametrize("count", [0, 12])
@pytest.mark.parametrize("beta", [None, 1.5])
def test_after_thousands_of_slides_nothing_has_drifted(count, beta):
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 25)
    rows = consistent_triplets(tree, count, rng)
    w = chain(tree, rng, triplets=rows, noise=0.01, beta=beta)
    w.tally[SLIDES] = SLIDES_ALONE
    for _ in range(20):
        advance(w, rng, 150, 40, False, np.ones(3), False)
        assert log_joint(w) == pytest.approx(slow_log_joint(w), abs=1e-8)
        if beta is None and count:
            assert tree_of(w).satisfies(rows).all()
    before = w.msg[2 * np.arange(49) + w.node[:, 4]].copy(), w.node[:, :4].copy(), w.time.copy()
    refresh(w)
    assert np.array_equal(before[0], w.msg[2 * np.arange(49) + w.node[:, 4]])
    assert np.array_equal(before[1], w.node[:, :4])
    assert np.array_equal(before[2], w.time)
    assert 0 < w.tally[ACCEPTED] < w.tally[PROPOSALS]


def test_a_slide_moves_one_subtree_along_its_path():
    """The item x keeps its number of ancestors; accepted are those that change the tree's shape."""
    rng = np.random.default_rng(4)
    w = chain(random_tree(rng, 8), rng, noise=0.05)
    moved = 0
    for _ in range(300 if FAST else 60):
        shape, times, accepted = nested(w), np.sort(w.time[8:, U]), int(w.tally[ACCEPTED])
        state = rng.bit_generator.state
        again = np.random.default_rng()
        again.bit_generator.state = state
        leaf = int(again.random() * 8)
        depth = len(ancestors(w, leaf))
        moves.slide(w, rng)
        assert len(ancestors(w, leaf)) == depth
        changed = nested(w) != shape
        assert changed == (w.tally[ACCEPTED] > accepted)
        assert len(np.setdiff1d(np.sort(w.time[8:, U]), times)) <= 1
        moved += changed
    assert moved > 10


def test_a_time_beyond_reach_is_refused():
    """With data no slide goes beyond :data:`LATEST`, and one from there still ends."""
    rng = np.random.default_rng(5)
    w = allocate(2, np.zeros((2, 1)), np.empty((0, 3), np.int32), np.empty(0), 0.0, None)
    put_first(w, rng, "random")
    w.time[2] = 1.1 * LATEST, np.exp(-1.1 * LATEST)
    refresh(w)
    moves.slide(w, rng)
    assert np.isfinite(w.time[2, U])
    for _ in range(50):
        w.time[2] = 0.9 * LATEST, np.exp(-0.9 * LATEST)
        refresh(w)
        moves.slide(w, rng)
        assert w.time[2, U] < LATEST


# ---------------------------------------------------------------------- the cycle


def test_slides_and_regrafts_take_turns():
    rng = np.random.default_rng(6)
    w = chain(random_tree(rng, 8), rng)
    kinds = []
    for _ in range(4 * (SLIDES_EACH + TRIES_EACH)):
        kinds.append("slide" if slides_due(w.tally) else "regraft")
        advance(w, rng, 1, 10**9, False, np.ones(3), False)
    assert kinds == 4 * (SLIDES_EACH * ["slide"] + TRIES_EACH * ["regraft"])
    w.tally[[PROPOSALS, TRIES, SLIDES]] = 1, 3, 4  # tries that were left go first
    kinds = []
    for _ in range(15):
        kinds.append("slide" if slides_due(w.tally) else "regraft")
        advance(w, rng, 1, 10**9, False, np.ones(3), False)
    assert kinds == 3 * ["regraft"] + 4 * ["regraft"] + 4 * ["slide"] + 4 * ["regraft"]


def test_given_locations_are_left_to_regrafts():
    """The way of Vikram & Dasgupta (2016), ``latents="gibbs"``, has no slides."""
    tree = random_tree(np.random.default_rng(7), 8)
    ends = []
    for slides in (4, 0):
        rng = np.random.default_rng(8)
        w = chain(tree, rng, noise=0.1)
        w.tally[[SLIDES, GIVEN]] = slides, 1
        draw_locations(w, rng)
        advance(w, rng, 500, 8, True, np.ones(3), False)
        ends.append((w.time, w.msg))
    assert np.array_equal(ends[0][0], ends[1][0])
    assert np.array_equal(ends[0][1], ends[1][1])


def test_where_calls_are_cut_does_not_change_the_draws():
    """One proposal a call or 400 at once, and going on from the counters that a state keeps."""
    ends = []
    for each in (1, 3, 400):
        rng = np.random.default_rng(10)
        tree = random_tree(rng, 10)
        w = chain(tree, rng, triplets=consistent_triplets(tree, 4, rng), noise=0.1)
        left = 400
        while left:
            kept = w.tally[[PROPOSALS, ACCEPTED, SUBTREE, TRIES]].copy()
            w.tally[[PROPOSALS, ACCEPTED, SUBTREE, TRIES]] = kept
            w.path_prior[:] = np.nan
            w.spare[:] = 0
            advance(w, rng, min(each, left), 10, True, np.ones(3), False)
            left -= min(each, left)
        ends.append((tree_of(w), log_joint(w), rng.random(), int(w.tally[ACCEPTED])))
    assert ends[0] == ends[1] == ends[2]


# ---------------------------------------------------------------------- six leaves


@pytest.mark.parametrize("seed", range(6))
def test_slides_on_six_leaves_have_the_filtered_law(seed):
    """Clades and shapes of all trees that satisfy a random set of triplets; slides alone.

    Tolerance: 4.5 standard errors by 40 batch means, plus half of one as in the tests of the
    classes; some 200 comparisons are made.
    """
    rng = np.random.default_rng(60 + seed)
    trees = list(all_trees(6, binary=True))
    start = trees[int(rng.integers(len(trees)))]
    rows = consistent_triplets(start, 1 + seed % 3, rng)
    whole = law(frozenset(range(6)))
    kept = [(nested(chain(t, rng, dims=0)), t) for t in trees if t.satisfies(rows).all()]
    mass = float(sum(whole[shape] for shape, _ in kept))
    expected: dict = {}
    for shape, _ in kept:
        for clade in clades(shape):
            expected[clade] = expected.get(clade, 0.0) + float(whole[shape]) / mass
    w = chain(start, rng, dims=0, triplets=rows)
    w.tally[SLIDES] = SLIDES_ALONE
    seen = []
    for _ in range(6_000 if FAST else 200):
        advance(w, rng, 10, 20, False, np.empty(0), False)
        seen.append(clades(nested(w)))
    assert set().union(*seen) <= set(expected)
    for clade, p in expected.items():
        if 1e-3 < p < 1 - 1e-9:
            assert abs(z_score([clade in each for each in seen], p)) < LIMIT + 0.5


def clades(shape):
    """The sets of leaves of a nested shape's inner nodes."""
    found = set()

    def visit(part):
        if not isinstance(part, frozenset):
            return frozenset((part,))
        leaves = frozenset().union(*(visit(x) for x in part))
        found.add(leaves)
        return leaves

    visit(shape)
    return found


@pytest.mark.parametrize("start", range(0, 15, 5))
def test_slides_reach_every_tree_of_four_leaves(start):
    """With any one triplet, all five trees that satisfy it, from any of them."""
    trees = list(all_trees(4, binary=True))
    for three in combinations(range(4), 3):
        for row in permutations(three):
            if row[0] > row[1] or not trees[start].satisfies([row])[0]:
                continue
            rng = np.random.default_rng(11)
            w = chain(trees[start], rng, dims=0, triplets=[row])
            w.tally[SLIDES] = SLIDES_ALONE
            found = set()
            for _ in range(400):
                advance(w, rng, 1, 5, False, np.empty(0), False)
                found.add(nested(w))
            assert len(found) == 5


# ---------------------------------------------------------------------- with data


def test_three_slides_leave_the_joint_law_of_tree_and_data_alone():
    """Trees from the prior and data given the tree are draws of the posterior; so after slides.

    Means of functions of both, before and after: their difference is 0. The draws are independent,
    and the difference of a pair varies little. Tolerance: 4.5 standard errors.
    """
    rng = np.random.default_rng(12)
    none = np.empty((0, 3), np.int32)
    w = allocate(5, np.zeros((5, 2)), none, np.empty(0), 0.05, None)
    square = np.empty(2)

    def seen():
        root = w.tally[ROOT]
        return [
            log_likelihood(w, square),
            w.time[root, H],
            np.sort(w.time[5:, H])[0],
            np.sort(w.time[5:, H])[1],
            w.node[w.node[root, LEFT : LEFT + 2], SIZE].min(),
        ]

    gaps = []
    for _ in range(8_000 if FAST else 300):
        draw_prior_tree(w, rng)
        refresh(w)
        w.data[:] = draw_data(w, rng)
        refresh(w)
        before = seen()
        for _ in range(3):
            moves.slide(w, rng)
        gaps.append(np.subtract(seen(), before))
    errors = np.std(gaps, axis=0) / np.sqrt(len(gaps))
    assert np.all(errors > 0)
    assert np.all(np.abs(np.mean(gaps, axis=0)) < LIMIT * errors)
