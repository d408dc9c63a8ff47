"""The review of a second version: opened from the File menu, taken over row by row, undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import box_at_rest, wait_still

KINDS = ("pan", "pot", "jar")
MINE = {"Pans": ["pan 0", "pan 1", "pan 2"], "Pots": ["pot 0", "pot 1", "pot 2"]}
THEIRS = {
    "Frying": ["pan 0", "pan 1", "pan 2"],
    "Pots": ["pot 0", "pot 1", "jar 0"],
    '<b onclick="x()">Jars</b>': ["jar 1", "jar 2"],
}


def outline(groups, items):
    inside = {item for members in groups.values() for item in members}
    lines = [line for name, own in groups.items() for line in (name, *(f"  {x}" for x in own))]
    return "\n".join([*lines, *(item for item in items if item not in inside)]) + "\n"


@pytest.fixture
def dashboard(page, tmp_path):
    items = [f"{kind} {k}" for kind in KINDS for k in range(3)]
    rows = [f"{item},{3 * (k // 3) + k / 9},{k % 3 + k // 3}" for k, item in enumerate(items)]
    (tmp_path / "shelf.csv").write_text("\n".join(["name,a,b", *rows]) + "\n")
    (tmp_path / "mine.txt").write_text(outline(MINE, items))
    (tmp_path / "theirs.txt").write_text(outline(THEIRS, items))
    (tmp_path / "partly.txt").write_text(outline(THEIRS, [*items[:-1], "unicorn"]))
    made = Dashboard(page).settle()
    made.open_with_average(tmp_path / "shelf.csv")
    made.open("Groups…", tmp_path / "mine.txt")
    expect(page.locator(".hc-groups .group")).to_have_count(2)
    wait_still(page)
    return made


@pytest.mark.parametrize("width", [1440, 820])
def test_a_second_version_is_taken_over_group_by_group(dashboard, tmp_path, width):
    page = dashboard.page
    page.set_viewport_size({"width": width, "height": 900})
    dashboard.open("Review a second version…", tmp_path / "theirs.txt")
    rows = page.locator(".hc-review tbody tr")
    expect(rows).to_have_count(3)
    left = page.locator(".hc-review .remaining")
    expect(left).to_have_text("3 groups left to decide")
    expect(rows.filter(has_text="Jars").locator("b[onclick]")).to_have_count(0)
    take = rows.filter(has_text="Renamed").get_by_role("button", name="Take over")
    colours = "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    text, behind = take.evaluate(colours)
    assert text != behind
    take.click()
    expect(left).to_have_text("2 groups left to decide")
    expect(rows.filter(has_text="Renamed")).to_contain_text("Taken over")
    rows.filter(has_text="Changed").get_by_role("button", name="Keep mine").click()
    expect(rows.filter(has_text="Changed")).to_contain_text("Kept yours")
    rows.filter(has_text="New").get_by_role("button", name="Take over").click()
    expect(left).to_have_text("All groups are decided")
    expect(page.locator(".hc-review .moved li")).to_have_count(2)
    box = box_at_rest(page, page.locator(".hc-review table"))
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    dashboard.button("Close the review").click()
    expect(page.locator(".hc-review")).to_be_hidden()
    for _ in range(4):
        dashboard.press("Control+z")
    expect(left).to_have_text("3 groups left to decide")


def test_other_items_are_listed_before_the_review(dashboard, tmp_path):
    page = dashboard.page
    dashboard.open("Review a second version…", tmp_path / "partly.txt")
    offer = page.locator(".hc-review .offer")
    expect(offer).to_contain_text("Only in the file (1): unicorn")
    expect(offer).not_to_contain_text("undefined")
    dashboard.button("Cancel").click()
    expect(offer).to_be_hidden()
    dashboard.open("Review a second version…", tmp_path / "partly.txt")
    page.locator(".hc-review [data-key=common]").click()
    expect(page.locator(".hc-review tbody tr")).to_have_count(3)
