"""The server dies under an open page: the page says so, and comes back with its session."""

from __future__ import annotations

import os
import signal

from playwright.sync_api import Page, expect

from tests.browser.dashboard import DONE, Dashboard
from tests.browser.driving import Server, shot, wait_for, wait_until
from tests.browser.test_autosave import ANSWERS, answer, state, without_server
from tests.conftest import ROOT

__all__ = ["state"]  # a fixture


def banner(page: Page):
    return page.get_by_role("alert").filter(has_text="Your answers are kept")


def opened(page: Page, server: Server) -> Dashboard:
    page.goto(server.url)
    return Dashboard(page).settle()


def done(page: Page) -> None:
    """No run is at work. (A session that was kept whole is resumed without a new run.)"""
    expect(page.locator(".hc-bar .status")).to_have_text(DONE)


def refuses(page: Page, watch) -> None:
    """The banner is there 3 s after the loss at most, and what is done now is refused in words."""
    expect(banner(page)).to_be_visible(timeout=3000)
    page.keyboard.press("u")
    expect(banner(page)).to_contain_text("The key U was ignored")
    page.mouse.click(700, 400)
    expect(banner(page)).to_contain_text("Your click was ignored")
    expect(page.locator(".notifications, .notyf__toast")).to_have_count(0)  # not shown twice


def test_a_killed_server_is_seen_and_each_tab_rejoins_with_its_own_session(
    state, serve, new_page, watch
):
    """With ``panel serve``. In ``test_processes.py`` it is ``hcviz serve``."""
    server = serve(ROOT / "app.py", log="lost.log")
    first, second = new_page(), new_page()
    one = opened(first, server)
    answer(one, *ANSWERS[0])
    answer(one, *ANSWERS[1])
    two = opened(second, server)
    answer(two, *ANSWERS[2])
    mine = [each.constraints.all_text_contents() for each in (one, two)]
    for page in (first, second):
        page.evaluate("window.beforeTheLoss = true")
    server.kill()
    refuses(second, watch)
    refuses(first, watch)
    first.set_viewport_size({"width": 820, "height": 900})
    shot(first, "lost-820")
    first.set_viewport_size({"width": 1440, "height": 900})

    serve(ROOT / "app.py", log="back.log", port=server.port)
    for page, dash, sentence in ((first, one, mine[0]), (second, two, mine[1])):
        page.bring_to_front()
        wait_for(page, "() => !window.beforeTheLoss")
        expect(dash.constraints).to_have_count(len(sentence))
        expect(banner(page)).to_have_count(0)
        done(page)
        wait_until(page, lambda d=dash, s=sentence: d.constraints.all_text_contents() == s)
    without_server(watch)
    first.bring_to_front()
    done(first)
    first.keyboard.press("Control+z")  # undo has survived, and nothing pressed meanwhile was done
    expect(one.constraints).to_have_count(1)


def test_a_hanging_server_is_reported_and_the_page_continues(state, serve, new_page, watch):
    server = serve(ROOT / "app.py", log="hangs.log")
    page = new_page()
    dash = opened(page, server)
    answer(dash, *ANSWERS[0])
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        expect(page.get_by_text("The server does not answer.")).to_be_visible(timeout=10_000)
        refuses(page, watch)
        shot(page, "silent-1440")
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    expect(banner(page)).to_have_count(0)
    page.keyboard.press("u")
    expect(dash.constraints).to_have_count(0)
    without_server(watch)


def test_a_server_that_keeps_no_sessions_does_not_promise_to(state, serve, new_page, watch):
    server = serve(None, ["--no-autosave"], log="keeps-nothing.log")
    page = new_page()
    dash = opened(page, server)
    answer(dash, *ANSWERS[0])
    server.kill()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("This server keeps no sessions", timeout=3000)
    expect(banner(page)).to_have_count(0)  # nor that answers are kept
    shot(page, "lost-for-good-1440")
    serve(None, ["--no-autosave"], log="begins-anew.log", port=server.port)
    dash.settle()
    expect(alert).to_have_count(0)
    expect(dash.constraints).to_have_count(0)
    without_server(watch)
