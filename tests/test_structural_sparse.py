"""Sparse similarities: kept sparse, cut as the same dense ones are, refused with sentences."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array

import hcviz
from hcviz import Problem, metrics
from hcviz.algorithms.structural import cutkernels, sparse, sparsekernels
from hcviz.core import problem as problems
from hcviz.core import spectralkernels
from hcviz.core.errors import InvalidData, TooLarge
from tests.trees import random_tree

METHODS = ("crsc", "crbc", "hrsc")


def graph_of(rng, n, degree=6, pieces=1):
    """A random sparse graph, csr, in ``pieces`` components at least; neighbours weigh more."""
    rows = np.repeat(np.arange(n), degree)
    columns = (rows + rng.geometric(min(1.0, 4 / n + 0.05), rows.size)) % n
    keep = (rows != columns) & (rows * pieces // n == columns * pieces // n)
    weights = 0.5 + rng.random(keep.sum())
    one = coo_array((weights, (rows[keep], columns[keep])), shape=(n, n)).tocsr()
    return one.maximum(one.T).tocsr()


def triplets_of(rng, n, count):
    tree = random_tree(rng, n)
    draws = np.array([rng.choice(n, 3, replace=False) for _ in range(count)]).reshape(-1, 3)
    return draws[tree.satisfies(draws)]


def rows_of(matrix):
    """A dense graph as the kernels' rows."""
    found = csr_array(matrix)
    return found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data.copy()


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 110), st.integers(1, 3), st.booleans())
def test_up_to_small_sizes_the_tree_is_the_dense_one(method, seed, n, pieces, refine):
    """The same float64 kernels run on the same numbers: tree for tree."""
    rng = np.random.default_rng(seed)
    graph = graph_of(rng, n, pieces=pieces)
    triplets = triplets_of(rng, n, 12 if n > 2 else 0)
    thin = hcviz.fit(method, Problem(similarity=graph, triplets=triplets), refine=refine)
    full = hcviz.fit(method, Problem(similarity=graph.toarray(), triplets=triplets), refine=refine)
    assert (thin.parent == full.parent).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pieces", [1, 4])
def test_large_sets_are_cut_as_well_as_dense_ones(method, pieces):
    """Above 128 nodes Lanczos runs in float32 on either, sums in other orders, and pieces that are
    to be balanced are linked in a chain instead of all to all: other trees, of no higher cost but
    for chance (at most 6 per cent was seen, either way)."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        graph = graph_of(rng, 400, pieces=pieces)
        triplets = triplets_of(rng, 400, 20)
        thin = Problem(similarity=graph, triplets=triplets)
        tree = hcviz.fit(method, thin)
        cost = metrics.dasgupta_cost(tree, graph)
        full = hcviz.fit(method, Problem(similarity=graph.toarray(), triplets=triplets))
        assert cost < 1.1 * metrics.dasgupta_cost(full, graph)
        if method != "hrsc":
            assert tree.satisfies(triplets).all()


def test_costs_are_the_dense_ones():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(1, 30))
        graph = graph_of(rng, n) if n > 2 else csr_array((n, n))
        tree = random_tree(rng, n) if n > 1 else hcviz.Tree.star(n)
        triplets = triplets_of(rng, n, 5) if n > 2 else None
        given = graph + csr_array(np.diag(rng.random(n)))  # a diagonal is ignored
        thin = metrics.dasgupta_cost(tree, given)
        assert thin == pytest.approx(metrics.dasgupta_cost(tree, given.toarray()), abs=1e-9)
        by_node = metrics.node_costs(tree, given, triplets, 2.0)
        assert by_node == pytest.approx(metrics.node_costs(tree, given.toarray(), triplets, 2.0))
    with pytest.raises(InvalidData, match="shape"):
        metrics.dasgupta_cost(hcviz.Tree.star(3), csr_array((4, 4)))
    with pytest.raises(InvalidData, match="row 0, column 1"):
        metrics.dasgupta_cost(hcviz.Tree.star(2), csr_array([[0, np.nan], [1, 0]]))


# ---------------------------------------------------------------------- kernels


def test_the_supergraph_is_the_sum_over_supernodes():
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(6, 40))
        matrix = Problem(similarity=graph_of(rng, n)).similarity
        whole = matrix.toarray()
        items = np.sort(rng.choice(n, int(rng.integers(3, n)), replace=False)).astype(np.int32)
        count = int(rng.integers(2, len(items) + 1))
        number = rng.integers(0, 5, n).astype(np.int32)  # others' numbers are stale
        number[items] = np.concatenate(
            [np.arange(count), rng.integers(0, count, len(items) - count)]
        )
        rows = np.array([rng.choice(items, 3, replace=False) for _ in range(4)], np.int32)
        price = rng.random(4)
        wanted = np.zeros((count, count))
        for x in items:
            for y in items:
                if number[x] != number[y]:
                    wanted[number[x], number[y]] += whole[x, y]
        for (a, b, _), p in zip(rows, price, strict=True):
            if number[a] != number[b]:
                wanted[number[a], number[b]] += p
                wanted[number[b], number[a]] += p
        member = np.zeros(n, np.int32)
        found = sparsekernels.supergraph(
            matrix.indptr, matrix.indices, matrix.data, items, 0, len(items), number, count,
            member, 1, rows, np.arange(4, dtype=np.int32), 0, 4, price,
        )  # fmt: skip
        assert sparsekernels.as_dense(*found) == pytest.approx(wanted)
        assert sparsekernels.degrees(found[0], found[2]) == pytest.approx(wanted.sum(axis=1))


def test_sweeps_components_and_refining_are_those_of_the_matrix():
    rng = np.random.default_rng(2)
    for trial in range(60):
        k = int(rng.integers(3, 40))
        matrix = graph_of(rng, k, degree=3, pieces=1 + trial % 3).toarray()
        sizes = rng.integers(1, 4, k)
        rows = rows_of(matrix)
        labels, count = sparsekernels.components(*rows)
        known, pieces = spectralkernels.component_labels(matrix)
        assert count == pieces
        assert (labels == known).all()
        values = rng.random(k)
        degree = matrix.sum(axis=1)
        thin = sparsekernels.sweep(*rows, degree, values, sizes, False)
        full = spectralkernels.sweep(matrix, degree, values, sizes)[0]
        assert (thin == full).all()
        even = sparsekernels.sweep(*rows, degree, values, sizes, True)
        assert (even == cutkernels.balanced_sweep(matrix, degree, values, sizes)).all()
        for side, balanced in ((thin, False), (even, True)):
            once, again = side.copy(), side.copy()
            sparsekernels.refine(*rows, sizes, once, balanced)
            cutkernels.refine(matrix, sizes, again, balanced, 1.0)
            assert (once == again).all()
        whole = sparsekernels.link_pieces(*rows, labels, count)
        assert sparsekernels.components(*whole)[1] == 1
        more = sparsekernels.as_dense(*whole) - matrix
        assert (more == more.T).all()
        assert (more > 0).sum() == 2 * (count - 1)
        assert more.sum() <= 3e-6 * matrix.sum() or not matrix.any()


def test_lanczos_finds_the_second_eigenvector():
    rng = np.random.default_rng(3)
    for k in (129, 300):
        side = np.arange(k) < k // 2  # two loose blocks: a gap
        matrix = (rng.random((k, k)) < np.where(side[:, None] == side, 0.2, 0.01)) * 1.0
        matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
        degree = matrix.sum(axis=1)
        assert degree.min() > 0
        work = sparse.second_vector(rows_of(matrix), degree)
        while True:
            try:
                next(work)
            except StopIteration as end:
                found = end.value
                break
        scale = 1 / np.sqrt(degree)
        wanted = np.linalg.eigh(scale[:, None] * matrix * scale)[1][:, -2]
        assert abs(found @ wanted) / np.linalg.norm(found) == pytest.approx(1, abs=1e-4)


# ---------------------------------------------------------------------- the problem


def test_a_sparse_similarity_stays_sparse_and_is_ones_own():
    rng = np.random.default_rng(4)
    graph = csc_matrix(graph_of(rng, 30))
    given = Problem(similarity=graph)
    before = graph.toarray()
    graph.data[:] = 7
    assert given.is_sparse
    assert isinstance(given.similarity, csr_array)
    assert given.similarity.indices.dtype == np.int32
    assert given.n_items == 30
    assert (given.similarity.toarray() == before).all()
    assert (given.similarity_or_default == before).all()
    with pytest.raises(ValueError, match="read-only"):
        given.similarity.data[0] = 1
    constrained = given.with_triplets([[0, 1, 2]])
    assert constrained.is_sparse
    again = pickle.loads(pickle.dumps(constrained))
    assert (hcviz.fit("crsc", again).parent == hcviz.fit("crsc", constrained).parent).all()
    doubled = coo_array(([1.0, 1.0, 2.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Problem(similarity=doubled).similarity.toarray().tolist() == [[0, 2], [2, 0]]
    assert not Problem(similarity=before).is_sparse


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (csr_array((2, 3)), "must be square; this one is 2 x 3"),
        (csr_array([[0, -1.0], [-1.0, 0]]), "Row 0, column 1 of the similarity is -1: must be 0"),
        (csr_array([[0, np.inf], [np.inf, 0]]), "Row 0, column 1 of the similarity is inf"),
        (csr_array([[0, 0, 0], [0, 0, 3.0], [0, 1.0, 0]]), "row [12], column [12] is [13]"),
        (csr_array([[0, 1e200], [1e200, 0]]), "too large"),
        (csr_array(np.array([[0, 1j], [1j, 0]])), "does not hold numbers"),
        (csr_array((0, 0)), "needs items"),
    ],
)
def test_what_a_sparse_similarity_must_not_be(matrix, words):
    with pytest.raises(InvalidData, match=words):
        Problem(similarity=matrix)


def test_a_method_that_needs_all_pairs_refuses_too_many(monkeypatch):
    rng = np.random.default_rng(5)
    graph = graph_of(rng, 20)
    full = Problem(similarity=graph.toarray())
    for method in ("average", "dasgupta-search", "densest-cut"):
        thin = hcviz.fit(method, Problem(similarity=graph))
        assert (thin.parent == hcviz.fit(method, full).parent).all()
    monkeypatch.setattr(problems, "MAX_DENSE", 19)
    for method in ("average", "dasgupta-search", "densest-cut"):
        with pytest.raises(TooLarge, match="20 x 20 similarities"):
            hcviz.fit(method, Problem(similarity=graph))
    for method in (*METHODS, "random-cut"):
        assert hcviz.fit(method, Problem(similarity=graph)).n_leaves == 20


def test_nothing_quadratic_is_made():
    n = 3000
    given = Problem(similarity=graph_of(np.random.default_rng(6), n))
    hcviz.fit("crsc", given)  # what is compiled or loaded is not counted
    # A byte for each pair; Lanczos' vectors are 2.4 MB of it.
    assert least_memory(3, "crsc", given) < n * n


def least_memory(times, method, problem, **options):
    """Bytes that a run takes: what other threads of the tests allocate meanwhile counts too, in
    some of the times."""
    peaks = []
    for _ in range(times):
        tracemalloc.start()
        hcviz.fit(method, problem, **options)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(peaks)


@pytest.mark.parametrize(
    ("method", "share"),
    # Sparsest cuts work in float32; what maximises in float64, of the numbers as they are.
    [("crsc", 0.7), ("crbc", 0.7), ("hrsc", 0.7), ("dasgupta-search", 0.7),
     ("derandomised-cut", 1.1), ("densest-cut", 1.1)],
)  # fmt: skip
def test_no_second_copy_of_a_dense_similarity(method, share):
    """Half a matrix for the first cut and rows of n (seen at 600 items: 0.63 to 0.64; 1.03)."""
    n = 600
    matrix = np.random.default_rng(0).random((n, n))
    problem = Problem(similarity=(matrix + matrix.T) / 2)
    options = {"proposals": 20_000} if method == "dasgupta-search" else {}
    hcviz.fit(method, problem, **options)  # compiled
    assert least_memory(5, method, problem, **options) < share * 8 * n * n
