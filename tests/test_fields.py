"""What is typed into a field is read, or refused with a sentence; nothing typed breaks the page."""

from __future__ import annotations

import time

import pytest

from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.fields import LONGEST, form, parameter_from, set_field
from hcviz.ui.store import Store


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("3", 3),
        (" 1e-3 ", 1e-3),
        ("[1, 2.5]", [1, 2.5]),
        ("True", True),
        ("none", None),
        ("  ", None),
        ("auto", "auto"),
        (False, False),
    ],
)
def test_numbers_lists_and_words(typed, read):
    assert parameter_from(typed) == read


DEEP = ["-" * 20_000 + "1", "(" * 20_000, "[" * 150 + "]" * 150, "1+" * 30_000 + "1", "-" * 3_000]


@pytest.mark.parametrize("typed", DEEP, ids=["minus", "brackets", "lists", "plus", "short"])
def test_what_python_cannot_read_is_text_or_refused_by_the_field(typed):
    """MemoryError and RecursionError are what its parser says to some of these."""
    store = Store(Session(method="ddt", treats="hard"), lambda call: None)
    try:
        assert store.open_data(DataSpec(name="zoo"))
        store.dispatch(act.Cancel())
        set_field(store, "c", typed)
        (fault,) = store.view.faults
        assert (fault.name, fault.typed) == ("c", typed)
        assert len(fault.sentence) <= 300
        assert "c must be a number" in fault.sentence
        field = next(f for f in form(store)["fields"] if f["name"] == "c")
        assert field["error"] == fault.sentence
        assert "c" not in store.session.params
    finally:
        store.close()


def test_what_is_very_long_is_not_read_at_all():
    began = time.perf_counter()
    text = "[" + "1," * LONGEST + "]"
    assert parameter_from(text) == text
    assert time.perf_counter() - began < 0.1
    assert parameter_from("[" + "0.125, " * 4000 + "]") == [0.125] * 4000
