"""What the sheets over the tree show, as data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Snapshot, Tree
from hcviz.session.model import Session
from hcviz.ui.middle import Middle
from hcviz.ui.sheets import SHEETS, tanglegram
from hcviz.ui.store import Store

NAMES = "abcdefgh"


@given(st.permutations(range(8)))
def test_the_lines_out_of_line_are_the_fewest_that_untangle_the_rest(places):
    out = tanglegram.out_of_line(np.array(places))
    kept = [place for place, gone in zip(places, out, strict=True) if not gone]
    assert kept == sorted(kept)
    most = max(
        size
        for size in range(1, 9)
        for each in itertools.combinations(places, size)
        if list(each) == sorted(each)
    )
    assert len(kept) == most


@pytest.fixture
def store():
    """h goes from the far side to a and b."""
    names = list(NAMES)
    texts = ("((((a,b),c),d),((e,f),(g,h)));", "(((((a,b),h),c),d),((e,f),g));")
    old, new = (Tree.from_newick(text, names) for text in texts)
    made = Store(Session(labels=tuple(NAMES)), lambda call: call())
    made.session = Session(labels=tuple(NAMES), snapshot=Snapshot(new, 1, 1), status="settled")
    made.baseline, made.drawn = old, made.session.snapshot
    yield made
    made.close()


def test_before_and_after_traces_what_moved(store):
    shown = tanglegram.picture(store)
    moved = {shown["names"][k] for k in shown["moved"]}
    assert moved == {"h"}
    assert shown["said"].startswith("1 item moved; 4 clades new, 4 gone; ")
    after = "".join(name for _, name in sorted(zip(shown["to"], shown["names"], strict=True)))
    assert any(clade in after for clade in ("abh", "bah", "hab", "hba"))
    for side in ("left", "right"):
        assert len(shown[side]["changed"]) == 4
    assert shown["choices"] == [["last", "before the last run"]]


def test_a_sheet_without_anything_to_show_gives_way_to_the_tree(store):
    store.look(sheet="before")
    assert Middle.now(store) == "before"
    store.baseline = store.drawn.tree  # nothing but the same tree to compare with
    assert Middle.now(store) == "tree"
    tabs = {tab["name"]: tab for tab in Middle.tabs_picture(store)["tabs"]}
    assert tabs["before"]["lacks"] == "There is no earlier tree of these items yet."
    assert tabs["tree"]["lacks"] == ""


def test_every_sheet_says_what_it_lacks_before_there_is_a_tree():
    empty = Store(Session(), lambda call: call())
    for sheet in SHEETS.values():
        assert sheet.lacks(empty).endswith(".")
        assert sheet.title
        assert sheet.summary
    empty.close()
