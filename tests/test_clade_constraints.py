"""A group as a constraint of the session: G, T and Enter, files, links, conflicts, undo."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz import Tree
from hcviz.core.errors import InvalidConstraint
from hcviz.io.triplet_csv import read_triplet_csv, write_triplet_csv
from hcviz.questions import ask
from hcviz.session import actions as act
from hcviz.session.aho_graph import find_blocked_set
from hcviz.session.assessment import assess, explain_conflict
from hcviz.session.constraint import EVERYTHING_ELSE, Constraint
from hcviz.ui.app.link import from_query, link_of, to_query
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.dependencies import section as dependencies_section
from hcviz.ui.features.node_costs import model as node_costs_model
from tests.stores import Loop, over_zoo

LABELS = ["bat", "whale", "trout", "pike", "lion"]


def group(number, *items):
    return Constraint(number, items, EVERYTHING_ELSE)


def test_a_group_is_one_row_with_a_sentence():
    made = group(3, 0, 1, 4)
    assert made.sentence(LABELS) == "bat + whale + lion are a group"
    assert made.named == (0, 1, 4)
    assert made.rows.tolist() == [[0, 1, -3], [1, 4, -3]]
    assert len(made.triplets) == 0


@pytest.mark.parametrize("items", [(0,), (0, 0), (-2, 1)])
def test_a_bad_group_is_refused(items):
    with pytest.raises(InvalidConstraint):
        group(1, *items)


def test_groups_in_a_file_come_back():
    made = (
        Constraint(1, (0, 4, 1), EVERYTHING_ELSE, weight=2.0, note="mammals", enabled=False),
        Constraint(2, (2, 3), 0),
        Constraint(3, (2, 3), EVERYTHING_ELSE),
    )
    for labels in (LABELS, ["*", "=1+1", "a,b", 'a"b', "é"]):
        assert read_triplet_csv(write_triplet_csv(made, labels), labels) == made
    text = "together_1,together_2,apart\nbat,whale,*\n"
    assert read_triplet_csv(text, LABELS) == (group(1, 0, 1),)


def test_overlapping_groups_are_a_conflict_with_both_named():
    known = [group(1, 0, 1, 4), group(2, 2, 3)]
    new = group(3, 1, 2)
    found = explain_conflict(new, known, LABELS)
    assert found.with_ids == (1,)
    assert "“whale + trout are a group” contradicts “bat + whale + lion are a group”" in (
        found.sentence
    )
    blocked = find_blocked_set(new, known[:1])
    assert blocked is not None
    assert blocked.path[-1] in new.group
    assert blocked.path[0] not in new.group


def test_a_nested_group_is_no_conflict():
    assert find_blocked_set(group(2, 0, 1), [group(1, 0, 1, 4)]) is None


@pytest.fixture
def store():
    loop = Loop()
    with over_zoo(loop, "average") as made:
        made.loop = loop
        yield made


def wait_until_done(store):
    store.loop.until(lambda: store.session.status in ("settled", "failed", "stale"))


def test_g_states_that_the_selection_is_a_group(store):
    gestures = Gestures(store)
    gestures.key("g")
    assert "Select a branch" in store.view.message
    store.change_view(selection=(0, 1, 2))
    gestures.key("g")
    wait_until_done(store)
    assert [each.statement for each in store.session.constraints] == [((0, 1, 2), EVERYTHING_ELSE)]
    assert store.session.tree.has_clade([0, 1, 2])
    gestures.key("g")  # again: nothing is added
    assert len(store.session.constraints) == 1
    store.dispatch(act.Undo())
    wait_until_done(store)
    assert not store.session.constraints
    store.dispatch(act.Redo())
    wait_until_done(store)
    assert store.session.tree.has_clade([0, 1, 2])


def test_t_and_enter_state_a_group_too(store):
    gestures = Gestures(store)
    store.change_view(selection=(5, 9))
    gestures.key("t")
    shown = constraints_model.state(store)["draft"]
    assert "are a group" in shown["assessment"]["sentence"]
    gestures.key("Enter")
    wait_until_done(store)
    assert store.session.tree.has_clade([5, 9])


def test_all_items_are_no_group(store):
    gestures = Gestures(store)
    store.change_view(selection=tuple(range(store.session.n_items)))
    gestures.key("g")
    assert "whole tree" in store.view.message
    gestures.key("t")
    assert not constraints_model.state(store)["draft"]["assessment"]
    gestures.key("Enter")
    assert not store.session.constraints


def test_a_group_that_contradicts_another_is_kept_off_and_explained(store):
    for items in ((0, 1, 2), (2, 3)):
        store.dispatch(act.AddConstraint(items, EVERYTHING_ELSE))
        wait_until_done(store)
    assert [each.enabled for each in store.session.constraints] == [True, False]
    assert store.session.conflict.with_ids == (store.session.constraints[0].id,)
    assert constraints_model.state(store)["conflict"]["answers"][0]["apart"] == []


def test_the_conflict_of_two_locked_groups_has_both_names(store):
    for name, items in (("Storage", (0, 1, 2)), ("Jars", (2, 3))):
        store.dispatch(act.NameGroup(items, name))
        store.dispatch(act.AddConstraint(items, EVERYTHING_ELSE))
        wait_until_done(store)
    sentence = store.session.conflict.sentence
    assert "Storage" in sentence
    assert "Jars" in sentence


@pytest.mark.parametrize("method", ["ddt", "crsc", "dasgupta-search", "hrsc"])
def test_every_method_of_the_page_reads_groups(store, method):
    store.dispatch(act.SetMethod(method))
    if method == "ddt":
        store.dispatch(act.SetParams({"steps": 2000}))
    store.dispatch(act.AddConstraint((3, 30, 60), EVERYTHING_ELSE))
    wait_until_done(store)
    assert store.session.error is None
    if method != "hrsc":
        assert store.session.tree.has_clade([3, 30, 60])


def test_the_verdicts_of_a_group(store):
    tree = store.session.tree
    clade = next(c for c in map(tree.leaves, range(tree.n_leaves, tree.n_nodes)) if len(c) > 3)
    clade = tuple(clade.tolist())
    assert assess(store.session, clade, EVERYTHING_ELSE).kind == "holds"
    store.dispatch(act.AddConstraint(clade, EVERYTHING_ELSE))
    wait_until_done(store)
    assert assess(store.session, clade, EVERYTHING_ELSE).kind == "repeat"
    outside = next(i for i in range(store.session.n_items) if i not in clade)
    assert assess(store.session, clade[:2], outside).kind == "implied"
    assert assess(store.session, (clade[0], outside), EVERYTHING_ELSE).kind == "conflict"


def test_a_link_keeps_groups(store):
    store.dispatch(act.AddConstraint((0, 1), EVERYTHING_ELSE))
    wait_until_done(store)
    link = link_of(store.session, store.view)
    assert from_query(to_query(link)).constraints == (((0, 1), EVERYTHING_ELSE, True),)
    assert np.all(np.array(link.constraints[0][0]) == [0, 1])


def test_a_group_that_two_people_state_weighs_twice(store):
    for author in ("ann", "bob"):
        store.dispatch(act.AddConstraint((0, 1), EVERYTHING_ELSE, author=author))
        wait_until_done(store)
    assert store.session.required_clades.weights.tolist() == [1.0, 1.0]


def test_a_file_with_a_group_of_all_items_is_refused_with_its_line():
    with pytest.raises(InvalidConstraint, match=r"Line 2 .* all 3 items"):
        read_triplet_csv("together_1,together_2,apart,group\na,b,*,1\nb,c,*,1\n", ["a", "b", "c"])


def test_items_called_like_everything_else_are_never_mistaken():
    labels = ["*", "(everything else)", "a", "b"]
    with pytest.raises(InvalidConstraint, match="mean everything else"):
        write_triplet_csv((group(1, 2, 3),), labels)
    made = (Constraint(1, (2, 3), 0),)
    assert read_triplet_csv(write_triplet_csv(made, labels), labels) == made


def test_sections_of_the_page_use_groups(store):
    tree = store.session.tree
    left, right = (tree.leaves(int(child)) for child in tree.children(tree.root))
    across = (int(left[0]), int(right[0]))
    store.dispatch(act.SetMethod("hrsc"))
    wait_until_done(store)
    store.dispatch(act.AddConstraint(across, EVERYTHING_ELSE))
    wait_until_done(store)
    known = node_costs_model.constrained_problem(store, store.problem)
    assert len(known.triplets) > 0  # priced
    store.dispatch(act.SetMethod("crsc"))
    wait_until_done(store)
    assert len(node_costs_model.constrained_problem(store, store.problem).groups) == 1
    assert "groups" in dependencies_section.state(store)["sentence"] or (
        "is a group" in dependencies_section.state(store)["sentence"]
    )


def test_simple_questions_skip_what_groups_imply():
    tree = Tree.from_newick("(((0,1),2),3);")
    rng = np.random.default_rng(0)
    assert ask("simple", tree, groups=[[0, 1], [0, 1, 2]], rng=rng) is None
    assert ask("simple", tree, rng=rng) is not None
