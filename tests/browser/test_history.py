"""The history strip: trees in small, back and forth by mouse and keyboard, on any width."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_still, wait_until


@pytest.mark.parametrize("width", [1440, 820])
def test_the_history_steps_back_and_forth(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    dashboard = Dashboard(page).settle()
    wait_still(page)
    foot = page.locator(".hc-foot")
    height = foot.bounding_box()["height"]

    def is_as_high() -> bool:
        return foot.bounding_box()["height"] == height

    expect(foot.locator(".strip")).to_have_count(0)  # nothing to step back to
    dashboard.choose("method", "average")
    dashboard.settle()
    first = dashboard.newick()
    dashboard.choose("method", "single")
    dashboard.settle()
    second = dashboard.newick()
    assert first != second
    if width < 900:  # folded away: it opens over the page
        expect(foot.locator(".strip")).to_be_hidden()
    wait_until(page, is_as_high)
    foot.get_by_role("button", name="All steps").click()
    strip = foot.get_by_role("group", name="History")
    steps = strip.get_by_role("button")
    expect(steps).to_have_count(3)
    expect(strip.locator(".thumb path")).to_have_count(3)
    expect(strip.locator("[aria-current=step]")).to_contain_text("Method: single")
    for step in steps.all():
        expect(step.locator(".cost")).to_contain_text("cost ")
    wait_until(page, is_as_high)  # it lies over the page, which stays
    steps.nth(1).click()
    expect(steps.nth(1)).to_have_attribute("aria-current", "step")
    assert dashboard.newick() == first
    # forth again, by keyboard
    steps.nth(1).focus()
    page.keyboard.press("ArrowRight")
    expect(steps.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(steps.nth(2)).to_have_attribute("aria-current", "step")
    expect(steps.nth(2)).to_be_focused()
    assert dashboard.newick() == second
    steps.nth(2).focus()
    page.keyboard.press("Escape")
    toggle = foot.get_by_role("button", name="All steps")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(toggle).to_be_focused()
    # undo from anywhere moves the mark in the strip too
    dashboard.press("u")
    if width >= 900:
        expect(steps.nth(1)).to_have_attribute("aria-current", "step")
        steps.nth(0).click()
        expect(steps.nth(0)).to_have_attribute("aria-current", "step")


def test_the_present_step_stays_in_view(server, new_page):
    """A new message repaints the footer, with the strip."""
    page = new_page()
    page.goto(f"{server.url}?data=zoo&method=average")
    dashboard = Dashboard(page).settle()
    for method in ("single", "complete", "ward", "average", "single", "complete"):
        dashboard.choose("method", method)
        dashboard.settle()
    strip = page.locator(".hc-foot .strip")
    now = strip.locator("[aria-current=step]")
    outside = """(now) => {
      const box = now.closest(".strip").getBoundingClientRect(), own = now.getBoundingClientRect()
      return Math.max(box.left - own.left, own.right - box.right)
    }"""
    wait_until(page, lambda: strip.evaluate("box => box.scrollWidth > box.clientWidth"))
    wait_until(page, lambda: now.evaluate(outside) < 2)
    before = dashboard.sentence.inner_text()
    dashboard.press("t")
    expect(dashboard.sentence).not_to_have_text(before)
    wait_still(page)
    assert now.evaluate(outside) < 2
    dashboard.press("Escape")
