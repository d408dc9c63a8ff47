"""Bring a table as it is: drop it, see its columns, change them, paste another."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, shot, wait_until

HEADER = "product,price,material,used_for,electric,bought,note,sku"
MATERIALS, USES = ("steel", "glass", "wood"), ("prep", "bake")


def products(count: int = 24) -> str:
    rows = [
        f"thing {k},{'' if k == 5 else 3.5 + k % 7},{MATERIALS[k % 3]},{USES[k // 12]},"
        f"{'yes' if k % 5 else 'no'},2024-0{1 + k % 9}-11,"
        f"a good {MATERIALS[k % 3]} tool no {100 + k},{1000 + k}"
        for k in range(count)
    ]
    return "\n".join([HEADER, *rows]) + "\n"


def drop(page: Page, name: str, text: str) -> None:
    """Drop a file on the middle of the page."""
    transfer = page.evaluate_handle(
        """([name, text]) => {
          const transfer = new DataTransfer()
          transfer.items.add(new File([text], name))
          return transfer
        }""",
        [name, text],
    )
    over = page.locator("#hc-main")
    over.dispatch_event("dragover", {"dataTransfer": transfer})
    expect(page.get_by_text("Drop the file to open it")).to_be_visible()
    over.dispatch_event("drop", {"dataTransfer": transfer})
    expect(page.get_by_text("Drop the file to open it")).to_have_count(0)


def paste(page: Page, text: str) -> None:
    page.evaluate(
        """text => {
          const data = new DataTransfer()
          data.setData("text/plain", text)
          const event = { clipboardData: data, bubbles: true, composed: true, cancelable: true }
          document.body.dispatchEvent(new ClipboardEvent("paste", event))
        }""",
        text,
    )


def test_columns_of_a_dropped_table_can_be_changed(page: Page, tmp_path: Path) -> None:
    dashboard = Dashboard(page).settle()
    drop(page, "things.csv", products())
    dashboard.settle()
    names = {f"thing {k}" for k in range(24)}
    wait_until(page, lambda: set(column(page, "label-text", "text")) == names)
    expect(dashboard.sentence).to_contain_text("1 number, 1 yes/no, 2 categories, 1 date, 1 text")
    expect(dashboard.sentence).to_contain_text("1 left out; 1 missing cell")
    dashboard.menu("Columns…")
    sheet = page.locator(".hc-columns")
    expect(sheet.get_by_role("row", name=re.compile("^.* sku identifiers"))).to_have_count(1)
    expect(sheet.get_by_text("2024-01-11", exact=False)).to_be_visible()
    expect(sheet.get_by_role("checkbox", name="Use sku")).to_be_disabled()
    use = sheet.get_by_role("button", name="Use these columns")
    expect(use).to_be_disabled()
    sheet.get_by_role("checkbox", name="Use price").uncheck()
    sheet.get_by_role("checkbox", name="Colours of material").check()
    sheet.get_by_role("checkbox", name="Colours of used_for").check()
    sheet.get_by_role("spinbutton", name="Weight of used_for").fill("4")
    sheet.get_by_role("spinbutton", name="Weight of used_for").press("Enter")
    expect(use).to_be_enabled()
    shot(page, "columns-1440")
    use.click()
    dashboard.settle()
    expect(sheet).to_be_hidden()
    expect(dashboard.sentence).to_contain_text("5 of 7 columns are used.")
    wait_until(page, lambda: set(column(page, "label-text", "text")) == names)
    legend = page.get_by_title(re.compile("^material: glass, steel, wood"))
    expect(legend).to_be_visible()
    expect(page.get_by_title(re.compile("^used_for: bake, prep"))).to_be_visible()
    shot(page, "columns-strips-1440")
    # The file keeps the choice, and undo takes it back.
    saved = dashboard.save("Session").path()
    dashboard.button("Undo").click()
    expect(legend).to_have_count(0)
    dashboard.open("Open file…", _named(Path(saved), tmp_path / "things.hcviz"))
    expect(legend).to_be_visible()
    dashboard.menu("Columns…")
    expect(sheet.get_by_role("checkbox", name="Use price")).not_to_be_checked()
    sheet.get_by_label("Compare by").select_option("gower")
    expect(sheet.get_by_text("Gower's distance: numbers differ")).to_be_visible()
    page.set_viewport_size({"width": 820, "height": 900})
    shot(page, "columns-820")


def test_cells_of_a_spreadsheet_can_be_pasted(page: Page) -> None:
    dashboard = Dashboard(page).settle()
    insects = {"bee", "ant", "spider", "bat"}
    assert set(column(page, "label-text", "text")) != insects
    paste(page, "no table")
    paste(page, "name\tlegs\twings\nbee\t6\tyes\nant\t6\tno\nspider\t8\tno\nbat\t2\tyes\n")
    dashboard.settle()
    wait_until(page, lambda: set(column(page, "label-text", "text")) == insects)


def _named(path: Path, name: Path) -> Path:
    name.write_bytes(path.read_bytes())
    return name
