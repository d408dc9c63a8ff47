"""The server dies in the middle of a run; nothing that was answered is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import hcviz
from hcviz.io.session_file import load_session
from hcviz.session import actions as act
from tests.browser.dashboard import Dashboard
from tests.conftest import ROOT

LABELS = hcviz.datasets.load("zoo").labels
#: Never over before it is killed.
FOREVER = 10**9
ANSWERS = [
    (["dolphin", "tuna"], "wolf"),
    (["carp", "gnat"], "bear"),
    (["crab", "hawk"], "flea"),
]


@pytest.fixture
def state(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("HCVIZ_STATE", str(folder))
    return folder


def offer(page: Page):
    return page.get_by_role("region", name="Unfinished session")


def saved(dash: Dashboard):
    return load_session(Path(dash.save("Session").path()).read_bytes())


def logged_actions(session):
    """All that happened but the ends of runs, of which only those that were whole are kept."""
    ends = (act.Finished, act.Stopped)
    return [each.action for each in session.log if not isinstance(each.action, ends)]


def statements(session):
    return [(c.group, c.apart, c.enabled) for c in session.constraints]


def named(answers):
    return [
        (tuple(LABELS.index(name) for name in group), LABELS.index(apart), True)
        for group, apart in answers
    ]


def working(page: Page) -> None:
    """Until a run is at work and its trees arrive."""
    status = page.locator(".hc-bar .status")
    expect(status).to_have_text(re.compile(r"Running · [\d,]+ of"))


def answer(dash: Dashboard, group: list[str], apart: str) -> None:
    before = dash.constraints.count()
    dash.add_constraint(group, apart)
    dash.press("Enter")
    expect(dash.constraints).to_have_count(before + 1)
    dash.settle()


def without_server(watch) -> None:
    """A page whose server is dead says so on its console: forget just that."""
    watch.faults[:] = [
        each
        for each in watch.faults
        if not re.search("WebSocket|ERR_CONNECTION_(REFUSED|RESET)|Lost websocket|connect", each)
    ]


def test_killed_in_the_middle_of_a_run_and_resumed_with_no_answer_lost(
    state, serve, new_page, watch
):
    server = serve(ROOT / "app.py", log="killed.log")
    page = new_page()
    page.goto(server.url)
    dash = Dashboard(page).settle()
    expect(offer(page)).to_be_empty()
    for group, apart in ANSWERS:
        answer(dash, group, apart)
    dash.press("u")  # the last is taken back: redo must survive, too
    expect(dash.constraints).to_have_count(2)
    before = saved(dash)
    dash.press("u")
    expect(dash.constraints).to_have_count(1)
    page.keyboard.press("Control+y")
    expect(dash.constraints).to_have_count(2)
    page.get_by_label("Steps", exact=True).fill(str(FOREVER))
    dash.press("Enter")
    working(page)
    server.kill()

    serve(ROOT / "app.py", log="resumed.log", port=server.port)
    expect(dash.sentence).to_contain_text("Resumed")  # by itself: the tab knows its session
    without_server(watch)  # the page's own reload has ended what could say so
    expect(dash.constraints).to_have_count(2)
    expect(offer(page)).to_be_empty()
    working(page)
    after = saved(dash)
    assert statements(after) == statements(before) == named(ANSWERS[:2])
    assert after.params["steps"] == FOREVER
    assert logged_actions(after)[: len(logged_actions(before))] == logged_actions(before)
    kinds = [type(each).__name__ for each in logged_actions(after)[len(logged_actions(before)) :]]
    # The file was saved during a run: it holds the session at rest, which is the last entry.
    end = ["RunInterrupted", "RerunInterrupted", "RunInterrupted"]
    assert kinds == ["Undo", "Redo", "SetParams", *end]
    labels = [point.label for point in before.past]
    steps = f"Parameters: steps = {FOREVER}"
    assert [point.label for point in after.past] == [*labels, steps]
    for count in (2, 1, 0):  # what started the last run, then answer by answer
        page.keyboard.press("Control+z")
        expect(dash.constraints).to_have_count(count)


def test_another_browser_is_offered_nothing_and_a_reload_is(state, serve, browser, new_page):
    server = serve(ROOT / "app.py", log="reload.log")
    page = new_page()
    page.goto(server.url)
    dash = Dashboard(page).settle()
    answer(dash, *ANSWERS[0])
    stranger = browser.new_context()
    elsewhere = stranger.new_page()
    page.reload()
    expect(offer(page)).to_contain_text("1 answer,")
    Dashboard(page).settle()
    tree, bar = page.locator("main").bounding_box(), offer(page).bounding_box()
    assert tree["y"] + tree["height"] <= bar["y"]  # it covers no row of the tree
    elsewhere.goto(server.url)
    Dashboard(elsewhere).settle()
    expect(offer(elsewhere)).to_be_empty()
    stranger.close()
    page.get_by_role("button", name="Discard", exact=True).click()
    expect(offer(page)).to_be_empty()
    page.reload()
    Dashboard(page).settle()
    (visitor,) = (each for each in page.context.cookies() if each["name"] == "hcviz-visitor")
    assert (visitor["httpOnly"], visitor["sameSite"]) == (True, "Lax")
    assert "hcviz-visitor" not in page.evaluate("document.cookie")
    expect(offer(page)).to_be_empty()
    assert not list(state.glob("sessions/*/*/log-*"))
