"""The tabs over the tree, by mouse and by keyboard."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard


def test_before_and_after_lies_over_the_tree_and_goes_again(page):
    dashboard = Dashboard(page).settle()
    tab = page.get_by_role("tab", name="Before and after")
    expect(tab).to_be_disabled()  # no earlier tree yet
    dashboard.button("Run").click()
    dashboard.settle()
    expect(tab).to_be_enabled()
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    sheet = page.locator(".hc-tanglegram")
    expect(sheet.locator(".said")).to_contain_text("clade")
    expect(sheet.locator(".lines path")).to_have_count(101)
    expect(page.get_by_label("Find an item")).to_be_hidden()  # it lies under the sheet
    top, under = tab.bounding_box(), sheet.bounding_box()
    assert top is not None
    assert under is not None
    assert under["y"] >= top["y"] + top["height"] - 1
    sheet.get_by_label("Rows that can be read").check()
    sheet.locator(".names text").first.click()
    chosen = sheet.locator(".names .chosen title").first
    expect(chosen).to_be_attached()
    expect(dashboard.selected).to_have_text(chosen.text_content() or "")
    tab.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("Find an item")).to_be_visible()
    tab.click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")
