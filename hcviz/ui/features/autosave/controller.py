"""``AutosaveController``: saves the session on the server, and offers unfinished sessions.

Each action is written to a journal on disk, on the document's thread, before it has any effect. The
whole session is written from time to time on another thread, as a base for later records.
``io/journal.py`` describes the files of a journal, ``io/unfinished.py`` who may read them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError, SessionFileError
from hcviz.datasets import Dataset
from hcviz.io.journal import RUN_REPORTS, Journal, RecoveredSession, SessionSummary, read_journal
from hcviz.io.unfinished import UnfinishedSession, UnfinishedSessions, is_token, size_of
from hcviz.session import actions as act
from hcviz.session.model import LogEntry, Session
from hcviz.ui.features.autosave.model import content_count, worth_keeping, worth_offering
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.data_sources import data_of
from hcviz.ui.state.loader import lost_answers
from hcviz.ui.state.store import Store

log = logging.getLogger("hcviz")

#: Time between two bases: seconds, at least; a multiple of the time to write the last one, at
#: least; and seconds that are added during a run.
MIN_SECONDS, TIMES_AS_LONG, SECONDS_WHILE_RUNNING = 2.0, 20.0, 30.0
#: Seconds for which a new page searches for the session of a tab that is just closing.
SEARCH_SECONDS = 15.0
#: Seconds for which a tab that lost the server waits for its own session to be free.
REJOIN_SECONDS = 60.0
ELSEWHERE = "That session was resumed or discarded in another tab."

ACTS = Acts()

_writer = ThreadPoolExecutor(1, "hcviz-autosave")


class AutosaveController(Controls):
    """Saves the session of one store, and finds unfinished sessions of the same visitor.

    The store calls :meth:`keep` with the new session before the action has any effect. All methods
    must be called on the document's thread.
    """

    ACTS = ACTS

    def __init__(self, store: Store, sessions_on_disk: UnfinishedSessions) -> None:
        self.store, self.sessions_on_disk = store, sessions_on_disk
        self._journal: Journal | None = None
        self._seen: tuple[LogEntry, ...] = store.session.log  # the part of the log that was handled
        self._based: Any = None  # the session and view of the last base
        self._writing: Future[float] | None = None
        self._first = False  # the base that is being written is the first of its journal
        self.next_base = 0.0  # no base before this time (monotonic)
        self._until = time.monotonic() + SEARCH_SECONDS
        self._failed = False
        self._discarded: set[str] = set()
        self._wanted = ""  # the session of this tab before it lost the server
        store.save_log = self.save_log
        store.change_view(journal="")
        self._search()

    # ------------------------------------------------------------------ writing

    def save_log(self, session: Session) -> None:
        """Write the new actions of the session. A disk error is shown once, and ends the saving."""
        if self._failed:
            return
        try:
            self._write_log(session)
        except OSError as fault:
            log.warning("A session cannot be saved on the server: %s", fault)
            self._failed = True
            self.close()
            sentence = f"This session cannot be saved on the server ({fault.strerror or fault})."
            hint = (
                "You can go on working. Save the session to a file from time to time (File menu)."
            )
            self.store.view = replace(self.store.view, error=(sentence, hint), journal=None)

    def _write_log(self, session: Session) -> None:
        seen, self._seen = self._seen, session.log
        continues = len(session.log) >= len(seen) and (
            not seen or session.log[len(seen) - 1] is seen[-1]
        )
        fresh = [
            each.action
            for each in session.log[len(seen) if continues else 0 :]
            if not isinstance(each.action, RUN_REPORTS)
        ]
        journal = self._journal
        if journal is not None and continues and journal.is_writable:
            if fresh:
                self.finish_writing(only_first=True)
                journal.append(fresh, self._description(session))
            return
        self.close()  # the old journal stays on disk, for a later visit
        if fresh and worth_keeping(session):
            self._begin(
                session, complete_log=journal is None and not self.store.restored, answer=continues
            )

    def _begin(self, session: Session, complete_log: bool, answer: bool) -> None:
        """Begin a journal.

        If the log is not the complete session (``complete_log``), the journal begins with a base.
        Before an ``answer`` has effects the base must be on the disk.
        """
        self._journal = self.sessions_on_disk.new_journal()
        self.store.view = replace(self.store.view, journal=self._journal.folder.name)
        if complete_log:
            actions = [e.action for e in session.log if not isinstance(e.action, RUN_REPORTS)]
            self._journal.append(actions, self._description(session))
            self.next_base = time.monotonic() + MIN_SECONDS
            return
        self._write(session, first=True)
        if answer:
            self.finish_writing()

    def _write(self, session: Session, first: bool = False) -> None:
        """Begin to write a base of the present session.

        A journal cannot be read without its ``first`` base.
        """
        assert self._journal is not None
        look = self.store.look_to_save
        finish = self._journal.rotate(self._description(session))
        self._based = (session, look)

        def work() -> float:
            start = time.monotonic()
            finish(replace(session, look=look))
            return time.monotonic() - start

        self._writing, self._first = _writer.submit(work), first

    @property
    def is_writing(self) -> bool:
        """True while a base is being written."""
        return self._writing is not None

    def finish_writing(self, only_first: bool = False) -> None:
        """Wait for the base that is being written (``only_first``: if it is the first)."""
        writing = self._writing
        if writing is not None and (self._first or not only_first):
            self._writing, self._first = None, False
            self._after(writing)

    def _after(self, writing: Future[float]) -> None:
        """Set the time of the next base."""
        try:
            self.next_base = time.monotonic() + max(MIN_SECONDS, TIMES_AS_LONG * writing.result())
        except SessionFileError as fault:  # too large for a file; the log still has all of it
            log.warning("A base of a session cannot be written: %s", fault)
            self.next_base = float("inf")

    def tick(self, unattended: bool = False) -> None:
        """Write a base if one is due, and search for a session to resume.

        Called periodically. ``unattended`` means that no browser is connected. Another page may
        then resume this session.
        """
        if self._journal is not None:
            self._journal.release() if unattended else self._journal.reacquire()
        if time.monotonic() < self._until:
            self._search()
        if self._failed:
            return
        try:
            if self._writing is not None and self._writing.done():
                self.finish_writing()
            self._write_if_due()
        except OSError as fault:
            log.warning("A base of a session cannot be written: %s", fault)
            self.next_base = time.monotonic() + SECONDS_WHILE_RUNNING

    def _write_if_due(self) -> None:
        """Begin to write a base, if the session changed and enough time has passed."""
        session, journal = self.store.session, self._journal
        if journal is None or not journal.is_writable or self._writing is not None:
            return
        wait = SECONDS_WHILE_RUNNING if session.status == "sampling" else 0.0
        old = self._based is None or self._based[0] is not session
        if old and time.monotonic() >= self.next_base + wait:
            self._write(session)

    def _description(self, session: Session) -> SessionSummary:
        """Return the title, the numbers of answers and groups, and the time for an offer."""
        data = self.store.dataset
        title = session.data.filename or (data.title if data is not None else session.data.name)
        added = len(session.data.answers)  # files of answers
        return SessionSummary(
            title,
            len(session.constraints) + len(session.choices) + added,
            act.now(),
            len(session.groups),
        )

    def close(self) -> None:
        """End the journal. It stays on disk."""
        try:
            self.finish_writing()
        except OSError as fault:
            log.warning("A base of a session cannot be written: %s", fault)
        if self._journal is not None:
            self._journal.close()
        self._journal, self._based = None, None
        self.store.view = replace(self.store.view, journal="")

    # ------------------------------------------------------------------ offering

    def use_visitor(self, token: str) -> None:
        """Use the token that the browser already has, from the page of another tab."""
        if self._journal is None and is_token(token):
            self.sessions_on_disk = UnfinishedSessions(self.sessions_on_disk.root, token)
            self._search()

    @ACTS.on("rejoin")
    def _rejoin(self, name: str) -> None:
        """Resume the session that this tab had before it lost the server."""
        self._wanted = name
        self._until = time.monotonic() + REJOIN_SECONDS
        self._search()

    @ACTS.on("resume")
    def _resume_offered(self) -> None:
        with self.store.guarded():
            self._resume(self.store.view.unfinished)

    @ACTS.on("discard")
    def _discard_offered(self) -> None:
        offer = self.store.view.unfinished
        if offer is not None:
            self._discarded.add(offer.name)  # a thread may be reading it
            self.sessions_on_disk.discard(offer.name)
            self._until = time.monotonic() + SEARCH_SECONDS
            self._search()

    def _search(self) -> None:
        """Search for unfinished sessions, and offer the newest or resume the wanted one."""
        found = self.sessions_on_disk.unfinished()
        own = [each for each in found if each.name == self._wanted]
        if own and self._journal is None:  # nothing was done on this page yet
            self._wanted, self._until = "", 0.0
            with self.store.guarded():
                self._resume(own[0])
            return
        found = [each for each in found if worth_offering(each)]
        newest = found[0] if found else None
        if newest != self.store.view.unfinished:
            self.store.change_view(unfinished=newest)

    def _resume(self, offer: UnfinishedSession | None) -> None:
        """Read it on a thread, as session files are: with the data in it it may be large."""
        sessions_on_disk = self.sessions_on_disk
        if offer is None:
            return
        folder = sessions_on_disk.path(offer.name)
        if not folder.is_dir():
            self._search()
            raise HcvizError(ELSEWHERE)

        def read() -> tuple[RecoveredSession, Dataset] | None:
            try:
                found = read_journal(folder, get_algorithm)
            except SessionFileError:
                return None
            return found, data_of(found.session)

        name, before = offer.about.title or "the unfinished session", self.store.session

        def then(read: tuple[RecoveredSession, Dataset] | None) -> None:
            self._put_back(sessions_on_disk, offer, before, read)

        self.store.loader.start(name, size_of(folder), read, then)

    def _put_back(
        self,
        sessions_on_disk: UnfinishedSessions,
        offer: UnfinishedSession,
        before: Session,
        read: tuple[RecoveredSession, Dataset] | None,
    ) -> None:
        """Replace the session by one that was read.

        ``read`` is None if it cannot be read. ``before`` is the session at the time when reading
        began.
        """
        store = self.store
        store.change_view(message="")
        if offer.name in self._discarded:
            return
        if not sessions_on_disk.path(offer.name).is_dir():
            self._search()
            raise HcvizError(ELSEWHERE)
        if read is None:
            kept = sessions_on_disk.keep_damaged(offer.name)
            self._search()
            raise HcvizError(
                "The unfinished session is damaged and cannot be resumed.",
                f"Nothing was changed; the file is kept aside on the server, as {kept}.",
            )
        found, dataset = read
        left = lost_answers(before, store.session, found.session)
        if not store.restore(found.session, dataset):
            return
        self._until = 0.0
        now = store.session
        content = content_count(len(now.constraints) + len(now.choices), len(now.groups))
        message = f"Resumed: {offer.about.title}, {content}" + (f"; {left}" if left else ".")
        error = None
        if found.damaged:
            kept = sessions_on_disk.keep_damaged(offer.name)
            error = (
                f"A part of the unfinished session is damaged. {content} could be read.",
                f"The damaged file is kept aside on the server, as {kept}.",
            )
        else:
            self._when_written(lambda: sessions_on_disk.discard(offer.name))
        if found.session.status == "sampling":  # a run was interrupted: the tree is not final
            store.dispatch(act.RerunInterrupted())
        store.change_view(unfinished=None, message=message, error=error)

    def _when_written(self, call: Callable[[], None]) -> None:
        """Call ``call`` when the base that is being written is on the disk."""
        if self._writing is not None:
            self._writing.add_done_callback(lambda done: None if done.exception() else call())
