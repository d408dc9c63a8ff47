"""A sampler's run as people get it: it goes on until its supports settle, within its budget."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, wait_for


@pytest.fixture
def page(zoo_with_budget):
    return zoo_with_budget(6)


def test_the_page_shows_the_accuracy_and_takes_answers_meanwhile(page):
    dash = Dashboard(page)
    status = page.locator(".hc-bar .status")
    expect(status).to_have_text(re.compile("Settling"))
    sure = page.locator(".hc-inspector .accuracy")
    expect(sure).to_contain_text("Supports: settling")
    # At any moment of it. The tree may move under the pointer. Not the dolphin of the answer: a
    # second click in the same place within 0.3 s is a double click.
    dash.click_label("gorilla")
    expect(dash.selected).not_to_be_empty()
    dash.press("Escape")
    dash.add_constraint(["dolphin", "tuna"], "wolf")
    dash.press("Enter")
    expect(dash.constraints).to_have_count(1)
    expect(page.locator(".hc-constraints .tag.satisfied")).to_have_count(1)
    dash.settle()
    expect(sure).to_contain_text(re.compile(r"accurate"))
    heading = page.locator(".hc-inspector").get_by_role("heading", name="Because of your answer")
    expect(heading).to_be_visible()
    sure.get_by_text("Details").click()
    expect(sure.locator("details")).to_contain_text(re.compile("R-hat|independent|trees a chain"))
    # The supports are on the branches, and branches of little support are lighter.
    lines = "Bokeh.documents[0].get_model_by_name('uncertain-lines')"
    wait_for(page, f"() => {lines}.data.x.length > 3")
    before = column(page, "label-text", "text")
    dash.button("Run").click()  # goes on from here
    expect(status).to_have_text(re.compile("Settling"))
    dash.settle()
    assert sorted(column(page, "label-text", "text")) == sorted(before)
    expect(page.locator(".hc-constraints .tag.satisfied")).to_have_count(1)


def test_a_fixed_number_of_steps_is_kept(page):
    dash = Dashboard(page)
    dash.settle()

    def proposals():
        return int(dash.fact("Proposals").replace(",", ""))

    page.locator("[data-key=details]").click()
    before = proposals()
    page.get_by_label("Steps", exact=True).fill("40400")
    dash.press("Enter")
    dash.settle()
    assert proposals() == before + 40_400  # from where it was
