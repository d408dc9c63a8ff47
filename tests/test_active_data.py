"""The generators of Krishnamurthy et al.'s (2012) simulations: noisy blocks and phylogenies."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from hcviz import Problem, metrics
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import INVARIANTS
from hcviz.datasets import Dataset, noisy_blocks, phylogeny
from hcviz.datasets.kernels import normal_quantile
from hcviz.datasets.phylogeny import ALPHABET, evolve, random_phylogeny_tree


def everyone(data):
    return np.arange(data.n_items, dtype=np.int32)


@pytest.mark.parametrize(("n", "levels"), [(2, 1), (8, 3), (13, 2), (40, 3), (41, 4)])
def test_ideal_similarities_are_depths_in_the_target(n, levels):
    data = noisy_blocks(n, levels, 0.0, seed=n)
    matrix = data.oracle.similarity(everyone(data), everyone(data))
    for i, j in itertools.combinations(range(n), 2):
        node = data.target.lca(i, j)
        depth = min(int(data.target.depth[node]), levels)
        assert matrix[i, j] == matrix[j, i] == depth / levels
    assert np.all(np.diagonal(matrix) == 1.0)
    sizes = np.bincount(data.oracle.block)
    assert len(sizes) == 2**levels
    assert sizes.max() - sizes.min() <= 1
    for invariant, fault in INVARIANTS:
        assert fault(data.target) is None, invariant
    assert len(set(data.classes)) == 2**levels


def test_noise_is_normal_and_the_pair_s_own():
    """Kolmogorov and Smirnov at p > 1e-4: one seed in ten thousand would fail."""
    data = noisy_blocks(500, 2, 0.5, seed=4)
    ideal = noisy_blocks(500, 2, 0.0, seed=4).oracle
    matrix = data.oracle.similarity(everyone(data), everyone(data))
    assert np.array_equal(matrix, matrix.T)
    rows, cols = np.random.default_rng(0).permutation(500)[:20], np.arange(7)
    assert np.array_equal(data.oracle.similarity(rows, cols), matrix[np.ix_(rows, cols)])
    noise = (matrix - ideal.similarity(everyone(data), everyone(data)))[np.triu_indices(500, 1)]
    assert kstest(noise / 0.5, "norm").pvalue > 1e-4
    # Rows are independent of each other: correlations of 500 values have deviation 0.045.
    table = matrix - ideal.similarity(everyone(data), everyone(data))
    apart = np.corrcoef(table[:10, 20:])[np.triu_indices(10, 1)]
    assert np.abs(apart).max() < 0.25
    other = noisy_blocks(500, 2, 0.5, seed=5).oracle.similarity(everyone(data), everyone(data))
    assert abs(np.corrcoef(table[0, 1:], other[0, 1:])[0, 1]) < 0.25


def test_the_normal_quantile():
    from scipy.special import ndtri

    p = np.concatenate([10.0 ** -np.arange(1, 17), np.linspace(0.001, 0.999, 999)])
    np.testing.assert_allclose([normal_quantile(x) for x in p], ndtri(p), rtol=1e-13, atol=1e-15)


def test_blocks_in_order_and_what_cannot_be():
    assert np.all(np.diff(noisy_blocks(20, 2, 0.1, shuffled=False).oracle.block) >= 0)
    for wrong in ({"n": 3, "levels": 2}, {"sigma": -1.0}, {"sigma": np.inf}, {"levels": 0}):
        with pytest.raises(InvalidParameter):
            noisy_blocks(**{"n": 64, "levels": 2, **wrong})


def test_oracles_travel_and_make_problems():
    data = noisy_blocks(30, 2, 0.2)
    again = pickle.loads(pickle.dumps(data.oracle))
    assert np.array_equal(again.similarity([1, 2], [3]), data.oracle.similarity([1, 2], [3]))
    assert data.problem().oracle is data.oracle
    assert Dataset.from_problem(Problem(oracle=data.oracle)).oracle is data.oracle
    with pytest.raises(InvalidData, match="oracle of 30"):
        Dataset("x", "X", labels=("a", "b"), oracle=data.oracle)


@pytest.mark.parametrize("balance", [0.5, 1.0, np.inf])
@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_histories_are_ultrametric_binary_trees(n, balance):
    tree = random_phylogeny_tree(np.random.default_rng(n), n, 0.7, balance)
    assert tree.is_binary
    assert tree.height[-1] == pytest.approx(0.7 if n > 1 else 0.0)
    size = tree.size[n:]
    np.testing.assert_allclose(tree.height[n:], 0.7 * np.log(size) / np.log(max(n, 2)))
    if balance == np.inf and n > 1:
        assert abs(np.diff(tree.size[tree.children(tree.root)])[0]) <= 1


def test_sequences_evolve_by_jukes_and_cantor():
    """Shares of changed sites of 200,000: standard error 0.0011 at most, five of them allowed."""
    rng = np.random.default_rng(0)
    start = rng.choice(ALPHABET, 200_000)
    for time in (0.0, 0.1, 1.0):
        end = evolve(rng, start, time, 0.0)
        changed = (end != start).mean()
        assert changed == pytest.approx(0.75 * (1 - np.exp(-4 * time / 3)), abs=0.0055)
    moved = end[(start == ALPHABET[0]) & (end != start)]
    shares = np.bincount(np.searchsorted(ALPHABET, moved), minlength=4) / len(moved)
    assert shares[0] == 0.0
    np.testing.assert_allclose(shares[1:], 1 / 3, atol=0.02)
    longer = evolve(rng, start[:500], 1.0, 0.5)
    assert set(longer.tolist()) <= set(ALPHABET.tolist())


def test_a_phylogeny_is_near_its_tree():
    """Close pairs are more alike: average linkage of the similarities finds most of the tree."""
    import hcviz

    data = phylogeny(60, length=500, depth=0.5, balance=8.0, seed=2)
    matrix = data.oracle.similarity(range(60), range(60))
    tree = hcviz.fit("average", Problem(similarity=matrix))
    assert metrics.triplet_distance(data.target, tree) < 0.05
    assert metrics.triplet_distance(data.target, hcviz.fit("random-cut", Problem(
        similarity=matrix))) > 0.5  # fmt: skip
    again = phylogeny(60, length=500, depth=0.5, balance=8.0, seed=2)
    assert again.oracle.strings == data.oracle.strings
    with pytest.raises(InvalidParameter):
        phylogeny(10, depth=-1.0)
    with pytest.raises(InvalidParameter):
        phylogeny(10, balance=0.0)
    assert phylogeny(1).oracle.similarity([0], [0]).item() == 1.0
