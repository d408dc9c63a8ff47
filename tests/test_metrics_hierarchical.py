"""Agreement level by level, HKM and HRC, against their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from hcviz import HcvizError, Tree, metrics
from hcviz.datasets import noisy_blocks
from tests.trees import all_trees, caterpillar, from_nested, random_tree


def plain_by_level(target, tree):
    """Share of the target's triplets at each depth of LCA(a, b, c) that the tree has."""
    kept = {}
    for a, b, c in itertools.permutations(range(target.n_leaves), 3):
        if a < b and target.satisfies([(a, b, c)])[0]:
            level = int(target.depth[target.lca(target.lca(a, b), c)])
            kept.setdefault(level, []).append(tree.satisfies([(a, b, c)])[0])
    return {level: np.mean(found) for level, found in kept.items()}


def compare_by_level(target, tree):
    found = metrics.triplet_agreement_by_level(target, tree)
    plain = plain_by_level(target, tree)
    assert {level for level, share in enumerate(found) if not math.isnan(share)} == set(plain)
    for level, share in plain.items():
        assert found[level] == pytest.approx(share)


def test_agreement_by_level_on_all_trees_of_four():
    trees = list(all_trees(4))
    for target, tree in itertools.product(trees, trees):
        compare_by_level(target, tree)


@pytest.mark.parametrize("case", range(20))
def test_agreement_by_level_on_random_trees(case):
    rng = np.random.default_rng(case)
    n = int(rng.integers(1, 13))
    compare_by_level(random_tree(rng, n, polytomies=True), random_tree(rng, n, polytomies=True))


def test_levels_show_what_the_overall_share_hides():
    """Within each pair of sibling blocks all items are shuffled: only the deepest level suffers."""
    data = noisy_blocks(640, 5, 0.0, seed=1)
    block = data.oracle.block.copy()
    mixed = np.random.default_rng(0).permutation(640)
    pairs = block // 2
    order = mixed[np.argsort(pairs[mixed], kind="stable")]
    block[order] = np.sort(block)  # within each pair of blocks anything goes
    from hcviz.datasets.blocks import block_tree

    other = block_tree(block, 5)
    found = metrics.triplet_agreement_by_level(data.target, other)
    assert np.all(found[:4] == 1.0)
    assert found[4] < 0.35
    assert math.isnan(metrics.triplet_agreement_by_level(data.target, other, 8)[7])
    assert len(metrics.triplet_agreement_by_level(data.target, other, 2)) == 2
    assert metrics.triplet_agreement_by_level(Tree.star(1), Tree.star(1)).shape == (0,)


def test_agreement_by_level_of_a_caterpillar():
    found = metrics.triplet_agreement_by_level(caterpillar(3000), caterpillar(3000))
    assert found.tolist() == [1.0] * 20


def clusters(tree):
    """The inner nodes of more than ln n leaves, as lists of leaves."""
    return [
        (v, tree.leaves(v).tolist())
        for v in range(tree.n_leaves, tree.n_nodes)
        if tree.size[v] > math.log(tree.n_leaves)
    ]


def plain_hkm(tree, x):
    """Equation (2)."""
    found = []
    for _, members in clusters(tree):
        centre = x[members].mean(axis=0)
        norms = [np.linalg.norm(x[j]) * np.linalg.norm(centre) for j in members]
        found.append(
            np.mean([x[j] @ centre / d if d else 0 for j, d in zip(members, norms, strict=True)])
        )
    return np.mean(found) if found else 0.0


def plain_hrc(tree, w):
    """Equation (3)."""
    found = []
    for v, members in clusters(tree):
        total = 0.0
        below = tree.children(v).tolist()
        if len(below) == 2 or any(u >= tree.n_leaves for u in below):
            for u in below:
                inside = set(tree.leaves(u).tolist())
                cut = sum(w[i, j] for i in inside for j in members if j not in inside)
                total += cut / (2 * len(inside))
        found.append(total)
    return np.mean(found) if found else 0.0


@pytest.mark.parametrize("case", range(25))
def test_hkm_and_hrc_match_their_equations(case):
    rng = np.random.default_rng(case)
    n = int(rng.integers(1, 30))
    tree = random_tree(rng, n, polytomies=case % 2 == 0)
    x = rng.normal(size=(n, 3))
    x[: case % 3] = 0.0
    w = rng.random((n, n))
    w += w.T
    assert metrics.hkm(tree, x) == pytest.approx(plain_hkm(tree, x))
    assert metrics.hrc(tree, w) == pytest.approx(plain_hrc(tree, w))


def test_hrc_of_a_star_is_0():
    w = np.ones((9, 9))
    assert metrics.hrc(Tree.star(9), w) == 0.0
    one = from_nested(((0, 1, 2, 3), (4, 5, 6, 7, 8)), 9)
    assert metrics.hrc(one, w) == pytest.approx((20 / 8 + 20 / 10) / 3)


def test_wrong_shapes_are_refused():
    with pytest.raises(HcvizError, match="4 leaves"):
        metrics.hkm(Tree.star(4), np.ones((3, 2)))
    with pytest.raises(HcvizError, match="finite"):
        metrics.hkm(Tree.star(2), [[np.nan], [1.0]])
    with pytest.raises(HcvizError, match="4 leaves"):
        metrics.hrc(Tree.star(4), np.ones((3, 3)))
    with pytest.raises(HcvizError, match="leaves"):
        metrics.triplet_agreement_by_level(Tree.star(3), Tree.star(4))
