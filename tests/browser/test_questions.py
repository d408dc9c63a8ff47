"""The conversation by keyboard and by mouse, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_until


def test_questions_are_accepted_skipped_and_corrected(page):
    dashboard = Dashboard(page).settle()
    card = page.locator(".hc-question .card")
    names = page.locator(".piece-names button")
    dashboard.press("q")
    expect(card).to_be_visible()
    expect(names).to_have_count(8)
    expect(card.locator(".why")).to_have_text(re.compile(r"\S"))
    first = names.all_inner_texts()
    dashboard.press("a")
    expect(names.first).to_be_visible()
    wait_until(page, lambda: names.all_inner_texts() != first)
    expect(dashboard.constraints).to_have_count(0)
    second = names.all_inner_texts()
    dashboard.press(" ")
    wait_until(page, lambda: names.all_inner_texts() != second)
    card.get_by_role("button", name="Correct").click()  # and by the mouse
    expect(card.locator(".ask")).to_contain_text("odd one out")
    picked = [names.nth(k).locator("span").inner_text() for k in (0, 7, 1)]
    for k in (0, 7, 1):
        names.nth(k).click()
    expect(page.locator(".hc-constraints .draft .statement")).to_contain_text(picked[2])
    # The first and the last row lie on two sides of the root: with the second between them apart.
    expect(dashboard.assessment).to_contain_text("correction")
    page.keyboard.press("Enter")
    expect(dashboard.constraints).to_have_count(1)
    dashboard.settle()
    expect(dashboard.constraints.first).to_contain_text(picked[0])
    expect(card).to_be_visible()  # the next one, about the new tree
    dashboard.press("x")
    expect(card).to_have_count(0)


def test_a_group_is_confirmed_or_loses_an_item(page):
    dashboard = Dashboard(page).settle()
    page.locator(".hc-question summary").click()
    page.locator("[data-key=strategy]").select_option("group")
    dashboard.press("q")
    card = page.locator(".hc-question .card")
    expect(card.locator(".ask")).to_have_text(re.compile(r"Are these \d+ items a group\?"))
    names = page.locator(".piece-names button")
    confirmed = names.all_inner_texts()
    card.get_by_role("button", name="Yes").click()
    expect(dashboard.constraints).to_have_count(1)
    expect(dashboard.constraints.first).to_contain_text("are a group")
    wait_until(page, lambda: names.all_inner_texts() not in ([], confirmed))
    while len(before := names.all_inner_texts()) < 4:  # a group of three or more can lose one
        dashboard.press(" ")
        wait_until(page, lambda shown=before: names.all_inner_texts() not in ([], shown))
    expect(card.locator(".ask")).to_have_text(re.compile(r"Are these \d+ items a group\?"))
    dashboard.press("r")
    expect(card.locator(".ask")).to_contain_text("does not belong")
    page.locator(".piece-names button").first.click()
    page.keyboard.press("Enter")
    expect(dashboard.constraints).to_have_count(2)
