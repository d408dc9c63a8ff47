"""What a browser without a cache loads for a page, from ``panel serve app.py``."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest

from tests.browser.conftest import WINDOW
from tests.browser.dashboard import Dashboard
from tests.browser.driving import TIMEOUT, wait_until

#: Half of what a page took without compression: 2.95 MB in 43 requests.
MOST_BYTES, MOST_REQUESTS = 1_475_000, 43


@pytest.fixture
def empty(browser, watch):
    """A browser with an empty cache."""
    made = browser.new_context(viewport=WINDOW)
    made.set_default_timeout(TIMEOUT)
    watch.over_context(made)
    yield made
    made.close()
    assert not watch.faults, "\n".join(watch.faults)


def test_a_page_without_a_cache_is_small(empty, server):
    for _ in range(2):  # without --warm, the first page imports the application
        with urllib.request.urlopen(server.url, timeout=120):
            pass
    page = empty.new_page()
    network = page.context.new_cdp_session(page)
    # URLs. The page's checks whether the server is lost are no GET.
    asked: dict[str, str] = {}
    failed: list[str | None] = []
    sizes: dict[str, int] = {}
    answers: dict[str, dict[str, Any]] = {}

    def sent(event: dict[str, Any]) -> None:
        request = event["request"]
        if request["method"] == "GET" and request["url"].startswith("http"):
            asked[event["requestId"]] = request["url"]

    network.on("Network.requestWillBeSent", sent)
    network.on("Network.loadingFailed", lambda e: failed.append(asked.pop(e["requestId"], None)))
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
    wait_until(page, lambda: asked.keys() <= sizes.keys())
    assert not any(failed)
    loaded = {
        url: (sizes[key], {k.lower(): v for k, v in answers[key]["headers"].items()})
        for key, url in asked.items()
        if sizes[key]
    }
    assert 5 < len(loaded) <= MOST_REQUESTS
    assert 100_000 < sum(size for size, _ in loaded.values()) < MOST_BYTES
    scripts = [head for url, (_, head) in loaded.items() if ".js" in url]
    assert {each.get("content-encoding") for each in scripts} == {"gzip"}
    (document,) = [head for url, (_, head) in loaded.items() if url == server.url]
    assert "content-encoding" not in document  # it has a secret token
