"""Several experts: weights, switches, agreement; and answers that are weighed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz import Snapshot, Tree
from hcviz.algorithms import get
from hcviz.core.build import chain_triplets, implies, is_consistent
from hcviz.core.errors import InvalidConstraint, SessionFileError
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session import conflicts
from hcviz.session import experts as ex
from hcviz.session.assessment import assess, constraint_states, is_consistent_set
from hcviz.session.conflicts import split_consistent
from hcviz.session.model import Constraint, Session, equal_values
from hcviz.session.replay import replay
from tests.sessions import ANIMALS, Driver, run_fake

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)
N = len(ANIMALS)


@st.composite
def statements(draw, most=6):
    made = []
    for number in range(draw(st.integers(0, most))):
        items = draw(st.permutations(range(5)))
        size = draw(st.integers(2, 3))
        made.append(Constraint(number + 1, tuple(items[:size]), items[-1]))
    return made


def one_by_one(asked, others):
    """The definition: each in its turn, beside those taken before it."""
    taken, refused = [], []
    for each in asked:
        (taken if is_consistent_set([*others, *taken, each]) else refused).append(each)
    return taken, refused


@settings(max_examples=300, deadline=None)
@given(statements(12), statements(3))
def test_many_answers_are_sorted_out_as_one_by_one(asked, others):
    others = one_by_one(others, [])[0]
    assert split_consistent(asked, others) == one_by_one(asked, others)


def test_many_that_are_refused_cost_few_builds_each(monkeypatch):
    """A file of contradictions holds the page's thread: two BUILDs each here, ten by bisection."""
    builds = 0

    def is_consistent_set(constraints, n_items=None):
        nonlocal builds
        builds += 1
        return original(constraints, n_items)

    original = conflicts.is_consistent_set
    monkeypatch.setattr(conflicts, "is_consistent_set", is_consistent_set)
    asked = [Constraint(1, (0, 1), 2)]
    asked += [Constraint(k, *(((0, 2), 1) if k % 2 else ((3, k), 0))) for k in range(4, 516)]
    taken, refused = split_consistent(asked, ())
    assert (len(taken), len(refused)) == (257, 256)
    assert builds < 4 * len(refused)


# ---------------------------------------------------------------------- agreement


def slow_agreement(first, second):
    """By the definition: each triple that either states, judged by all that the other implies."""
    ours, theirs = one_by_one(first, [])[0], one_by_one(second, [])[0]
    items = [{i for c in some for i in (*c.group, c.apart)} for some in (ours, theirs)]
    shared = items[0] & items[1]
    counts = {"alike": 0, "against": 0, "open": 0}
    seen = set()
    for mine, others in ((ours, theirs), (theirs, ours)):
        rows = np.array([row for c in others for row in chain_triplets(c.group, c.apart)])
        stated = []
        for each in mine:
            group = [i for i in each.group if i in shared]
            if each.apart in shared and len(group) > 1:
                stated += [(a, b, each.apart) for a, b in pairwise(group)]
        for row in stated:
            if frozenset(row) in seen:
                continue
            seen.add(frozenset(row))
            if not is_consistent(5, np.concatenate([rows, [row]])):
                counts["against"] += 1
            elif implies(5, rows, row):
                counts["alike"] += 1
            else:
                counts["open"] += 1
    return counts


@settings(max_examples=200, deadline=None)
@given(statements(), statements())
def test_agreement_compares_each_author_with_the_other_s_triplets(first, second):
    if not first or not second:
        return
    listed = [replace(c, author="Ann") for c in first]
    listed += [replace(c, id=c.id + 20, author="Bob", enabled=False) for c in second]
    (found,) = ex.agreements(Session(labels=ANIMALS, constraints=tuple(listed)))
    wanted = slow_agreement(first, second)
    assert {
        "alike": found.n_agreeing,
        "against": found.n_contradicting,
        "open": found.n_open,
    } == wanted
    assert found.n_checked == found.n_stated == sum(wanted.values())
    known = found.n_agreeing + found.n_contradicting
    assert found.share == (found.n_agreeing / known if known else None)
    by_id = {c.id: c for c in listed}
    for clash in found.disagreements:
        members = [by_id[each] for each in clash.with_ids]
        assert not is_consistent_set([by_id[clash.id], *members])
        for left_out in members:
            assert is_consistent_set([by_id[clash.id], *(m for m in members if m is not left_out)])
    assert bool(found.n_disagreements) == (
        not is_consistent_set([*one_by_one(first, [])[0], *one_by_one(second, [])[0]])
    )


def test_agreement_of_large_lists_is_of_a_part_with_a_note(monkeypatch):
    monkeypatch.setattr(ex, "BUILD_BUDGET", 40_000)
    labels = tuple(str(k) for k in range(60))
    rows = [(k, k + 1, k + 2) for k in range(57)]
    answers = [Constraint(n + 1, (a, b), c, author=who)
            for n, (who, (a, b, c)) in enumerate((w, r) for w in "AB" for r in rows)]  # fmt: skip
    (found,) = ex.agreements(Session(labels=labels, constraints=tuple(answers)))
    assert 0 < found.n_checked < found.n_stated == 57
    assert (found.n_contradicting, found.share) == (0, 1.0)


def test_three_authors_are_three_pairs():
    answers = tuple(Constraint(n, (BAT, n), LION, author=f"{n}") for n in (3, 4, 5))
    found = ex.agreements(Session(labels=ANIMALS, constraints=answers))
    assert [(a.first, a.second) for a in found] == list(combinations("345", 2))
    assert [a.share for a in found] == [None] * 3


# ---------------------------------------------------------------------- weights and switches


def test_the_next_answers_have_the_named_author():
    driver = Driver()
    before = len(driver.session.past)
    driver(act.SetAuthor("  Ann \n Lee "))
    assert (driver.session.author, len(driver.session.past)) == ("Ann Lee", before)
    for name in (" ", "x" * 61):
        with pytest.raises(InvalidConstraint, match="characters"):
            driver(act.SetAuthor(name))
    assert [e.name for e in ex.experts(driver.session)] == ["Ann Lee"]


@pytest.fixture
def two():
    driver = Driver()
    for author, group, apart in (
        ("Ann", (BAT, WHALE), TROUT), ("Ann", (BAT, LION), TROUT), ("Bob", (PIKE, TROUT), BAT),
    ):  # fmt: skip
        driver(act.AddConstraint(group, apart, author=author))
    return driver


def enabled(driver):
    return [each.id for each in driver.session.enabled]


def test_a_switch_is_one_step_and_gives_back_what_it_took(two):
    two(act.DisableConstraint(2))
    steps = len(two.session.past)
    two(act.EnableAuthor("Ann", False))
    assert (enabled(two), len(two.session.past)) == ([3], steps + 1)
    assert two.started[-1].triplets.rows.tolist() == [[PIKE, TROUT, BAT]]
    assert two.session.disabled_by_author == (1,)
    two(act.EnableAuthor("Ann", False))
    assert len(two.session.past) == steps + 1  # nothing changed: no step
    two(act.EnableAuthor("Ann", True))
    assert enabled(two) == [1, 3]  # 2 was off before
    assert two.session.disabled_by_author == ()
    two(act.Undo())
    two(act.Undo())
    assert (enabled(two), two.session.disabled_by_author) == ([1, 3], ())
    two(act.DisableConstraint(1))
    two(act.EnableAuthor("Ann", True))  # nothing rests: all of them
    assert enabled(two) == [1, 2, 3]


def test_what_contradicts_meanwhile_stays_off_and_is_explained(two):
    two(act.EnableAuthor("Ann", False))
    two(act.AddConstraint((TROUT, WHALE), BAT, author="Bob"))
    assert enabled(two) == [3, 4]
    two(act.EnableAuthor("Ann", True))
    assert enabled(two) == [2, 3, 4]
    assert two.session.conflict.constraint_id == 1
    assert "1 contradict" in two.session.message
    assert is_consistent_set(two.session.enabled)


def test_weights_multiply_and_run_only_where_they_are_weighed(two):
    runs = len(two.started)
    two(act.SetAuthorWeight("Ann", 3.0))
    assert len(two.started) == runs  # hard: nothing to weigh
    assert "ignores weights" in two.session.message
    assert two.session.triplets.weights.tolist() == [3.0, 3.0, 1.0]
    two(act.SetMethod("hrsc"))
    two(act.SetAuthorWeight("Bob", 0.5))
    assert two.started[-1].triplets.weights.tolist() == [3.0, 3.0, 0.5]
    two(act.Undo())
    assert dict(two.session.author_weights) == {"Ann": 3.0}
    for weight in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InvalidConstraint, match="positive"):
            two(act.SetAuthorWeight("Ann", weight))


def test_all_of_it_comes_back_from_the_file_and_from_the_log(two):
    two(act.SetAuthor("Bob"))
    two(act.SetAuthorWeight("Ann", 2.0))
    two(act.EnableAuthor("Ann", False))
    two(act.Soften("hrsc", {"lam": 2.0}))
    session = two.session
    assert equal_values(load_session(save_session(session)), session)
    again = replay(session, lambda spec, effect: run_fake(spec, effect, N), get)
    assert (again.author, dict(again.author_weights)) == ("Bob", {"Ann": 2.0})
    assert (again.constraints, again.disabled_by_author) == (
        session.constraints,
        session.disabled_by_author,
    )
    with pytest.raises(SessionFileError, match="positive"):
        load_session(save_session(replace(session, author_weights={"Ann": -1.0})))


# ---------------------------------------------------------------------- weighing


def torn(driver=None):
    driver = driver or Driver()
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    driver(act.AddConstraint((BAT, TROUT), WHALE))
    driver(act.AddConstraint((TROUT, WHALE), BAT))
    return driver


def test_soft_constraints_are_one_step_and_enable_all():
    driver = torn()
    conflict = driver.session.conflict
    steps = len(driver.session.past)
    driver(act.Soften("ddt", {"beta": 10.0}, (2, 3)))
    session = driver.session
    assert (enabled(driver), session.conflict, len(session.past)) == ([1, 2, 3], None, steps + 1)
    assert (session.constraint_mode, dict(session.params)) == ("soft", {"beta": 10.0})
    assert len(driver.started[-1].triplets) == 3
    assert equal_values(load_session(save_session(session)), session)
    driver(act.Undo())
    assert (enabled(driver), driver.session.constraint_mode) == ([1], "hard")
    assert conflict.constraint_id == 3


def test_answers_that_are_weighed_are_judged_by_the_tree():
    driver = torn()
    driver(act.Soften("hrsc", {}, (2, 3)))
    driver(act.Arrived(driver.session.run, Snapshot(Tree.star(N), 1, 1)))
    driver(act.Finished(driver.session.run))
    session = driver.session
    kinds = {assess(session, (a, b), c).kind for a, b, c in ((PIKE, WASP, CROW), (BAT, PIKE, NEWT))}
    assert kinds <= {"holds", "correction"}
    assert set(constraint_states(session).values()) <= {"satisfied", "violated"}
    driver(act.AddConstraint((BAT, TROUT), WHALE, author="Bob"))
    assert driver.session.enabled[-1].author == "Bob"
    driver(act.ImportConstraints((Constraint(0, (TROUT, WHALE), BAT, author="Cleo"),)))
    assert driver.session.enabled[-1].author == "Cleo"
    assert driver.session.conflict is None


def test_one_contradiction_is_noted_as_weighted():
    driver = Driver()
    driver(act.SetMethod("hrsc"))
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    verdict = assess(driver.session, (BAT, TROUT), WHALE)
    assert verdict.kind == "conflict"
    assert "weighed against" in verdict.sentence
    driver(act.AddConstraint((BAT, TROUT), WHALE))
    assert enabled(driver) == [1, 2]


@pytest.mark.parametrize(
    "action",
    [act.SetMethod("crsc"), act.SetParams({"beta": None}),
     act.SetMethod("average")],
)  # fmt: skip
def test_a_change_to_hard_keeps_consistent_constraints(action):
    driver = torn()
    driver(act.Soften("ddt", {"beta": 10.0}, (2, 3)))
    driver(action)
    session = driver.session
    assert enabled(driver) == [1]
    assert (session.conflict.constraint_id, session.conflict.waiting) == (2, (3,))
    assert "2 constraints switched off" in session.message
    driver(act.Undo())
    assert enabled(driver) == [1, 2, 3]
