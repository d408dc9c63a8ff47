"""A leaf carried onto a clade: shown at once, a draft when dropped, and no harm to the rest."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import (
    columns,
    item_pixel,
    pixel,
    ranges,
    wait_for,
    wait_still,
    wait_until,
)  # fmt: skip


@pytest.fixture
def zoo(server, new_page):
    page = new_page()
    page.goto(f"{server.url}?data=zoo&method=average")
    dashboard = Dashboard(page).settle()
    wait_still(page)
    return dashboard


def take(page, name):
    x, y = item_pixel(page, name)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 12, y + 3, steps=3)


TARGET = "Bokeh.documents[0].get_model_by_name('drag-target').data.x.length"


def test_a_name_is_dragged_onto_another_and_onto_a_branch(zoo):
    page = zoo.page
    take(page, "tuna")
    ghost = page.locator(".hc-ghost")
    expect(ghost).to_contain_text("tuna")
    page.mouse.move(*item_pixel(page, "wolf"), steps=4)
    expect(ghost).to_have_text("tuna with this item")
    wait_for(page, f"() => {TARGET} > 0")
    expect(page.locator(".hc-constraints .statement")).to_contain_text("tuna: drop it")
    page.mouse.up()
    expect(ghost).to_have_count(0)
    wait_for(page, f"() => {TARGET} === 0")
    expect(page.locator(".hc-constraints .statement")).to_contain_text(
        "tuna + wolf together, apart from"
    )
    expect(zoo.assessment).to_contain_text("the tree will change")
    expect(zoo.constraints).to_have_count(0)  # until Enter
    # Dropped elsewhere instead: on a branch, from the leaf's own branch.
    wait_still(page)
    left, _, _, _ = ranges(page, "tree")
    texts, ys = columns(page, "label-text", "text", "y")
    page.mouse.move(*pixel(page, "tree", -left * 0.005, ys[texts.index("tuna")]))
    page.mouse.down()
    page.mouse.move(*pixel(page, "tree", left * 0.4, ys[texts.index("hawk")]), steps=6)
    expect(ghost).to_contain_text("tuna into these")
    page.mouse.up()
    expect(page.locator(".hc-constraints .statement")).to_contain_text("more together, apart from")
    zoo.press("Enter")
    expect(zoo.constraints).to_have_count(1)
    expect(zoo.constraints).to_contain_text("tuna +")


def test_escape_and_the_own_clade_cancel_the_drag(zoo):
    page = zoo.page
    take(page, "tuna")
    expect(page.locator(".hc-constraints .statement")).to_contain_text("tuna: drop it")
    zoo.press("Escape")
    expect(page.locator(".hc-ghost")).to_have_count(0)
    page.mouse.up()
    expect(page.locator(".hc-constraints .draft")).to_have_count(0)
    wait_still(page)
    take(page, "tuna")
    expect(page.locator(".hc-ghost")).to_contain_text("tuna")
    expect(page.locator(".hc-constraints .statement")).to_contain_text("tuna: drop it")
    left, _, start, end = ranges(page, "tree")
    page.mouse.move(*pixel(page, "tree", left * 0.98, (start + end) / 2), steps=3)
    expect(page.locator(".hc-ghost")).to_contain_text("already contains it")
    wait_for(page, f"() => {TARGET} === 0")
    page.mouse.up()
    expect(page.locator(".hc-constraints .draft")).to_have_count(0)
    expect(zoo.constraints).to_have_count(0)
    zoo.click_label("tuna")  # a click is a click
    expect(zoo.selected).to_have_text("tuna")


def test_zoom_pan_and_double_click_are_as_ever(zoo):
    page = zoo.page
    left, _, start, end = ranges(page, "tree")
    x, y = pixel(page, "tree", left * 0.5, (start + end) / 2)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -250)
    wait_for(page, "([a, b]) => { const r = Bokeh.documents[0].get_model_by_name('tree').y_range;"
             " return r.end - r.start < 0.9 * (b - a) }", [start, end])  # fmt: skip
    wait_still(page)
    before = zoo.rows("tree")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 80, steps=5)
    page.mouse.up()
    # Dragged down: what lies above comes into view.
    wait_until(page, lambda: zoo.rows("tree")[0] > before[0] + 0.5)
    wait_still(page)
    after = zoo.rows("tree")
    assert after[1] - after[0] == pytest.approx(before[1] - before[0], rel=1e-3)
    expect(page.locator(".hc-ghost")).to_have_count(0)
    # A carry in the zoomed picture moves no rows.
    names, ys = columns(page, "label-text", "text", "y")
    seen = [n for n, row in zip(names, ys, strict=True) if after[0] + 1 < row < after[1] - 1]
    take(page, seen[0])
    page.mouse.move(*item_pixel(page, seen[-1]), steps=4)
    expect(page.locator(".hc-ghost")).to_contain_text("with this item")
    page.mouse.up()
    expect(page.locator(".hc-constraints .statement")).to_contain_text("together, apart from")
    wait_still(page)
    assert zoo.rows("tree") == after
