"""The search on a sparse graph: each regraft against the definition and the dense search."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import hcviz
from hcviz import InconsistentTriplets, Problem, Tree, metrics
from hcviz.algorithms.structural import regraft, search, starts
from hcviz.algorithms.structural import sparseregraft as sparse
from hcviz.core.build import build
from hcviz.core.errors import TooLarge
from hcviz.core.groups import Groups, Nesting
from hcviz.core.triplets import Triplets
from tests.test_structural_search import held_by
from tests.test_structural_sparse import graph_of
from tests.test_structural_starts import finish, paris_by_definition, weights
from tests.trees import random_tree


def small_graph(rng, n):
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return Problem(similarity=csr_array(upper + upper.T)).similarity


def binary_tree(rng, n):
    tree = random_tree(rng, n)
    return tree if tree.is_binary else Tree.from_linkage(tree.to_linkage())


def laid_out(tree, graph, rows=(), groups=()):
    n = tree.n_leaves
    nesting = Nesting(Groups.of(groups or None, n), n)
    s = search.allocate_sparse(n, Triplets(rows), nesting)
    search.put_sparse_tree(s, tree, graph)
    return s


def arrays_of(graph):
    return graph.indptr, graph.indices, graph.data


def moved(s, k, u):
    """A copy of ``s`` with the subtree k above u, marked or not."""
    other = sparse.SparseSearch(*(each.copy() for each in s))
    p = s.up[k]
    if u not in (s.left[p], s.right[p]):
        sparse.mark_path(other, u, other.state[sparse.STAMP])
        sparse.move(other, k, u)
    return other


def cost_of(s, graph):
    return metrics.dasgupta_cost(search.sparse_tree(s, graph.shape[0]), graph)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 8))
def test_every_marked_regraft_is_weighed_right_and_no_other_is_better(seed, n):
    rng = np.random.default_rng(seed)
    graph = small_graph(rng, n)
    s = laid_out(binary_tree(rng, n), graph)
    for _ in range(4):  # one move after the other: what is kept up to date stays right
        before = cost_of(s, graph)
        assert s.totals[sparse.COST] == pytest.approx(before, abs=1e-9)
        k = int(rng.choice(np.flatnonzero(s.up >= 0)))
        _, least, now = sparse.evaluate(s, *arrays_of(graph), k)
        stamp = s.state[sparse.STAMP]
        places = [u for u in range(2 * n - 1) if s.inside[u] != stamp and u != s.up[k]]
        costs = {u: cost_of(moved(s, k, u), graph) for u in places}
        assert min(costs.values()) - before == pytest.approx(least - now, abs=1e-9)
        marked = [u for u in places if s.mark[u] == stamp]
        for u in marked:
            assert costs[u] - before == pytest.approx(s.value[u] - now, abs=1e-9)
        u = int(rng.choice(marked))
        if s.up[u] != s.up[k]:
            sparse.move(s, k, u)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 10), st.integers(0, 6))
def test_constraints_allow_the_places_of_the_dense_search(seed, n, count):
    """The best place has the same value, and marked places are allowed or refused alike."""
    rng = np.random.default_rng(seed)
    graph, tree = small_graph(rng, n), binary_tree(rng, n)
    rows = held_by(tree, rng, count)
    inner = rng.integers(n, 2 * n - 2, 2)
    groups = [{int(i) for i in tree.leaves(int(v))} for v in set(inner.tolist())]
    s = laid_out(tree, graph, rows, groups)
    dense = search.allocate(n, Triplets(rows), 0.0, Nesting(Groups.of(groups, n), n))
    regraft.put_tree(dense, *search.binary_children(tree), 2 * n - 2)
    matrix = graph.toarray()
    regraft.put_cuts(dense, matrix, 1.0, 0, n)
    clade = {frozenset(tree.leaves(v).tolist()): v for v in range(tree.n_nodes)}
    for j in range(1, 2 * n - 1):
        below = dense.leaf[j : dense.end[j]]
        k = clade[frozenset(below[below >= 0].tolist())]
        _, least, now = sparse.evaluate(s, *arrays_of(graph), k)
        _, expected, here = regraft.evaluate_places(dense, matrix, 1.0, j)
        assert least - now == pytest.approx(expected - here, abs=1e-9)
        for place in range(2 * n - 1):
            below = dense.leaf[place : place + 2 * dense_size(dense, place) - 1]
            u = clade[frozenset(below[below >= 0].tolist())]
            if s.mark[u] == s.state[sparse.STAMP] and u != s.up[k]:
                assert np.isfinite(s.value[u]) == np.isfinite(dense.value[place])
        regraft.put_back(dense, j)


def dense_size(s, place):
    """Number of items below a position; evaluating changes ``size``, but not ``end``."""
    return (s.end[place] - place + 1) // 2


@pytest.mark.parametrize("seed", range(4))
def test_moves_are_taken_back(seed):
    rng = np.random.default_rng(seed)
    graph = graph_of(rng, 200)
    s = laid_out(binary_tree(rng, 200), graph)
    s.state[sparse.RECORDS] = 1
    before, cuts = search.sparse_tree(s, 200), s.totals[sparse.COST]
    for _ in range(20):
        sparse.perturb(s, *arrays_of(graph), rng)
    assert s.state[sparse.MOVES] > 10
    assert search.sparse_tree(s, 200) != before
    sparse.undo(s, *arrays_of(graph))
    assert not metrics.clade_changes(before, search.sparse_tree(s, 200)).gained.size
    assert (s.totals[sparse.COST], s.state[sparse.LENGTH]) == (cuts, 0)
    assert float(s.size @ s.cut) == pytest.approx(cuts)


@pytest.mark.parametrize("seed", range(5))
def test_agglomerations_of_a_graph_are_those_of_the_matrix(seed):
    matrix = weights(np.random.default_rng(seed), 25)
    given = csr_array(matrix)
    for mass, dense_mass in zip(starts.masses(given), starts.masses(matrix), strict=True):
        assert np.allclose(mass, dense_mass)
        sparse_tree = finish(starts.agglomerate_sparse(given, mass.copy()))
        dense_tree = finish(starts.agglomerate(matrix, dense_mass))
        assert not metrics.clade_changes(sparse_tree, dense_tree).gained.size
    found = {frozenset(clade.tolist()) for clade in sparse_tree.clades()}
    assert found == paris_by_definition(matrix)


def test_pieces_of_a_graph_are_merged_last():
    graph = graph_of(np.random.default_rng(1), 90, pieces=3)
    for mass in starts.masses(graph):
        tree = finish(starts.agglomerate_sparse(graph, mass))
        assert all(tree.has_clade(np.arange(k * 30, (k + 1) * 30)) for k in range(3))
    alone = csr_array((5, 5))
    assert finish(starts.agglomerate_sparse(alone, np.ones(5))).is_binary


@pytest.fixture
def sparse_from_10(monkeypatch):
    monkeypatch.setattr(search, "MAX_MADE_DENSE", 10)


def test_it_is_as_cheap_as_the_dense_search(sparse_from_10):
    for seed in range(4):
        graph = graph_of(np.random.default_rng(seed), 60)
        tree = hcviz.fit("dasgupta-search", Problem(similarity=graph), proposals=300_000)
        dense = hcviz.fit("dasgupta-search", Problem(similarity=graph.toarray()))
        cost = metrics.dasgupta_cost(tree, graph)
        assert cost <= 1.005 * metrics.dasgupta_cost(dense, graph)


def test_costs_never_increase_and_the_same_seed_gives_the_same_tree(sparse_from_10, monkeypatch):
    monkeypatch.setattr(search, "CHUNK", 200_000)
    problem = Problem(similarity=graph_of(np.random.default_rng(5), 300))
    shown = list(hcviz.run("dasgupta-search", problem, proposals=500_000))
    costs = [each.metrics["cost"] for each in shown]
    assert costs == sorted(costs, reverse=True)
    assert (shown[-1].step, len(shown) > 2) == (500_000, True)
    crsc = metrics.dasgupta_cost(hcviz.fit("crsc", problem), problem.similarity)
    assert costs[0] <= crsc
    again = list(hcviz.run("dasgupta-search", problem, proposals=500_000))
    assert shown[-1].tree == again[-1].tree


def test_hard_constraints_hold(sparse_from_10):
    rng = np.random.default_rng(2)
    graph, target = graph_of(rng, 120), binary_tree(rng, 120)
    rows = held_by(target, rng, 40)
    groups = [{int(i) for i in target.leaves(v)} for v in (125, 130)]
    problem = Problem(similarity=graph, triplets=rows, groups=groups)
    assert hcviz.fit("crsc", problem).satisfies(rows, groups).all()
    for snapshot in hcviz.run("dasgupta-search", problem, proposals=400_000):
        assert snapshot.tree.satisfies(rows, groups).all()
    start = build(120, rows, groups)
    tree = hcviz.fit("dasgupta-search", problem, start=start, proposals=100_000)
    assert tree.satisfies(rows, groups).all()
    with pytest.raises(InconsistentTriplets):
        hcviz.fit("dasgupta-search", problem.with_triplets([[0, 1, 2], [0, 2, 1]]))


def test_memory_is_linear_in_the_edges():
    graph = graph_of(np.random.default_rng(0), 12_000)
    problem = Problem(similarity=graph)
    tracemalloc.start()
    tree = hcviz.fit("dasgupta-search", problem, proposals=200_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tree.is_binary
    assert peak < 1_500 * graph.nnz  # a dense matrix would need 1.1 GB


def test_what_needs_a_dense_matrix_is_refused():
    problem = Problem(similarity=graph_of(np.random.default_rng(0), 10_001))
    for params in ({"lam": 1.0}, {"objective": "dissimilarity"}):
        with pytest.raises(TooLarge):
            hcviz.fit("dasgupta-search", problem, **params)
