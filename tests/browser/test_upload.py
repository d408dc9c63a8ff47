"""A large file on its way in: how far it is, and that it can be stopped."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, wait_for


def table(path, count, noun):
    rows = (
        f"{noun} {k}," + ",".join(str((k * j) % 9973) for j in range(1, 9)) for k in range(count)
    )
    path.write_text("name," + ",".join("abcdefgh") + "\n" + "\n".join(rows) + "\n")
    return path


def test_a_large_file_shows_its_progress_and_can_be_stopped(page, tmp_path):
    large = table(tmp_path / "large.csv", 400_000, "thing")
    size = round(large.stat().st_size / 1e6)
    dashboard = Dashboard(page).settle()
    before = set(column(page, "label-text", "text"))
    page.evaluate(
        """() => {
          window.seen = []
          const inside = node => [node, ...[...node.querySelectorAll("*")].flatMap(x =>
            x.shadowRoot ? inside(x.shadowRoot) : [])]
          const foot = inside(document).map(x => x.querySelector?.(".hc-foot")).find(Boolean)
          new MutationObserver(() => {
            const bar = foot.querySelector("progress")
            if (bar) window.seen.push(bar.hasAttribute("value") ? bar.value : "reading")
          }).observe(foot, { childList: true })
        }"""
    )
    dashboard.open("Table of features…", large)
    reading = page.locator(".hc-foot .reading")
    expect(reading).to_contain_text(f"Reading large.csv ({size} MB)…")
    expect(reading.get_by_role("progressbar", name=re.compile("large.csv"))).to_be_visible()
    wait_for(page, "() => new Set(window.seen.filter(x => x !== 'reading')).size >= 3")
    stop = reading.get_by_role("button", name="Cancel")
    stop.focus()
    page.keyboard.press("Enter")
    expect(dashboard.sentence).to_have_text(re.compile("^Cancelled: large.csv was not opened."))
    expect(reading).to_have_count(0)
    shares = [x for x in page.evaluate("() => window.seen") if x != "reading"]
    assert len(shares) >= 3
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
    # The page goes on with what it had, and opens the next file.
    assert set(column(page, "label-text", "text")) == before
    dashboard.open("Table of features…", table(tmp_path / "few.csv", 12, "item"))
    dashboard.settle()
    assert set(column(page, "label-text", "text")) == {f"item {k}" for k in range(12)}
