"""``Reader``: reads a store's files on a thread, one at a time, and says what becomes of each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from hcviz.datasets import Dataset
from hcviz.io.session_file import load_session
from hcviz.jobs import try_schedule
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.state.data_sources import data_of, resolve, size_of, takes_long
from hcviz.ui.state.loading_messages import left_behind, not_added, not_opened
from hcviz.ui.state.view_state import Reading, ViewState

T = TypeVar("T")


class Page(Protocol):
    """What a reader needs of the store: see :class:`hcviz.ui.state.store.Store`."""

    session: Session
    view: ViewState

    def look(self, **changes: Any) -> None: ...

    def dispatch(self, *actions: Any) -> None: ...

    def guarded(self) -> AbstractContextManager[Any]: ...

    def data_for(self, action: Any) -> DataSpec | None: ...

    def holds(self, spec: DataSpec) -> Dataset | None: ...

    def open_data(self, spec: DataSpec, said: str = "", found: Dataset | None = None) -> bool: ...

    def restore(self, session: Session, found: Dataset | None = None) -> bool: ...


@dataclass(eq=False)
class _Task:
    """What is being read, and all that ends with it."""

    reading: Reading
    #: The file that takes the place of what there is when it is read; before it, those that gave
    #: way to it.
    opens: list[str]
    #: The file of answers that is added when it is read, if one is.
    adds: str
    #: The data that an action waits for, and the files of answers that wait behind it.
    wanted: DataSpec | None
    behind: list[act.AddComparisons] = field(default_factory=list)


class Reader:
    """Reads files beside the page: those that are opened, those of answers that are added, and
    large tables that an action needs again.

    One file is read at a time. Its reading ends when it is read, when it is stopped, or when it
    gives way, and what its thread still finds is then dropped. It gives way to another reading as
    soon as that begins; to data that are opened or a session that is put back at once, and to an
    action that asks for other data (not the same prepared otherwise), when that is done: what is
    refused leaves all as it was, the reading too. Files of answers that come while a table is read
    again for one of them, or for an undo, do not take its place but wait behind it, in turn.

    Who is told: a file of answers that was to be added, or that waited, is named wherever it is
    not. A file that was to be opened is named where it is stopped, where something that opens no
    file takes its place, and where the file that it gave way to turns out bad; not where that is
    opened, since it is the one that is wanted. What is told as an error waits until nothing is read
    any more (:meth:`tell`): the page has one line for it, which the next thing done wipes off.

    All is for the document's thread, where ``schedule(callback)`` runs a callback later.
    ``apply(action, found)`` does an action to the ``store`` now that the data it asks for are read.
    """

    def __init__(
        self,
        store: Page,
        schedule: Callable[[Callable[[], None]], None],
        apply: Callable[[Any, Dataset], None],
    ) -> None:
        self._store, self._schedule, self._apply = store, schedule, apply
        self._task: _Task | None = None
        #: Files of answers that are not added, and what was wrong with others, to be told.
        self._lost: list[str] = []
        self._faults: list[tuple[str, str]] = []

    # ------------------------------------------------------------------ the page's

    @property
    def reading(self) -> Reading | None:
        """The file that is being read, if any is."""
        return None if self._task is None else self._task.reading

    def read_later(
        self,
        name: str,
        size: int,
        work: Callable[[], T],
        then: Callable[[T], object],
        adds: str = "",
        opens: bool = False,
        wanted: DataSpec | None = None,
    ) -> None:
        """``then(work())``, the work, a file of ``size`` bytes, on a thread of its own. What either
        raises is said; where the work does, nothing is done.

        ``adds``: the file of answers that is to be added to the data, if any. ``opens``: the file
        is to take the place of what there is. ``wanted``: the data that are read for an action.
        """
        store = self._store
        before = [] if self._task is None or not opens else self._task.opens
        older = [each for each in before if each != name]
        self.give_way(to_opening=opens)
        task = _Task(Reading(name, size), [*older, name] if opens else [], adds, wanted)
        self._task = task
        store.look(said=f"Reading {name}.", error=None, reading=task.reading)

        def told(found: Any, fault: Exception | None = None) -> None:
            if self._task is not task:
                return
            self._end()
            with store.guarded():
                if fault is not None:
                    store.view = replace(store.view, said="")
                    raise fault
                then(found)
            if store.view.error is not None and (task.behind or older):  # the next would wipe it
                self._faults.append(store.view.error)
                self._faults += [(not_opened(older), "Open it again.")] if older else []
            store.dispatch(*task.behind)

        def read() -> None:
            try:
                found = work()
            except Exception as fault:
                wrong = fault
                try_schedule(self._schedule, lambda: told(None, wrong), name)
            else:
                try_schedule(self._schedule, lambda: told(found), name)

        threading.Thread(target=read, name="hcviz-reading", daemon=True).start()

    def open_later(self, spec: DataSpec, said: str = "") -> None:
        """The store's ``open_data``, the reading on a thread."""
        self.read_later(
            spec.filename or spec.name,
            len(spec.content or b""),
            lambda: resolve(spec),
            lambda found: self._store.open_data(spec, said, found),
            opens=True,
        )

    def restore_later(self, name: str, content: bytes) -> None:
        """The store's ``restore`` of a session file, read on a thread whatever its size, which says
        little of what is packed in it. What is done meanwhile is done to the session that there is,
        which is told where that goes."""
        store, before = self._store, self._store.session

        def read() -> tuple[Session, Dataset]:
            session = load_session(content)
            return session, data_of(session)

        def then(found: tuple[Session, Dataset]) -> None:
            left = left_behind(before, store.session, found[0])
            if store.restore(*found) and left:
                store.look(said=f"Opened {name}; {left}")

        self.read_later(name, len(content), read, then, opens=True)

    def stop(self, sent: str = "") -> None:
        """What is being read is not opened, and ``sent`` was not, which was on its way here; all
        that there was stays."""
        task, stopped = self._task, [sent] if sent else []
        if task is not None:
            alone = [] if task.adds else [task.reading.name]
            stopped = [*(task.opens or alone), *stopped]
        self._drop()
        said = [not_opened(stopped)] if stopped else []
        if self._lost:
            said.append(not_added(self._lost))
            self._lost = []
        self.tell()
        told = {"said": f"Stopped: {' '.join(said)}"} if said else {}
        self._store.look(reading=None, **told)

    # ------------------------------------------------------------------ the store's

    def puts_off(self, action: Any) -> bool:
        """Whether the action waits until a large table has been read again, on a thread: a file of
        answers that is added to it, or an undo that comes back to it. It is then done if it still
        asks for that; further files wait behind it."""
        store, task = self._store, self._task
        if not isinstance(action, act.AddComparisons | act.Undo | act.Redo):
            return False
        wanted = store.data_for(action)
        if task is not None and task.wanted is not None:
            if isinstance(action, act.AddComparisons):
                task.behind.append(action)
                return True
            if wanted is not None and wanted == task.wanted:
                return True  # asked for twice
        if wanted is None or not takes_long(wanted) or store.holds(wanted):
            return False

        def then(found: Dataset) -> None:
            now = store.data_for(action)
            if now is not None and now.has_same_data(wanted):
                self._apply(action, found)
            else:  # something else was done meanwhile
                store.view = replace(store.view, said="")

        self.read_later(
            wanted.filename or wanted.name,
            size_of(wanted),
            lambda: resolve(wanted),
            then,
            adds=action.filename if isinstance(action, act.AddComparisons) else "",
            wanted=wanted,
        )
        return True

    def give_way(self, *, to_opening: bool) -> None:
        """What is being read is not waited for any more, since something else was done: another
        file was opened, or what opens none."""
        if not to_opening and self._task is not None and self._task.opens:
            hint = "Something else was done meanwhile: try again."
            self._faults.append((not_opened(self._task.opens), hint))
        self._drop()

    def tell(self) -> None:
        """Once nothing is read any more: which files were not added or opened since something else
        was done instead, and what was wrong with others."""
        if self._task is not None or not (self._lost or self._faults):
            return
        view = self._store.view
        faults = [*self._faults, *filter(None, [view.error])]
        if self._lost:
            faults.append((not_added(self._lost), "Something else was opened; add them again."))
        said, hints = zip(*dict.fromkeys(faults), strict=True)
        self._lost, self._faults = [], []
        self._store.view = replace(view, error=(" ".join(said), hints[-1]))

    # ------------------------------------------------------------------ inside

    def _drop(self) -> None:
        """The reading ends before its file is read."""
        if self._task is not None:
            self._lost += [*filter(None, [self._task.adds])]
            self._lost += [each.filename for each in self._task.behind]
        self._end()

    def _end(self) -> None:
        view = self._store.view
        if view.reading is self.reading:  # else the line is of what is being sent
            self._store.view = replace(view, reading=None)
        self._task = None
