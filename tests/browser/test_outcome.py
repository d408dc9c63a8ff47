"""What an answer did: the pulse of its way, and the sentence after the run."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from hcviz.ui.tree.bare_figure import PULSE_MS
from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_for

#: Keeps what the pulsing lines look like at each of their frames.
WATCH = """() => {
  const source = Bokeh.documents[0].get_model_by_name("pulse-lines")
  window.beats = []
  source.change.connect(() => {
    const { xs, alpha } = source.data
    if (alpha.length) window.beats.push([performance.now(), xs.length, alpha[0]])
  })
}"""
#: Lets the lines that are there pulse once more.
AGAIN = """() => {
  Bokeh.documents[0].get_model_by_name("pulse-lines").properties.data.change.emit()
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_path_of_an_answer_pulses_once_and_the_footer_lists_changes(page, motion):
    page.emulate_media(reduced_motion=motion)
    dashboard = Dashboard(page).settle()
    page.evaluate(WATCH)
    dashboard.add_constraint(["slug", "carp"], "worm")  # slug and worm are in three of four trees
    dashboard.press("Enter")
    dashboard.settle()
    expect(dashboard.sentence).to_have_text(
        re.compile(
            r"^Done\. The constraint holds\. (\d+ clades?|No clade) changed, \d+ lost support"
            r"(; the supports are still settling)?\.$"
        )
    )
    wait_for(page, "() => window.beats.length && window.beats.at(-1)[2] === 0")
    beats = page.evaluate("window.beats")
    assert {lines for _, lines, _ in beats} == {2}  # the group's way, and the odd one out's
    levels = [level for _, _, level in beats]
    zero = levels.index(0)
    assert set(levels[zero:]) == {0}  # it did not begin again
    assert 1000 <= PULSE_MS <= 1500  # about a second ...
    assert beats[zero][0] - beats[0][0] > PULSE_MS - 100  # ... at least: a browser may be busy
    if motion == "reduce":
        assert set(levels) == {1, 0}
    else:  # again and again, where it hardly comes to draw
        for _ in range(20):
            if len({round(level, 2) for _, _, level in page.evaluate("window.beats")}) > 4:
                break
            page.evaluate(AGAIN)
            wait_for(page, "() => window.beats.at(-1)[2] === 0")
        else:
            pytest.fail("the pulse does not fade")
    dashboard.press("u")
    expect(dashboard.sentence).not_to_contain_text("changed")


def test_the_uncertainty_is_a_separate_heatmap(page):
    dashboard = Dashboard(page).settle()
    button = page.get_by_role("button", name="Uncertainty", exact=True)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("variance of the LCA's depth")).to_be_visible()
    dashboard.choose("method", "average")
    dashboard.settle()
    expect(button).to_be_hidden()  # the tools have too little room for what cannot be chosen
    expect(page.get_by_text("variance of the LCA's depth")).to_be_hidden()
    dashboard.press("u")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("variance of the LCA's depth")).to_be_visible()
