"""The section of similarity queries: the query mask, the counts, and the slider for s."""

from __future__ import annotations

import re
from itertools import dropwhile
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from hcviz.algorithms import get
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.problem import Problem
from hcviz.core.similarity_oracles import oracle_of
from hcviz.datasets import load
from tests.browser.dashboard import Dashboard
from tests.browser.driving import (
    Server,
    box_at_rest,
    columns,
    pixel,
    wait_for,
    wait_still,
    wait_until,
)

#: Levels of the mask's texels, 255 where everything is known.
LEVELS = """() => {
  const mask = Bokeh.documents[0].get_model_by_name("query-mask")
  return mask && mask.data.image.length ? Array.from(mask.data.image[0]) : []
}"""


@pytest.fixture
def page(blank):
    """Empty: each test here opens an address of its own."""
    return blank


def opened(page: Page, server, query: str) -> Dashboard:
    page.goto(f"{server.url}?{query}")
    return Dashboard(page).settle()


def section(page: Page):
    return page.locator(".section-queries")


def asked_pairs(page: Page):
    facts = section(page).get_by_role("list", name="What was asked for")
    return facts.locator("li", has_text="Pairs asked for").locator("b")


def asked_for(page: Page) -> int:
    """The pairs asked for, as the section tells them."""
    expect(asked_pairs(page)).to_have_text(re.compile(r"^[\d,]+$"))
    return int(asked_pairs(page).inner_text().replace(",", ""))


def wait_for_mask(page: Page) -> None:
    wait_for(page, f"() => ({LEVELS})().length > 0")


def wait_for_levels(page: Page, levels: np.ndarray) -> None:
    """Wait until the mask is this one; at 255, all is known of a pair."""
    wait_for(page, f"all => ({LEVELS})().join() === all.join()", levels.ravel().tolist())


def masked(dashboard: Dashboard, **params: object) -> tuple[np.ndarray, int]:
    """What a run of the page's asks for, by an oracle that counts: the mask in the order of the
    page, with the diagonal, and the distinct pairs."""
    method, zoo = get("active-spectral"), load("zoo")
    run = int(dashboard.page.locator(".hc-bar .status").get_attribute("data-run") or -1)
    oracle = CountingOracle(oracle_of(zoo.problem()), cache=0)
    problem = Problem(labels=zoo.labels, oracle=oracle)
    rng = np.random.default_rng(np.random.SeedSequence((0, run)))
    for _ in method.run(problem, method.parameters(**params), rng, None):
        pass
    names, rows = columns(dashboard.page, "label-text", "text", "y")
    order = [zoo.labels.index(names[k]) for k in np.argsort(rows)[::-1]]
    assert sorted(order) == list(range(101))
    return oracle.mask(order, 101) + np.eye(101), oracle.queries


def test_it_is_dark_where_nothing_was_asked(page, server):
    dashboard = opened(page, server, "data=zoo&method=active-spectral")
    wait_for_mask(page)
    wait_still(page)
    mask, queries = masked(dashboard)
    assert queries < 101 * 100 // 2
    expect(asked_pairs(page)).to_have_text(f"{queries:,}")
    levels = np.where(mask > 0, 255, 0)
    wait_for_levels(page, levels)

    dark = np.argwhere(levels == 0)[0]
    known = np.argwhere((levels == 255) & ~np.eye(101, dtype=bool))[0]
    tip = page.locator(".hc-tip")
    for (row, at), words in ((dark, "not asked for"), (known, "asked for")):
        page.mouse.move(*pixel(page, "heat", at + 0.5, -(row + 0.5)))
        expect(tip).to_contain_text(re.compile(rf"similarity [^\n]*\n{words}$"))

    # Colours on the screen: the mask leaves the dark cell a tenth of its light.
    def light(row: int, at: int) -> float:
        x, y = pixel(page, "heat", at + 0.5, -(row + 0.5))
        raw = page.screenshot(clip={"x": x - 1, "y": y - 1, "width": 2, "height": 2})
        from io import BytesIO

        from PIL import Image

        return float(np.asarray(Image.open(BytesIO(raw)).convert("RGB")).mean())

    switch = section(page).get_by_role("checkbox", name="Darken what was not asked for")
    expect(switch).to_be_checked()
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    wait_still(page)
    under = light(*dark)
    switch.focus()
    page.keyboard.press("Space")
    wait_for(page, f"() => ({LEVELS})().length === 0")
    wait_until(page, lambda: light(*dark) > under + 20)
    switch.press("Space")
    wait_for_mask(page)
    expect(switch).to_be_focused()
    wait_for_levels(page, levels)


def test_the_slider_stays_in_place_when_the_text_above_grows(page, server):
    dashboard = opened(page, server, "data=zoo&method=active-spectral")
    wait_for_mask(page)
    expect(section(page)).to_contain_text(
        "by level"
    )  # computed in the background, and above the slider
    slider = page.get_by_role("slider", name="Sampled, s")
    slider.scroll_into_view_if_needed()
    wait_still(page)
    before = box_at_rest(page, slider)["y"]
    for key in ("Home", "PageUp"):
        slider.press(key)
        dashboard.settle()
        expect(page.locator(".hc-inspector h3").first).to_have_text(re.compile("^[0-9]+ new$"))
        # The section itself may tell more above the slider: a line or two.
        wait_until(page, lambda: abs(slider.bounding_box()["y"] - before) < 40)


def test_fewer_are_asked_for_at_a_smaller_s_and_undo_brings_the_mask_back(page, server):
    dashboard = opened(page, server, "data=zoo&method=active-spectral")
    wait_for_mask(page)
    wait_still(page)
    many, before = asked_for(page), page.evaluate(LEVELS)
    slider = page.get_by_role("slider", name="Sampled, s")
    expect(slider).to_have_attribute("aria-valuetext", "s = 37")  # 8 ln 101
    slider.focus()
    page.keyboard.press("Home")
    dashboard.settle()
    expect(slider).to_have_attribute("aria-valuetext", "s = 10")  # 2 ln 101
    expect(page.locator(".hc-form").get_by_label("Sample size s", exact=True)).to_have_value("10")
    mask, queries = masked(dashboard, s=10)
    assert queries < many
    expect(asked_pairs(page)).to_have_text(f"{queries:,}")
    wait_for_levels(page, np.where(mask > 0, 255, 0))

    trials = section(page).locator("circle.point")
    expect(trials).to_have_count(2)
    expect(trials.first).to_have_attribute("aria-label", re.compile("^s = 10: "))
    page.get_by_role("button", name="Undo").click()
    expect(slider).to_have_attribute("aria-valuetext", "s = 37")
    expect(asked_pairs(page)).to_have_text(f"{many:,}")
    wait_for_levels(page, np.array(before))
    expect(trials).to_have_count(2)  # what was undone was tried all the same
    trials.first.press("Enter")
    dashboard.settle()
    expect(slider).to_have_attribute("aria-valuetext", "s = 10")
    slider.press("End")
    dashboard.settle()
    expect(asked_pairs(page)).to_have_text(f"{101 * 100 // 2:,}")
    expect(section(page)).to_contain_text("All similarities are asked for.")
    wait_for(page, f"() => ({LEVELS})().every(x => x === 255)")


def test_only_methods_that_ask_have_it(page, server):
    dashboard = opened(page, server, "data=zoo&method=active-kmeans")
    wait_for_mask(page)
    dashboard.choose("method", "average")
    dashboard.settle()
    expect(section(page)).to_have_count(0)
    wait_for(page, f"() => ({LEVELS})().length === 0")
    dashboard.choose("data", "noisy-blocks")
    dashboard.settle()
    dashboard.choose("method", "heurspec")
    dashboard.settle()
    wait_for(page, f"() => ({LEVELS})().length === 512 * 512")
    expect(
        section(page).get_by_role("list", name=re.compile("by level")).locator("li")
    ).to_have_count(5)


@pytest.fixture(scope="module")
def slow():
    server = Server(Path(__file__).parent / "slow_app.py", log="slow.log")
    try:
        server.wait()
        yield server
        assert not server.faults(), server.faults()
    finally:
        server.stop()


def test_the_mask_lightens_during_the_run(slow, new_page):
    page = new_page()
    page.goto(slow.url)
    dashboard = Dashboard(page).settle()
    page.evaluate(
        f"""() => {{
          const mask = Bokeh.documents[0].get_model_by_name("query-mask")
          const known = () => ({LEVELS})().filter(level => level === 255).length
          window.known = []
          mask.properties.data.change.connect(() => window.known.push(known()))
        }}"""
    )
    wait_for_mask(page)
    final = page.evaluate(LEVELS).count(255)
    for _ in range(5):  # a page that is busy sees less of a run
        before = final
        page.evaluate("() => { window.known = [] }")
        dashboard.button("Run").click()
        dashboard.settle()
        seen, levels = page.evaluate(f"() => [window.known.filter(Boolean), ({LEVELS})()]")
        final = levels.count(255)
        assert seen[-1] == final
        # the picture of the run before may have been drawn once more
        seen = list(dropwhile(lambda count, old=before: count == old, seen))
        assert seen == sorted(seen)
        if len({count for count in seen if count < final}) >= 2:
            break
    else:
        pytest.fail("nothing was seen of a run before its end")
    # both ways round, and the diagonal
    wait_until(page, lambda: final == 2 * asked_for(page) + 200)


def test_a_key_held_down_through_a_run_counts_every_step(slow, new_page):
    page = new_page()
    page.goto(slow.url)
    dashboard = Dashboard(page).settle()
    slider = page.get_by_role("slider", name="Sampled, s")
    slider.focus()
    slider.press("Home")
    dashboard.settle()
    expect(slider).to_have_value("0")
    page.evaluate(
        """() => {
          const inside = node => [node, ...[...node.querySelectorAll("*")].flatMap(x =>
            x.shadowRoot ? inside(x.shadowRoot) : [])]
          const part = inside(document).map(x => x.querySelector?.(".hc-sections")).find(Boolean)
          window.repaints = 0
          new MutationObserver(() => window.repaints++).observe(part, { childList: true })
        }"""
    )
    for step in range(1, 9):
        before = page.evaluate("() => window.repaints")
        page.keyboard.down("ArrowRight")  # again and again without an up: as a held key repeats
        assert slider.input_value() == str(step)
        if step % 4:
            page.wait_for_timeout(60)
        else:  # now and then it waits for the step to be sent, and its run to begin
            wait_for(page, "before => window.repaints > before", before)
    page.keyboard.up("ArrowRight")
    dashboard.settle()
    expect(slider).to_have_value("8")
    expect(slider).to_be_focused()
    value_text = slider.get_attribute("aria-valuetext")
    expect(page.locator(".hc-form").get_by_label("Sample size s", exact=True)).to_have_value(
        value_text.removeprefix("s = ")
    )
    slider.press("ArrowLeft")  # and the next step starts from there
    expect(slider).to_have_value("7")
    dashboard.settle()
    expect(slider).to_have_value("7")
    field = page.locator(".hc-form").get_by_label("Sample size s", exact=True)
    page.keyboard.press("Control+z")
    expect(slider).to_have_value("8")
    expect(field).to_have_value(value_text.removeprefix("s = "))
    slider.press("ArrowLeft")
    page.keyboard.press("Control+z")  # before it is sent, or after: it is undone
    expect(slider).to_have_value("8")
    page.wait_for_timeout(400)  # twice what a step waits to be sent
    expect(slider).to_have_value("8")
    expect(field).to_have_value(value_text.removeprefix("s = "))


@pytest.fixture
def quick(monkeypatch, tmp_path) -> Path:
    """With this file the function answers quickly: the first run does not end before it is seen."""
    monkeypatch.setenv("HCVIZ_TEST_QUICK", str(tmp_path / "quick"))
    return tmp_path / "quick"


@pytest.fixture
def own(serve, quick):
    return serve(Path(__file__).parent / "function_app.py", log="function.log")


#: Levels of the heatmap's texels, 255 where nothing is known.
CELLS = """() => Array.from(
  Bokeh.documents[0].get_model_by_name("heat").renderers[0].data_source.data.image[0])"""


def calls(server) -> int:
    """How often the function was called, as it says itself."""
    return server.log.read_bytes().count(b"CALL ")


def test_a_custom_function_is_queried_by_runs_only(own, quick, new_page):
    """The first answers are shown before the first division is over. A run that is stopped leaves
    its answers to the next."""
    page = new_page()
    page.goto(own.url)
    dashboard = Dashboard(page)
    status = page.locator(".hc-bar .status")
    branches = page.locator(".hc-inspector dl").locator(
        "xpath=.//dt[text()='Branches']/following-sibling::dd[1]"
    )
    expect(branches).to_have_text("1")  # a star: nothing is divided yet
    expect(status).to_have_text(re.compile(r"^Running · \d+ of "))
    first = asked_for(page)
    wait_until(page, lambda: asked_for(page) > first)
    dashboard.button("Cancel").click()
    expect(status).to_have_text("Cancelled")
    diagonal = np.eye(80, dtype=bool).ravel()

    def is_drawn() -> bool:
        """What was asked for is drawn."""
        known, cells = (np.array(each) for each in page.evaluate(f"[({LEVELS})(), ({CELLS})()]"))
        if known.shape != cells.shape or (known == 255).sum() != 80 + 2 * asked_for(page):
            return False
        return not ((known == 255) & (cells == 255) & ~diagonal).any()

    wait_until(page, is_drawn)
    before = calls(own)
    page.wait_for_timeout(500)
    assert calls(own) < before + 100  # a request may still be under way

    quick.touch()
    dashboard.button("Run").click()
    dashboard.settle()
    pairs = asked_for(page)
    page.wait_for_timeout(500)
    after = calls(own)
    assert pairs <= after < 80 * 79 // 2  # and some that the first run had asked for, no picture
    drawn = 80 + 2 * (after - 16)  # the answers of both runs; 16 were tried both ways
    wait_for(page, f"drawn => ({CELLS})().filter(x => x !== 255).length === drawn", drawn)
