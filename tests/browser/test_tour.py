"""The tour in a real browser: from the first step to a person's first correction."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from hcviz.ui.features.tour.steps import Facts, Tour
from tests.browser.dashboard import Dashboard
from tests.browser.driving import branches, click, columns, shot, wait_for, wait_still, wait_until

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
#: True if the card does not cover a part of the page.
BESIDE = """
part => {
  const find = (name, node = document) => node.querySelector?.(name) ??
    [...node.querySelectorAll("*")].map(e => e.shadowRoot && find(name, e.shadowRoot)).find(Boolean)
  const [card, box] = [".hc-tour .card", part].map(name => find(name).getBoundingClientRect())
  return card.left >= box.right || card.right <= box.left || card.top >= box.bottom ||
    card.bottom <= box.top
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
    wait_for(board.page, BESIDE, ".hc-bar")
    if width == 1440:
        wait_for(board.page, BESIDE, ".tree-figure")


def tree_height(page):
    """The height of the tree's figure, in pixels."""
    return page.locator(".tree-figure").bounding_box()["height"]


def marked_names(page):
    """The names with an ink of their own."""
    texts, inks = columns(page, "label-text", "text", "ink")
    usual = max(set(inks), key=inks.count)
    return {text for text, ink in zip(texts, inks, strict=True) if ink != usual}


@pytest.mark.parametrize("width", [1440, 820])
def test_from_the_first_step_to_the_first_correction(board, width):
    page = board.page
    page.set_viewport_size({"width": width, "height": 900 if width > 1000 else 1000})
    card = page.get_by_role("dialog")
    expect(card).to_have_count(0)
    shot(page, f"tour-{width}-offer")
    page.get_by_role("button", name="Tour in 8 steps").click()
    at_step(board, 1, width)
    expect(card).to_be_focused()
    wait_still(page)
    click(page, "tree", *branches(page)[5])
    at_step(board, 2, width)
    card.get_by_role("button", name="Next").click()
    at_step(board, 3, width)
    page.get_by_label("Number of clusters").focus()
    page.keyboard.press("ArrowRight")
    expect(card).to_contain_text("There are now")  # the person sees what the slider did
    card.get_by_role("button", name="Next").click()
    at_step(board, 4, width)
    card.get_by_role("button", name="Next").click()
    at_step(board, 5, width)
    expect(card).to_contain_text("class of newt is amphibian")
    wait_still(page)
    board.click_label("dolphin")
    at_step(board, 6, width)
    wait_still(page)
    before = tree_height(page)
    board.press("t")
    expect(page.locator("[data-key=together]")).to_have_attribute("aria-pressed", "true")
    wait_still(page)  # in a narrow window, the statement's bar makes the tree lower
    board.click_label("flea")
    expect(page.locator(".hc-constraints .statement")).to_contain_text("flea")
    at_step(board, 6, width)  # two items together are not yet an answer here
    board.press("o")
    expect(page.locator(".hc-constraints .statement")).to_contain_text("odd one out")
    board.click_label("wolf")
    at_step(board, 7, width)
    wait_until(
        page, lambda: tree_height(page) == before
    )  # a click at an old place hits the same name
    board.press("Enter")
    at_step(board, 8, width)
    expect(page.locator("aside.left")).to_be_visible(visible=width > 1000)  # the tree is free
    expect(board.constraints.first).to_contain_text("dolphin + flea together, apart from wolf")
    board.settle()
    expect(board.constraints.first.locator(".tag")).to_have_text("satisfied")
    expect(card).to_contain_text("Done: the marked names that you put together now meet")
    wait_until(page, lambda: marked_names(page) == {"dolphin", "flea", "wolf"})
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


def test_it_is_left_and_resumed_with_the_keyboard_alone(board):
    page = board.page
    page.set_viewport_size({"width": 1280, "height": 720})
    board.button("Dark theme").click()
    page.locator("main").focus()
    board.press("?")
    card = page.get_by_role("dialog", name="A tree of your items")
    expect(card).to_be_focused()
    expect(card).to_have_accessible_description(Tour().text(Facts()))
    at_step(board, 1, 1280)
    board.press("ArrowRight", "ArrowRight")
    at_step(board, 3, 1280)
    board.press("ArrowLeft")
    expect(page.get_by_role("dialog")).to_contain_text("Nothing is selected yet")
    board.press("ArrowRight", "ArrowRight", "ArrowRight")
    at_step(board, 5, 1280)
    board.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    resume = page.get_by_role("button", name="Resume")
    expect(resume).to_be_focused()
    page.reload()
    board = Dashboard(page).settle()
    expect(page.get_by_role("region", name="Tour")).to_contain_text("step 5 of 8")
    resume.focus()
    board.press("Enter")
    at_step(board, 5, 1280)
    for name, key in [("dolphin", "t"), ("flea", "o"), ("wolf", "")]:
        board.press("/")
        page.keyboard.type(name)
        board.press("Enter", *key)
    at_step(board, 7, 1280)
    board.press("?", "Enter")  # the card has the focus, and Enter is still the page's
    at_step(board, 8, 1280)
    expect(board.constraints).to_have_count(1)


def test_the_offer_is_closed_for_good_and_the_menu_has_the_tour(board):
    offer = board.page.get_by_role("region", name="Tour")
    offer.get_by_role("button", name="Do not offer the tour again").click()
    expect(offer).to_have_count(0)
    board.page.reload()
    board = Dashboard(board.page).settle()
    expect(offer).to_have_count(0)
    board.menu("Tour of the page")
    at_step(board, 1, 1441)
