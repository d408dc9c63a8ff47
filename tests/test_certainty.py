"""What the page says of the sampler's certainty."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui import certainty, pictures
from hcviz.ui.store import Store
from tests.test_store import Loop


@pytest.fixture(scope="module")
def loop():
    return Loop()


@pytest.fixture
def store(loop):
    made = Store(Session(method="ddt", treats="hard"), loop.schedule)
    assert made.open_data(DataSpec(name="zoo"))
    loop.until(lambda: made.session.status == "settled")
    made.drawn = made.session.snapshot
    yield made
    made.close()


def test_branches_carry_the_share_of_trees_with_their_clade(store):
    found = certainty.support(store)
    tree = store.session.snapshot.tree
    assert found.shape == (tree.n_internal,)
    with store.samples.open() as posterior:
        for node in (tree.root, tree.n_leaves + 7, tree.n_leaves + 60):
            share = posterior.clade_support(tree.leaves(node))
            assert found[node - tree.n_leaves] == pytest.approx(share)
    store.look(support="hidden")
    assert certainty.support(store) is None


def test_no_numbers_flicker_while_trees_stream_in(store, loop):
    store.dispatch(act.SetParams({"steps": 10**9}))
    assert store.session.status == "sampling"
    assert certainty.support(store) is None
    store.dispatch(act.Cancel())
    store.drawn = store.session.snapshot
    assert certainty.support(store) is not None


def test_a_group_is_told_by_the_share_of_trees_that_have_it(store):
    tree = store.session.snapshot.tree
    whole = tuple(int(x) for x in tree.leaves(tree.n_leaves + 60))
    share = certainty.of_group(store, whole)
    assert share.endswith(" % of 151")
    assert certainty.of_group(store, (0,)) is None
    store.look(selection=whole)
    assert ["Sampled trees with it", share] in pictures.inspector(store)["selection"]["facts"]


def test_the_verdict_is_words_and_a_reason(store):
    said = certainty.settled(store)
    assert said["word"] in ("still moving", "too early to say", "settled")
    assert said["why"]
    assert pictures.inspector_live(store)["sure"] == said


def test_a_method_that_does_not_sample_says_nothing(store, loop):
    store.dispatch(act.SetMethod("average", "ignored"))
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot
    assert certainty.support(store) is None
    assert certainty.settled(store) is None
    assert pictures.tools(store)["noSupport"]


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0 %"), (0.001, "< 1 %"), (0.72, "72 %"), (0.9951, "> 99 %"), (1.0, "100 %")],
)
def test_what_is_not_certain_is_never_rounded_to_certain(share, said):
    assert certainty.percent(np.float64(share)) == said
