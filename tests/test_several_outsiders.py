"""A constraint with several outsiders: some clade has the whole group and none of them."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz import Tree
from hcviz.core.errors import InvalidConstraint
from hcviz.datasets.dataset import Dataset
from hcviz.io.session_file import load_session, save_session
from hcviz.io.triplet_csv import read_triplet_csv, write_triplet_csv
from hcviz.session import actions as act
from hcviz.session.aho_graph import find_blocked_set
from hcviz.session.assessment import assess, explain_conflict
from hcviz.session.constraint import EVERYTHING_ELSE, MAX_TRIPLETS, Constraint
from hcviz.session.draft import Draft
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app.link import from_query, link_of, to_query
from hcviz.ui.features.conflicts import model as conflicts_model
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.state.store import Store
from hcviz.ui.state.subscribers import Subscribers
from tests.stores import Loop, over_zoo

LABELS = ["bat", "whale", "trout", "pike", "lion"]


@st.composite
def statements(draw):
    n = draw(st.integers(3, 9))
    items = draw(st.permutations(range(n)))
    size = draw(st.integers(2, n - 1))
    end = draw(st.integers(size + 1, n))
    return n, tuple(items[:size]), tuple(items[size:end])


@st.composite
def statements_and_trees(draw):
    n, group, odd = draw(statements())
    pieces = [(item, {item}) for item in range(n)]
    children, clades = [], [{item} for item in range(n)]
    while len(pieces) > 1:
        first, left = pieces.pop(draw(st.integers(0, len(pieces) - 1)))
        second, right = pieces.pop(draw(st.integers(0, len(pieces) - 1)))
        pieces.append((n + len(children), left | right))
        children.append([first, second])
        clades.append(left | right)
    return n, group, odd, clades, Tree.from_children(children, n)


def holds(group, odd, clades):
    """Return the definition: some clade has the whole group and no outsider."""
    return any(set(group) <= clade and not clade & set(odd) for clade in clades)


@given(statements_and_trees())
def test_it_holds_as_defined(case):
    _, group, odd, clades, tree = case
    assert Constraint(1, group, odd).holds_in(tree) == holds(group, odd, clades)


@given(statements())
def test_build_satisfies_it(case):
    n, group, odd = case
    made = Constraint(1, group, odd)
    tree = hcviz.build(n, made.rows)
    assert made.holds_in(tree)
    assert len(made.rows) == (len(group) - 1) * len(odd)
    assert made.triplets.weights.sum() == pytest.approx(1.0)


def test_it_is_one_sentence_and_one_outsider_is_an_item():
    made = Constraint(3, (0, 1), [2, 3, 2])
    assert made.apart == (2, 3)
    assert made.named == (0, 1, 2, 3)
    assert made.sentence(LABELS) == "bat + whale together, apart from trout + pike"
    assert made.states_same([1, 0], (3, 2))
    assert not made.states_same([1, 0], 3)
    assert Constraint(3, (0, 1), (2,)).apart == 2


@pytest.mark.parametrize("apart", [(), (1, 2), (-1, 2), (-3,)])
def test_bad_outsiders_are_refused(apart):
    with pytest.raises(InvalidConstraint):
        Constraint(1, (0, 1), apart)


def test_too_many_triplets_are_refused_with_a_remedy():
    many = MAX_TRIPLETS // 100 + 1
    with pytest.raises(InvalidConstraint, match="triplets") as fault:
        Constraint(1, tuple(range(101)), tuple(range(200, 200 + many)))
    assert "(G)" in fault.value.hint
    Constraint(1, tuple(range(MAX_TRIPLETS + 5)), MAX_TRIPLETS + 5)  # one outsider has no limit


@given(st.lists(statements(), max_size=4))
def test_files_give_it_back(cases):
    made = tuple(Constraint(k + 1, group, odd) for k, (_, group, odd) in enumerate(cases))
    labels = ["*", "=1+1", "a,b", 'a"b', "é", "</script>", "x\ny", "\u202eabc", "7"]
    assert read_triplet_csv(write_triplet_csv(made, labels), labels) == made


def test_a_file_that_mixes_outsiders_with_everything_else_is_refused():
    rows = "bat,whale,trout,1\nbat,whale,*,1\n"
    with pytest.raises(InvalidConstraint, match="everything else"):
        read_triplet_csv("together_1,together_2,apart,group\n" + rows, LABELS)


def test_a_conflict_and_its_graph_name_it():
    known = [Constraint(1, (0, 1), (2, 3))]
    new = Constraint(2, (1, 3), 0)
    found = explain_conflict(new, known, LABELS)
    assert found.with_ids == (1,)
    blocked = find_blocked_set(Constraint(2, (0, 4), (1, 3)), [Constraint(1, (0, 1), (2, 4))])
    assert blocked is not None
    assert blocked.path == (1, 0)


@pytest.fixture
def store():
    with over_zoo(Loop(), "average") as made:
        yield made


def test_the_draft_makes_one_constraint_and_one_undo(store):
    gestures, labels = Gestures(store), store.session.labels
    names = ["wolf", "tuna", "dolphin", "crow"]
    wolf, tuna, dolphin, crow = (labels.index(name) for name in names)
    store.change_view(selection=(wolf, tuna))
    gestures.key("o")
    gestures.select_items((dolphin, crow))
    shown = constraints_model.state(store)["draft"]
    assert shown["assessment"]["kind"] == "correction"
    gestures.key("Enter")
    (made,) = store.session.constraints
    assert made.statement == ((wolf, tuna), (dolphin, crow))
    (row,) = constraints_model.state(store)["items"]
    assert row["sentence"] == "wolf + tuna together, apart from dolphin + crow"
    assert assess(store.session, (tuna, wolf), (crow, dolphin)).kind == "repeat"
    assert assess(store.session, (tuna, wolf), (crow,)).kind == "implied"
    link = link_of(store.session, store.view)
    sent = tuple(sorted((wolf, tuna))), (dolphin, crow), True
    assert from_query(to_query(link)).constraints == (sent,)
    assert load_session(save_session(store.session)).constraints == store.session.constraints
    store.dispatch(act.AddConstraint((tuna, dolphin), wolf))
    card = conflicts_model.state(store)
    assert [leaf["name"] for leaf in card["answers"][0]["apart"]] == ["dolphin", "crow"]
    store.dispatch(act.Undo())
    store.dispatch(act.Undo())
    assert store.session.constraints == ()


@pytest.mark.parametrize("method", ["average", "crsc", "ddt"])
def test_methods_keep_it(method):
    rng = np.random.default_rng(3)
    problem = hcviz.Problem(features=rng.normal(size=(12, 3)))
    made = Constraint(1, (0, 5, 7), (1, 2, 8, 9))
    params = {"steps": 50} if method == "ddt" else {}
    tree = hcviz.fit(method, problem.with_triplets(made.rows), seed=2, **params)
    assert made.holds_in(tree)


def test_a_draft_of_too_many_triplets_is_explained_and_kept(loop):
    features = np.random.default_rng(0).normal(size=(800, 2))
    data = Dataset("many", "Many", [f"item {k}" for k in range(800)], features=features)
    store = Store(Session(method="average"), loop.schedule)
    try:
        assert store.open_data(DataSpec(kind="given", name="many"), found=data)
        loop.until(lambda: store.session.status == "settled")
        gestures = Gestures(store)
        half = MAX_TRIPLETS // 200
        draft = Draft("odd", tuple(range(half)), tuple(range(half, half + 202)))
        store.change_view(draft=draft)
        shown = constraints_model.state(store)["draft"]
        assert shown["assessment"]["kind"] == "refused"
        assert not shown["ready"]
        gestures.key("Enter")
        assert store.view.draft == draft
        assert "triplets" in store.view.error[0]
        assert store.session.constraints == ()
    finally:
        store.close()


def test_all_others_apart_is_a_group():
    draft = Draft("odd", (0, 1), (2, 3, 4))
    assert draft.statement(5) == ((0, 1), EVERYTHING_ELSE)
    assert draft.statement(6) == ((0, 1), (2, 3, 4))
    assert Draft("together", (0, 1)).statement(2) is None


def test_a_view_that_fails_is_called_once_a_round():
    class State:
        number = 0

    state, calls = State(), []

    def failing(now):
        calls.append(now)
        if now:
            raise ValueError("no")

    def failed():
        state.number += 1

    views = Subscribers(state, nullcontext, failed)
    views.add(lambda s: s.number, failing)
    state.number = 1
    views.notify()
    assert calls == [0, 1]
