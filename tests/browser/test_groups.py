"""Groups: named in one go, kept through another method, walked by keys, and taken away as files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, pixel, wait_still, wait_until
from tests.conftest import ROOT

#: 30 products of three families; each family has two kinds.
KINDS = {
    "pan": (9, 9, 1), "pot": (9, 6, 1), "jar": (1, 1, 9), "box": (3, 1, 9), "mug": (1, 9, 4),
    "cup": (2, 7, 4),
}  # fmt: skip


@pytest.fixture
def dashboard(page, tmp_path):
    table = tmp_path / "shelf.csv"
    lines = ["name,a,b,c"]
    for kind, (a, b, c) in KINDS.items():
        lines += [f"{kind} {k},{a + k / 10},{b - k * k / 40},{c + k / 7}" for k in range(5)]
    table.write_text("\n".join(lines) + "\n")
    made = Dashboard(page).settle()
    made.open_with_average(table)
    wait_still(page)
    return made


def place(page, items):
    """Where the branch of a clade is: near the bar of the smallest clade of these items."""
    x, y = column(page, "tree-lines", "x"), column(page, "tree-lines", "y")
    names = column(page, "label-text", "text")
    rows = [column(page, "label-text", "y")[names.index(item)] for item in items]
    best = None
    for k in range(len(x) - 3):
        piece = x[k : k + 4]
        if any(v != v for v in piece) or piece[1] != piece[2]:
            continue
        inside = min(y[k + 1], y[k + 2]) <= min(rows) + 0.9
        inside &= max(y[k + 1], y[k + 2]) >= max(rows) - 0.9
        middle = (y[k + 1] + y[k + 2]) / 2
        if min(rows) <= middle <= max(rows) and inside and (best is None or piece[1] < best[0]):
            best = (piece[1], middle)
    return best


def of(kind):
    return [f"{kind} {k}" for k in range(5)]


def select(dashboard, items):
    """Click on the names of items and widen the selection until it is their clade."""
    page = dashboard.page
    dashboard.press("Escape")
    dashboard.click_label(items[0])
    expect(dashboard.selected).to_have_text(items[0])
    chips = page.locator(".hc-inspector .chips button")
    for _ in range(12):
        names = set(chips.all_inner_texts())
        if set(items) <= names:
            return names
        before = dashboard.selected.inner_text()
        page.locator(".hc-inspector [data-key=parent]").click()
        expect(dashboard.selected).not_to_have_text(before)
    raise AssertionError(f"no clade has {items}")


def group(page, name):
    return page.locator(".hc-groups .group", has=page.get_by_text(name, exact=True))


def wait_for_names(page, *names):
    """Wait until these are the names at the branches."""
    wait_until(page, lambda: sorted(column(page, "group-names", "text")) == [*names])


def test_groups_are_named_kept_walked_and_taken_away(dashboard, tmp_path):
    page = dashboard.page
    jars = select(dashboard, of("jar"))
    dashboard.press("n")
    expect(page.locator(".hc-inspector .group-name")).to_be_focused()
    page.keyboard.type("Jars = glass")
    dashboard.press("Enter")
    expect(dashboard.sentence).to_have_text(f"Named: Jars = glass, {len(jars)} items.")
    storage = select(dashboard, [*of("jar"), *of("box")])
    dashboard.press("n")
    expect(page.locator(".hc-inspector .group-name")).to_be_focused()
    page.keyboard.type("Storage")
    dashboard.press("Enter")
    expect(group(page, "Storage")).to_have_attribute("aria-level", "1")
    inner = group(page, "Jars = glass")
    expect(inner).to_have_attribute("aria-level", "2")
    expect(inner).to_have_attribute("aria-label", f"Jars = glass, {len(jars)} items")
    wait_for_names(page, "Jars = glass", "Storage")

    # Another method keeps the names. A group that it divides says so, or waits in the tray.
    dashboard.choose("method", "complete")
    dashboard.settle()
    expect(page.locator(".hc-groups .group")).to_have_count(2)
    dashboard.press("u")
    expect(page.get_by_label("method", exact=True)).to_have_value("average")
    expect(page.locator(".hc-groups .change")).to_have_count(0)
    expect(inner).to_have_attribute("aria-level", "2")

    # By keyboard: walk, rename, fold, remove, and take it back.
    group(page, "Storage").focus()
    dashboard.press("ArrowDown")
    expect(inner).to_be_focused()
    dashboard.press("Enter")
    expect(dashboard.selected).to_have_text(f"{len(jars)} items")
    dashboard.press("F2")
    field = page.get_by_label("New name of Jars = glass")
    expect(field).to_be_focused()
    field.fill("Jars")
    dashboard.press("Enter")
    renamed = group(page, "Jars")
    expect(renamed).to_be_focused()
    wait_for_names(page, "Jars", "Storage")
    dashboard.press("ArrowLeft")
    expect(group(page, "Storage")).to_be_focused()
    dashboard.press("ArrowLeft")
    expect(renamed).to_have_count(0)
    dashboard.press("ArrowRight", "ArrowRight", "Delete")
    expect(dashboard.sentence).to_contain_text("Removed: the group Jars")
    expect(group(page, "Storage")).to_be_focused()
    dashboard.press("u")
    expect(renamed).to_be_visible()

    # The files have both, and the Markdown file gives them back.
    dashboard.button("File").click()
    page.get_by_role("menuitem", name="Groups as outline, table…", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name="Outline (Markdown)", exact=True).click()
    assert waiting.value.suggested_filename == "shelf.md"
    outline = tmp_path / "shelf.md"
    waiting.value.save_as(outline)
    text = outline.read_text()
    assert text.index("**Storage**") < text.index("  - **Jars**") < text.index("    - jar 0")
    with page.expect_download() as waiting:
        page.get_by_label("Save the groups as a file").select_option("levels")
    rows = list(csv.DictReader(Path(waiting.value.path()).read_text().splitlines()))
    assert {row["item"] for row in rows if row["level_2"] == "Jars"} == jars
    assert {row["item"] for row in rows if row["level_1"] == "Storage"} == storage
    assert len(rows) == 30
    outline.write_text(text.replace("**Storage**", "**Larder**"))
    dashboard.open("Groups…", outline)
    expect(dashboard.sentence).to_have_text("2 groups from shelf.md.")
    expect(group(page, "Larder")).to_be_visible()
    expect(group(page, "Jars")).to_have_attribute("aria-level", "2")


def test_a_double_click_folds_a_branch_and_asks_for_its_name(dashboard):
    page = dashboard.page
    mugs = select(dashboard, of("mug"))
    dashboard.press("Escape")
    page.mouse.dblclick(*pixel(page, "tree", *place(page, sorted(mugs))))
    expect(page.locator(".hc-inspector .group-name")).to_be_focused()
    page.keyboard.type("Mugs")
    dashboard.press("Enter")
    expect(group(page, "Mugs")).to_be_visible()
    # The labels of these items are narrow, so that the name is at the branch.
    wait_for_names(page, "Mugs")
    wait_still(page)
    assert not any("Mug" in text for text in column(page, "label-text", "text"))
    dashboard.press("Enter")  # the branch is still selected, and the field is left
    expect(page.locator(".hc-inspector .group-name")).not_to_be_focused()
    wait_still(page)
    assert column(page, "group-names", "text") == ["Mugs"]


def test_buttons_in_a_row_do_only_what_they_say(dashboard, tmp_path):
    page = dashboard.page
    outline = tmp_path / "four.txt"
    rest = [item for kind in KINDS for item in of(kind) if item not in of("jar")[:4]]
    outline.write_text("\n".join(["Jars", *(f"  {item}" for item in of("jar")[:4]), *rest]))
    dashboard.open("Groups…", outline)
    jars = group(page, "Jars")
    change = jars.locator(".change")
    expect(change).to_contain_text("jar 4")
    jars.get_by_role("button", name="List the items").dblclick()
    change.get_by_role("button", name="Accept").click()
    expect(change).to_have_count(0)
    jars.get_by_role("button", name="List the items").click()
    expect(jars.locator(".items li")).to_have_count(5)
    expect(dashboard.selected).to_have_count(0)
    expect(page.get_by_label("New name of Jars")).to_have_count(0)


def test_the_kitchen_has_room_for_the_panel_in_a_narrow_window(page):
    """At 820 pixels the panels are drawers; the key N opens the one with the field."""
    table = ROOT.parent / "shared" / "tables" / "kitchen.csv"
    dashboard = Dashboard(page).settle()
    dashboard.choose("method", "average")
    dashboard.settle()
    dashboard.open("Table of features…", table)
    dashboard.settle()
    page.set_viewport_size({"width": 820, "height": 900})
    wait_still(page)
    dashboard.click_above("Grill pan", 0.3)
    field = page.locator(".hc-inspector .group-name")
    expect(field).to_be_attached()
    dashboard.press("n")
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport()
    page.keyboard.type("Pans")
    dashboard.press("Enter")
    expect(dashboard.sentence).to_contain_text("Named: Pans")
    dashboard.button("Constraints panel").click()
    expect(group(page, "Pans")).to_be_in_viewport()
    wide = page.evaluate(
        """() => {
          const all = node => [node, ...[...node.querySelectorAll("*")].flatMap(x =>
            x.shadowRoot ? all(x.shadowRoot) : [])]
          const box = all(document).map(x => x.querySelector?.(".hc-groups")).find(Boolean)
          return box.scrollWidth <= box.clientWidth
        }"""
    )
    assert wide


def test_a_group_is_locked_with_one_key_and_kept_by_another_method(dashboard):
    page = dashboard.page
    jars = select(dashboard, of("jar"))
    dashboard.press("g")
    expect(dashboard.sentence).to_contain_text("are a group")
    lock = page.get_by_label("Locked: every new tree keeps this group (G)")
    expect(lock).to_be_checked()
    wait_for_names(page, "locked")
    dashboard.press("n")
    expect(page.locator(".hc-inspector .group-name")).to_be_focused()
    page.keyboard.type("Jars")
    dashboard.press("Enter")
    expect(group(page, "Jars").locator(".lock")).to_be_visible()
    wait_for_names(page, "Jars · locked")
    dashboard.choose("method", "complete")
    dashboard.settle()
    expect(group(page, "Jars")).to_have_attribute("aria-label", f"Jars, {len(jars)} items, locked")
    expect(page.locator(".hc-groups .change")).to_have_count(0)
    group(page, "Jars").click()
    expect(group(page, "Jars")).to_have_attribute("aria-selected", "true")
    lock.uncheck()
    expect(group(page, "Jars").locator(".lock")).to_have_count(0)
    dashboard.press("Control+z")
    expect(group(page, "Jars").locator(".lock")).to_be_visible()
