"""The tools of the browser tests click the right pixel, and notice each fault of a page."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path

import pytest

from tests.browser.conftest import WINDOW
from tests.browser.driving import Server, Watch, click, column, ranges, shot, wait_for, wait_idle


@pytest.fixture(scope="module")
def tiny():
    server = Server(Path(__file__).parent / "tiny_app.py", log="tiny.log")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def test_a_click_lands_on_the_data_point_it_was_meant_for(tiny, new_page):
    page = new_page()
    page.goto(tiny.url)
    wait_idle(page)
    assert ranges(page, "plot") == (0, 10, 0, 10)
    click(page, "plot", 7, 2.5)
    wait_for(page, "() => Bokeh.documents[0].get_model_by_name('points').data.x.length == 3")
    assert column(page, "points", "x")[2] == pytest.approx(7, abs=0.03)  # a pixel is 0.03 wide
    assert column(page, "points", "y")[2] == pytest.approx(2.5, abs=0.05)
    assert shot(page, "tiny").stat().st_size > 1000
    assert not tiny.faults()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("fetch('http://example.invalid/x').catch(() => 0)", "foreign host"),
        ("new WebSocket('ws://example.invalid/x')", "foreign host"),
        ("console.error('a complaint')", "a complaint"),
        ("setTimeout(() => { throw new Error('a fault') })", "a fault"),
    ],
)
def test_a_page_that_misbehaves_is_noticed(script, message, tiny, browser):
    watch = Watch()
    context = browser.new_context(viewport=WINDOW)
    watch.over_context(context)
    page = context.new_page()
    page.goto(tiny.url)
    wait_idle(page)
    assert not watch.faults
    page.evaluate(f"() => {{ {script} }}")
    until = time.monotonic() + 60
    while not watch.faults and time.monotonic() < until:
        page.wait_for_timeout(10)  # lets Playwright hand its events over
    context.close()
    assert message in " ".join(watch.faults)


def test_errors_in_the_server_s_log_are_noticed(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise RuntimeError('no page here')\n")
    server = Server(broken, log="broken.log")
    try:
        server.wait()
        with urllib.request.urlopen(server.url) as answer:
            answer.read()
        until = time.monotonic() + 60  # the log may be written after the page is answered
        while "no page here" not in server.faults() and time.monotonic() < until:
            time.sleep(0.05)
        assert "no page here" in server.faults()
    finally:
        server.stop()
    assert server.process.returncode is not None
