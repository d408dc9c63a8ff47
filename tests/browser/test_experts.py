"""Several people's answers on the page: names, switches, weights, drawn trees, named orders."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard


@pytest.fixture
def zoo(server, new_page):
    page = new_page()
    page.goto(f"{server.url}?data=zoo&method=crsc")
    return Dashboard(page).settle()


def expert(dashboard, name):
    return dashboard.page.locator(f'.hc-constraints .expert[data-name="{name}"]')


def test_two_people_disagree(zoo):
    page = zoo.page
    expect(page.get_by_role("group", name="Experts")).to_have_count(0)
    zoo.add_constraint(["dolphin", "tuna"], "wolf")
    zoo.press("Enter")
    zoo.settle()
    page.get_by_label("You are").fill("Ann")
    zoo.press("Enter")
    expect(expert(zoo, "Ann")).to_contain_text("new answers")
    zoo.press("Escape")
    zoo.add_constraint(["dolphin", "wolf"], "tuna")
    expect(zoo.assessment).to_contain_text("conflict")
    zoo.press("Enter")
    expect(zoo.constraints.nth(1)).to_contain_text("Ann")
    pair = page.locator(".hc-constraints .pair")
    expect(pair).to_contain_text("0 % agree")
    expect(pair).to_contain_text("against: dolphin + wolf together, apart from tuna")
    # The other's answers go as one, and Ann's can be had.
    expert(zoo, "you").get_by_role("checkbox").uncheck()
    zoo.settle()
    expect(expert(zoo, "you")).to_contain_text("0 of 1")
    expert(zoo, "Ann").get_by_role("checkbox").check()
    expect(zoo.sentence).to_contain_text("true in this tree already")  # no run is needed
    expect(expert(zoo, "Ann")).to_contain_text("1 of 1")
    expert(zoo, "you").get_by_role("checkbox").focus()
    zoo.press("Space")  # and by keyboard: what contradicts stays off, and is reported
    expect(zoo.sentence).to_contain_text("stays off")
    expect(page.locator(".hc-constraints .conflict-card")).to_be_visible()
    zoo.button("Undo").click()
    zoo.button("Undo").click()
    expect(expert(zoo, "you")).to_contain_text("1 of 1")
    weight = page.get_by_role("spinbutton", name="Weight of Ann")
    weight.fill("2")
    zoo.press("Enter")
    expect(zoo.sentence).to_contain_text("Weight of Ann: 2.")
    weight.fill("-1")
    zoo.press("Enter")
    expect(page.locator(".hc-foot")).to_contain_text("positive")


def test_a_drawn_tree_becomes_answers(zoo, tmp_path):
    page = zoo.page
    path = tmp_path / "drawn.nwk"
    path.write_text("((dolphin,porpoise),(tuna,carp),(vampire,fruitbat));")
    zoo.open("Reference tree (Newick)…", path)
    expect(zoo.constraints).to_have_count(3)
    expect(page.locator(".hc-constraints .tag.satisfied")).to_have_count(3)
    zoo.button("Undo").click()
    expect(zoo.constraints).to_have_count(0)
    path.write_text("((dolphin,porpoise),(tuna,unicorn));")
    zoo.open("Reference tree (Newick)…", path)
    expect(page.locator(".hc-foot")).to_contain_text("unicorn")
    expect(zoo.constraints).to_have_count(0)


def test_a_headerless_file_is_read_where_its_order_is_named(zoo, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("dolphin,tuna,wolf\n")
    zoo.open("Constraints (CSV)…", path)
    expect(zoo.page.locator(".hc-foot")).to_contain_text("has no header")
    zoo.open("Triplets: anchor, near, far…", path)
    zoo.settle()
    expect(zoo.constraints).to_have_count(1)
    expect(zoo.constraints).to_contain_text("dolphin + tuna together, apart from wolf")
