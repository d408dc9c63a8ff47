"""What makes a group, on the page without a browser: the view, its messages, and its names."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.features.about_group import model
from hcviz.ui.features.about_group.item_data import digest
from hcviz.ui.features.inspector import model as inspector_model
from tests.test_description import DATED, TABLE

NASTY = '<img src=x onerror="alert(1)">'


@pytest.fixture
def page(loop):
    """The zoo under average linkage."""
    explorer = Explorer(loop.schedule, link=Link(method="average"))
    loop.until(lambda: explorer.store.session.status == "settled")
    yield explorer
    explorer.close()


def of_class(store, kind):
    return tuple(k for k, each in enumerate(store.dataset.classes) if each == kind)


def select(page, items):
    page.store.change_view(selection=tuple(items))
    return inspector_model.state(page.store)["selection"]


def test_a_group_shows_features_fits_and_names(page):
    birds = of_class(page.store, "bird")
    shown = select(page, birds)
    about = shown["about"]
    assert [side["key"] for side in about["sides"]] == ["rest", "sibling"]
    first = about["sides"][0]["bars"][0]
    assert (first["name"], first["inside"], first["outside"]) == ("feathers", "100 %", "0 %")
    assert about["words"].startswith("Here, all have feathers = yes (others 0 %); ")
    assert all(-1 <= bar["length"] <= 1 for side in about["sides"] for bar in side["bars"])
    assert [fact[0] for fact in about["facts"]] == ["Similarity inside", "To the sibling"]
    assert {each["id"] for each in about["typical"] + about["least"]} <= set(birds)
    names = [each["name"] for each in shown["group"]["suggestions"]]
    assert names[0] == "Feathers"
    assert shown["group"]["suggestions"][0]["why"] == "true for all 20 items here, none elsewhere"


def test_one_click_names_and_renames(page):
    birds = of_class(page.store, "bird")
    group = select(page, birds)["group"]
    inspector = page.controls["inspector"]
    inspector.act("name-group", {"name": "Feathers", "key": group["key"]})
    assert [each.name for each in page.store.session.groups] == ["Feathers"]
    group = select(page, birds)["group"]
    assert "Feathers" not in [each["name"] for each in group["suggestions"]]
    other = group["suggestions"][0]["name"]
    inspector.act("name-group", {"name": other, "key": group["key"]})
    assert [each.name for each in page.store.session.groups] == [other]
    page.store.dispatch(act.Undo())
    assert [each.name for each in page.store.session.groups] == ["Feathers"]


def test_the_nearest_named_group_is_one_without_common_items(page):
    fish, birds = of_class(page.store, "fish"), of_class(page.store, "bird")
    page.store.dispatch(act.NameGroup(fish, NASTY), act.NameGroup(birds, "Birds"))
    facts = dict(select(page, birds)["about"]["facts"])
    assert f"To {NASTY}, the nearest group" in facts  # the page escapes it
    assert not any("Birds" in name for name in facts)


def test_an_item_shows_its_row_and_its_nearest_items(page):
    labels = page.store.session.labels
    about = select(page, [labels.index("dolphin")])["about"]
    assert about["nearest"][0]["name"] == "porpoise"
    assert ["milk", "yes"] in about["row"]
    assert ["legs", "0"] in about["row"]
    assert (about["groups"], about["groupsNote"]) == ([], "")


def test_all_items_and_lessons_show_nothing(page):
    assert select(page, range(page.store.session.n_items))["about"] is None


def test_large_data_are_described_in_the_background(loop):
    rng = np.random.default_rng(0)
    rows = ["name,a,b"] + [f"i{k},{rng.normal() + 5 * (k < 350):.3f},{k % 7}" for k in range(700)]
    explorer = Explorer(loop.schedule, link=Link(method="average"))
    store = explorer.store
    loop.until(lambda: store.session.status == "settled")
    content = "\n".join(rows).encode()
    assert store.open_data(DataSpec("table", "big", filename="big.csv", content=content))
    loop.until(lambda: store.session.status == "settled" and store.session.n_items == 700)
    items = tuple(range(350))
    assert select(explorer, items)["about"] == {"kind": "group", "sentence": model.WAITING}
    loop.until(lambda: explorer.inspector.state["selection"]["about"]["sentence"] == "")
    bars = explorer.inspector.state["selection"]["about"]["sides"][0]["bars"]
    assert bars[0]["name"] == "a"
    explorer.close()


def test_probabilities_of_groups_come_from_the_sampled_trees(loop):
    explorer = Explorer(loop.schedule, link=Link(method="ddt"))
    store = explorer.store
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.NameGroup(of_class(store, "bird"), "Birds"))
    hen = store.session.labels.index("chicken")
    assert select(explorer, [hen])["about"]["groupsNote"] == model.WAITING
    loop.until(lambda: explorer.inspector.state["selection"]["about"]["groupsNote"] == "")
    groups = explorer.inspector.state["selection"]["about"]["groups"]
    assert groups[0]["name"] == "Birds"
    assert groups[0]["share"] > 0.5
    explorer.close()


def test_a_table_of_mixed_columns(page):
    spec = DataSpec("table", "shop", filename="shop.csv", content=TABLE)
    assert page.store.open_data(spec)
    about = model.group_json(
        model.describe_group(page.store.dataset, _star(7), [0, 1, 2]), page.store.dataset.labels
    )
    names = [bar["name"] for bar in about["sides"][0]["bars"]]
    assert {"price", "material = steel"} <= set(names)
    price = next(bar for bar in about["sides"][0]["bars"] if bar["name"] == "price")
    assert (price["inside"], price["outside"], price["length"] < 0) == ("25", "51.2", True)


def test_dates_and_terms_are_shown_as_dates_and_shares(page):
    content = DATED.replace(b"big", "größer".encode()).replace(b"desc", b"<i>desc")
    assert page.store.open_data(DataSpec("table", "x", filename="x.csv", content=content))
    data = page.store.dataset
    about = model.group_json(model.describe_group(data, _star(6), [0, 1]), data.labels)
    bars = {bar["name"]: bar for bar in about["sides"][0]["bars"]}
    assert (bars["when"]["inside"], bars["when"]["outside"]) == ("2020-02-02", "2024-06-19")
    assert "is lower" not in bars["when"]["title"]
    assert bars["<i>desc: größer"]["title"] == (
        "<i>desc: größer: contained in 100 % of the items here, 0 % in all other items."
    )
    assert "when is earlier: 2020-02-02 (others 2024-06-19)" in about["words"]
    terms = model.describe_group(data, _star(6), [0, 1]).against_rest
    words = model.sentence(tuple(each for each in terms if each.kind == "text"))
    assert words.startswith('Here, all have "größer" in <i>desc (others 0 %)')
    assert model.describe_item(data, 0).row == (("when", "2020-02-01"), ("<i>desc", "größer, red"))


def _star(n):
    from hcviz import Tree

    return Tree.star(n)


def test_cells_are_written_as_people_write_them():
    cells = [None, True, False, "steel", 0.0, 1780.25, 12.34, 0.01234, 1e12, -2.5]
    wanted = ["–", "yes", "no", "steel", "0", "1,780", "12.3", "0.012", "1e+12", "-2.5"]
    assert [model.cell_text(cell) for cell in cells] == wanted


def test_keys_differ_for_other_parts():
    assert digest([1, 2], [3]) != digest([1], [2, 3])
    assert digest("ab", "c") != digest("a", "bc")
