"""Sets that must not be clades in the sampler: the rules of a move, and the law of the chain.

The rules are compared with the definition on all positions. The chain is compared with the exact
law of the prior, filtered by rejection, and with data with a filtered chain without the sets.
"""

from __future__ import annotations

from functools import cache

import numba
import numpy as np
import pytest
from scipy import stats

import hcviz
from hcviz import Problem
from hcviz.algorithms.ddt.avoided import gather_barred, is_barred, lowest_start
from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.moves import attach, detach
from hcviz.algorithms.ddt.start import tree_of
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import GIVEN, PARENT, SLIDES
from hcviz.core.errors import InconsistentTriplets, InvalidConstraint
from tests.ddtslow import LIMIT, MOVES, ancestors, chain, law, nested, z_score
from tests.trees import all_trees, random_tree

FAST = not numba.config.DISABLE_JIT
#: Batches of draws for a standard error.
BATCHES = 40 if FAST else 8


def random_sets(rng, n, count):
    """Random sets of 2 to n - 1 items."""
    sizes = rng.integers(2, n, size=count)
    return [np.sort(rng.choice(n, size, replace=False)).tolist() for size in sizes]


@pytest.mark.parametrize("seed", range(8))
def test_a_position_is_barred_if_and_only_if_it_makes_the_clade(seed):
    rng = np.random.default_rng(seed)
    rules = 0
    for _ in range(60 if FAST else 6):
        n = int(rng.integers(4, 9))
        tree = random_tree(rng, n)
        clade = tree.leaves(int(rng.integers(n, tree.n_nodes - 1)))
        near = np.setxor1d(clade, rng.choice(n, 1))  # one item more or less than a clade
        near = near if 2 <= near.size < n else clade
        sets = [each for each in [*random_sets(rng, n, 3), near] if not tree.has_clade(each)]
        w = chain(tree, rng, dims=0, not_groups=sets)
        for subtree in rng.permutation(2 * n - 2).tolist():
            parent = int(w.node[subtree, PARENT])
            sibling = int(detach(w.node, subtree, parent))
            pruned = {subtree, *(x for x in range(2 * n - 1) if subtree in ancestors(w, x))}
            root = ancestors(w, sibling)[-1]
            found = gather_barred(w, subtree)
            rules += found
            start = int(lowest_start(w, found, root))
            for branch in range(2 * n - 1):
                if branch in pruned or branch == parent:
                    continue
                barred = bool(is_barred(w, found, branch))
                attach(w.node, subtree, parent, branch)
                made = shape_tree(w)
                detach(w.node, subtree, parent)
                assert barred == any(made.has_clade(each) for each in sets)
                if not barred:
                    assert start in ancestors(w, branch)
            attach(w.node, subtree, parent, sibling)
    assert rules > 20 if FAST else rules


def shape_tree(w):
    """The tree of the kernel's parents, without its times."""
    children, n = {}, w.data.shape[0]
    for v in range(2 * n - 1):
        children.setdefault(int(w.node[v, PARENT]), []).append(v)
    order = []

    def visit(v):
        if v >= n:
            for child in children[v]:
                visit(child)
            order.append(v)

    visit(children[-1][0])
    name = {v: n + k for k, v in enumerate(order)} | {v: v for v in range(n)}
    return hcviz.Tree.from_children([[name[c] for c in children[v]] for v in order], n)


@cache
def trees_of(n):
    return list(all_trees(n, binary=True))


@cache
def shape(tree):
    return nested(chain(tree, np.random.default_rng(0), dims=0))


def drawn_case(seed):
    """Items, triplets, groups and sets to avoid that one of the trees satisfies."""
    rng = np.random.default_rng(seed)
    n = 4 + seed % 2
    while True:
        sets = random_sets(rng, n, int(rng.integers(1, 4)))
        rows = [rng.permutation(n)[:3].tolist() for _ in range(seed % 3)]
        groups = random_sets(rng, n, 1) if seed % 4 == 3 else []
        kept = [
            tree
            for tree in trees_of(n)
            if tree.satisfies(rows, groups).all() and not any(map(tree.has_clade, sets))
        ]
        if len(kept) > 1:
            return rng, n, rows, groups, sets, kept


@pytest.mark.parametrize("moves", list(MOVES))
@pytest.mark.parametrize("seed", range(8))
def test_the_chain_has_the_filtered_law(seed, moves):
    """Tolerance: as for the classes of triplets, 5 standard errors for some 500 comparisons."""
    rng, n, rows, groups, sets, kept = drawn_case(seed)
    whole = law(frozenset(range(n)))
    mass = sum(whole[shape(tree)] for tree in kept)
    w = chain(kept[0], rng, dims=0, triplets=rows, groups=groups, not_groups=sets)
    w.tally[SLIDES] = MOVES[moves]
    shapes = []
    for _ in range(3_000 if FAST else 80):
        advance(w, rng, 12, 3 * n, False, np.empty(0), False)
        shapes.append(nested(w))
    expected = {shape(tree): float(whole[shape(tree)] / mass) for tree in kept}
    assert set(shapes) <= set(expected)
    common = {s: p for s, p in expected.items() if p * len(shapes) >= 20}
    most = stats.t.isf(stats.norm.sf(LIMIT + 0.5), BATCHES - 1)
    for s, p in common.items():
        if p < 1 - 1e-9:
            assert abs(z_score([x == s for x in shapes], p, BATCHES)) < most


@pytest.mark.parametrize("latents", [False, True], ids=["integrated", "given"])
def test_with_data_the_chain_has_the_filtered_law(latents):
    """Clade frequencies beside those of a free chain without the draws that have a clade to avoid.

    Tolerance: 5 standard errors of the difference, each error by 40 batch means.
    """
    n, count = 6, 20_000 if FAST else 100
    data = np.random.default_rng(5).normal(size=(n, 2))
    sets = [[0, 1], [2, 3, 4]]
    start = next(t for t in trees_of(n) if not any(map(t.has_clade, sets)))
    found = []
    for avoided in (sets, []):
        rng = np.random.default_rng(8)
        w = chain(start, rng, data=data, noise=0.1, not_groups=avoided)
        w.sigma[:] = 1.0
        if latents:
            w.tally[GIVEN] = 1
            draw_locations(w, rng)
        draws = []
        for _ in range(count):
            advance(w, rng, n, n, False, np.ones(2), False)
            tree = tree_of(w)
            if not avoided and any(map(tree.has_clade, sets)):
                continue
            draws.append(clades(tree))
        found.append(draws)
    assert all(not {frozenset(s) for s in sets} & each for each in found[0])
    named = set().union(*found[0], *found[1])
    for clade in named:
        (first, error), (second, other) = (mean_of([clade in x for x in draws]) for draws in found)
        assert abs(first - second) <= 5 * np.hypot(error, other) + (0 if FAST else 1)


def clades(tree):
    return {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)}


def mean_of(values):
    size = len(values) // BATCHES
    means = np.asarray(values[: size * BATCHES], float).reshape(BATCHES, size).mean(axis=1)
    return means.mean(), means.std(ddof=1) / np.sqrt(BATCHES)


# ---------------------------------------------------------------------- the public calls


def planted(seed=0):
    """Two clusters of six items."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(0, 0.3, (6, 2)), rng.normal(3, 0.3, (6, 2))])


@pytest.mark.parametrize("params", [{}, {"latents": "gibbs"}, {"repair": "rebuild"}, {"beta": 1.0}])
def test_no_tree_of_a_run_has_the_clades(params):
    """The clusters themselves, which the data suggest, and groups and triplets beside them."""
    features = planted()
    sets = [range(6), range(6, 12)]
    start = hcviz.fit("average", features)
    assert all(start.has_clade(each) for each in sets)
    problem = Problem(features=features, not_groups=sets, groups=[[0, 1, 2]], triplets=[[3, 4, 11]])
    for snapshot in hcviz.run("ddt", problem, start=start, steps=2_000, every=50, **params):
        assert not any(snapshot.tree.has_clade(each) for each in sets)
    assert not any(map(hcviz.fit("ddt", problem, steps=2_000, **params).has_clade, sets))


def test_other_methods_refuse_and_name_one_that_can():
    problem = Problem(features=planted(), not_groups=[range(6)])
    with pytest.raises(InvalidConstraint, match="Average linkage cannot keep"):
        hcviz.fit("average", problem)
    assert hcviz.fit("average", problem.with_not_groups(())).has_clade(range(6))


def test_a_contradiction_is_reported_before_the_run():
    problem = Problem(features=planted(), not_groups=[range(6)], groups=[range(6)])
    with pytest.raises(InconsistentTriplets, match="is not a clade"):
        hcviz.fit("ddt", problem, steps=100)
