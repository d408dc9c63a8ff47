"""How sentences name many things."""

from __future__ import annotations

from hcviz.core.words import counted, shortlist


def test_a_clade_is_summed_up_by_its_first_names():
    assert shortlist(["bat", "whale"], 3, 2) == "bat, whale"
    assert shortlist(["a", "b", "c"], 3, 1_003) == "a, b, c and 1,000 more"


def test_all_names_are_told_where_there_are_no_more():
    assert shortlist(["a", "b", "c"], 3) == "a, b, c"
    assert shortlist(["a", "b", "c", "d"], 3) == "a, b, c and 1 more"


def test_one_has_no_plural():
    assert counted(1, "other") == "1 other"
    assert counted(0, "other") == "0 others"
    assert counted(2_000, "item") == "2,000 items"
