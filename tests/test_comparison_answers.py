"""What answers may be like: on cycles, none, cancelling, one-sided; sign tables; ARI matrices."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz import Comparisons, Problem
from hcviz.algorithms.comparison.passive import answers_of
from hcviz.core.errors import InvalidData, TooLarge
from hcviz.datasets import sample_signs
from hcviz.datasets.sampling import unrank_pairs
from hcviz.metrics import adjusted_rand_index, ari_matrix, consistency, cyclic_share


def slow(rows):
    """The share of questions on a cycle, by the words of the definition."""
    asked = {}
    for row in rows:
        ends = [tuple(sorted(row[:2])), tuple(sorted(row[2:]))]
        if len(row) == 3:
            ends = [tuple(sorted((row[0], row[1]))), tuple(sorted((row[0], row[2])))]
        key = tuple(sorted(ends))
        if ends[0] != ends[1]:
            asked.setdefault(key, []).append(1 if ends[0] == key[0] else -1)
    arcs = {(key if sum(signs) > 0 else key[::-1]) for key, signs in asked.items() if sum(signs)}
    reach = set(arcs)
    for _ in range(len(arcs)):
        reach |= {(a, d) for a, b in reach for c, d in arcs if b == c}
    cyclic = [(b, a) in reach for a, b in arcs]
    return np.mean(cyclic) if cyclic else 0.0


TRIPLES = [row for row in permutations(range(5), 3)]
QUADRUPLES = [(*a, *b) for a, b in permutations(combinations(range(4), 2), 2)]


LISTS = [st.lists(st.sampled_from(rows), max_size=14) for rows in (TRIPLES, QUADRUPLES)]


@given(LISTS[0] | LISTS[1])
def test_cycles_are_the_definition(rows):
    assert cyclic_share(Comparisons(rows)) == pytest.approx(slow(rows))


def test_answers_about_one_similarity_lie_on_no_cycle():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, 12))
    rows = rng.integers(0, 12, (500, 3))
    rows = rows[
        (rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])
    ]
    similarity = values + values.T
    nearer = similarity[rows[:, 0], rows[:, 1]] > similarity[rows[:, 0], rows[:, 2]]
    answers = Comparisons(np.where(nearer[:, None], rows, rows[:, [0, 2, 1]]))
    assert cyclic_share(answers) == 0
    assert consistency(answers).share == 1


def test_the_cars_answers(shared_data, monkeypatch):
    monkeypatch.setenv("HCVIZ_DATA", str(shared_data))
    answers = hcviz.datasets.load("car").comparisons
    assert len(answers) == 12112
    assert consistency(answers).repeated == 0  # the list that the papers use has no repeats
    assert 0 < cyclic_share(answers) < 1


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_a_sign_table_is_what_was_seen_of_the_similarity(p):
    """Each comparison seen independently: within 4.5 standard deviations of p M (M - 1) / 2."""
    values = np.random.default_rng(1).normal(size=(14, 14))
    similarity = values + values.T
    table = sample_signs(similarity, p, seed=2)
    m = len(table)
    assert m == 91
    assert np.array_equal(table, -table.T)
    low, high = unrank_pairs(np.arange(m))
    w = similarity[low, high]
    seen = table != 0
    assert np.array_equal(table[seen], np.sign(w[:, None] - w[None])[seen])
    count, total = seen.sum() / 2, m * (m - 1) / 2
    assert abs(count - p * total) <= 4.5 * np.sqrt(p * (1 - p) * total)


def test_a_sign_table_of_many_items_is_refused():
    with pytest.raises(TooLarge, match="300 is the limit"):
        sample_signs(np.zeros((301, 301)), 0.1)


def test_the_matrix_of_several_partitions():
    parts = [np.array(p, np.int32) for p in ([0, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0])]
    matrix = ari_matrix(parts)
    assert matrix.shape == (3, 3)
    for a in range(3):
        for b in range(3):
            assert matrix[a, b] == pytest.approx(adjusted_rand_index(parts[a], parts[b]))


READERS = ["4-al", "4k-al", "adds-sdp", "t-ste", "forte"]


@pytest.mark.parametrize("name", READERS)
def test_no_answers_are_a_sentence(name):
    """p = 0: nothing was seen."""
    for none in (None, np.empty((0, 3), int), np.empty((0, 4), int)):
        with pytest.raises(InvalidData, match="needs comparisons, which this data does not have"):
            hcviz.run(name, Problem(labels=list("abcd"), comparisons=none))


@pytest.mark.parametrize("name", READERS)
def test_items_never_compared_have_a_place_and_are_counted(name):
    rows = [[0, 1, 2], [1, 0, 2], [2, 3, 0], [3, 2, 1]] * 3
    params = {"k": 2} if name == "adds-sdp" else {}
    problem = Problem(labels=list("abcdef"), comparisons=rows)
    shown = list(hcviz.run(name, problem, **params))[-1]
    assert sorted(shown.tree.leaf_order.tolist()) == list(range(6))
    assert shown.metrics["never compared"] == 2


@pytest.mark.parametrize("name", ["4-al", "4k-al", "adds-sdp"])
def test_answers_that_cancel_are_refused(name):
    """Equally many answers both ways cancel: the others give the same tree."""
    left = [[0, 1, 2, 3], [0, 1, 0, 2], [2, 3, 1, 3]]
    split = [[0, 2, 1, 3], [1, 3, 0, 2]] * 4
    params = {"k": 2} if name == "adds-sdp" else {}
    trees = [
        list(hcviz.run(name, Problem(labels=list("abcd"), comparisons=rows), **params))[-1].tree
        for rows in (left, left + split)
    ]
    assert {tuple(sorted(c)) for c in trees[0].clades()} == {
        tuple(sorted(c)) for c in trees[1].clades()
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", READERS)
def test_answers_of_which_nothing_is_left_are_a_sentence(name):
    params = {"k": 2} if name == "adds-sdp" else {}

    def refused(rows, **more):
        with pytest.raises(InvalidData) as fault:
            list(hcviz.run(name, Problem(labels=list("abcd"), comparisons=rows), **params, **more))
        return str(fault.value)

    three, four = [[0, 1, 2], [0, 2, 1]], [[0, 1, 2, 3], [3, 2, 1, 0]]
    for rows in (three, four, three * 3, [*four, [0, 1, 1, 0]]):
        assert "answered as often one way as the other" in refused(rows)
    alone = [[0, 1, 0, 1], [2, 3, 3, 2]]
    for more in ({}, {"repeats": "once"}):
        assert "pairs of items with themselves" in refused(alone, **more)
    assert "read as a set" in refused([*three, three[0]], repeats="once")
    left = Problem(labels=list("abcd"), comparisons=[*alone, *four, four[0]])
    metrics = list(hcviz.run(name, left, **params))[-1].metrics
    assert metrics["answers"] == 5


@given(
    st.one_of(
        st.lists(st.sampled_from(TRIPLES[:9]), min_size=1, max_size=6),
        st.lists(st.sampled_from([*QUADRUPLES[:8], (0, 1, 1, 0)]), min_size=1, max_size=6),
    ),
    st.booleans(),
)
def test_answers_cancel_where_every_question_does(rows, doubled):
    if doubled:
        rows = rows + [(r[0], r[2], r[1]) if len(r) == 3 else (*r[2:], *r[:2]) for r in rows]
    _, yes, no = Comparisons(rows).tally()
    try:
        answers_of(Problem(labels=list("abcdefgh"), comparisons=rows), "all")
    except InvalidData:
        assert yes.tolist() == no.tolist()
    else:
        assert yes.tolist() != no.tolist()


@pytest.mark.parametrize("name", ["4-al", "4k-al"])
def test_a_pair_may_be_named_in_either_order(name):
    """Every answer stands in the list once, the pair that is more alike first: nothing is lost
    because the other order of its items, or the opposite sign, is not listed too."""
    rng = np.random.default_rng(4)
    pairs = list(combinations(range(7), 2))
    rows = np.array([(*pairs[a], *pairs[b]) for a, b in rng.integers(0, 21, (90, 2)) if a != b])
    turned = np.where(rng.random((len(rows), 1)) < 0.5, rows[:, [1, 0, 3, 2]], rows)
    assert hcviz.fit(name, Problem(comparisons=rows)) == hcviz.fit(
        name, Problem(comparisons=turned)
    )


@pytest.mark.parametrize("name", READERS)
def test_triplets_hold_for_any_answers(name):
    """Every answer says 0 is next to 1 and 2 next to 3; the person says otherwise."""
    rows = [[0, 1, 2], [0, 1, 3], [1, 0, 2], [1, 0, 3], [2, 3, 0], [2, 3, 1], [3, 2, 0]] * 5
    triplets = [[0, 2, 1], [1, 3, 0], [0, 2, 4]]
    params = {"k": 2} if name == "adds-sdp" else {}
    problem = Problem(labels=list("abcde"), comparisons=rows)
    free = hcviz.fit(name, problem, **params)
    held = hcviz.fit(name, problem.with_triplets(triplets), **params)
    assert not free.satisfies(triplets).all()
    assert held.satisfies(triplets).all()
