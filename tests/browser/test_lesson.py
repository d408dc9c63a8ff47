"""A lesson on the page: by mouse, by keyboard alone, and step by step from a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import hcviz
from hcviz.metrics.placement import RemovedItem
from tests.browser.dashboard import DONE, Dashboard
from tests.browser.driving import column, wait_still, wait_until

ZOO = hcviz.datasets.load("zoo")


#: The place in a lesson script: step, phase, and whether it is the last one.
FRAME = """player => ({
  step: player.querySelector(".at").textContent,
  phase: player.querySelector(".phases .now")?.textContent ?? "",
  last: player.querySelector("[data-key=p-next]").disabled,
})"""


@pytest.fixture
def zoo(page):
    return Dashboard(page).settle()


def card(dash):
    return dash.page.get_by_role("group", name="Where does it go?")


def item(dash) -> str:
    text = card(dash).locator(".ask").inner_text()
    return re.fullmatch(r"Where does (.+) go\?", text)[1]


def mate(dash) -> str:
    """An item that the truth has beside the one in question."""
    place = ZOO.labels.index(item(dash))
    return ZOO.labels[int(RemovedItem(ZOO.target, place).target_siblings(ZOO.target)[0])]


def find(dash, name: str) -> None:
    dash.press("/")
    dash.page.keyboard.type(name)
    dash.press("Enter")
    expect(dash.sentence).to_contain_text(f"Found {name}")


def test_a_lesson_with_the_mouse_hides_the_truth_and_teaches_the_tree(zoo):
    legend = zoo.page.locator("text=amphibian")
    zoo.menu("Start a lesson")
    expect(card(zoo)).to_be_visible()
    wait_still(zoo.page)
    assert not [text for text in column(zoo.page, "label-text", "text") if text in ("bird", "fish")]
    expect(legend).to_have_count(0)
    zoo.click_label(mate(zoo))
    expect(card(zoo)).to_contain_text("Your guess: beside ")
    zoo.page.get_by_role("button", name="Reveal").click()
    expect(card(zoo)).to_contain_text("Right.")
    expect(zoo.page.locator(".hc-lesson .score")).to_contain_text("1 of 1 right")
    before = item(zoo)
    zoo.page.get_by_role("button", name="Go on").click()
    expect(zoo.constraints).to_have_count(1)
    expect(card(zoo).locator(".ask")).not_to_contain_text(before)
    expect(zoo.page.get_by_role("img", name=re.compile("Triplet distance"))).to_be_visible()
    zoo.page.get_by_role("button", name="End the lesson").click()
    expect(card(zoo)).to_have_count(0)


def test_a_lesson_by_keyboard_alone(zoo):
    zoo.button("File").focus()
    zoo.press("Enter")
    for line in ("Lessons…", "Start a lesson"):
        zoo.page.get_by_role("menuitem", name=line, exact=True).focus()
        zoo.press("Enter")
    expect(card(zoo)).to_be_visible()
    find(zoo, mate(zoo))
    expect(card(zoo)).to_contain_text("Your guess: beside ")
    zoo.press("Enter")
    expect(card(zoo)).to_contain_text("Right.")
    zoo.press("Enter")
    expect(zoo.constraints).to_have_count(1)
    expect(card(zoo)).to_contain_text("It is drawn apart")
    wrong = next(
        name for name in ZOO.labels if name != item(zoo) and name not in mates_of(item(zoo))
    )
    find(zoo, wrong)
    zoo.press("Enter")
    expect(card(zoo)).to_contain_text("Not quite.")
    expect(card(zoo)).to_contain_text("from yours")
    expect(zoo.page.locator(".hc-lesson .score")).to_contain_text("1 of 2 right")


def mates_of(name: str) -> list[str]:
    gap = RemovedItem(ZOO.target, ZOO.labels.index(name))
    return [ZOO.labels[int(each)] for each in gap.target_siblings(ZOO.target)]


def test_a_prepared_lesson_goes_step_by_step_back_and_by_itself(zoo):
    zoo.menu("Zoo (101 animals), step by step")
    steps = zoo.page.get_by_role("group", name="Steps of the lesson")
    expect(steps).to_contain_text("10 steps")
    expect(card(zoo)).to_be_visible()
    find(zoo, mate(zoo))
    zoo.press("Enter")
    expect(card(zoo)).to_contain_text("Right.")
    zoo.press("Enter")
    expect(steps).to_contain_text("Step 1 of 10")
    expect(zoo.constraints).to_have_count(1)
    steps.get_by_role("button", name="Next").click()
    expect(steps).to_contain_text("Step 2 of 10")
    steps.get_by_role("button", name="Back").click()
    expect(steps).to_contain_text("Step 1 of 10")
    steps.get_by_role("button", name="Play").click()
    # Or a later one, where the page was not looked at for a while.
    expect(steps).to_contain_text(re.compile(r"Step ([3-9]|10) of 10"))
    steps.get_by_role("button", name="Pause").click()
    expect(steps.get_by_role("button", name="Play")).to_be_visible()
    expect(zoo.page.get_by_role("img", name=re.compile("Triplet distance"))).to_be_visible()


@pytest.mark.parametrize("size", [(820, 600), (400, 700)])
def test_a_narrow_window_asks_below_the_tree(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    zoo = Dashboard(page).settle()
    zoo.menu("Start a lesson")
    expect(card(zoo).locator(".ask")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Reveal")).to_be_in_viewport(ratio=1)
    tree = page.get_by_role("main")

    def is_below_the_tree() -> bool:
        above, asked = tree.bounding_box(), card(zoo).bounding_box()
        return bool(above and asked) and asked["y"] >= above["y"] + above["height"] - 1

    wait_until(page, is_below_the_tree)
    find(zoo, mate(zoo))
    zoo.press("Enter")
    expect(card(zoo)).to_contain_text("Right.")
    expect(page.get_by_role("button", name="Go on")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="End the lesson").click()
    expect(card(zoo)).to_have_count(0)
    expect(page.get_by_role("complementary", name="Constraints")).to_be_hidden()


def test_a_lesson_script_plays_on_a_projector(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    zoo = Dashboard(page).settle()
    zoo.menu("Linkage by hand")
    player = page.get_by_role("region", name="Lesson: Linkage by hand")
    expect(player.locator(".sentence")).to_contain_text("Five towns lie along a road.")
    size = "node => parseFloat(getComputedStyle(node).fontSize)"
    wait_until(page, lambda: player.locator(".sentence").evaluate(size) >= 20)
    expect(page.get_by_role("complementary", name="Inspector")).to_be_hidden()
    expect(page.locator(".hc-bar .status")).to_have_text(DONE)
    zoo.press("PageDown")
    expect(player.locator(".question")).to_have_text("Which two towns merge first?")
    table = page.locator(".hc-merges svg.table")
    expect(table.locator(".mark")).to_have_count(0)
    player.get_by_role("button", name="Ash and Birch").click()
    player.get_by_role("button", name="Reveal").click()
    expect(player.get_by_role("button", name="Dale and Elm, right")).to_be_visible()
    expect(player.get_by_role("button", name="Ash and Birch, wrong")).to_contain_text("prediction")
    expect(table.locator(".number.marked")).to_have_text("1")
    expect(page.locator(".hc-merges .branch.last")).to_be_in_viewport()
    for part in (player.locator(".reveal"), table, player.get_by_role("button", name="Next")):
        expect(part).to_be_in_viewport(ratio=1)
    zoo.press("ArrowRight")
    expect(player).to_contain_text("How far is Cedar from both together?")
    zoo.press("PageUp", "ArrowLeft")
    expect(player.get_by_role("button", name="Reveal")).to_be_visible()
    expect(player.locator(".question")).to_have_text("Which two towns merge first?")
    expect(table.locator(".mark")).to_have_count(0)
    following = player.locator("[data-key=p-next]")
    frame = player.evaluate(FRAME)
    while not frame["last"]:
        before = frame
        following.click()
        wait_until(page, lambda before=before: player.evaluate(FRAME) != before)
        frame = player.evaluate(FRAME)
    expect(player).to_contain_text("Step 8 of 8")
    expect(page.locator(".hc-merges")).to_contain_text("merge at 6.")
    with page.expect_download() as saved:
        player.get_by_role("button", name="Save script").click()
    text = Path(saved.value.path()).read_text()
    player.get_by_role("button", name="End the lesson").click()
    expect(player).to_have_count(0)
    expect(page.get_by_role("complementary", name="Inspector")).to_be_visible()
    with page.expect_file_chooser() as waiting:
        zoo.menu("Open a lesson script…")
    mine = text.replace("# Linkage by hand", "# My towns").encode()
    waiting.value.set_files([{"name": "mine.md", "mimeType": "text/markdown", "buffer": mine}])
    expect(page.get_by_role("region", name="Lesson: My towns")).to_be_visible()


def test_a_conflict_of_a_lesson_is_read_without_scrolling(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    zoo = Dashboard(page).settle()
    zoo.menu("Conflicts")
    player = page.get_by_role("region", name="Lesson: Conflicts")
    conflict = page.locator(".conflict-card")
    following = player.locator("[data-key=p-next]")
    frame = player.evaluate(FRAME)
    while not player.get_by_text("Why is the sentence about the fox").count():
        before = frame
        following.click()
        wait_until(page, lambda before=before: player.evaluate(FRAME) != before)
        frame = player.evaluate(FRAME)
    expect(conflict).to_be_in_viewport(ratio=1)
    expect(conflict.get_by_text("Leave the new answer switched off")).to_be_hidden()
    conflict.get_by_text("What to do").click()
    expect(conflict.get_by_text("Leave the new answer switched off")).to_be_visible()
