"""Unfinished sessions on disk: nothing lost that was written, nothing believed that was not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.algorithms import get
from hcviz.core.errors import SessionFileError
from hcviz.io import unfinished
from hcviz.io.journal import RUN_REPORTS, Journal, SessionSummary, read_journal, read_summary
from hcviz.io.lock import FileLock, is_locked
from hcviz.io.unfinished import UnfinishedSessions, is_token, new_token, prune, state_folder
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, equal_values
from tests.sessions import ANIMALS, Driver

TABLE = b"name,legs\nbat,2\nwhale,0\n" * 50
ABOUT = SessionSummary("Zoo", 2, "2026-11-21T12:31:00+00:00")


def actions(session, since=0):
    """What the log tells of a session, as a journal is given it."""
    return [each.action for each in session.log[since:] if not isinstance(each.action, RUN_REPORTS)]


def answers(session):
    return [(c.id, c.group, c.apart, c.enabled, c.note, c.author) for c in session.constraints]


def steps(session):
    """What undo and redo would say, newest last."""
    return [p.label for p in session.past], [p.label for p in session.future]


@pytest.fixture
def driver():
    """A session with answers of every kind, a conflict, undo and redo; a run is at work."""
    made = Driver(labels=())
    made(act.LoadedData(DataSpec(kind="table", filename="my.csv", content=TABLE), ANIMALS))
    made.settle()
    made(act.AddConstraint((0, 1, 2), 3, author="Ada", note="mammals"))
    made.go(2)
    made(act.AddConstraint((0, 3), 1))  # a conflict
    made(act.AddConstraint((3, 4), 0))
    made(act.SetParams({"c": 0.1}))
    made(act.Undo())
    made(act.EditConstraint(1, note="all mammals"))
    made(act.AddConstraint((3, 4), 5))
    made.go(1)
    return made


def written(folder, session):
    journal = Journal(folder)
    journal.append(actions(session), ABOUT)
    journal.close()


def test_the_log_alone_gives_back_answers_undo_and_redo(tmp_path, driver):
    written(tmp_path / "a", driver.session)
    found = read_journal(tmp_path / "a", get)
    assert not found.damaged
    session = found.session
    assert answers(session) == answers(driver.session)
    assert steps(session) == steps(driver.session)
    assert actions(session) == actions(driver.session)
    assert session.labels == driver.session.labels
    assert session.data == driver.session.data  # the table's bytes, too
    assert session.params == driver.session.params
    assert session.next_id == driver.session.next_id
    assert session.status == "sampling"  # so a page that resumes it continues the run


def test_a_base_and_the_actions_after_it(tmp_path, driver):
    journal = Journal(tmp_path / "a")
    journal.append(actions(driver.session), ABOUT)
    finish, whole = journal.rotate(ABOUT), driver.session
    before = len(driver.session.log)
    driver(act.AddConstraint((6, 7), 0))
    journal.append(actions(driver.session, before), ABOUT)
    finish(whole)  # late, as on a thread of its own
    assert sorted(p.name for p in (tmp_path / "a").glob("*-*")) == [
        f"base-{journal.number - 1:08}.hcviz",
        f"log-{journal.number - 1:08}.jsonl",
    ]
    found = read_journal(tmp_path / "a", get)
    assert not found.damaged
    assert equal_values(found.session, driver.session)  # trees, sampler's state, history and all
    journal.close()


def test_until_the_new_base_is_written_the_old_log_counts(tmp_path, driver):
    journal = Journal(tmp_path / "a")
    journal.append(actions(driver.session), ABOUT)
    journal.rotate(ABOUT)  # and then the server is killed
    before = len(driver.session.log)
    driver(act.AddConstraint((6, 7), 0))
    journal.append(actions(driver.session, before), ABOUT)
    assert answers(read_journal(tmp_path / "a", get).session) == answers(driver.session)
    journal.close()


def test_a_damaged_base_is_no_reason_to_forget_an_older_log(tmp_path, driver):
    journal = Journal(tmp_path / "a")
    journal.append(actions(driver.session), ABOUT)
    (tmp_path / "a" / "base-00000003.hcviz").write_bytes(b"PK nonsense")
    found = read_journal(tmp_path / "a", get)
    assert found.damaged
    assert answers(found.session) == answers(driver.session)
    journal.close()


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


@settings(max_examples=60)
@given(share=st.floats(0, 1))
def test_a_log_cut_anywhere_gives_the_actions_before_the_cut(tmp_path_factory, share):
    folder = tmp_path_factory.mktemp("cut") / "a"
    driver = Driver()
    for apart in range(2, 8):
        driver(act.AddConstraint((0, 1), apart))
    written(folder, driver.session)
    (log,) = folder.glob("log-*.jsonl")
    size = int(share * log.stat().st_size)
    kept = log.read_bytes()[:size].count(b"\n")
    cut(log, size)
    if kept < 2:  # not even the data
        with pytest.raises(SessionFileError):
            read_journal(folder, get)
        return
    found = read_journal(folder, get)
    assert not found.damaged  # a torn line is what a crash leaves
    assert answers(found.session) == answers(driver.session)[: kept - 2]


@pytest.mark.parametrize("harm", ["flip", "drop", "swap", "action"])
def test_what_was_changed_is_not_believed_nor_what_follows(tmp_path, driver, harm):
    written(tmp_path / "a", driver.session)
    (log,) = (tmp_path / "a").glob("log-*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    if harm == "flip":
        lines[3] = lines[3].replace(b'"apart":1', b'"apart":2')
    elif harm == "drop":
        del lines[3]
    elif harm == "swap":
        lines[3], lines[4] = lines[4], lines[3]
    else:
        body = lines[3][9:].rstrip(b"\n").replace(b"AddConstraint", b"Constraint")
        lines[3] = b"%08x %s\n" % (zlib.crc32(body), body)
    log.write_bytes(b"".join(lines))
    found = read_journal(tmp_path / "a", get)
    assert found.damaged
    (first,) = found.session.constraints  # before its note was edited
    assert (first.group, first.apart, first.note) == ((0, 1, 2), 3, "mammals")


def test_a_log_names_no_file_outside_its_folder(tmp_path, driver):
    (tmp_path / "secret").write_bytes(b"name\nx\ny\nz\n")
    written(tmp_path / "a", driver.session)
    (log,) = (tmp_path / "a").glob("log-*.jsonl")
    text = log.read_bytes()
    (table,) = (tmp_path / "a" / "tables").iterdir()
    bodies = [line[9:] for line in text.splitlines()]
    changed = [b.replace(f"tables/{table.name}".encode(), b"tables/../../secret") for b in bodies]
    assert changed != bodies
    log.write_bytes(b"".join(b"%08x %s\n" % (zlib.crc32(b), b) for b in changed))
    with pytest.raises(SessionFileError):
        read_journal(tmp_path / "a", get)


def test_about_is_the_newest_line_that_can_be_read(tmp_path, driver):
    journal = Journal(tmp_path / "a")
    assert read_summary(tmp_path / "a") is None
    for count in range(3):
        journal.append(actions(driver.session)[:1], SessionSummary("Zoo", count, "now"))
    assert read_summary(tmp_path / "a") == SessionSummary("Zoo", 2, "now")
    (log,) = (tmp_path / "a").glob("log-*.jsonl")
    cut(log, log.stat().st_size - 5)
    assert read_summary(tmp_path / "a") == SessionSummary("Zoo", 1, "now")
    journal.close()


# ---------------------------------------------------------------------- whose they are


def test_a_lock_has_one_holder_and_goes_with_its_process(tmp_path):
    path = tmp_path / "lock"
    first, second = FileLock(path), FileLock(path)
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    assert is_locked(path)
    first.release()
    assert not is_locked(path)
    code = (
        "import sys; from pathlib import Path; from hcviz.io.lock import FileLock;"
        f"FileLock(Path({str(path)!r})).acquire(); print('taken', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"taken\n"
    assert is_locked(path)
    assert not second.acquire()
    other.kill()
    other.wait()
    assert second.acquire()
    second.release()


def test_each_visitor_sees_their_own_only(tmp_path, driver):
    mine, theirs = (
        UnfinishedSessions(tmp_path, new_token()),
        UnfinishedSessions(tmp_path, new_token()),
    )
    journal = mine.new_journal()
    journal.append(actions(driver.session), ABOUT)
    assert mine.unfinished() == []  # a page has it open
    journal.close()
    (found,) = mine.unfinished()
    assert found.about == ABOUT
    assert theirs.unfinished() == []
    theirs.discard(found.name)
    theirs.discard(f"../{mine.folder.name}/{found.name}")
    assert mine.unfinished() == [found]
    if os.name == "posix":
        assert mine.path(found.name).stat().st_mode & 0o077 == 0
    mine.discard(found.name)
    assert mine.unfinished() == []


def test_tokens_cannot_be_guessed_and_are_checked():
    assert len({new_token() for _ in range(100)}) == 100
    assert is_token(new_token())
    for bad in ("", "short", "../" * 20, "x" * 65, "a b" * 12, "x" * 40 + "\n", None, 7):
        assert not is_token(bad)
    with pytest.raises(ValueError, match="token"):
        UnfinishedSessions(state_folder("x"), "..")


def test_where_they_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("HCVIZ_STATE", str(tmp_path))
    assert state_folder() == tmp_path / "sessions"
    assert state_folder(str(tmp_path / "b")) == tmp_path / "b" / "sessions"
    assert state_folder("off") is None
    monkeypatch.setenv("HCVIZ_STATE", "off")
    assert state_folder() is None
    monkeypatch.delenv("HCVIZ_STATE")
    assert state_folder().name == "sessions"


def kept(root):
    return sorted(path.name for path in root.glob("*/*"))


def some(root, visitor, name, age, size=10):
    folder = root / visitor / name
    folder.mkdir(parents=True)
    (folder / "log-00000000.jsonl").write_bytes(b"x" * size)
    when = time.time() - age
    os.utime(folder / "log-00000000.jsonl", (when, when))
    return folder


def test_old_and_surplus_journals_are_deleted_but_no_open_one(tmp_path, monkeypatch):
    monkeypatch.setattr(unfinished, "MAX_PER_VISITOR", 3)
    some(tmp_path, "v", "old", unfinished.MAX_AGE + 60)
    alive = some(tmp_path, "v", "alive", unfinished.MAX_AGE + 60)
    lock = FileLock(alive / "lock")
    assert lock.acquire()
    os.utime(alive / "lock", (0, 0))
    for k in range(4):
        some(tmp_path, "w", f"w{k}", 60 * k)
    some(tmp_path, "z", "too", unfinished.MAX_AGE + 1)
    prune(tmp_path)
    assert kept(tmp_path) == ["alive", "w0", "w1", "w2"]
    assert not (tmp_path / "z").exists()
    lock.release()
    prune(tmp_path)
    assert kept(tmp_path) == ["w0", "w1", "w2"]


def test_all_together_take_no_more_than_their_share_of_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(unfinished, "MAX_BYTES", 250)
    for k in range(4):
        some(tmp_path, f"v{k}", f"s{k}", 60 * k, size=100)
    prune(tmp_path)
    assert kept(tmp_path) == ["s0", "s1"]


def test_a_damaged_session_is_kept_and_not_offered(tmp_path, driver):
    sessions = UnfinishedSessions(tmp_path, new_token())
    journal = sessions.new_journal()
    journal.append(actions(driver.session), ABOUT)
    journal.close()
    (found,) = sessions.unfinished()
    damaged = sessions.keep_damaged(found.name)
    assert sessions.unfinished() == []
    assert (sessions.folder / damaged).is_dir()
