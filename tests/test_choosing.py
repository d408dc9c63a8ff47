"""Which method the page chooses: for data that are opened, and in the place of a deaf one."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.core.problem import MAX_DENSE, Problem
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.controller import ACTS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.state import default_method as choosing
from hcviz.ui.state.store import Store
from tests.stores import over_zoo

FEW = Problem(features=np.random.default_rng(0).normal(size=(12, 3)))
ALIKE = Problem(similarity=np.eye(6))


class Many:
    """A similarity of more items than all pairs are computed of."""

    n_items = MAX_DENSE + 1

    def similarity(self, rows, cols):
        return np.zeros((len(rows), len(cols)))


MANY = Problem(oracle=Many())


def after(session, *actions):
    for action in actions:
        session = session.__class__(
            **{**vars_of(session), "log": (*session.log, entry(action))},
        )
    return session


def vars_of(session):
    return {name: getattr(session, name) for name in session.__dataclass_fields__}


def entry(action):
    from hcviz.session.model import LogEntry

    return LogEntry(action, 0, -1)


def loaded(method=""):
    return act.LoadedData(DataSpec(), ("a", "b"), method=method)


def test_a_default_for_other_data_is_chosen_again():
    large = after(Session(method="active-spectral"), loaded("active-spectral"))
    method, why = choosing.for_opened(large, FEW)
    assert (method.name, why) == ("ddt", "which suits this data")
    assert choosing.for_opened(large, MANY) is None  # it is the default there


def test_what_the_person_chose_stays_where_it_can_run():
    own = after(Session(method="active-spectral"), act.SetMethod("active-spectral"))
    assert choosing.for_opened(own, FEW) is None
    # Also if the page had chosen it before, for other data.
    both = after(own, loaded(), act.SetMethod("average"))
    assert choosing.for_opened(both, FEW) is None
    assert choosing.for_opened(Session(method="average"), FEW) is None  # as a link says


@pytest.mark.parametrize(
    ("method", "problem", "words"),
    [
        ("ddt", ALIKE, "Dirichlet diffusion tree cannot run on this data"),
        ("average", MANY, "Average linkage cannot run"),
    ],
)
def test_what_cannot_run_is_replaced_with_a_reason(method, problem, words):
    own = after(Session(method=method), act.SetMethod(method))
    found, why = choosing.for_opened(own, problem)
    assert not found.missing_data(problem)
    assert words in why


def test_after_a_large_file_a_small_one_has_its_own_method(loop, tmp_path):
    """As it was found: the method for 20,000 items stayed for every table after them."""
    store = Store(Session(), loop.schedule)
    rows = "\n".join(f"i{k},{k % 7},{k % 11}" for k in range(MAX_DENSE + 1))
    large = DataSpec(
        kind="table", name="l.csv", filename="l.csv", content=f"name,x,y\n{rows}\n".encode()
    )
    try:
        assert store.open_data(large)
        assert store.session.method == "active-spectral"
        store.runner.cancel()
        assert store.open_data(DataSpec(name="zoo"))
        assert (store.session.method, store.session.constraint_mode) == ("ddt", "hard")
        assert "Method: Dirichlet diffusion tree, which suits this data." in store.session.cause
    finally:
        store.close()


# ---------------------------------------------------------------------- constraints ignored


@pytest.mark.parametrize(
    ("problem", "wanted"), [(FEW, "crsc"), (ALIKE, "crsc"), (MANY, "active-spectral")]
)
def test_the_method_that_keeps_constraints_reads_what_the_other_read(
    problem, wanted, unconstrained
):
    session = Session(method=unconstrained, constraint_mode="ignored")
    found = choosing.keeping_constraints(session, problem)
    assert found.name == wanted
    assert found.triplets == "hard"
    assert not found.missing_data(problem)


@pytest.fixture
def zoo(loop, unconstrained):
    with over_zoo(loop, unconstrained) as made:
        made.dispatch(act.SetMethod(unconstrained))
        yield made


def test_a_statement_under_a_method_that_ignores_it_is_judged_so_and_survives_the_switch(zoo, loop):
    gestures = Gestures(zoo)
    tree = zoo.session.tree
    a, b = tree.leaves(int(tree.parent[0]))[:2].tolist()
    apart = next(i for i in range(101) if i not in (a, b))
    for group, odd in (((a, b), apart), ((a, apart), b)):
        zoo.change_view(draft=zoo.view.draft.clear().begin_together(group).begin_odd().pick((odd,)))
        shown = constraints_model.state(zoo)
        verdict = shown["draft"]["assessment"]
        assert verdict["kind"] == "ignored"
        assert "this method ignores constraints" in verdict["sentence"]
        assert "will change" not in verdict["sentence"]
        assert "locked" not in verdict["sentence"]
        assert shown["ignored"]["sentence"] == "Unconstrained linkage ignores constraints."
    draft = zoo.view.draft
    ACTS(gestures, "keep-constraints", {})
    loop.until(lambda: zoo.session.status == "settled")
    assert zoo.session.constraint_mode == "hard"
    assert zoo.view.draft == draft  # still open
    shown = constraints_model.state(zoo)
    assert shown["ignored"] is None
    assert shown["draft"]["assessment"]["kind"] in ("correction", "holds")
    gestures.apply()
    loop.until(lambda: zoo.session.status == "settled")
    assert zoo.session.tree.satisfies(zoo.session.triplets).all()


def test_constraints_in_the_list_offer_the_switch_too(zoo):
    assert constraints_model.state(zoo)["ignored"] is None
    zoo.dispatch(act.AddConstraint((0, 1), 2))
    assert constraints_model.state(zoo)["ignored"]["method"] == "crsc"
    ACTS(Gestures(zoo), "keep-constraints", {})
    assert zoo.session.method == "crsc"
    ACTS(Gestures(zoo), "keep-constraints", {})  # an old page's click
    assert zoo.session.method == "crsc"
