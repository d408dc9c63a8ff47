"""Similarity oracles: their answers, errors and counts."""

from __future__ import annotations

import itertools
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hcviz import CountingOracle, FeatureOracle, FunctionOracle, Problem, StringOracle
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.similarity import similarity_from_features
from hcviz.core.similarity_oracles import MAX_WIDTH_ROWS, MatrixOracle, oracle_of


def symmetric(n, seed=0):
    matrix = np.random.default_rng(seed).random((n, n))
    return (matrix + matrix.T) / 2


class Noted:
    """Answers from a matrix and records every pair."""

    def __init__(self, matrix):
        self.matrix, self.n_items, self.pairs, self.asked = matrix, len(matrix), set(), 0

    def similarity(self, rows, cols):
        self.asked += len(rows) * len(cols)
        self.pairs |= {frozenset(p) for p in itertools.product(rows, cols) if p[0] != p[1]}
        return self.matrix[np.ix_(rows, cols)]


class Paired(Noted):
    """Also answers pairs, and counts the calls."""

    calls = 0

    def similarity(self, rows, cols):
        self.calls += 1
        return super().similarity(rows, cols)

    def paired_similarity(self, first, second):
        self.calls += 1
        self.asked += len(first)
        self.pairs |= {frozenset(p) for p in zip(first, second, strict=True)}
        return self.matrix[first, second]


def requests(n):
    items = st.lists(st.integers(0, n - 1), max_size=6)
    return st.lists(st.tuples(items, items), max_size=6)


@pytest.mark.parametrize("cache", [0, 5, 1000])
@settings(max_examples=60, deadline=None)
@given(asked=requests(9), order=st.permutations(range(9)), size=st.integers(1, 12))
def test_counts_answers_and_mask_match_their_definitions(cache, asked, order, size):
    matrix = symmetric(9)
    plain = Noted(matrix)
    counted = CountingOracle(plain, cache=cache)
    brute = set()
    for rows, cols in asked:
        answer = counted.similarity(rows, cols)
        right = matrix[np.ix_(np.array(rows, int), np.array(cols, int))]
        if cache:  # an item with itself is not asked for
            right[np.equal.outer(np.array(rows, int), np.array(cols, int))] = 0.0
        assert answer.tolist() == right.tolist()
        brute |= {frozenset((x, y)) for x in rows for y in cols if x != y}
        assert counted.queries == len(brute)
    assert plain.pairs == brute
    assert counted.share == len(brute) / 36
    k = min(size, 9)
    wanted = np.zeros((k, k))
    for a, b in itertools.product(range(k), repeat=2):
        bins = [{x for p, x in enumerate(order) if p * k // 9 == c} for c in (a, b)]
        pairs = {frozenset((x, y)) for x in bins[0] for y in bins[1] if x != y}
        if pairs:
            wanted[a, b] = len(pairs & brute) / len(pairs)
    np.testing.assert_allclose(counted.mask(order, size), wanted, rtol=1e-6)


@settings(max_examples=80, deadline=None)
@given(asked=requests(12), trusted=st.booleans())
def test_the_cache_asks_for_no_pair_twice(asked, trusted):
    """Items are not compared with themselves. Up to 16 pairs are asked in both orders."""
    plain = Noted(symmetric(12))
    plain.symmetric = trusted
    counted = CountingOracle(plain)
    for rows, cols in asked:
        counted.similarity(rows, cols)
    assert 0 <= plain.asked - counted.queries <= (0 if trusted else 16)
    before = plain.asked
    counted.reset()
    for rows, cols in asked:
        assert np.array_equal(counted.similarity(cols, rows), counted.similarity(rows, cols).T)
    assert plain.asked == before


@settings(max_examples=80, deadline=None)
@given(asked=requests(12), trusted=st.booleans())
def test_an_oracle_for_pairs_is_called_once_for_each_request(asked, trusted):
    """For no pair more than who is called row by row, and with the same answers; once more, at
    most, a request until 16 pairs were tried both ways round."""
    matrix = symmetric(12)
    plain, rowwise = Paired(matrix), Noted(matrix)
    plain.symmetric = rowwise.symmetric = trusted
    counted, other = CountingOracle(plain), CountingOracle(rowwise)
    tried = 0
    for rows, cols in asked:
        calls, before, had = plain.calls, plain.asked, counted.queries
        assert np.array_equal(counted.similarity(rows, cols), other.similarity(rows, cols))
        fresh = counted.queries - had
        tries = plain.asked - before - fresh
        assert 0 <= tries <= (0 if trusted else min(16 - tried, fresh))
        assert plain.calls - calls == (fresh > 0) + (tries > 0)
        tried += tries
    assert plain.pairs == rowwise.pairs
    assert counted.queries == other.queries == len(plain.pairs)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.ones((3, 1)), r"asked for 3 pairs and answered with shape \(3, 1\)"),
        (["a", "b", "c"], "did not answer with numbers"),
        (np.array([1.0, 2.0, np.nan]), "items 1 and 2 is nan"),
        (ZeroDivisionError("of all things"), "failed .*3 pairs .*ZeroDivisionError: of all things"),
        (np.array([1.0, 2.0, 4.0]), "not symmetric: items 0 and 1 .*1, the other way round 4"),
    ],
)
def test_errors_of_pair_answers_name_the_items(answer, message):
    class Wrong:
        n_items, turn = 3, 1

        def similarity(self, rows, cols):
            raise AssertionError

        def paired_similarity(self, first, second):
            if isinstance(answer, Exception):
                raise answer
            self.turn = -self.turn
            return answer[:: -self.turn]

    with pytest.raises(InvalidData, match=message):
        CountingOracle(Wrong()).similarity([0, 1, 2], [0, 1, 2])


def test_with_a_full_cache_each_request_asks_once_for_a_pair():
    plain = Noted(symmetric(30))
    plain.symmetric = True
    counted = CountingOracle(plain, cache=7)
    items = np.arange(30)
    counted.similarity(items, items)
    assert plain.asked == 30 * 29 / 2
    counted.similarity(items[::-1], items)
    assert plain.asked == 30 * 29 - 7


@pytest.mark.parametrize("cache", [0, 100])
def test_one_thread_at_a_time_calls_the_oracle_unless_it_is_thread_safe(cache):
    class Busy:
        n_items = 60
        cheap = cache == 0
        inside, most, thread_safe = 0, 0, False
        two = None

        def similarity(self, rows, cols):
            self.inside += 1
            self.most = max(self.most, self.inside)
            if self.two is None:
                time.sleep(0.01)
            else:
                self.two.wait(60)  # raises if no other thread arrives
            self.inside -= 1
            return np.ones((len(rows), len(cols)))

    def ask(counted):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: counted.similarity([i], [i + 20]), range(20)))

    one = Busy()
    ask(CountingOracle(one, cache=cache))
    assert one.most == 1
    several = Busy()
    several.thread_safe, several.two = True, Barrier(2)
    ask(CountingOracle(several, cache=cache))

    def function(i, j):
        return float(np.squeeze(one.similarity([i], [j])))

    one.most = 0
    ask(FunctionOracle(function, n_items=60))
    assert one.most == 1
    again = pickle.loads(pickle.dumps(FunctionOracle(max, n_items=60, thread_safe=True)))
    assert again.thread_safe
    assert again.similarity([1], [2]) == 2


def test_the_cache_fixes_the_value_of_each_pair_of_a_random_oracle():
    class Fickle:
        n_items = 12
        rng = np.random.default_rng(0)

        def similarity(self, rows, cols):
            return self.rng.random((len(rows), len(cols)))

    items = np.arange(12)
    with pytest.raises(InvalidData, match="not symmetric"):
        CountingOracle(Fickle(), cache=0).similarity(items, items)
    with pytest.raises(InvalidData, match="not symmetric"):
        CountingOracle(Fickle()).similarity(items[:4], items)
    steady = CountingOracle(Fickle(), fickle=True)
    part = steady.similarity(items[:4], items[2:9])
    block = steady.similarity(items, items)
    np.fill_diagonal(block, 0.0)  # an item with itself is not kept
    assert np.array_equal(block, block.T)
    apart = items[:4, None] != items[None, 2:9]
    assert np.array_equal(part[apart], block[:4, 2:9][apart])


def test_a_counting_oracle_can_be_pickled():
    counted = CountingOracle(MatrixOracle(symmetric(6)))
    counted.similarity([0, 1], [2, 3])
    again = pickle.loads(pickle.dumps(counted))
    assert again.queries == 4
    again.add_requests([(np.array([0], np.int32), np.array([5], np.int32))])
    assert (again.queries, counted.queries) == (5, 4)
    assert again.similarity([0], [2]) == counted.similarity([0], [2])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.ones((3, 2)), "asked for 2 x 3 similarities and answered with shape"),
        ([["a", "b", "c"]] * 2, "did not answer with numbers"),
        (np.array([[1.0, 2.0, np.nan], [0.0, 0.0, 0.0]]), "items 4 and 2 is nan"),
        (np.array([[1.0, 2.0, 3.0], [0.0, np.inf, 0.0]]), "items 1 and 3 is inf"),
        (np.ones((2, 3)) * 1j, "complex"),
        (ZeroDivisionError("of all things"), "failed .*2 x 3.*ZeroDivisionError: of all things"),
    ],
)
def test_errors_of_block_answers_name_the_items(answer, message):
    class Wrong:
        n_items = 5

        def similarity(self, rows, cols):
            if isinstance(answer, Exception):
                raise answer
            return answer

    with pytest.raises(InvalidData, match=message):
        CountingOracle(Wrong()).similarity([4, 1], [0, 3, 2])


def test_invalid_requests_and_parameters_are_refused():
    counted = CountingOracle(MatrixOracle(symmetric(4)))
    for wrong in ([4], [-1], [0.5], ["a"]):
        with pytest.raises(InvalidData):
            counted.similarity(wrong, [0])
    with pytest.raises(InvalidParameter, match="every item once"):
        counted.mask([0, 0, 1, 2])
    with pytest.raises(InvalidParameter):
        CountingOracle(MatrixOracle(symmetric(4)), cache=-1)
    with pytest.raises(InvalidData):
        CountingOracle(object())


@pytest.mark.parametrize("kind", FeatureOracle.KINDS)
def test_features_give_the_values_of_the_full_matrix(kind):
    rng = np.random.default_rng(1)
    features = rng.normal(size=(60, 7))
    features[5] = features[9]
    features[:, 3] = 2.0  # a constant column
    features[11] = 0.0
    oracle = FeatureOracle(features, kind)
    matrix = similarity_from_features(features, kind)
    rows, cols = rng.permutation(60), rng.permutation(60)[:25]
    block = oracle.similarity(rows, cols)
    np.testing.assert_allclose(block, matrix[np.ix_(rows, cols)], atol=1e-13)
    # Bit for bit the same in any block, and either way round.
    assert np.array_equal(block[7:9, 3:5], oracle.similarity(rows[7:9], cols[3:5]))
    assert np.array_equal(block, oracle.similarity(cols, rows).T)


def test_the_default_width_of_a_gaussian():
    features = np.random.default_rng(2).normal(size=(MAX_WIDTH_ROWS + 500, 3))
    assert FeatureOracle(features, "gaussian").width == pytest.approx(
        FeatureOracle(features[:MAX_WIDTH_ROWS], "gaussian").width, rel=0.2
    )
    assert FeatureOracle(np.ones((30, 2)), "gaussian").similarity([0], [1]) == 1.0
    with pytest.raises(InvalidParameter, match="positive"):
        FeatureOracle(features, "gaussian", width=0.0)
    with pytest.raises(InvalidParameter, match="one by one"):
        FeatureOracle(features, "euclidean")


def test_matrices_dense_and_sparse():
    matrix = symmetric(8)
    matrix[matrix < 0.5] = 0.0
    for made in (MatrixOracle(matrix), MatrixOracle(csr_array(matrix))):
        assert np.array_equal(made.similarity([3, 1], [0, 3, 7]), matrix[np.ix_([3, 1], [0, 3, 7])])


def test_a_function_is_called_with_the_lower_item_first():
    seen = []

    def shared(a, b):
        seen.append((a, b))
        return len(set(a) & set(b))

    oracle = FunctionOracle(shared, ["abc", "bcd", "xyz"])
    assert oracle.similarity([2, 0], [0, 1]).tolist() == [[0, 0], [2, 2]]
    assert seen.count(("abc", "xyz")) == 1
    assert ("abc", "abc") not in seen
    apart = FunctionOracle(lambda i, j: 1 / abs(i - j), n_items=3)
    assert apart.similarity([0, 1, 2], [0, 1, 2]).tolist() == [[1, 1, 0.5], [1, 1, 1], [0.5, 1, 1]]
    assert apart.similarity([1], [1]) == 0.0
    assert FunctionOracle(lambda i, j: i + j, n_items=4).similarity([3], [1]).item() == 4


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda i, j: np.nan, "returns nan for items 1 and 2"),
        (lambda i, j: 1 / 0, "failed on items 1 and 2 .ZeroDivisionError"),
        (lambda i, j: np.ones(2), r"shape \(2,\)"),
        (lambda i, j: None, "not a number|returns nan"),
        (lambda i, j: "close", "not a number"),
        (lambda i, j: "0.5", "not a number"),
        (lambda i, j: np.complex128(1 + 2j), "not a number"),
        (lambda i, j: np.timedelta64(3, "s"), "not a number"),
        (lambda i, j: i - j, "not symmetric: items 1 and 2"),
    ],
)
def test_errors_of_a_function_name_the_items(function, message):
    with pytest.raises(InvalidData, match=message):
        FunctionOracle(function, n_items=4).similarity([2], [1])


def test_a_batched_function_is_called_once_for_all_pairs_of_a_request():
    matrix, calls = symmetric(30), []

    def batch(first, second):
        calls.append(list(zip(first, second, strict=True)))
        return matrix[[ord(x) - 97 for x in first], [ord(y) - 97 for y in second]]

    names = [chr(97 + i) for i in range(30)]
    oracle = FunctionOracle(batch, names, batched=True)
    items = np.arange(30)
    counted = CountingOracle(oracle)
    block = counted.similarity(items, items)
    one = FunctionOracle(lambda a, b: matrix[ord(a) - 97, ord(b) - 97], names)
    assert np.array_equal(block, CountingOracle(one).similarity(items, items))
    assert list(map(len, calls)) == [30 * 29 // 2, 16]
    assert all(x < y for x, y in calls[0])
    assert len(set(calls[0])) == len(calls[0])
    assert calls[1] == [(y, x) for x, y in calls[0][:16]]
    counted.similarity(items[:9], items[5:])
    assert len(calls) == 2
    rows, cols = [4, 0], [0, 1, 4]
    assert np.array_equal(oracle.similarity(rows, cols), one.similarity(rows, cols))
    assert calls[2:] == [[("a", "e"), ("b", "e"), ("a", "b")]]
    assert oracle.similarity([3], [3]) == 0.0
    assert oracle.similarity([], [3]).shape == (0, 1)
    again = pickle.loads(pickle.dumps(FunctionOracle(np.add, n_items=9, batched=True)))
    assert again.similarity([1], [2, 3]).tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda i, j: [1.0, np.nan], "returns nan for items 1 and 3"),
        (lambda i, j: 1 / 0, "failed on 2 pairs, items 1 and 2 first .ZeroDivisionError"),
        (lambda i, j: np.ones((2, 2)), r"2 pairs has shape \(2, 2\)"),
        (lambda i, j: 0.5, r"shape \(\)"),
        (lambda i, j: ["close", "far"], "not a list of numbers"),
        (lambda i, j: np.array([1 + 2j, 1]), "not a list of numbers"),
        (lambda i, j: np.subtract(i, j), "not symmetric: items 1 and 2"),
    ],
)
def test_errors_of_a_batched_function_name_the_items(function, message):
    with pytest.raises(InvalidData, match=message):
        FunctionOracle(function, n_items=4, batched=True).similarity([1], [2, 3])


def test_a_function_needs_items():
    with pytest.raises(InvalidData, match="How many"):
        FunctionOracle(min)
    with pytest.raises(InvalidData, match="callable"):
        FunctionOracle(3, n_items=2)
    for items in ({"a": 1, "b": 2}, {1, 2}, (x for x in "ab"), 7):
        with pytest.raises(InvalidData, match="positions 0, 1") as fault:
            FunctionOracle(min, items)
        assert fault.value.hint


def test_pandas_items_are_read_by_position():
    """In pandas, series[number] looks up a label of the index, not a position."""
    names = ["a", "bb", "ccc"]
    table = pd.DataFrame({"name": names, "length": [1, 2, 3]}, index=[2, 0, 1])
    for batched in (False, True):
        seen = []

        def of_names(a, b, batched=batched, seen=seen):
            seen.append((a, b))
            return np.zeros(len(a)) if batched else 0.0

        FunctionOracle(of_names, table["name"], batched=batched).similarity([0], [2])
        assert seen[0] == ((["a"], ["ccc"]) if batched else ("a", "ccc"))
    rows = FunctionOracle(lambda a, b: -abs(a["length"] - b["length"]), table)
    assert rows.n_items == 3
    assert rows.similarity([0], [1, 2]).tolist() == [[-1.0, -2.0]]

    class Lacking(list):
        def __getitem__(self, x):
            raise OSError("the file is gone")

    with pytest.raises(InvalidData, match=r"Item 1 .* cannot be read .OSError: the file is gone"):
        FunctionOracle(min, Lacking(names)).similarity([2], [1])


def levenshtein(a, b):
    """Edit distance by its recursive definition."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab€", max_size=9), min_size=1, max_size=5))
def test_strings_by_edit_distance(strings):
    block = StringOracle(strings).similarity(range(len(strings)), range(len(strings)))
    for (i, a), (j, b) in itertools.product(enumerate(strings), repeat=2):
        assert block[i, j] == pytest.approx(1 - levenshtein(a, b) / max(len(a), len(b), 1))


def test_strings_must_be_texts_and_requests_may_be_empty():
    with pytest.raises(InvalidData, match="Item 1 is int, not a text"):
        StringOracle(["a", 3])
    assert StringOracle(["a"]).similarity([], [0]).shape == (0, 1)


def test_a_problem_gives_an_oracle_without_a_full_matrix():
    features = np.random.default_rng(0).normal(size=(9, 3))
    own = MatrixOracle(symmetric(9))
    assert oracle_of(Problem(features=features, oracle=own)) is own
    assert isinstance(oracle_of(Problem(features=features, similarity=symmetric(9))), MatrixOracle)
    lazy = oracle_of(Problem(features=features))
    whole = Problem(features=features).similarity_or_default
    np.testing.assert_allclose(lazy.similarity(range(9), range(9)), whole, atol=1e-14)
    with pytest.raises(InvalidData, match="no oracle"):
        oracle_of(Problem(labels=["a", "b"]))
