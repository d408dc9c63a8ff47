"""What a method does with constraints comes from the registry, whatever an action says of it."""

from __future__ import annotations

import dataclasses
import json

import pytest

from hcviz import HcvizError
from hcviz.algorithms import algorithms, get
from hcviz.io.session_codec import Decoder, Encoder
from hcviz.session import actions as act
from hcviz.session.model import Session
from hcviz.session.update import update
from tests.sessions import Driver

BAT, WHALE, LION, TROUT = range(4)


@pytest.fixture
def weighed():
    """A sampler that weighs two answers which contradict each other."""
    driver = Driver(method="ddt", constraint_mode="hard")
    driver.settle()
    driver(act.SetParams({"beta": 10.0}))
    driver(act.AddConstraint((BAT, WHALE), TROUT))
    driver(act.AddConstraint((BAT, TROUT), WHALE))
    driver(act.Cancel())
    assert (driver.session.constraint_mode, len(driver.session.enabled)) == ("soft", 2)
    return driver


def test_choosing_the_method_in_use_changes_nothing(weighed):
    before, started = weighed.session, len(weighed.started)
    weighed(act.SetMethod("ddt"))
    assert dataclasses.replace(weighed.session, log=before.log).constraint_mode == "soft"
    assert weighed.session.enabled == before.enabled
    assert weighed.session.past == before.past
    assert len(weighed.started) == started


@pytest.mark.parametrize("name", algorithms())
def test_another_method_follows_the_registry(weighed, name):
    session = weighed(act.SetMethod(name))
    assert session.constraint_mode == get(name).constraint_mode(session.params)
    assert len(session.enabled) == (2 if session.is_soft else 1)
    session = weighed(act.SetMethod("ddt"))  # its parameters come back, and with them beta
    assert session.constraint_mode == "soft"


def test_softening_and_other_data_ask_the_registry_too(weighed, unconstrained):
    weighed(act.SetParams({"beta": None}))
    assert weighed.session.constraint_mode == "hard"
    weighed(act.Soften("dasgupta-search", {"lam": 2.0}))
    assert weighed.session.constraint_mode == "soft"
    other = act.LoadedData(weighed.session.data, tuple("pqrstuvw"), method=unconstrained)
    assert weighed(other).constraint_mode == "ignored"


def test_an_unknown_method_is_refused(weighed):
    with pytest.raises(HcvizError, match="There is no method 'crcs'"):
        update(weighed.session, act.SetMethod("crcs"), get)


@pytest.mark.parametrize(
    ("saved", "action"),
    [
        ({"~": "SetMethod", "name": "ddt", "triplets": "hard"}, act.SetMethod("ddt")),
        (
            {"~": "SetParams", "values": {"~": "map", "items": [["beta", 3.0]]},
             "triplets": "soft", "going_on": True},
            act.SetParams({"beta": 3.0}, is_dragging=True),
        ),
        (
            {"~": "Choose", "question": "odd", "items": [0, 1, 2], "author": "you", "heeded": True},
            act.AddChoice("odd", (0, 1, 2)),
        ),
        ({"~": "TakeBack", "at": 0, "heeded": False}, act.RemoveChoice(0)),
    ],
)  # fmt: skip
def test_actions_of_earlier_versions_are_still_read(saved, action):
    saved = json.loads(json.dumps(saved | {"time": "2024-01-01T00:00:00+00:00"}))
    document = {"shared": [], "trees": [], "snapshots": []}
    assert Decoder(document, {}.__getitem__).value(saved) == action


def test_names_in_files_do_not_change():
    """Files of earlier versions hold these names; the code may use others."""
    session = Session(constraint_mode="soft", rerun_pending=True, reviewed=())
    encoded = Encoder().value(session)
    assert encoded["treats"] == "soft"
    assert {"footing", "resting", "awaiting", "seen"} <= set(encoded)
    assert not {"constraint_mode", "warm_start", "reviewed"} & set(encoded)
    for action, name in (
        (act.AddChoice("odd", (0, 1, 2)), "Choose"),
        (act.RemoveChoice(0), "TakeBack"),
        (act.AddComparisons("a.csv", b"", "One."), "Attach"),
        (act.ReviewPiece((0, 1, 2)), "Look"),
        (act.SetAuthorWeight("Ann", 2.0), "WeighAuthor"),
        (act.EnableAuthor("Ann", True), "SwitchAuthor"),
        (act.RunInterrupted(3), "Resumed"),
    ):
        encoder = Encoder()
        written = encoder.value(action)
        assert written["~"] == name
        document = {"shared": encoder.shared, "trees": [], "snapshots": []}
        assert Decoder(document, encoder.entries.__getitem__).value(written) == action
