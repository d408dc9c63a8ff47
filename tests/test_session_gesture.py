"""The gestures: which clicks make which constraint, and what the sentence bar says meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.session.constraint import EVERYTHING_ELSE
from hcviz.session.draft import Draft
from hcviz.session.model import Constraint
from tests.sessions import ANIMALS

BAT, WHALE, LION, TROUT, PIKE, WASP, CROW, NEWT = range(8)


def test_together_then_odd():
    draft = Draft()
    assert not draft.open
    assert draft.pick((BAT,)) == draft
    draft = draft.begin_together()
    assert draft.open
    assert "click the items" in draft.sentence(ANIMALS)
    draft = draft.pick((BAT,))
    assert draft.begin_odd().mode == "together"  # one item is no group yet
    draft = draft.pick((WHALE,))
    assert "bat + whale" in draft.sentence(ANIMALS)
    assert draft.ready == ((BAT, WHALE), EVERYTHING_ELSE)  # Enter: they are a group
    draft = draft.begin_odd()
    assert draft.ready is None
    assert draft.sentence(ANIMALS) == "bat + whale together, apart from … click the odd one out."
    draft = draft.pick((TROUT,))
    assert draft.ready == ((BAT, WHALE), TROUT)
    assert draft.sentence(ANIMALS).startswith("bat + whale together, apart from trout.")
    both = draft.pick((PIKE,))  # another one is added
    assert both.ready == ((BAT, WHALE), (TROUT, PIKE))
    assert both.begin_odd() == both  # O again keeps them
    assert both.pick((TROUT,)).ready == ((BAT, WHALE), PIKE)
    assert draft.pick((TROUT,)).ready is None  # clicked again: taken back
    assert draft.clear() == Draft()


def test_a_selected_subtree_fills_the_group():
    draft = Draft().begin_together((BAT, WHALE, LION)).begin_odd().pick((WASP,))
    assert draft.ready == ((BAT, WHALE, LION), WASP)
    assert Draft().begin_odd((BAT, WHALE)).pick((WASP,)).ready == ((BAT, WHALE), WASP)


def test_picks_add_and_remove_leaves_and_clades():
    draft = Draft().begin_together().pick((BAT, WHALE, LION)).pick((WHALE,))
    assert draft.group == (BAT, LION)
    assert draft.pick((BAT, LION)).group == ()
    assert draft.pick((BAT, CROW)).group == (BAT, LION, CROW)


def test_an_odd_one_from_the_group_is_ejected():
    draft = Draft().begin_together((BAT, WHALE, TROUT)).begin_odd().pick((TROUT,))
    assert draft.ready == ((BAT, WHALE), TROUT)
    small = Draft().begin_together((BAT, TROUT)).begin_odd().pick((TROUT,))
    assert small.ready is None
    assert "needs two" in small.sentence(ANIMALS)


def test_a_clade_of_odd_ones_makes_one_constraint():
    draft = Draft().begin_together((BAT, WHALE)).begin_odd().pick((TROUT, PIKE))
    assert draft.ready == ((BAT, WHALE), (TROUT, PIKE))
    assert "together, apart from trout + pike. Click" in draft.sentence(ANIMALS)


def test_items_are_added_to_the_group_after_the_odd_ones_and_nothing_is_lost():
    draft = Draft().begin_together((BAT, WHALE)).begin_odd().pick((TROUT, PIKE))
    back = draft.begin_together()
    assert (back.mode, back.group, back.apart) == ("together", (BAT, WHALE), (TROUT, PIKE))
    assert back.pick((LION,)).ready == ((BAT, WHALE, LION), (TROUT, PIKE))
    moved = back.pick((TROUT,))  # an odd one out that belongs to the group after all
    assert moved.ready == ((BAT, WHALE, TROUT), PIKE)
    assert moved.pick((LION,)).begin_odd().apart == (PIKE,)


def test_each_item_is_taken_back_by_itself():
    draft = Draft().begin_together((BAT, WHALE, LION)).begin_odd().pick((TROUT, LION))
    assert draft.group == (BAT, WHALE)
    assert draft.without(LION).ready == ((BAT, WHALE, LION), TROUT)
    assert draft.without(TROUT).apart == (LION,)
    assert draft.without(BAT).group == (WHALE,)
    assert "needs two items" in draft.without(BAT).sentence(ANIMALS)
    assert draft.without(NEWT) == draft


def test_eject():
    assert Draft().begin_eject((BAT, WHALE, TROUT)).pick((TROUT,)).ready == ((BAT, WHALE), TROUT)
    draft = Draft().begin_eject((BAT, WHALE, TROUT, PIKE))
    assert "does not belong" in draft.sentence(ANIMALS)
    assert draft.pick((WASP,)) == draft  # not inside
    two = draft.pick((TROUT, PIKE, WASP))
    assert two.ready == ((BAT, WHALE), (TROUT, PIKE))
    assert "three items" in Draft().begin_eject((BAT, WHALE)).sentence(ANIMALS)
    assert draft.pick((TROUT,)).pick((PIKE,)) == two  # one after the other
    assert two.pick((PIKE,)).ready == ((BAT, WHALE, PIKE), TROUT)
    left = draft.pick((WHALE, TROUT, PIKE))
    assert left.ready is None
    assert "must stay" in left.sentence(ANIMALS)


MOVES = st.one_of(
    st.tuples(st.just("pick"), st.lists(st.integers(0, 7), max_size=4)),
    st.tuples(
        st.sampled_from(["begin_together", "begin_odd", "begin_eject"]),
        st.lists(st.integers(0, 7), max_size=4),
    ),
    st.tuples(st.just("without"), st.integers(0, 7)),
)


@given(st.lists(MOVES, max_size=12))
def test_a_ready_draft_is_a_constraint_and_always_has_a_sentence(moves):
    draft = Draft()
    for name, value in moves:
        draft = getattr(draft, name)(value)
        assert draft.sentence(ANIMALS)
        if draft.ready is not None:
            made = Constraint(1, *draft.ready)
            assert set(made.group) <= set(draft.picked)


def test_a_draft_is_frozen():
    with pytest.raises(AttributeError):
        Draft().mode = "odd"
