"""Card sorts: who put which card on which pile."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hcviz
from hcviz import Problem
from hcviz.core.errors import InvalidData
from hcviz.core.piles import Pile, pile_similarity
from hcviz.description.card_sort import (
    named_piles,
    participant_agreement,
    pile_names,
    placement_variety,
)
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
    """The share of those who sorted both that put both on one pile; None if no participant did."""
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
    notes = " ".join(found.notes)
    assert ("No participant sorted both cards of" in notes) == (len(known) < len(wanted))
    assert ("Cards left aside" in notes) == any(not pile for _, _, pile in rows)


def test_other_columns_are_left_out_and_any_order_is_read():
    data = read_table(b"time,pile,card,participant\n1,a,x,p\n2,a,y,p\n3,b,z,p\n", "s.csv")
    assert data.labels == ("x", "y", "z")
    assert "Columns left out: time." in data.notes
    assert data.similarity[0].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("p,x,a\np,y,b\np,x,b\n", "Row 4: 'p' has sorted 'x' before"),
        ("p,x,a\n,y,b\n", "Row 3, column participant: the cell is empty"),
        ("p,x,a\np,,b\n", "Row 3, column card: the cell is empty"),
        ("p,x,a\nq,x,b\n", "The card sort has 1 card"),
        ("p,x,a\nq,y,b\n", "No participant sorted two cards"),
        ("p,x,\np,y,\n", "No participant sorted two cards"),
    ],
)
def test_a_bad_card_sort_gets_a_sentence(rows, message):
    with pytest.raises(InvalidData, match=message):
        read_table(f"participant,card,pile\n{rows}".encode(), "sort.csv")


def test_a_table_of_features_is_none():
    data = read_table(b"item,group,size\nant,a,1\nbee,b,2\ncat,a,4\n", "t.csv")
    assert data.features is not None


# ---------------------------------------------------------------------- forms of tables

PLACED = {("Ada", "lute"): "plucked", ("Ada", "harp"): "plucked", ("Ada", "oboe"): "blown",
          ("Bea", "lute"): "x", ("Bea", "harp"): "y", ("Bea", "oboe"): "y"}  # fmt: skip
BY_PARTICIPANT = "participant;lute;harp;oboe\nAda;plucked;plucked;blown\nBea;x;y;y\n"
BY_CARD = "card\tAda\tBea\nlute\tplucked\tx\nharp\tplucked\ty\noboe\tblown\ty\n"
EXPORT = "Participant ID,Card index,Card Label,Category_label,Sorted position\n" + "".join(
    f"{who},{k},{card},{pile},{k}\n" for k, ((who, card), pile) in enumerate(PLACED.items())
)


def placed(data):
    return {(p.participant, data.labels[i]): p.name for p in data.piles for i in p.items}


@pytest.mark.parametrize("text", [BY_PARTICIPANT, BY_CARD, EXPORT, "\ufeff" + BY_CARD])
def test_each_form_has_the_piles_of_all_participants(text):
    data = read_table(text.encode(), "sort.csv", kind="card-sort")
    assert placed(data) == PLACED


def test_usual_headers_are_detected_where_cards_repeat():
    assert placed(read_table(EXPORT.encode(), "sort.csv")) == PLACED
    numbered = BY_CARD.replace("Ada", "P1").replace("Bea", "P 2")
    assert len(read_table(numbered.encode()).piles) == 4


@pytest.mark.parametrize(
    "text",
    [
        "id,item,category\n1,lute,string\n2,oboe,wind\n3,harp,string\n",
        "participant,age,smoker\nAda,20,yes\nBea,30,no\nCid,40,no\n",
        "card,price,colour\nvisa,3,red\nmaster,4,blue\n",
        "participant,q1,q2,q3\nAda,agree,agree,no\nBea,no,no,agree\n",
    ],
)
def test_a_table_of_features_is_no_card_sort(text):
    data = read_table(text.encode())
    assert not data.piles
    assert data.features is not None


def test_a_wide_form_read_as_features_gets_a_note():
    notes = read_table(b"participant,a,b,c,d\nAda,x,x,y,y\nBea,u,v,v,v\n").notes
    assert any("choose “Card sort”" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("card,Food,Drink\ntea,0,9\nrice,8,1\n", "counts how often"),
        ("what,one,two\ntea,x,y\nrice,y,y\n", "three columns: participant, card and pile"),
        ("participant,card\nAda,tea\n", "three columns: participant, card and pile"),
    ],
)
def test_other_tables_are_refused_with_the_three_columns(text, message):
    with pytest.raises(InvalidData, match=message) as caught:
        read_table(text.encode(), kind="card-sort")
    assert "participant, card and pile" in caught.value.message


# ---------------------------------------------------------------------- trees of piles


@st.composite
def sorts(draw):
    """A problem of 2 to 6 cards; each participant may leave cards out."""
    n = draw(st.integers(2, 6))
    piles = []
    for who in "abcd"[: draw(st.integers(1, 4))]:
        where = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        for k in range(4 if who != "d" else 3):
            items = tuple(card for card in range(n) if where[card] == k)
            piles += [Pile(who, f"pile {k}", items)] * bool(items)
    done = [[i for p in piles if p.participant == who for i in p.items] for who in "abcd"]
    assume(any(len(cards) > 1 for cards in done))
    return Problem(labels=[f"card {k}" for k in range(n)], piles=piles)


def groups_of(tree):
    return {
        frozenset(tree.leaves(v).tolist()): tree.height[v]
        for v in range(tree.n_leaves, tree.n_nodes)
    }


def share_on_one_pile(items, piles):
    people = {pile.participant for pile in piles}
    return sum(any(set(items) <= set(p.items) for p in piles if p.participant == who)
               for who in people) / len(people)  # fmt: skip


@given(sorts())
def test_actual_agreement_takes_the_piles_with_most_support(problem):
    candidates = {frozenset(pile.items) for pile in problem.piles if len(pile.items) > 1}
    order = sorted(
        candidates, key=lambda c: (-share_on_one_pile(c, problem.piles), -len(c), sorted(c))
    )
    taken = {frozenset(range(problem.n_items))}
    for each in order:
        if all(not each & other or each <= other or other <= each for other in taken):
            taken.add(each)
    found = groups_of(hcviz.fit("actual-agreement", problem))
    assert set(found) == taken
    for items, height in found.items():
        assert height == pytest.approx(1 - share_on_one_pile(items, problem.piles))


@given(sorts())
def test_best_merge_joins_the_groups_with_the_greatest_least_share(problem):
    n = problem.n_items
    share = pile_similarity(problem.piles, n)[0]
    clusters = [{k} for k in range(n)]
    expected = {}

    def worth(a, b):
        least = min(share[i, j] for i in a | b for j in a | b)
        return round(least, 9), round(share[np.ix_(sorted(a), sorted(b))].mean(), 6)

    while len(clusters) > 1:
        pairs = list(itertools.combinations(clusters, 2))  # the first of equals is merged
        a, b = max(pairs, key=lambda pair: worth(*pair))
        expected[frozenset(a | b)] = 1 - worth(a, b)[0]
        clusters = sorted([each for each in clusters if each not in (a, b)] + [a | b], key=min)
    found = groups_of(hcviz.fit("best-merge", problem))
    assert set(found) == set(expected)
    for items, height in found.items():
        assert height == pytest.approx(expected[items], abs=1e-6)


# ---------------------------------------------------------------------- participants and cards


@given(sorts())
def test_participants_and_cards_agree_as_defined(problem):
    piles, n = problem.piles, problem.n_items
    people = list(dict.fromkeys(pile.participant for pile in piles))
    of = {who: [set(p.items) for p in piles if p.participant == who] for who in people}
    found = participant_agreement(piles, n)
    for who in people:
        indices = []
        for other in set(people) - {who}:
            both = set().union(*of[who]) & set().union(*of[other])
            pairs = [
                {pair for pile in of[x] for pair in itertools.combinations(sorted(pile & both), 2)}
                for x in (who, other)
            ]
            either = pairs[0] | pairs[1]
            indices.append(len(pairs[0] & pairs[1]) / len(either) if either else 1.0)
        expected = np.mean(indices) if indices else np.nan
        assert found[who] == pytest.approx(expected, nan_ok=True)
    variety = placement_variety(piles, n)
    for card in range(n):
        those = [pile for who in people for pile in of[who] if card in pile]
        indices = [len(a & b) / len(a | b) for a, b in itertools.combinations(those, 2)]
        expected = 1 - np.mean(indices) if indices else np.nan
        assert variety[card] == pytest.approx(expected, nan_ok=True)


def test_names_that_differ_in_case_or_were_merged_are_one():
    piles = [Pile("a", "Fruit", (0, 1)), Pile("b", " fruit", (0,)), Pile("c", "Obst", (0, 2))]
    row = pile_names(piles, {})[0]
    assert (row.name, row.participants, row.cards) == ("Fruit", 2, ((0, 2), (1, 1)))
    (one,) = pile_names(piles, {"obst": "Fruit"})
    assert (one.participants, one.cards[0], one.usual_cards) == (3, (0, 3), (0,))
    assert dict(one.spellings) == {"Fruit": 1, "fruit": 1, "Obst": 1}
    assert [pile.name for pile in named_piles(piles, {"obst": "Fruit"})][2] == "Fruit"


def test_a_participant_left_out_does_not_count():
    data = read_table(SORT.encode(), "sort.csv")
    problem = data.problem(left_out=("Bea",))
    assert problem.similarity[0].tolist() == [1, 1, 0]
    assert {pile.participant for pile in problem.piles} == {"Ada", "Cid"}
    with pytest.raises(InvalidData, match="All participants"):
        data.problem(left_out=("Ada", "Bea", "Cid"))
