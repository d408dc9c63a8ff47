"""The statement that items are not a group: on the page, in files and links, and in conflicts."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz import Problem, Tree
from hcviz.algorithms import MODULES, get
from hcviz.commands.files import split_constraints
from hcviz.core.errors import InvalidConstraint
from hcviz.io.session_file import load_session, save_session
from hcviz.io.triplet_csv import read_triplet_csv, write_triplet_csv
from hcviz.jobs.task import Task, initial_tree
from hcviz.session import actions as act
from hcviz.session.assessment import assess
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, Constraint
from hcviz.session.experts import agreements
from hcviz.session.model import Session, equal_values
from hcviz.session.update import update
from hcviz.ui.app.link import from_query, link_of, to_query
from hcviz.ui.features.aho_graph import sheet as aho_sheet
from hcviz.ui.features.conflicts import model as conflicts_model
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.gestures import Gestures
from tests.stores import over_zoo

LABELS = ["bat", "whale", "trout", "pike", "lion"]


@pytest.fixture
def store(loop):
    with over_zoo(loop, "ddt") as made:
        yield made


def smallest_clade(tree):
    """A clade of three to eight items."""
    return next(tuple(c.tolist()) for c in tree.clades() if 3 <= c.size <= 8)


def test_it_is_one_statement_with_one_sentence():
    made = Constraint(3, (0, 1), NOT_A_GROUP)
    assert made.sentence(LABELS) == "bat + whale are not a group"
    assert made.named == (0, 1)
    assert len(made.rows) == len(made.triplets) == 0
    assert made.states_same([1, 0], NOT_A_GROUP)
    assert not made.states_same([1, 0], EVERYTHING_ELSE)
    assert not made.holds_in(Tree.from_newick("((0,1),2);"))
    assert made.holds_in(Tree.from_newick("((0,2),1);"))


def test_the_tree_follows_it_and_undo_brings_the_clade_back(store, loop):
    gestures = Gestures(store)
    before = store.session.snapshot.tree
    items = smallest_clade(before)
    store.change_view(selection=items)
    assert constraints_model.state(store)["not_group_refusal"] == ""
    gestures.state_group(is_group=False)
    (made,) = store.session.constraints
    assert made.is_not_group
    loop.until(lambda: store.session.status == "settled")
    assert not store.session.snapshot.tree.has_clade(items)
    assert store.samples is not None
    with store.samples.open() as posterior:
        assert posterior.clade_support(items) == 0.0
    (row,) = constraints_model.state(store)["items"]
    assert row["state"] == "satisfied"
    store.dispatch(act.Undo())
    assert store.session.constraints == ()
    assert store.session.snapshot.tree == before


def test_a_lock_contradicts_it_and_the_card_names_both(store, loop):
    items = smallest_clade(store.session.snapshot.tree)
    store.dispatch(act.AddConstraint(items, EVERYTHING_ELSE))
    loop.until(lambda: store.session.status == "settled")
    assert assess(store.session, items, NOT_A_GROUP).kind == "conflict"
    store.dispatch(act.AddConstraint(items, NOT_A_GROUP))
    lock, not_group = store.session.constraints
    assert lock.enabled
    assert not not_group.enabled
    assert store.session.conflict.with_ids == (lock.id,)
    assert "are not a group" in store.session.conflict.sentence
    assert "are not a group" in str(aho_sheet.state(store))
    store.dispatch(act.ResolveConflict(not_group.id, (lock.id,)))
    lock, not_group = store.session.constraints
    assert not_group.enabled
    assert not lock.enabled


@pytest.mark.parametrize("method", ["average", "crsc", "dasgupta-search"])
def test_other_methods_refuse_and_keep_the_tree(method, loop):
    with over_zoo(loop, method) as store:
        tree = store.session.snapshot.tree
        items = smallest_clade(tree)
        reason = constraints_model.state(store)["not_group_refusal"]
        assert reason.startswith(get(method).title)
        store.dispatch(act.AddConstraint(items, NOT_A_GROUP))
        assert "cannot keep that items are not a group" in store.session.message
        assert store.session.status == "settled"
        (row,) = constraints_model.state(store)["items"]
        assert row["state"] == "violated"
        store.dispatch(act.SetMethod("ddt"))
        loop.until(lambda: store.session.status == "settled")
        assert not store.session.snapshot.tree.has_clade(items)
        store.dispatch(act.SetMethod(method))
        loop.until(lambda: store.session.status == "settled")
        assert store.session.snapshot.tree.has_clade(items)
        (made,) = store.session.constraints
        store.dispatch(act.DeleteConstraint(made.id))
        assert store.session.status == "settled"


def test_a_denied_set_does_not_stop_a_lock_where_the_method_ignores_it(loop):
    with over_zoo(loop, "average") as store:
        items = smallest_clade(store.session.snapshot.tree)
        store.dispatch(act.AddConstraint(items, NOT_A_GROUP))
        (row,) = constraints_model.state(store)["items"]
        assert row["reason"].endswith("cannot keep this. The sampler (DDT) can.")
        store.change_view(selection=items)
        before = store.session
        assert assess(before, items, EVERYTHING_ELSE, keeps_not_groups=False).kind == "holds"
        Gestures(store).state_group()
        not_group, lock = store.session.constraints
        assert lock.enabled
        assert not not_group.enabled
        assert store.session.conflict is None
        assert f"cannot keep it: “{not_group.sentence(before.labels)}”." in store.session.message
        (off, on) = constraints_model.state(store)["items"]
        assert (off["reason"], on["reason"]) == ("", "")
        store.dispatch(act.Undo())
        assert store.session.constraints == before.constraints
        store.dispatch(act.SetMethod("ddt"))  # it keeps both kinds, so here they contradict
        loop.until(lambda: store.session.status == "settled")
        store.dispatch(act.AddConstraint(items, EVERYTHING_ELSE))
        assert store.session.conflict is not None
        assert [each.enabled for each in store.session.constraints] == [True, False]


def test_files_and_links_give_it_back(store):
    made = (Constraint(1, (0, 1, 4), NOT_A_GROUP), Constraint(2, (0, 1), EVERYTHING_ELSE))
    for labels in (LABELS, ["!", "*", "a", "b", "c"]):
        assert read_triplet_csv(write_triplet_csv(made, labels), labels) == made
    with pytest.raises(InvalidConstraint, match="that items are not a group"):
        write_triplet_csv(made[:1], ["!", "(not a group)", "a", "b", "c"])
    mixed = "together_1,together_2,apart,group\nbat,whale,!,1\nwhale,lion,*,1\n"
    with pytest.raises(InvalidConstraint, match="is not a group"):
        read_triplet_csv(mixed, LABELS)
    assert [len(each) for each in split_constraints(made)] == [0, 1, 1]
    store.dispatch(act.AddConstraint((3, 5), NOT_A_GROUP))
    store.dispatch(act.Cancel())
    session = store.session
    assert equal_values(load_session(save_session(session)), session)
    link = from_query(to_query(link_of(session, store.view)))
    assert link.constraints == (((3, 5), NOT_A_GROUP, True),)


@pytest.mark.parametrize("items", [(0,), (0, 0), tuple(range(101))])
def test_an_empty_statement_is_refused(items, store):
    items = items if len(items) < 100 else tuple(range(store.session.n_items))
    with pytest.raises(InvalidConstraint):
        assess(store.session, items, NOT_A_GROUP)


@pytest.mark.parametrize("beta", [None, 1.0])
def test_a_run_shows_no_denied_clade_at_its_start(beta):
    """The tree on the screen is repaired, also where other constraints are soft."""
    features = np.array([[0.0], [0.1], [5.0], [5.1]])
    problem = Problem(features=features, not_groups=[[0, 1]])
    tree = Tree.from_newick("((0,1),(2,3));")
    params = {} if beta is None else {"beta": beta}
    task = Task(1, "ddt", MODULES["ddt"], problem, params, 0, tree)
    assert not initial_tree(task).has_clade([0, 1])


# ---------------------------------------------------------------------- several of them


def locked_blocks(n, size):
    """A session whose items are locked in blocks."""
    blocks = [tuple(range(k, k + size)) for k in range(0, n, size)]
    locks = [Constraint(k, each, EVERYTHING_ELSE) for k, each in enumerate(blocks)]
    labels = tuple(f"item {k}" for k in range(n))
    return blocks, Session(labels=labels, constraints=tuple(locks), next_id=len(locks))


@pytest.mark.parametrize(("n", "size"), [(80, 10), (200, 20)])
def test_parts_of_locked_groups_may_all_be_denied(n, size):
    blocks, session = locked_blocks(n, size)
    for block in [each[1:] for each in blocks] + [each[:-1] for each in blocks]:
        session, _ = update(session, act.AddConstraint(block, NOT_A_GROUP), get)
    assert session.conflict is None
    assert all(each.enabled for each in session.constraints)
    assert equal_values(load_session(save_session(session)), session)


def test_a_conflict_of_many_is_found_without_a_long_wait():
    """All three ways to divide the two last blocks from the others are denied, or half of them."""
    blocks, session = locked_blocks(40, 10)
    for items in [(*blocks[0], *blocks[1]), (*blocks[0], *blocks[2]), (*blocks[0], *blocks[3])]:
        session, _ = update(session, act.AddConstraint(items, NOT_A_GROUP), get)
    assert session.conflict is None
    both = (*blocks[0], *blocks[1])
    session, _ = update(session, act.AddConstraint(both, EVERYTHING_ELSE), get)
    not_group = next(each for each in session.constraints if set(each.group) == set(both))
    assert session.conflict.with_ids == (not_group.id,)


def test_an_agreement_counts_triplets_only():
    """A set that is not a group names items, but states no triplet of them."""
    first = [Constraint(1, (0, 4), 5, "A"), Constraint(2, (2, 3), NOT_A_GROUP, "A")]
    for group, apart, clashes in (((2, 4), 5, 0), ((2, 5), 4, 0), ((2, 3), EVERYTHING_ELSE, 1)):
        second = Constraint(3, group, apart, "B")
        session = Session(labels=tuple("abcdef"), constraints=(*first, second))
        (found,) = agreements(session)
        assert (found.n_agreeing, found.n_contradicting) == (0, 0)
        assert found.n_disagreements == clashes


def test_a_move_that_a_denied_group_forbids_names_it():
    session = Session(labels=tuple("abcdefgh"), next_id=1)
    session, _ = update(session, act.NameGroup((0, 1, 2), "A"), get)
    session, _ = update(session, act.NameGroup((3, 4, 5), "B"), get)
    for items in ((0, 1, 2), (3, 4, 5)):
        session, _ = update(session, act.AddConstraint(items, EVERYTHING_ELSE), get)
    session, _ = update(session, act.AddConstraint((0, 1), NOT_A_GROUP), get)
    not_group = session.constraints[-1]
    into = session.groups[1].id
    session, _ = update(session, act.AddConstraint((2, 3, 4, 5), EVERYTHING_ELSE, into=into), get)
    assert not_group.id in session.conflict.with_ids
    assert [each.members for each in session.groups] == [(0, 1, 2), (3, 4, 5)]


def test_the_card_shows_not_a_group_without_soft_constraints(store, loop):
    items = smallest_clade(store.session.snapshot.tree)
    store.dispatch(act.AddConstraint(items, NOT_A_GROUP))
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.AddConstraint(items, EVERYTHING_ELSE))
    card = conflicts_model.state(store)
    assert [each["clade"] for each in card["answers"]] == ["are not a group", "are a group"]
    assert card["softs"] == []
