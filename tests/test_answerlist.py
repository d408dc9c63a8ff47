"""The list of constraints and the experts, and the files that bring answers; without a browser."""

from __future__ import annotations

import base64

import pytest

from hcviz.session import actions as act
from hcviz.session.model import Session
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.controller import ACTS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.features.node_costs import model as node_costs_model
from tests.stores import over_zoo


def upload(store, kind, name, text):
    files = FileController(store, None, None)
    encoded = base64.b64encode(text.encode()).decode()
    piece = {"id": 1, "kind": kind, "name": name, "piece": 0, "pieces": 1, "base64": encoded}
    files.act("upload", piece)


@pytest.fixture
def zoo(loop):
    with over_zoo(loop, "crsc") as made:
        yield made


def test_one_person_without_a_name_is_no_expert(zoo):
    zoo.dispatch(act.AddConstraint((0, 1), 2))
    shown = constraints_model.state(zoo)
    assert (shown["experts"], shown["author"]) == (None, "you")
    ACTS(Gestures(zoo), "author", {"value": "Ann"})
    shown = constraints_model.state(zoo)
    assert [row["name"] for row in shown["experts"]["rows"]] == ["you", "Ann"]
    assert [row["on"] for row in shown["experts"]["rows"]] == [True, False]


def test_answers_have_the_named_author_and_agreement_is_shown(zoo):
    gestures = Gestures(zoo)
    zoo.dispatch(act.AddConstraint((0, 1), 2))
    ACTS(gestures, "author", {"value": "Ann"})
    for group, apart in (((0, 1), 2), ((0, 2), 1)):
        zoo.change_view(draft=zoo.view.draft.begin_together(group).begin_odd().pick((apart,)))
        verdict = constraints_model.state(zoo)["draft"]["assessment"]
        assert verdict["kind"] == ("implied" if apart == 2 else "conflict")
        gestures.apply()
    assert [each.author for each in zoo.session.constraints] == ["you", "Ann", "Ann"]
    (pair,) = constraints_model.state(zoo)["experts"]["pairs"]
    # Ann's second answer contradicts her first, which is in use: it is not counted as hers.
    assert (pair["share"], pair["disagreements"]) == ("100 %", [])
    zoo.dispatch(act.DeleteConstraint(2), act.AddConstraint((3, 4), 0, author="Ann"))
    (pair,) = constraints_model.state(zoo)["experts"]["pairs"]
    assert pair["share"] == "0 %"
    assert pair["sentence"] == "0 alike, 1 in conflict, of 1 triple."
    (clash,) = pair["disagreements"]
    assert clash["sentence"] == zoo.session.constraints[0].sentence(zoo.session.labels)
    assert clash["with"] == [zoo.session.constraints[1].sentence(zoo.session.labels)]


def test_weights_and_switches_from_the_page(zoo):
    gestures = Gestures(zoo)
    zoo.dispatch(act.AddConstraint((0, 1), 2, author="Ann"), act.AddConstraint((0, 1), 2))
    ACTS(gestures, "expert-weight", {"name": "Ann", "value": "2.5"})
    ACTS(gestures, "weight", {"id": 1, "value": "3"})
    assert zoo.session.triplets.weights.tolist() == [7.5, 1.0]
    for value in ("heavy", "-1", "nan"):
        ACTS(gestures, "expert-weight", {"name": "Ann", "value": value})
        assert "positive" in zoo.view.error[0]
        ACTS(gestures, "weight", {"id": 1, "value": value})
        assert "positive" in zoo.view.error[0]
    ACTS(gestures, "expert", {"name": "Ann", "value": False})
    rows = constraints_model.state(zoo)["experts"]["rows"]
    assert [(row["name"], row["on"], row["weight"]) for row in rows] == [
        ("Ann", False, 2.5), ("you", True, 1.0),
    ]  # fmt: skip
    assert zoo.session.triplets.weights.tolist() == [1.0]


def test_a_reference_tree_is_one_step_and_one_line(zoo):
    labels = zoo.session.labels
    some = ["'" + labels[k] + "'" for k in range(50)]
    text = some[0]
    for name in some[1:]:
        text = f"({text},{name})"
    steps = len(zoo.session.past)
    upload(zoo, "reference", "drawn.nwk", text + ";")
    assert len(zoo.session.past) == steps + 1
    assert "drawn.nwk (a tree over 50 of the 101 items): 48 constraints" in zoo.session.message
    shown = constraints_model.state(zoo)
    assert shown["items"] == []
    (fold,) = shown["folds"]
    assert (fold["author"], fold["count"], len(fold["rows"])) == ("drawn.nwk", 48, 48)
    assert sum(number for _, number in fold["states"]) == 48
    upload(zoo, "reference", "drawn.nwk", "((bat,whael),pike);")
    assert "'whael'" in zoo.view.error[0]
    assert len(zoo.session.constraints) == 48


def test_an_order_is_named_in_the_menu(zoo):
    a, b, c = zoo.session.labels[:3]
    upload(zoo, "constraints", "some.csv", f"{a},{b},{c}\n")
    assert "no header" in zoo.view.error[0]
    upload(zoo, "anchor-near-far", "some.csv", f"{a},{b},{c}\n")
    (constraint,) = zoo.session.constraints
    assert (constraint.group, constraint.apart) == ((0, 1), 2)


def test_a_parameter_makes_hard_answers_soft(zoo):
    zoo.session = Session(method="ddt", constraint_mode="hard", labels=zoo.session.labels,
                          data=zoo.session.data)  # fmt: skip
    zoo.dispatch(act.SetParams({"beta": 3.0, "steps": 10}))
    assert zoo.session.is_soft
    zoo.dispatch(act.AddConstraint((0, 1), 2), act.AddConstraint((0, 2), 1))
    assert len(zoo.session.enabled) == 2
    zoo.dispatch(act.SetMethod("crsc"))
    assert (zoo.session.constraint_mode, len(zoo.session.enabled)) == ("hard", 1)
    zoo.dispatch(act.SetMethod("ddt"))  # its parameters come back, and with them beta
    assert zoo.session.is_soft


def test_the_search_weighs_answers_that_have_a_price(zoo):
    zoo.dispatch(act.SetMethod("dasgupta-search"), act.SetParams({"proposals": 10_000}))
    zoo.dispatch(act.AddConstraint((0, 1), 2), act.AddConstraint((0, 2), 1))
    assert len(zoo.session.enabled) == 1
    own = constraints_model.state(zoo)["conflict"]["softs"][0]
    assert own["method"] == "dasgupta-search"
    assert "(Lambda)" in own["text"]
    ACTS(Gestures(zoo), "soften", {"method": "dasgupta-search"})
    assert (zoo.session.constraint_mode, len(zoo.session.enabled)) == ("soft", 2)
    # A hundred times the size of the similarities: nothing but them would count at 1.
    assert zoo.session.params["lam"] == 100.0 * node_costs_model.similarity_scale(zoo)


def test_items_stand_apart_each_with_a_chip_and_one_undo_takes_all_back(zoo, loop):
    gestures, labels = Gestures(zoo), zoo.session.labels
    zoo.change_view(selection=(0, 1))
    gestures.key("o")
    for item in (50, 60, 70):
        gestures.select_items((item,))
        gestures.key("o")  # again: nothing is lost
    draft = constraints_model.state(zoo)["draft"]
    assert [chip["name"] for chip in draft["apart"]["shown"]] == [labels[i] for i in (50, 60, 70)]
    assert [chip["id"] for chip in draft["together"]["shown"]] == [0, 1]
    assert draft["assessment"]["kind"] in ("correction", "holds")
    ACTS(gestures, "take-back", {"item": 60})
    assert [chip["id"] for chip in constraints_model.state(zoo)["draft"]["apart"]["shown"]] == [
        50,
        70,
    ]
    steps = len(zoo.session.past)
    gestures.key("Enter")
    assert [c.statement for c in zoo.session.constraints] == [((0, 1), (50, 70))]
    assert len(zoo.session.past) == steps + 1
    zoo.dispatch(act.Undo())
    assert zoo.session.constraints == ()


def test_of_many_that_stand_apart_a_few_are_shown_and_the_rest_counted(zoo):
    draft = zoo.view.draft.begin_together((0, 1)).begin_odd().pick(tuple(range(10, 30)))
    zoo.change_view(draft=draft)
    shown = constraints_model.state(zoo)["draft"]
    assert shown["assessment"]["sentence"].startswith(f"{zoo.session.labels[0]} + ")
    assert (len(shown["apart"]["shown"]), shown["apart"]["more"]) == (6, 14)
