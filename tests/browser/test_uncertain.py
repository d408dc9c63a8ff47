"""Uncertain splits, drawn lighter or as one with the clade above them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import click, column, wait_for, wait_still, wait_until

#: Bars of clades in the picture: pieces of four points.
BARS = """() => {
  const { x } = Bokeh.documents[0].get_model_by_name("tree-lines").data
  const pieces = Array.from(x).join().split("NaN").map(piece => piece.split(",").filter(Boolean))
  return pieces.filter(piece => piece.length === 4).length
}"""


def bars(page) -> int:
    return page.evaluate(BARS)


def test_uncertain_splits_are_drawn_as_one_and_the_page_continues(page):
    dash = Dashboard(page).settle()
    choice = page.get_by_label("Draw uncertain splits")
    least = page.get_by_label("Uncertain below, per cent")
    expect(choice).to_have_value("lighter")
    expect(least).to_have_value("50")
    wait_for(page, f"() => ({BARS})() === 100")
    dash.choose("Draw uncertain splits", "merged")
    wait_for(page, f"() => ({BARS})() < 100")
    some = bars(page)
    assert 1 < some < 100
    wait_until(page, lambda: not column(page, "uncertain-lines", "x"))
    least.fill("0")
    dash.press("Enter")
    wait_for(page, f"() => ({BARS})() === 100")
    least.fill("101")
    dash.press("Enter")
    expect(dash.sentence).to_contain_text("from 0 to 100")
    least.fill("50")
    dash.press("Enter")
    wait_for(page, f"() => ({BARS})() === {some}")

    wait_still(page)
    # A click takes what is drawn; from the inspector a clade that is not drawn can be taken, too.
    x, y = column(page, "tree-lines", "x"), column(page, "tree-lines", "y")
    names = column(page, "label-text", "text")
    top = max(at for at in x if at == at)
    lowest = min(at for at in y if at == at)
    click(page, "tree", top * 1.01, lowest / 2)
    expect(dash.selected).to_have_text("101 items")
    dash.click_label(names[0])
    expect(dash.selected).to_have_text(names[0])
    page.get_by_role("button", name="Widen").click()
    expect(dash.selected).to_contain_text("items")
    assert bars(page) == some
    dash.add_constraint(["dolphin", "tuna"], "wolf")
    dash.press("Enter")
    dash.settle()
    expect(page.locator(".hc-constraints .tag.satisfied")).to_have_count(1)
    expect(choice).to_have_value("merged")
    wait_for(page, f"() => ({BARS})() < 100")
    dash.button("Support").click()  # off: nothing of the supports is seen
    expect(choice).to_have_count(0)
    wait_for(page, f"() => ({BARS})() === 100")


@pytest.mark.parametrize("query", ["?data=zoo&method=average&unsure=merged"])
def test_without_supports_there_is_no_choice(blank, server, query):
    blank.goto(server.url + query)
    Dashboard(blank).settle()
    wait_still(blank)
    expect(blank.get_by_label("Draw uncertain splits")).to_have_count(0)
    # At this width tools that cannot be used now are left out.
    support = blank.get_by_role("button", name="Support", exact=True, include_hidden=True)
    expect(support).to_be_disabled()
    expect(support).to_have_attribute("title", re.compile("Run the Dirichlet diffusion tree"))
    assert bars(blank) == 100
