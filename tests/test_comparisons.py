"""Answers and what they become: conversions, counts, questions answered both ways."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Comparisons
from hcviz.core.errors import InvalidConstraint


def test_the_most_central_is_nearer_to_both():
    made = Comparisons.from_most_central([[0, 1, 2], [3, 0, 1]])
    assert made.rows.tolist() == [[1, 0, 2], [0, 3, 1], [2, 0, 1], [1, 3, 0]]


def test_the_odd_one_is_far_from_both():
    assert Comparisons.from_odd_one_out([[0, 1, 2]]).rows.tolist() == [[1, 2, 0], [2, 1, 0]]


@pytest.mark.parametrize("make", [Comparisons.from_most_central, Comparisons.from_odd_one_out])
def test_an_answer_needs_three_items(make):
    with pytest.raises(InvalidConstraint, match=r"Row 1 .* twice"):
        make([[0, 1, 2], [3, 3, 1]])
    with pytest.raises(InvalidConstraint):
        make([[0, 1]])
    assert len(make([])) == 0


def said(rows):
    """Question (frozenset of the two sides, with the anchor) -> side that is more alike -> count.

    A quadruplet's sides are pairs; a triplet is the quadruplet (anchor, near, anchor, far).
    """
    found: dict = {}
    for row in rows:
        row = row if len(row) == 4 else (row[0], row[1], row[0], row[2])
        first, second = frozenset(row[:2]), frozenset(row[2:])
        if first != second:
            found.setdefault(frozenset([first, second]), Counter())[first] += 1
    return found


ROWS = st.one_of(
    st.lists(st.permutations(range(4)).map(lambda p: p[:3]), max_size=30),
    st.lists(
        st.tuples(*[st.integers(0, 3)] * 4).filter(lambda r: r[0] != r[1] and r[2] != r[3]),
        max_size=30,
    ),
)


@given(ROWS)
def test_every_answer_is_counted(rows):
    made = Comparisons(rows)
    questions, yes, no = made.tally()
    expected = said(rows)
    assert len(questions) == len(expected)
    for row, ayes, noes in zip(questions.tolist(), yes, no, strict=True):
        row = row if len(row) == 4 else [row[0], row[1], row[0], row[2]]
        first, second = frozenset(row[:2]), frozenset(row[2:])
        count = expected[frozenset([first, second])]
        assert (count[first], count[second]) == (ayes, noes)
    left = said(made.once().rows.tolist())
    assert left == {q: Counter(set(c)) for q, c in expected.items() if len(c) == 1}


@given(ROWS)
def test_how_often_items_are_seen(rows):
    expected = [sum(item in row for row in rows) for item in range(6)]
    assert Comparisons(rows).appearances(6).tolist() == expected
