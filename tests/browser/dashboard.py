"""The dashboard as a person uses it: what to press, what to read."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Download, Locator, Page, expect

from tests.browser.driving import TIMEOUT, item_pixel, ranges, wait_for, wait_idle

#: The status of a finished run. The supports of its tree may not have settled.
DONE = re.compile(r"^(Done$|Tree done · )")


class Dashboard:
    """Words for the parts of the page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._run = -1

    # ------------------------------------------------------------------ reading

    @property
    def sentence(self) -> Locator:
        return self.page.locator(".hc-foot .message")

    @property
    def constraints(self) -> Locator:
        return self.page.locator(".hc-constraints ul[aria-label=Constraints] > li")

    @property
    def selected(self) -> Locator:
        return self.page.locator(".hc-inspector .name")

    @property
    def assessment(self) -> Locator:
        return self.page.locator(".hc-constraints .assessment")

    def settle(self) -> Dashboard:
        """Until a run newer than the last one seen is over and its tree is drawn."""
        status = self.page.locator(".hc-bar .status")
        before, text = self._run, ""
        while not DONE.match(text):  # at once with its number: another run may have begun since
            expect(status).not_to_have_attribute(
                "data-run", re.compile(f"^{before}$"), timeout=3 * TIMEOUT
            )
            expect(status).to_have_text(DONE, timeout=3 * TIMEOUT)  # a run loads its kernels
            run, text = status.evaluate("node => [node.dataset.run, node.textContent]")
            self._run = int(run or -1)
        wait_for(
            self.page,
            "() => Bokeh.documents[0].get_model_by_name('tree-lines').data.x.length > 3",
        )
        wait_idle(self.page)
        return self

    def fact_value(self, name: str) -> Locator:
        """Where the value of a fact of the tree, or of the selection, is shown."""
        row = self.page.locator(".hc-inspector dl", has_text=name).locator(
            "dt", has_text=re.compile(f"^{re.escape(name)}$")
        )
        return row.locator("xpath=following-sibling::dd[1]")

    def fact(self, name: str) -> str:
        return self.fact_value(name).inner_text()

    def newick(self) -> str:
        """The shown tree, as the page saves it, but without supports, which a run still changes."""
        saved = Path(self.save("Tree (Newick)").path()).read_text()
        return re.sub(r"\[&support=[^]]*\]", "", saved)

    # ------------------------------------------------------------------ doing

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def click_label(self, name: str) -> None:
        """Click an item's name in the picture."""
        self.page.mouse.click(*item_pixel(self.page, name))

    def click_above(self, name: str, share: float) -> None:
        """Click in the tree on the row of an item, at a share of the tree's height."""
        self.page.mouse.click(*item_pixel(self.page, name, share))

    def add_constraint(self, group: list[str], apart: str) -> None:
        """State a constraint with clicks and keys; nothing must be selected."""
        self.press("Escape", "t")
        expect(self.page.locator("[data-key=together]")).to_have_attribute("aria-pressed", "true")
        for name in group:
            self.click_label(name)
            expect(self.page.locator(".hc-constraints .statement")).to_contain_text(name)
        self.press("o")
        expect(self.page.locator(".hc-constraints .statement")).to_contain_text("odd one out")
        self.click_label(apart)
        expect(self.assessment).to_be_visible()

    def menu(self, item: str) -> None:
        self.button("File").click()
        found = self.page.get_by_role("menuitem", name=item, exact=True)
        for fold in ("Open as…", "Lessons…"):
            if not found.is_visible():
                self.page.get_by_role("menuitem", name=fold, exact=True).click()
        found.click()

    def save(self, item: str) -> Download:
        with self.page.expect_download() as waiting:
            self.menu(item)
        return waiting.value

    def save_picture(self, format: str = "svg", page: str = "fit") -> Download:
        """Save a picture with the form of the File menu."""
        self.menu("Picture…")
        form = self.page.get_by_role("group", name="Picture", exact=True)
        form.locator("[data-key=picture-format]").select_option(format)
        form.locator("[data-key=picture-page]").select_option(page)
        with self.page.expect_download() as waiting:
            form.get_by_role("button", name="Save picture").click()
        return waiting.value

    def open(self, item: str, path: Path) -> None:
        with self.page.expect_file_chooser() as waiting:
            self.menu(item)
        waiting.value.set_files(path)

    def open_with_average(self, table: Path) -> None:
        """Open a table of features; its tree is that of average linkage."""
        self.choose("method", "average")
        self.settle()
        self.open("Table of features…", table)
        self.settle()

    def choose(self, field: str, value: str) -> None:
        self.page.get_by_label(field, exact=True).select_option(value)

    def rows(self, figure: str) -> tuple[float, float]:
        """The rows that a figure shows, first and last."""
        _, _, start, end = ranges(self.page, figure)
        return start, end
