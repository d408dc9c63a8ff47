"""A card sort from the file to the report: merge names, leave a participant out, name a group."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import ARTIFACTS, shot, wait_for, wait_still
from tests.test_card_sort_page import shop_sort


def test_a_card_sort_is_explored_and_reported(page: Page, tmp_path: Path) -> None:
    dashboard = Dashboard(page).settle()
    table = tmp_path / "shop.csv"
    table.write_text(shop_sort(), encoding="utf-8")
    dashboard.open("Open file…", table)
    dashboard.settle()
    page.get_by_role("tab", name="Card sort").click()
    sheet = page.locator(".hc-card-sort")
    names = sheet.locator(".names tbody tr")
    fruit = sheet.get_by_role("row", name=re.compile("Tick Fruit "))
    expect(fruit.locator(".used")).to_have_text("5")
    expect(sheet.locator(".toolbar")).to_contain_text("8 participants · 12 cards")
    before = names.count()
    shot(page, "card-sort-1440")
    # Two names that mean the same.
    sheet.get_by_role("checkbox", name="Tick Fruit", exact=True).check()
    sheet.get_by_role("checkbox", name="Tick <b>Fruits</b>").check()
    expect(sheet.get_by_label("Merge as")).to_have_value("Fruit")
    sheet.get_by_role("button", name="Merge 2 names").click()
    expect(dashboard.sentence).to_have_text("Merged: 2 names of piles are “Fruit” now.")
    expect(names).to_have_count(before - 1)
    expect(fruit.locator(".used")).to_have_text("8")
    expect(fruit).to_contain_text("<b>Fruits</b> (3)")
    dashboard.press("Control+z")
    expect(names).to_have_count(before)
    dashboard.press("Control+Shift+z")
    expect(names).to_have_count(before - 1)
    # A participant who is left out does not count any more.
    ada = sheet.locator(".participants").get_by_role("checkbox", name="P1", exact=True)
    ada.uncheck()
    dashboard.settle()
    expect(sheet.locator(".toolbar")).to_contain_text("(1 switched off)")
    expect(fruit.locator(".used")).to_have_text("7")
    # The name of the piles becomes the name of a group.
    sheet.get_by_role("button", name="Select the cards of Fruit").click()
    suggested = page.locator(".hc-inspector .suggested button", has_text=re.compile("^Fruit$"))
    suggested.click()
    expect(dashboard.sentence).to_have_text("Named: Fruit, 4 items.")
    expect(page.locator(".hc-groups .group .name")).to_have_text("Fruit")
    # The tree of actual agreement, with the share of participants as axis, is the first one.
    sheet.get_by_role("button", name="Actual agreement").click()
    expect(sheet).to_be_hidden()
    expect(dashboard.fact_value("On one pile")).to_have_text(re.compile("%$"))
    wait_still(page)
    shot(page, "card-sort-tree-1440")
    report = Path(dashboard.save("Card sort report (HTML)").path()).read_text(encoding="utf-8")
    assert "&lt;b&gt;Fruits&lt;/b&gt; (3)" in report
    assert "<b>" not in report
    assert "1 of them left out" in report
    other = page.context.new_page()
    saved = tmp_path / "report.html"
    saved.write_text(report, encoding="utf-8")
    other.set_content(report)
    expect(other.get_by_role("heading", name="Names of piles")).to_be_visible()
    wait_for(other, "() => document.querySelector('img').naturalWidth > 100")
    other.screenshot(path=ARTIFACTS / "card-sort-report.png", full_page=True)
    other.close()
    # The names are still merged, and the participant is still off, in a narrow window.
    page.set_viewport_size({"width": 820, "height": 900})
    page.get_by_role("tab", name="Card sort").click()
    sheet.get_by_role("button", name=re.compile("^bag")).click()
    expect(sheet.locator(".variety button.on")).to_have_count(1)
    expect(sheet.locator(".variety button.on")).to_contain_text("bag")
    shot(page, "card-sort-820")
    wide = sheet.locator(".page").evaluate("node => node.scrollWidth <= node.clientWidth")
    assert wide
