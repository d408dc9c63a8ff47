"""The smallest conflict, against an enumeration of all subsets."""

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


def is_conflict(answers, asked, n):
    return not is_consistent(n, np.concatenate([asked, *answers]))


def smallest_by_enumeration(answers, asked, n):
    """Enumerate all subsets, smallest first."""
    for size in range(len(answers) + 1):
        for few in itertools.combinations(range(len(answers)), size):
            if is_conflict([answers[k] for k in few], asked, n):
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
def test_the_conflict_is_the_smallest_of_all_subsets(case):
    answers, asked = case
    found = smallest_conflict(answers, asked)
    size = smallest_by_enumeration(answers, asked, 7)
    if size is None:
        assert found is None
        return
    assert found.smallest
    assert len(found.members) == size
    assert is_conflict([answers[k] for k in found.members], asked, 7)


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(0, 6000))
def test_with_any_work_limit_the_conflict_is_minimal_and_smallest_is_never_wrong(case, allowance):
    answers, asked = case
    found = smallest_conflict(answers, asked, allowance)
    size = smallest_by_enumeration(answers, asked, 7)
    if size is None:
        assert found is None
        return
    chosen = [answers[k] for k in found.members]
    assert is_conflict(chosen, asked, 7)
    for k in range(len(chosen)):
        assert not is_conflict(chosen[:k] + chosen[k + 1 :], asked, 7)
    assert len(found.members) == size or not found.smallest


def test_the_search_finds_a_short_chain_where_deletion_finds_a_long_one():
    """A chain of nine answers connects 0 and the last item, and another of five."""

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


def test_the_work_is_bounded_for_hard_cases(monkeypatch):
    """60 answers about one tree of 30 items, and one that contradicts them: 35 ms of CPU each."""
    searches = []

    class Noted(conflict.ConflictSearch):
        def __init__(self, *given):
            super().__init__(*given)
            searches.append(self)

    monkeypatch.setattr(conflict, "ConflictSearch", Noted)
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


def test_one_contradicting_answer_is_found_among_300():
    rng = np.random.default_rng(300)
    answers = [row[None] for row in true_triplets(random_tree(rng, 100), rng, 300)]
    for at in (0, 150, 299):
        found = smallest_conflict(answers, answers[at][:, [0, 2, 1]])
        assert found == SmallestConflict((at,), True)
