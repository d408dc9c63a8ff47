"""Points 2 to 5 of what a user can do, on Zoo, in a real browser, with real clicks."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

import hcviz
from hcviz.io.session_file import load_session
from tests.browser.dashboard import Dashboard
from tests.browser.driving import pixel, shot, wait_for, wait_still, wait_until
from tests.conftest import ROOT

LABELS = hcviz.datasets.load("zoo").labels
#: Whether the line of the cut has this label.
CUT_LABEL = """text => [...Bokeh.documents[0]._all_models.values()]
  .some(m => m.type === "Label" && m.visible && m.text === text)"""


@pytest.fixture
def zoo(page):
    return Dashboard(page).settle()


def satisfied(newick: str, a: str, b: str, c: str) -> bool:
    tree = hcviz.Tree.from_newick(newick, LABELS)
    return bool(tree.satisfies([[LABELS.index(x) for x in (a, b, c)]])[0])


# ---------------------------------------------------------------------- looking


def test_every_click_selects_and_the_page_names_the_items(zoo):
    zoo.click_label("dolphin")
    expect(zoo.selected).to_have_text("dolphin")
    zoo.click_above("dolphin", 1.005)
    expect(zoo.selected).to_have_text("101 items")
    zoo.click_above("dolphin", 0.35)
    expect(zoo.selected).to_contain_text("items")
    words = zoo.page.get_by_role("region", name="Selected subtree in words")
    expect(words).to_contain_text("selected")
    expect(words).to_have_attribute("aria-live", "polite")
    zoo.press("Escape")
    expect(zoo.selected).to_have_count(0)


def test_tree_labels_and_heatmap_share_their_rows_and_zoom_together(zoo):
    wait_still(zoo.page)
    heights = {name: pixel(zoo.page, name, 0, -10)[1] for name in ("tree", "labels", "heat")}
    assert max(heights.values()) - min(heights.values()) < 0.5, heights
    before = zoo.rows("tree")
    zoo.page.mouse.move(*pixel(zoo.page, "tree", 0.1, -50))
    zoo.page.mouse.wheel(0, -400)
    wait_for(
        zoo.page,
        "([a, b]) => { const f = Bokeh.index.find_one("
        "Bokeh.documents[0].get_model_by_name('tree')).frame.y_range;"
        " return f.end - f.start < b - a - 1 }",
        list(before),
    )
    wait_until(zoo.page, lambda: zoo.rows("tree") == zoo.rows("labels") == zoo.rows("heat"))
    zoo.button("Whole tree").click()
    wait_for(
        zoo.page,
        "([a, b]) => { const f = Bokeh.index.find_one("
        "Bokeh.documents[0].get_model_by_name('tree')).frame.y_range;"
        " return Math.abs(f.end - f.start - (b - a)) < 1e-6 }",
        list(before),
    )


def test_features_heatmap_search_and_clusters(zoo):
    zoo.button("Features").click()
    expect(zoo.button("Features")).to_have_attribute("aria-pressed", "true")
    expect(zoo.page.get_by_label("Order of the columns")).to_be_visible()
    zoo.choose("Scaling of the heatmap", "rank")
    zoo.page.get_by_label("Clusters", exact=True).fill("5")
    zoo.press("Enter")
    zoo.press("/")
    zoo.page.keyboard.type("penguin")
    zoo.press("Enter")
    expect(zoo.selected).to_have_text("penguin")
    zoo.page.get_by_label("Find an item").fill("no such beast")
    zoo.press("Enter")
    expect(zoo.sentence).to_contain_text("no such beast")
    shot(zoo.page, "features")


def test_hover_names_the_row_and_the_value(zoo):
    wait_still(zoo.page)
    x, y = pixel(zoo.page, "heat", 30.5, -60.5)
    zoo.page.mouse.move(x - 3, y)
    zoo.page.mouse.move(x, y, steps=3)
    expect(zoo.page.get_by_text("similarity 0.", exact=False).first).to_be_visible()


def test_the_cut_line_is_dragged(zoo):
    zoo.page.get_by_label("Clusters", exact=True).fill("4")
    zoo.press("Enter")
    field = zoo.page.get_by_label("Clusters", exact=True)
    wait_for(zoo.page, CUT_LABEL, "4 clusters")
    wait_still(zoo.page)  # the clusters have a strip of their own
    cut = zoo.page.evaluate(
        "() => { for (const m of Bokeh.documents[0]._all_models.values())"
        " if (m.type === 'Span' && m.dimension === 'height' && m.editable) return m.location }"
    )
    assert cut is not None
    x, y = pixel(zoo.page, "tree", cut, -50.5)
    zoo.page.mouse.move(x, y)
    zoo.page.mouse.down()
    zoo.page.mouse.move(x + 40, y, steps=5)
    zoo.page.mouse.up()
    expect(field).not_to_have_value("4")


# ---------------------------------------------------------------------- saying


@pytest.mark.smoke
def test_a_click_corrects_the_tree(zoo):
    """The main job: an odd one out is named, and the tree is rebuilt around that answer."""
    assert not satisfied(zoo.newick(), "dolphin", "flea", "wolf")
    zoo.add_constraint(["dolphin", "flea"], "wolf")
    expect(zoo.assessment).to_contain_text("correction")
    shot(zoo.page, "sentence")
    zoo.press("Enter")
    expect(zoo.constraints).to_have_count(1)
    expect(zoo.constraints.first).to_contain_text("dolphin + flea together, apart from wolf")
    zoo.settle()
    expect(zoo.constraints.first.locator(".tag")).to_have_text("satisfied")
    assert satisfied(zoo.newick(), "dolphin", "flea", "wolf")
    expect(zoo.sentence).to_contain_text(re.compile(r"branch(es)? (is|are) new"))
    gone = zoo.page.get_by_role("list", name="Branches gone").get_by_role("button").first
    size = gone.locator("i").inner_text()
    gone.click()
    expect(zoo.selected).to_have_text(f"{size} items")
    zoo.press("Escape")
    expect(zoo.sentence).to_contain_text("holds")


def test_lock_implied_and_eject(zoo):
    zoo.add_constraint(["dolphin", "porpoise"], "wasp")
    expect(zoo.assessment).to_contain_text("holds")
    zoo.press("Enter")
    expect(zoo.constraints).to_have_count(1)
    zoo.add_constraint(["porpoise", "dolphin"], "wasp")
    expect(zoo.assessment).to_contain_text("repeat")
    zoo.press("Escape")
    expect(zoo.page.locator(".draft")).to_have_count(0)
    zoo.click_above("dolphin", 1.005)
    expect(zoo.selected).to_have_text("101 items")
    zoo.press("e")
    expect(zoo.page.locator(".hc-constraints .draft")).to_be_visible()
    zoo.click_label("seawasp")
    expect(zoo.page.locator(".hc-constraints .statement")).to_contain_text("apart from seawasp")
    zoo.page.locator("[data-key=apply]").click()
    expect(zoo.constraints).to_have_count(2)
    zoo.settle()
    newick = zoo.newick()
    assert satisfied(newick, "wasp", "lobster", "seawasp")


def test_the_list_is_edited_and_undone(zoo):
    first = zoo.newick()
    zoo.add_constraint(["dolphin", "tuna"], "wolf")
    zoo.press("Enter")
    zoo.settle()
    corrected = zoo.newick()
    row = zoo.constraints.first
    row.get_by_label("Note", exact=True).click()
    row.get_by_label("Note text").fill("swims like one")
    zoo.press("Enter")
    expect(row.get_by_label("Note text")).to_have_value("swims like one")
    row.get_by_role("checkbox").uncheck()
    expect(row.locator(".tag")).to_have_text("disabled")
    zoo.settle()
    zoo.button("Undo").click()
    expect(row.locator(".tag")).to_have_text("satisfied")
    assert zoo.newick() == corrected
    row.get_by_label("Delete").click()
    expect(zoo.constraints).to_have_count(0)
    for _ in range(3):
        zoo.button("Undo").click()
    expect(zoo.constraints).to_have_count(0)
    expect(zoo.button("Undo")).to_be_disabled()
    assert zoo.newick() == first
    zoo.page.keyboard.press("Control+y")
    expect(zoo.constraints).to_have_count(1)
    assert zoo.newick() == corrected


def test_a_contradiction_is_explained_and_repaired(zoo):
    zoo.add_constraint(["dolphin", "tuna"], "wolf")
    zoo.press("Enter")
    zoo.settle()
    zoo.add_constraint(["dolphin", "wolf"], "tuna")
    expect(zoo.assessment).to_contain_text("conflict")
    zoo.press("Enter")
    card = zoo.page.get_by_role("alert").filter(has_text="cannot all be true")
    expect(card).to_contain_text("dolphin + tuna together, apart from wolf")
    expect(zoo.constraints).to_have_count(2)
    shot(zoo.page, "conflict")
    assert satisfied(zoo.newick(), "dolphin", "tuna", "wolf")
    card.get_by_role("button", name="Keep the new answer").click()
    zoo.settle()
    expect(zoo.constraints.nth(0).locator(".tag")).to_have_text("disabled")
    expect(zoo.constraints.nth(1).locator(".tag")).to_have_text("satisfied")
    assert satisfied(zoo.newick(), "dolphin", "wolf", "tuna")


def test_a_run_is_cancelled_and_the_tree_stays(zoo):
    zoo.page.get_by_label("Steps", exact=True).fill("50000000")
    zoo.press("Tab")
    expect(zoo.page.locator(".hc-bar .status")).to_contain_text("of 50,000,000")
    zoo.button("Cancel").click()
    expect(zoo.page.locator(".hc-bar .status")).to_have_text("Cancelled")
    assert hcviz.Tree.from_newick(zoo.newick(), LABELS).n_leaves == 101


# ---------------------------------------------------------------------- files and links


def test_exports_hold_the_shown_tree(zoo):
    tree = hcviz.Tree.from_newick(zoo.newick(), LABELS)
    linkage = np.load(zoo.save("Tree (scipy linkage .npy)").path())
    again = hcviz.Tree.from_linkage(linkage)
    assert hcviz.metrics.triplet_distance(tree, again) == 0
    svg = Path(zoo.save_picture().path()).read_text()
    assert "<svg" in svg
    assert all(name in svg for name in ("platypus", "seawasp"))
    png = Image.open(io.BytesIO(Path(zoo.save_picture("png", "a4").path()).read_bytes()))
    assert png.size == (1240, 1753)  # 210 by 297 mm with 150 dots an inch
    assert Path(zoo.save_picture("pdf", "slide").path()).read_bytes().startswith(b"%PDF")


def test_the_form_previews_the_picture_that_it_would_save(zoo):
    zoo.menu("Picture…")
    form = zoo.page.get_by_role("group", name="Picture", exact=True)
    preview, note = form.get_by_role("img"), form.get_by_role("status")
    expect(note).to_contain_text("mm.")  # as large as the tree needs
    form.locator("[data-key=picture-page]").select_option("a4-landscape")
    expect(note).to_contain_text("297 × 210 mm.")
    shape = "image => image.naturalWidth / image.naturalHeight"
    wait_until(zoo.page, lambda: preview.evaluate(shape) == pytest.approx(297 / 210, rel=0.01))
    with_heatmap = preview.get_attribute("src") or ""
    form.get_by_label("Heatmap").uncheck()
    expect(preview).not_to_have_attribute("src", with_heatmap)


def test_a_saved_session_comes_back_identical(zoo, new_page, server, tmp_path):
    zoo.add_constraint(["dolphin", "tuna"], "wolf")
    zoo.press("Enter")
    zoo.settle()
    newick = zoo.newick()
    saved = tmp_path / "zoo.hcviz"
    zoo.save("Session").save_as(saved)
    csv = Path(zoo.save("Constraints (CSV)").path()).read_text()
    assert csv.splitlines()[0].startswith("together_1,together_2,apart")

    other = new_page()
    other.goto(server.url + "?data=iris&method=average")
    fresh = Dashboard(other).settle()
    fresh.open("Session…", saved)
    expect(fresh.constraints).to_have_count(1)
    assert fresh.newick() == newick
    assert Path(fresh.save("Constraints (CSV)").path()).read_text() == csv
    again = load_session(Path(fresh.save("Session").path()).read_bytes())
    first = load_session(saved.read_bytes())
    assert again.snapshot.tree == first.snapshot.tree
    assert again.constraints == first.constraints
    assert (again.method, again.seed, dict(again.params)) == (
        first.method, first.seed, dict(first.params),
    )  # fmt: skip


def test_a_link_shows_the_same_view(zoo, new_page, server):
    zoo.add_constraint(["dolphin", "tuna"], "wolf")
    zoo.press("Enter")
    zoo.settle()
    zoo.choose("method", "crsc")
    zoo.settle()
    zoo.menu("Copy a link to this view")
    expect(zoo.sentence).to_contain_text("address bar")
    wait_for(zoo.page, "() => location.search.includes('method=crsc')")
    other = new_page()
    other.goto(zoo.page.url)
    same = Dashboard(other).settle()
    expect(same.constraints.first).to_contain_text("dolphin + tuna together, apart from wolf")
    expect(other.get_by_label("method", exact=True)).to_have_value("crsc")
    assert satisfied(same.newick(), "dolphin", "tuna", "wolf")


def test_data_method_seed_and_an_uploaded_table(zoo, tmp_path):
    zoo.choose("data", "iris")
    zoo.settle()
    assert zoo.fact("Items") == "150"
    zoo.choose("method", "average")
    zoo.settle()
    zoo.choose("similarity", "gaussian")
    zoo.settle()
    zoo.page.get_by_label("seed", exact=True).fill("7")
    zoo.press("Tab")
    zoo.settle()
    table = tmp_path / "fruit.csv"
    rng = np.random.default_rng(0)
    rows = [f"fruit {i},{rng.normal():.3f},{rng.normal():.3f}" for i in range(12)]
    table.write_text("name,sweet,round\n" + "\n".join(rows) + "\n")
    zoo.open("Table of features…", table)
    expect(zoo.page.get_by_label("data", exact=True)).to_have_value("(current)")
    zoo.settle()
    assert zoo.fact("Items") == "12"
    shot(zoo.page, "uploaded")
    zoo.button("Undo").click()
    expect(zoo.page.get_by_label("data", exact=True)).to_have_value("iris")
    assert zoo.fact("Items") == "150"


#: What is chosen in the menu, the file's name and text, and words of the message about it.
BAD_FILES = [
    ("Table of features…", "twice.csv", "name,x\na,1\nb,2\na,3\n", ["'a'"]),
    ("Table of features…", "text.csv", "name,x\na,1\nb,oops\nc,4\nd,5\ne,6\n", ["oops"]),
    ("Table of features…", "one.csv", "name,x\na,1\n", ["one"]),
    ("Similarity matrix…", "wide.csv", "name,a,b\na,1,2\nb,2,1\nc,0,0\n", ["square"]),
    ("Distance matrix…", "askew.csv", "name,a,b\na,0,2\nb,9,0\n", ["symmetric"]),
    ("Session…", "broken.hcviz", "not a session", ["session"]),
    (
        "Constraints (CSV)…",
        "who.csv",
        "together_1,together_2,apart\ndolphn,wolf,tuna\n",
        ["dolphn", "dolphin"],
    ),
]


def test_bad_files_are_one_sentence_and_change_nothing(zoo, tmp_path):
    """One page for all of them: a file that changed something would be seen at the next."""
    before, message = zoo.newick(), ""
    alert = zoo.page.locator(".hc-foot").get_by_role("alert")
    for item, name, content, words in BAD_FILES:
        path = tmp_path / name
        path.write_text(content)
        zoo.open(item, path)
        expect(alert).not_to_have_text(message)  # the message about the file before is not enough
        for word in words:
            expect(alert).to_contain_text(word)
        message = alert.inner_text()
        assert zoo.newick() == before
        expect(zoo.page.get_by_label("data", exact=True)).to_have_value("zoo")


def test_ten_megabytes_of_the_wrong_thing(zoo, tmp_path):
    path = tmp_path / "noise.csv"
    path.write_bytes(np.random.default_rng(0).bytes(10 * 2**20))
    zoo.open("Table of features…", path)
    alert = zoo.page.locator(".hc-foot").get_by_role("alert")
    expect(alert).to_contain_text("noise.csv")
    expect(zoo.page.get_by_label("data", exact=True)).to_have_value("zoo")


def test_a_link_that_cannot_be_read(new_page, server):
    page = new_page()
    page.goto(server.url + "?seed=minus")
    board = Dashboard(page).settle()
    expect(board.sentence).to_contain_text("seed must be a whole number")


# ---------------------------------------------------------------------- tabs, widths, themes


def test_two_tabs_do_not_touch_each_other(zoo, new_page, server):
    other = new_page()
    other.goto(server.url)
    second = Dashboard(other).settle()
    zoo.add_constraint(["dolphin", "tuna"], "wolf")
    zoo.press("Enter")
    zoo.settle()
    second.choose("data", "iris")
    second.settle()
    expect(zoo.constraints).to_have_count(1)
    expect(second.constraints).to_have_count(0)
    assert zoo.fact("Items") == "101"
    assert second.fact("Items") == "150"


def test_a_closed_tab_stops_its_job(new_page, server):
    """Two seconds later, where the machine is not busy. A job that went on would take all of the
    CPU that it gets; without it the server takes a few hundredths."""

    def cpu_seconds() -> float:
        fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    page = new_page()
    query = urlencode({"params": json.dumps({"steps": 900_000_000})})
    page.goto(f"{server.url}?{query}")
    board = Dashboard(page)
    expect(page.locator(".hc-bar .status")).to_contain_text("of 900,000,000")
    expect(board.button("Cancel")).to_be_visible()
    page.close()
    quiet = new_page()

    def at_rest() -> bool:
        begin = cpu_seconds()
        quiet.wait_for_timeout(1500)
        return cpu_seconds() - begin < 0.3

    wait_until(quiet, at_rest)


def test_dark_and_narrow(zoo):
    zoo.button("Dark theme").click()
    wait_for(zoo.page, "() => document.documentElement.dataset.hcTheme === 'dark'")
    shot(zoo.page, "dark")
    zoo.page.reload()  # the browser was left dark, and its next page begins so
    wait_for(zoo.page, "() => document.documentElement.dataset.hcTheme === 'dark'")
    expect(zoo.button("Light theme")).to_be_visible()
    wait_for(
        zoo.page,
        "() => { const m = window.Bokeh?.documents[0]?.get_model_by_name('label-text'); "
        "return m && m.data.text.filter(Boolean).length > 9 }",
    )
    zoo.page.set_viewport_size({"width": 680, "height": 860})
    expect(zoo.page.get_by_role("complementary", name="Constraints")).to_be_hidden()
    shot(zoo.page, "narrow")
    zoo.button("Constraints panel").click()
    expect(zoo.page.get_by_role("complementary", name="Constraints")).to_be_visible()
    shot(zoo.page, "drawer")


def test_the_screenshot_of_the_documentation(zoo):
    """Taken here, so that the documentation shows what is."""
    zoo.add_constraint(["platypus", "opossum"], "penguin")
    zoo.press("Enter")
    zoo.settle()
    zoo.page.get_by_label("Clusters", exact=True).fill("7")
    zoo.press("Enter")
    wait_for(zoo.page, CUT_LABEL, "7 clusters")
    wait_still(zoo.page)
    zoo.click_above("dolphin", 0.4)
    expect(zoo.selected).to_contain_text("items")
    zoo.page.mouse.move(5, 300)
    made = shot(zoo.page, "screenshot", ROOT / "docs")
    assert made.stat().st_size > 20_000
