"""A method that is new to the registry: the page needs to know nothing of it."""

from __future__ import annotations

import pytest

from hcviz import Tree, cli
from hcviz import algorithms as registry_names
from hcviz.algorithms import MODULES, get
from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import InvalidParameter
from hcviz.session import actions as act
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.features.agreement import model as agreement_model
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.controller import ACTS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.levels import model as levels_model
from hcviz.ui.features.parameters.model import state
from hcviz.ui.features.top_bar import model as top_bar_model
from hcviz.ui.state import default_method as choosing
from tests.stores import over_zoo
from tests.toymethod import ALGORITHMS


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(MODULES, "toy", "tests.toymethod")
    return get("toy")


def test_a_parameter_of_any_name_softens_it_on_the_conflict_card(toy, loop):
    assert "toy" in registry_names()
    with over_zoo(loop, "toy") as store:
        assert ["toy", "Toy method", False, ""] in top_bar_model.state(store)["methods"]
        assert [field["title"] for field in state(store)["fields"]] == ["Patience", "Clusters"]
        store.dispatch(act.AddConstraint((0, 1), 2), act.AddConstraint((0, 2), 1))
        card = constraints_model.state(store)["conflict"]
        own = next(each for each in card["softs"] if each["method"] == "toy")
        assert own["text"] == "Treat constraints as soft (Patience)"
        assert "how far a broken one is tolerated" in own["title"]
        ACTS(Gestures(store), "soften", {"method": "toy"})
        session = store.session
        assert (session.constraint_mode, len(session.enabled), session.conflict) == (
            "soft",
            2,
            None,
        )
        assert 0 <= session.params["patience"] < 0.5  # what its bounds allow
        assert store.view.error is None
        loop.until(lambda: store.session.status == "settled")


def test_its_graph_and_its_partition_are_on_the_page(toy, loop):
    explorer = Explorer(loop.schedule, link=Link(method="toy"))
    store = explorer.store
    try:
        loop.until(lambda: store.session.status == "settled")
        store.dispatch(act.AddConstraint((0, 1), 2))

        def drawn():
            state = explorer.sections.state.get("views") or {"views": []}
            return next(iter(state["views"]), {"edges": []})

        loop.until(lambda: drawn()["edges"] == [[0, 1]])
        assert (drawn()["name"], drawn()["kind"]) == ("said together", "graph")
        assert drawn()["names"] == list(store.session.labels)
        loop.until(lambda: levels_model.method_count(store) == 3)  # colours of its clusters
        store.dispatch(act.SetMethod("build"))
        loop.until(lambda: explorer.sections.state.get("views") is None)  # that one has no views
    finally:
        store.close()


def test_the_agreement_sheet_asks_it_for_k_clusters(toy, loop):
    with over_zoo(loop, "build") as store:
        driver = agreement_model.AgreementRuns(store, loop.schedule)
        store.change_view(agree_with=("toy",), agree_k=7, agree_wanted=True)
        loop.until(lambda: not store.view.agree_wanted)
        ((name, found),) = store.view.agreed
        assert (name, len(set(found.labels.tolist()))) == ("toy", 7)
        driver.close()


def test_it_is_a_command(toy, tmp_path, capsys):
    table, triplets = tmp_path / "points.csv", tmp_path / "triplets.csv"
    table.write_text("name,x,y\na,0,0\nb,1,0\nc,3,1\nd,20,9\ne,22,9\n")
    triplets.write_text("together_1,together_2,apart\na,e,b\n")
    assert cli.main(["run", "toy", str(table), "--triplets", str(triplets)]) == 0
    hard = Tree.from_newick(capsys.readouterr().out, list("abcde"))
    assert hard.satisfies([(0, 4, 1)]).all()
    words = ["--triplets", str(triplets), "--patience", "0.2", "--clusters", "2"]
    assert cli.main(["run", "toy", str(table), *words]) == 0
    soft = Tree.from_newick(capsys.readouterr().out, list("abcde"))
    assert soft.n_internal == 1
    assert cli.main(["run", "toy", str(table), "--patience", "0.7"]) == 2
    assert "patience must be a number" in capsys.readouterr().err


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


def test_the_page_works_if_a_method_cannot_be_found(monkeypatch, loop):
    monkeypatch.setitem(MODULES, "mine", "hcviz.algorithms._template")
    with over_zoo(loop, "average") as store:
        entry = next(each for each in top_bar_model.state(store)["methods"] if each[0] == "mine")
        assert entry[2]  # it cannot be chosen
        assert "The registry expects the method 'mine'" in entry[3]
        assert choosing.default(store.problem).name == "ddt"


def test_what_softens_a_method_is_one_of_its_parameters():
    with pytest.raises(InvalidParameter, match="'slack', which is not one of its parameters"):
        Algorithm(**{**vars(ALGORITHMS[0]), "softened_by": "slack"})
