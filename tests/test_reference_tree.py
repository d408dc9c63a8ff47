"""A drawn tree as constraints: they say the tree, and nothing of the items that it leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core.build import build
from hcviz.core.errors import InvalidTree
from hcviz.io.reference_tree import read_reference_tree
from hcviz.metrics import clade_changes
from hcviz.session import actions as act
from hcviz.session.model import joined_triplets
from tests.sessions import ANIMALS, Driver
from tests.trees import caterpillar, random_tree

LABELS = (*ANIMALS, "killer whale", "a_b")


@settings(max_examples=100, deadline=None)
@given(st.integers(3, 12), st.integers(0, 10**6), st.booleans())
def test_the_constraints_of_a_tree_are_the_tree(n, seed, polytomies):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies)
    labels = [f"item {k}" for k in range(n + 3)]
    picked = rng.permutation(n + 3)[:n]
    text = tree.to_newick([labels[k] for k in picked])
    if tree.n_internal < 2:
        with pytest.raises(InvalidTree, match="implies no constraint"):
            read_reference_tree(text, labels)
        return
    found = read_reference_tree(text, labels)
    constraints = found.constraints("drawn.nwk", weight=2.0, time="now")
    assert len(constraints) == tree.n_internal - 1
    assert {(each.author, each.weight, each.time) for each in constraints} == {
        ("drawn.nwk", 2.0, "now")
    }
    rows = joined_triplets(constraints).rows
    place = np.full(n + 3, -1)
    place[picked] = np.arange(n)
    assert (place[rows] >= 0).all()
    if tree.is_binary:
        assert len(rows) == n - 2  # Proposition 1
    # The Aho tree of the rows, over the leaves as the reference has them, is the reference.
    changes = clade_changes(build(n, place[rows]), tree)
    assert (changes.gained.size, changes.lost.size) == (0, 0)


def test_underscores_are_spaces_where_no_item_has_them():
    found = read_reference_tree("((killer_whale,a_b)0.9:3,'bat':1,pike)root;", LABELS)
    (only,) = found.constraints("me")
    assert (set(only.group), only.apart) == ({8, 9}, 0)
    assert found.sentence() == "a tree over 4 of the 10 items"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("((bat,whael),pike);", ["a leaf is", "'whael'", "'whale'", "may be missing"]),
        ("((x1,x2),(x3,x4),(x5,x6));", ["6 of its 6", "'x5'", "and 1 more"]),
        ("((bat,whale),(bat,pike));", ["'bat' twice"]),
        ("((bat,a_b),(bat,pike),pike);", ["'bat', 'pike' twice"]),
        ("(bat,whale,pike);", ["implies no constraint", "star of 3"]),
        ("(bat,whale);", ["implies no constraint", "2 leaves"]),
        ("bat;", ["implies no constraint", "1 leaf"]),
        ("", ["has no end"]),
        ("((bat,whale),pike", ["closing"]),
        ("((bat,whale),pike);((bat,pike),whale);", ["one tree at a time"]),
        ("((bat,),pike);", ["''"]),
        (b"\xff\xfe", ["UTF-8"]),
    ],
)
def test_a_bad_reference_tree_gets_a_sentence(text, words):
    with pytest.raises(InvalidTree) as caught:
        read_reference_tree(text, LABELS)
    for word in words:
        assert word in str(caught.value), str(caught.value)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=80), st.text("(),;:'[]ab_ 1", max_size=40)))
def test_any_other_text_gives_a_tree_or_a_sentence(content):
    try:
        read_reference_tree(content, ["a", "b", "1", "a b"])
    except InvalidTree:
        return


def test_a_tree_is_one_step_and_what_contradicts_stays_off():
    driver = Driver()
    driver(act.AddConstraint((0, 3), 1))  # bat + trout before whale
    driver(act.AddConstraint((4, 5), 3))  # pike + wasp before trout
    drawn = read_reference_tree("(((bat,whale),lion),(trout,pike));", ANIMALS)
    driver(act.ImportConstraints(drawn.constraints("drawn.nwk"), source="drawn.nwk: "))
    session = driver.session
    enabled = {each.sentence(ANIMALS): each.enabled for each in session.constraints[2:]}
    assert enabled == {
        "bat + whale together, apart from lion": True,
        "bat + lion together, apart from trout": False,
        "trout + pike together, apart from bat": True,
    }
    refused = next(each.id for each in session.constraints if not each.enabled)
    assert (session.conflict.constraint_id, session.conflict.waiting) == (refused, ())
    assert "drawn.nwk: 3 constraints added. 1 constraint contradicts" in session.message
    driver(act.Undo())
    assert len(driver.session.constraints) == 2


def test_a_caterpillar_of_2000_is_taken_whole():
    labels = [str(k) for k in range(2000)]
    driver = Driver(labels)
    text = caterpillar(2000).to_newick()
    found = read_reference_tree(text, labels)
    driver(act.ImportConstraints(found.constraints("drawn.nwk")))
    assert len(driver.session.triplets) == 1998
    assert build(2000, driver.session.triplets).to_newick() != ""
    assert clade_changes(build(2000, driver.session.triplets), caterpillar(2000)).lost.size == 0
