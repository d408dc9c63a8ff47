"""From a table to a taxonomy: the whole job on one page, from the dropped file to the saved groups.

The tables are in ``../shared/tables``. ``tests/test_taxonomy_files.py`` reads the formats with
other libraries.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from hcviz import Taxonomy
from hcviz.taxonomy.formats import FORMATS
from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, pixel, shot, wait_still, wait_until
from tests.browser.test_columns import drop
from tests.browser.test_groups import group
from tests.conftest import ROOT

TABLES = ROOT.parent / "shared" / "tables"
#: Actions and seconds from the start of the server to a file with the first named group, at most.
#: docs/on-the-page.md has the number of actions and this limit.
MAX_ACTIONS, MAX_SECONDS = 12, 90

#: Names of the eight groups that the clusters become.
NAMES = ("Appliances", "Pans", "Pots", "Tools", "Storage", "Baking", "Dishes", "Knives")


def names_in_tree(page: Page) -> set[str]:
    return {text.removesuffix(" · locked") for text in column(page, "group-names", "text")}


def outline(taxonomy: Taxonomy) -> dict[str, set[str]]:
    """The names of a taxonomy, each with its items."""
    return {
        each.name: {str(taxonomy.labels[item]) for item in each.members} for each in taxonomy.groups
    }


def save_groups(dashboard: Dashboard, format: str, folder: Path) -> Path:
    page = dashboard.page
    with page.expect_download() as waiting:
        page.get_by_label("Save the groups as a file").select_option(format)
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def rename(dashboard: Dashboard, old: str, new: str) -> None:
    """Rename a group in the panel, by keys."""
    group(dashboard.page, old).focus()
    dashboard.press("F2")
    expect(dashboard.page.get_by_label(f"New name of {old}")).to_be_focused()
    dashboard.page.keyboard.type(new)
    dashboard.press("Enter")
    expect(group(dashboard.page, new)).to_be_visible()


def listed(page: Page, name: str) -> list[str]:
    """Open the list of a group's items; return them."""
    page.get_by_label(f"List the items of {name}", exact=True).click()
    items = page.get_by_label(f"Items of {name}", exact=True).get_by_role("button")
    expect(items.first).to_be_visible()
    return items.all_inner_texts()


def members(dashboard: Dashboard, folder: Path) -> dict[str, set[str]]:
    return outline(Taxonomy.from_json(save_groups(dashboard, "json", folder).read_text()))


def test_the_whole_job_on_a_table_of_products(page, tmp_path):
    dashboard = Dashboard(page).settle()
    drop(page, "kitchen.csv", (TABLES / "kitchen.csv").read_text())
    dashboard.settle()
    dashboard.choose("method", "average")
    dashboard.settle()
    wait_still(page)

    # Eight clusters become eight groups, and each gets a name.
    page.get_by_label("Clusters", exact=True).fill("8")
    dashboard.press("Tab")
    wait_until(page, lambda: len(set(column(page, "cluster-numbers", "text")) - {""}) > 1)
    dashboard.button("Name these clusters").click()
    expect(page.locator(".hc-groups .group")).to_have_count(8)
    old = page.locator(".hc-groups .group .name").all_inner_texts()
    for before, name in zip(old, NAMES, strict=True):
        rename(dashboard, before, name)
    wait_until(page, lambda: names_in_tree(page) == set(NAMES))
    expect(
        page.locator("#hc-main").get_by_title(re.compile("^Groups: Appliances, "))
    ).to_be_visible()
    shot(page, "job-named")

    # Two of them are locked.
    for name in NAMES[:2]:
        group(page, name).click()
        expect(page.locator(".hc-inspector .group-name")).to_have_value(name)
        dashboard.press("Escape")
        group(page, name).click()
        dashboard.press("g")
        expect(group(page, name).locator(".lock")).to_be_visible()
    expect(dashboard.constraints).to_have_count(2)

    # Three items move to another group.
    moves = (("Tools", "Storage"), ("Storage", "Baking"), ("Knives", "Tools"))
    moved = {}
    for old, new in moves:
        name = next(item for item in listed(page, old) if item not in moved)
        moved[name] = new
        row = page.get_by_label(f"Items of {old}", exact=True).get_by_role("button", name=name)
        target = group(page, new)
        before = int(target.locator(".number").inner_text())
        row.click()
        expect(dashboard.selected).to_have_text(name)
        target.hover()
        target.get_by_role("button", name="Move here").click()
        expect(dashboard.assessment.first).to_be_visible()
        expect(page.locator(".hc-foot")).to_contain_text("Enter: they are a group")
        shot(page, f"job-moving-{new}")
        dashboard.press("Enter")
        expect(target).to_have_attribute("aria-label", f"{new}, {before + 1} items, locked")
        dashboard.settle()
        expect(page.locator(".hc-groups .change")).to_have_count(0)
    after = members(dashboard, tmp_path)
    assert set(after) == set(NAMES)
    assert {item: name for item in moved for name in after if item in after[name]} == moved
    assert sum(map(len, after.values())) == 80
    shot(page, "job-moved")

    # Another method and a correction keep all names; locked groups keep their items.
    dashboard.choose("method", "ward")
    dashboard.settle()
    dashboard.press("Escape")
    dashboard.add_constraint(["Espresso cup", "Coffee mug"], "Chef knife")
    dashboard.press("Enter")
    expect(dashboard.constraints).to_have_count(6)
    expect(dashboard.sentence).to_contain_text(
        re.compile(r"(Kept|Applied|Applying|Locked): Espresso cup \+ Coffee mug")
    )
    dashboard = Dashboard(page).settle()  # of the correction, if it needs a run
    wait_still(page)
    expect(page.locator(".hc-groups .group")).to_have_count(8)
    for name in (*NAMES[:2], *moved.values()):
        expect(group(page, name).locator(".change")).to_have_count(0)
        expect(group(page, name).locator(".lock")).to_be_visible()
    shot(page, "job-ward")
    dashboard.choose("method", "average")
    dashboard.settle()
    expect(page.locator(".hc-groups .group")).to_have_count(8)
    expect(page.locator(".hc-groups .change")).to_have_count(0)
    assert members(dashboard, tmp_path) == after

    # Two levels of the picture.
    levels = page.get_by_label("Collapse to", exact=True)
    levels.select_option("1")
    wait_until(page, lambda: len(shown := column(page, "label-text", "text")) <= 8 and shown)
    wait_still(page)
    shot(page, "job-level")
    levels.select_option("all")
    wait_until(page, lambda: len(column(page, "label-text", "text")) > 40)

    # Every format is saved; SKOS and Markdown give the same taxonomy back.
    files = {format: save_groups(dashboard, format, tmp_path) for format in FORMATS}
    assert all(path.stat().st_size for path in files.values())
    assert len(set(files.values())) == len(FORMATS)
    assert outline(Taxonomy.from_skos(files["skos"].read_text())) == after
    assert outline(Taxonomy.from_markdown(files["markdown"].read_text())) == after
    for format in ("skos", "markdown"):
        page.get_by_role("treeitem").first.focus()
        dashboard.press("Delete")
        expect(page.locator(".hc-groups .group")).to_have_count(7)
        dashboard.open("Groups…", files[format])
        expect(dashboard.sentence).to_have_text(f"8 groups from {files[format].name}.")
        assert members(dashboard, tmp_path) == after
    expect(page.locator(".hc-groups .lock")).to_have_count(5)
    page.get_by_role("button", name="Lock all 3 groups").click()
    expect(page.locator(".hc-groups .lock")).to_have_count(8)
    dashboard.press("Control+z")
    expect(page.locator(".hc-groups .lock")).to_have_count(5)
    shot(page, "job-end")


def test_a_card_sort_gets_its_names_from_the_piles(page, tmp_path):
    dashboard = Dashboard(page).settle()
    with page.expect_file_chooser() as waiting:
        dashboard.menu("Open file…")
    waiting.value.set_files(TABLES / "cardsort.csv")
    dashboard.settle()
    dashboard.choose("method", "average")
    dashboard.settle()
    wait_still(page)
    suggested = page.locator(".hc-inspector .suggested button")
    taken = []
    for item in ("Apples", "Milk", "Rice"):
        dashboard.press("Escape")
        expect(dashboard.selected).to_have_count(0)
        dashboard.click_label(item)
        expect(dashboard.selected).to_have_text(item)
        page.locator(".hc-inspector [data-key=parent]").click()
        while True:
            expect(dashboard.selected).to_contain_text("items")
            before = dashboard.selected.inner_text()
            if int(before.split()[0]) >= 4:
                break
            page.locator(".hc-inspector [data-key=parent]").click()
            expect(dashboard.selected).not_to_have_text(before)
        expect(suggested.first).to_have_attribute("title", re.compile("participants called"))
        taken.append(suggested.first.inner_text())
        suggested.first.click()
        expect(group(page, taken[-1])).to_be_visible()
    shot(page, "job-piles")
    found = outline(Taxonomy.from_csv(save_groups(dashboard, "levels", tmp_path).read_text()))
    assert set(found) == set(taken)
    for name, item in zip(taken, ("Apples", "Milk", "Rice"), strict=True):
        assert item in found[name]


def test_the_first_group_of_an_own_table_takes_few_actions(serve, new_page):
    """Each action is a click, a key that types no text, or a file that is chosen."""
    begun, actions = time.monotonic(), 0
    address = serve(ROOT / "app.py").url
    page = new_page()
    page.goto(address)
    dashboard = Dashboard(page).settle()

    def count(number: int = 1) -> None:
        nonlocal actions
        actions += number

    drop(page, "kitchen.csv", (TABLES / "kitchen.csv").read_text())
    count()
    wait_until(page, lambda: "Grill pan" in column(page, "label-text", "text"))
    wait_still(page)
    dashboard.click_above("Grill pan", 0.3)
    count()
    expect(dashboard.selected).to_contain_text("items")
    dashboard.press("n")
    count()
    page.keyboard.type("Pans")
    dashboard.press("Enter")
    count()
    expect(group(page, "Pans")).to_be_visible()
    dashboard.button("File").click()
    page.get_by_role("menuitem", name="Groups as outline, table…", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name="Outline (Markdown)", exact=True).click()
    count(3)
    assert "**Pans**" in Path(waiting.value.path()).read_text()
    assert actions <= MAX_ACTIONS
    assert time.monotonic() - begun < MAX_SECONDS
    stated = (ROOT / "docs" / "on-the-page.md").read_text()
    assert f"{actions} actions and at most {MAX_SECONDS} seconds" in stated


def test_the_job_by_touch_on_a_narrow_screen(server, browser, watch):
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True,
        accept_downloads=True, reduced_motion="reduce",
    )  # fmt: skip
    watch.over_context(context)
    page = context.new_page()
    page.goto(server.url)
    dashboard = Dashboard(page).settle()
    page.get_by_role("button", name="File", exact=True).tap()
    with page.expect_file_chooser() as waiting:
        page.get_by_role("menuitem", name="Open file…", exact=True).tap()
    waiting.value.set_files(TABLES / "kitchen.csv")
    wait_until(page, lambda: "Grill pan" in column(page, "label-text", "text"))
    wait_still(page)
    names, rows = column(page, "label-text", "text"), column(page, "label-text", "y")
    heights = [x for x in column(page, "tree-lines", "x") if x == x]
    page.touchscreen.tap(*pixel(page, "tree", 0.3 * max(heights), rows[names.index("Grill pan")]))
    dashboard.button("Inspector panel").tap()
    field = page.locator(".hc-inspector .group-name")
    expect(field).to_be_in_viewport()
    field.tap()
    page.keyboard.type("Pans")
    page.locator(".hc-inspector [data-key=name-button]").tap()
    expect(field).to_have_value("Pans")
    page.get_by_label("Locked: every new tree keeps this group (G)").tap()
    shot(page, "job-touch-named")
    dashboard.button("Inspector panel").tap()
    dashboard.button("Constraints panel").tap()
    expect(group(page, "Pans").locator(".lock")).to_be_visible()
    shot(page, "job-touch-groups")
    with page.expect_download() as waiting:
        page.get_by_label("Save the groups as a file").select_option("markdown")
    assert "**Pans**" in Path(waiting.value.path()).read_text()
    context.close()
    assert not watch.faults
