"""Answers and what they become: conversions, counts, questions answered both ways."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Comparisons, Problem
from hcviz.core.errors import InvalidConstraint, InvalidData
from tests import comparisonslow as slow


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


def answer_counts(rows):
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
    expected = answer_counts(rows)
    assert len(questions) == len(expected)
    for row, ayes, noes in zip(questions.tolist(), yes, no, strict=True):
        row = row if len(row) == 4 else [row[0], row[1], row[0], row[2]]
        first, second = frozenset(row[:2]), frozenset(row[2:])
        count = expected[frozenset([first, second])]
        assert (count[first], count[second]) == (ayes, noes)
    left = answer_counts(made.once().rows.tolist())
    assert left == {q: Counter(set(c)) for q, c in expected.items() if len(c) == 1}


@given(ROWS)
def test_how_often_items_are_seen(rows):
    expected = [sum(item in row for row in rows) for item in range(6)]
    assert Comparisons(rows).appearances(6).tolist() == expected


# ---------------------------------------------------------------------- dense matrices of signs


@given(ROWS)
def test_a_matrix_of_signs_is_its_net_answers(rows):
    """As the list of what is left when opposite answers cancel."""
    table = slow.table(5, rows)
    made = Comparisons.from_table(table)
    assert made.n_named == 5
    assert made.is_quadruplets
    net = {
        question: counts.subtract({side: min(counts.values()) for side in counts}) or +counts
        if len(counts) > 1 else counts
        for question, counts in answer_counts(rows).items()
    }  # fmt: skip
    expected = {question: counts for question, counts in net.items() if +counts}
    assert answer_counts(made.rows.tolist()) == expected
    assert len(made) == len(made.rows) == sum(sum(c.values()) for c in expected.values())
    assert np.array_equal(slow.table(5, made.rows.tolist()), table)
    assert made.appearances(7).tolist() == Comparisons(made.rows).appearances(7).tolist()
    assert np.array_equal(made.once().table, np.sign(table))
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.table, table)
    assert again == made == Comparisons(made.rows)
    more = made + Comparisons([[0, 1, 2]])
    assert more.table is None
    assert len(more) == len(made) + 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.zeros((2, 2), np.int8), "2 is not such a number"),
        (np.zeros((3, 6), np.int8), "must be square; this one is 3 x 6"),
        (np.zeros((3, 3)), "whole numbers, not float64"),
        (np.eye(3, dtype=np.int8), "row 0, column 0 is 1"),
        (np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], np.int8), "row 0, column 1 is 1 and row 1"),
        (np.array([[0, 0, -128], [0, 0, 0], [-128, 0, 0]], np.int8), "row 0, column 2 is -128"),
        (np.full((3, 3), 40_000), "from -32,767 to 32,767"),
    ],
)
def test_what_is_no_matrix_of_signs_gets_a_sentence(table, words):
    with pytest.raises(InvalidData, match=words):
        Comparisons.from_table(table)


def test_one_sided_cells_are_found_everywhere():
    """A single cell among a million, in a later block of rows."""
    table = np.zeros((1035, 1035), np.int8)  # 46 items
    table[1001, 77] = 1
    with pytest.raises(InvalidData, match="row 77, column 1001 is 0 and row 1001, column 77 is 1"):
        Comparisons.from_table(table)
    table[77, 1001] = -1
    made = Comparisons.from_table(table)
    assert made.rows.tolist() == [[11, 45, 11, 12]]  # 45 * 44 / 2 + 11, 12 * 11 / 2 + 11


def test_a_problem_has_the_items_of_its_matrix():
    table = np.zeros((6, 6), np.int16)
    table[0, 5], table[5, 0] = 3, -3
    assert Problem(comparisons=Comparisons.from_table(table)).n_items == 4
    with pytest.raises(InvalidData, match="name item 3, but there are only 3"):
        Problem(labels=list("abc"), comparisons=Comparisons.from_table(table))
