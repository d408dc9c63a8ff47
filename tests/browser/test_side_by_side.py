"""The sheet Side by side, as a person uses it."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import expect

import hcviz
from tests.browser.dashboard import Dashboard


def test_methods_run_side_by_side_and_one_becomes_the_pages(page):
    dashboard = Dashboard(page).settle()
    page.get_by_role("tab", name="Side by side").click()
    sheet = page.locator(".hc-side-by-side")
    columns = sheet.locator("article")
    expect(columns).to_have_count(4)
    expect(columns.nth(1)).to_contain_text("mean distance of their items")
    # two methods, chosen in their columns; one column removed and the other not needed
    sheet.locator("[data-key=remove-3]").click()
    expect(columns).to_have_count(3)
    sheet.locator("[data-key=remove-0]").click()
    expect(columns).to_have_count(2)
    sheet.get_by_label("Method 2").select_option("ward")
    sheet.get_by_label("Add a method").select_option("random-cut")
    expect(columns).to_have_count(3)
    sheet.get_by_role("button", name="Run 3 methods").click()
    expect(sheet.get_by_role("button", name="All have run")).to_be_disabled()
    rows = sheet.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("Average linkage148,3760–5,050")
    expect(rows.nth(1)).to_contain_text("Ward's linkage140,3140.434––")

    # names appear with readable rows; one that is clicked is marked in each tree
    sheet.get_by_label("Readable rows").check()
    sheet.locator("text[data-item]", has_text="platypus").first.click()
    expect(dashboard.selected).to_have_text("platypus")
    expect(sheet.locator(".marks rect")).to_have_count(3)
    marked = sheet.locator(".marks rect").evaluate_all(
        "all => all.map(each => each.getAttribute('y'))"
    )
    assert len(set(marked)) > 1

    # the files
    with page.expect_download() as waiting:
        sheet.get_by_role("button", name="CSV").click()
    assert waiting.value.suggested_filename == "zoo-side-by-side.csv"
    table = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text())))
    assert [row["method"] for row in table] == ["average", "ward", "random-cut"]
    known = hcviz.compare_methods("zoo", ["average", "ward"]).frame()
    for row in table[:2]:
        figures = known.loc[row["method"]]
        assert float(row["cost"]) == pytest.approx(figures["cost"])
        assert float(row["distance_to_first"]) == pytest.approx(figures["distance"])
    assert (table[0]["queries"], table[1]["queries"]) == ("5050", "")
    with page.expect_download() as waiting:
        sheet.get_by_role("button", name="SVG").click()
    drawn = ElementTree.parse(waiting.value.path()).getroot()
    texts = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("platypus") == 3
    assert "Ward's linkage" in texts
    with page.expect_download() as waiting:
        sheet.get_by_role("button", name="PNG").click()
    with Image.open(waiting.value.path()) as picture:
        assert picture.width == 2 * float(drawn.get("width") or 0)
        colours = picture.convert("RGB").resize((200, 300)).getcolors(60_000)
    assert colours is not None
    assert len(colours) > 50

    # beside the page's tree, and as the page's tree
    sheet.locator("[data-key=compare-ward]").click()
    tangle = page.locator(".hc-tanglegram")
    expect(tangle.locator(".titles")).to_contain_text("Ward's linkage")
    expect(tangle.locator(".summary")).to_contain_text("only in the left tree")
    page.get_by_role("tab", name="Side by side").click()
    sheet.locator(".tree svg").nth(1).click(position={"x": 30, "y": 5})
    dashboard.settle()
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("method", exact=True)).to_have_value("ward")
    page.get_by_role("tab", name="Side by side").click()
    expect(columns).to_have_count(3)  # the columns stay
    expect(columns.nth(1)).to_have_class(re.compile("now"))


def test_a_run_can_be_stopped(page):
    Dashboard(page).settle()
    page.get_by_label("Steps", exact=True).fill("100000000")
    page.get_by_label("Steps", exact=True).press("Enter")
    page.locator(".hc-bar").get_by_role("button", name="Cancel").click()
    page.get_by_role("tab", name="Side by side").click()
    sheet = page.locator(".hc-side-by-side")
    sheet.get_by_role("button", name="Run 4 methods").click()
    expect(sheet.locator("article").nth(0)).to_contain_text("Running…")
    sheet.get_by_role("button", name="Stop").click()
    expect(sheet.get_by_role("button", name="Run 4 methods")).to_be_enabled()
    expect(sheet.locator("article").nth(0)).not_to_contain_text("Running…")
