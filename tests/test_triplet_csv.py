"""Constraints as CSV: nothing lost, and what is wrong is named by line and column."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core.errors import InvalidConstraint
from hcviz.io.triplet_csv import read_triplet_csv, write_triplet_csv
from hcviz.session.model import Constraint

NAMES = ("bat", "killer whale", 'the "big" lion', "trout, brown", " newt ", "löwe\nmähne", "=1+1")

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def constraint_lists(draw):
    ids = draw(st.lists(st.integers(1, 10**6), unique=True, max_size=5))
    made = []
    for id in ids:
        items = draw(st.permutations(range(len(NAMES))))
        made.append(
            Constraint(
                id,
                tuple(items[: draw(st.integers(2, len(NAMES) - 1))]),
                items[-1],
                author=draw(TEXT),
                weight=draw(st.floats(1e-300, 1e300)),
                note=draw(TEXT),
                enabled=draw(st.booleans()),
                time=draw(st.sampled_from(["", "2026-11-21T12:00:00+00:00"])),
            )
        )
    return tuple(made)


@settings(max_examples=200, deadline=None)
@given(constraint_lists())
def test_nothing_is_lost(constraints):
    text = write_triplet_csv(constraints, NAMES)
    assert read_triplet_csv(text, NAMES) == constraints
    assert read_triplet_csv(text.encode(), NAMES) == constraints


def test_three_columns_suffice():
    found = read_triplet_csv(
        '\ufefftogether_1, together_2 ,APART\nbat,killer whale, newt \n\nbat,=1+1,"trout, brown"\n',
        NAMES,
    )
    assert [(c.id, c.group, c.apart) for c in found] == [(1, (0, 1), 4), (2, (0, 6), 3)]
    assert found[0] == replace(Constraint(1, (0, 1), 4), time=found[0].time)


def test_groups_gather_from_scattered_rows_and_numbers_do_not_clash():
    found = read_triplet_csv(
        "together_1,together_2,apart,group\na,b,z,1\na,b,c,\nb,c,z,1\n", ["a", "b", "c", "z"]
    )
    assert [(c.id, c.group, c.apart) for c in found] == [(1, (0, 1, 2), 3), (2, (0, 1), 2)]


LABELS = ("bat", "whale", "lion", "trout")
HEAD = "together_1,together_2,apart"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no header", "together_1,together_2,apart"]),
        ("bat,whale,trout\n", ["no header", "'bat,whale,trout'", "anchor-near-far"]),
        ("anchor,near,far\nbat,whale,trout\n", ["comparisons", "anchor-near-far"]),
        (f"{HEAD}\nbat,whael,trout\n", ["Line 2", "together_2", "'whael'", "'whale'"]),
        (f"{HEAD}\nbat,whale,trout\nbat,whale,xxxxxxxx\n", ["Line 3", "apart", "'xxxxxxxx'"]),
        (f"{HEAD}\nbat,,trout\n", ["Line 2", "together_2", "''"]),
        (f"{HEAD}\nbat\n", ["Line 2", "together_2"]),
        (f"{HEAD}\nbat,whale,bat\n", ["Line 2", "twice"]),
        (f"{HEAD}\nbat,whale,trout,1\n", ["Line 2", "4 cells"]),
        (f"{HEAD},weight\nbat,whale,trout,heavy\n", ["Line 2", "weight", "'heavy'"]),
        (f"{HEAD},weight\nbat,whale,trout,-1\n", ["Line 2", "weight", "positive"]),
        (f"{HEAD},weight\nbat,whale,trout,inf\n", ["weight"]),
        (f"{HEAD},enabled\nbat,whale,trout,maybe\n", ["Line 2", "enabled", "'maybe'"]),
        (f"{HEAD},group\nbat,whale,trout,x\n", ["Line 2", "group", "'x'"]),
        (f"{HEAD},wieght\nbat,whale,trout,1\n", ["'wieght'", "Known"]),
        (f"{HEAD},apart\nbat,whale,trout,lion\n", ["'apart' twice"]),
        (f"{HEAD},group\nbat,whale,trout,1\nbat,whale,*,1\n", ["Line 3", "line 2", "apart"]),
        (f"{HEAD},group\nbat,whale,trout,1\nwhale,trout,lion,1\n", ["Line 3"]),
        (f"{HEAD},note,group\nbat,whale,trout,a,1\nbat,lion,trout,b,1\n", ["Line 3", "note"]),
        (f'{HEAD}\n"bat,whale,trout\n', ["not CSV"]),
        (b"\xff\xfe\x00", ["UTF-8"]),
    ],
)
def test_what_is_wrong_is_named(text, words):
    with pytest.raises(InvalidConstraint) as caught:
        read_triplet_csv(text, LABELS)
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("bat,whale,trout\nlion,bat,trout\n", "together-together-apart", [(0, 1, 3), (2, 0, 3)]),
        (f"{HEAD}\nbat,whale,trout\n", "together-together-apart", [(0, 1, 3)]),
        ("bat,whale,trout\n", "anchor-near-far", [(0, 1, 3)]),
        ("Anchor, near,far\nbat,whale,trout\n", "anchor-near-far", [(0, 1, 3)]),
        ("2,0,1\n", "anchor-near-far", [(2, 0, 1)]),  # cblearn's arrays hold numbers
    ],
)
def test_an_order_that_is_named_is_read(text, order, expected):
    found = read_triplet_csv(text, LABELS, order)
    assert [(*each.group, each.apart) for each in found] == expected


@pytest.mark.parametrize(
    ("text", "order", "words"),
    [
        ("bat,whale,trout\n", "far-near-anchor", ["no order"]),
        ("anchor,near,far\nbat,whale,trout\n", "together-together-apart", ["opened as"]),
        (f"{HEAD}\nbat,whale,trout\n", "anchor-near-far", ["opened as", "together_1"]),
        ("near,anchor,far\nbat,whale,trout\n", "anchor-near-far", ["opened as"]),
        (f"{HEAD},weight\nbat,whale,trout,2\n", "together-together-apart", ["opened as"]),
        ("bat,whale,trout,2\n", "together-together-apart", ["Line 1", "4 cells"]),
        ("bat,whale,4\n", "anchor-near-far", ["Line 1", "'4'"]),
        ("bat,whale\n", "anchor-near-far", ["Line 1"]),
    ],
)
def test_a_named_order_must_fit(text, order, words):
    with pytest.raises(InvalidConstraint) as caught:
        read_triplet_csv(text, LABELS, order)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_names_go_before_numbers():
    found = read_triplet_csv("2,0,1\n", ("0", "1", "2", "3")[::-1], "anchor-near-far")
    assert [(*each.group, each.apart) for each in found] == [(1, 3, 2)]


def test_a_group_must_hang_together():
    with pytest.raises(InvalidConstraint, match="shares no item"):
        read_triplet_csv(f"{HEAD},group\na,b,z,1\nc,d,z,1\n", list("abcdz"))


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: HEAD + "\n" + t)))
def test_any_other_bytes_give_constraints_or_a_sentence(content):
    try:
        found = read_triplet_csv(content, LABELS)
    except InvalidConstraint:
        return
    assert all(isinstance(each, Constraint) for each in found)
