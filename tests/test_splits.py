"""Aho's graph as an explanation: what forces a split, and where answers leave no way to divide."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core.build import build
from hcviz.session.aho_graph import aho_graph, find_blocked_set
from hcviz.session.assessment import explain_conflict, is_consistent_set
from hcviz.session.model import Constraint
from tests.test_session_experts import statements
from tests.trees import all_trees

N = 5


def slow_divisions(constraints, items):
    """By the definition: the parts in two of ``items`` that no answer within them forbids."""
    rows = [(a, b, c.apart) for c in constraints for a, b in combinations(c.group, 2)]
    rows = [row for row in rows if set(row) <= set(items)]
    found = []
    for size in range(1, len(items)):
        for side in combinations(items[1:], size):
            if all((a in side) == (b in side) for a, b, _ in rows):
                found.append(set(side))
    return found


@settings(max_examples=200, deadline=None)
@given(statements(), st.sets(st.integers(0, N - 1), min_size=2))
def test_the_pieces_are_what_no_division_may_part(constraints, items):
    items = sorted(items)
    graph = aho_graph(constraints, items)
    assert sorted(i for piece in graph.components for i in piece) == items
    divisions = slow_divisions(constraints, items)
    assert graph.n_splits == len(divisions)
    assert graph.is_forced == (len(divisions) == 1)
    for a, b in combinations(items, 2):
        together = all((a in side) == (b in side) for side in divisions)
        if len(graph.components) > 1:
            assert (graph.component_of[a] == graph.component_of[b]) == together
    for k, piece in enumerate(graph.components):
        held = [c for c in constraints if c.id in graph.constraint_ids(k)]
        assert bool(held) == (len(piece) > 1)


def test_a_forced_split_is_in_every_tree():
    answers = [Constraint(1, (0, 1), 2), Constraint(2, (2, 3), 0), Constraint(3, (3, 4), 1)]
    graph = aho_graph(answers, range(N))
    assert graph.is_forced
    rows = [row for c in answers for row in c.triplets.rows]
    for tree in all_trees(N, binary=True):
        if tree.satisfies(rows).all():
            sides = {frozenset(tree.leaves(int(c)).tolist()) for c in tree.children(tree.root)}
            assert sides == set(map(frozenset, graph.components))


@settings(max_examples=300, deadline=None)
@given(statements(8))
def test_where_answers_are_blocked(constraints):
    kept = []
    for each in constraints:
        if is_consistent_set([*kept, each]):
            assert find_blocked_set(each, kept) is None
            kept.append(each)
            continue
        clash = explain_conflict(each, kept, "abcde")
        members = [c for c in kept if c.id in clash.with_ids]
        found = find_blocked_set(each, members)
        graph = found.graph
        assert len(graph.components) == 1
        assert len(graph.items) > 1
        # The graph has an edge of each answer in the minimal set, and needs all of them.
        assert {edge.id for edge in graph.edges} == {each.id, *clash.with_ids}
        for out in (each, *members):
            rest = [c for c in (each, *members) if c is not out]
            assert len(aho_graph(rest, graph.items).components) > 1
        # Earlier answers hold the odd one to one of the group, step by step; the new one does
        # the rest.
        assert found.path[0] == each.apart
        assert found.path[-1] in each.group
        old = {frozenset((e.a, e.b)) for e in graph.edges if e.id != each.id}
        assert all(frozenset(step) in old for step in pairwise(found.path))
        assert found.closing_edges
        assert {e.id for e in found.closing_edges} == {each.id}


def test_a_long_chain_is_one_path():
    n = 400
    answers = [Constraint(k + 1, (k, k + 1), n) for k in range(n - 1)]
    new = Constraint(n, (n - 1, n), 0)
    found = find_blocked_set(new, answers)
    assert len(found.graph.items) == n + 1
    assert found.path == tuple(range(n))
    assert build(n + 1, [row for c in answers for row in c.triplets.rows]).n_leaves == n + 1
