"""Structural constraints on the page: costs, cuts, lambda, dependencies, and the methods' forms."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import FIND_VIEW, box_at_rest, column, wait_for, wait_still

#: bear + carp before dove, carp + dove before pike, aardvark + antelope before bass.
THREE = "c=3.7-20+7.20-60+0.1-4"


@pytest.fixture
def page(blank):
    """Empty: each test here opens an address of its own."""
    return blank


def opened(page: Page, server, query: str) -> Dashboard:
    page.goto(f"{server.url}?{query}")
    return Dashboard(page).settle()


def section(page: Page, name: str):
    return page.locator(f".section-{name}")


def test_what_the_tree_costs_and_branches_by_cost(page, server):
    dashboard = opened(page, server, f"data=zoo&method=crsc&{THREE}")
    costs = section(page, "costs")
    expect(costs).to_contain_text("Dasgupta's cost")
    expect(costs).to_contain_text("0 of 3")
    most_expensive = costs.get_by_role("list", name="Most expensive nodes").get_by_role("button")
    expect(most_expensive).to_have_count(5)
    most_expensive.nth(1).click()
    expect(dashboard.selected).to_have_text(re.compile(r"^\d+ items$"))
    toggle = page.get_by_role("button", name="Colour by cost")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("img", name=re.compile("share of the cost"))).to_be_visible()
    wait_for(
        page,
        "() => Bokeh.documents[0].get_model_by_name('branch-colours').data.colour.length > 1",
    )
    assert len(set(column(page, "branch-colours", "colour"))) == 4
    wait_for(  # the tools have another row, and the tree below them less room
        page,
        f"(name) => {{ const view = ({FIND_VIEW})(name); return view && "
        "Math.abs(view.el.getBoundingClientRect().height - view.bbox.height) < 2 }",
        "tree",
    )
    costs.get_by_role("button", name="Colour the branches by cost").click()
    expect(toggle).to_have_attribute("aria-pressed", "false")
    wait_for(
        page,
        "() => Bokeh.documents[0].get_model_by_name('branch-colours').data.colour.length === 0",
    )


def test_a_section_folds_and_stays_folded(page, server):
    dashboard = opened(page, server, "data=zoo&method=crsc")
    head = page.get_by_role("button", name="How it could be cut")
    expect(head).to_have_attribute("aria-expanded", "true")
    head.press("Enter")
    expect(head).to_have_attribute("aria-expanded", "false")
    expect(section(page, "profile").locator("svg")).to_have_count(0)
    dashboard.button("Run").click()
    dashboard.settle()
    expect(head).to_have_attribute("aria-expanded", "false")


def test_the_cut_profile_follows_the_selection(page, server):
    dashboard = opened(page, server, "data=zoo&method=crsc")
    cuts = section(page, "profile")
    expect(cuts.get_by_role("status")).to_contain_text("of 101 items, and so does the tree.")
    expect(cuts.get_by_role("img")).to_have_attribute("aria-label", re.compile("of 101 items"))
    dashboard.click_above("frog", 0.5)
    expect(dashboard.selected).to_contain_text("items")
    size = dashboard.selected.inner_text().split()[0]
    expect(cuts.get_by_role("status")).to_contain_text(f"of {size} items")
    expect(cuts.locator("path.tree-cut")).to_have_count(1)


def test_lambda_from_geometry_to_answers(page, server):
    dashboard = opened(page, server, f"data=zoo&method=hrsc&{THREE}")
    prices = section(page, "prices")
    points = prices.locator("circle.point")
    expect(points).to_have_count(11)
    slider = page.get_by_role("slider", name="Lambda")
    slider.focus()
    page.keyboard.press("Home")
    expect(prices.get_by_role("status")).to_contain_text("lambda 0:")
    expect(slider).to_have_attribute("aria-valuetext", "lambda 0")
    dashboard.settle()
    expect(prices.get_by_role("status")).not_to_contain_text("0 violated")
    page.keyboard.press("End")
    expect(prices.get_by_role("status")).to_contain_text("lambda 3000: 0 violated")
    points.nth(3).press("Enter")
    expect(prices.get_by_role("status")).to_contain_text("lambda 1:")
    expect(prices.locator(".chosen")).to_have_text("1")
    expect(page.locator(".hc-form").get_by_label("Lambda")).to_have_value("1.0")


def test_a_drag_of_the_slider_moves_the_tree_on_the_way(page, server):
    dashboard = opened(page, server, f"data=zoo&method=hrsc&{THREE}")
    # The curve is computed in the background, and each of its points repaints the section.
    expect(section(page, "prices").locator("circle.point")).to_have_count(11)
    slider = page.get_by_role("slider", name="Lambda")
    slider.scroll_into_view_if_needed()
    wait_still(page)
    box = box_at_rest(page, slider)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.26 * box["width"], y)
    page.mouse.down()
    for k in range(4, 10):
        page.mouse.move(box["x"] + k / 10 * box["width"], y)
        page.wait_for_timeout(120)
    dashboard.settle()  # while the button is still held
    page.mouse.up()
    status = section(page, "prices").get_by_role("status")
    expect(status).to_contain_text("0 violated")
    undo = page.get_by_role("button", name="Undo")
    undo.click()  # the whole drag
    expect(section(page, "prices").locator(".chosen")).to_have_text("1")


def test_the_usefulness_and_dependencies_of_answers(page, server):
    dashboard = opened(page, server, f"data=zoo&method=crsc&{THREE}")
    worth = section(page, "worth")
    rows = worth.get_by_role("list", name="Answers and what they are worth").get_by_role("button")
    expect(rows).to_have_count(3)
    expect(worth).to_contain_text("Dependency measure")
    expect(worth).to_contain_text("Constrained random cutting reaches")
    rows.first.click()
    expect(dashboard.selected).to_have_text("3 items")
    worth.get_by_role("button", name="Draw how they depend").click()
    sheet = page.locator(".hc-dependencies")
    expect(sheet.locator(".box")).to_have_count(3)
    expect(sheet.locator(".graph .box")).to_have_count(2)
    expect(sheet.locator(".graph path[marker-end]")).to_have_count(1)
    key = sheet.get_by_role("button", name=re.compile("^apart from dove"))
    expect(key).to_have_attribute("title", re.compile("bear \\+ carp together, apart from dove"))
    key.press("Enter")
    expect(key).to_have_class(re.compile("chosen"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")


def test_without_answers_there_are_no_dependencies(page, server):
    opened(page, server, "data=zoo&method=hrsc")
    expect(page.get_by_role("tab", name="Dependencies")).to_be_disabled()
    expect(section(page, "worth")).to_contain_text("No constraints yet.")
    expect(section(page, "prices")).to_contain_text("lambda changes nothing")


def test_the_forms_of_methods_explain_their_fields(page, server):
    dashboard = opened(page, server, f"data=zoo&method=crsc&{THREE}")
    form = page.locator(".hc-form")
    alert = form.get_by_role("alert")
    for method in ("crsc", "crbc", "hrsc"):
        if method != "crsc":
            dashboard.choose("method", method)
            dashboard.settle()
        cut_by = form.get_by_label("Cut by")
        expect(cut_by.locator("option")).to_have_count(4)
        cut_by.select_option("exact")
        expect(alert).to_contain_text("up to 18 supernodes")
        expect(cut_by).to_have_attribute("aria-invalid", "true")
        cut_by.select_option("spectral")
        dashboard.settle()
        expect(alert).to_have_count(0)
    dashboard.choose("method", "dasgupta-search")
    dashboard.settle()
    field = form.get_by_label("Lambda")
    field.fill("-1")
    field.press("Enter")
    expect(alert).to_contain_text("lam must be a number of 0 or more")
    field.fill("2")
    field.press("Enter")
    dashboard.settle()
    expect(alert).to_have_count(0)
