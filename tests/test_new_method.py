"""A method that is new to the registry: the page needs to know nothing of it."""

from __future__ import annotations

import pytest

from hcviz import algorithms as registry_names
from hcviz.algorithms import MODULES, get
from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import InvalidParameter
from hcviz.session import actions as act
from hcviz.ui import answerlist, choosing, pictures
from hcviz.ui.fields import form
from hcviz.ui.gestures import Gestures
from tests.stores import over_zoo
from tests.toymethod import ALGORITHMS


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(MODULES, "toy", "tests.toymethod")
    get.cache_clear()
    yield get("toy")
    get.cache_clear()


def test_a_parameter_of_any_name_softens_it_on_the_conflict_card(toy, loop):
    assert "toy" in registry_names()
    with over_zoo(loop, "toy") as store:
        assert ["toy", "Toy method", False, ""] in pictures.bar(store)["methods"]
        assert [field["title"] for field in form(store)["fields"]] == ["Patience"]
        store.dispatch(act.AddConstraint((0, 1), 2), act.AddConstraint((0, 2), 1))
        card = answerlist.picture(store)["conflict"]
        own = next(each for each in card["softs"] if each["method"] == "toy")
        assert own["text"] == "Treat constraints as soft (Patience)"
        assert "how far a broken one is tolerated" in own["title"]
        Gestures(store).constraints_act("soften", {"method": "toy"})
        session = store.session
        assert (session.treats, len(session.enabled), session.conflict) == ("soft", 2, None)
        assert 0 <= session.params["patience"] < 0.5  # what its bounds allow
        assert store.view.error is None
        loop.until(lambda: store.session.status == "settled")


def test_a_price_is_a_fact_of_the_method():
    given = ALGORITHMS[0]
    priced = Algorithm(**{**vars(given), "soft_price": lambda problem: problem.n_items / 1000})
    assert priced.softening(type("P", (), {"n_items": 8})()) == {"patience": 0.008}
    assert Algorithm(**{**vars(given), "softened_by": ""}).softening(None) == {}


def test_a_template_whose_name_was_not_changed_gets_one_sentence(monkeypatch):
    monkeypatch.setitem(MODULES, "mine", "hcviz.algorithms._template")
    with pytest.raises(InvalidParameter, match=r"'mine' in hcviz\.algorithms\._template") as fault:
        get("mine")
    assert "'template'" in fault.value.message
    assert "name='mine'" in fault.value.hint


def test_the_page_goes_on_beside_a_method_that_cannot_be_found(monkeypatch, loop):
    monkeypatch.setitem(MODULES, "mine", "hcviz.algorithms._template")
    with over_zoo(loop, "average") as store:
        entry = next(each for each in pictures.bar(store)["methods"] if each[0] == "mine")
        assert entry[2]  # it cannot be chosen
        assert "The registry expects the method 'mine'" in entry[3]
        assert choosing.default(store.problem).name == "ddt"


def test_what_softens_a_method_is_one_of_its_parameters():
    with pytest.raises(InvalidParameter, match="'slack', which is not one of its parameters"):
        Algorithm(**{**vars(ALGORITHMS[0]), "softened_by": "slack"})
