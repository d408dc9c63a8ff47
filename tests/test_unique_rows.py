"""Unique rows against numpy, for rows that fit into one number and others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.core.triplets import Comparisons
from hcviz.core.unique_rows import unique_rows
from hcviz.io.answers import new_comparisons

#: The largest base whose four digits fit into 63 bits is 55,108; three digits, 2,097,151.
BASES = (1, 2, 5, 55_107, 55_108, 55_109, 2_097_151, 2_097_152, 2**31 - 1)


@given(
    st.data(),
    st.sampled_from(BASES),
    st.integers(1, 4),
    st.sampled_from([np.int32, np.uint32, np.int64, np.uint64]),
)
def test_unique_rows_match_numpy(data, most, width, dtype):
    """Rows of few values near the bounds, so that rows repeat."""
    ends = {0, min(1, most), most // 2, max(0, most - 1), most}
    if np.issubdtype(dtype, np.signedinteger):
        ends |= {-1, -most}
    number = st.sampled_from(sorted(ends))
    row = st.lists(number, min_size=width, max_size=width)
    rows = np.array(data.draw(st.lists(row, max_size=12)), dtype).reshape(-1, width)
    made = unique_rows(rows)
    expected = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    for ours, theirs in zip(made, expected, strict=True):
        assert np.array_equal(ours, theirs.reshape(ours.shape))
    assert made[0].dtype == rows.dtype
    assert np.array_equal(made[0][made[2]], rows)


@pytest.mark.parametrize("most", [65_536, 131_071, 3_037_000_500])
def test_rows_whose_64_bit_keys_would_overflow(most):
    """(0, 0, 0, 0), and a row whose key overflows to 0."""
    base = most + 1
    digits = [2**64 // base**place % base for place in (3, 2, 1, 0)]
    rows = np.array([[0, 0, 0, 0], digits, [most] * 4, [0, 0, 0, 0]], np.int64)
    unique, first, which = unique_rows(rows)
    assert len(unique) == 3
    assert first.tolist() == [0, 1, 2]
    assert which.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize(
    "rows",
    [
        [[2**62 + 1], [2**62], [2**62 + 1]],  # one number each, of more than a float's 53 bits
        [[2**31 - 1, 2**31 - 1], [2**31 - 1, 2**31 - 2], [2**31 - 1, 2**31 - 1]],
        [[2**63 - 1, 1], [2**63 - 1, 0], [2**63 - 1, 1]],  # column by column
    ],
)
def test_rows_that_float64_could_not_distinguish(rows, dtype):
    unique, first, which = unique_rows(np.array(rows, dtype))
    assert unique.dtype == dtype
    assert unique.tolist() == [rows[1], rows[0]]
    assert first.tolist() == [1, 0]
    assert which.tolist() == [1, 0, 1]


def test_a_tally_does_not_depend_on_the_size_of_item_numbers():
    """The same answers with large item numbers, so that a row does not fit into one number."""
    rng = np.random.default_rng(0)
    few = rng.integers(0, 6, (400, 4))
    few = few[(few[:, 0] != few[:, 1]) & (few[:, 2] != few[:, 3])]
    far = np.array([0, 1, 55_108, 55_109, 2**31 - 2, 2**31 - 1])
    for rows in (few, few[:, :3][few[:, 1] != few[:, 2]]):
        rows = rows[rows[:, 0] != rows[:, 2]]
        near, wide = Comparisons(rows).tally(), Comparisons(far[rows]).tally()
        assert np.array_equal(far[near[0]], wide[0])
        assert np.array_equal(near[1], wide[1])
        assert np.array_equal(near[2], wide[2])


def test_beyond_distinguishes_answers_among_many_items():
    """n = 2^17: a 64-bit key has only 13 bits for the smallest item of a quadruplet."""
    n = 2**17
    known = Comparisons([[0, 9000, 2, 3]])
    other = Comparisons([[8192, 9000, 2, 3], [2, n - 1, 0, 9000]])
    assert new_comparisons(other, known) is None
    more = new_comparisons(known + other, known)
    assert {tuple(row) for row in more.rows.tolist()} == {tuple(row) for row in other.rows.tolist()}
