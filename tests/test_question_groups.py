"""The question "is this a group?": which clade is chosen, and what each answer does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hcviz import Problem, Tree
from hcviz.core.errors import InvalidParameter
from hcviz.posterior import Posterior
from hcviz.questions import Memory, ask, strategies, teach
from hcviz.questions.group import entropy
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.questions import model as questions_model
from hcviz.ui.features.questions.controller import QuestionController
from tests.stores import over_zoo

N = 6
SHOWN = Tree.from_children([[0, 1], [2, 3], [4, 5], [6, 7], [9, 8]], N)
OTHER = Tree.from_children([[0, 2], [1, 3], [4, 5], [6, 7], [9, 8]], N)
THIRD = Tree.from_children([[0, 4], [2, 3], [1, 5], [6, 7], [9, 8]], N)


def ask_group(tree=SHOWN, trees=(), memory=None, groups=None, seed=0):
    posterior = None
    if trees:
        posterior = Posterior(N)
        for each in trees:
            posterior.add(each, 0.0)
    rng = np.random.default_rng(seed)
    return ask("group", tree, posterior, memory=memory, groups=groups, rng=rng)


def clades_of(tree):
    return {tuple(sorted(c.tolist())) for c in tree.clades() if 1 < c.size < tree.n_leaves}


def test_the_least_sure_clade_is_chosen():
    trees = [SHOWN, SHOWN, OTHER, THIRD, THIRD]
    share = {c: sum(c in clades_of(t) for t in trees) / len(trees) for c in clades_of(SHOWN)}
    best = max(-p * math.log2(p) - (1 - p) * math.log2(1 - p) for p in share.values() if 0 < p < 1)
    for seed in range(10):
        question = ask_group(trees=trees, seed=seed)
        p = share[question.items]
        assert question.is_group
        assert question.value == pytest.approx(best)
        assert -p * math.log2(p) - (1 - p) * math.log2(1 - p) == pytest.approx(best)
        assert question.why.sentence("abcdef").startswith(f"{100 * p:.0f} %")


def test_each_clade_is_asked_once_but_those_that_are_required():
    memory, seen = Memory(), []
    while question := ask_group(trees=[SHOWN, OTHER], memory=memory, groups=[[4, 5]]):
        memory.ask(question)
        seen.append(question.items)
    assert set(seen) == clades_of(SHOWN) - {(4, 5)}
    assert len(seen) == len(set(seen))


def test_without_sampled_trees_any_clade_may_come():
    assert {ask_group(seed=seed).items for seed in range(60)} == clades_of(SHOWN)


def test_large_clades_are_not_asked_about():
    n = 60
    rows = [[0, 1], *([k + 1, n + k - 1] for k in range(1, n - 1))]
    tree = Tree.from_children(rows, n)
    sizes = {len(ask_group(tree, seed=seed).items) for seed in range(40)}
    assert max(sizes) <= 16


def test_entropy_is_the_definition():
    share = np.array([0.0, 0.25, 0.5, 1.0])
    assert entropy(share) == pytest.approx([0.0, 0.811278, 1.0, 0.0], abs=1e-6)


def test_the_teaching_loop_asks_about_pieces_only():
    assert "group" not in strategies()
    with pytest.raises(InvalidParameter, match="teaching loop"):
        next(teach(Problem(features=np.eye(4)), None, "group"))


@pytest.fixture
def store(loop):
    with over_zoo(loop, "average") as made:
        yield made


@pytest.fixture
def card(store):
    made = QuestionController(store)
    made.act("strategy", {"value": "group"})
    made.key("q")
    return made


def test_yes_is_one_constraint_and_the_next_question_comes(store, card, loop):
    first = store.view.question
    shown = questions_model.state(store)["question"]
    assert shown["group"]
    assert not shown["picks"]
    assert card.key("a")
    (made,) = store.session.constraints
    assert made.statement == (first.items, EVERYTHING_ELSE)
    loop.until(lambda: store.view.question is not None)
    assert store.view.question.items != first.items
    assert store.session.snapshot.tree.has_clade(first.items)


def test_no_asks_for_the_items_that_do_not_belong(store, card, loop):
    while len(store.view.question.items) < 4:
        card.key(" ")
    question = store.view.question
    gestures = Gestures(store)
    gestures.on_stated = card.another
    assert card.key("r")
    assert questions_model.state(store)["question"]["repairing"]
    card.key("1")
    card.key("2")
    group, apart = store.view.draft.ready
    assert set(group) | set(apart) == set(question.items)
    assert len(apart) == 2
    gestures.apply()
    loop.until(lambda: store.session.status == "settled")
    assert not store.session.snapshot.tree.has_clade([*apart, group[0]])
    assert store.session.constraints[0].holds_in(store.session.snapshot.tree)


@pytest.mark.parametrize("key", ["a", "l"])
def test_yes_after_no_states_the_group(store, card, key):
    while len(store.view.question.items) < 4:
        card.key(" ")
    asked = store.view.question.items
    card.key("r")
    card.key("1")
    assert store.view.draft.apart
    assert card.key(key)
    (made,) = store.session.constraints
    assert made.statement == (asked, EVERYTHING_ELSE)
    assert not store.view.draft.open


@pytest.mark.parametrize("method", ["average", "ddt"])
def test_no_without_a_reason_where_the_method_can_keep_it(method, loop):
    with over_zoo(loop, method) as store:
        card = QuestionController(store)
        card.act("strategy", {"value": "group"})
        card.key("q")
        while len(store.view.question.items) < 3:  # No to a pair asks for no reason
            card.key(" ")
        asked = store.view.question.items
        card.key("r")
        shown = questions_model.state(store)["question"]
        assert shown["deniable"] == (method == "ddt")
        card.act("deny", {})
        (made,) = store.session.constraints
        assert made.statement == (asked, NOT_A_GROUP)
        loop.until(lambda: store.session.status == "settled" and store.view.question)
        if method == "ddt":
            assert not store.session.snapshot.tree.has_clade(asked)


def deny_a_pair(store, card):
    """Answer No to the first question about two items; the items."""
    card.act("strategy", {"value": "group"})
    card.key("q")
    while len(store.view.question.items) != 2:
        card.key(" ")
    asked = store.view.question.items
    card.key("r")
    (made,) = store.session.constraints
    assert made.statement == (asked, NOT_A_GROUP)
    return asked


def test_no_of_a_pair_is_kept_where_the_method_cannot_follow_it(store, card, loop):
    asked = deny_a_pair(store, card)
    assert "This method cannot keep that items are not a group." in store.view.message
    assert store.view.message.startswith("Kept: ")
    assert not store.view.draft.open
    assert store.view.question.items != asked
    (row,) = constraints_model.state(store)["items"]
    assert row["reason"].endswith("cannot keep this. The sampler (DDT) can.")


def test_no_of_a_pair_needs_no_odd_one(loop):
    with over_zoo(loop, "ddt") as store:
        deny_a_pair(store, QuestionController(store))


def test_a_skipped_group_does_not_come_again(store, card):
    seen = set()
    for _ in range(20):
        items = store.view.question.items
        assert items not in seen
        seen.add(items)
        card.key(" ")
    assert store.session.constraints == ()
