"""Levels: a slider, a split, a merge, names for the clusters, and a collapsed picture."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, wait_still, wait_until

#: Three families of items; a number of clusters beyond them divides a family.
KINDS = {"pan": (9, 9, 1), "jar": (1, 1, 9), "mug": (1, 9, 4)}


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


def saved_clusters(dashboard):
    text = Path(dashboard.save("Clusters (CSV)").path()).read_text()
    return {row["item"]: row for row in csv.DictReader(io.StringIO(text))}


def shown(page):
    return [name for name in column(page, "label-text", "text") if name]


def test_clusters_are_walked_split_merged_named_and_collapsed(dashboard):
    page = dashboard.page
    tools = page.locator(".hc-tools")
    field = page.get_by_label("Clusters", exact=True)
    walk = page.get_by_label("Number of clusters", exact=True)

    walk.focus()
    for count in (2, 3):
        dashboard.press("ArrowRight")
        expect(field).to_have_value(str(count))
    expect(walk).to_have_attribute("aria-valuetext", "3 clusters")
    expect(walk).to_be_focused()
    wait_until(page, lambda: len(set(column(page, "cluster-numbers", "text")) - {""}) == 3)

    # A split is no cut at a height; one undo brings the cut back.
    dashboard.click_label("jar 0")
    expect(dashboard.selected).to_have_text("jar 0")
    tools.get_by_role("button", name="Split").click()
    expect(tools.get_by_text("by hand")).to_be_visible()
    expect(field).to_have_value("4")
    jars = {row["cluster"] for item, row in saved_clusters(dashboard).items() if "jar" in item}
    assert len(jars) == 2
    dashboard.press("u")
    expect(tools.get_by_text("by hand")).to_have_count(0)
    expect(field).to_have_value("3")

    # A clade within a cluster becomes a cluster; merging it again is another step.
    page.locator(".hc-inspector [data-key=parent]").click()
    expect(dashboard.selected).not_to_have_text("jar 0")
    tools.get_by_role("button", name="Make a cluster").click()
    expect(tools.get_by_text("by hand")).to_be_visible()
    expect(field).not_to_have_value("3")
    more = int(field.input_value())
    assert more > 3
    tools.get_by_role("button", name="Merge").click()
    expect(field).not_to_have_value(str(more))

    # In a narrow window: the slider replaces what was chosen by hand; names follow in one step.
    page.set_viewport_size({"width": 820, "height": 900})
    wait_still(page)
    walk.fill("3")
    expect(tools.get_by_text("by hand")).to_have_count(0)
    tools.get_by_role("button", name="Name these clusters").click()
    expect(dashboard.sentence).to_contain_text("Named: Group 1 to Group 3.")
    expect(page.locator(".hc-groups .group")).to_have_count(3)
    rows = saved_clusters(dashboard)
    assert {row["name"] for row in rows.values()} == {"Group 1", "Group 2", "Group 3"}
    assert len({(row["cluster"], row["name"]) for row in rows.values()}) == 3

    dashboard.choose("Collapse to", "1")
    wait_until(page, lambda: len(shown(page)) == 3)  # triangles
    named = ["Group 1", "Group 2", "Group 3"]
    wait_until(page, lambda: sorted(column(page, "group-names", "text")) == named)
    dashboard.choose("Collapse to", "clusters")
    walk.fill("2")
    wait_until(page, lambda: len(shown(page)) == 2)
    dashboard.choose("Collapse to", "all")
    wait_until(page, lambda: len(shown(page)) == 15)
    is_in_window = """node => {
      const { left, right } = node.getBoundingClientRect()
      return left >= 0 && right <= 820
    }"""
    for control in (field, walk, page.get_by_label("Collapse to")):
        wait_until(page, lambda control=control: control.evaluate(is_in_window))
