"""AddS, MulK-3 and MulK-4 bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz import Comparisons
from hcviz.algorithms.comparison.similarities import AddS, adds, mulk3, mulk4
from hcviz.core.errors import InvalidData
from tests import comparisonslow as slow


@st.composite
def answers(draw, kind=None, low=2, high=7):
    """(n, rows): with repeats and contradictions, but rows of a pair with itself too."""
    n = draw(st.integers(low, high))
    kind = kind or draw(st.sampled_from(["triplets", "quadruplets"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(0, 60))
    rows = []
    for _ in range(count):
        if kind == "triplets":
            if n > 2:
                rows.append(rng.choice(n, 3, replace=False))
        else:
            rows.append(np.r_[rng.choice(n, 2, replace=False), rng.choice(n, 2, replace=False)])
    return n, np.array(rows, np.int32).reshape(-1, 3 if kind == "triplets" else 4)


@settings(deadline=None)
@given(answers("quadruplets"))
def test_adds_4(given_answers):
    n, rows = given_answers
    assert np.array_equal(adds(n, Comparisons(rows)), slow.adds4(n, rows.tolist()))


@settings(deadline=None)
@given(answers("triplets"))
def test_adds_3_is_adds_4_of_the_quadruplets(given_answers):
    n, rows = given_answers
    made = adds(n, Comparisons(rows))
    assert np.array_equal(made, slow.adds3(n, rows.tolist()))
    assert np.array_equal(made, adds(n, Comparisons(rows).as_quadruplets()))


@settings(deadline=None)
@given(answers(), st.integers(1, 5))
def test_answers_may_keep_arriving(given_answers, parts):
    n, rows = given_answers
    stream = AddS(n)
    for part in np.array_split(rows, parts):
        stream.partial_fit(part)
    assert np.array_equal(stream.similarity, adds(n, Comparisons(rows)))
    assert stream.seen == len(rows)


@settings(deadline=None)
@given(answers("triplets"))
def test_mulk_3(given_answers):
    n, rows = given_answers
    expected = slow.mulk3(n, rows.tolist())
    assert np.array_equal(mulk3(n, Comparisons(rows)), expected)


@settings(deadline=None, max_examples=60)
@given(answers())
def test_mulk_4_from_lists_and_from_tables(given_answers):
    n, rows = given_answers
    dense = slow.table(n, rows.tolist())
    for kernel, published in (("equation 3", False), ("published", True)):
        expected = slow.mulk4(n, rows.tolist(), published)
        assert np.array_equal(mulk4(n, Comparisons(rows), kernel), expected)
        assert np.array_equal(mulk4(n, dense, kernel), expected)


def test_a_table_of_many_answers_to_the_same_pairs_counts_them_all():
    """Cells beyond what 8 bits hold: the kernel of the list that says each so often."""
    rng = np.random.default_rng(5)
    upper = np.triu(rng.integers(-300, 301, (10, 10)), 1)
    table = (upper - upper.T).astype(np.int16)
    pairs = [(i, j) for j in range(5) for i in range(j)]
    rows = [
        (*pairs[p], *pairs[q])
        for p, q in zip(*np.nonzero(table > 0), strict=True)
        for _ in range(int(table[p, q]))
    ]
    for kernel in ("equation 3", "published"):
        assert np.array_equal(mulk4(5, table, kernel), mulk4(5, Comparisons(rows), kernel))


@pytest.mark.parametrize("n", [12, 100])  # 66 pairs are all looked at, of 4,950 a few rows
def test_a_table_filled_in_on_one_side_only_is_found(n):
    rng = np.random.default_rng(n)
    m = n * (n - 1) // 2
    table = np.zeros((m, m), np.int8)
    p, q = rng.integers(0, m, (2, m * m // 100))  # one answer in a hundred
    table[p[p != q], q[p != q]] = 1
    with pytest.raises(InvalidData, match="antisymmetric"):
        mulk4(n, table)


def test_what_cannot_be_used_gets_a_sentence():
    with pytest.raises(InvalidData, match="Comparison 1 names item 9"):
        AddS(4).partial_fit([[0, 1, 2], [0, 9, 1]])
    with pytest.raises(InvalidData, match="MulK-3 needs triplets"):
        mulk3(4, Comparisons([[0, 1, 2, 3]]))
    with pytest.raises(InvalidData, match=r"\(6, 6\)"):
        mulk4(4, np.zeros((3, 3), np.int8))
    with pytest.raises(InvalidData, match="antisymmetric"):
        mulk4(4, np.ones((6, 6), np.int8))
