"""The smallest set of answers at odds, held against a look at every subset."""

from __future__ import annotations

import itertools
import time

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core import conflict
from hcviz.core.build import chain_triplets, is_consistent
from hcviz.core.conflict import SmallestConflict, smallest_conflict
from tests.trees import random_tree, true_triplets

COMPILED = not numba.config.DISABLE_JIT


def at_odds(answers, asked, n):
    return not is_consistent(n, np.concatenate([asked, *answers]))


def fewest(answers, asked, n):
    """The definition: every subset, smallest first."""
    for size in range(len(answers) + 1):
        for few in itertools.combinations(range(len(answers)), size):
            if at_odds([answers[k] for k in few], asked, n):
                return size
    return None


@st.composite
def cases(draw, n=7, most=8):
    def answer():
        items = draw(st.permutations(range(n)))
        return chain_triplets(items[: draw(st.integers(2, 3))], items[-1])

    return [answer() for _ in range(draw(st.integers(0, most)))], answer()


@settings(max_examples=200, deadline=None)
@given(cases())
def test_it_is_the_smallest_of_all_subsets(case):
    answers, asked = case
    found = smallest_conflict(answers, asked)
    size = fewest(answers, asked, 7)
    if size is None:
        assert found is None
        return
    assert found.smallest
    assert len(found.members) == size
    assert at_odds([answers[k] for k in found.members], asked, 7)


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(0, 6000))
def test_with_any_allowance_it_is_minimal_and_never_claims_too_much(case, allowance):
    answers, asked = case
    found = smallest_conflict(answers, asked, allowance)
    size = fewest(answers, asked, 7)
    if size is None:
        assert found is None
        return
    chosen = [answers[k] for k in found.members]
    assert at_odds(chosen, asked, 7)
    for k in range(len(chosen)):
        assert not at_odds(chosen[:k] + chosen[k + 1 :], asked, 7)
    assert len(found.members) == size or not found.smallest


def test_a_short_way_round_is_found_where_deletion_finds_the_long_one():
    """0 is tied to the last item by a chain of nine answers, and by another of five."""

    def chain(through, apart):  # together along the way: so the first and the last are, too
        pairs = itertools.pairwise(through)
        return [np.array([[a, b, apart]], np.int32) for a, b in pairs]

    apart, last = 40, 30
    long = chain([0, *range(1, 9), last], apart)
    short = chain([0, *range(11, 15), last], apart)
    asked = np.array([[0, apart, last]], np.int32)
    for answers in (long + short, short + long):
        found = smallest_conflict(answers, asked)
        assert found.smallest
        assert {id(answers[k]) for k in found.members} == {id(each) for each in short}
    without = smallest_conflict(short + long, asked, 0)
    assert without == SmallestConflict(tuple(range(5)), False)  # found from one end, and not proven


def test_its_work_is_bounded_however_hard_the_question(monkeypatch):
    """60 answers on 30 items, true of one tree, and one that is not: 35 ms of CPU each."""
    searches = []

    class Noted(conflict._Search):
        def __init__(self, *given):
            super().__init__(*given)
            searches.append(self)

    monkeypatch.setattr(conflict, "_Search", Noted)
    rng = np.random.default_rng(60)
    answers = [row[None] for row in true_triplets(random_tree(rng, 30), rng, 60)]
    sizes, proven, spent = [], [], []
    for row in true_triplets(random_tree(rng, 30), rng, 40):
        began = time.thread_time()
        found = smallest_conflict(answers, row[None])
        spent.append(time.thread_time() - began)
        if found is not None:
            sizes.append(len(found.members))
            proven.append(found.smallest)
    assert max(sizes) > 10
    assert len(set(proven)) == 2  # some of these are beyond the allowance
    # Beyond the allowance only one more step of the search, and a deletion from either end.
    assert conflict.WORK_LIMIT <= max(each.work for each in searches) < 1.25 * conflict.WORK_LIMIT
    assert np.median(spent) < 0.35 or not COMPILED


def test_one_answer_turned_round_is_found_among_300():
    rng = np.random.default_rng(300)
    answers = [row[None] for row in true_triplets(random_tree(rng, 100), rng, 300)]
    for at in (0, 150, 299):
        found = smallest_conflict(answers, answers[at][:, [0, 2, 1]])
        assert found == SmallestConflict((at,), True)
