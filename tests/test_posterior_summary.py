"""The summary tree against its definition: the best of all trees of sampled clades."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

import hcviz
from hcviz import Problem, Tree
from hcviz.core.errors import InvalidData
from hcviz.posterior import Posterior, summarytree
from hcviz.posterior.summary import DOUBT
from tests.trees import all_trees, from_nested, random_tree


def filled(trees):
    made = Posterior(trees[0].n_leaves)
    for k, tree in enumerate(trees):
        made.add(tree, -float(k))
    return made


def clades(tree):
    return {frozenset(c.tolist()) for c in tree.clades()} - {frozenset(range(tree.n_leaves))}


def splits(tree):
    """Each clade of the tree with the set of its children."""
    found = set()
    for v in range(tree.n_leaves, tree.n_nodes):
        below = np.flatnonzero(tree.parent == v)
        parts = frozenset(frozenset(tree.leaves(int(w)).tolist()) for w in below)
        found.add((frozenset(tree.leaves(v).tolist()), parts))
    return found


def credit(tree, trees):
    """The sum over clades of the log of the share of trees that have it."""
    sets = [clades(each) for each in trees]
    return sum(log(sum(clade in one for one in sets) / len(trees)) for clade in clades(tree))


@pytest.mark.parametrize("composed", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_summary_is_the_best_of_all_trees_of_sampled_clades(composed, seed):
    """All 945 binary trees on six items that consist of sampled clades (or sampled splits)."""
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 6) for _ in range(25)]
    seen = set().union(*map(clades, trees))
    ways = set().union(*map(splits, trees))
    allowed = [
        tree
        for tree in all_trees(6, binary=True)
        if (clades(tree) <= seen if composed else splits(tree) <= ways)
    ]
    best = max(credit(tree, trees) for tree in allowed)
    found = filled(trees).summary_tree(composed)
    assert credit(found, trees) == pytest.approx(best)
    assert (clades(found) <= seen) if composed else (splits(found) <= ways)


def test_the_summary_can_be_better_than_all_sampled_trees():
    """{0, 1} and {4, 5} are the best halves, and no sampled tree has both."""

    def pair(left, right):
        a, b = left
        c, d = right
        return from_nested((((a, b), 3 - a - b), ((c, d), 12 - c - d)), 6)

    trees = [pair((0, 1), (3, 4))] * 2 + [pair((1, 2), (4, 5))] * 2
    trees += [pair((0, 1), (3, 5)), pair((0, 2), (4, 5))]
    for composed in (True, False):
        found = filled(trees).summary_tree(composed)
        assert {frozenset({0, 1}), frozenset({4, 5})} < clades(found)
        assert credit(found, trees) > max(credit(tree, trees) for tree in trees)


def test_the_summary_is_at_least_as_credible_as_each_sampled_tree():
    problem = hcviz.datasets.load("zoo").problem()
    made = Posterior(problem.n_items)
    trees = []
    for snapshot in hcviz.run("ddt", problem, seed=1, steps=60_000):
        made.add_snapshot(snapshot)
        trees.append(snapshot.tree)

    def value(tree):
        return float(np.log(np.maximum(made.support(tree), 0.5 / len(trees))).sum())

    found, split = made.summary_tree(), made.summary_tree(composed=False)
    assert value(found) >= value(split) - 1e-9
    assert value(split) >= max(map(value, trees)) - 1e-9
    assert value(found) >= value(made.max_credibility()) - 1e-9
    assert found.is_binary
    assert np.all(found.height[found.parent[:-1]] >= found.height[:-1])


def test_the_summary_satisfies_hard_triplets():
    rng = np.random.default_rng(3)
    problem = Problem(features=rng.normal(size=(30, 3)))
    rows = []
    target = random_tree(rng, 30)
    while len(rows) < 12:
        a, b, c = rng.choice(30, 3, replace=False).tolist()
        if target.satisfies([[a, b, c]])[0]:
            rows.append([a, b, c])
    made = Posterior(30)
    for snapshot in hcviz.run("ddt", problem.with_triplets(rows), seed=2, steps=20_000):
        made.add_snapshot(snapshot)
    for composed in (True, False):
        assert made.summary_tree(composed).satisfies(rows).all()


def test_trees_with_polytomies_and_a_single_tree():
    trees = [random_tree(np.random.default_rng(k), 9, polytomies=True) for k in range(30)]
    found = filled(trees).summary_tree()
    assert found.n_leaves == 9
    assert clades(found) <= set().union(*map(clades, trees))
    assert filled(trees[:1]).summary_tree() == trees[0] or clades(trees[0]) == clades(
        filled(trees[:1]).summary_tree()
    )


def test_heights_are_the_means_of_the_clades():
    trees = [
        Tree([3, 3, 4, 4, -1], [0, 0, 0, 0.2, 1.0], 3),
        Tree([3, 3, 4, 4, -1], [0, 0, 0, 0.4, 2.0], 3),
    ]
    found = filled(trees).summary_tree()
    assert found.height[3:] == pytest.approx([0.3, 1.5])


def test_with_few_candidates_the_summary_has_sampled_splits(monkeypatch):
    trees = [random_tree(np.random.default_rng(k), 20) for k in range(40)]
    full = filled(trees)
    monkeypatch.setattr(summarytree, "MAX_CANDIDATES", 3)
    few = full.summary_tree()
    assert credit(few, trees) >= credit(full.summary_tree(composed=False), trees) - 1e-9


def test_without_trees_there_is_an_error():
    with pytest.raises(InvalidData, match="No tree has been sampled"):
        Posterior(4).summary_tree()


def favoured(tree, trees, before, number):
    """``credit``, with the supports of ``before``'s clades 3 standard errors higher."""
    sets = [clades(each) for each in trees]
    total = 0.0
    for clade in clades(tree):
        share = sum(clade in one for one in sets) / len(trees)
        counted = max(share, 0.5 / len(trees))
        if clade in clades(before):
            p = max(share, 1.0 / number)
            counted += 3.0 * sqrt(p * (1.0 - p) / number)
        total += log(counted)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_before_supplies_clades_and_is_favoured(seed, monkeypatch):
    """The best of the 945 trees whose clades were sampled, or are those of the tree before."""
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 6) for _ in range(25)]
    before = random_tree(rng, 6)
    posterior = filled(trees)
    doubtful = any(DOUBT < share < 1 - DOUBT for share in posterior.support(before))
    number = 12.0 if doubtful else 25.0
    monkeypatch.setattr(Posterior, "support_sizes", lambda self, tree, nodes: 12.0 + 0 * nodes)
    seen = clades(before).union(*map(clades, trees))
    allowed = [tree for tree in all_trees(6, binary=True) if clades(tree) <= seen]
    best = max(favoured(tree, trees, before, number) for tree in allowed)
    found = posterior.summary_tree(before=before)
    assert favoured(found, trees, before, number) == pytest.approx(best)
    assert clades(found) <= seen


def test_many_draws_outweigh_the_tree_before():
    """0 and 1 are together in 60 % of the draws, 1 and 2 in 40 %. 20 draws cannot tell; 2,000 can.

    The draws are independent, so their effective number is about their number. The margin of .4 is
    about .33 in 20 draws and .033 in 2,000, so .6 is below it in the first case alone.
    """
    rng = np.random.default_rng(0)
    left, right = from_nested(((0, 1), 2), 3), from_nested((0, (1, 2)), 3)
    for draws, kept in ((20, True), (2_000, False)):
        drawn = rng.permutation(draws) < 0.6 * draws
        posterior = filled([left if one else right for one in drawn])
        assert clades(posterior.summary_tree()) == clades(left)
        assert (clades(posterior.summary_tree(before=right)) == clades(right)) == kept
        assert clades(posterior.summary_tree(before=left)) == clades(left)


def test_clades_of_the_tree_before_alone_have_its_heights():
    trees = [
        Tree([4, 5, 5, 4, 6, 6, -1], [0, 0, 0, 0, 0.2, 0.3, 1.0], 4),
        Tree([4, 5, 4, 5, 6, 6, -1], [0, 0, 0, 0, 0.2, 0.3, 1.0], 4),
        from_nested((((0, 1), 2), 3), 4),
    ]
    trees[2] = Tree(trees[2].parent, [0, 0, 0, 0, 0.2, 0.6, 1.0], 4)
    before = Tree([4, 4, 5, 5, 6, 6, -1], [0, 0, 0, 0, 0.25, 0.5, 3.0], 4)
    found = filled(trees).summary_tree(before=before)
    assert clades(found) == clades(before)  # three draws say little
    # {0, 1} and all items have the mean of the draws that have them, {2, 3} that of the tree before
    assert sorted(found.height[4:]) == pytest.approx([0.2, 0.5, 1.0])


def test_a_constraint_changes_only_related_clades():
    """Nearly equal items: hardly any clade has support. Without the tree before, one answer
    changes 60 % of them or more; with it, 15 % at most."""
    rng = np.random.default_rng(2)
    problem = Problem(features=rng.normal(size=(40, 3)))
    tree = hcviz.fit("ddt", problem)
    clade = tree.leaves(int(np.flatnonzero((tree.size >= 3) & (tree.size <= 5))[0]))
    a, b, c = clade[:3].tolist()
    row = next(r for r in ([a, b, c], [a, c, b], [b, c, a]) if not tree.satisfies([r])[0])
    after = hcviz.fit("ddt", problem.with_triplets([row]))
    assert after.satisfies([row]).all()
    assert len(clades(tree) - clades(after)) <= 0.15 * len(clades(tree))
    from_it = hcviz.fit("ddt", problem.with_triplets([row]), start=tree)
    assert len(clades(tree) - clades(from_it)) >= 0.4 * len(clades(tree))


def test_the_tree_before_must_be_binary():
    """A polytomy has fewer clades, so fewer supports below 1: it would always win."""
    rng = np.random.default_rng(1)
    posterior = filled([random_tree(rng, 8) for _ in range(30)])
    star = Tree([8] * 8 + [-1], [0.0] * 8 + [1.0], 8)
    with pytest.raises(InvalidData, match="must be binary"):
        posterior.summary_tree(before=star)
