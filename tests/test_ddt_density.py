"""The kernel's log joint and acceptance ratios against the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz import Tree
from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import log_joint, log_likelihood, log_prior, refresh, update
from hcviz.algorithms.ddt.legal import legal_region, new_stamp
from hcviz.algorithms.ddt.moves import attach as put_back
from hcviz.algorithms.ddt.moves import detach, log_fit, log_weight, regraft, update_outside, walk
from hcviz.algorithms.ddt.start import tree_of
from hcviz.algorithms.ddt.starttrees import draw_prior_tree
from hcviz.algorithms.ddt.sweep import sweep
from hcviz.algorithms.ddt.work import FLOOR, LEFT, PARENT, ROOT, H, U
from tests.ddtslow import (
    chain,
    consistent_triplets,
    gather_rules,
    slow_log_joint,
    slow_log_likelihood,
    slow_log_prior,
    slow_log_walk,
)


def random_tree(n: int, rng: np.random.Generator) -> Tree:
    from hcviz.algorithms.ddt.density import put_scale
    from hcviz.algorithms.ddt.work import allocate

    w = allocate(n, np.empty((n, 0)), np.empty((0, 3), np.int32), np.empty(0), 0.0, None)
    put_scale(w, 1.0, np.empty(0))
    draw_prior_tree(w, rng)
    refresh(w)
    return tree_of(w)


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_the_joint_is_the_definition(n, noise):
    rng = np.random.default_rng(n)
    w = chain(random_tree(n, rng), rng, noise=noise, c=0.7)
    assert log_prior(w) == pytest.approx(slow_log_prior(w), abs=1e-9)
    square = np.empty(3)
    assert log_likelihood(w, square) == pytest.approx(slow_log_likelihood(w), abs=1e-8)


@pytest.mark.parametrize("count", [0, 12])
@pytest.mark.parametrize("beta", [None, 1.5])
def test_after_thousands_of_moves_nothing_has_drifted(count, beta):
    rng = np.random.default_rng(3)
    tree = random_tree(25, rng)
    rows = consistent_triplets(tree, count, rng)
    w = chain(tree, rng, triplets=rows, noise=0.01, beta=beta)
    scale = np.ones(3)
    for _ in range(20):
        advance(w, rng, 150, 40, False, scale, False)
        assert log_joint(w) == pytest.approx(slow_log_joint(w), abs=1e-8)
        if beta is None and count:
            assert tree_of(w).satisfies(rows).all()
    held = w.msg.copy(), w.node.copy(), w.time.copy()
    refresh(w)  # and to the last bit: each message is one function of its children's
    spare = 2 * np.arange(w.node.shape[0]) + w.node[:, 4]
    before = 2 * np.arange(w.node.shape[0]) + held[1][:, 4]
    assert np.array_equal(held[0][before], w.msg[spare])
    assert np.array_equal(held[1][:, :4], w.node[:, :4])
    assert np.array_equal(held[2], w.time)


def test_learning_keeps_the_messages_current():
    rng = np.random.default_rng(4)
    w = chain(random_tree(12, rng), rng, noise=0.02)
    for _ in range(30):
        sweep(w, rng, True, np.ones(3), False)
        advance(w, rng, 11, 7, True, np.ones(3), False)
        assert log_joint(w) == pytest.approx(slow_log_joint(w), abs=1e-8)


@pytest.mark.parametrize("count", [0, 4])
def test_the_weight_of_a_place_is_target_over_walk(count):
    """W' - W, the log of the acceptance ratio, against joint and walk density written out.

    For random trees, subtrees, branches and times; W must differ from log target - log walk by the
    same constant for every place of the subtree. Antisymmetry is then plain: it is a difference.
    """
    rng = np.random.default_rng(5 + count)
    seen = 0
    for _ in range(25):
        tree = random_tree(7, rng)
        rows = consistent_triplets(tree, count, rng)
        w = chain(tree, rng, triplets=rows, c=rng.uniform(0.3, 2.0), noise=0.01)
        node, time, tally = w.node, w.time, w.tally
        subtree = int(rng.choice(np.delete(np.arange(13), int(tally[ROOT]))))
        parent = int(node[subtree, PARENT])
        above = int(node[parent, PARENT])
        old = time[parent].copy()
        sibling = detach(node, subtree, parent)
        root = sibling if above < 0 else int(tally[ROOT])
        found = gather_rules(w, subtree)
        top, floor = legal_region(node, time, tally, w.active_triplets, found, root)
        floors = set(np.flatnonzero(node[:, FLOOR] == floor).tolist()) if found else set()
        tally[ROOT] = root
        for x in np.argsort(-time[:, U]):  # messages of R by a whole pass, not by the path
            if x >= 7 and x != parent:
                update(node, time, w.msg, x)
        stamp = new_stamp(node, tally)
        limit = float(time[subtree, U])
        known = {x for x in range(13) if x != parent and x != subtree}
        stack = [int(node[subtree, LEFT])] if node[subtree, LEFT] >= 0 else []
        stack += [int(node[subtree, LEFT + 1])] if stack else []
        while stack:
            x = stack.pop()
            known.discard(x)
            if node[x, LEFT] >= 0:
                stack += [int(node[x, LEFT]), int(node[x, LEFT + 1])]
        constants = []
        for branch in known:
            over = int(node[branch, PARENT])
            begin = float(time[over, U]) if over >= 0 else 0.0
            u = begin + rng.exponential(0.3)
            inside = branch
            while inside != top and inside >= 0:
                inside = int(node[inside, PARENT])
            if inside < 0:
                continue  # not below the topmost legal branch: no walk comes here
            slow_walk = slow_log_walk(w, top, limit, floors, branch, u)
            weight = log_weight(
                node, time, w.table, w.real, branch, u, top, node[subtree, 3], limit, floor
            )
            assert (weight == -np.inf) == (slow_walk == -np.inf)
            if weight == -np.inf:
                continue
            update_outside(node, time, w.msg, w.outer, w.spare, root, branch, stamp)
            weight += log_fit(node, time, w.msg, w.outer, subtree, branch, u)
            time[parent] = u, np.exp(-u)
            put_back(node, subtree, parent, branch)
            target = slow_log_joint(w) - u  # in u
            detach(node, subtree, parent)
            constants.append(weight - (target - slow_walk))
            seen += 1
        time[parent] = old
        if constants:
            assert np.ptp(constants) == pytest.approx(0.0, abs=1e-8)
    assert seen > 60


@pytest.mark.parametrize("count", [0, 4])
def test_the_acceptance_ratio_of_the_way_back_is_the_inverse(count):
    """For random pairs of states, each pruned and weighed by itself, and by the definitions.

    log ratio of A -> B, computed in A, plus that of B -> A, computed in B, is 0; and the first is
    log target(B) - log target(A) + log walk(to A) - log walk(to B).
    """
    rng = np.random.default_rng(15 + count)
    seen = 0
    while seen < 60:
        tree = random_tree(6, rng)
        rows = consistent_triplets(tree, count, rng)
        w = chain(tree, rng, triplets=rows, c=rng.uniform(0.3, 2.0), noise=0.02)
        node, time, tally = w.node, w.time, w.tally
        subtree = int(rng.choice(np.delete(np.arange(11), int(tally[ROOT]))))
        parent = int(node[subtree, PARENT])
        target_a = slow_log_joint(w) - time[parent, U]
        was, other, there, walk_ab = pruned(w, subtree, None, rng)
        # B: the same tree with the subtree elsewhere, everything computed again
        branch, u = other
        time[parent] = u, np.exp(-u)
        put_back(node, subtree, parent, branch)
        tally[ROOT] = int(np.flatnonzero(node[:, PARENT] < 0)[0])
        refresh(w)
        target_b = slow_log_joint(w) - u
        now, _, back, walk_ba = pruned(w, subtree, was, rng)
        assert now == other
        assert there + back == pytest.approx(0.0, abs=1e-8)
        assert walk_ab == pytest.approx([walk_ba[1], walk_ba[0]], abs=1e-9)
        assert there == pytest.approx(target_b - target_a + walk_ab[0] - walk_ab[1], abs=1e-8)
        seen += 1


def pruned(w, subtree, other, rng):
    """Prune and weigh, as the kernel does, where the subtree was and ``other``: places are (branch,
    u), and the other one is drawn by a walk if None. Both places, the log ratio of going there, and
    both log walk densities by the definition."""
    node, time, tally = w.node, w.time, w.tally
    parent = int(node[subtree, PARENT])
    above = int(node[parent, PARENT])
    own_u = float(time[parent, U])
    sibling = detach(node, subtree, parent)
    root = sibling if above < 0 else int(tally[ROOT])
    found = gather_rules(w, subtree)
    top, floor = legal_region(node, time, tally, w.active_triplets, found, root)
    floors = set(np.flatnonzero(node[:, FLOOR] == floor).tolist()) if found else set()
    x = above
    while x >= 0:
        update(node, time, w.msg, x)
        x = int(node[x, PARENT])
    limit = float(time[subtree, U])
    if other is None:
        branch, u = walk(node, time, w.real, rng, top, limit, floor)
        other = int(branch), float(u)
    stamp = new_stamp(node, tally)
    weights, walks = [], []
    for branch, u in ((sibling, own_u), other):
        weight = log_weight(
            node, time, w.table, w.real, branch, u, top, node[subtree, 3], limit, floor
        )
        update_outside(node, time, w.msg, w.outer, w.spare, root, branch, stamp)
        weights.append(weight + log_fit(node, time, w.msg, w.outer, subtree, branch, u))
        walks.append(slow_log_walk(w, top, limit, floors, branch, u))
    return (int(sibling), own_u), other, weights[1] - weights[0], walks


def test_a_rejected_move_leaves_no_trace():
    rng = np.random.default_rng(6)
    w = chain(random_tree(9, rng), rng, noise=0.01)
    rejected = 0
    for _ in range(300):
        before = w.node[:, :5].copy(), w.time.copy(), w.msg.copy()
        subtree = int(rng.integers(16))
        subtree += subtree >= w.tally[ROOT]
        most = int(rng.choice([3, 9]))
        if regraft(w, rng, subtree, 1, most) == 0:
            rejected += 1
            # children may change places, which means nothing; slots point at the same messages
            assert np.array_equal(before[0][:, PARENT], w.node[:, PARENT])
            assert np.array_equal(np.sort(before[0][:, 1:3]), np.sort(w.node[:, 1:3]))
            assert np.array_equal(before[0][:, 3:5], w.node[:, 3:5])
            assert np.array_equal(before[1], w.time)
            rows = 2 * np.arange(17) + before[0][:, 4]
            assert np.array_equal(before[2][rows], w.msg[rows])
    assert rejected > 30


def test_a_caterpillar_of_20000_leaves_passes():
    n = 20_000
    parent = np.concatenate([[n], np.arange(n, 2 * n - 1), np.arange(n + 1, 2 * n - 1), [-1]])
    tree = Tree(parent, np.concatenate([np.zeros(n), np.arange(1, n)]), n)
    rng = np.random.default_rng(7)
    from hcviz.algorithms.ddt.start import put_start
    from hcviz.algorithms.ddt.work import allocate

    w = allocate(n, rng.normal(size=(n, 2)), np.empty((0, 3), np.int32), np.empty(0), 0.01, None)
    put_start(w, tree)
    assert np.isfinite(log_joint(w))
    advance(w, rng, 8, 10**9, False, np.ones(2), False)
    sweep(w, rng, True, np.ones(2), False)
    assert np.isfinite(log_joint(w))
    assert tree_of(w).n_leaves == n
    assert np.all(w.time[n:, H] > 0)
