"""Contradictions of each size, what can be done about them, and why a split is as it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, columns, wait_for, wait_until

HEAD = "together_1,together_2,apart\n"
ANIMALS = ("wolf", "lion", "boar", "deer", "oryx", "hare")
MARKS = """() => {
  const figure = Bokeh.documents[0].get_model_by_name("labels")
  const marks = figure.renderers.map((r) => r.data_source).find((s) => s && "shape" in s.data)
  return Array.from(marks.data.y)
}"""
#: True if two cards are side by side.
BESIDE = """([one, other]) => {
  const [left, right] = [one, other].map(each => each.getBoundingClientRect())
  return Math.abs(left.y - right.y) <= 1 && left.right <= right.left
}"""


@pytest.fixture
def zoo(server, new_page):
    page = new_page()
    page.goto(f"{server.url}?data=zoo&method=crsc")
    return Dashboard(page).settle()


def chain(zoo, tmp_path, length):
    """Answers that lead from the wolf to another, and one that then cannot be."""
    some = ANIMALS[: length + 1]
    rows = [f"{a},{b},crow" for a, b in pairwise(some)]
    path = tmp_path / "chain.csv"
    path.write_text(HEAD + "\n".join([*rows, f"{some[-1]},crow,wolf"]) + "\n")
    zoo.open("Constraints (CSV)…", path)
    card = zoo.page.locator(".hc-constraints .conflict-card")
    expect(card).to_be_visible()  # no run: what can be kept is true of the tree already
    return card


def test_two_sentences_side_by_side_and_undone(zoo, tmp_path):
    page = zoo.page
    card = chain(zoo, tmp_path, 1)
    answers = card.locator(".answers.two .answer")
    expect(answers).to_have_count(2)
    wait_until(page, lambda: answers.evaluate_all(BESIDE))
    names, rows = columns(page, "label-text", "text", "y")
    assert page.evaluate(MARKS) == []
    answers.nth(0).get_by_role("button", name="lion").hover()
    wait_until(page, lambda: page.evaluate(MARKS) == [rows[names.index("lion")]])
    answers.nth(1).get_by_role("button", name="crow").focus()  # as well by keyboard
    wait_until(page, lambda: page.evaluate(MARKS) == [rows[names.index("crow")]])
    card.get_by_role("heading").hover()
    wait_until(page, lambda: page.evaluate(MARKS) == [])
    card.get_by_role("button", name="Undo").click()
    expect(card).to_have_count(0)
    expect(zoo.constraints).to_have_count(0)


def test_three_answers_with_their_leaves_and_one_switched_off(zoo, tmp_path):
    card = chain(zoo, tmp_path, 3)
    expect(card.locator(".answer")).to_have_count(4)
    expect(card.locator(".chip")).to_have_count(12)
    card.get_by_role("button", name="Keep the new answer, switch off: boar + deer").press("Enter")
    zoo.settle()
    expect(card).to_have_count(0)
    expect(zoo.page.locator(".hc-constraints .tag.satisfied")).to_have_count(3)


def test_a_large_one_is_a_graph_and_can_be_weighed(zoo, tmp_path):
    page = zoo.page
    card = chain(zoo, tmp_path, 5)
    expect(card.locator(".answer")).to_have_count(0)
    card.locator("summary", has_text="The 5 earlier answers").click()
    for key, drafts in (("t", 1), ("Escape", 0)):  # the panel is drawn again
        zoo.press(key)
        expect(page.locator(".hc-constraints .draft")).to_have_count(drafts)
        expect(card.locator("details").first).to_have_attribute("open", "")
    card.get_by_role("button", name="Show the graph").click()
    sheet = page.locator(".hc-ahograph")
    expect(sheet).to_contain_text("hold wolf - lion - boar - deer - oryx - hare together")
    expect(sheet.get_by_role("button", name="Keep the new answer")).to_have_count(5)
    drawn = """() => {
      for (const model of Bokeh.documents[0]._all_models.values())
        if (model.type === "GraphRenderer")
          return [model.node_renderer, model.edge_renderer].map((r) => r.data_source.get_length())
      return null
    }"""
    wait_for(page, f"() => ({drawn})() !== null")
    wait_until(page, lambda: page.evaluate(drawn) == [7, 6])
    wait_until(page, lambda: sheet.bounding_box()["height"] > 500)
    sheet.get_by_role("button", name="Treat constraints as soft").click()
    zoo.settle()
    expect(page.get_by_label("method", exact=True)).to_have_value("hrsc")
    expect(page.locator(".hc-constraints .conflict-card")).to_have_count(0)
    expect(page.locator(".hc-constraints input[type=checkbox]:checked")).to_have_count(6)


def test_why_a_split_is_as_it_is(zoo, tmp_path):
    page = zoo.page
    chain(zoo, tmp_path, 2)
    zoo.button("Leave the new answer switched off").click()
    zoo.click_above("wolf", 1.01)
    section = page.locator(".section-explanation")
    expect(section).to_contain_text("Not forced: the answers leave 99 pieces")
    expect(section).to_contain_text("wolf + lion together, apart from crow")
    section.get_by_role("button", name="Show as a graph").click()
    expect(page.locator(".hc-ahograph h1")).to_contain_text("why is it divided so?")
    zoo.press("Escape")
    expect(page.get_by_role("tab", name="Tree", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    section.locator(".pieces button").first.click()
    expect(page.locator(".hc-inspector .name")).to_have_text("3 items")
    wait_until(page, lambda: column(page, "selection-lines", "x"))
