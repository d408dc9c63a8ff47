"""What a person did outlives the server: written ahead of every run, offered back to their browser.

The small record of an action is written (and on the disk) on the document's thread, before anything
that the action causes; the whole session is written on a thread of its own, once in a while, as a
base for the records after it. What a folder holds is told in ``io/journal.py``, who may see it in
``io/unfinished.py``.
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
from hcviz.session.model import Checkpoint, LogEntry, Session
from hcviz.ui.state.data_sources import data_of
from hcviz.ui.state.loader import lost_answers
from hcviz.ui.state.store import Store

log = logging.getLogger("hcviz")

#: Seconds between two bases: this many at least, this many times as long as the last one took to
#: write, and this many while a run goes on.
LEAST, TIMES, RUNNING = 2.0, 20.0, 30.0
#: Seconds for which a new page looks for the session of a tab that is only just going.
LOOKING = 15.0
#: Seconds for which a tab that lost the server waits for its own session to be free.
REJOINING = 60.0
ELSEWHERE = "That session was resumed or discarded in another tab."

_writer = ThreadPoolExecutor(1, "hcviz-autosave")


class Autosave:
    """Keeps the session of one store, and finds the unfinished ones of its visitor.

    ``store.keep`` is called with what the session becomes, before anything runs for it. All methods
    are for the document's thread.
    """

    def __init__(self, store: Store, shelf: UnfinishedSessions) -> None:
        self.store, self.shelf = store, shelf
        self._journal: Journal | None = None
        self._seen: tuple[LogEntry, ...] = store.session.log  # as far as this has been dealt with
        self._based: Any = None  # the session and look that were written whole last
        self._writing: Future[float] | None = None
        self._first = False  # ... is a base that the records after it need
        self._next = 0.0  # no base before this time (monotonic)
        self._until = time.monotonic() + LOOKING
        self._failed = False
        self._discarded: set[str] = set()
        self._wanted = ""  # the session of this tab before it lost the server
        store.keep = self.keep
        store.look(journal="")
        self._look_for()

    # ------------------------------------------------------------------ writing

    def keep(self, session: Session) -> None:
        """Write what is new in the session's log. A disk that refuses is said, once."""
        if self._failed:
            return
        try:
            self._keep(session)
        except OSError as fault:
            log.warning("A session cannot be kept: %s", fault)
            self._failed = True
            self.close()
            sentence = f"This session cannot be kept on the disk ({fault.strerror or fault})."
            hint = "It goes on all the same. Save it to a file now and then (File)."
            self.store.view = replace(self.store.view, error=(sentence, hint), journal=None)

    def _keep(self, session: Session) -> None:
        seen, self._seen = self._seen, session.log
        goes_on = len(session.log) >= len(seen) and (
            not seen or session.log[len(seen) - 1] is seen[-1]
        )
        fresh = [
            each.action
            for each in session.log[len(seen) if goes_on else 0 :]
            if not isinstance(each.action, RUN_REPORTS)
        ]
        journal = self._journal
        if journal is not None and goes_on and journal.is_writable:
            if fresh:
                self._finish_writing(only_first=True)
                journal.append(fresh, self._about(session))
            return
        self.close()  # what was kept so far stays, for a later visit
        if fresh and worth_keeping(session):
            self._begin(session, told=journal is None and not self.store.restored, answer=goes_on)

    def _begin(self, session: Session, told: bool, answer: bool) -> None:
        """A new journal. ``told``: the log tells all of the session; else it begins with a base,
        which is on the disk before an ``answer`` has effects."""
        self._journal = self.shelf.new_journal()
        self.store.view = replace(self.store.view, journal=self._journal.folder.name)
        if told:
            actions = [e.action for e in session.log if not isinstance(e.action, RUN_REPORTS)]
            self._journal.append(actions, self._about(session))
            self._next = time.monotonic() + LEAST
            return
        self._write(session, first=True)
        if answer:
            self._finish_writing()

    def _write(self, session: Session, first: bool = False) -> None:
        """Begin to write a base, of the session as it is. ``first``: nothing counts without it."""
        assert self._journal is not None
        look = self.store.look_to_keep
        finish = self._journal.rotate(self._about(session))
        self._based = (session, look)

        def work() -> float:
            begun = time.monotonic()
            finish(replace(session, look=look))
            return time.monotonic() - begun

        self._writing, self._first = _writer.submit(work), first

    def _finish_writing(self, only_first: bool = False) -> None:
        """Wait for the base that is being written (``only_first``: if it must be there)."""
        writing = self._writing
        if writing is not None and (self._first or not only_first):
            self._writing, self._first = None, False
            self._after(writing)

    def _after(self, writing: Future[float]) -> None:
        try:
            self._next = time.monotonic() + max(LEAST, TIMES * writing.result())
        except SessionFileError as fault:  # too large for a file: the log has all of it still
            log.warning("A session cannot be written whole: %s", fault)
            self._next = float("inf")

    def tick(self, deserted: bool = False) -> None:
        """Now and then: write a base where one is due, look for a session to resume.

        ``deserted``: no browser is connected. What nobody sees may be resumed elsewhere.
        """
        if self._journal is not None:
            self._journal.release() if deserted else self._journal.reacquire()
        if time.monotonic() < self._until:
            self._look_for()
        if self._failed:
            return
        try:
            if self._writing is not None and self._writing.done():
                self._finish_writing()
            self._write_if_due()
        except OSError as fault:
            log.warning("A session cannot be written whole: %s", fault)
            self._next = time.monotonic() + RUNNING

    def _write_if_due(self) -> None:
        session, journal = self.store.session, self._journal
        if journal is None or not journal.is_writable or self._writing is not None:
            return
        wait = RUNNING if session.status == "sampling" else 0.0
        old = self._based is None or self._based[0] is not session
        if old and time.monotonic() >= self._next + wait:
            self._write(session)

    def _about(self, session: Session) -> SessionSummary:
        data = self.store.dataset
        title = session.data.filename or (data.title if data is not None else session.data.name)
        added = len(session.data.answers)  # files of answers
        return SessionSummary(
            title, len(session.constraints) + len(session.choices) + added, act.now()
        )

    def close(self) -> None:
        """The journal ends; what it holds stays."""
        try:
            self._finish_writing()
        except OSError as fault:
            log.warning("A session cannot be written whole: %s", fault)
        if self._journal is not None:
            self._journal.close()
        self._journal, self._based = None, None
        self.store.view = replace(self.store.view, journal="")

    # ------------------------------------------------------------------ offering

    def act(self, name: str, more: dict[str, Any]) -> None:
        """An act of the bar that offers."""
        if name == "visitor":
            self._visitor(more.get("token"))
        elif name == "rejoin":
            self._wanted = str(more.get("name", ""))
            self._until = time.monotonic() + REJOINING
            self._look_for()
        elif name == "resume":
            with self.store.guarded():
                self._resume(self.store.view.unfinished)
        elif name == "discard":
            offer = self.store.view.unfinished
            if offer is not None:
                self._discarded.add(offer.name)  # it may be being read
                self.shelf.discard(offer.name)
                self._until = time.monotonic() + LOOKING
                self._look_for()

    def _visitor(self, token: Any) -> None:
        """The browser had a token before this page was made, from another tab's."""
        if self._journal is None and is_token(token):
            self.shelf = UnfinishedSessions(self.shelf.root, token)
            self._look_for()

    def _look_for(self) -> None:
        found = self.shelf.unfinished()
        own = [each for each in found if each.name == self._wanted]
        if own and self._journal is None:  # not once something was done here meanwhile
            self._wanted, self._until = "", 0.0
            with self.store.guarded():
                self._resume(own[0])
            return
        found = [each for each in found if worth_offering(each)]
        newest = found[0] if found else None
        if newest != self.store.view.unfinished:
            self.store.look(unfinished=newest)

    def _resume(self, offer: UnfinishedSession | None) -> None:
        """Read it on a thread, as session files are: with the data in it it may be large."""
        shelf = self.shelf
        if offer is None:
            return
        folder = shelf.path(offer.name)
        if not folder.is_dir():
            self._look_for()
            raise HcvizError(ELSEWHERE)

        def read() -> tuple[RecoveredSession, Dataset] | None:
            try:
                found = read_journal(folder, get_algorithm)
            except SessionFileError:
                return None
            return found, data_of(found.session)

        name, before = offer.about.title or "the unfinished session", self.store.session

        def then(read: tuple[RecoveredSession, Dataset] | None) -> None:
            self._put_back(shelf, offer, before, read)

        self.store.loader.start(name, size_of(folder), read, then)

    def _put_back(
        self,
        shelf: UnfinishedSessions,
        offer: UnfinishedSession,
        before: Session,
        read: tuple[RecoveredSession, Dataset] | None,
    ) -> None:
        """What was read takes the place of what is here; None: it cannot be read. ``before``: what
        was here when the reading began."""
        store = self.store
        store.look(said="")
        if offer.name in self._discarded:
            return
        if not shelf.path(offer.name).is_dir():
            self._look_for()
            raise HcvizError(ELSEWHERE)
        if read is None:
            kept = shelf.keep_damaged(offer.name)
            self._look_for()
            raise HcvizError(
                "The unfinished session is damaged and cannot be resumed.",
                f"Nothing was changed; the file is kept aside on the server, as {kept}.",
            )
        found, dataset = read
        left = lost_answers(before, store.session, found.session)
        if not store.restore(found.session, dataset):
            return
        self._until = 0.0
        answers = len(store.session.constraints) + len(store.session.choices)
        said = f"Resumed: {offer.about.title}, {counted(answers)}" + (f"; {left}" if left else ".")
        error = None
        if found.damaged:
            kept = shelf.keep_damaged(offer.name)
            error = (
                f"A part of the unfinished session was damaged; {counted(answers)} could be read.",
                f"The damaged file is kept aside on the server, as {kept}.",
            )
        else:
            self._when_written(lambda: shelf.discard(offer.name))
        if found.session.status == "sampling":  # it was at work: the tree does not know all yet
            store.dispatch(act.Rerun())
        store.look(unfinished=None, said=said, error=error)

    def _when_written(self, call: Callable[[], None]) -> None:
        """After the base under way is on the disk; never, if that fails."""
        if self._writing is not None:
            self._writing.add_done_callback(lambda done: None if done.exception() else call())


def picture(store: Store) -> dict[str, Any]:
    """The bar that offers, as plain JSON."""
    offer = store.view.unfinished
    journal = store.view.journal
    if offer is None:
        return {"offer": None, "journal": journal}
    about = offer.about
    title = about.title or "damaged"
    told = {"title": title, "answers": counted(about.answers), "time": about.time}
    return {"offer": told, "journal": journal}


def worth_keeping(session: Session) -> bool:
    """There are answers (or were: undo has them), or data that only this visitor has."""
    moments: tuple[Session | Checkpoint, ...] = (session, *session.past)
    said = any(each.constraints or each.choices or each.data.answers for each in moments)
    return said or session.data.kind == "table"


def worth_offering(kept: UnfinishedSession) -> bool:
    """Whether it holds answers, or is damaged, so that its answers cannot be counted."""
    return kept.about.answers > 0 or not kept.about.title


def counted(answers: int) -> str:
    return "1 answer" if answers == 1 else f"{answers} answers"
