"""The view as a URL: there and back, and sentences for what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.core.errors import InvalidParameter
from hcviz.ui.app.link import Link, from_query, to_query

names = st.none() | st.text(min_size=1, max_size=12)
whole = st.none() | st.integers(0, 10**6)
statements = st.tuples(
    st.lists(st.integers(0, 999), min_size=2, max_size=4).map(tuple),
    st.integers(0, 999),
    st.booleans(),
)

groups = st.tuples(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=9).map(str.strip).filter(bool),
    st.lists(st.integers(0, 999), min_size=1, max_size=4).map(tuple),
)


@given(
    st.builds(
        Link,
        data=names,
        similarity=names,
        method=names,
        seed=whole,
        params=st.dictionaries(st.text(max_size=5), st.integers() | st.booleans() | st.none()),
        constraints=st.lists(statements, max_size=4).map(tuple),
        matrix=names,
        clusters=whole,
        groups=st.lists(groups, max_size=3).map(tuple),
    )
)
def test_round_trip(link):
    assert from_query(to_query(link)) == link


def test_it_reads_as_a_person_would_write_it():
    constraints = (((3, 7), 20, True), ((3, 8), 21, False))
    assert to_query(Link(data="zoo", constraints=constraints)) == "data=zoo&c=3.7-20+3.8-21~"
    assert (
        to_query(Link(data="zoo", groups=(("Owls & co", (3, 7)),))) == "data=zoo&g=3.7+Owls+%26+co"
    )
    assert from_query("?data=iris&seed=3") == Link(data="iris", seed=3)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("seed=x", "seed"),
        ("seed=-1", "seed"),
        ("clusters=many", "clusters"),
        ("below=half", "below"),
        ("params=[1]", "JSON"),
        ("params={", "JSON"),
        ("g=Owls", "'g'"),
        ("g=3.x Owls", "'g' must be whole numbers"),
        ("g=3.7", "items and the name"),
        ("c=1.2", "'1.2'"),
        ("c=a-b", "'a-b'"),
        ("c=1.2-~3", "'1.2-~3'"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(query, word):
    with pytest.raises(InvalidParameter, match=word):
        from_query(query)
