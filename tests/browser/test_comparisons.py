"""Comparisons on the page: questions, answers, the sheet, and methods that use them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import hcviz
from tests.browser.dashboard import DONE, Dashboard
from tests.browser.driving import column, columns, wait_still, wait_until
from tests.conftest import ROOT

#: How many rows the controls stand in, by their middles.
ROWS = """all => new Set(all.filter(each => each.checkVisibility()).map(each => {
  const box = each.getBoundingClientRect()
  return Math.round((box.top + box.bottom) / 2 / 4)
})).size"""

#: Pixels between the numbers of a plot's scale and its first point.
GAP = """plot => {
  const ends = [...plot.querySelectorAll("text.y")].map(each => each.getBoundingClientRect().right)
  return plot.querySelector("button i").getBoundingClientRect().left - Math.max(...ends)
}"""

#: True if the line that cuts the tree has the text.
CUT = """text => Bokeh.documents.some(doc =>
  [...doc._all_models.values()].some(model => model.text === text && model.visible))"""


@pytest.fixture
def flowers(blank, server):
    blank.goto(f"{server.url}?data=flowers&method=4-al")
    return Dashboard(blank).settle()


def test_answers_move_the_tree_and_are_listed_saved_and_undone(flowers):
    page = flowers.page
    before = flowers.newick()
    flowers.press("c")
    card = page.get_by_role("group", name="Compare three")
    expect(card).to_contain_text("Which is the odd one out?")
    expect(card.locator("img")).to_have_count(3)
    first = card.locator("img").first
    wait_until(page, lambda: (first.bounding_box() or {"width": 0})["width"] >= 60)
    shown = card.locator("ul").inner_text()
    flowers.press(" ")
    expect(card.locator("ul")).not_to_have_text(shown)
    for count in (1, 2, 3):
        flowers.press("2")
        expect(card).to_contain_text(f"{count} answer")
    flowers.settle()
    expect(page.locator(".hc-inspector dl").first).to_contain_text("4,202")
    assert flowers.newick() != before
    card.locator("[data-key=c-1]").click()
    expect(card).to_contain_text("4 answers")
    flowers.settle()
    page.locator("[data-key=c-given]").click()
    listed = page.get_by_role("list", name="Your answers").get_by_role("listitem")
    expect(listed).to_have_count(4)
    sentence = listed.nth(1).locator(".sentence").inner_text()
    listed.nth(1).get_by_role("button", name="Take back").click()
    expect(listed).to_have_count(3)
    expect(listed.filter(has_text=sentence)).to_have_count(0)
    flowers.button("Undo").click()
    expect(listed).to_have_count(4)
    flowers.settle()
    expect(page.get_by_label("similarity", exact=True)).to_be_disabled()
    with open(Path(flowers.save("Your comparisons (CSV)").path()), newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["question"] for row in rows] == ["odd"] * 4
    page.get_by_role("tab", name="Comparisons").click()
    sheet = page.locator(".hc-comparisons")
    expect(sheet.locator(".totals")).to_contain_text("4 answers your own")
    expect(sheet.locator(".bars li")).to_have_count(48)
    counts = [int(text) for text in sheet.locator(".bars .count").all_inner_texts()]
    assert counts == sorted(counts)
    sheet.locator(".bars button").nth(2).click()
    name = sheet.locator(".bars .chosen .name")
    expect(name).to_have_count(1)
    expect(flowers.selected).to_have_text(name.inner_text())
    sheet.locator(".contradictions button").first.click()
    expect(sheet.locator(".bars .chosen")).to_have_count(3)
    flowers.press("x")
    expect(card).to_have_count(0)
    for _ in range(4):
        flowers.button("Undo").click()
    expect(sheet.locator(".totals")).not_to_contain_text("your own")
    page.get_by_role("tab", name="Tree").click()
    assert flowers.newick() == before


def test_sixty_rows_keep_distinguishable_pictures(flowers):
    wait_still(flowers.page)
    pictures, places = columns(flowers.page, "label-pictures", "url", "x")
    assert len(pictures) == 48
    assert len(set(places)) > 1  # they step aside


def test_the_heatmap_has_a_choice_and_a_click_on_the_curve_takes_k(flowers):
    page = flowers.page
    legend = page.get_by_text(re.compile("^AddS "))
    expect(legend).to_be_visible()
    expect(page.get_by_label("Which similarity")).to_have_count(0)
    flowers.choose("method", "adds-sdp")
    flowers.settle()
    page.get_by_label("Which similarity").select_option("X")
    expect(page.get_by_text(re.compile("^X 0"))).to_be_visible()
    curve = page.locator(".section-clusters")
    expect(curve.locator(".best.shown")).to_have_count(1)
    count = page.get_by_label("Clusters", exact=True)
    own = flowers.fact("Clusters (k)")
    expect(count).to_have_attribute("placeholder", own)
    page.wait_for_function(CUT, arg=f"{own} clusters")
    curve.locator("[data-key=k-4]").click()
    flowers.settle()
    expect(flowers.fact_value("Clusters (k)")).to_have_text("4")
    expect(count).to_have_attribute("placeholder", "4")
    page.wait_for_function(CUT, arg="4 clusters")
    count.fill("2")
    count.press("Enter")
    expect(count).to_have_value("2")
    expect(count).to_have_attribute("placeholder", "none")
    page.wait_for_function(CUT, arg="2 clusters")
    with open(Path(flowers.save("Clusters (CSV)").path()), newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item"] for row in rows] == list(hcviz.datasets.load("flowers").labels)
    assert {row["cluster"] for row in rows} == {"1", "2"}
    count.fill("")
    count.press("Enter")
    expect(count).to_have_attribute("placeholder", "4")
    page.wait_for_function(CUT, arg="4 clusters")
    expect(curve.locator(".shown").first).to_have_attribute("data-key", "k-4")
    expect(curve).to_contain_text("You chose 4.")


def test_methods_are_held_against_each_other(flowers):
    page = flowers.page
    page.get_by_role("tab", name="Agreement").click()
    sheet = page.locator(".hc-agreement")
    sheet.get_by_label("Clusters compared").fill("8")
    sheet.get_by_label("Clusters compared").press("Enter")
    sheet.get_by_role("button", name=re.compile("^Run 4 methods")).click()
    expect(sheet.locator("[data-key=go]")).to_have_text("All have run")
    expect(sheet.locator("tbody tr")).to_have_count(6)  # five methods and the known classes
    expect(sheet.locator(".summary")).to_contain_text("Most alike: ")
    cells = sheet.locator("tbody td:not(.diagonal)")
    expect(cells).to_have_count(30)
    assert all(-0.5 <= float(text.replace("−", "-")) <= 1 for text in cells.all_inner_texts())
    sheet.locator("[data-key=r-t-ste]").click()
    flowers.settle()
    expect(page.get_by_label("method", exact=True)).to_have_value("t-ste")
    expect(sheet.locator("tr.current")).to_contain_text("t-STE")


def test_comparisons_open_from_a_file_or_are_refused(flowers, tmp_path):
    page = flowers.page
    wrong, right = tmp_path / "wrong.csv", tmp_path / "right.csv"
    wrong.write_text("central,other_1,other_2\nash,elm,elm\n")
    right.write_text(
        "central,other_1,other_2\n" + "".join(f"t{k},t{k + 1},t{k + 3}\n" for k in range(9))
    )
    flowers.open("Comparisons (CSV)…", wrong)
    expect(page.locator(".hc-foot")).to_contain_text("Line 2 of the answers compares an item")
    expect(page.get_by_role("tab", name="Comparisons")).to_be_visible()
    flowers.open("Comparisons (CSV)…", right)
    flowers.settle()
    expect(flowers.fact_value("Items")).to_have_text("12")
    flowers.choose("data", "iris")
    expect(page.get_by_role("tab", name="Comparisons")).to_have_count(0)


def test_a_file_of_answers_joins_the_items_shown_and_is_there_after_a_reload(
    serve, new_page, tmp_path, monkeypatch
):
    monkeypatch.setenv("HCVIZ_STATE", str(tmp_path / "state"))
    labels = hcviz.datasets.load("flowers").labels
    answers, wrong = tmp_path / "crowd.csv", tmp_path / "wrong.csv"
    rows = [[labels[k], labels[k + 1], labels[k + 3]] for k in range(12)]
    answers.write_text("".join(";".join(r) + "\n" for r in [["odd", "other_1", "other_2"], *rows]))
    wrong.write_text(f"anchor,near,far\n{labels[0]},{labels[1]},{labels[2]}s\n")
    server = serve(ROOT / "app.py", log="answers.log")
    page = new_page()
    page.goto(f"{server.url}?data=flowers&method=4-al")
    flowers = Dashboard(page).settle()
    before = flowers.newick()
    foot, facts = page.locator(".hc-foot"), page.locator(".hc-inspector dl").first
    flowers.open("Comparisons (CSV)…", wrong)
    expect(foot).to_contain_text(f"The nearest is '{labels[2]}'.")
    flowers.open("Comparisons (CSV)…", answers)
    flowers.settle()
    expect(foot).to_contain_text("24 comparisons from crowd.csv added to the 48 items shown")
    expect(flowers.fact_value("Items")).to_have_text("48")
    expect(flowers.fact_value("Comparisons")).to_have_text("4,220")
    wait_until(page, lambda: len(column(page, "label-pictures", "url")) == 48)
    after = flowers.newick()
    flowers.button("Undo").click()
    expect(facts).to_contain_text("4,196")
    assert flowers.newick() == before
    flowers.button("Redo").click()
    expect(facts).to_contain_text("4,220")
    page.reload()
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(facts).to_contain_text("4,220")
    expect(page.locator(".hc-bar .status")).to_have_text(DONE)
    assert flowers.newick() == after


def test_the_card_asks_of_any_data_when_it_is_unfolded(page):
    zoo = Dashboard(page).settle()
    page.locator(".hc-compare summary", has_text="Compare three").click()
    page.get_by_role("button", name="Answer yourself").click()
    card = page.get_by_role("group", name="Compare three")
    card.locator("[data-key=c-3]").focus()
    zoo.press("Enter")
    expect(page.locator(".hc-compare .ignored")).to_contain_text("does not use comparisons")
    page.locator(".hc-compare [data-key=c-method]").click()
    zoo.settle()
    expect(zoo.fact_value("Comparisons")).to_have_text("2")
    expect(page.get_by_role("tab", name="Comparisons")).to_be_enabled()


def test_in_a_narrow_window_the_card_that_a_key_puts_is_seen(new_page, server):
    page = new_page()
    page.set_viewport_size({"width": 820, "height": 1000})
    page.goto(f"{server.url}?data=flowers&method=4-al")
    flowers = Dashboard(page).settle()
    card = page.get_by_role("group", name="Compare three")
    panel = page.get_by_role("complementary", name="Constraints")
    expect(panel).to_be_hidden()
    flowers.press("c")
    expect(card).to_be_in_viewport()
    flowers.press("1")
    expect(card).to_contain_text("1 answer")
    flowers.press("x")
    expect(panel).to_be_hidden()  # it was open for the card alone
    page.get_by_role("button", name="Constraints panel").click()
    flowers.press("c")
    expect(card).to_be_in_viewport()
    flowers.press("x")
    expect(card).to_have_count(0)
    expect(panel).to_be_visible()
    inspector = page.get_by_role("complementary", name="Inspector")
    folds = page.get_by_role("button", name="Inspector panel")
    folds.click()
    flowers.press("c")
    expect(card).to_be_in_viewport()
    expect(inspector).to_be_hidden()
    folds.click()  # the card is folded away: it is shown before it is answered
    flowers.press("1")
    expect(card).to_be_in_viewport()
    expect(card).to_contain_text("1 answer")
    flowers.press("2")
    expect(card).to_contain_text("2 answers")
    flowers.press("x")
    expect(panel).to_be_hidden()
    expect(inspector).to_be_visible()  # as before


def test_answers_that_give_no_tree_can_be_looked_at(flowers, tmp_path):
    page = flowers.page
    cancel = tmp_path / "cancel.csv"
    cancel.write_text("anchor,near,far\na,b,c\na,c,b\n")
    flowers.open("Comparisons (CSV)…", cancel)
    expect(page.locator(".hc-foot")).to_contain_text("The answers cancel")
    page.get_by_role("tab", name="Comparisons").click()
    sheet = page.locator(".hc-comparisons")
    expect(sheet.locator(".totals")).to_contain_text("There is no tree yet.")
    expect(sheet.locator(".contradictions li")).to_have_count(1)


def test_the_curve_stays_off_its_scale_and_the_tools_fill_two_rows(flowers):
    page = flowers.page
    tools = page.locator(".hc-tools select, .hc-tools button")
    wait_until(page, lambda: tools.evaluate_all(ROWS) == 2)  # the levels are in a row of their own
    flowers.choose("method", "adds-sdp")
    flowers.settle()
    expect(page.get_by_label("Which similarity")).to_be_visible()
    wait_until(page, lambda: tools.evaluate_all(ROWS) == 2)
    apart = page.locator(".series-plot").filter(has=page.locator("button i")).first
    # The ring around the point shown is 4 px wider.
    wait_until(page, lambda: apart.evaluate(GAP) > 4)
