"""The tabs over the tree, by mouse and by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import box_at_rest


def test_before_and_after_covers_the_tree_and_closes(page):
    dashboard = Dashboard(page).settle()
    tab = page.get_by_role("tab", name="Before and after")
    expect(tab).to_be_disabled()  # no earlier tree yet
    dashboard.button("Run").click()
    dashboard.settle()
    expect(tab).to_be_enabled()
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    sheet = page.locator(".hc-tanglegram")
    expect(sheet.locator(".summary")).to_contain_text("branch")
    expect(sheet.locator(".lines path")).to_have_count(101)
    expect(page.get_by_label("Find an item")).to_be_hidden()  # it lies under the sheet
    top, under = box_at_rest(page, tab), box_at_rest(page, sheet)
    assert under["y"] >= top["y"] + top["height"] - 1
    sheet.get_by_label("Readable rows").check()
    sheet.locator(".names text").first.click()
    chosen = sheet.locator(".names .chosen title").first
    expect(chosen).to_be_attached()
    expect(dashboard.selected).to_have_text(chosen.text_content() or "")
    tab.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("Find an item")).to_be_visible()
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")


def test_the_consensus_answers_to_threshold_click_and_keys(page):
    dashboard = Dashboard(page).settle()
    page.get_by_role("tab", name="Consensus").click()
    sheet = page.locator(".hc-consensus")
    expect(sheet.locator(".summary")).to_contain_text("in more than half of the last")
    half = sheet.locator(".clade").count()
    assert half == sheet.locator(".clade title").count() > 10
    slider = sheet.get_by_role("slider")
    slider.focus()
    slider.press("End")
    expect(sheet.locator(".summary")).to_contain_text("in more than 95 % of the last")
    assert 0 < sheet.locator(".clade").count() < half
    # a clade by keyboard, then a name by mouse
    sheet.locator(".clade").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    label = sheet.locator(".clade").nth(1).get_attribute("aria-label") or ""
    expect(dashboard.selected).to_have_text(label.split(":")[0])
    expect(sheet.locator(".clade").nth(1)).to_have_class("clade chosen")
    # it keeps the focus when the sheet is drawn again
    sheet.get_by_label("Readable rows").evaluate("box => box.click()")
    expect(sheet.locator(".clade").nth(1)).to_be_focused()
    # a name is written at the clade
    field = page.locator(".hc-inspector .group-name")
    field.fill("Beasts")
    field.press("Enter")
    expect(sheet.locator(".clade").nth(1)).to_have_attribute("aria-label", re.compile("^Beasts: "))
    name = sheet.locator(".names text").nth(20)
    name.click()
    expect(dashboard.selected).to_have_text(name.locator("title").text_content() or "")
    expect(name).to_have_class("chosen")
    sheet.get_by_role("button", name="Most credible").click()
    expect(sheet.locator(".summary")).to_contain_text("of its 99 branches are in more than half")
    sheet.get_by_role("button", name="Central").click()
    expect(sheet.locator(".summary")).to_contain_text("disagrees least")
    expect(sheet.locator(".clade")).to_have_count(99)


#: How many points of the canvas are painted at all.
PAINTED = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
  let many = 0
  for (let k = 3; k < data.length; k += 4) many += data[k] > 0
  return many
}"""


def test_the_cloud_is_drawn_sharp_in_both_themes_and_its_names_select(page):
    dashboard = Dashboard(page).settle()
    page.get_by_role("tab", name="Cloud").click()
    canvas = page.locator(".hc-cloud canvas[data-drawn]")
    expect(canvas).to_have_attribute("data-drawn", "128")
    expect(page.locator(".hc-cloud .summary")).to_contain_text("128 of the last 176 trees")
    assert canvas.evaluate(PAINTED) > 20_000
    assert canvas.evaluate("c => c.width / c.clientWidth") == page.evaluate("devicePixelRatio")
    # the ink of the consensus follows the theme
    darkest = """canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
      let sum = 0
      for (let k = 0; k < data.length; k += 4) sum += data[k + 3] > 200 ? data[k + 1] - 127 : 0
      return Math.sign(sum)
    }"""
    assert canvas.evaluate(darkest) == -1
    dashboard.button("Dark").or_(page.locator("[data-key=theme]")).first.click()
    expect(page.locator("html")).to_have_attribute("data-hc-theme", "dark")
    expect(canvas).to_have_attribute("data-drawn", "128")
    assert canvas.evaluate(darkest) == 1
    name = page.locator(".hc-cloud .names text").nth(7)
    name.click()
    expect(dashboard.selected).to_have_text(name.locator("title").text_content() or "")
    expect(name).to_have_class("chosen")
