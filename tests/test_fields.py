"""What is typed into a field is read, or refused with a sentence; nothing typed breaks the page."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from hcviz.algorithms import algorithms, get
from hcviz.algorithms.comparison.passive import as_list
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.parameters.model import (
    MAX_FIELD_LENGTH,
    field_text,
    parse_field,
    set_field,
    state,
)
from hcviz.ui.state.store import Store
from tests.stores import over_zoo


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
    assert parse_field(typed) == read


DEEP = ["-" * 20_000 + "1", "(" * 20_000, "[" * 150 + "]" * 150, "1+" * 30_000 + "1", "-" * 3_000]


@pytest.mark.parametrize("typed", DEEP, ids=["minus", "brackets", "lists", "plus", "short"])
def test_what_python_cannot_read_is_text_or_refused_by_the_field(typed):
    """MemoryError and RecursionError are what its parser says to some of these."""
    store = Store(Session(method="ddt", constraint_mode="hard"), lambda call: None)
    try:
        assert store.open_data(DataSpec(name="zoo"))
        store.dispatch(act.Cancel())
        set_field(store, "c", typed)
        (fault,) = store.view.faults
        assert (fault.name, fault.typed) == ("c", typed)
        assert len(fault.sentence) <= 300
        assert "c must be a number" in fault.sentence
        field = next(f for f in state(store)["fields"] if f["name"] == "c")
        assert field["error"] == fault.sentence
        assert "c" not in store.session.params
    finally:
        store.close()


def shown(store, name):
    return next(field for field in state(store)["fields"] if field["name"] == name)


def test_initial_clusters_are_written_as_they_are_read(loop):
    store = Store(Session(method="4-al"), loop.schedule)
    try:
        assert store.open_data(DataSpec(name="flowers"))
        store.dispatch(act.Cancel())
        assert shown(store, "initial")["title"] == "Initial clusters"
        assert shown(store, "initial")["value"] == ""
        for typed in ("[0, 0, 1" + ", -1" * 45 + "]", "0, 0, 1" + ", -1" * 45):
            set_field(store, "initial", typed)
            assert not store.view.faults
            assert shown(store, "initial")["value"] == "0, 0, 1" + ", -1" * 45
            store.dispatch(act.Cancel())
        assert len(store.session.past[-1].label) < 100  # the step's name holds the beginning
        set_field(store, "initial", "red, red, blue")
        loop.until(lambda: store.session.status == "failed")
        field = shown(store, "initial")
        assert field["error"].startswith("initial must name a cluster for each of the 48 items")
        assert field["value"] == "red, red, blue"
        set_field(store, "initial", "red")
        assert "(such as 0, 0, -1, 1)" in shown(store, "initial")["error"]
    finally:
        store.close()


@pytest.mark.parametrize("value", [[1, 2.5], ["a", "b c", 3], [0.1, -1]])
def test_a_list_shown_plainly_is_read_back(value):
    text = field_text(value)
    assert text == ", ".join(map(str, value))
    again = parse_field(text)
    assert as_list(again if isinstance(again, str) else list(again)) == value


@pytest.mark.parametrize("value", [[1], ["a, b", 1], [True, 1], [[1], 2], ["1", 2], ["", 1], ["'"]])
def test_other_lists_are_shown_as_they_are(value):
    assert field_text(value) == str(value)


def test_what_is_very_long_is_not_read_at_all(monkeypatch):
    read = []
    reader = SimpleNamespace(literal_eval=lambda text: read.append(text) or ast.literal_eval(text))
    monkeypatch.setattr("hcviz.ui.features.parameters.model.ast", reader)
    text = "[" + "1," * MAX_FIELD_LENGTH + "]"
    assert parse_field(text) == text
    assert not read
    assert parse_field("[" + "0.125, " * 4000 + "]") == [0.125] * 4000
    assert len(read) == 1


def test_choices_are_shown_in_words_with_their_ranges(loop):
    with over_zoo(loop, "hrsc") as store:
        fields = {each["name"]: each for each in state(store)["fields"]}
    assert fields["oracle"]["title"] == "Cut by"
    assert [value for value, _ in fields["oracle"]["options"]] == ["spectral", "exact", "lp", "sdp"]
    assert fields["oracle"]["options"][1][1] == "all cuts, up to 18"
    assert fields["lam"]["title"] == "Lambda"
    assert fields["lam"]["doc"].endswith("Takes a number of 0 or more.")
    assert all(each["doc"] for each in fields.values())


def test_a_letter_has_a_label_that_says_what_it_is(loop):
    with over_zoo(loop, "ddt") as store:
        titles = {each["name"]: each["title"] for each in state(store)["fields"]}
    assert (titles["c"], titles["every"], titles["mu"]) == (
        "Divergence c",
        "Steps per tree",
        "Starts at",
    )
    for method in algorithms():
        parameters = get(method).parameters()
        labels = [parameters.param[name].label for name in get(method).parameter_names()]
        assert min(map(len, labels), default=2) > 1, method


def test_a_refused_parameter_is_explained_at_its_field(loop):
    with over_zoo(loop, "crsc") as store:
        set_field(store, "oracle", "exact")  # within its range, but not for 101 animals
        loop.until(lambda: store.session.status == "failed")
        fields = {each["name"]: each for each in state(store)["fields"]}
        assert "up to 18 supernodes" in fields["oracle"]["error"]
        assert "error" not in fields["refine"]
        set_field(store, "oracle", "spectral")
        loop.until(lambda: store.session.status == "settled")
        assert not any("error" in each for each in state(store)["fields"])
