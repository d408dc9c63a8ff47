"""The tour in a real browser: from the first step to a person's first correction."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import branches, click, shot, wait_for

#: True if the card of the tour is in the window, and on none of the rings.
IN_PLACE = """
() => {
  const find = node => node.querySelector?.(".hc-tour") ?? [...node.querySelectorAll("*")]
    .map(each => each.shadowRoot && find(each.shadowRoot)).find(Boolean)
  const root = find(document), box = root.querySelector(".card").getBoundingClientRect()
  const rings = [...root.querySelectorAll(".ring")].map(each => each.getBoundingClientRect())
  return box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight &&
    rings.length > 0 && rings.every(ring => box.left >= ring.right || box.right <= ring.left ||
      box.top >= ring.bottom || box.bottom <= ring.top)
}
"""


@pytest.fixture
def board(blank, server):
    blank.goto(f"{server.url}?data=zoo&method=crsc")
    return Dashboard(blank).settle()


def at_step(board, number, width):
    """Expect the card of a step, in its place."""
    expect(board.page.locator(".hc-tour .card .head")).to_contain_text(f"{number} of 8")
    board.page.wait_for_timeout(300)  # for the screenshot: the card follows its target
    shot(board.page, f"tour-{width}-{number}")
    wait_for(board.page, IN_PLACE)


@pytest.mark.parametrize("width", [1440])
def test_from_the_first_step_to_the_first_correction(board, width):
    page = board.page
    page.set_viewport_size({"width": width, "height": 900 if width > 1000 else 1000})
    card = page.get_by_role("dialog")
    expect(card).to_have_count(0)
    shot(page, f"tour-{width}-offer")
    page.get_by_role("button", name="Tour in 8 steps").click()
    at_step(board, 1, width)
    expect(card).to_be_focused()
    click(page, "tree", *branches(page)[5])
    at_step(board, 2, width)
    card.get_by_role("button", name="Next").click()
    at_step(board, 3, width)
    page.get_by_label("Number of clusters").focus()
    page.keyboard.press("ArrowRight")
    at_step(board, 4, width)
    card.get_by_role("button", name="Next").click()
    at_step(board, 5, width)
    board.click_label("dolphin")
    at_step(board, 6, width)
    board.press("t")
    board.click_label("flea")
    board.press("o")
    expect(page.locator(".hc-constraints .statement")).to_contain_text("odd one out")
    board.click_label("wolf")
    at_step(board, 7, width)
    board.press("Enter")
    at_step(board, 8, width)
    expect(board.constraints.first).to_contain_text("dolphin + flea together, before wolf")
    board.settle()
    expect(board.constraints.first.locator(".tag")).to_have_text("satisfied")
    shot(page, f"tour-{width}-end")
    board.button("Undo").click()
    expect(card).to_contain_text("The list is empty")
    board.button("Redo").click()
    card.get_by_role("button", name="Finish").click()
    expect(card).to_have_count(0)
    expect(board.sentence).to_contain_text("shows it again")
    expect(page.get_by_role("region", name="Tour")).to_have_count(0)
    page.reload()
    Dashboard(page).settle()
    expect(page.get_by_role("region", name="Tour")).to_have_count(0)
