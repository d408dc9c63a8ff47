"""What the browser shows of a click by itself is what the server then says."""

from __future__ import annotations

import random
from itertools import pairwise
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, pixel, ranges, wait_for, wait_idle, wait_still, wait_until

#: Keeps what the selection's sources hold: after each change of the browser's own, and at the end.
RECORD = """
() => {
  const doc = Bokeh.documents[0]
  const lines = doc.get_model_by_name("selection-lines")
  const answer = doc.get_model_by_name("click-answer")
  const of = (name) => Bokeh.index.find_one(doc.get_model_by_name(name)).model.renderers
    .map((r) => r.data_source).filter((source) => source)
  const sources = [lines]
  for (const name of ["tree", "labels"]) sources.push(of(name).find((s) => "span" in s.data))
  sources.push(of("heat").filter((s) => "left" in s.data).at(-1))
  const copy = () => sources.map(({data}) => Object.fromEntries(
    Object.entries(data).map(([key, values]) => [key, Array.from(values)])))
  const kept = window.hcKept = {shown: null, answered: 0}
  const keep = () => queueMicrotask(() => { kept.shown ??= copy() })
  lines.change.connect(keep)
  answer.properties.data.change.connect(() => { kept.answered += 1 })
  kept.now = copy
}
"""


def strokes(x: list, y: list) -> set[tuple]:
    """The path's straight strokes, whichever way they were drawn."""
    points = [
        None if height is None or height != height else (float(f"{height:.4g}"), round(row, 2))
        for height, row in zip(x, y, strict=True)
    ]
    pairs = pairwise(points)
    return {tuple(sorted((a, b))) for a, b in pairs if a and b and a != b}


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"data": "zoo", "method": "ward", "matrix": "features"},
        {"data": "digits", "method": "average"},
        {"data": "iris", "method": "single", "matrix": "none"},
    ],
    ids=["zoo", "features", "digits", "alone"],
)
def test_a_click_is_shown_at_once_as_the_server_will_say(server, new_page, query):
    page = new_page()
    page.goto(f"{server.url}?{urlencode(query)}")
    dashboard = Dashboard(page).settle()
    wait_still(page)
    page.evaluate(RECORD)
    dice, shown = random.Random(7), 0
    figures = ["tree", "tree", "labels", "tree"] + ["heat"] * (query.get("matrix") != "none")
    for step in range(10):
        if step == 5 and not query:  # and with a clade collapsed
            dashboard.press("Escape")
            expect(dashboard.selected).to_have_count(0)
            dashboard.click_above("dolphin", 0.35)
            expect(dashboard.selected).to_contain_text("items")
            points = len(column(page, "tree-lines", "x"))
            dashboard.press("Enter")
            wait_until(page, lambda n=points: len(column(page, "tree-lines", "x")) != n)
            wait_still(page)
        figure = figures[step % len(figures)]
        left, right, start, end = ranges(page, figure)
        at = pixel(
            page, figure, left + (right - left) * dice.uniform(0.05, 0.95),
            start + (end - start) * dice.uniform(0.02, 0.98),
        )  # fmt: skip
        dashboard.press("Escape")
        wait_for(page, "() => hcKept.now()[0].x.length == 0")
        wait_idle(page)
        page.evaluate("() => { hcKept.shown = null; hcKept.answered = 0 }")
        page.mouse.click(*at)
        wait_for(page, "() => hcKept.answered > 0")
        wait_idle(page)
        before, after = page.evaluate("() => [hcKept.shown, hcKept.now()]")
        page.wait_for_timeout(350)  # the next click is no double click
        if before is None:
            continue
        shown += 1
        assert strokes(before[0]["x"], before[0]["y"]) == strokes(after[0]["x"], after[0]["y"])
        for mine, theirs in zip(before[1:], after[1:], strict=True):
            assert mine.keys() == theirs.keys()
            for name in mine:
                assert mine[name] == pytest.approx(theirs[name], abs=0.01), name
    assert shown >= (5 if not query else 9)


def test_a_click_within_a_gesture_selects_nothing_by_itself(page):
    dashboard = Dashboard(page).settle()
    dashboard.press("Escape", "t")
    expect(page.locator("[data-key=together]")).to_have_attribute("aria-pressed", "true")
    page.evaluate(RECORD)
    left, _, start, end = ranges(page, "tree")
    page.mouse.click(*pixel(page, "tree", left / 2, (start + end) / 2))
    wait_for(page, "() => hcKept.answered > 0")
    assert page.evaluate("() => hcKept.shown") is None


def test_what_the_pointer_is_over_is_shaded(page):
    Dashboard(page).settle()
    wait_still(page)
    left, _, start, end = ranges(page, "tree")
    page.mouse.move(*pixel(page, "tree", left * 0.5, start + (end - start) * 0.4))
    seen = """() => {
      const tree = Bokeh.documents[0].get_model_by_name("tree")
      const box = tree.renderers.map((r) => r.data_source).find((s) => "left" in s.data).data
      return [box.left[0], box.top[0], box.bottom[0]]
    }"""
    wait_for(page, f"() => ({seen})()[0] !== undefined")
    over = page.evaluate(seen)
    page.mouse.click(*pixel(page, "tree", left * 0.5, start + (end - start) * 0.4))
    wait_for(page, "() => Bokeh.documents[0].get_model_by_name('selection-lines').data.x.length")
    band = """() => {
      const tree = Bokeh.documents[0].get_model_by_name("tree")
      const {middle, span} = tree.renderers.map((r) => r.data_source)
        .find((s) => "span" in s.data).data
      return [middle[0], span[0]]
    }"""
    middle, span = page.evaluate(band)
    assert (middle + span / 2, middle - span / 2) == pytest.approx(tuple(over[1:]))
    page.mouse.move(700, 5)
    wait_for(page, f"() => ({seen})()[0] === undefined")
