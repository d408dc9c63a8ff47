"""CRSC and the spectral sweep cut against a plain version of both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hcviz
from hcviz import InconsistentTriplets, Problem, Tree, metrics
from hcviz.core import spectral, spectralkernels
from hcviz.core.build import aho_components
from hcviz.core.errors import InvalidData
from hcviz.core.similarity import cosine, cosine_zscored
from tests.trees import random_tree

#: Ratios closer than this count as equal, and the more balanced cut is taken.
TIE = 1e-6


def finish(work):
    """The value that a generator of places to stop returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def random_graph(rng, k, noise=1.0):
    """Dense positive weights with two loose blocks, so that the eigenvector is not degenerate."""
    side = rng.random(k) < 0.5
    weights = np.where(side[:, None] == side[None], 2.0, 1.0) + noise * rng.random((k, k))
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    return weights


def normalised(weights):
    scale = 1 / np.sqrt(weights.sum(axis=1))
    return scale[:, None] * weights * scale[None]


def slow_sweep(weights, sizes):
    """All prefixes of the order by numpy's second eigenvector, each cut summed again."""
    vector = np.linalg.eigh(normalised(weights))[1][:, -2]
    order = np.argsort(vector, kind="stable")
    found = []
    for k in range(1, len(order)):
        inside = np.zeros(len(order), bool)
        inside[order[:k]] = True
        product = sizes[inside].sum() * sizes[~inside].sum()
        found.append((weights[inside][:, ~inside].sum() / product, product, inside))
    least = min(ratio for ratio, _, _ in found)
    return max((f for f in found if f[0] <= least * (1 + TIE)), key=lambda f: f[1])


def slow_crsc(similarity, rows):
    """Chatziafratis et al.'s (2018) recursion, with sets and numpy; the clades."""
    weights = similarity - np.diag(np.diag(similarity))
    found, waiting = set(), [list(range(len(weights)))]
    while waiting:
        items = waiting.pop()
        if len(items) == 1:
            continue
        found.add(frozenset(items))
        blocks = aho_components(items, rows)
        graph = np.array([[weights[np.ix_(p, q)].sum() for q in blocks] for p in blocks])
        np.fill_diagonal(graph, 0.0)
        sizes = np.array([len(block) for block in blocks])
        inside = np.array([True, False])
        if len(blocks) > 2:
            inside = slow_sweep(graph, sizes)[2]
        for side in (True, False):
            chosen = [b for b, there in zip(blocks, inside, strict=True) if there == side]
            waiting.append(sorted(np.concatenate(chosen).tolist()))
    return found


def clades(tree):
    return {frozenset(clade.tolist()) for clade in tree.clades()}


def triplets_of(tree, rng, count):
    draws = np.array([rng.choice(tree.n_leaves, 3, replace=False) for _ in range(count)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return rows[tree.satisfies(rows)]


# ---------------------------------------------------------------------- the cut


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 30))
def test_the_cut_is_the_best_of_all_prefixes(seed, k):
    rng = np.random.default_rng(seed)
    weights, sizes = random_graph(rng, k), rng.integers(1, 5, k)
    side = finish(spectral.sweep_cut(weights, sizes))
    best, _, inside = slow_sweep(weights, sizes)
    ratio = weights[side][:, ~side].sum() / (sizes[side].sum() * sizes[~side].sum())
    assert ratio == pytest.approx(best, rel=2 * TIE)
    assert np.array_equal(side, inside) or np.array_equal(side, ~inside)


@pytest.mark.parametrize("k", [40, 300])
def test_lanczos_finds_the_second_eigenvector(k):
    weights = random_graph(np.random.default_rng(k), k)
    degree = spectralkernels.degrees(weights)
    if k <= spectralkernels.SMALL_GRAPH:
        vector, tolerance = spectralkernels.exact_vector(weights, degree), 1e-7
    else:  # float32
        vector = finish(spectral.second_vector(weights.astype(np.float32), degree))
        tolerance = 1e-3
    values, vectors = np.linalg.eigh(normalised(weights))
    assert values[-2] - values[-3] > 0.05  # else the vector is not determined
    overlap = abs(vectors[:, -2] @ vector) / np.linalg.norm(vector)
    assert overlap == pytest.approx(1.0, abs=tolerance)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_top_of_a_tridiagonal(seed, m):
    rng = np.random.default_rng(seed)
    alpha, beta = rng.normal(size=m), rng.normal(size=m)
    beta[rng.random(m) < 0.1] = 0.0
    matrix = np.diag(alpha) + np.diag(beta[: m - 1], 1) + np.diag(beta[: m - 1], -1)
    vector = spectralkernels.top_of_tridiagonal(alpha, beta, m)
    top = np.linalg.eigvalsh(matrix)[-1]
    assert np.linalg.norm(vector) == pytest.approx(1.0)
    assert np.linalg.norm(matrix @ vector - top * vector) < 1e-8


@pytest.mark.parametrize("k", [20, 200])
def test_a_graph_in_pieces_is_cut_between_them(k):
    block = np.arange(k) % 4
    weights = (block[:, None] == block[None]) * 1.0 - np.eye(k)
    side = finish(spectral.sweep_cut(weights, np.ones(k, np.int64)))
    assert weights[side][:, ~side].sum() == 0
    assert side.sum() == k // 2  # two of the four pieces


@pytest.mark.parametrize("k", [5, 64, 200])
def test_where_all_is_alike_the_halves_are_equal(k):
    weights = np.ones((k, k)) - np.eye(k)
    side = finish(spectral.sweep_cut(weights, np.ones(k, np.int64)))
    assert abs(2 * side.sum() - k) <= 1


# ---------------------------------------------------------------------- the recursion


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 26), st.integers(0, 12))
def test_crsc_is_the_plain_recursion(seed, n, n_triplets):
    rng = np.random.default_rng(seed)
    similarity = random_graph(rng, n, noise=3.0)
    rows = (
        triplets_of(random_tree(rng, n), rng, n_triplets)
        if n > 2 and n_triplets
        else np.empty((0, 3), int)
    )
    tree = hcviz.fit("crsc", Problem(similarity=similarity, triplets=rows))
    assert clades(tree) == slow_crsc(similarity, rows)
    assert tree.is_binary
    assert np.array_equal(tree.height, tree.size - 1.0)


def test_the_large_path_is_the_plain_recursion_too():
    # 200 items: Lanczos in float32 and chunked sums first, one compiled call for the small sets.
    rng = np.random.default_rng(1)
    where = np.repeat([[0, 0], [0, 6], [7, 0], [9, 7]], 50, axis=0) + rng.normal(size=(200, 2))
    apart = np.linalg.norm(where[:, None] - where[None], axis=2)
    similarity = np.exp(-apart / 4)
    rows = triplets_of(random_tree(rng, 200), rng, 6)
    tree = hcviz.fit("crsc", Problem(similarity=similarity, triplets=rows))
    assert tree.satisfies(rows).all()
    plain = slow_crsc(similarity, rows)
    # float32 may order two nodes otherwise near the cut: the large clades must be the same.
    large = {clade for clade in plain if len(clade) > 40}
    assert large <= clades(tree)


def zoo(kind):
    features = hcviz.datasets.load("zoo").features
    if kind is cosine:  # the paper's 100 animals: the first of the two frogs dropped
        names = list(hcviz.datasets.load("zoo").labels)
        frog = next(i for i, name in enumerate(names) if name.startswith("frog"))
        features = np.delete(features, frog, axis=0)
    return kind(features)


@pytest.mark.parametrize(
    ("similarity", "cost"),
    # Figures of an independent implementation in numpy and scipy.
    [(lambda: zoo(cosine), 171290.15), (lambda: zoo(cosine_zscored), 140388.9),
     (lambda: cosine_zscored(hcviz.datasets.load("iris").features), 400409.0)],
    ids=["zoo-100", "zoo-101", "iris"],
)  # fmt: skip
def test_costs_known_from_elsewhere(similarity, cost):
    matrix = similarity()
    matrix = (matrix + matrix.T) / 2
    tree = hcviz.fit("crsc", Problem(similarity=matrix))
    # Ties between identical animals move the value by about 10.
    assert metrics.dasgupta_cost(tree, matrix) == pytest.approx(cost, abs=12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_items(n):
    problem = Problem(similarity=np.ones((n, n)))
    last = list(hcviz.run("crsc", problem))[-1]
    assert last.tree.is_binary
    assert last.step == last.total
    if n == 3:
        assert hcviz.fit("crsc", problem.with_triplets([[0, 2, 1]])).satisfies([[0, 2, 1]]).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_data_without_information_give_a_shallow_tree(value):
    tree = hcviz.fit("crsc", Problem(similarity=np.full((100, 100), value)))
    assert tree.depth.max() <= 10


def test_items_in_separate_worlds():
    worlds = np.kron(np.eye(3), np.ones((4, 4)))
    tree = hcviz.fit("crsc", Problem(similarity=worlds, triplets=[[0, 11, 1]]))
    assert tree.satisfies([[0, 11, 1]]).all()
    assert frozenset(range(4, 8)) in clades(tree)


def test_contradictions_are_refused_before_anything_runs():
    problem = Problem(similarity=np.ones((4, 4)), triplets=[[0, 1, 2], [2, 3, 0], [0, 2, 1]])
    with pytest.raises(InconsistentTriplets) as caught:
        hcviz.run("crsc", problem)
    assert caught.value.conflict == (0, 2)


def test_negative_similarities_are_refused_or_shifted():
    similarity = np.eye(5) + 0.5
    similarity[1, 3] = similarity[3, 1] = -0.25
    problem = Problem(similarity=similarity, labels=list("abcde"))
    with pytest.raises(InvalidData, match=r"row 1, column 3 \(b and d\) is -0.25"):
        hcviz.run("crsc", problem)
    shifted = hcviz.fit("crsc", problem, shift=True)
    same = Problem(similarity=similarity + 0.25 * (1 - np.eye(5)))
    assert clades(shifted) == clades(hcviz.fit("crsc", same))


def test_a_negative_diagonal_or_rounding_is_no_reason_to_refuse():
    similarity = np.ones((4, 4)) - 5 * np.eye(4)
    similarity[0, 1] = similarity[1, 0] = -1e-17
    hcviz.fit("crsc", Problem(similarity=similarity))


def test_a_click_shows_a_satisfying_tree_at_once_and_streams_others():
    rng = np.random.default_rng(5)
    n = 300
    problem = Problem(features=rng.normal(size=(n, 6)))
    before = hcviz.fit("crsc", problem)
    a, b, c = next(
        p for p in rng.permuted(np.tile(np.arange(n), (99, 1)), axis=1)[:, :3].tolist()
        if not before.satisfies([p])[0]
    )  # fmt: skip
    after = list(hcviz.run("crsc", problem.with_triplets([[a, b, c]]), start=before))
    assert after[0].step == 0
    assert metrics.clade_changes(before, after[0].tree).kept > n / 2
    assert len(after) > 4
    assert all(snapshot.tree.satisfies([[a, b, c]])[0] for snapshot in after)
    # Where the run began does not decide where it ends.
    assert after[-1].tree == hcviz.fit("crsc", problem.with_triplets([[a, b, c]]))
    assert after[-1].metrics["cost"] == pytest.approx(
        metrics.dasgupta_cost(after[-1].tree, problem.similarity_or_default)
    )


def test_unfinished_sets_show_what_the_triplets_ask():
    rng = np.random.default_rng(8)
    n = 260
    truth = random_tree(rng, n)
    rows = triplets_of(truth, rng, 400)
    problem = Problem(features=rng.normal(size=(n, 4)), triplets=rows)
    for start in (None, Tree.star(n), random_tree(rng, n)):
        shown = list(hcviz.run("crsc", problem, start=start))
        assert len(shown) > 3
        assert all(snapshot.tree.satisfies(rows).all() for snapshot in shown)
