"""What a browser without a cache loads for a page, from ``panel serve app.py``."""

from __future__ import annotations

import re
import urllib.request
from typing import Any

from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_until

#: Half of what a page took without compression: 2.95 MB in 43 requests.
MOST_BYTES, MOST_REQUESTS = 1_475_000, 43


def test_a_page_without_a_cache_is_small(new_page, server):
    for _ in range(2):  # without --warm, the first page imports the application
        with urllib.request.urlopen(server.url, timeout=120):
            pass
    page = new_page()
    network = page.context.new_cdp_session(page)
    sizes: dict[str, int] = {}
    answers: dict[str, dict[str, Any]] = {}
    network.on(
        "Network.responseReceived", lambda e: answers.__setitem__(e["requestId"], e["response"])
    )
    network.on(
        "Network.loadingFinished",
        lambda e: sizes.__setitem__(e["requestId"], e["encodedDataLength"]),
    )
    network.send("Network.enable")
    page.goto(server.url)
    Dashboard(page).settle()
    wait_until(page, lambda: answers.keys() <= sizes.keys())
    loaded = {
        each["url"]: (sizes.get(key, 0), {k.lower(): v for k, v in each["headers"].items()})
        for key, each in answers.items()
        if each["url"].startswith("http") and sizes.get(key, 0)
    }
    assert 5 < len(loaded) <= MOST_REQUESTS
    assert 100_000 < sum(size for size, _ in loaded.values()) < MOST_BYTES
    scripts = [head for url, (_, head) in loaded.items() if ".js" in url]
    assert {each.get("content-encoding") for each in scripts} == {"gzip"}
    (document,) = [head for url, (_, head) in loaded.items() if url == server.url]
    assert "content-encoding" not in document  # it has a secret token


def test_a_figure_shows_its_focus_to_the_keyboard_only(page):
    zoo = Dashboard(page).settle()
    line = "node => getComputedStyle(node).boxShadow"
    zoo.click_label("dolphin")
    wait_until(
        page,
        lambda: page.locator(".names-figure").evaluate(line).startswith("rgba(0, 0, 0, 0) 0px"),
    )
    tree = page.locator(".tree-figure")
    page.locator("main").focus()
    for _ in range(40):
        zoo.press("Tab")
        if tree.evaluate("node => node.matches(':focus-within')"):
            break
    expect(tree).to_have_css("box-shadow", re.compile(r"^rgb\("))
