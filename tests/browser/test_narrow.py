"""A narrow window: a statement is made with the tree in sight, and its bar shows where it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import Server, box_at_rest, column, shot, wait_still, wait_until
from tests.browser.test_widths import all_in_place
from tests.unconstrained import NAME

#: Whether the heatmap's figure is drawn.
HEATMAP = "() => Bokeh.documents[0].get_model_by_name('heat').visible"


@pytest.fixture(scope="module")
def unconstrained_server():
    """The dashboard with a method that ignores constraints."""
    server = Server(Path(__file__).parent / "unconstrained_app.py", log="unconstrained.log")
    try:
        server.wait()
        yield server
        assert not server.faults(), server.faults()
    finally:
        server.stop()


def at(new_page, server, width, method="average"):
    page = new_page()
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{server.url}?data=zoo&method={method}")
    board = Dashboard(page).settle()
    wait_still(page)
    return page, board


def name_at(page, share):
    """A name that is shown, at a share of the picture's height: the others are left out there."""
    names = [text for text in column(page, "label-text", "text") if text]
    return names[int(share * (len(names) - 1))]


@pytest.mark.parametrize("width", [400, 820])
def test_a_statement_is_made_from_the_panel_to_its_end(new_page, unconstrained_server, width):
    page, board = at(new_page, unconstrained_server, width, NAME)
    panel = page.get_by_role("complementary", name="Constraints")
    expect(panel).to_be_hidden()
    board.button("Constraints panel").click()
    expect(panel).to_be_visible()
    page.locator("[data-key=together]").click()
    expect(board.button("Constraints panel")).to_have_attribute("aria-expanded", "false")
    expect(page.locator("[data-key=apply]")).to_be_visible()  # as a bar
    wait_still(page)
    bar, tree = box_at_rest(page, panel), page.get_by_role("main").bounding_box()
    assert bar["y"] >= tree["y"] + tree["height"] - 1  # under the tree, over none of it
    assert tree["height"] > 400
    together = page.get_by_role("group", name="Together", exact=True).get_by_role("button")
    apart = page.get_by_role("group", name="Odd one out", exact=True).get_by_role("button")
    for share, count in ((0.3, 1), (0.45, 2)):
        wait_still(page)
        board.click_label(name_at(page, share))
        expect(together).to_have_count(count)
    page.locator("[data-key=odd]").click()
    expect(page.locator("[data-key=odd]")).to_have_attribute("aria-pressed", "true")
    for share, count in ((0.05, 1), (0.7, 2), (0.95, 3)):
        wait_still(page)
        board.click_label(name_at(page, share))
        expect(apart).to_have_count(count)
    expect(page.locator(".assessment")).to_have_count(1)
    expect(page.locator(".assessment").first).to_contain_text("ignores constraints")
    wait_still(page)
    all_in_place(page)
    shot(page, f"statement-{width}")
    apart.nth(1).click()
    expect(apart).to_have_count(2)
    # The panel opens over it and closes to it: nothing is lost.
    board.button("Constraints panel").click()
    expect(page.get_by_role("heading", name="Say what belongs together")).to_be_visible()
    board.button("Constraints panel").click()
    expect(page.get_by_role("heading", name="Say what belongs together")).to_be_hidden()
    expect(apart).to_have_count(2)
    page.locator("[data-key=keep-constraints]").click()
    board.settle()
    expect(page.get_by_label("method", exact=True)).to_have_value("crsc")
    expect(apart).to_have_count(2)
    expect(page.locator("[data-key=keep-constraints]")).to_have_count(0)
    page.locator("[data-key=apply]").click()
    expect(panel).to_be_hidden()
    board.button("Constraints panel").click()
    expect(board.constraints).to_have_count(1)


def test_at_400_a_panel_leaves_the_upper_part_of_the_tree(new_page, server):
    page, board = at(new_page, server, 400)
    for name, label in (("Constraints panel", "Constraints"), ("Inspector panel", "Inspector")):
        board.button(name).click()
        panel = page.get_by_role("complementary", name=label)
        expect(panel).to_be_visible()
        box, tree = box_at_rest(page, panel), page.get_by_role("main").bounding_box()
        assert box["width"] == 400
        assert box["y"] - tree["y"] > 150


def test_the_heatmaps_are_offered_where_one_is_shown(new_page, server):
    page, board = at(new_page, server, 400)
    for width in (400, 540, 620, 820):
        page.set_viewport_size({"width": width, "height": 800})
        wait_until(page, lambda shown=width > 560: page.evaluate(HEATMAP) == shown)
        expect(board.button("Similarity")).to_be_visible(visible=width > 560)
