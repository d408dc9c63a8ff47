"""Card sorts: who put which card on which pile."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz.core.errors import InvalidData
from hcviz.io.tables import read_table

SORT = """participant,card,pile
Ada,lute,plucked
Ada,harp,plucked
Ada,oboe,blown
Bea,oboe,1
Bea,lute,1
Bea,harp,2
Cid,lute,x
Cid,harp,x
"""


def literal(rows):
    """The share of those who sorted both that put both on one pile; None where nobody did."""
    cards = list(dict.fromkeys(card for _, card, _ in rows))
    found = {}
    for a, b in itertools.combinations(cards, 2):
        both = together = 0
        for sorter in {who for who, _, _ in rows}:
            pile = {card: pile for who, card, pile in rows if who == sorter and pile}
            if a in pile and b in pile:
                both += 1
                together += pile[a] == pile[b]
        found[a, b] = together / both if both else None
    return cards, found


def test_cards_are_as_similar_as_participants_put_them_together():
    data = read_table(SORT.encode(), "sort.csv")
    assert data.labels == ("lute", "harp", "oboe")
    assert data.similarity.tolist() == [[1, 2 / 3, 1 / 2], [2 / 3, 1, 0], [1 / 2, 0, 1]]
    assert data.notes[0].startswith("3 participants sorted 3 cards: ")
    assert data.provenance == "Your card sort 'sort.csv'."
    tree = hcviz.fit("average", data.problem())
    assert tree.satisfies(np.array([[0, 1, 2]], np.int32)).all()


@given(st.data())
def test_the_similarity_is_the_definitions(data):
    names = ["7", "é t", "NA1", "dog", "eel"]
    rows = [
        (who, card, data.draw(st.sampled_from(["a", "b", "1", "1.0", ""])))
        for who in data.draw(st.lists(st.sampled_from("xyz"), min_size=1, unique=True))
        for card in data.draw(st.permutations(names))[: data.draw(st.integers(2, 5))]
    ]
    cards, wanted = literal(rows)
    known = [share for share in wanted.values() if share is not None]
    text = "subject;item;group\n" + "".join(";".join(row) + "\n" for row in rows)
    if not known:
        with pytest.raises(InvalidData, match="No participant sorted two cards"):
            read_table(text.encode())
        return
    found = read_table(text.encode())
    assert list(found.labels) == cards
    for (a, b), share in wanted.items():
        i, j = cards.index(a), cards.index(b)
        assert found.similarity[i, j] == found.similarity[j, i]
        assert found.similarity[i, j] == pytest.approx(np.mean(known) if share is None else share)
    said = " ".join(found.notes)
    assert ("No participant sorted both cards of" in said) == (len(known) < len(wanted))
    assert ("Cards left aside" in said) == any(not pile for _, _, pile in rows)


def test_other_columns_are_left_out_and_any_order_is_read():
    data = read_table(b"time,pile,card,participant\n1,a,x,p\n2,a,y,p\n3,b,z,p\n", "s.csv")
    assert data.labels == ("x", "y", "z")
    assert "Columns left out: time." in data.notes
    assert data.similarity[0].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("p,x,a\np,y,b\np,x,b\n", "Row 4: 'p' has sorted 'x' before"),
        ("p,x,a\n,y,b\n", "Row 3, column participant: the cell is empty"),
        ("p,x,a\np,,b\n", "Row 3, column card: the cell is empty"),
        ("p,x,a\nq,x,b\n", "The card sort has 1 card"),
        ("p,x,a\nq,y,b\n", "No participant sorted two cards"),
        ("p,x,\np,y,\n", "No participant sorted two cards"),
    ],
)
def test_a_bad_card_sort_gets_a_sentence(rows, said):
    with pytest.raises(InvalidData, match=said):
        read_table(f"participant,card,pile\n{rows}".encode(), "sort.csv")


def test_a_table_of_features_is_none():
    data = read_table(b"item,group,size\nant,a,1\nbee,b,2\ncat,a,4\n", "t.csv")
    assert data.features is not None
