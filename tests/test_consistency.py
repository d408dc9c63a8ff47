"""How comparisons agree with themselves and with a tree, against the definitions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Comparisons, Tree
from hcviz.core.errors import InvalidData
from hcviz.metrics import comparisons_held, consistency

N = 5
THREE = st.tuples(*[st.integers(0, N - 1)] * 3).filter(lambda r: len(set(r)) == 3)
FOUR = st.tuples(*[st.integers(0, N - 1)] * 4).filter(lambda r: r[0] != r[1] and r[2] != r[3])
LISTS = st.one_of(st.lists(THREE, min_size=1), st.lists(FOUR, min_size=1)).map(Comparisons)


def pairs(row):
    """The pair that is more alike by the answer, and the other, each a set."""
    if len(row) == 3:
        row = (row[0], row[1], row[0], row[2])
    return frozenset(row[:2]), frozenset(row[2:])


@given(LISTS)
def test_consistency_matches_its_definition(comparisons):
    answer_counts = Counter(pairs(row) for row in comparisons.rows.tolist())
    answer_counts = Counter(
        {key: count for key, count in answer_counts.items() if key[0] != key[1]}
    )
    # Two triplets about the same two pairs of three items share an anchor: the pairs say all.
    questions = {frozenset(key) for key in answer_counts}
    ways = {
        q: sorted((answer_counts[k] for k in answer_counts if frozenset(k) == q), reverse=True)
        for q in questions
    }
    found = consistency(comparisons)
    assert found.questions == len(questions)
    assert found.repeated == sum(sum(counts) > 1 for counts in ways.values())
    assert found.agreeing == sum(len(c) == 1 and c[0] > 1 for c in ways.values())
    contradicting = {q: counts for q, counts in ways.items() if len(counts) == 2}
    listed = {}
    for row, (most, least) in zip(
        found.contradictions.tolist(), found.counts.tolist(), strict=True
    ):
        assert answer_counts[pairs(row)] == most >= least
        listed[frozenset(pairs(row))] = [most, least]
    assert listed == contradicting
    order = [(-least, -most) for most, least in found.counts.tolist()]
    assert order == sorted(order)
    share = found.agreeing / found.repeated if found.repeated else None
    assert found.share == share


TREES = [
    Tree.from_newick(text, list("abcde"))
    for text in (
        "((((a,b),c),d),e);", "((a,b),(c,d),e);", "(((a,b):1,c):1,(d,e):2);", "(a,b,c,d,e);"
    )
]  # fmt: skip


@given(LISTS, st.sampled_from(TREES))
def test_comparisons_held_matches_its_definition(comparisons, tree):
    clades = [set(tree.leaves(node).tolist()) for node in range(tree.n_nodes)]

    def smallest(pair):
        return min((c for c in clades if pair <= c), key=len)

    def height(pair):
        return tree.height[next(k for k, c in enumerate(clades) if c == smallest(pair))]

    for row, sign in zip(
        comparisons.rows.tolist(), comparisons_held(tree, comparisons), strict=True
    ):
        near, far = pairs(row)
        if comparisons.is_quadruplets:
            assert sign == np.sign(height(far) - height(near))
        else:
            assert sign == (smallest(near) < smallest(far)) - (smallest(far) < smallest(near))


def test_a_comparison_of_an_unknown_leaf_is_refused():
    with pytest.raises(InvalidData, match="name item 5, but the tree has 5 leaves"):
        comparisons_held(TREES[0], Comparisons([[0, 1, 5]]))
    assert comparisons_held(TREES[0], Comparisons(np.empty((0, 4)))).shape == (0,)
    assert consistency(Comparisons(np.empty((0, 3)))).share is None
