"""The card that asks about three, without a browser."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Comparisons
from hcviz.io.answers import new_comparisons
from hcviz.io.comparison_csv import read_comparison_csv, write_comparison_csv
from hcviz.io.session_file import load_session, save_session
from hcviz.questions.next_triple import next_triple
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app import shell_state
from hcviz.ui.features.autosave.model import worth_keeping
from hcviz.ui.features.comparisons import model as comparisons_model
from hcviz.ui.features.comparisons.controller import ComparisonController
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.features.history import model as history_model
from hcviz.ui.features.history import steps as history_steps
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.questions.controller import QuestionController
from hcviz.ui.features.top_bar import model as top_bar_model
from hcviz.ui.state import data_sources as sources
from hcviz.ui.state.store import Store
from tests.stores import over_zoo


def test_three_come_from_the_third_that_was_seen_least():
    rng = np.random.default_rng(0)
    seen = np.array([5, 0, 9, 1, 7, 8, 6, 2, 9])  # least: items 1, 3 and 7
    assert {frozenset(next_triple(seen, rng)) for _ in range(20)} == {frozenset({1, 3, 7})}
    orders = {next_triple(seen, rng) for _ in range(200)}
    assert len(orders) == 6  # in every order: 200 draws miss one with probability 6 (5/6)^200
    second = next_triple(seen, rng, {frozenset({1, 3, 7})})
    assert frozenset(second) != {1, 3, 7}
    anywhere = {item for _ in range(200) for item in next_triple(seen, rng, source="any")}
    assert anywhere == set(range(9))


@pytest.mark.parametrize("source", ["seldom", "any"])
def test_every_three_comes_once_and_then_none(source):
    rng = np.random.default_rng(1)
    asked: set[frozenset[int]] = set()
    for _ in range(math.comb(6, 3)):
        three = next_triple(np.zeros(6, np.int64), rng, asked, source)
        assert len(set(three)) == 3
        assert frozenset(three) not in asked
        asked.add(frozenset(three))
    assert next_triple(np.zeros(6, np.int64), rng, asked, source) is None
    assert next_triple(np.zeros(2, np.int64), rng, source=source) is None


@pytest.fixture
def flowers(loop):
    made = Store(Session(method="4-al"), loop.schedule)
    assert made.open_data(DataSpec(name="flowers"))
    loop.until(lambda: made.session.status == "settled")
    yield made
    made.close()


def test_an_answer_is_kept_and_the_next_three_come_at_once(flowers, loop):
    card = ComparisonController(flowers)
    assert not card.key("1")
    assert card.key("c")
    shown = comparisons_model.state(flowers)
    json.dumps(shown)
    assert shown["ask"] == "Which is the odd one out?"
    assert [item["image"][:10] for item in shown["items"]] == ["data:image"] * 3
    three = flowers.view.three
    before = flowers.problem.comparisons
    assert card.key("2")
    assert flowers.session.choices[0].items == (three[1], three[0], three[2])
    assert flowers.view.three != three
    assert len(flowers.problem.comparisons) == len(before) + 2
    assert flowers.session.status == "sampling"
    loop.until(lambda: flowers.session.status == "settled")
    assert flowers.session.snapshot.metrics["answers"] == len(before) + 2
    assert flowers.dataset.comparisons == before  # the data stay as they were
    card.act("question", {"value": "central"})
    third = flowers.view.three[2]
    card.key("3")
    assert flowers.session.choices[1].question == "central"
    assert flowers.session.choices[1].items[0] == third
    flowers.dispatch(act.Undo(), act.Undo())
    assert flowers.session.choices == ()


def test_the_question_is_that_of_the_crowd_until_another_is_chosen(flowers):
    card = ComparisonController(flowers)
    assert comparisons_model.current_question(flowers) == "odd"
    assert flowers.dataset is not None
    flowers.prepare_data(
        replace(flowers.dataset, asked={"odd": 2, "central": 3}), flowers.session.data
    )
    card.act("compare", {})
    shown = comparisons_model.state(flowers)
    assert shown["ask"] == "Which of the three is most central?"
    assert shown["question"] == "central"
    card.key("1")
    assert flowers.session.choices[0].question == "central"
    card.act("question", {"value": "odd"})
    card.key("1")
    assert flowers.session.choices[1].question == "odd"
    flowers.prepare_data(replace(flowers.dataset, asked={"triplets": 9}), flowers.session.data)
    flowers.change_view(three_question=None, three=())
    assert comparisons_model.current_question(flowers) == "odd"


def test_the_open_question_stays_when_answers_come_meanwhile(flowers):
    card = ComparisonController(flowers)
    card.act("compare", {})
    flowers.prepare_data(replace(flowers.dataset, asked={"central": 99}), flowers.session.data)
    assert comparisons_model.state(flowers)["question"] == "odd"
    card.key("1")
    assert flowers.session.choices[-1].question == "odd"
    assert comparisons_model.state(flowers)["question"] == "central"  # the next three


def test_the_page_state_has_the_asking_card(flowers):
    card = ComparisonController(flowers)
    assert not shell_state.state(flowers)["asking"]
    card.key("c")
    assert shell_state.state(flowers)["asking"]
    card.key("x")
    assert not shell_state.state(flowers)["asking"]
    flowers.change_view(wants_question=True)
    assert shell_state.state(flowers)["asking"]


def test_an_answer_about_three_is_not_shown_as_two(flowers):
    snapshot = flowers.session.snapshot
    metrics = {"answers": 4196.0, "converged": 0.0, "queries": 7.0, "k low": 2.0}
    flowers.session = replace(flowers.session, snapshot=replace(snapshot, metrics=metrics))
    facts = dict(inspector_model.live(flowers)["facts"])
    assert facts["Comparisons"] == "4,196"
    assert facts["Converged"] == "no"
    assert facts["Questions asked"] == "7"
    assert facts["Smallest k tried"] == "2"


def test_any_answer_can_be_taken_back(flowers, loop):
    card = ComparisonController(flowers)
    for items in ((0, 1, 2), (3, 4, 5), (6, 7, 8)):
        flowers.dispatch(act.AddChoice("odd", items))
    loop.until(lambda: flowers.session.status == "settled")
    listed = comparisons_model.state(flowers)["given"]
    assert [each["at"] for each in listed] == [2, 1, 0]  # the newest first
    card.act("show", {"at": 1})
    assert set(flowers.view.selection) == {3, 4, 5}
    count = len(flowers.problem.comparisons)
    card.act("take-back", {"at": 1})
    assert [each.items for each in flowers.session.choices] == [(0, 1, 2), (6, 7, 8)]
    assert len(flowers.problem.comparisons) == count - 2
    assert flowers.session.status == "sampling"
    loop.until(lambda: flowers.session.status == "settled")
    assert flowers.session.snapshot.metrics["answers"] == count - 2
    card.act("take-back", {"at": 2})  # it is gone meanwhile
    assert len(flowers.session.choices) == 2
    flowers.dispatch(act.Undo())
    assert [each.items for each in flowers.session.choices] == [(0, 1, 2), (3, 4, 5), (6, 7, 8)]


def test_a_long_list_counts_what_is_left_out(flowers):
    for odd in range(2, 22):
        for other in (0, 1, 45, 46, 47):
            flowers.dispatch(act.AddChoice("odd", (odd, other, 44)))
    shown = comparisons_model.state(flowers)
    assert shown["answers"] == 100 > len(shown["given"]) == comparisons_model.MAX_LISTED
    assert shown["given"][0]["at"] == 99


def test_the_similarity_menu_explains_when_there_is_no_choice(flowers, loop):
    word, why = top_bar_model.state(flowers)["similarityNote"]
    assert word == "none, only answers"
    assert "without features" in why
    with over_zoo(loop, "average") as store:
        assert top_bar_model.state(store)["similarityNote"] is None
        assert store.open_data(DataSpec(name="planted"))
        assert top_bar_model.state(store)["similarityNote"][0] == "measured"


def test_enough_answers_move_the_tree(flowers, loop):
    """One says again and again that two far apart are alike: they end up side by side."""
    tree = flowers.session.tree
    first = 0
    far = [i for i in range(48) if tree.lca(first, i) == tree.root]
    other = far[0]
    rest = [i for i in range(48) if i not in (first, other)]
    for odd in rest * 6:
        flowers.dispatch(act.AddChoice("odd", (odd, first, other)))
    loop.until(lambda: flowers.session.status == "settled")
    moved = flowers.session.tree
    assert moved != tree
    assert moved.size[moved.lca(first, other)] == 2


def test_what_is_skipped_is_not_put_again(flowers):
    card = ComparisonController(flowers)
    card.act("from", {"value": "any"})
    card.key("c")
    put = {frozenset(flowers.view.three)}
    for _ in range(30):
        assert card.key(" ")
        assert frozenset(flowers.view.three) not in put
        put.add(frozenset(flowers.view.three))
    assert flowers.session.choices == ()
    assert card.key("x")
    assert flowers.view.three == ()


def test_data_without_comparisons_gather_them_and_a_method_is_offered(loop):
    with over_zoo(loop, "average") as store:
        card, other = ComparisonController(store), QuestionController(store)
        assert not comparisons_model.state(store)["prominent"]
        reads = {m[0]: m[2] for m in top_bar_model.state(store)["methods"]}
        assert reads["4-al"]
        card.key("c")
        tree = store.session.tree
        card.key("1")
        assert store.session.tree is tree
        offered = comparisons_model.state(store)["ignored"]
        assert offered["sentence"] == "Average linkage does not use comparisons."
        reads = {m[0]: m[2] for m in top_bar_model.state(store)["methods"]}
        assert not reads["4-al"]
        card.act("method", {"value": offered["method"]})
        loop.until(lambda: store.session.status == "settled")
        assert store.session.method == "4-al"
        assert comparisons_model.state(store)["ignored"] is None
        other.key("q")  # one card at a time
        assert store.view.three == ()
        loop.until(lambda: store.view.question is not None)
        card.key("c")
        assert store.view.question is None
        store.dispatch(act.SetSeed(3))
        assert store.open_data(DataSpec(name="zoo", scaling="none"))
        assert len(store.session.choices) == 1
        assert store.session.method == "4-al"  # the answers stay, so does what reads them
        assert store.open_data(DataSpec(name="iris"))
        assert store.view.three == ()


class Saved:
    def download(self, filename, content, mime):
        self.filename, self.content = filename, content


def test_answers_are_saved_as_csv_that_is_read_again(flowers):
    part = Saved()
    files = FileController(flowers, part, None)
    card = ComparisonController(flowers)
    card.key("c")
    card.key("1")
    card.act("question", {"value": "central"})
    card.key("2")
    files.act("save", {"what": "answers"})
    assert part.filename == "flowers-answers.csv"
    rows = list(csv.DictReader(io.StringIO(part.content.decode())))
    assert [row["question"] for row in rows] == ["odd", "central"]
    labels = flowers.session.labels
    for row, choice in zip(rows, flowers.session.choices, strict=True):
        assert row["chosen"] == labels[choice.items[0]]
    again = read_comparison_csv(part.content, labels)
    assert len(again.comparisons) == 4
    files.act("save", {"what": "comparisons"})
    again = read_comparison_csv(part.content, labels).comparisons
    assert sorted(again.rows.tolist()) == sorted(flowers.problem.comparisons.rows.tolist())


def upload(store, text, kind="comparisons", name="mine.csv"):
    content = base64.b64encode(text.encode()).decode()
    piece = {"id": text, "kind": kind, "name": name, "piece": 0, "pieces": 1, "base64": content}
    FileController(store, Saved(), None).act("upload", piece)


def test_answers_about_the_items_shown_are_added_to_them(flowers, loop):
    labels, images, before = flowers.session.labels, flowers.dataset.images, flowers.problem
    a, b, c = labels[5], labels[17], labels[30]
    upload(flowers, f"odd;other_1;other_2;count\n{a};{b};{c};3\n{b};{a};{c};1\n", name="crowd.csv")
    assert flowers.view.error is None
    assert (
        flowers.view.message
        == "8 comparisons from crowd.csv added to the 48 items shown, 4,204 now."
    )
    loop.until(lambda: flowers.session.status == "settled")
    assert flowers.view.message.startswith("8 comparisons from crowd.csv added")
    assert flowers.session.snapshot.metrics["answers"] == 4204
    assert (flowers.session.labels, flowers.dataset.images) == (labels, images)
    assert flowers.dataset.asked["odd"] == before_asked(flowers) + 4
    assert flowers.dataset.notes[-1] == "8 comparisons came from 'crowd.csv'."
    upload(flowers, f"anchor,near,far\n{a},{b},{c}\n")
    assert len(flowers.problem.comparisons) == 4205
    flowers.dispatch(act.Undo())
    assert len(flowers.problem.comparisons) == 4204
    again = load_session(save_session(flowers.session))
    flowers.dispatch(act.Undo())
    assert flowers.problem.comparisons == before.comparisons
    assert flowers.restore(again)
    assert len(flowers.problem.comparisons) == 4204
    assert worth_keeping(flowers.session)
    upload(flowers, f"anchor,near,far\n{a},{b},{c}x\n")
    assert flowers.view.error[0] == f"Line 2, column far: there is no item '{c}x'."
    assert flowers.view.error[1] == f"The nearest is '{c}'."
    assert len(flowers.problem.comparisons) == 4204
    upload(flowers, f"anchor,near,far\n{a},{b},{c}\n", kind="features")  # data of their own
    assert flowers.session.labels == (a, b, c)
    assert flowers.session.data.answers == ()


def test_answers_come_back_once_into_the_session_that_gave_them(flowers):
    labels = flowers.session.labels
    for items in ((5, 17, 30), (5, 17, 30), (8, 2, 40)):  # the same twice in one second is twice
        flowers.dispatch(act.AddChoice("odd", items, time="2026-01-01T00:00:00+00:00"))
    part = Saved()
    FileController(flowers, part, None).act("save", {"what": "answers"})
    text, now = part.content.decode(), len(flowers.problem.comparisons)
    log = len(flowers.session.log)
    upload(flowers, text, name="mine.csv")
    assert flowers.view.error is None
    assert (
        flowers.view.message == "mine.csv has 3 answers that are already here: nothing was added."
    )
    assert (len(flowers.session.log), len(flowers.problem.comparisons)) == (log, now)

    a, b, c = labels[1], labels[2], labels[3]
    more = text + f"odd,{a},{b},{c},Ana,2026-01-01T00:00:00+00:00\r\n"
    upload(flowers, more, name="more.csv")
    assert flowers.view.message.endswith(f"{now + 2:,} now. 3 of its answers were already here.")
    assert len(flowers.problem.comparisons) == now + 2
    upload(flowers, more, name="more.csv")  # those that came with a file are there too
    assert (
        flowers.view.message == "more.csv has 4 answers that are already here: nothing was added."
    )
    flowers.dispatch(act.Undo())
    flowers.dispatch(act.Undo())  # the last of the three
    upload(flowers, text, name="mine.csv")
    assert flowers.view.message.endswith(f"{now:,} now. 2 of its answers were already here.")
    assert len(flowers.problem.comparisons) == now
    unsigned = f"odd,other_1,other_2\r\n{a},{b},{c}\r\n"  # without an author
    for more in (2, 4):
        upload(flowers, unsigned, name=f"{more}.csv")
        assert len(flowers.problem.comparisons) == now + more


def test_the_strip_counts_answers_of_files(flowers):
    labels = flowers.session.labels
    a, b, c = labels[5], labels[17], labels[30]

    def answer_counts():
        return [step["answers"] for step in history_steps.state(flowers)["steps"]]

    flowers.dispatch(act.AddChoice("odd", (5, 17, 30)))
    upload(flowers, f"odd;other_1;other_2;count\n{a};{b};{c};1200\n{b};{a};{c};1\n", name="x.csv")
    upload(flowers, f"anchor,near,far\n{a},{b},{c}\n")
    assert answer_counts() == ["0 answers", "1 answer", "1,202 answers", "1,203 answers"]
    flowers.dispatch(act.Undo())
    assert answer_counts() == ["0 answers", "1 answer", "1,202 answers", "1,203 answers"]
    again = load_session(save_session(flowers.session))
    sources.ANSWER_COUNTS.clear()  # in another server
    assert flowers.restore(again)
    assert answer_counts() == ["0 answers", "1 answer", "1,202 answers", "1,203 answers"]


def before_asked(store):
    return sources.built_in("flowers").asked.get("odd", 0)


def test_a_later_state_of_the_same_list_adds_what_is_new(flowers, loop):
    labels, known = flowers.session.labels, flowers.problem.comparisons
    text = write_comparison_csv(known, labels)
    log = len(flowers.session.log)

    def upload_whole(text, name="mine.csv"):
        upload(flowers, text, name=name)
        loop.until(lambda: flowers.view.loading is None)  # a large file is read beside the page

    upload_whole(text)
    assert "4,196 comparisons here and no others: nothing was added" in flowers.view.message
    assert len(flowers.session.log) == log
    upload_whole(write_comparison_csv(known + first(known, 2), labels))
    assert "4,196 comparisons here and 2 more, which were added." in flowers.view.message
    assert flowers.problem.comparisons == known + first(known, 2)
    shorter = first(known, 4000)
    upload_whole(write_comparison_csv(shorter, labels), name="other.csv")
    assert "4,000 comparisons from other.csv added" in flowers.view.message
    assert len(flowers.problem.comparisons) == 8198


def first(comparisons, count):
    return Comparisons(comparisons.rows[:count])


@given(st.integers(3, 5), st.booleans(), st.booleans(), st.data())
def test_beyond_is_what_a_multiset_has_besides(n, known_four, found_four, data):
    def some(four):
        pairs = list(permutations(range(n), 2))
        rows = [(*a, *b) for a in pairs for b in pairs] if four else list(permutations(range(n), 3))
        return data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=8))

    def bag(comparisons):
        rows = comparisons.as_quadruplets().rows.tolist()
        return Counter((frozenset(r[:2]), frozenset(r[2:])) for r in rows)

    known = Comparisons(some(known_four))
    found = Comparisons(some(found_four))
    if data.draw(st.booleans()):
        found = found + known
    more = new_comparisons(found, known)
    if bag(known) <= bag(found):
        assert bag(more) == bag(found) - bag(known)
    else:
        assert more is None


def test_answers_join_data_that_the_method_in_use_does_not_ask(loop):
    with over_zoo(loop, "average") as store:
        tree = store.session.tree
        upload(store, "anchor,near,far\nbear,lion,carp\nbear,wolf,gnat\n")
        message = "2 comparisons from mine.csv added to the 101 items shown. average does not read"
        assert store.view.message.startswith(message)
        assert store.session.tree is tree
        assert comparisons_model.state(store)["ignored"]["method"] == "4-al"
        assert worth_keeping(store.session)
        store.dispatch(act.SetMethod("4-al"))
        loop.until(lambda: store.session.status == "settled")
        assert store.session.snapshot.metrics["answers"] == 2
        assert store.problem.features is not None
        FileController(store, Saved(), None).act("copied", {"ok": True})
        assert "It does not contain the added comparisons" in store.view.message
        upload(store, "anchor,near,far\nbear,x,y\n", name="else.csv")
        assert store.session.labels == ("bear", "x", "y")
        loop.until(lambda: store.session.status == "settled")
        assert store.view.message == (
            "1 of its 3 names is among the items shown before, so the file was opened as new data. "
            "Done."
        )
        store.dispatch(act.Undo())
        assert len(store.session.labels) == 101
        assert len(store.problem.comparisons) == 2


def test_answers_that_cancel_are_a_sentence_and_the_tree_stays(loop):
    with over_zoo(loop, "average") as store:
        tree = store.session.tree
        upload(store, "anchor,near,far\nbear,lion,carp\nbear,carp,lion\n")
        store.dispatch(act.SetMethod("4-al"))
        loop.until(lambda: store.session.status == "failed")
        assert history_model.state(store)["error"][0].startswith(
            "The answers cancel: each question"
        )
        assert store.session.tree is tree


def test_an_upload_of_comparisons_is_opened_or_refused_in_a_sentence(flowers):
    labels = flowers.session.labels
    for text, message in (
        ("a,b\n1,2\n", "no header that names the question"),
        (
            "anchor,near,far\nx,y,y\n",
            "Line 2 of the answers compares an item with itself: x, y, y.",
        ),
        ("odd,other_1,other_2\n", "has no answers"),
        ("central,other_1,other_2\nx,,z\n", "Line 2, column other_1: the name is missing."),
    ):
        upload(flowers, text)
        assert message in flowers.view.error[0]
        assert flowers.session.labels == labels
    upload(flowers, "central,other_1,other_2,count\nx,y,z,3\nz,x,w,1\n")
    assert flowers.view.error is None
    assert flowers.session.labels == ("x", "y", "z", "w")
    assert flowers.dataset.asked == {"central": 4}
