"""What the pointer hits and what it leaves behind: names, tooltips, bands."""

from __future__ import annotations

import io
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import (
    branches,
    columns,
    pixel,
    ranges,
    wait_for,
    wait_idle,
    wait_still,
    wait_until,
)

TIP = """() => {
  const tip = document.querySelector(".hc-tip")
  return tip && tip.style.display !== "none" ? tip.textContent : ""
}"""
#: The number of the newest request for a tooltip, once the server has answered it; null before.
ANSWERED = """() => {
  const sources = [...Bokeh.documents[0]._all_models.values()].filter(each => each.data?.seq)
  const [request, answer] = ["figure", "title"].map(name => sources.find(({data}) => name in data))
  const {next, seq} = request._hc
  return next === null && answer.data.seq[0] === seq ? seq : null
}"""
OVER = """() => {
  const tree = Bokeh.documents[0].get_model_by_name("tree")
  return tree.renderers.map((r) => r.data_source).find((s) => "left" in s.data).data.left.length
}"""


def opened(server, new_page, **query):
    page = new_page()
    page.goto(f"{server.url}?{urlencode(query)}")
    dashboard = Dashboard(page).settle()
    wait_still(page)
    return page, dashboard


def test_a_click_on_a_name_selects_that_item(server, new_page):
    """Zoo's names stand in two columns: each is hit at its middle and 4 px above and below."""
    page, dashboard = opened(server, new_page, data="zoo", method="average")
    texts, xs, ys, wide = columns(page, "label-text", "text", "x", "y", "wide")
    assert len(texts) == 101
    assert len(set(xs)) == 2
    for name in ("mongoose", "opossum", "boar", *texts[::17]):
        k = texts.index(name)
        x, y = pixel(page, "labels", xs[k] + wide[k] / 2, ys[k])
        for off in (0, -4, 4):
            dashboard.press("Escape")
            expect(dashboard.selected).to_have_count(0)
            page.mouse.click(x, y + off)
            expect(dashboard.selected).to_have_text(name)
            page.wait_for_timeout(350)  # not a double click


def test_a_tooltip_goes_with_its_tree_and_with_a_click(server, new_page):
    page, dashboard = opened(server, new_page, data="zoo", method="average")
    clade, other = branches(page)[:2]
    at = pixel(page, "tree", *clade)
    page.mouse.move(*at)
    wait_for(page, f"() => ({TIP})().includes('items')")
    page.mouse.click(*at)
    expect(dashboard.selected).to_contain_text("items")
    before = page.wait_for_function(ANSWERED).json_value()
    page.mouse.move(at[0] + 1, at[1])  # still on what was selected
    wait_for(page, f"before => ({ANSWERED})() > before", before)
    assert page.evaluate(TIP) == ""
    page.mouse.move(*pixel(page, "tree", *other))
    wait_for(page, f"() => ({TIP})().includes('items') && ({OVER})() > 0")
    dashboard.choose("method", "single")
    wait_for(page, f"() => ({TIP})() === '' && ({OVER})() === 0")
    dashboard.settle()
    wait_still(page)
    assert page.evaluate(TIP) == ""
    assert page.evaluate(OVER) == 0


def paper_around_the_frames(page):
    """Whether the edges of the figures, as the window shows them, are as white as the paper."""
    shot = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
    boxes = page.evaluate(
        """() => ["tree", "labels", "strips", "heat"].map((name) => {
          const view = Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name(name))
          const box = view.el.getBoundingClientRect()
          return [box.left, box.top, box.right, box.bottom].map(Math.round)
        })"""
    )
    edges = [shot[y0 : y0 + 3, x0:x1] for x0, y0, x1, _ in boxes]
    edges += [shot[y1 - 2 : y1, x0:x1] for x0, _, x1, y1 in boxes]
    # the names begin at a fraction of a pixel
    edges += [shot[y0:y1, x0 : x0 + 2] for x0, y0, _, y1 in boxes[:2]]
    return all((edge == 255).all() for edge in edges)


def test_no_pixel_of_an_old_selection_is_left(server, new_page):
    """Around the frames there is only paper, however often something else was selected."""
    page, dashboard = opened(server, new_page, data="zoo", method="average")
    left, _, start, end = ranges(page, "tree")
    seen = ""
    for clade in branches(page)[:4]:
        page.mouse.click(*pixel(page, "tree", *clade))
        expect(dashboard.selected).to_contain_text("items")
        expect(dashboard.selected).not_to_have_text(seen)
        seen = dashboard.selected.inner_text()
        page.wait_for_timeout(350)  # not a double click
    page.mouse.move(*pixel(page, "tree", left * 0.4, start + (end - start) * 0.9))
    page.mouse.wheel(0, -600)  # the selection is out of view
    wait_still(page)
    dashboard.press("Escape", "/")  # the focus, with its ring, goes elsewhere
    page.mouse.move(700, 70)
    lines = "Bokeh.documents[0].get_model_by_name('selection-lines')"
    wait_for(page, f"() => {lines}.data.x.length === 0 && ({OVER})() === 0")
    wait_still(page)
    wait_until(page, lambda: paper_around_the_frames(page))


def test_fast_clicks_leave_every_source_with_columns_of_one_length(server, new_page):
    """A click is shown at once, while the tree may still move and the last answer is due."""
    page, dashboard = opened(server, new_page, data="zoo", method="average")
    dashboard.choose("method", "ward")  # so that the lines have places to move from
    dashboard.settle()
    wait_still(page)
    errors = []
    page.on("console", lambda message: errors.append(message.text))
    left, top = pixel(page, "tree", 0.3, -20.0)
    for k in range(8):
        page.mouse.click(left, top + 9 * k)
        wait_idle(page)
        dashboard.press("Escape")
        page.mouse.click(left + 20, top + 80 + 7 * k)
    wait_still(page)
    assert not [text for text in errors if "inconsistent" in text or "mismatch" in text]
