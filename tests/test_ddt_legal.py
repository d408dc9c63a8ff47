"""Where a subtree may be put back: cases 1 to 3 against brute force on every small tree.

   .            S = {2}, triplet 0 1 | 2 (case 1): not below LCA(0, 1);
 .   .          S = {0}, triplet 0 1 | 2 (case 2): on 1's side of LCA(1, 2) or below;
0 1 2  3        S = {0, 1}: always satisfied (case 3).
"""

from __future__ import annotations

from itertools import combinations, permutations

import numba
import numpy as np
import pytest

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import log_joint
from hcviz.algorithms.ddt.legal import (
    MAX_STAMP,
    count_violated,
    legal_region,
    violated_weight,
)
from hcviz.algorithms.ddt.moves import attach, detach, log_weight, walk
from hcviz.algorithms.ddt.start import tree_of
from hcviz.algorithms.ddt.work import FLOOR, LEFT, PARENT, ROOT, SIZE, STAMP, U
from hcviz.core.partial_clades import partial_clades
from hcviz.core.triplets import chain_triplets
from tests.ddtslow import ancestors, chain, consistent_triplets, gather_rules, slow_log_joint
from tests.trees import all_trees, random_tree

FAST = not numba.config.DISABLE_JIT


def every_triplet(tree):
    """All ab|c that a binary tree satisfies: one for each three leaves."""
    rows = [
        row
        for three in combinations(range(tree.n_leaves), 3)
        for row in permutations(three)
        if row[0] < row[1] and tree.satisfies([row])[0]
    ]
    return np.array(rows, np.int32)


def slow_satisfied(w, rows):
    """By clades: some node has a and b below it and not c."""

    def clade(v):
        if w.node[v, LEFT] < 0:
            return {int(v)}
        return clade(int(w.node[v, LEFT])) | clade(int(w.node[v, LEFT + 1]))

    clades = [clade(v) for v in range(w.node.shape[0])]
    return [any(a in s and b in s and c not in s for s in clades) for a, b, c in rows.tolist()]


def below(w, v):
    if w.node[v, LEFT] < 0:
        return {int(v)}
    return {int(v)} | below(w, int(w.node[v, LEFT])) | below(w, int(w.node[v, LEFT + 1]))


def places(tree, rows, subtree, rng, beta=None, statements=False):
    """``(branch, legal, kernel's answer, violated weight, kernel's)`` for every branch of R.

    Also, in the kernel's answer: that a time is admissible there, which a legal branch need not
    have.
    """
    w = chain(tree, rng, dims=1, triplets=rows, beta=beta, statements=statements)
    node, time, tally = w.node, w.time, w.tally
    parent = int(node[subtree, PARENT])
    above = int(node[parent, PARENT])
    sibling = detach(node, subtree, parent)
    root = sibling if above < 0 else int(tally[ROOT])
    found = gather_rules(w, subtree)
    top, floor = legal_region(node, time, tally, w.active_triplets, found, root)
    limit = float(time[subtree, U])
    for branch in sorted(below(w, root)):
        over = int(node[branch, PARENT])
        begin = float(time[over, U]) if over >= 0 else 0.0
        end = min(float(time[branch, U]), limit)
        u = begin + (min(end, begin + 1.0) - begin) * rng.uniform(0.1, 0.9)
        x = branch
        while x >= 0 and x != top:
            x = int(node[x, PARENT])
        is_allowed = x >= 0
        if is_allowed:
            weight = log_weight(
                node, time, w.table, w.real, branch, u, top, node[subtree, SIZE], limit, floor
            )
            is_allowed = weight > -np.inf
        lost = violated_weight(node, tally, w.active_triplets, w.weight, found, branch)
        attach(node, subtree, parent, branch)
        holds = slow_satisfied(w, w.triplets)
        detach(node, subtree, parent)
        weight_lost = float(w.weight[~np.array(holds, bool)].sum()) if len(holds) else 0.0
        yield branch, all(holds), begin < end, is_allowed, weight_lost, lost


@pytest.mark.parametrize("statements", [False, True], ids=["triplets", "statements"])
@pytest.mark.parametrize("n", [3, 4, 5])
def test_every_tree_every_subtree_every_triplet(n, statements):
    """One triplet at a time, then all that the tree satisfies.

    The rules of single triplets also give the weight that a place loses.
    """
    rng = np.random.default_rng(n)
    compared = all_places = 0
    for tree in all_trees(n, binary=True):
        rows = every_triplet(tree)
        for chosen in [*(rows[i : i + 1] for i in range(len(rows))), rows]:
            for subtree in range(2 * n - 2):
                found = places(tree, chosen, subtree, rng, statements=statements)
                for _, legal, room, is_allowed, lost, kernel_lost in found:
                    assert is_allowed == (legal and room)
                    assert statements or lost == kernel_lost
                    compared += 1
            # with s leaves in the subtree, 2 (n - s) - 1 branches are left
            all_places += int((2 * (n - tree.size[:-1]) - 1).sum())
    assert compared == all_places


def test_trees_of_six_leaves_with_random_sets_of_triplets():
    rng = np.random.default_rng(6)
    trees = list(all_trees(6, binary=True))
    for index in range(0, len(trees), 4 if FAST else 20):
        rows = consistent_triplets(trees[index], int(rng.integers(1, 5)), rng)
        for subtree in range(10):
            for _, legal, room, is_allowed, lost, kernel_lost in places(
                trees[index], rows, subtree, rng
            ):
                assert is_allowed == (legal and room)
                assert lost == kernel_lost
            for _, legal, room, is_allowed, *_ in places(
                trees[index], rows, subtree, rng, statements=True
            ):
                assert is_allowed == (legal and room)


def test_soft_weights_count_what_a_place_changes():
    """Where the tree violates triplets, ``broken`` differs from the truth by one constant."""
    rng = np.random.default_rng(7)
    trees = list(all_trees(5, binary=True))
    for index in rng.choice(len(trees), 30, replace=False):
        rows = np.array([rng.choice(5, 3, replace=False) for _ in range(4)], np.int32)
        for subtree in range(8):
            found = places(trees[index], rows, subtree, rng, beta=1.0)
            gaps = [lost - kernel_lost for *_, lost, kernel_lost in found]
            assert np.ptp(gaps) == pytest.approx(0.0, abs=1e-12)


def test_violated_is_the_definition():
    rng = np.random.default_rng(8)
    for tree in list(all_trees(5, binary=True))[::7]:
        rows = np.array([rng.choice(5, 3, replace=False) for _ in range(6)], np.int32)
        w = chain(tree, rng, triplets=rows)
        assert count_violated(w) == int((~tree.satisfies(rows)).sum())


def test_stamps_that_run_out_lose_no_triplet():
    """They start over between two moves, never within one, where floors would be forgotten.

    From each of the last numbers, so that the end falls on every place of a move.
    """
    rng = np.random.default_rng(10)
    tree = random_tree(rng, 12)
    rows = consistent_triplets(tree, 6, rng)
    over = 0
    for short in range(80 if FAST else 12):
        for dims, beta in ((0, None), (2, None), (2, 1.0)):
            w = chain(tree, rng, dims=dims, triplets=rows, noise=0.1, beta=beta)
            w.tally[STAMP] = MAX_STAMP - short
            for _ in range(20 if FAST else 6):
                advance(w, rng, 4, 10**9, False, np.ones(dims), False)
                lost = int((~tree_of(w).satisfies(rows)).sum())
                assert count_violated(w) == lost
                assert lost == 0 or beta is not None
            assert log_joint(w) == pytest.approx(slow_log_joint(w), abs=1e-8)
            over += w.tally[STAMP] < MAX_STAMP - 80
    assert over > (200 if FAST else 20)


def test_a_walk_ends_only_where_it_may():
    rng = np.random.default_rng(9)
    for tree in list(all_trees(5, binary=True))[::5]:
        rows = consistent_triplets(tree, 3, rng)
        for subtree in range(8):
            w = chain(tree, rng, dims=1, triplets=rows)
            node, time, tally = w.node, w.time, w.tally
            parent = int(node[subtree, PARENT])
            above = int(node[parent, PARENT])
            sibling = detach(node, subtree, parent)
            root = sibling if above < 0 else int(tally[ROOT])
            found = gather_rules(w, subtree)
            top, floor = legal_region(node, time, tally, w.active_triplets, found, root)
            for _ in range(10):
                limit = time[subtree, U]
                branch, u = walk(node, time, w.real, rng, top, limit, floor)
                over = node[branch, PARENT]  # strictly inside the branch, and above S's own node
                assert (time[over, U] if over >= 0 else 0.0) < u < min(time[branch, U], limit)
                old = time[parent].copy()
                time[parent] = u, np.exp(-u)
                attach(node, subtree, parent, branch)
                tally[ROOT] = parent if node[parent, PARENT] < 0 else root
                made = tree_of(w)  # the Tree's invariants hold: heights fall toward the leaves
                assert made.satisfies(rows).all()
                detach(node, subtree, parent)
                time[parent] = old
            assert (node[:, FLOOR] == floor).sum() <= found


# ---------------------------------------------------------------------- statements


def slow_statements(rows):
    """For each c: sets of items that share a triplet are joined until no two share an item."""
    found = {}
    for c in {row[2] for row in rows}:
        sets = []
        for a, b, odd in rows:
            if odd == c:
                touched = [each for each in sets if each & {a, b}]
                sets = [each for each in sets if not each & {a, b}]
                sets.append({a, b}.union(*touched))
        for each in sets:
            found.setdefault(frozenset(each), set()).add(c)
    return {(group, frozenset(odd)) for group, odd in found.items()}


@pytest.mark.parametrize("seed", range(20))
def test_statements_are_those_of_connected_triplets(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    rows = [rng.permutation(n)[:3].tolist() for _ in range(int(rng.integers(0, 30)))]
    found = partial_clades(np.array(rows, np.int32).reshape(-1, 3))
    assert {(frozenset(a.tolist()), frozenset(b.tolist())) for a, b in found} == (
        slow_statements(rows)
    )
    assert all((np.diff(each) > 0).all() for pair in found for each in pair)


def test_a_statement_of_many_items_is_one():
    rows = np.concatenate([chain_triplets(range(50), odd) for odd in range(50, 150)])
    ((group, apart),) = partial_clades(rows)
    assert group.tolist() == list(range(50))
    assert apart.tolist() == list(range(50, 150))


@pytest.mark.parametrize("seed", range(30))
def test_statements_allow_what_their_triplets_allow(seed):
    """The legal branches by statements, and by each triplet."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    tree = random_tree(rng, n)
    rows = consistent_triplets(tree, int(rng.integers(1, 25)), rng)
    both = [chain(tree, rng, triplets=rows, statements=each) for each in (False, True)]
    assert [len(w.partial) > 0 for w in both] == [False, True]
    for subtree in range(2 * n - 2):
        found = []
        for w in both:
            parent = int(w.node[subtree, PARENT])
            sibling = int(detach(w.node, subtree, parent))
            root = sibling
            while w.node[root, PARENT] >= 0:
                root = int(w.node[root, PARENT])
            count = gather_rules(w, subtree)
            rules = w.active_triplets
            top, floor = legal_region(w.node, w.time, w.tally, rules, count, root)
            ends = {v for v in range(2 * n - 1) if w.node[v, FLOOR] == floor}
            found.append(
                {
                    v
                    for v in range(2 * n - 1)
                    if top in (up := ancestors(w, v)) and not ends & set(up[1 : up.index(top) + 1])
                }
            )
            attach(w.node, subtree, parent, sibling)
        assert found[0] == found[1]
