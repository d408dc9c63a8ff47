"""What a method does with constraints comes from the registry, whatever an action says of it."""

from __future__ import annotations

import dataclasses
import json

import pytest

from hcviz import HcvizError
from hcviz.algorithms import algorithms, get
from hcviz.io.session_codec import Decoder
from hcviz.session import actions as act
from hcviz.session.update import update
from tests.sessions import Driver

BAT, WHALE, LION, TROUT = range(4)


@pytest.fixture
def weighed():
    """A sampler that weighs two answers which contradict each other."""
    driver = Driver(method="ddt", treats="hard")
    driver.settle()
    driver(act.SetParams({"beta": 10.0}))
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    driver(act.AddConstraint((BAT, TROUT), WHALE))
    driver(act.Cancel())
    assert (driver.session.treats, len(driver.session.enabled)) == ("soft", 2)
    return driver


def test_the_method_in_use_again_changes_nothing(weighed):
    before, started = weighed.session, len(weighed.started)
    weighed(act.SetMethod("ddt"))
    assert dataclasses.replace(weighed.session, log=before.log).treats == "soft"
    assert weighed.session.enabled == before.enabled
    assert weighed.session.past == before.past
    assert len(weighed.started) == started


@pytest.mark.parametrize("name", algorithms())
def test_another_method_is_treated_as_the_registry_says(weighed, name):
    session = weighed(act.SetMethod(name))
    assert session.treats == get(name).constraint_mode(session.params)
    assert len(session.enabled) == (2 if session.weighs else 1)
    session = weighed(act.SetMethod("ddt"))  # its parameters come back, and with them beta
    assert session.treats == "soft"


def test_softening_and_other_data_ask_the_registry_too(weighed, unconstrained):
    weighed(act.SetParams({"beta": None}))
    assert weighed.session.treats == "hard"
    weighed(act.Soften("dasgupta-search", {"lam": 2.0}))
    assert weighed.session.treats == "soft"
    other = act.LoadedData(weighed.session.data, tuple("pqrstuvw"), method=unconstrained)
    assert weighed(other).treats == "ignored"


def test_an_unknown_method_is_refused(weighed):
    with pytest.raises(HcvizError, match="There is no method 'crcs'"):
        update(weighed.session, act.SetMethod("crcs"), get)


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ({"~": "SetMethod", "name": "ddt", "triplets": "hard"}, act.SetMethod("ddt")),
        (
            {"~": "SetParams", "values": {"~": "map", "items": [["beta", 3.0]]},
             "triplets": "soft", "going_on": True},
            act.SetParams({"beta": 3.0}, going_on=True),
        ),
        (
            {"~": "Choose", "question": "odd", "items": [0, 1, 2], "author": "you", "heeded": True},
            act.Choose("odd", (0, 1, 2)),
        ),
        ({"~": "TakeBack", "at": 0, "heeded": False}, act.TakeBack(0)),
    ],
)  # fmt: skip
def test_actions_of_earlier_versions_are_still_read(said, action):
    said = json.loads(json.dumps(said | {"time": "2024-01-01T00:00:00+00:00"}))
    document = {"shared": [], "trees": [], "snapshots": []}
    assert Decoder(document, {}.__getitem__).value(said) == action
