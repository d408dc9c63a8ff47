"""Conflicts and splits as the page tells them: cards by size, pieces in words, the graph."""

from __future__ import annotations

import holoviews as hv
import pytest

from hcviz.session import actions as act
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.app.sections import SECTIONS
from hcviz.ui.app.sheets import SHEETS
from hcviz.ui.features.aho_graph import explanation
from hcviz.ui.features.aho_graph import sheet as aho_graph_sheet
from hcviz.ui.features.conflicts import model as conflicts_model
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.controller import ACTS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.tree_tools.view import TreeTools
from hcviz.ui.tree import Centre
from tests.stores import over_zoo


@pytest.fixture
def zoo(loop):
    with over_zoo(loop, "average") as made:
        yield made


def chain(zoo, length):
    """0 with 1, 1 with 2, ... before 50; then the last with 50, before 0."""
    for k in range(length):
        zoo.dispatch(act.AddConstraint((k, k + 1), 50))
    zoo.dispatch(act.AddConstraint((length, 50), 0))
    return constraints_model.state(zoo)["conflict"]


def names(zoo, *items):
    return [zoo.session.labels[item] for item in items]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 9])
def test_a_card_shows_the_leaves_of_few_answers(zoo, length):
    shown = chain(zoo, length)
    assert len(shown["members"]) == length
    assert len(shown["repairs"]) == length
    assert len(shown["answers"]) == (length + 1 if length <= 4 else 0)
    if shown["answers"]:
        new = shown["answers"][-1]
        assert (new["isNew"], [leaf["id"] for leaf in new["apart"]]) == (True, [0])
        assert [leaf["name"] for leaf in new["group"]] == names(zoo, length, 50)
        assert not any(each["isNew"] for each in shown["answers"][:-1])
    assert shown["undo"].startswith("Add: ")
    assert SHEETS["why"].unavailable_because(zoo) == ""
    drawn = aho_graph_sheet.state(zoo)
    assert [n["id"] for n in drawn["nodes"]] == [*range(length + 1), 50]
    kinds = sorted(edge["kind"] for edge in drawn["edges"])
    assert kinds == ["closing"] + ["path"] * length
    assert " - ".join(names(zoo, *range(min(3, length + 1)))) in drawn["sentences"][1]
    assert isinstance(aho_graph_sheet.drawing(drawn), hv.Overlay)
    hv.render(aho_graph_sheet.drawing(drawn), backend="bokeh")


def test_what_can_be_done_is_offered_and_does_it(zoo):
    gestures = Gestures(zoo)
    assert [s["method"] for s in chain(zoo, 1)["softs"]] == ["hrsc"]
    ACTS(gestures, "undo", {})
    assert (len(zoo.session.constraints), zoo.session.conflict) == (1, None)
    ACTS(gestures, "soften", {"method": "hrsc"})  # there is no conflict any more
    assert zoo.session.method == "average"
    zoo.dispatch(act.SetMethod("ddt"), act.SetParams({"steps": 10}))
    zoo.dispatch(act.AddConstraint((1, 50), 0))
    assert [s["method"] for s in conflicts_model.state(zoo)["softs"]] == ["ddt", "hrsc"]
    ACTS(gestures, "soften", {"method": "ward"})
    assert zoo.session.conflict is not None
    steps = len(zoo.session.past)
    ACTS(gestures, "soften", {"method": "ddt"})
    session = zoo.session
    assert (session.params["beta"], session.is_soft, session.conflict) == (10.0, True, None)
    assert (len(session.enabled), len(session.past)) == (2, steps + 1)
    zoo.dispatch(act.Undo())
    zoo.dispatch(act.EnableConstraint(zoo.session.constraints[-1].id))
    ACTS(gestures, "soften", {"method": "hrsc"})
    assert (zoo.session.method, len(zoo.session.enabled)) == ("hrsc", 2)


def test_a_chip_marks_its_leaf_while_it_is_pointed_at(zoo):
    gestures = Gestures(zoo)
    chain(zoo, 1)
    ACTS(gestures, "point-at", {"together": [1, -3, 1000]})
    assert constraints_model.marked_leaves(zoo) == ((1,), ())
    ACTS(gestures, "point-at", {"apart": [2]})
    assert constraints_model.marked_leaves(zoo) == ((), (2,))
    ACTS(gestures, "point-at", {})
    assert constraints_model.marked_leaves(zoo) == ((), ())
    ACTS(gestures, "point-at", {"apart": [2]})
    ACTS(gestures, "dismiss", {})
    assert zoo.view.pointed_items is None  # the chip went without a word
    ACTS(gestures, "select", {"items": [3]})
    assert zoo.view.selection == (3,)


# ---------------------------------------------------------------------- splits


def settle(zoo, loop, *actions):
    zoo.dispatch(act.SetMethod("build"), *actions)
    loop.until(lambda: zoo.session.status == "settled")
    zoo.drawn = zoo.session.snapshot


def test_a_split_in_words(zoo, loop):
    n = len(zoo.session.labels)
    assert SECTIONS["explanation"].state(zoo) is None  # nothing selected
    assert SHEETS["why"].unavailable_because(zoo) == "No answers yet."
    zoo.change_view(selection=tuple(range(n)))
    assert explanation.split_state(zoo) is None  # no answers
    settle(zoo, loop, act.AddConstraint((0, 1, 2), 3), act.AddConstraint((3, 4), 0))
    shown = SECTIONS["explanation"].state(zoo)
    assert shown["sentence"].startswith(f"Left open: the answers leave {n - 3} pieces")
    assert [piece["names"] for piece in shown["pieces"]] == [
        ", ".join(names(zoo, 0, 1, 2)), ", ".join(names(zoo, 3, 4)),
    ]  # fmt: skip
    assert [len(piece["answers"]) for piece in shown["pieces"]] == [1, 1]
    assert (shown["unconstrained"], shown["further"], shown["forced"]) == (n - 5, 0, False)
    SECTIONS["explanation"].acts(Gestures(zoo), "piece", {"piece": 0})
    assert zoo.view.selection == (0, 1, 2)
    assert "No answer is about these 3 items" in SECTIONS["explanation"].state(zoo)["sentence"]
    SECTIONS["explanation"].acts(Gestures(zoo), "graph", {})
    assert (zoo.view.sheet, aho_graph_sheet.subject(zoo)) == ("why", "split")


def test_a_forced_split_and_one_that_goes_against_the_answers(
    zoo, loop, monkeypatch, unconstrained
):
    n = len(zoo.session.labels)
    everything = tuple(range(n))
    group, rest = everything[: n // 2], everything[n // 2 :]
    settle(zoo, loop, act.AddConstraint(group, rest[0]), act.AddConstraint(rest, group[0]))
    shown = explanation.split_state(zoo)
    assert shown["forced"]
    assert shown["sentence"] == f"Forced: the answers leave one way to divide these {n} items."
    drawn = aho_graph_sheet.state(zoo)
    assert {node["kind"] for node in drawn["nodes"]} == {"side0", "side1"}
    assert drawn["left"] == 0
    monkeypatch.setattr(aho_graph_sheet, "MAX_DRAWN", 10)
    few = aho_graph_sheet.state(zoo)
    assert (len(few["nodes"]), few["left"]) == (10, n - 10)
    sides = [node["kind"] for node in few["nodes"]]
    assert (sides.count("side0"), sides.count("side1")) == (5, 5)
    assert len(few["edges"]) == 8  # what is drawn of each piece hangs together
    zoo.dispatch(act.SetMethod(unconstrained))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.drawn = zoo.session.snapshot
    assert "The tree divides" in explanation.split_state(zoo)["sentence"]
    assert any(piece["divided"] for piece in explanation.split_state(zoo)["pieces"])
    hv.render(aho_graph_sheet.drawing(aho_graph_sheet.state(zoo)), backend="bokeh")


def test_places_are_the_same_each_time_and_apart(zoo):
    chain(zoo, 9)
    before = [(n["x"], n["y"]) for n in aho_graph_sheet.state(zoo)["nodes"]]
    aho_graph_sheet.graph_layout.cache_clear()
    assert [(n["x"], n["y"]) for n in aho_graph_sheet.state(zoo)["nodes"]] == before
    assert len(set(before)) == len(before)


def test_the_sheet_is_laid_over_the_tree(zoo):
    chain(zoo, 5)
    gestures = Gestures(zoo)
    middle = Middle(
        gestures, Centre(on_pick=gestures.picked), TreeTools(print, acts={}), lambda call: call
    )
    ACTS(gestures, "graph", {})
    middle.turn()
    assert isinstance(middle.open, aho_graph_sheet.GraphSheet)
    assert middle.open.words.state["drawn"] == 7
    shown = middle.open.pane.object
    middle.turn()
    assert middle.open.pane.object is shown  # not drawn again for nothing
    ACTS(gestures, "dismiss", {})
    middle.turn()
    assert middle.open.state["subject"] == "split"
    assert middle.open.pane.object is not shown
