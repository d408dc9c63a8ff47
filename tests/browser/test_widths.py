"""At every width all that can be pressed is on the page, whole, and beside its neighbours."""

from __future__ import annotations

import contextlib

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import box_at_rest, wait_idle, wait_still, wait_until

#: Names of controls that are cut off, lie outside of the window or on one another.
MISPLACED = """
() => {
  const found = []
  const parts = ["hc-bar", "hc-tools", "hc-constraints", "hc-form"]
  const roots = [document]
  const holders = []
  for (let k = 0; k < roots.length; k++) for (const node of roots[k].querySelectorAll("*")) {
    if (node.shadowRoot) roots.push(node.shadowRoot)
    if (parts.some(name => node.classList.contains(name))) holders.push(node)
  }
  for (const holder of holders) {
    const boxes = []
    for (const node of holder.querySelectorAll("button, select, input")) {
      if (!node.checkVisibility() || node.closest(".sheet")) continue
      const name = node.ariaLabel || node.textContent
      const box = node.getBoundingClientRect()
      if (box.left < 0 || box.right > innerWidth + 0.5) found.push(`${name} is outside`)
      if (node.tagName === "BUTTON" && node.scrollWidth > node.clientWidth + 1)
        found.push(`${name} is cut`)
      const drawer = node.getRootNode().host?.closest("aside")
      if (drawer && box.right > drawer.getBoundingClientRect().right + 0.5)
        found.push(`${name} is outside of its panel`)
      for (const [other, its] of boxes)
        if (box.left < other.right - 1 && other.left < box.right - 1 &&
            box.top < other.bottom - 1 && other.top < box.bottom - 1)
          found.push(`${name} is on ${its}`)
      boxes.push([box, name])
    }
    if (!boxes.length && !["hc-constraints", "hc-form"].includes(holder.className))
      found.push(`${holder.className} is empty`)
  }
  return found
}
"""


#: Where each row of the tools begins and ends, right of the first: [[left, right], ...].
TOOL_ROWS = """all => {
  const rows = new Map()
  for (const each of all) {
    if (!each.checkVisibility()) continue
    const box = each.getBoundingClientRect(), at = Math.round((box.top + box.bottom) / 2 / 8)
    const [left, right] = rows.get(at) ?? [Infinity, 0]
    rows.set(at, [Math.min(left, box.left), Math.max(right, box.right)])
  }
  const first = Math.min(...[...rows.values()].map(row => row[0]))
  return [...rows.values()].map(([left, right]) => [left - first, right - first])
}"""


def all_in_place(page) -> None:
    """Once the page is laid out."""
    found = []
    with contextlib.suppress(AssertionError):
        wait_until(page, lambda: found.append(page.evaluate(MISPLACED)) or not found[-1])
    assert found[-1] == []


def test_nothing_is_cut_or_covered(new_page, server):
    """In one page that is made narrower, and in one that is opened narrow."""
    page = new_page()
    address = f"{server.url}?data=zoo&method=crsc&matrix=features"
    page.goto(address)
    Dashboard(page).settle()
    for width in (1440, 1100, 1099, 900, 690, 400):
        page.set_viewport_size({"width": width, "height": 800})
        check_places(page, width)
    page.goto(address)
    Dashboard(page).settle()
    check_places(page, width)


def check_places(page, width: int) -> None:
    """Every control is in its place, also those of the constraints panel."""
    drawer = page.get_by_role("button", name="Constraints panel")
    expect(drawer).to_have_attribute("aria-expanded", "false" if width < 1100 else "true")
    wait_still(page)
    all_in_place(page)
    for name in ("data", "similarity", "method", "seed", "Clusters"):
        expect(page.get_by_label(name, exact=True)).to_be_visible()
    panel = page.get_by_role("complementary", name="Constraints")
    if width < 1100:
        drawer.click()
        expect(panel).to_be_visible()
        bar = page.locator("header").bounding_box()  # of however many rows
        box = box_at_rest(page, panel)
        assert bar
        below_bar = abs(box["y"] - (bar["y"] + bar["height"])) <= 1
        assert below_bar == (width > 480)
        if not below_bar:  # at the bottom, with a part of the tree in view above it
            tree = page.locator(".hc-tools").bounding_box()
            assert tree
            assert box["y"] >= tree["y"] + tree["height"] + 120
            assert box["x"] == 0
            assert box["width"] == pytest.approx(width, abs=1)
    all_in_place(page)
    if width < 1100:
        drawer.click()
        expect(panel).to_be_hidden()


@pytest.mark.parametrize(
    ("query", "narrow"),
    [("data=flowers&method=adds-sdp", 1), ("data=zoo&method=crsc&matrix=features", 2)],
)
def test_the_tools_fill_their_rows_and_the_search_widens(new_page, server, query, narrow):
    page = new_page()
    page.goto(f"{server.url}?{query}")
    Dashboard(page).settle()
    for width in (1440, 1100, 820):
        page.set_viewport_size({"width": width, "height": 800})
        wait_still(page)
        check_tools(page, narrow if width == 1100 else 1)


def check_tools(page, most_rows: int) -> None:
    """The tools stand in rows that begin on the left; the search widens over them."""
    # The row of levels is a row of its own, at every width.
    tools = page.locator(".hc-tools :is(button, select, input):not(.levels-row *)")
    rows = tools.evaluate_all(TOOL_ROWS)
    assert len(rows) <= most_rows
    # Each row begins on the left: none has a last tool alone on its right.
    assert all(left <= 1 for left, _ in rows)
    find = page.get_by_label("Find an item")
    shut = box_at_rest(page, find)
    tall = box_at_rest(page, page.locator(".hc-tools"))
    assert (shut["width"], shut["height"]) == (30, 28)
    page.keyboard.press("/")
    expect(find).to_be_focused()
    wide = box_at_rest(page, find)
    assert wide["width"] >= 200  # a name of 25 letters
    assert wide["x"] >= tall["x"]
    assert wide["x"] + wide["width"] == pytest.approx(shut["x"] + shut["width"], abs=0.5)
    assert box_at_rest(page, page.locator(".hc-tools")) == tall  # nothing moves for it
    page.keyboard.type("rose")
    page.keyboard.press("Escape")
    expect(find).not_to_be_focused()
    expect(find).to_have_value("")
    wait_until(page, lambda: find.bounding_box() == shut)


def test_the_file_menu_fits_the_window_and_scrolls_to_every_line(page):
    dashboard = Dashboard(page).settle()
    for width, height in [(1280, 720), (1366, 768), (820, 600), (400, 700)]:
        page.set_viewport_size({"width": width, "height": height})
        wait_idle(page)
        dashboard.button("File").click()
        menu = page.get_by_role("menu", name="File", exact=True)
        lessons = menu.get_by_role("menuitem", name="Lessons…", exact=True)
        expect(lessons).to_be_in_viewport(ratio=1)  # without scrolling
        lessons.click()
        menu.get_by_role("menuitem", name="Picture…", exact=True).click()
        # The preview makes the menu longer.
        expect(menu.locator(".preview:not([aria-busy])")).to_contain_text("mm.")
        box = box_at_rest(page, menu)
        assert min(box["x"], box["y"]) >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
        for place, line in [(0, "Open file…"), (9999, "Copy a link to this view")]:
            page.mouse.move(box["x"] + 40, box["y"] + 40)
            page.mouse.wheel(0, place or -9999)
            expect(menu.get_by_role("menuitem", name=line)).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")
