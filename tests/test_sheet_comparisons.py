"""What the comparisons' sheet and the heatmap's similarities show, as data."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from hcviz import Comparisons, Problem, Snapshot, Tree
from hcviz.datasets import Dataset
from hcviz.session.choice import Choice
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.features.comparisons import sheet as comparisons_sheet
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.tree_tools import model as tree_tools_model
from hcviz.ui.state.data_sources import similarities, similarity_to_show
from hcviz.ui.state.store import Store
from hcviz.ui.tree.heatmap_cells import similarity_cells
from hcviz.ui.tree.items import Items
from hcviz.ui.tree.labels import image_columns, separated_rows

NAMES = ("ant", "bee", "cat", "dog", "eel")
ROWS = [[0, 1, 2], [0, 1, 2], [0, 2, 1], [3, 2, 0], [3, 2, 0], [1, 0, 2], [2, 3, 1]]


@pytest.fixture
def store():
    made = Store(Session(), lambda call: call())
    made.prepare_data(
        Dataset("five", "Five", NAMES, comparisons=Comparisons(ROWS)), made.session.data
    )
    tree = Tree.from_newick("(((ant,bee),cat),dog,eel);", NAMES)
    made.session = Session(labels=NAMES, snapshot=Snapshot(tree, 1, 1), status="settled")
    made.drawn = made.session.snapshot
    yield made
    made.close()


def test_the_sheet_counts_orders_and_describes(store):
    shown = comparisons_sheet.state(store)
    json.dumps(shown)
    assert shown["kinds"] == [["near or far", "of two items, which is nearer to a third", 7]]
    assert [row[1:] for row in shown["items"]] == [
        ["eel", 0], ["dog", 3], ["bee", 5], ["ant", 6], ["cat", 7]
    ]  # fmt: skip
    assert shown["never"] == 1
    assert (shown["questions"], shown["repeated"], shown["agreeing"]) == (4, 2, 1)
    assert shown["cyclic"] == 0
    assert shown["contradictions"] == [
        {
            "sentence": "ant is nearer to bee than to cat",
            "agree": 2,
            "disagree": 1,
            "items": [0, 1, 2],
        }
    ]
    # Agree: 0 1 2 twice and 1 0 2; not: 0 2 1, 2 3 1; dog joins cat and ant at the same place.
    assert shown["agreement"] == [3, 2, 2]


def test_answers_in_a_cycle_are_reported(store):
    circle = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]  # 01 > 02 > 12 > 01
    other = replace(store.dataset, comparisons=Comparisons([*circle, [3, 4, 0]]))
    store.prepare_data(other, store.session.data)
    assert comparisons_sheet.state(store)["cyclic"] == 0.75


def test_own_answers_count_with_the_others(store):
    store.session = replace(store.session, choices=(Choice("odd", (4, 0, 1)),))
    shown = comparisons_sheet.state(store)
    assert [kind[0::2] for kind in shown["kinds"]] == [["near or far", 7], ["odd one out", 1]]
    assert shown["comparisons"] == 9
    assert shown["own"] == 1
    assert shown["never"] == 0


def test_quadruplets_are_shown_as_pairs():
    assert (
        comparisons_sheet.comparison_sentence([0, 1, 2, 3], NAMES)
        == "ant and bee are more alike than cat and dog"
    )


def test_the_tab_is_there_where_there_are_comparisons(store):
    def tabs():
        return [tab["name"] for tab in Middle.tabs_state(store)["tabs"]]

    store.change_view(sheet="comparisons")
    assert "comparisons" in tabs()
    assert Middle.now(store) == "comparisons"
    store.prepare_data(Dataset("five", "Five", NAMES, similarity=np.eye(5)), store.session.data)
    assert "comparisons" not in tabs()
    assert Middle.now(store) == "tree"
    store.session = replace(store.session, choices=(Choice("odd", (4, 0, 1)),))
    assert "comparisons" in tabs()


def test_answers_of_which_no_tree_was_made_are_shown_all_the_same(store):
    store.session = replace(store.session, snapshot=None, status="failed")
    shown = comparisons_sheet.state(store)
    json.dumps(shown)
    assert shown["agreement"] is None
    assert shown["comparisons"] == 7
    tab = {tab["name"]: tab["lacks"] for tab in Middle.tabs_state(store)["tabs"]}
    assert tab["comparisons"] == ""
    assert tab["agreement"] != ""


class Counter:
    """Replaces ``consistency``: waits for ``go``, never on the page's own thread."""

    def __init__(self, monkeypatch):
        self.go = threading.Event()
        self.begun = threading.Event()
        self.counted: list[int] = []
        counts, page = comparisons_sheet.consistency, threading.get_ident()

        def count(comparisons):
            assert threading.get_ident() != page
            self.begun.set()
            assert self.go.wait(60)
            self.counted.append(len(comparisons))
            return counts(comparisons)

        monkeypatch.setattr(comparisons_sheet, "consistency", count)
        monkeypatch.setattr(comparisons_sheet, "MAX_COUNTED_AT_ONCE", 5)


@pytest.fixture
def later(store, loop):
    """The same data on a page whose thread is this one."""
    made = Store(store.session, loop.schedule)
    made.prepare_data(store.dataset, store.session.data)
    made.drawn = store.drawn
    yield made
    made.close()


def test_many_answers_are_counted_in_the_background(store, later, loop, monkeypatch):
    at_once = comparisons_sheet.state(store)
    counter = Counter(monkeypatch)
    shown = comparisons_sheet.state(later)  # would wait for ever
    json.dumps(shown)
    assert shown["waits"] == "Counting 7 answers…"
    assert (shown["kinds"], shown["comparisons"]) == (at_once["kinds"], 7)
    assert shown["items"] is None
    assert shown["agreement"] is None
    sees = comparisons_sheet.SHEET.depends_on(later)
    counter.go.set()
    loop.until(lambda: comparisons_sheet.state(later)["waits"] == "")
    assert comparisons_sheet.state(later) == at_once
    assert comparisons_sheet.SHEET.depends_on(later) != sees  # an open sheet is drawn again


def test_old_counts_stay_until_the_newest_answers_are_counted(store, later, loop, monkeypatch):
    counter = Counter(monkeypatch)
    counter.go.set()
    loop.until(lambda: comparisons_sheet.state(later)["waits"] == "")
    before = comparisons_sheet.state(later)
    counter.go.clear()
    counter.begun.clear()
    counter.counted.clear()
    given: tuple[Choice, ...] = ()
    for items in ((4, 0, 1), (4, 2, 3), (4, 1, 2)):
        given = (*given, Choice("odd", items))
        later.session = replace(later.session, choices=given)
        shown = comparisons_sheet.state(later)
        assert counter.begun.wait(60)
        assert shown["waits"].startswith(f"Counting {7 + len(given)} answers…")
        assert (shown["items"], shown["agreement"]) == (before["items"], before["agreement"])
        assert (shown["own"], shown["comparisons"]) == (len(given), 7 + 2 * len(given))
    counter.go.set()
    loop.until(lambda: comparisons_sheet.state(later)["waits"] == "")
    assert counter.counted == [9, 13]  # not those in between
    monkeypatch.undo()
    store.session = replace(store.session, choices=given)
    assert comparisons_sheet.state(later) == comparisons_sheet.state(store)


def test_a_tree_that_moves_is_compared_when_it_rests(later, loop, monkeypatch):
    Counter(monkeypatch).go.set()
    loop.until(lambda: comparisons_sheet.state(later)["waits"] == "")
    first = comparisons_sheet.state(later)["agreement"]
    moved = Snapshot(Tree.from_newick("((ant,eel),(bee,(cat,dog)));", NAMES), 1, 2)
    later.session = replace(later.session, snapshot=moved, status="sampling")
    shown = comparisons_sheet.state(later)
    assert "when the run has finished" in shown["waits"]
    assert shown["agreement"] == first
    later.session = replace(later.session, status="settled")
    loop.until(lambda: comparisons_sheet.state(later)["waits"] == "")
    assert (
        comparisons_sheet.state(later)["agreement"]
        == comparisons_sheet.agreement_with_tree(moved.tree, Comparisons(ROWS))
        != first
    )


def test_counts_of_other_data_are_never_shown(loop, monkeypatch):
    counter = Counter(monkeypatch)
    header = "anchor,near,far\n"
    first = header + "".join(f"{NAMES[a]},{NAMES[b]},{NAMES[c]}\n" for a, b, c in ROWS)
    other = header + "ant,bee,cat\nant,cat,bee\n" * 5  # of some of the same items
    page = Store(Session(method="4-al"), loop.schedule)

    def open_file(text):
        spec = DataSpec(
            kind="table", name="a.csv", filename="a.csv", content=text.encode(),
            table_kind="comparisons",
        )  # fmt: skip
        assert page.open_data(spec)

    open_file(first)
    assert comparisons_sheet.state(page)["waits"] == "Counting 7 answers…"
    assert counter.begun.wait(60)
    open_file(other)
    shown = comparisons_sheet.state(page)
    assert (shown["items"], shown["waits"]) == (None, "Counting 10 answers…")
    counter.go.set()
    seen = []
    loop.until(lambda: seen.append(comparisons_sheet.state(page)) or seen[-1]["waits"] == "")
    assert {each["questions"] for each in seen if each["items"]} == {1}
    assert [row[1] for row in seen[-1]["items"]] == ["ant", "bee", "cat"]
    open_file(first)
    assert comparisons_sheet.state(page)["items"] is None
    page.close()


def test_a_click_selects_the_items(store):
    comparisons_sheet.SHEET.acts(Gestures(store), "pick", {"items": [4, 0]})
    assert store.view.selection == (4, 0)
    comparisons_sheet.SHEET.acts(Gestures(store), "pick", {"items": [9]})
    assert store.view.selection == (4, 0)


def test_the_heatmap_has_what_the_run_came_with():
    tree = Tree.star(3)
    adds, x = np.diag([1.0, 2, 3]), np.eye(3)
    bare = Problem(comparisons=[[0, 1, 2]])
    assert list(similarities(bare)) == ["AddS"]
    run = Snapshot(tree, 1, 1, matrices={"kernel": adds, "X": x})
    assert list(similarities(bare, run)) == ["kernel", "X"]
    assert similarity_to_show(bare, run) == ("kernel", adds)
    assert similarity_to_show(bare, run, "X") == ("X", x)
    assert similarity_to_show(bare, run, "gone")[0] == "kernel"
    measured = Problem(similarity=np.eye(3), comparisons=[[0, 1, 2]])
    assert list(similarities(measured, run)) == ["similarity", "kernel", "X"]
    assert similarity_to_show(Problem(labels="abc")) == ("similarity", None)
    assert list(similarities(bare, Snapshot(Tree.star(4), 1, 1, matrices={"X": np.eye(4)}))) == [
        "AddS"
    ]


def test_the_tools_offer_a_choice_where_there_is_one(store):
    assert tree_tools_model.state(store)["sources"] == []
    store.drawn = replace(store.drawn, matrices={"AddS": np.eye(5), "X": np.eye(5)})
    assert tree_tools_model.state(store)["sources"] == [["", "AddS"], ["X", "X"]]


def test_sums_of_signs_have_zero_in_the_middle():
    w = np.array([[0.0, 3, -1], [3, 0, -2], [-1, -2, 0]])
    cells = similarity_cells(Items("abc", similarity=w, similarity_name="AddS"))
    assert cells.diverging
    assert cells.unit == "AddS"
    assert -cells.low == cells.high > 2
    assert cells.levels[0, 0] == 127
    plain = similarity_cells(Items("abc", similarity=w))
    assert not plain.diverging
    ones = similarity_cells(Items("abc", similarity=np.abs(w), similarity_name="X"))
    assert not ones.diverging


@pytest.mark.parametrize(("n", "row"), [(60, 11.2), (48, 13.7), (90, 7.3)])
def test_the_first_and_last_images_are_whole_and_do_not_overlap(n, row):
    size, columns = image_columns(row, 236)
    middles = np.arange(n) + 0.5
    column = np.floor(middles).astype(int) % columns
    at = separated_rows(middles, column, size / row, n)
    assert (at - size / 2 / row >= -1e-9).all()
    assert (at + size / 2 / row <= n + 1e-9).all()
    for k in range(columns):
        assert (np.diff(at[column == k]) >= size / row - 1e-9).all()
    assert np.abs(at - middles).max() <= size / row  # never farther off than its own height
    inner = slice(n // 3, 2 * n // 3)
    assert np.abs(at - middles)[inner].max() < 0.5  # in its own row


@pytest.mark.parametrize("row", np.linspace(1, 40, 79))
def test_images_in_columns_do_not_overlap(row):
    size, columns = image_columns(row, 236)
    if size:
        assert size >= 16
        assert columns * row >= size
        assert columns * (size + 1) <= 236 - 13 - 44
    else:
        assert row < 4.25 or row >= 30
