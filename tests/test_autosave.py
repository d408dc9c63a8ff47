"""The store writes ahead: an answer is on the disk before a run begins for it."""

from __future__ import annotations

import errno
import threading

import pytest

from hcviz.algorithms import get
from hcviz.io.journal import RUN_REPORTS, Journal, read_journal
from hcviz.io.session_file import load_session, save_session
from hcviz.io.unfinished import UnfinishedSessions, new_token
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session, equal_values
from hcviz.ui.features.autosave import controller as autosave_controller
from hcviz.ui.features.autosave.controller import AutosaveController
from hcviz.ui.features.autosave.model import state
from hcviz.ui.state.store import Store

TABLE = ("name,a,b\n" + "".join(f"item {k},{k},{k * k % 7}\n" for k in range(9))).encode()


@pytest.fixture
def shelf(tmp_path):
    return UnfinishedSessions(tmp_path, new_token())


@pytest.fixture
def make(loop):
    """Makes stores with data, each over its first run."""
    made = []

    def make_one(data: str = "zoo", method: str = "crsc") -> Store:
        store = Store(Session(method=method, constraint_mode="hard"), loop.schedule)
        made.append(store)
        assert store.open_data(DataSpec(name=data))
        loop.until(lambda: store.session.status == "settled")
        return store

    yield make_one
    for each in made:
        each.close()


def wrong(store, start=0):
    """Three items of their own, as the tree shown does not have them: a correction."""
    a, b, c = (3 * start + k for k in range(3))
    for group, apart in (((a, b), c), ((a, c), b), ((b, c), a)):
        if not store.session.tree.satisfies([(*group, apart)])[0]:
            return act.AddConstraint(group, apart)
    raise AssertionError("The tree has these three any way.")


def folders(shelf):
    return sorted(shelf.folder.iterdir()) if shelf.folder.is_dir() else []


def on_disk(shelf):
    (folder,) = folders(shelf)
    found = read_journal(folder, get)
    assert not found.damaged
    return found.session


def statements(session):
    return [(c.group, c.apart, c.enabled, c.note) for c in session.constraints]


def logged_actions(session):
    return [each.action for each in session.log if not isinstance(each.action, RUN_REPORTS)]


def wait_for_base(autosave):
    """Let the base that is due be written now."""
    autosave.next_base = 0.0
    autosave.tick()
    autosave.finish_writing()


def resume(autosave, loop):
    """Press the button, and wait until what there is was read."""
    autosave.act("resume", {})
    loop.until(lambda: autosave.store.view.loading is None)


def test_every_answer_is_in_the_log_before_anything_runs(make, shelf, loop, monkeypatch):
    """At each start of a run the disk already tells the session as it is, answer and all."""
    store = make()
    AutosaveController(store, shelf)
    starts = []

    def start(run, method, problem, params, seed, start, samples, seconds):
        kept = on_disk(shelf)
        starts.append((statements(kept), logged_actions(kept)))
        assert logged_actions(kept) == logged_actions(store.session)
        rows = problem.triplets.rows.tolist()
        assert kept.triplets.rows.tolist() == rows  # what it is to run under

    monkeypatch.setattr(store.runner, "start", start)
    store.dispatch(wrong(store))
    store.dispatch(wrong(store, 1))
    store.dispatch(act.Undo())
    store.dispatch(act.SetSeed(4))
    store.dispatch(wrong(store, 2), wrong(store, 3))
    assert [len(each) for each, _ in starts] == [1, 2, 1, 2, 3]
    assert statements(on_disk(shelf)) == statements(store.session)


def test_the_order_holds_for_any_answer_and_any_kind_of_record(make, shelf, monkeypatch):
    store = make()
    AutosaveController(store, shelf)
    order = []
    append = Journal.append
    monkeypatch.setattr(Journal, "append", lambda *given: (append(*given), order.append("written")))
    monkeypatch.setattr(store.runner, "start", lambda *given: order.append("started"))
    for number in range(5):
        store.dispatch(wrong(store, number))
    store.dispatch(act.Rerun())
    assert order == ["written", "started"] * 6


def test_looking_around_leaves_nothing_behind(make, shelf, loop):
    store = make()
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.SetSeed(3))
    loop.until(lambda: store.session.status == "settled")
    store.change_view(selection=(1, 2))
    store.open_data(DataSpec(name="iris"))
    autosave.tick()
    assert folders(shelf) == []


def test_a_table_is_kept_as_soon_as_it_is_opened_and_offered_with_an_answer(make, shelf, loop):
    store = make()
    autosave = AutosaveController(store, shelf)
    spec = DataSpec(kind="table", name="mine.csv", filename="mine.csv", content=TABLE)
    assert store.open_data(spec)
    autosave.close()
    assert [each.about.title for each in shelf.unfinished()] == ["mine.csv"]
    without = make("iris")
    AutosaveController(without, shelf)
    assert state(without)["offer"] is None  # there is nothing in it to go on with
    store.dispatch(act.AddConstraint((0, 1), 2))
    autosave.close()
    again = make("iris")
    other = AutosaveController(again, shelf)
    assert state(again)["offer"]["title"] == "mine.csv"
    resume(other, loop)
    assert again.session.data == store.session.data
    assert again.session.labels == store.session.labels


def test_each_tab_that_lost_the_server_rejoins_its_own_session(make, shelf, loop):
    """Not the newest, which is the other tab's; and not before its folder is free."""
    stores = [make(), make("iris")]
    assert [state(store)["journal"] for store in stores] == [None, None]  # nothing keeps them
    tabs = [AutosaveController(store, shelf) for store in stores]
    assert [state(store)["journal"] for store in stores] == ["", ""]
    for store in stores:
        store.dispatch(wrong(store))
        loop.until(lambda store=store: store.session.status == "settled")
    names = [state(store)["journal"] for store in stores]
    assert sorted(names) == [each.name for each in folders(shelf)]

    again = make("iris")
    other = AutosaveController(again, shelf)
    other.act("rejoin", {"name": names[0]})
    assert statements(again.session) == []  # the old page still holds it
    for tab in tabs:
        tab.close()
    other.tick()
    loop.until(lambda: statements(again.session) == statements(stores[0].session))
    assert again.session.labels == stores[0].session.labels
    assert again.view.message.startswith("Resumed")
    assert again.view.unfinished is None  # it is not offered besides


def test_a_killed_server_loses_no_answer(make, shelf, loop, monkeypatch):
    """The folder as it lies there in the middle of a run is all that another server has."""
    store = make(method="ddt")
    first = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: store.session.status == "settled")
    wait_for_base(first)
    store.dispatch(act.AddConstraint((3, 4), 5, note="so it is"))
    store.dispatch(act.EditConstraint(1, note="as well"))
    store.dispatch(act.AddConstraint((2, 0), 1))  # a conflict: kept, switched off
    store.dispatch(act.Undo())
    assert store.session.status == "sampling"
    first.tick(unattended=True)  # another page may resume it

    again = make("iris")
    second = AutosaveController(again, shelf)
    assert state(again)["offer"]["answers"] == "2 answers"
    before = again.session
    second.tick()
    assert again.session is before  # nothing happens until the person chooses
    resume(second, loop)
    assert statements(again.session) == statements(store.session)
    assert [p.label for p in again.session.past] == [p.label for p in store.session.past]
    assert [p.label for p in again.session.future] == [p.label for p in store.session.future]
    assert again.view.unfinished is None
    assert again.session.status == "sampling"  # it was at work, and is again
    loop.until(lambda: again.session.status == "settled")
    assert again.session.tree.satisfies(again.session.triplets).all()
    (kept,) = logged_actions(again.session)[-2:-1]
    assert isinstance(kept, act.RunInterrupted)
    loop.until(lambda: len(folders(shelf)) == 1)  # the old one goes when the new one is whole
    (folder,) = folders(shelf)
    assert statements(read_journal(folder, get).session) == statements(store.session)


def test_after_a_loss_undo_removes_the_last_answer_and_shows_a_tree(make, shelf, loop):
    store = make("zoo")
    first = AutosaveController(store, shelf)
    first.next_base = float("inf")  # lost before a base with trees is written
    for answer in (act.AddConstraint((0, 1), 2), act.AddConstraint((3, 4), 5)):
        store.dispatch(answer)
        loop.until(lambda: store.session.status == "settled")
    first.tick(unattended=True)

    again = make("iris")
    resume(AutosaveController(again, shelf), loop)
    loop.until(lambda: again.session.status == "settled")
    again.dispatch(act.Undo())
    assert statements(again.session) == statements(store.session)[:1]
    loop.until(lambda: again.session.status == "settled")
    assert again.session.tree.satisfies(again.session.triplets).all()
    again.dispatch(act.Redo())
    assert again.session.status == "settled"
    assert statements(again.session) == statements(store.session)


def test_resuming_gives_the_identical_session_from_a_base(make, shelf, loop, monkeypatch):
    store = make()
    first = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    store.dispatch(act.AddConstraint((3, 1), 7))
    store.dispatch(act.Undo())
    loop.until(lambda: store.session.status != "sampling")
    store.change_view(heights="even", clusters=4)
    wait_for_base(first)
    first.close()
    again = make("iris")
    resume(AutosaveController(again, shelf), loop)
    assert again.session.status == store.session.status
    for name in ("past", "future", "constraints", "snapshot", "history", "labels", "data"):
        assert equal_values(getattr(again.session, name), getattr(store.session, name)), name
    assert logged_actions(again.session) == logged_actions(store.session)
    assert (again.view.heights, again.view.clusters) == ("even", 4)


class SlowJournal:
    """``read_journal`` on a thread, while no lock is held; never on the page's own."""

    def __init__(self, monkeypatch):
        self.go, self.begun = threading.Event(), threading.Event()
        page = threading.get_ident()

        def slow(folder, methods):
            assert threading.get_ident() != page
            self.begun.set()
            assert self.go.wait(60)
            return read_journal(folder, methods)

        monkeypatch.setattr(autosave_controller, "read_journal", slow)


@pytest.fixture
def left(make, shelf):
    """A session with one answer that no page has open."""
    store = make()
    kept = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    kept.close()
    return store


def test_an_unfinished_session_is_read_in_the_background(left, make, shelf, loop, monkeypatch):
    again = make("iris")
    autosave = AutosaveController(again, shelf)
    journal, before = SlowJournal(monkeypatch), again.session
    autosave.act("resume", {})  # would wait for ever
    assert journal.begun.wait(60)
    assert again.session is before
    assert again.view.loading.sentence.startswith("Reading Zoo")
    assert again.view.loading.size > 0
    again.dispatch(act.AddConstraint((5, 6), 7))  # goes on meanwhile, and is kept
    journal.go.set()
    loop.until(lambda: again.view.loading is None)
    assert statements(again.session) == statements(left.session)
    assert again.view.message.startswith("Resumed: Zoo")
    assert again.view.message.endswith(", 1 answer; 1 answer given meanwhile is not in it.")
    assert again.view.error is None
    autosave.finish_writing()  # what is resumed is discarded just after
    loop.until(lambda: [x.about.title for x in shelf.unfinished()] == ["Iris (150 flowers)"])


def test_other_data_supersede_a_session_that_is_being_read(left, make, shelf, loop, monkeypatch):
    again = make("iris")
    autosave = AutosaveController(again, shelf)
    journal = SlowJournal(monkeypatch)
    autosave.act("resume", {})
    assert journal.begun.wait(60)
    assert again.open_data(DataSpec(name="glass"))
    names = again.session.labels
    journal.go.set()
    loop.until(lambda: again.session.status == "settled")
    assert again.session.labels == names
    assert len(folders(shelf)) == 1  # and is still offered
    assert again.view.unfinished is not None


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_a_session_discarded_while_it_is_read_is_not_resumed(
    left, make, shelf, loop, monkeypatch, where
):
    again = make("iris")
    autosave = AutosaveController(again, shelf)
    journal, before = SlowJournal(monkeypatch), again.session
    autosave.act("resume", {})
    assert journal.begun.wait(60)
    if where == "here":
        autosave.act("discard", {})
    else:
        shelf.discard(again.view.unfinished.name)
    journal.go.set()
    loop.until(lambda: again.view.loading is None)
    assert again.session is before
    assert again.view.message == ""
    assert again.view.unfinished is None
    assert again.view.error == (None if where == "here" else (autosave_controller.ELSEWHERE, ""))


def test_what_is_here_when_another_is_resumed_is_kept_too(make, shelf, loop):
    store = make()
    first = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    first.close()
    again = make("iris")
    second = AutosaveController(again, shelf)
    again.dispatch(act.AddConstraint((5, 6), 7))
    resume(second, loop)
    assert statements(again.session) == statements(store.session)
    second.finish_writing()
    loop.until(lambda: len(folders(shelf)) == 2)  # then the resumed one's first folder goes
    left = shelf.unfinished()
    assert [each.about.title for each in left] == ["Iris (150 flowers)"]


def test_a_session_file_that_is_opened_begins_another_journal(make, shelf, loop):
    store = make()
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    content = save_session(store.session)
    store.dispatch(act.AddConstraint((3, 4), 5))
    store.restore(load_session(content))
    store.dispatch(act.AddConstraint((6, 7), 8))
    autosave.close()
    found = sorted(statements(read_journal(each, get).session) for each in folders(shelf))
    assert found == sorted(
        [[((0, 1), 2, True, ""), ((3, 4), 5, True, "")],
         [((0, 1), 2, True, ""), ((6, 7), 8, True, "")]]
    )  # fmt: skip


def test_discarding_offers_the_next_and_then_nothing(make, shelf):
    for apart in (2, 3):
        store = make()
        kept = AutosaveController(store, shelf)
        store.dispatch(act.AddConstraint((0, 1), apart))
        kept.close()
    store = make()
    autosave = AutosaveController(store, shelf)
    first = store.view.unfinished
    autosave.act("discard", {})
    assert store.view.unfinished not in (None, first)
    autosave.act("discard", {})
    assert store.view.unfinished is None
    assert folders(shelf) == []
    autosave.act("discard", {})
    autosave.act("resume", {})
    assert store.view.error is None


@pytest.mark.parametrize("harm", ["all", "part"])
def test_a_damaged_session_is_reported_and_kept(make, shelf, loop, harm):
    store = make()
    kept = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    store.dispatch(act.AddConstraint((3, 4), 5))
    kept.close()
    (folder,) = folders(shelf)
    (log,) = folder.glob("log-*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    for spoilt in range(len(lines)) if harm == "all" else [len(lines) - 1]:
        lines[spoilt] = lines[spoilt].replace(b"{", b"[", 1)
    log.write_bytes(b"".join(lines))
    again = make("iris")
    autosave = AutosaveController(again, shelf)
    before = again.session
    resume(autosave, loop)
    message, hint = again.view.error
    if harm == "all":
        assert "cannot be resumed" in message
        assert again.session is before
    else:
        assert statements(again.session) == statements(store.session)[:1]
        assert "1 answer could be read" in message
    autosave.close()
    (damaged,) = [each for each in folders(shelf) if each.name.endswith(".damaged")]
    assert damaged.name in hint
    assert (damaged / log.name).read_bytes() == b"".join(lines)
    assert again.view.unfinished is None


def test_a_full_disk_is_reported_once_and_the_work_continues(make, shelf, loop, monkeypatch):
    store = make()
    autosave = AutosaveController(store, shelf)

    def refuse(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(autosave_controller.Journal, "append", refuse)
    store.dispatch(act.AddConstraint((0, 1), 2))
    assert "No space left on device" in store.view.error[0]
    assert state(store)["journal"] is None  # the page does not say that answers are kept
    assert len(store.session.constraints) == 1
    loop.until(lambda: store.session.status == "settled")
    store.dispatch(act.AddConstraint((3, 4), 5))
    assert store.view.error is None
    autosave.tick()


def test_a_slow_disk_for_bases_does_not_block_the_page(make, shelf, loop, monkeypatch):
    """While a base is being written, answers are taken, written and run."""
    store = make()
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: store.session.status == "settled")
    go, base = threading.Event(), Journal.write_base

    def slow(self, number, content):
        assert go.wait(60)
        base(self, number, content)

    monkeypatch.setattr(Journal, "write_base", slow)
    autosave.next_base = 0.0
    autosave.tick()
    assert autosave.is_writing
    store.dispatch(act.AddConstraint((3, 4), 5))
    assert statements(on_disk(shelf)) == statements(store.session)  # from the old log and the new
    autosave.tick()
    go.set()
    autosave.finish_writing()
    assert statements(on_disk(shelf)) == statements(store.session)


def test_a_removed_folder_is_made_again(make, shelf, loop):
    """Resumed in another tab while this one was not connected, say; then it came back."""
    store = make()
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    autosave.tick(unattended=True)
    (found,) = shelf.unfinished()
    shelf.discard(found.name)
    autosave.tick(unattended=False)
    store.dispatch(act.AddConstraint((3, 4), 5))
    assert statements(on_disk(shelf)) == statements(store.session)


def test_a_session_that_is_only_just_left_is_offered_a_moment_later(make, shelf):
    store = make()
    first = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    again = make("iris")
    second = AutosaveController(again, shelf)
    assert again.view.unfinished is None  # the reloaded page comes before the old one is gone
    first.tick(unattended=True)
    second.tick()
    assert again.view.unfinished is not None


def test_a_token_that_the_browser_had_before_takes_over(make, shelf, tmp_path):
    store = make()
    kept = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    kept.close()
    token = new_token()
    known = UnfinishedSessions(tmp_path, token)
    shelf.folder.rename(known.folder)
    again = make("iris")
    autosave = AutosaveController(again, shelf)
    for bad in ("", "x", "../" * 20):
        autosave.use_visitor(bad)
    assert again.view.unfinished is None
    autosave.use_visitor(token)
    assert again.view.unfinished is not None
