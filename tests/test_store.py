"""The store with a real runner and no browser: gestures in, pictures out."""

from __future__ import annotations

import base64
import io
import re
import threading
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from zipfile import ZipFile

import numpy as np
import pytest

from hcviz.algorithms.comparison.similarities import AddS
from hcviz.core.errors import SessionFileError
from hcviz.io import answer_merging
from hcviz.io.comparison_csv import write_answers_csv
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.model import Constraint, DataSpec, Session
from hcviz.ui.app import shell_state
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.controller import ACTS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.features.history import model as history_model
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.top_bar import model as top_bar_model
from hcviz.ui.features.tree_tools import model as tree_tools_model
from hcviz.ui.state import data_sources as sources
from hcviz.ui.state import loader as loader_module
from hcviz.ui.state.data_sources import AT_ONCE, similarity_to_show
from hcviz.ui.state.store import Store
from hcviz.ui.tree.items import Pick
from tests.stores import over_zoo


@pytest.fixture
def store(loop):
    with over_zoo(loop, "crsc") as made:
        yield made


@pytest.fixture
def plain_store(loop):
    """Without data."""
    made = Store(Session(), loop.schedule)
    yield made
    made.close()


def read_to_the_end():
    """Also a file whose load was cancelled."""
    for each in threading.enumerate():
        if each.name == "hcviz-reading":
            each.join()


def item(store, name):
    return store.session.labels.index(name)


def pick(store, *names):
    return Pick(tuple(item(store, name) for name in names), "leaf", 0.0, 0.0)


def state_a_constraint(store, group, apart):
    gestures = Gestures(store)
    gestures.key("t")
    for name in group:
        gestures.picked(pick(store, name))
    gestures.key("o")
    gestures.picked(pick(store, apart))
    verdict = constraints_model.state(store)["draft"]["assessment"]
    gestures.key("Enter")
    return verdict


def test_a_gesture_becomes_a_constraint_that_the_next_trees_satisfy(store, loop):
    seen = []
    store.subscribe(lambda s: s.session.snapshot, seen.append)
    verdict = state_a_constraint(store, ["dolphin", "tuna"], "wolf")
    assert verdict["kind"] == "correction"
    assert store.session.status == "sampling"
    loop.until(lambda: store.session.status == "settled")
    (constraint,) = store.session.constraints
    trees = [snapshot.tree for snapshot in seen[1:]]
    assert trees
    assert all(tree.satisfies(constraint.triplets).all() for tree in trees)
    (row,) = constraints_model.state(store)["items"]
    assert (row["state"], row["sentence"]) == (
        "satisfied",
        "dolphin + tuna together, apart from wolf",
    )


def test_undo_brings_the_earlier_tree_back_without_a_run(store, loop):
    before = store.session.snapshot
    state_a_constraint(store, ["dolphin", "tuna"], "wolf")
    loop.until(lambda: store.session.status == "settled")
    after = store.session.snapshot
    runs = store.session.run
    store.dispatch(act.Undo())
    assert store.session.snapshot.tree is before.tree
    assert store.session.constraints == ()
    store.dispatch(act.Redo())
    assert store.session.snapshot.tree is after.tree
    assert len(store.session.constraints) == 1
    assert store.session.run == runs
    assert store.session.status != "sampling"


def test_a_contradicting_answer_is_switched_off_and_explained(store, loop):
    state_a_constraint(store, ["dolphin", "tuna"], "wolf")
    verdict = state_a_constraint(store, ["dolphin", "wolf"], "tuna")
    assert verdict["kind"] == "conflict"
    shown = constraints_model.state(store)
    assert shown["conflict"]["members"] == ["dolphin + tuna together, apart from wolf"]
    assert [row["enabled"] for row in shown["items"]] == [True, False]
    (repair,) = shown["conflict"]["repairs"]
    act_on = partial(ACTS, Gestures(store))
    act_on("resolve", {"enable": shown["conflict"]["id"], "disable": repair["id"]})
    loop.until(lambda: store.session.status == "settled")
    rows = constraints_model.state(store)["items"]
    assert [(row["enabled"], row["state"]) for row in rows] == [
        (False, "disabled"),
        (True, "satisfied"),
    ]


def test_a_file_of_answers_is_imported_and_each_refused_one_explained(store, loop):
    lines = [
        "dolphin,tuna,wolf",
        "dolphin,wolf,tuna",
        "bear,boar,wasp",
        "tuna,wolf,dolphin",
    ]
    csv = "\n".join(["together_1,together_2,apart", *lines])
    FileController(store, None, None).open("constraints", "answers.csv", csv.encode())
    shown = constraints_model.state(store)
    assert [row["enabled"] for row in shown["items"]] == [True, False, True, False]
    assert [row["state"] for row in shown["items"]][1::2] == ["conflict", "conflict"]
    assert shown["conflict"]["members"] == ["dolphin + tuna together, apart from wolf"]
    assert shown["conflict"]["waiting"] == ["tuna + wolf together, apart from dolphin"]
    act_on = partial(ACTS, Gestures(store))
    act_on("dismiss", {})
    shown = constraints_model.state(store)["conflict"]
    assert "“tuna + wolf together, apart from dolphin” contradicts" in shown["sentence"]
    assert shown["waiting"] == []
    act_on("dismiss", {"all": True})
    assert constraints_model.state(store)["conflict"] is None
    loop.until(lambda: store.session.status == "settled")


def test_the_layout_does_not_change_while_a_gesture_is_open(store, loop):
    store.drawn = store.session.snapshot
    gestures = Gestures(store)
    store.dispatch(act.Rerun(fresh=True))
    gestures.key("t")
    loop.until(lambda: store.session.status == "settled")
    assert store.session.snapshot is not store.drawn
    assert history_model.state(store)["waiting"]
    gestures.key("Escape")
    assert not history_model.state(store)["waiting"]


def test_what_is_refused_is_a_sentence_and_changes_nothing(store):
    before = store.session
    assert not store.open_data(DataSpec(name="unheard of"))
    assert "unheard of" in store.view.error[0]
    assert store.session is before
    bad = DataSpec(kind="table", name="t.csv", filename="t.csv", content=b"a,b\nx,1\nx,2\n")
    assert not store.open_data(bad)
    assert "x" in store.view.error[0]
    assert store.session is before
    store.dispatch(act.AddConstraint((0, 1), 10_000))
    assert "10000" in store.view.error[0].replace(",", "")
    assert store.session is before
    assert history_model.state(store)["error"] == list(store.view.error)


def test_a_method_that_cannot_run_on_this_data_gives_a_reason(store, loop):
    matrix = b"name,a,b,c\na,1,.5,.1\nb,.5,1,.2\nc,.1,.2,1\n"
    spec = DataSpec(
        kind="table", name="m.csv", filename="m.csv", content=matrix, table_kind="similarity"
    )
    assert store.open_data(spec)
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.SetMethod("ddt"))
    assert store.session.status == "failed"
    assert "features" in store.session.error[0]
    entry = next(m for m in top_bar_model.state(store)["methods"] if m[0] == "ddt")
    assert "features" in entry[3]


def test_data_that_the_method_cannot_take_gets_one_that_can(loop):
    made = Store(Session(method="ddt", constraint_mode="hard"), loop.schedule)
    assert made.open_data(DataSpec(name="planted"))  # similarities only
    loop.until(lambda: made.session.status == "settled")
    assert made.session.method != "ddt"
    assert made.session.constraint_mode == "hard"
    assert "Dirichlet diffusion tree cannot run on this data" in made.session.cause
    assert made.open_data(DataSpec(name="zoo"))
    loop.until(lambda: made.session.status == "settled")
    made.dispatch(act.Undo())
    assert made.session.data.name == "planted"
    made.close()


@pytest.mark.parametrize("given", ["car", "file"])
def test_items_that_have_answers_only_get_a_method_that_reads_them(
    given, loop, shared_data, monkeypatch
):
    monkeypatch.setenv("HCVIZ_DATA", str(shared_data))
    content = b"anchor,near,far\nash,elm,oak\nelm,ash,fir\noak,fir,ash\nfir,oak,elm\n"
    spec = {
        "car": DataSpec(name="car"),
        "file": DataSpec(kind="table", name="trees.csv", filename="trees.csv", content=content),
    }[given]
    made = Store(Session(method="ddt", constraint_mode="hard"), loop.schedule)
    try:
        assert made.open_data(spec)
        assert made.session.method == "4-al"
        loop.until(lambda: made.session.status == "settled")
        name, shown = similarity_to_show(made.problem)
        assert name == "AddS"
        assert np.array_equal(shown, AddS(len(shown)).partial_fit(made.problem.comparisons).sums)
        assert tree_tools_model.state(made)["noSimilarity"] == ""
        able = {name: not lacks for name, _, lacks, _ in top_bar_model.state(made)["methods"]}
        assert able["adds-sdp"]
        assert able["t-ste"]
        assert not able["average"]
        assert "car" in dict(top_bar_model.state(made)["datasets"])  # as HCVIZ_DATA holds it
    finally:
        made.close()


def test_data_are_prepared_once_for_each_choice(store, loop, monkeypatch):
    """A similarity of all pairs is the most expensive part of opening data."""
    from hcviz.datasets import Dataset

    made = []
    plain = Dataset.problem

    def counted(self, **options):
        made.append(options)
        return plain(self, **options)

    monkeypatch.setattr(Dataset, "problem", counted)
    assert store.open_data(DataSpec(name="iris", similarity="gaussian"))
    loop.until(lambda: store.session.status == "settled")
    assert [options["similarity"] for options in made] == ["gaussian"]
    assert store.problem.n_items == 150


def test_every_picture_is_plain_json(store):
    import json

    store.change_view(selection=tuple(int(x) for x in store.session.snapshot.tree.leaves(150)))
    for draw in (
        top_bar_model.state, top_bar_model.live, shell_state.state, tree_tools_model.state,
        constraints_model.state,
        inspector_model.state, inspector_model.live, history_model.state,
    ):  # fmt: skip
        json.dumps(draw(store))


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        ((750, 2_000), "Running · 750 of 2,000"),
        ((487_577_527_353, 499_999_500_000), "Running · 97 %"),
    ],
)
def test_how_far_a_run_is_fits_the_bar(progress, text, store):
    session = replace(store.session, status="sampling", progress=progress)
    assert (
        top_bar_model.live(
            SimpleNamespace(
                session=session,
                view=store.view,
                runs_until_settled=False,
                runs=SimpleNamespace(ahead=None),
            )
        )["text"]
        == text
    )


def test_names_and_words_of_a_selection(store):
    tree = store.session.snapshot.tree
    node = next(v for v in range(tree.n_leaves, tree.n_nodes) if tree.size[v] == 3)
    leaves = tuple(int(x) for x in tree.leaves(node))
    store.change_view(selection=leaves)
    shown = inspector_model.state(store)["selection"]
    assert {m["name"] for m in shown["members"]} == {store.session.labels[i] for i in leaves}
    assert "3 items selected" in shown["words"]
    wider = inspector_model.parent_clade(store)
    assert set(leaves) < set(wider)


def test_a_clade_as_the_odd_one_out_is_one_step(store, loop):
    gestures = Gestures(store)
    gestures.key("t")
    for name in ("dolphin", "porpoise"):
        gestures.picked(pick(store, name))
    gestures.key("o")
    gestures.picked(pick(store, "wolf", "lion", "bear"))
    sentence = constraints_model.state(store)["draft"]["sentence"]
    assert sentence.startswith("dolphin + porpoise together, apart from wolf + lion + bear.")
    gestures.key("Enter")
    loop.until(lambda: store.session.status == "settled")
    (made,) = store.session.constraints
    assert len(made.outsiders) == 3
    store.dispatch(act.Undo())
    assert store.session.constraints == ()


class Browser:
    """The messages about its uploads."""

    def __init__(self):
        self.acknowledgements = []

    def acknowledge_upload(self, upload, pieces, stop=False):
        self.acknowledgements.append((upload, pieces, stop))


def test_an_upload_comes_in_pieces(store, loop):
    table = b"name,x,y\n" + b"".join(b"item %d,%d,%d\n" % (i, i, i * i) for i in range(9))
    browser = Browser()
    files, before = FileController(store, browser, None), store.session.labels
    parts = [table[:40], table[40:90], table[90:]]

    def send(number, place, part):
        more = {"id": number, "kind": "features", "name": "t.csv", "piece": place,
                "pieces": len(parts), "size": 12_345_678}  # fmt: skip
        files.act("upload", more | {"base64": base64.b64encode(part).decode()})
        return more

    send(0, 0, parts[0])
    reading = history_model.state(store)["reading"]
    assert reading == {"sentence": "Sending t.csv (12 MB)…", "share": 1 / 3}
    files.stop()
    assert browser.acknowledgements == [(0, 1, False), (0, 1, True)]
    assert history_model.state(store)["reading"] is None
    assert store.view.message == "Cancelled: t.csv was not opened."
    send(0, 1, parts[1])  # what was on its way is not wanted
    send(0, 2, parts[2])
    assert history_model.state(store)["reading"] is None
    assert store.session.labels == before
    browser.acknowledgements.clear()
    for place, part in enumerate(parts):
        more = send(1, place, part)
    assert browser.acknowledgements == [(1, 1, False), (1, 2, False)]
    assert history_model.state(store)["reading"] is None
    loop.until(lambda: store.session.status == "settled")
    assert store.session.labels == tuple(f"item {i}" for i in range(9))
    files.act("upload", more | {"id": 2, "piece": 0, "pieces": 1, "base64": "not base64"})
    assert "damaged on the way" in store.view.error[0]
    assert browser.acknowledgements[-1] == (2, 0, True)
    send(3, 0, parts[0])
    files.act("upload", more | {"id": 3, "piece": 1, "base64": "not base64"})
    assert "damaged on the way" in store.view.error[0]
    assert history_model.state(store)["reading"] is None
    files.act("too-large", {"name": "big.csv", "size": 10**9})
    assert "the limit is 256 MB" in store.view.error[0]


AHEAD = 4


class Sending:
    """What ``dom.js`` does with a file: four pieces at most ahead of what was heard."""

    def __init__(self, name, content, pieces):
        self.name, self.pieces, self.acknowledged, self.stopped = name, pieces, 0, False
        size = -(-len(content) // pieces)
        self.parts = [content[k * size : (k + 1) * size] for k in range(pieces)]
        self.sent = 0

    def next(self):
        """A message; None while it waits."""
        if self.over or self.sent - self.acknowledged >= AHEAD:
            return None
        more = {"id": self.name, "kind": "features", "name": self.name, "piece": self.sent,
                "pieces": self.pieces, "size": 99,
                "base64": base64.b64encode(self.parts[self.sent]).decode()}  # fmt: skip
        self.sent += 1
        return more

    @property
    def over(self):
        return self.stopped or self.sent == self.pieces


@pytest.mark.parametrize("begins", [1, 3, 6, 12])
@pytest.mark.parametrize("pieces", [1, 2, 20])
def test_of_two_uploads_at_once_the_newer_one_is_opened(plain_store, pieces, begins):
    """Late pieces of the older one change nothing, and the browser stops sending."""
    store, browser, opened = plain_store, Browser(), []
    files = FileController(store, browser, None)
    files.open = lambda kind, name, content: opened.append((name, content))
    content = bytes(range(200))
    sending, pending, messages = [Sending("A", content, 20)], [], []
    for turn in range(60):
        if turn == begins:
            sending.append(Sending("B", content[::-1], pieces))
        pending += filter(None, [each.next() for each in sending])
        if pending:
            files.act("upload", pending.pop(0))
        messages.append(store.view.message)
        for name, acknowledged, stop in browser.acknowledgements:
            (each,) = (each for each in sending if each.name == name)
            each.acknowledged, each.stopped = (
                max(each.acknowledged, acknowledged),
                each.stopped or stop,
            )
        browser.acknowledgements.clear()
    assert opened == [("B", content[::-1])]
    assert [each.stopped for each in sending] == [True, False]
    assert all(each.over for each in sending)
    assert store.view.loading is None
    assert store.view.error is None
    assert "Cancelled: A was not opened." in messages


def test_a_piece_out_of_turn_is_refused(plain_store):
    browser = Browser()
    files = FileController(plain_store, browser, None)
    first, second, third = (Sending.next(each) for each in [Sending("A", b"abc", 3)] * 3)
    files.act("upload", first)
    files.act("upload", third)
    assert "damaged on the way" in plain_store.view.error[0]
    assert browser.acknowledgements[-1] == ("A", 1, True)
    assert plain_store.view.loading is None
    files.act("upload", second)  # nor is it taken up again
    assert browser.acknowledgements[-1] == ("A", 0, True)
    assert plain_store.view.loading is None


def test_the_next_tree_waits_until_the_browser_has_drawn_the_last(store, loop):
    """What is drawn is acknowledged by the browser's word; what is not drawn, at once."""
    shown_steps: list[int] = []
    waiting = []
    store.runner.acknowledge = shown_steps.append
    store.runs.when_drawn = waiting.append
    snapshot = store.session.snapshot
    store.session = replace(store.session, status="sampling")
    again = act.Arrived(store.session.run, replace(snapshot, step=snapshot.step + 1))
    store.drawn = again.snapshot
    store.runs.receive(again)
    assert shown_steps == []
    waiting.pop()()
    assert shown_steps == [store.session.run]
    store.drawn = snapshot
    store.runs.receive(again)
    assert shown_steps == [store.session.run] * 2
    assert not waiting


def test_a_large_upload_is_read_in_the_background_and_a_newer_one_replaces_it(store, loop):
    def upload(number, name, content):
        files.act(
            "upload",
            {"id": number, "kind": "features", "name": name, "piece": 0, "pieces": 1,
             "base64": base64.b64encode(content).decode()},
        )  # fmt: skip

    rows = range(40_000)
    table = b"name,x,y\n" + b"".join(b"item %d,%d,%d\n" % (i, i, i * i % 977) for i in rows)
    files, before = FileController(store, None, None), store.session.labels
    upload(1, "slow.csv", table + b"broken,1\n")
    assert store.view.message == "Reading slow.csv."
    assert history_model.state(store)["reading"]["share"] is None
    assert re.fullmatch(
        r"Reading slow.csv \(\d+ kB\)…", history_model.state(store)["reading"]["sentence"]
    )
    upload(2, "large.csv", table)
    assert store.session.labels == before  # the page goes on meanwhile
    loop.until(lambda: len(store.session.labels) == 40_000)
    assert store.view.error is None
    assert store.session.method == "active-spectral"
    assert store.problem.similarity is None
    assert history_model.state(store)["reading"] is None
    upload(3, "other.csv", table.replace(b"item", b"thing"))
    assert history_model.state(store)["reading"]["sentence"].startswith("Reading other.csv")
    files.stop()
    assert store.view.message == "Cancelled: other.csv was not opened."
    assert history_model.state(store)["reading"] is None
    read_to_the_end()
    upload(4, "broken.csv", table + b"broken,1\n")
    loop.until(lambda: store.view.error is not None)
    assert "Row 40002" in store.view.error[0]
    assert len(store.session.labels) == 40_000


def wide(count=20_000):
    """A table that is not read at once."""
    rows = (b"item %d,%.12f,%.12f\n" % (i, i, i * i % 977) for i in range(count))
    content = b"name,x,y\n" + b"".join(rows)
    spec = DataSpec("table", "wide.csv", filename="wide.csv", content=content)
    assert sources.takes_long(spec)
    return spec


@pytest.fixture
def readers(monkeypatch):
    """The threads on which tables are read."""
    found = []
    plain = sources.read_table

    def noted(*given, **options):
        found.append(threading.current_thread())
        return plain(*given, **options)

    monkeypatch.setattr(sources, "read_table", noted)
    return found


def test_answers_beside_a_large_table_leave_the_page_free(store, loop, readers):
    """It is read again with them on a thread, as when it was opened; undo too."""
    page = threading.current_thread()
    store.loader.open_table(wide())
    loop.until(lambda: len(store.session.labels) == 20_000)
    one = act.AddComparisons("one.csv", b"anchor,near,far\nitem 1,item 2,item 9\n", "One.")
    two = act.AddComparisons("two.csv", b"anchor,near,far\nitem 3,item 4,item 9\n", "Two.")
    store.dispatch(one)
    assert store.view.message == "Reading one.csv."
    assert not store.session.data.answers
    constraint = Constraint(1, (0, 1), 5)
    store.dispatch(act.ImportConstraints((constraint,)))  # what else is done is done at once
    assert len(store.session.constraints) == 1
    loop.until(lambda: len(store.session.data.answers) == 1)
    store.dispatch(two)
    loop.until(lambda: len(store.session.data.answers) == 2)
    assert [name for name, _ in store.session.data.answers] == ["one.csv", "two.csv"]
    assert len(store.session.constraints) == 1
    assert len(store.problem.comparisons) == 2
    assert store.view.error is None
    before = len(readers)
    store.dispatch(act.Undo())
    store.dispatch(act.Undo())  # asked for twice: done once
    assert len(store.session.data.answers) == 2
    loop.until(lambda: len(store.session.data.answers) == 1)
    assert len(readers) == before + 1
    assert len(store.problem.comparisons) == 1
    store.dispatch(act.Redo())
    loop.until(lambda: len(store.session.data.answers) == 2)
    assert page not in readers


def test_bad_answers_with_a_large_table_are_reported_and_change_nothing(store, loop, readers):
    store.loader.open_table(wide())
    loop.until(lambda: len(store.session.labels) == 20_000)
    before = store.session
    store.dispatch(act.AddComparisons("bad.csv", b"anchor,near,far\nitem 1,item 2,ghost\n", "Bad."))
    assert store.view.error is None
    loop.until(lambda: store.view.error is not None)
    assert "ghost" in " ".join(store.view.error)
    assert store.view.message == ""
    assert store.session.data == before.data
    assert store.session.past == before.past


def test_an_undo_that_reads_a_table_is_dropped_if_another_step_is_done(store, loop, readers):
    store.loader.open_table(wide())
    loop.until(lambda: len(store.session.labels) == 20_000)
    store.dispatch(
        act.AddComparisons("one.csv", b"anchor,near,far\nitem 1,item 2,item 9\n", "One.")
    )
    loop.until(lambda: len(store.session.data.answers) == 1)
    store.dispatch(act.Undo())
    store.dispatch(act.ImportConstraints((Constraint(1, (0, 1), 5),)))
    loop.until(lambda: store.loader.loading is None)
    assert len(store.session.data.answers) == 1, "the newest step is another one"
    assert len(store.session.constraints) == 1
    assert store.view.message == ""
    # Other data, and nothing about the old ones is added to them.
    store.dispatch(
        act.AddComparisons("two.csv", b"anchor,near,far\nitem 3,item 4,item 9\n", "Two.")
    )
    assert store.open_data(DataSpec(name="zoo"))
    wait = len(readers) + 1
    loop.until(lambda: len(readers) >= wait or store.loader.loading is None)
    loop.until(lambda: store.session.status == "settled")
    assert store.session.data.answers == ()


def test_a_cancelled_file_is_named_for_any_cause(store, loop, readers):
    store.loader.open_table(wide())
    loop.until(lambda: len(store.session.labels) == 20_000)
    one = act.AddComparisons("one.csv", b"anchor,near,far\nitem 1,item 2,item 9\n", "One.")
    two = act.AddComparisons("two.csv", b"anchor,near,far\nitem 3,item 4,item 9\n", "Two.")
    bad = act.AddComparisons("bad.csv", b"anchor,near,far\nitem 1,item 2,ghost\n", "Bad.")

    store.dispatch(one)
    store.loader.cancel()
    assert store.view.message == "Cancelled: one.csv was not added."
    assert store.view.error is None
    assert store.view.loading is None

    store.dispatch(one, two)  # a newer file cancels the one in progress
    assert store.view.message == "Reading two.csv. one.csv was not added."
    store.loader.open_table(replace(wide(20_001), filename="wider.csv"))
    assert store.view.message == "Reading wider.csv. two.csv was not added."
    loop.until(lambda: len(store.session.labels) == 20_001)
    assert store.view.error is None

    store.dispatch(bad)
    loop.until(lambda: store.view.error is not None)
    assert "ghost" in store.view.error[0]

    store.dispatch(one)
    assert store.open_data(DataSpec(name="zoo"))  # read at once
    assert store.view.error == ("one.csv was not added.", "Open the file again.")

    store.dispatch(act.Undo())  # back to the large table, which is read on a thread
    assert store.view.loading is not None
    store.loader.cancel()
    assert store.view.message == "Cancelled: wider.csv was not opened."
    assert store.session.data.name == "zoo"


def test_what_was_read_for_a_page_that_is_gone_is_dropped_quietly(store, loop, caplog, monkeypatch):
    def gone(callback):
        raise RuntimeError("no document")

    raised = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    monkeypatch.setattr(store.loader, "schedule", gone)
    caplog.set_level("DEBUG", "hcviz")
    before = store.session
    for content in (wide().content, b"name,x\nbroken\n"):  # read, and not to be read
        store.loader.open_table(replace(wide(), content=content))
        read_to_the_end()
    assert raised == []
    assert [
        (r.levelname, r.getMessage()) for r in caplog.records if r.name.startswith("hcviz")
    ] == [("DEBUG", "The page closed before it received wide.csv.")] * 2
    assert store.session is before


@pytest.fixture
def asked(monkeypatch):
    """What is asked of files of answers: function, thread, content."""
    found = []

    def note(name):
        plain = getattr(answer_merging, name)

        def noted(content, *given):
            found.append((name, threading.current_thread(), content))
            return plain(content, *given)

        monkeypatch.setattr(answer_merging, name, noted)

    for name in ("match_answers", "read_signed_answers", "drop_repeated"):
        note(name)
    yield found
    read_to_the_end()  # else the next test would get it


def test_a_large_file_of_answers_is_read_in_the_background(store, loop, asked):
    labels = store.session.labels
    content = f"anchor,near,far\n{labels[0]},{labels[1]},{labels[2]}\n".encode()
    files = FileController(store, None, None)
    files.open("comparisons", "many.csv", content + b"\n" * AT_ONCE)
    assert not store.session.data.answers
    loop.until(lambda: store.session.data.answers)
    called = {name for name, _, _ in asked}
    assert called == {"match_answers", "read_signed_answers", "drop_repeated"}
    assert threading.current_thread() not in [thread for _, thread, _ in asked]
    assert len(store.problem.comparisons) == 1
    files.open("comparisons", "lost.csv", content + b"\n" * (AT_ONCE + 1))
    assert store.open_data(DataSpec(name="iris"))
    assert store.view.error[0] == "lost.csv was not added."


def read(asked):
    """The files whose signed answers were read."""
    return [content for name, _, content in asked if name == "read_signed_answers"]


def test_signed_answers_are_read_once_and_in_the_background(store, loop, asked):
    """However many files come after them; in a session that was opened with them, too."""
    page, labels, rng = threading.current_thread(), store.session.labels, np.random.default_rng(3)

    def signed(count, day):
        messages = [
            ("odd", rng.choice(len(labels), 3, replace=False).tolist(), "Ana",
             f"2026-01-{day:02}T{k // 3600:02}:{k // 60 % 60:02}:{k % 60:02}+00:00")
            for k in range(count)
        ]  # fmt: skip
        return write_answers_csv(messages, labels).encode()

    def add(files, name, content):
        before = len(store.session.data.answers)
        files.open("comparisons", name, content)
        loop.until(lambda: len(store.session.data.answers) > before)

    large, small, other = signed(12_000, 1), signed(3, 2), signed(4, 3)
    assert len(large) > AT_ONCE
    files = FileController(store, None, None)
    add(files, "large.csv", large)
    assert page not in [thread for _, thread, _ in asked]
    # Of the second file only itself is read, and that at once; what was there is found.
    first = large.splitlines(keepends=True)[1]
    add(files, "small.csv", small + first)
    assert read(asked) == [large, small]
    assert store.session.data.answers[-1] == ("small.csv", small)
    assert len(store.problem.comparisons) == 24_006
    # A page that never read them does so on a thread, once.
    asked.clear()
    files = FileController(store, None, None)
    add(files, "other.csv", other)
    assert read(asked) == [large, small, other]
    assert page not in [thread for _, thread, _ in asked]
    files.open("comparisons", "small.csv", small)
    assert store.view.message == "small.csv has 3 answers that are already here: nothing was added."


def test_an_answer_given_while_a_file_is_read_is_found_in_it(store, loop, asked):
    items, time = (4, 9, 2), "2026-01-01T00:00:00+00:00"
    text = write_answers_csv([("odd", items, "you", time)], store.session.labels)
    FileController(store, None, None).open(
        "comparisons", "same.csv", text.encode() + b"\n" * AT_ONCE
    )
    store.dispatch(act.AddChoice("odd", items, time=time))
    loop.until(lambda: store.view.message.startswith("same.csv has"))
    assert store.view.message == "same.csv has 1 answer that is already here: nothing was added."
    assert store.session.data.answers == ()


# ---------------------------------------------------------------------- session files


@pytest.fixture
def slow(monkeypatch):
    """Session files are read once they may be: ``allowed``; ``found``: on which threads."""

    made = SimpleNamespace(allowed=threading.Event(), found=[])

    def waiting(content):
        made.found.append(threading.current_thread())
        assert made.allowed.wait(120)
        return load_session(content)

    monkeypatch.setattr(loader_module, "load_session", waiting)
    yield made
    made.allowed.set()
    read_to_the_end()


@pytest.fixture
def saved(store, loop):
    """A session file: the zoo with an answer. The store has gone back to before that."""
    state_a_constraint(store, ["dolphin", "tuna"], "wolf")
    loop.until(lambda: store.session.status == "settled")
    content = save_session(store.session)
    store.dispatch(act.Undo())
    assert not store.session.constraints
    return content


def test_a_session_file_is_read_while_the_page_works(store, loop, saved, slow):
    files = FileController(store, None, None)
    files.open("session", "mine.hcviz", saved)
    assert store.view.message == "Reading mine.hcviz."
    assert history_model.state(store)["reading"]["sentence"].startswith("Reading mine.hcviz (")
    state_a_constraint(store, ["wolf", "lion"], "carp")  # a gesture, and its run to the end
    loop.until(lambda: store.session.status == "settled")
    (meanwhile,) = store.session.constraints
    assert store.view.loading is not None
    store.dispatch(act.Undo())  # nor does a step that needs no other data disturb it
    store.dispatch(act.Redo())
    run = store.session.run
    slow.allowed.set()
    loop.until(lambda: store.view.loading is None)
    assert store.view.error is None
    assert store.view.message == "Opened mine.hcviz; 1 answer given meanwhile is not in it."
    (constraint,) = store.session.constraints
    assert (constraint.group, constraint.apart) != (meanwhile.group, meanwhile.apart)
    assert constraint == load_session(saved).constraints[0]
    assert store.session.run >= run
    assert threading.current_thread() not in slow.found
    state_a_constraint(store, ["wolf", "lion"], "carp")  # and the page is as usable as before
    loop.until(lambda: store.session.status == "settled")
    assert len(store.session.constraints) == 2


def test_a_session_of_a_version_whose_linkages_ignored_constraints_keeps_them_now(store, loop):
    store.dispatch(act.SetMethod("average"))
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.SetSeed(3))  # a step to undo
    loop.until(lambda: store.session.status == "settled")
    past = tuple(replace(each, constraint_mode="ignored") for each in store.session.past)
    old = replace(store.session, constraint_mode="ignored", past=past)
    assert store.restore(load_session(save_session(old)))
    assert store.session.constraint_mode == "hard"
    store.dispatch(act.Undo())
    assert store.session.seed == 0
    assert store.session.constraint_mode == "hard"
    state_a_constraint(store, ["dolphin", "tuna"], "wolf")
    loop.until(lambda: store.session.status == "settled")
    assert store.session.tree.satisfies(store.session.triplets).all()
    assert "ignores" not in store.session.message


def test_the_data_in_a_session_file_are_read_on_that_thread_too(store, loop, readers):
    store.loader.open_table(wide())
    loop.until(lambda: len(store.session.labels) == 20_000)
    content = save_session(store.session)
    assert store.open_data(DataSpec(name="iris"))
    readers.clear()
    FileController(store, None, None).open("session", "wide.hcviz", content)
    loop.until(lambda: len(store.session.labels) == 20_000)
    assert len(readers) == 1
    assert threading.current_thread() not in readers
    assert len(store.problem.features) == 20_000


def test_a_bad_session_file_is_reported_and_changes_nothing(store, loop, saved):
    before, files, other = store.session, FileController(store, None, None), io.BytesIO()
    with ZipFile(other, "w") as archive:
        archive.writestr("manifest.json", '{"format": "something else"}')
    for content in (b"nothing", saved[:-99], other.getvalue()):
        with pytest.raises(SessionFileError) as wrong:
            load_session(content)
        files.open("session", "bad.hcviz", content)
        loop.until(lambda: store.view.loading is None)
        assert store.view.error == (wrong.value.message, wrong.value.hint)
        assert store.view.message == ""
        assert store.session is before
    # Its data are refused with their own sentence: here the items are others.
    other = replace(load_session(saved), data=DataSpec(name="iris"))
    files.open("session", "other.hcviz", save_session(other))
    loop.until(lambda: store.view.loading is None)
    assert store.view.error[0].startswith("The session was made with other items than 'iris'")
    assert store.session is before
    assert store.session.data.name == "zoo"


def test_of_two_session_files_the_newer_one_is_opened(store, loop, saved, slow):
    files = FileController(store, None, None)
    newer = save_session(store.session)
    files.open("session", "old.hcviz", saved)
    files.open("session", "new.hcviz", newer)
    assert store.view.message == "Reading new.hcviz. old.hcviz was not opened."
    slow.allowed.set()
    loop.until(lambda: store.view.loading is None)
    read_to_the_end()
    done: list[bool] = []
    loop.schedule(lambda: done.append(True))  # after all that was handed over
    loop.until(lambda: done)
    assert store.session.constraints == ()
    assert store.view.error is None


def test_a_session_file_that_is_cancelled_is_not_opened(store, loop, saved, slow):
    assert store.open_data(DataSpec(name="iris"))
    loop.until(lambda: store.session.status == "settled")
    files = FileController(store, None, None)
    files.open("session", "mine.hcviz", saved)
    files.stop()
    assert store.view.message == "Cancelled: mine.hcviz was not opened."
    assert store.view.loading is None
    files.open("session", "mine.hcviz", saved)
    store.dispatch(act.Undo())  # other data
    assert store.session.data.name == "zoo"
    assert store.view.loading is None
    assert store.view.error[0] == "mine.hcviz was not opened."
    files.open("session", "mine.hcviz", saved)
    store.dispatch(act.AddComparisons("bad.csv", b"anchor,near,far\nwolf,lion,ghost\n", "Bad."))
    assert "ghost" in store.view.error[0]
    assert store.view.loading is not None, "what is refused leaves all as it was"
    slow.allowed.set()
    loop.until(lambda: store.session.constraints)
    assert store.view.loading is None


def all_done(loop):
    """Also the data of a cancelled load."""
    read_to_the_end()
    done: list[bool] = []
    loop.schedule(lambda: done.append(True))  # after all that was handed over
    loop.until(lambda: done)


def send(files, number, name, piece=0, pieces=3, content=b"name,x"):
    more = {"id": number, "kind": "features", "name": name, "piece": piece, "pieces": pieces}
    files.act("upload", more | {"size": 30, "base64": base64.b64encode(content).decode()})


def test_reading_a_session_file_continues_when_a_table_is_refused(store, loop, saved, slow):
    files = FileController(store, Browser(), None)
    files.open("session", "mine.hcviz", saved)
    reading = store.view.loading
    send(files, 1, "bad.csv", pieces=1, content=b"")
    assert "bad.csv" in store.view.error[0]
    assert store.view.loading is reading
    assert not store.restore(replace(store.session, labels=("a", "b")))
    assert store.view.loading is reading
    slow.allowed.set()
    loop.until(lambda: store.session.constraints)
    assert store.view.loading is None
    assert store.view.error is None


def test_data_prepared_otherwise_are_no_other_data(store, loop, saved, slow):
    FileController(store, None, None).open("session", "mine.hcviz", saved)
    store.dispatch(act.SetSimilarity("cosine"))
    assert store.session.data.similarity == "cosine"
    assert store.view.error is None
    assert store.view.loading is not None
    slow.allowed.set()
    loop.until(lambda: store.session.constraints)


def test_an_undo_that_waits_for_its_data_undoes_nothing_newer(store, loop, readers):
    store.loader.open_table(wide())
    loop.until(lambda: len(store.session.labels) == 20_000)
    assert store.open_data(DataSpec(name="zoo"))
    store.dispatch(act.Undo())
    assert store.view.loading is not None
    store.dispatch(act.SetSimilarity("cosine"))
    loop.until(lambda: store.view.loading is None)
    assert store.session.data.name == "zoo"
    assert store.session.data.similarity == "cosine"


def test_a_session_file_that_a_bad_one_cancelled_is_named(store, loop, saved, slow):
    before, files = store.session, FileController(store, None, None)
    files.open("session", "mine.hcviz", saved)
    files.open("session", "bad.hcviz", b"nothing")
    assert store.view.message == "Reading bad.hcviz. mine.hcviz was not opened."
    slow.allowed.set()
    loop.until(lambda: store.view.loading is None)
    all_done(loop)
    assert store.session is before
    with pytest.raises(SessionFileError) as wrong:
        load_session(b"nothing")
    assert store.view.error == (wrong.value.message, wrong.value.hint)


def test_an_upload_begun_while_a_session_file_is_read_stops_it(store, loop, saved, slow):
    before, browser = store.session, Browser()
    files = FileController(store, browser, None)
    files.open("session", "mine.hcviz", saved)
    send(files, 1, "big.csv")
    assert store.view.message == "Cancelled: mine.hcviz was not opened."
    slow.allowed.set()
    all_done(loop)
    assert store.session is before
    assert store.view.loading.sentence == "Sending big.csv (0 kB)…"
    # A reading that begins later has its own end, and Cancel stops both.
    slow.allowed.clear()
    store.loader.open_session("mine.hcviz", saved)
    send(files, 1, "big.csv", piece=1)
    files.stop()
    assert store.view.message == "Cancelled: mine.hcviz was not opened. big.csv was not opened."
    assert browser.acknowledgements[-1] == (1, 2, True)
    assert store.view.loading is None
    send(files, 2, "big.csv")
    store.loader.open_session("mine.hcviz", saved)
    send(files, 2, "big.csv", piece=1)
    sending = store.view.loading
    slow.allowed.set()
    loop.until(lambda: store.session.constraints)
    assert store.view.loading is sending


def test_a_file_that_the_browser_cannot_read_ends_its_own_line_only(store, loop, saved, slow):
    files = FileController(store, Browser(), None)
    files.open("session", "mine.hcviz", saved)
    reading = store.view.loading
    files.act("unreadable", {"name": "x.csv"})
    assert store.view.error[0] == "The browser could not read x.csv."
    assert store.view.loading is reading
    files.stop()
    send(files, 1, "big.csv")
    store.loader.open_session("mine.hcviz", saved)
    send(files, 1, "big.csv", piece=1)
    files.act("unreadable", {"name": "x.csv"})
    assert store.view.loading.sentence.startswith("Sending big.csv")
    files.act("unreadable", {"name": "big.csv"})
    assert store.view.loading.sentence.startswith("Reading mine.hcviz")
    slow.allowed.set()
    loop.until(lambda: store.session.constraints)
    assert store.view.loading is None


def test_answers_given_while_a_session_file_is_read_are_counted(store, loop, saved, slow):
    files = FileController(store, None, None)
    files.open("session", "mine.hcviz", saved)
    state_a_constraint(store, ["wolf", "lion"], "carp")
    store.dispatch(act.AddChoice("odd", (4, 9, 2)))
    (known,) = load_session(saved).constraints
    store.dispatch(act.ImportConstraints((replace(known, id=9),)))  # that one is in the file
    assert len(store.session.constraints) == 2
    store.dispatch(act.DisableConstraint(store.session.constraints[0].id))
    slow.allowed.set()
    loop.until(lambda: store.view.loading is None)
    assert store.view.message == "Opened mine.hcviz; 2 answers given meanwhile are not in it."
    assert store.session.choices == ()
    files.open("session", "mine.hcviz", saved)
    loop.until(lambda: store.view.loading is None)
    assert store.view.message == "The session is as it was saved."


@pytest.mark.parametrize("has_session", [False, True])
def test_the_data_menu_names_each_data_set_once_but_for_an_offered_session(loop, has_session):
    with over_zoo(loop, "average") as zoo, over_zoo(loop, "average", "iris") as store:
        sources.offer(zoo.session if has_session else DataSpec(name="zoo"))
        try:
            names = [title for _, title in top_bar_model.state(store)["datasets"]]
        finally:
            sources.offer(None)
    assert names.count("Zoo (101 animals)") == 1 + has_session
