"""A browser that sleeps for an hour: its connection and the server's session end meanwhile."""

from __future__ import annotations

from playwright.sync_api import expect

from hcviz.io.lock import is_locked
from tests.browser.dashboard import DONE, Dashboard
from tests.browser.driving import shot, wait_for, wait_until
from tests.browser.test_autosave import ANSWERS, answer, state, without_server
from tests.conftest import ROOT

__all__ = ["state"]  # a fixture

HOUR = 3600 * 1000


def test_a_page_that_slept_for_an_hour_has_its_session_back(state, serve, new_page, watch):
    server = serve(ROOT / "app.py", log="asleep.log")
    page, sockets = new_page(), []

    def pass_on(socket):
        sockets.append((socket, socket.connect_to_server()))

    page.route_web_socket("**/ws*", pass_on)
    page.clock.install()
    page.goto(server.url)
    dash = Dashboard(page).settle()
    answer(dash, *ANSWERS[0])
    answer(dash, *ANSWERS[1])
    mine = dash.constraints.all_text_contents()
    page.evaluate("window.beforeTheSleep = true")

    page.clock.pause_at(page.evaluate("Date.now()") + 1000)  # no timer runs from here on
    for socket, behind in sockets:
        behind.close()
        socket.close()
    locks = list(state.rglob("lock"))
    assert locks
    wait_until(page, lambda: not any(map(is_locked, locks)))  # the server's session is over
    shot(page, "asleep-1440")
    page.clock.fast_forward(HOUR)
    page.clock.resume()

    wait_for(page, "() => !window.beforeTheSleep")
    expect(dash.constraints).to_have_count(len(mine))
    # The tree that was saved may be of an older answer: it is run again.
    wait_until(page, lambda: dash.constraints.all_text_contents() == mine)
    expect(page.locator(".hc-bar .status")).to_have_text(DONE)
    expect(page.get_by_role("alert").filter(has_text="Your answers are kept")).to_have_count(0)
    shot(page, "awake-1440")
    without_server(watch)
