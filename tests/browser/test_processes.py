"""``hcviz serve --processes 2``: two servers share sessions through the state folder.

A cookie keeps each browser with one of them. If that one is killed, the other one continues.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import DONE, Dashboard
from tests.browser.driving import Server, Watch, wait_for, wait_until
from tests.browser.test_autosave import ANSWERS, answer, state, without_server

__all__ = ["state"]  # a fixture
PASSWORD = "correct horse"


def servers_of(parent: int) -> list[int]:
    """Process ids of the servers, in the order of their numbers."""
    found = []
    for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes():
                found.append(int(each))
    return sorted(found)


def test_a_browser_moves_to_the_other_server_when_its_own_is_killed(
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[..., Server],
    new_page: Callable[[], Page],
    watch: Watch,
) -> None:
    monkeypatch.setenv("HCVIZ_PASSWORD", PASSWORD)
    server = serve(None, ["--public", "--address", "127.0.0.1", "--processes", "2"], "two.log")
    page = new_page()
    wait_until(page, lambda: len(servers_of(server.process.pid)) == 2)
    servers = servers_of(server.process.pid)
    page.goto(server.url)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    dashboard = Dashboard(page).settle()
    answer(dashboard, *ANSWERS[0])
    answer(dashboard, *ANSWERS[1])
    mine = dashboard.constraints.all_text_contents()
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    own = int(cookies["hcviz-process"])
    page.evaluate("window.beforeTheLoss = true")
    os.kill(servers[own], signal.SIGKILL)

    wait_for(page, "() => !window.beforeTheLoss")
    wait_until(page, lambda: dashboard.constraints.all_text_contents() == mine)
    expect(page.locator(".hc-bar .status")).to_have_text(DONE)
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    assert int(cookies["hcviz-process"]) == 1 - own
    page.keyboard.press("Control+z")
    expect(dashboard.constraints).to_have_count(1)
    restarted = re.compile(rf"server {own + 1} ended .* is started again")
    wait_until(page, lambda: restarted.search(server.log.read_text()))
    wait_until(page, lambda: len(servers_of(server.process.pid)) == 2)
    assert servers[own] not in servers_of(server.process.pid)
    without_server(watch)
