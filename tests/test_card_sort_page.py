"""The sheet *Card sort*, its actions of the session, and the report, as data."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.algorithms import get
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session, equal_values
from hcviz.session.replay import replay
from hcviz.ui.app.sheets import SHEETS
from hcviz.ui.features.card_sort import model
from hcviz.ui.features.card_sort.report import card_sort_report
from hcviz.ui.features.card_sort.sheet import ACTS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.state.data_sources import resolve
from hcviz.ui.state.store import Store
from tests.stores import Loop, over_zoo

CARDS = {
    "Fruit": ("apple", "pear", "plum", "grape"),
    "Baking": ("flour", "sugar", "yeast", "loaf"),
    "House": ("soap", "bulb", "broom", "bag"),
}


def shop_sort(fruits: str = "<b>Fruits</b>") -> str:
    """Eight participants and twelve cards; some put one card elsewhere, or use other names."""
    rows = ["participant,card,pile"]
    for k in range(1, 9):
        for pile, cards in CARDS.items():
            for card in cards:
                name = pile
                if k in (2, 5) and card == "grape":
                    name = "Baking"
                if k in (3, 7) and card == "bag":
                    name = "Things"
                if k == 4 and card in ("loaf", "sugar"):
                    name = "Fruit"
                if name == "Fruit" and k in (6, 7, 8):
                    name = fruits
                rows.append(f"P{k},{card},{name}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def loop():
    return Loop()


@pytest.fixture
def store(loop):
    treats = get("actual-agreement").constraint_mode({})
    made = Store(Session(method="actual-agreement", constraint_mode=treats), loop.schedule)
    try:
        spec = DataSpec(
            kind="table", name="shop.csv", filename="shop.csv", content=shop_sort().encode()
        )
        assert made.open_data(spec)
        made.dispatch(act.SetMethod("actual-agreement"))
        loop.until(lambda: made.session.status == "settled")
        yield made
    finally:
        made.close()


def used_by(store):
    return {row["name"]: row["participants"] for row in model.state(store)["names"]}


def test_names_are_merged_split_and_undone(store):
    actions = Gestures(store)
    before = used_by(store)
    assert before == {"Baking": 8, "House": 8, "Fruit": 5, "<b>Fruits</b>": 3, "Things": 2}
    ACTS(actions, "merge", {"names": ["Fruit", "<b>Fruits</b>"], "name": " Fruit  and  veg "})
    assert used_by(store) == {"Baking": 8, "Fruit and veg": 8, "House": 8, "Things": 2}
    ACTS(actions, "merge", {"names": ["Fruit and veg", "Things"], "name": "baking"})
    assert used_by(store) == {"House": 8, "baking": 8}
    store.dispatch(act.Undo())
    assert used_by(store)["Fruit and veg"] == 8
    ACTS(actions, "split", {"name": "Fruit and veg"})
    assert used_by(store) == before
    ACTS(actions, "merge", {"names": ["Fruit"], "name": " "})
    assert store.view.error[0].startswith("The name of a pile has 1 to 200 characters")
    assert used_by(store) == before


def test_a_participant_switched_off_does_not_count(store, loop):
    similarity = store.problem.similarity
    ACTS(Gestures(store), "participant", {"name": "P4", "on": False})
    loop.until(lambda: store.session.status == "settled")
    shown = model.state(store)
    assert (shown["participants"], shown["on"]) == (8, 7)
    assert {each["name"]: each["on"] for each in shown["people"]}["P4"] is False
    assert not np.array_equal(store.problem.similarity, similarity)
    apple, loaf = (store.session.labels.index(name) for name in ("apple", "loaf"))
    assert store.problem.similarity[apple, loaf] == 0
    for k in (1, 2, 3, 5, 6, 7, 8):
        store.dispatch(act.EnableParticipant(f"P{k}", False))
    assert store.view.error[0] == "All participants are switched off."
    assert model.state(store)["on"] == 1
    for _ in range(7):
        store.dispatch(act.Undo())
    assert np.array_equal(store.problem.similarity, similarity)


def test_files_and_replay_keep_names_and_participants(store, loop):
    store.dispatch(act.MergePileNames(("Fruit", "<b>Fruits</b>"), "Fruit"))
    store.dispatch(act.EnableParticipant("P4", False))
    loop.until(lambda: store.session.status == "settled")
    loaded = load_session(save_session(store.session))
    assert dict(loaded.pile_names) == {"fruit": "Fruit", "<b>fruits</b>": "Fruit"}
    assert loaded.data.left_out == ("P4",)

    def run(spec, effect):
        problem = resolve(spec).problem(left_out=spec.left_out)
        method = get(effect.method)
        params = method.parameters(**dict(effect.params))
        return method.start_run(problem, params, np.random.default_rng(0), effect.start)

    again = replay(loaded, run, get)
    assert equal_values(again.pile_names, loaded.pile_names)
    assert again.data == loaded.data
    assert again.tree == loaded.tree


def test_cards_of_a_name_are_selected(store):
    actions = Gestures(store)
    ACTS(actions, "select-name", {"name": "Fruit"})
    assert [store.session.labels[k] for k in store.view.selection] == list(CARDS["Fruit"])
    various = model.state(store)["various"]
    assert various[0]["name"] == "grape"
    ACTS(actions, "select-card", {"id": various[0]["id"]})
    assert store.view.selection == (various[0]["id"],)
    ACTS(actions, "select-name", {"name": "no such name"})


def test_the_axis_shows_shares(store):
    from hcviz.ui.tree.shown_axis import axis_of

    axis = axis_of(store, store.session.tree)
    assert (axis.tick(0.0), axis.tick(0.25), axis.tick(1.0)) == ("100", "75", "0")
    assert axis.heights_of(store.session.tree.root)[0] == ("On one pile", "0 %")


def test_other_data_have_no_such_sheet(loop):
    with over_zoo(loop, "average") as zoo:
        assert not SHEETS["card-sort"].has_tab(zoo)
        assert model.state(zoo) == {}


def test_a_report_escapes_every_name(store):
    hostile = "</style><script>alert(1)</script>&\0"
    state = model.state(store)
    for row in (*state["names"], *state["people"], *state["various"]):
        row["name"] = hostile
    state["names"][0]["cards"][0][0] = hostile
    labels = [hostile, *store.session.labels[1:]]
    shares = store.problem.similarity
    page = card_sort_report(state | {"title": hostile}, b"<svg/>", hostile, shares, labels, [0, 1])
    assert "<script" not in page
    assert "\0" not in page
    assert page.count("&lt;script&gt;") >= 3 + len(state["people"])
