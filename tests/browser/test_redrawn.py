"""What a person opened, typed or reached by keyboard stays when its panel is drawn again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_until


@pytest.fixture
def zoo(server, new_page):
    page = new_page()
    page.goto(f"{server.url}?data=zoo&method=average")
    return Dashboard(page).settle()


def test_fields_of_constraints_show_what_holds(zoo):
    page = zoo.page
    for group, apart in ((["wolf", "lion"], "crow"), (["wolf", "crow"], "lion")):
        count = zoo.constraints.count()
        zoo.add_constraint(group, apart)
        zoo.press("Enter")
        expect(zoo.constraints).to_have_count(count + 1)
    # It contradicts the first one, so that it stays switched off.
    refused = zoo.constraints.nth(1).get_by_role("checkbox")
    expect(refused).not_to_be_checked()
    refused.click()
    expect(zoo.sentence).to_contain_text("Switch that one off to use this one")
    expect(refused).not_to_be_checked()
    # From a note the Tab key leads to the weight.
    first = zoo.constraints.first
    first.get_by_role("button", name="Note").click()
    first.get_by_label("Note text").press_sequentially("both hunt")
    page.keyboard.press("Tab")
    weight = first.get_by_label("Weight")
    expect(weight).to_be_focused()
    expect(zoo.sentence).to_contain_text("Edited: wolf + lion")
    weight.fill("")
    weight.press("Enter")
    expect(page.locator(".hc-foot")).to_contain_text("A weight must be a positive number")
    expect(weight).to_have_value("1")
    first.get_by_label("Note text").press("Enter")
    expect(weight).to_have_count(0)
    expect(first.get_by_label("Note text")).to_have_value("both hunt")
    first.get_by_role("button", name="Note").click()
    expect(weight).to_be_visible()  # the panel is drawn with the open note
    note = first.get_by_label("Note text")
    note.press_sequentially(" at night")
    note.press("Escape")
    expect(weight).to_have_count(0)
    expect(note).to_have_value("both hunt")
    author = page.get_by_label("You are", exact=True)
    author.fill(" ")
    author.press("Enter")
    expect(author).to_have_value("you")


def test_a_folded_author_with_quotation_marks_opens_by_keyboard(zoo, tmp_path):
    mammals = ("bear", "wolf", "lion", "deer", "boar", "hare", "mole", "vole", "oryx", "seal")
    lines = [
        f'{one},{other},clam,"Ann ""AJ"" S"'
        for k, one in enumerate(mammals)
        for other in mammals[:k]
    ]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["together_1,together_2,apart,author", *lines]) + "\n")
    zoo.open("Constraints (CSV)…", path)
    summary = zoo.page.locator(".hc-constraints .fold summary")
    expect(summary).to_contain_text("45 answers")
    summary.press("Enter")
    answers = zoo.page.get_by_role("list", name='Answers of Ann "AJ" S')
    expect(answers).to_be_visible()
    answers.evaluate("list => { list.scrollTop = 100 }")
    zoo.press("t")  # a draft: the panel is drawn again
    expect(zoo.page.locator(".hc-constraints .draft")).to_be_visible()
    expect(summary).to_be_focused()
    assert answers.evaluate("list => list.scrollTop") == 100
    summary.press(" ")
    expect(answers).to_be_hidden()


def test_the_inspector_keeps_what_is_open_and_typed(page):
    dashboard = Dashboard(page).settle()
    details = page.locator(".hc-inspector .accuracy details")
    details.locator("summary").press("Enter")
    expect(details).to_have_attribute("open", "")
    dashboard.click_above("wolf", 0.5)
    field = page.locator(".hc-inspector .group-name")
    field.press_sequentially("Beasts")
    expect(details).to_have_attribute("open", "")
    page.locator(".hc-bar [data-key=run]").evaluate("button => button.click()")
    dashboard.settle()
    expect(field).to_have_value("Beasts")
    expect(field).to_be_focused()
    dashboard.button("Name").click()
    expect(dashboard.sentence).to_contain_text("Named: Beasts")


def draw_again(dashboard, element):
    """Run the method again; wait until the part with the element was drawn again."""
    handle = element.element_handle()
    dashboard.page.locator(".hc-bar [data-key=run]").evaluate("button => button.click()")
    dashboard.settle()
    wait_until(dashboard.page, lambda: not handle.evaluate("node => node.isConnected"))


def test_what_is_typed_is_sent_whole_and_once(page):
    dashboard = Dashboard(page).settle()
    dashboard.click_above("wolf", 0.5)
    page.locator(".hc-inspector .group-name").fill("Beasts")
    dashboard.press("Enter")
    group = page.locator(".hc-groups .group")
    expect(group).to_have_count(1)
    note = page.get_by_label("Note of Beasts")
    note.press_sequentially("they")
    draw_again(dashboard, note)
    note.press_sequentially(" hunt")
    dashboard.press("Enter")
    expect(group.locator(".note")).to_have_text("they hunt")
    dashboard.press("u")
    expect(group.locator(".note")).to_have_count(0)
    note.press_sequentially("all wild")
    draw_again(dashboard, note)
    expect(note).to_be_focused()
    expect(group.locator(".note")).to_have_count(0)
    page.keyboard.press("Tab")  # nothing is typed after the panel was drawn again
    expect(group.locator(".note")).to_have_text("all wild")


def test_a_name_and_a_line_of_the_menu_keep_the_focus(page):
    dashboard = Dashboard(page).settle()
    dashboard.click_above("wolf", 0.5)
    page.locator(".hc-inspector .group-name").fill("Beasts")
    dashboard.press("Enter")
    page.locator(".hc-groups .group").focus()
    dashboard.press("F2")
    name = page.get_by_label("New name of Beasts")
    name.fill("Wild beasts")
    draw_again(dashboard, name)
    expect(name).to_be_focused()
    dashboard.press("Enter")
    expect(page.locator(".hc-groups .group .name")).to_have_text("Wild beasts")
    dashboard.button("File").press("Enter")
    line = page.get_by_role("menuitem", name="Session…", exact=True)
    line.focus()
    handle = line.element_handle()
    page.get_by_label("seed", exact=True).evaluate("""field => {
      field.value = 7
      field.dispatchEvent(new Event("change"))
    }""")
    dashboard.settle()
    assert not handle.evaluate("node => node.isConnected")
    expect(line).to_be_focused()
