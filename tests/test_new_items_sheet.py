"""The sheet New items without a browser: the file, the list, the decisions."""

from __future__ import annotations

import base64

import pytest

from hcviz import Group
from hcviz.datasets import load
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.features.new_items import opening, sheet

HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def zoo():
    return load("zoo")


@pytest.fixture
def page(loop, zoo):
    explorer = Explorer(loop.schedule, link=Link(method="average"))
    loop.until(lambda: explorer.store.session.status == "settled")
    classes = sorted(set(zoo.classes))
    groups = [
        Group(name, [k for k, each in enumerate(zoo.classes) if each == name], id=name)
        for name in classes
    ]
    animals = [k for k, each in enumerate(zoo.classes) if each not in ("insect", "invertebrate")]
    groups.append(Group("Vertebrates", animals, id="all"))
    explorer.store.dispatch(act.ReplaceGroups(tuple(groups)))
    yield explorer
    explorer.close()


def table(zoo, **items):
    """A table of new items; each is a copy of an item of the zoo, or a list of cells."""
    lines = ["name," + ",".join(zoo.feature_names)]
    for name, like in items.items():
        cells = zoo.features[zoo.labels.index(like)] if isinstance(like, str) else like
        lines.append(f"{name}," + ",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def upload(page, text, name="new.csv"):
    page.files.act(
        "upload",
        {"id": name + text[-9:], "kind": "new items", "name": name, "size": len(text),
         "piece": 0, "pieces": 1, "base64": base64.b64encode(text.encode()).decode()},
    )  # fmt: skip


def send(page, name, **fields):
    sheet.SHEET.acts(page.gestures, name, fields)


def shown(page):
    return {row["item"]: row for row in sheet.state(page.store)["rows"]}


def open_three(page, zoo):
    odd = [90.0] * zoo.features.shape[1]
    upload(page, table(zoo, yeti="bear", ghost=odd, eagle="hawk", bear="bear"))


def test_new_items_are_listed_by_group_and_those_that_fit_nowhere_last(page, zoo):
    assert sheet.state(page.store) == {}
    assert not sheet.SHEET.has_tab(page.store)
    open_three(page, zoo)
    assert Middle.now(page.store) == "new_items"
    assert page.store.view.message == "3 new items from new.csv: accept or dismiss each."
    state = sheet.state(page.store)
    assert [row["item"] for row in state["rows"]] == ["eagle", "yeti", "ghost"]
    assert [level["name"] for level in state["rows"][1]["path"]] == ["Vertebrates", "mammal"]
    assert all(level["percent"] >= 90 for level in state["rows"][1]["path"])
    assert [row["unplaced"] for row in state["rows"]] == [False, False, True]
    assert state["notes"][0] == "1 item is in the data already and left out: bear."
    assert (state["left"], state["sure"], state["changed"]) == (3, 2, False)
    assert state["groups"][:2] == [["insect", "insect", 0], ["invertebrate", "invertebrate", 0]]
    assert ["mammal", "mammal", 1] in state["groups"]


def test_sure_items_are_accepted_in_one_step_and_undo_lists_them_again(page, zoo, loop):
    store = page.store
    open_three(page, zoo)
    before = store.session
    send(page, "accept-sure")
    assert store.session.labels[-2:] == ("yeti", "eagle")
    assert store.session.find_group("mammal").members[-1] == 101
    assert store.session.find_group("all").members[-2:] == (101, 102)
    loop.until(lambda: store.session.status == "settled")
    assert store.session.tree.n_leaves == 103
    assert store.dataset.n_items == 103
    state = sheet.state(store)
    assert (state["left"], state["accepted"], state["changed"]) == (1, 2, True)
    assert Middle.now(store) == "new_items"
    store.dispatch(act.Undo())
    assert (store.session.labels, store.session.groups) == (before.labels, before.groups)
    assert store.session.tree == before.tree
    assert store.dataset.n_items == 101
    assert list(shown(page)) == ["eagle", "yeti", "ghost"]
    store.dispatch(act.Redo())
    assert list(shown(page)) == ["ghost"]


def test_the_list_and_its_decisions_are_in_the_session_file(page, zoo, loop):
    store = page.store
    open_three(page, zoo)
    notes = sheet.state(store)["notes"]
    send(page, "choose-group", row=shown(page)["yeti"]["row"], group="bird")
    send(page, "dismiss-item", row=shown(page)["ghost"]["row"])
    send(page, "accept-item", row=shown(page)["eagle"]["row"])
    loop.until(lambda: store.session.status == "settled")
    loaded = load_session(save_session(store.session))
    assert loaded.offered_items == store.session.offered_items
    other = Explorer(loop.schedule, link=Link(method="average"))
    loop.until(lambda: other.store.session.status == "settled")
    assert other.store.restore(loaded)
    assert list(shown(other)) == ["yeti"]
    assert (shown(other)["yeti"]["group"], shown(other)["yeti"]["byHand"]) == ("bird", True)
    assert sheet.state(other.store)["dismissed"] == 1
    assert sheet.state(other.store)["notes"] == notes
    send(other, "bring-back")
    assert sorted(shown(other)) == ["ghost", "yeti"]
    send(other, "accept-item", row=shown(other)["yeti"]["row"])
    assert other.store.session.labels[-2:] == ("eagle", "yeti")
    assert list(shown(other)) == ["ghost"]
    send(other, "close-new-items")
    assert other.store.session.offered_items is None
    assert other.store.restore(loaded)  # opened over the other session
    assert list(shown(other)) == ["yeti"]
    other.close()


def test_another_group_can_be_chosen_and_an_item_be_dismissed(page, zoo):
    store = page.store
    open_three(page, zoo)
    row = shown(page)["yeti"]["row"]
    send(page, "choose-group", row=row, group="no such group")
    assert not shown(page)["yeti"]["byHand"]
    send(page, "choose-group", row=row, group="bird")
    assert (shown(page)["yeti"]["group"], shown(page)["yeti"]["byHand"]) == ("bird", True)
    assert sheet.state(store)["sure"] == 1
    send(page, "dismiss-item", row=shown(page)["eagle"]["row"])
    assert sheet.state(store)["dismissed"] == 1
    send(page, "accept-item", row=row)
    assert store.session.find_group("bird").members[-1] == 101
    send(page, "choose-group", row=shown(page)["ghost"]["row"], group="")
    send(page, "accept-item", row=shown(page)["ghost"]["row"])
    assert store.session.labels[-1] == "ghost"
    assert all(102 not in group.members for group in store.session.groups)
    assert (sheet.state(store)["left"], shown(page)) == (0, {})
    send(page, "place-again")
    assert (sheet.state(store)["dismissed"], shown(page)) == (1, {})
    send(page, "bring-back")
    assert (sheet.state(store)["changed"], list(shown(page))) == (False, ["eagle"])
    send(page, "close-new-items")
    assert (Middle.now(store), store.view.new_items) == ("tree", None)


def test_a_row_shows_the_place_of_its_group_in_the_tree(page, zoo):
    store = page.store
    open_three(page, zoo)
    send(page, "choose-group", row=shown(page)["ghost"]["row"], group="")
    send(page, "show-placed", row=shown(page)["ghost"]["row"])
    assert "has no group yet" in store.view.message
    assert Middle.now(store) == "new_items"
    send(page, "show-placed", row=shown(page)["eagle"]["row"])
    assert zoo.labels.index("hawk") in store.view.selection
    assert Middle.now(store) == "tree"
    for name in ("show-placed", "accept-item", "dismiss-item"):
        send(page, name, row=99)
    assert store.view.error is None
    assert store.session.n_items == 101


def test_a_lock_is_shown_and_includes_the_item(page, zoo, loop):
    store = page.store
    members = store.session.find_group("bird").members
    store.dispatch(act.AddConstraint(members, -1))
    open_three(page, zoo)
    assert [shown(page)[name]["locked"] for name in ("eagle", "yeti")] == [True, False]
    send(page, "accept-item", row=shown(page)["eagle"]["row"])
    assert store.session.constraints[0].group == (*members, 101)
    loop.until(lambda: store.session.status == "settled")
    assert store.session.tree.has_clade((*members, 101))


def test_the_names_of_the_items_are_put_into_a_set_once(page, zoo, monkeypatch):
    open_three(page, zoo)
    made = []
    monkeypatch.setattr(sheet, "set", lambda given: made.append(given) or set(given), raising=False)
    assert sheet.state(page.store)["accepted"] == 0
    assert [each is page.store.session.labels for each in made] == [True]


def test_removed_groups_and_other_data(page, zoo):
    store = page.store
    open_three(page, zoo)
    store.dispatch(act.RemoveGroup("mammal"))
    assert [level["name"] for level in shown(page)["yeti"]["path"]] == ["Vertebrates"]
    assert shown(page)["yeti"]["group"] == "all"
    assert sheet.state(store)["sure"] == 1
    store.open_data(store.session.data.__class__(name="iris"))
    assert store.view.new_items is None


def test_what_cannot_be_placed_is_refused_in_a_sentence(page, zoo):
    store = page.store
    for text, wrong in (
        (table(zoo, bear="bear", hawk="hawk"), "2 new items are in the data already: bear, hawk."),
        ("name,colour\nyeti,white\n", "none of the columns"),
        (table(zoo), "single row"),
        ("", "empty"),
    ):
        upload(page, text)
        assert wrong in store.view.error[0]
        assert store.view.new_items is None
    upload(page, table(zoo, **{HOSTILE: "bear"}), "<b>.csv")
    assert HOSTILE in shown(page)
    store.dispatch(act.ReplaceGroups(()))
    upload(page, table(zoo, yeti="bear"), "more.csv")
    assert store.view.error == ("No group has a name yet.", "Select a branch and name it.")


def test_a_large_comparison_is_made_on_a_thread(page, zoo, loop, monkeypatch):
    monkeypatch.setattr(opening, "CELLS_AT_ONCE", 10)
    open_three(page, zoo)
    assert page.store.view.new_items is None
    loop.until(lambda: page.store.view.new_items is not None)
    assert list(shown(page)) == ["eagle", "yeti", "ghost"]
