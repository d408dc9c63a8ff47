"""Lists of names and counts in messages."""

from __future__ import annotations

from hcviz.core.text import count_noun, join_names


def test_the_first_names_and_the_number_of_the_others():
    assert join_names(["bat", "whale"], 3, 2) == "bat, whale"
    assert join_names(["a", "b", "c"], 3, 1_003) == "a, b, c and 1,000 more"


def test_all_names_are_listed_if_there_are_few():
    assert join_names(["a", "b", "c"], 3) == "a, b, c"
    assert join_names(["a", "b", "c", "d"], 3) == "a, b, c and 1 more"


def test_a_single_item_has_a_singular_noun():
    assert count_noun(1, "other") == "1 other"
    assert count_noun(0, "other") == "0 others"
    assert count_noun(2_000, "item") == "2,000 items"
