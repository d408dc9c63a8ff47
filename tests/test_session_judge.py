"""What an answer means, held against all trees of up to five items."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core.errors import InvalidConstraint
from hcviz.core.snapshot import Snapshot
from hcviz.session.assessment import (
    assess,
    assess_statement,
    constraint_states,
    contradicts,
    explain_conflict,
    implied_constraint_ids,
)
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP
from hcviz.session.model import Constraint, Session
from tests.trees import all_trees, random_tree

N = 5


@cache
def every_tree():
    return tuple(all_trees(N, binary=True))


def obeying(statements):
    """The definition: the binary trees in which each group has a clade without its odd item.

    Without an odd item, the group itself is a clade (EVERYTHING_ELSE) or none (NOT_A_GROUP).
    """
    return [
        tree
        for tree in every_tree()
        if all(holds(set(group), apart, tree) for group, apart in statements)
    ]


def holds(group, apart, tree):
    clades = [set(clade.tolist()) for clade in tree.clades()]
    if apart in (EVERYTHING_ELSE, NOT_A_GROUP):
        return (group in clades) == (apart == EVERYTHING_ELSE)
    return any(group <= clade and apart not in clade for clade in clades)


@st.composite
def statements(draw, least=0, most=4):
    made = []
    for _ in range(draw(st.integers(least, most))):
        items = draw(st.permutations(range(N)))
        size = draw(st.integers(2, N - 1))
        apart = draw(st.sampled_from([EVERYTHING_ELSE, NOT_A_GROUP, items[-1], items[-1]]))
        made.append((tuple(items[:size]), apart))
    return made


def session_with(some, tree=None):
    constraints = tuple(Constraint(k, *each) for k, each in enumerate(some))
    snapshot = None if tree is None else Snapshot(tree, 1, 1)
    return Session(labels=tuple("abcde"), constraints=constraints, snapshot=snapshot)


@settings(max_examples=150, deadline=None)
@given(statements(), statements(1, 1), st.integers(0, 235))
def test_the_kind_is_what_all_small_trees_say(earlier, new, which):
    allowed = obeying(earlier)
    if not allowed:
        return
    shown = allowed[which % len(allowed)]
    both = obeying([*earlier, *new])
    if not both:
        expected = "conflict"
    elif len(both) == len(allowed):
        expected = "implied"
    else:
        expected = "holds" if shown in both else "correction"
    (group, apart) = new[0]
    found = assess_statement(session_with(earlier, shown), group, apart)
    if expected == "implied" and denies(earlier):  # nothing is concluded from "not a group"
        assert found in ("implied", "holds")
    else:
        assert found == expected


def denies(some):
    return any(apart == NOT_A_GROUP for _, apart in some)


@settings(max_examples=150, deadline=None)
@given(statements(1, 5), statements(1, 1))
def test_a_conflict_is_smallest_and_its_repairs_repair(earlier, new):
    others = [Constraint(i, group, apart) for i, (group, apart) in enumerate(earlier)]
    if not obeying(earlier):
        return
    made = Constraint(9, *new[0])
    broken = not obeying([*earlier, *new])
    assert contradicts(made, others, N) == broken
    if not broken:
        return
    found = explain_conflict(made, others, "abcde", n_items=N)
    contradicting = [
        len(few)
        for size in range(1, len(others) + 1)
        for few in combinations(earlier, size)
        if not obeying([*few, *new])
    ]
    assert found.smallest
    assert len(found.with_ids) == min(contradicting)
    conflicting = [others[i].statement for i in found.with_ids]
    assert not obeying([*conflicting, *new])
    for left_out in conflicting:
        assert obeying([each for each in conflicting if each is not left_out] + new)
    repairs = {i for i in range(len(others)) if obeying([*earlier[:i], *earlier[i + 1 :], *new])}
    assert set(found.repairs) == repairs
    assert made.sentence("abcde") in found.sentence


@settings(max_examples=100, deadline=None)
@given(statements(0, 5))
def test_implied_means_by_those_before_it(some):
    if not obeying(some):
        return
    constraints = tuple(Constraint(i, group, apart) for i, (group, apart) in enumerate(some))
    expected = {
        i for i in range(len(some)) if len(obeying(some[:i])) == len(obeying(some[: i + 1]))
    }
    found = implied_constraint_ids(constraints, N)
    if denies(some):
        assert found <= expected
    else:
        assert found == expected


def test_states_distinguish_each_constraint():
    tree = random_tree(np.random.default_rng(1), N)
    good = next(row for row in combinations(range(N), 3) if tree.satisfies([row])[0])
    bad = (good[0], good[2], good[1])
    session = Session(
        labels=tuple("abcde"),
        constraints=(
            Constraint(1, good[:2], good[2]),
            Constraint(2, good[:2], good[2], author="Bo"),
            Constraint(3, bad[:2], bad[2], enabled=False),
        ),
    )
    assert constraint_states(session) == {1: "violated", 2: "violated", 3: "disabled"}
    from hcviz import Snapshot  # the same session, once a tree is shown

    shown = Session(
        labels=session.labels, constraints=session.constraints, snapshot=Snapshot(tree, 1, 1)
    )
    assert constraint_states(shown) == {1: "satisfied", 2: "implied", 3: "disabled"}
    assert assess(shown, good[:2], good[2]).kind == "repeat"
    assert assess(shown, good[:2], good[2], author="Cy").kind == "implied"
    assert assess(shown, bad[:2], bad[2]).kind == "conflict"
    # While a run uses an answer, it is not called violated.
    running = replace(shown, status="sampling", constraints=(Constraint(1, bad[:2], bad[2]),))
    assert constraint_states(running) == {1: "pending"}
    assert constraint_states(replace(running, constraint_mode="ignored")) == {1: "violated"}
    assert constraint_states(replace(running, status="settled")) == {1: "violated"}
    with pytest.raises(InvalidConstraint, match="item 7"):
        assess(shown, (0, 7), 1)


def test_a_larger_conflict_is_described_by_its_repairs():
    # 0,1|2  1,2|3  2,3|4 ... force the order 0 1 2 ...; the last two then contradict 6,7|0
    chain = [Constraint(i, (i, i + 1), i + 2) for i in range(6)]
    made = Constraint(9, (7, 6), 0)
    assert contradicts(made, chain)
    found = explain_conflict(made, chain, [str(i) for i in range(8)])
    assert len(found.with_ids) >= 3
    assert found.repairs == found.with_ids
    assert f"{len(found.with_ids)} earlier answers" in found.sentence


def test_judging_is_quick_at_500_items_and_100_constraints():
    """A preview has to fit into a frame: 10 ms of CPU, allowed five times that."""
    rng = np.random.default_rng(5)
    tree = random_tree(rng, 500)
    constraints = []
    clades = [clade for clade in tree.clades() if 2 <= clade.size <= 40]
    while len(constraints) < 100:
        clade = clades[int(rng.integers(len(clades)))]
        size = int(rng.integers(2, min(clade.size, 12) + 1))
        group = rng.choice(clade, size, replace=False)
        apart = int(rng.integers(500))
        if apart not in clade:
            constraints.append(Constraint(len(constraints), tuple(group), apart))
    from hcviz import Snapshot

    session = Session(
        labels=tuple(map(str, range(500))),
        constraints=tuple(constraints),
        snapshot=Snapshot(tree, 1, 1),
    )
    asked = [(each.group, each.apart) for each in constraints[:20]]
    asked += [((int(a), int(b)), int(c)) for a, b, c in rng.permutation(500)[:60].reshape(20, 3)]
    assess(session, *asked[0])  # compiled
    spent = []
    for group, apart in asked:
        begin = time.thread_time()
        assess(session, group, apart, author="ann")
        spent.append(time.thread_time() - begin)
    assert np.median(spent) < 0.05
    assert set(constraint_states(session).values()) <= {"satisfied", "implied"}
