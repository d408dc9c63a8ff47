"""New items of kitchen.csv: placed from the File menu, accepted, and taken back by undo."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import box_at_rest, wait_still
from tests.conftest import ROOT

TABLE = ROOT.parent / "shared" / "tables" / "kitchen.csv"
FAMILIES = (
    "Knives", "Pans", "Pots", "Bakeware", "Machines", "Spoons and spatulas", "Tableware", "Glasses",
    "Storage", "Preparing",
)  # fmt: skip
STRANGE = "<b onclick=x()>Piano</b>"


@pytest.fixture
def dashboard(page, tmp_path):
    """The table without one item of each family, which are the new items, and two levels."""
    head, *rows = TABLE.read_text().splitlines()
    new = {rows[8 * family + family % 8] for family in range(len(FAMILIES))}
    known = [row for row in rows if row not in new]
    strange = ",".join([STRANGE, "9000", "200000", "150", "steel", "prep", "no", "no", "5"])
    lines = [head, *(row for row in rows if row in new), strange]
    (tmp_path / "kitchen.csv").write_text("\n".join([head, *known]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    outline = []
    for family, name in enumerate(FAMILIES):
        if name == "Tableware":
            outline.append("On the table")
        deep = "  " if name in ("Tableware", "Glasses") else ""
        own = [row.split(",")[0] for row in rows[8 * family : 8 * family + 8] if row in known]
        outline += [f"{deep}{name}", *(f"{deep}  {item}" for item in own)]
    (tmp_path / "groups.txt").write_text("\n".join(outline) + "\n")
    made = Dashboard(page).settle()
    made.open_with_average(tmp_path / "kitchen.csv")
    made.open("Groups…", tmp_path / "groups.txt")
    expect(page.locator(".hc-groups .group")).to_have_count(11)
    wait_still(page)
    return made


@pytest.mark.parametrize("width", [1440, 820])
def test_new_items_are_placed_accepted_and_taken_back(dashboard, tmp_path, width):
    page = dashboard.page
    page.set_viewport_size({"width": width, "height": 900})
    dashboard.open("Place new items…", tmp_path / "new.csv")
    sheet = page.locator(".hc-new-items")
    rows = sheet.locator("tbody tr")
    left = sheet.locator(".remaining")
    expect(left).to_have_text("11 new items to decide")
    expect(rows).to_have_count(11)
    strange = rows.filter(has_text="Piano")
    expect(strange.locator("b[onclick]")).to_have_count(0)
    expect(sheet.locator("h2.apart")).to_have_text("Fit nowhere")
    for table in sheet.locator("table").all():
        box = box_at_rest(page, table)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width

    sure = sheet.locator("[data-key=accept-sure]")
    count = int(re.search(r"\((\d+)\)", sure.inner_text())[1])
    assert 0 < count < 11
    sure.click()
    dashboard.settle()
    expect(left).to_have_text(f"{11 - count} new items to decide")
    expect(sheet.locator(".file")).to_contain_text(f"{count} accepted")

    strange.get_by_label("Group of").focus()
    strange.get_by_label("Group of").select_option(label="Knives")
    expect(strange.locator("select")).to_have_class("by-hand")
    strange.get_by_role("button", name="Accept").click()
    dashboard.settle()
    expect(strange).to_have_count(0)
    expect(page.locator(".hc-groups .group", has_text="Knives")).to_be_attached()
    saved = dashboard.newick()
    assert "Piano" in saved
    rest = 11 - count - 1
    for _ in range(rest):
        rows.first.get_by_role("button", name="Dismiss").click()
        rest -= 1
        word = "item" if rest == 1 else "items"
        text = f"{rest} new {word} to decide" if rest else "All new items are decided"
        expect(left).to_have_text(text)

    dashboard.press("Control+z")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("Piano")
    dashboard.press("Control+z")
    sheet.locator("[data-key=bring-back]").click()
    expect(rows).to_have_count(11)
    assert dashboard.newick().count(",") == 69

    rows.first.locator(".item button").click()
    expect(sheet).to_be_hidden()
    expect(dashboard.selected).to_have_text("7 items")  # the inspector is folded at 820 pixels
    page.get_by_role("tab", name="New items").click()
    dashboard.button("Close").click()
    expect(sheet).to_be_hidden()
