"""Faults of the state folder and of clocks, and two tabs on one session: nothing is lost unseen."""

from __future__ import annotations

import errno
import os
import re
import time

import pytest

from hcviz.algorithms import get
from hcviz.io import journal, unfinished
from hcviz.io.session_file import load_session, save_session
from hcviz.io.unfinished import UnfinishedSessions, new_token, prune
from hcviz.session import actions as act
from hcviz.ui.features.autosave.controller import AutosaveController
from hcviz.ui.features.autosave.model import state
from hcviz.ui.features.files.controller import FileController
from tests.conftest import ROOT
from tests.test_autosave import make, on_disk, resume, statements, wait_for_base

__all__ = ["make"]  # a fixture


@pytest.fixture
def shelf(tmp_path):
    return UnfinishedSessions(tmp_path / "state", new_token())


def raising(number):
    def refuse(*given, **options):
        raise OSError(number, os.strerror(number))

    return refuse


def works_on(store, loop):
    """The page takes answers and computes trees as before."""
    store.dispatch(act.AddConstraint((3, 4), 5))
    loop.until(lambda: store.session.status == "settled")
    assert len(store.session.constraints) == 2
    assert store.session.tree.satisfies(store.session.triplets).all()


def a_file_instead(shelf, monkeypatch):
    shelf.root.write_text("a file")


def a_file_for_the_visitor(shelf, monkeypatch):
    shelf.root.mkdir()
    shelf.folder.write_text("a file")


def read_only(shelf, monkeypatch):
    """As root, tests may write anywhere, so the system call says so."""
    monkeypatch.setattr(journal.os, "open", raising(errno.EROFS))


def no_folder_can_be_made(shelf, monkeypatch):
    monkeypatch.setattr(journal.Path, "mkdir", raising(errno.EACCES))


def full(shelf, monkeypatch):
    monkeypatch.setattr(journal.os, "fsync", raising(errno.ENOSPC))


@pytest.mark.parametrize(
    "break_it", [a_file_instead, a_file_for_the_visitor, read_only, no_folder_can_be_made, full]
)
def test_a_read_only_folder_is_reported_once_and_the_work_continues(
    break_it, make, shelf, loop, monkeypatch
):
    store = make()
    break_it(shelf, monkeypatch)
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    sentence, hint = store.view.error
    assert sentence.startswith("This session cannot be saved on the server (")
    assert "Save the session to a file" in hint
    assert state(store)["journal"] is None  # the page does not promise that answers are kept
    store.change_view(error=None)
    works_on(store, loop)
    autosave.tick()
    assert store.view.error is None  # shown once
    content = save_session(store.session)  # what the page advises is possible
    assert load_session(content).constraints == store.session.constraints


def test_a_disk_that_is_full_in_the_middle_keeps_what_was_written(make, shelf, loop, monkeypatch):
    store = make()
    AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    full(shelf, monkeypatch)
    store.dispatch(act.AddConstraint((3, 4), 5))
    assert "cannot be saved" in store.view.error[0]
    assert len(store.session.constraints) == 2
    assert statements(on_disk(shelf))[:1] == statements(store.session)[:1]


def test_a_full_disk_for_a_base_leaves_the_log(make, shelf, loop, monkeypatch):
    store = make()
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: store.session.status == "settled")
    monkeypatch.setattr(journal, "_replace", raising(errno.ENOSPC))
    autosave.next_base = 0.0
    autosave.tick()
    loop.until(lambda: (autosave.tick(), not autosave.is_writing)[1])
    store.dispatch(act.AddConstraint((3, 4), 5))
    assert statements(on_disk(shelf)) == statements(store.session)


# ---------------------------------------------------------------------- two tabs


def test_two_tabs_on_one_session_file_keep_both_works(make, shelf, loop):
    """Each tab has a journal of its own, and saving sends a file: neither overwrites the other."""
    origin = make()
    origin.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: origin.session.status == "settled")
    content = save_session(origin.session)
    stores = make(), make()
    kept = []
    for number, store in enumerate(stores):
        kept.append(AutosaveController(store, shelf))
        FileController(store, None, None).open("session", "same.hcviz", content)
        loop.until(lambda store=store: len(store.session.constraints) == 1)
        store.dispatch(act.AddConstraint((3, 4 + number), 7))
        loop.until(lambda store=store: store.session.status == "settled")
        wait_for_base(kept[-1])
    for autosave in kept:
        autosave.close()
    offers = shelf.unfinished()
    assert len(offers) == 2
    found = [
        statements(journal.read_journal(shelf.path(each.name), get).session) for each in offers
    ]
    assert sorted(found) == sorted(statements(store.session) for store in stores)


def test_a_tab_that_slept_does_not_overwrite_the_work_of_the_tab_that_took_over(make, shelf, loop):
    sleeper = make()
    first = AutosaveController(sleeper, shelf)
    sleeper.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: sleeper.session.status == "settled")
    first.tick(unattended=True)  # its browser is asleep
    other = make("iris")
    second = AutosaveController(other, shelf)
    resume(second, loop)
    second.finish_writing()
    loop.until(lambda: other.session.status != "sampling")
    other.dispatch(act.AddConstraint((3, 4), 5))
    wait_for_base(second)
    first.tick(unattended=False)  # it wakes up
    sleeper.dispatch(act.AddConstraint((6, 7), 8))
    first.finish_writing()
    for autosave in (first, second):
        autosave.close()
    found = {
        tuple(statements(journal.read_journal(shelf.path(each.name), get).session))
        for each in shelf.unfinished()
    }
    assert found == {tuple(statements(sleeper.session)), tuple(statements(other.session))}


# ---------------------------------------------------------------------- clocks


def test_a_clock_that_is_set_forward_removes_no_session(make, shelf, monkeypatch):
    store = make()
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    autosave.close()
    now = time.time()
    monkeypatch.setattr(unfinished.time, "time", lambda: now + 400 * 86400)
    prune(shelf.root)
    assert len(shelf.unfinished()) == 1


@pytest.mark.parametrize("jump", [-10 * 86400, 10 * 86400])
def test_bases_are_written_for_any_wall_clock(jump, make, shelf, loop, monkeypatch):
    store = make()
    autosave = AutosaveController(store, shelf)
    store.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: store.session.status == "settled")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + jump)
    wait_for_base(autosave)
    assert list(shelf.folder.glob("*/base-*.hcviz"))
    assert autosave.next_base - time.monotonic() < 60


def test_durations_are_measured_by_clocks_that_are_never_set_back():
    """``time.time`` and dates are for what people read, and for the ages of files."""
    allowed = {"io/unfinished.py", "session/actions.py", "reproduce/record.py"}
    root = ROOT / "hcviz"
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"\btime\.time(_ns)?\(|datetime\.now\(", path.read_text(encoding="utf-8"))
    }
    assert found <= allowed
    scripts = [path for path in root.rglob("*.js") if "Date.now()" in path.read_text("utf-8")]
    assert not scripts
