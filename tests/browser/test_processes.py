"""Two servers behind one address share sessions through the state folder.

A proxy keeps each browser with one of them. If that one is killed, the other one continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import Server, Watch, wait_for, wait_until
from tests.browser.test_autosave import ANSWERS, answer, state, without_server
from tests.ports import free_port
from tests.sticky_proxy import StickyProxy

__all__ = ["state"]  # a fixture
PASSWORD = "correct horse"


@pytest.fixture
def two_servers(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[StickyProxy, list[Server]]]:
    ports = [free_port(), free_port()]
    proxy = StickyProxy(ports)
    for name in ("BOKEH_SECRET_KEY", "PANEL_COOKIE_SECRET"):
        monkeypatch.setenv(name, "the same for both servers")
    monkeypatch.setenv("HCVIZ_PASSWORD", PASSWORD)
    options = ["--public", "--address", "127.0.0.1", "--origin", f"127.0.0.1:{proxy.port}"]
    servers = [Server(None, options, f"process-{port}.log", port) for port in ports]
    try:
        for each in servers:
            each.wait()
        yield proxy, servers
    finally:
        proxy.stop()
        for each in servers:
            each.stop()


def test_a_browser_moves_to_the_other_server_when_its_own_is_killed(
    two_servers: tuple[StickyProxy, list[Server]], new_page: Callable[[], Page], watch: Watch
) -> None:
    proxy, servers = two_servers
    page = new_page()
    page.goto(f"http://127.0.0.1:{proxy.port}/")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    dashboard = Dashboard(page).settle()
    answer(dashboard, *ANSWERS[0])
    answer(dashboard, *ANSWERS[1])
    mine = dashboard.constraints.all_text_contents()
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    own = int(cookies["hcviz-process"])
    page.evaluate("window.beforeTheLoss = true")
    servers[own].kill()

    wait_for(page, "() => !window.beforeTheLoss")
    wait_until(page, lambda: dashboard.constraints.all_text_contents() == mine)
    expect(page.locator(".hc-bar .status")).to_have_text("Done")
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    assert int(cookies["hcviz-process"]) == 1 - own
    page.keyboard.press("Control+z")
    expect(dashboard.constraints).to_have_count(1)
    without_server(watch)
