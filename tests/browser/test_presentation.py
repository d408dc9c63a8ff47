"""The presentation: large type, one accent, keys to step; and the tree on paper."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import box_at_rest, column, wait_for, wait_still

FONT = """() => parseFloat(
  Bokeh.documents[0].get_model_by_name("labels").renderers
    .find(each => each.glyph.type === "Text").glyph.text_font_size.value)"""
BRANCH = """() => Bokeh.documents[0].get_model_by_name("tree").renderers
  .find(each => each.data_source.name === "tree-lines").glyph.line_color.value"""

NAMES = """() => Array.from(Bokeh.documents[0].get_model_by_name("label-text").data.text)
  .filter(Boolean)"""
SELECTED = "() => Bokeh.documents[0].get_model_by_name('selection-lines').data.x.length > 0"


def heading(page):
    return page.get_by_role("region", name="Presentation")


@pytest.mark.parametrize(
    ("size", "theme"), [((1440, 900), "light"), ((1280, 720), "dark"), ((820, 600), "light")]
)
def test_a_presentation_steps_and_leaves_the_page_as_before(page, size, theme):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    zoo = Dashboard(page).settle()
    if theme == "dark":
        zoo.button("Dark theme").click()
        expect(zoo.button("Light theme")).to_be_visible()
    wait_still(page)
    zoo.click_label(column(page, "label-text", "text")[0])
    expect(zoo.selected).to_be_attached()
    inspector = page.get_by_role("complementary", name="Inspector")
    expect(inspector).to_be_visible(visible=size[0] > 1100)
    before, branch = column(page, "label-text", "text"), page.evaluate(BRANCH)
    zoo.menu("Present the tree")
    expect(heading(page)).to_contain_text("101 items")
    for hidden in (page.locator(".hc-bar"), page.locator(".hc-foot"), page.locator(".hc-tools")):
        expect(hidden.first).to_be_hidden()
    expect(page.get_by_role("complementary").filter(visible=True)).to_have_count(0)
    wait_for(page, f"() => ({FONT})() >= 16")  # the tree is drawn again for its new size
    wait_for(page, f"() => ({NAMES})().length <= 24 && !({SELECTED})()")
    zoo.press("PageDown")
    expect(heading(page).locator(".now")).to_be_visible()
    expect(heading(page)).to_contain_text(re.compile(r"1 of \d+"))
    expect(heading(page).locator(".detail")).to_contain_text("of 101 items · ")
    wait_for(page, f"branch => ({SELECTED})() && ({BRANCH})() !== branch", branch)
    zoo.press("ArrowRight")
    expect(heading(page)).to_contain_text(re.compile(r"2 of \d+"))
    zoo.press("t", "ArrowLeft", "ArrowLeft")
    expect(heading(page).locator(".now")).to_have_count(0)
    zoo.press("Escape")
    expect(heading(page)).to_have_count(0)
    expect(page.locator(".hc-bar")).to_be_visible()
    expect(inspector).to_be_visible(visible=size[0] > 1100)
    # they fit the height that the browser reports
    wait_for(page, f"before => JSON.stringify(({NAMES})()) === JSON.stringify(before)", before)
    wait_for(page, f"branch => ({SELECTED})() && ({BRANCH})() === branch", branch)


def test_paper_has_the_tree_and_its_caption_on_one_page(page):
    zoo = Dashboard(page).settle()
    expect(page.locator("p.caption")).to_be_hidden()
    paper = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", paper)) == 1
    width, height = re.search(rb"/MediaBox \[0 0 (\d+)[\d.]* (\d+)", paper).groups()
    assert (int(width), int(height)) == (841, 594)  # A4, landscape, as the tree is wide
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("p.caption")).to_contain_text("101 items")
    for part in (".hc-bar", ".hc-foot", ".hc-tools", ".hc-tabs"):
        expect(page.locator(part).first).to_be_hidden()
    expect(page.get_by_role("complementary").filter(visible=True)).to_have_count(0)
    tree = box_at_rest(page, page.locator("main"))
    assert tree["width"] <= 1047
    assert tree["height"] <= 718
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(zoo.button("File")).to_be_visible()
    assert "@page" not in page.evaluate("document.head.textContent")
