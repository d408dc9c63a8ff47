"""What makes a group: the bars of a branch, a suggested name in one click, and its items."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_still
from tests.test_description import TABLE


def test_a_branch_is_explained_and_named_with_one_click(page, tmp_path):
    table = tmp_path / "shop.csv"
    table.write_bytes(TABLE.replace(b"kettle", b"<b>kettle</b>"))
    dashboard = Dashboard(page).settle()
    dashboard.choose("method", "average")
    dashboard.settle()
    dashboard.open("Table of features…", table)
    dashboard.settle()
    wait_still(page)
    dashboard.click_label("toaster")
    about = page.locator(".hc-inspector .about")
    expect(about.locator(".nearest button").first).to_have_text("<b>kettle</b>")
    expect(about.locator(".row-of-item")).to_contain_text("plastic")
    page.locator(".hc-inspector [data-key=parent]").click()
    electric = about.locator(".contrasts tr", has_text="electric")
    expect(electric.locator("td").nth(1)).to_have_text("100 %")
    expect(electric.locator("td").nth(2)).to_have_text("0 %")
    expect(electric.locator("i")).to_have_class("more")
    # The inspector is as wide as before: nothing is cut off.
    wide = page.locator(".hc-inspector").evaluate(
        "node => [...node.querySelectorAll('.about *')].every(each => "
        "each.classList.contains('sr') || each.getBoundingClientRect().right <= "
        "node.getBoundingClientRect().right + 0.5)"
    )
    assert wide
    page.locator(".hc-inspector .suggested button", has_text=re.compile("^Plastic$")).click()
    expect(dashboard.sentence).to_have_text("Named: Plastic, 2 items.")
    expect(page.locator(".hc-groups .group")).to_have_count(1)
    about.locator(".suggestions button", has_text="Electric").click()  # renames it
    expect(page.locator(".hc-groups .group .name")).to_have_text("Electric")
    dashboard.press("Escape")
    dashboard.click_label("paring knife")
    expect(dashboard.selected).to_have_text("paring knife")
    page.locator(".hc-inspector [data-key=parent]").click()
    compare = about.locator("[data-key=compare-sibling]")  # the third knife
    compare.click()
    expect(compare).to_have_attribute("aria-pressed", "true")
    dashboard.click_label("bread knife")  # at the place of the last click it would be a double one
    expect(dashboard.selected).to_have_text("bread knife")
    about.locator(".nearest button").first.click()
    expect(dashboard.selected).not_to_have_text("bread knife")
