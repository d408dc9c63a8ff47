"""``Loader``: reads one large file at a time, on a thread, and can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar, cast

from hcviz.core.text import count_noun
from hcviz.datasets import Dataset
from hcviz.io.session_file import load_session
from hcviz.jobs import try_schedule
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.state.data_sources import data_of, resolve, size_of, takes_long
from hcviz.ui.state.view_state import Loading, ViewState

T = TypeVar("T")

#: What becomes of a file: it replaces the data, or it is added to them.
Purpose = Literal["opened", "added"]


class Page(Protocol):
    """The part of :class:`hcviz.ui.state.store.Store` that a loader uses."""

    session: Session
    view: ViewState

    def change_view(self, **changes: Any) -> None: ...

    def guarded(self) -> AbstractContextManager[Any]: ...

    def data_for(self, action: Any) -> DataSpec | None: ...

    def loaded_dataset(self, spec: DataSpec) -> Dataset | None: ...

    def open_data(
        self, spec: DataSpec, message: str = "", found: Dataset | None = None
    ) -> bool: ...

    def restore(self, session: Session, found: Dataset | None = None) -> bool: ...

    def apply(self, action: Any, found: Dataset | None = None) -> None: ...


@dataclass(frozen=True, eq=False)
class _Load:
    """A file that is being read."""

    loading: Loading
    purpose: Purpose
    #: The data that an action waits for, if the load is for an action.
    wanted: DataSpec | None = None

    @property
    def cancelled(self) -> str:
        """A sentence about the cancelled file."""
        return f"{self.loading.name} was not {self.purpose}."


class Loader:
    """Reads files for a page, one at a time.

    A load ends when its file is read, and also when it is cancelled: by the Cancel button, by a
    newer load, or when other data are opened without a load. What its thread still returns is then
    dropped. The page says which file was cancelled. A file that cannot be read changes nothing.

    All methods run on the document's thread, where ``schedule(callback)`` runs a callback.
    """

    def __init__(self, page: Page, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._page, self.schedule = page, schedule
        self._load: _Load | None = None

    @property
    def loading(self) -> Loading | None:
        """The file that is being read; None if there is none."""
        return None if self._load is None else self._load.loading

    def start(
        self,
        name: str,
        size: int,
        read: Callable[[], T],
        then: Callable[[T], object],
        purpose: Purpose = "opened",
        wanted: DataSpec | None = None,
    ) -> None:
        """Call ``read()`` on a thread, and ``then(result)`` on the document's thread.

        An exception of either becomes the page's error. A load in progress is cancelled.

        Parameters
        ----------
        name, size
            Name of the file, and its size in bytes.
        purpose
            Whether the file replaces the data or is added to them.
        wanted
            The data that are read for an action.
        """
        page, cancelled = self._page, self._drop()
        load = _Load(Loading(name, size), purpose, wanted)
        self._load = load
        message = " ".join(filter(None, [f"Reading {name}.", cancelled]))
        page.change_view(message=message, error=None, loading=load.loading)

        def finish(found: Any, fault: Exception | None = None) -> None:
            if self._load is not load:
                return
            self._drop()
            page.change_view(message="")
            with page.guarded():
                if fault is not None:
                    raise fault
                then(found)

        def work() -> None:
            try:
                found = read()
            except Exception as fault:
                wrong = fault
                try_schedule(self.schedule, lambda: finish(None, wrong), name)
            else:
                try_schedule(self.schedule, lambda: finish(found), name)

        threading.Thread(target=work, name="hcviz-reading", daemon=True).start()

    def open_table(self, spec: DataSpec, message: str = "") -> None:
        """Read a table, then open it (``Store.open_data``)."""
        self.start(
            spec.filename or spec.name,
            len(spec.content or b""),
            lambda: resolve(spec),
            lambda found: self._page.open_data(spec, message, found),
        )

    def open_session(self, name: str, content: bytes) -> None:
        """Read a session file, then replace the session by it (``Store.restore``).

        The page shows how many answers, given while the file was read, are lost.
        """
        page, before = self._page, self._page.session

        def read() -> tuple[Session, Dataset]:
            session = load_session(content)
            return session, data_of(session)

        def then(found: tuple[Session, Dataset]) -> None:
            lost = lost_answers(before, page.session, found[0])
            if page.restore(*found) and lost:
                page.change_view(message=f"Opened {name}; {lost}")

        self.start(name, len(content), read, then)

    def defers(self, action: Any) -> bool:
        """Return True if the action is done later, after a large table was read again for it.

        Such an action adds answers or items to a table, or undoes or redoes a step to it.
        """
        page, load = self._page, self._load
        if not isinstance(action, act.AddComparisons | act.AcceptItems | act.Undo | act.Redo):
            return False
        wanted = page.data_for(action)
        if wanted is None or not takes_long(wanted) or page.loaded_dataset(wanted):
            return False
        if load is not None and load.wanted == wanted:
            return True  # the same undo twice

        def then(found: Dataset) -> None:
            now = page.data_for(action)
            if now is not None and now.has_same_data(
                wanted
            ):  # else something else was done meanwhile
                page.apply(action, found)

        name, purpose = wanted.filename or wanted.name, "opened"
        if isinstance(action, act.AddComparisons):
            name, purpose = action.filename, "added"
        elif isinstance(action, act.AcceptItems):
            name, purpose = action.rows.filename, "added"
        self.start(
            name, size_of(wanted), lambda: resolve(wanted), then, cast(Purpose, purpose), wanted
        )
        return True

    def cancel(self, sending: str = "") -> None:
        """Cancel the load in progress, with a message; ``sending``: a file that was being sent."""
        sentences = [self._drop(), f"{sending} was not opened." if sending else ""]
        message = " ".join(dict.fromkeys(filter(None, sentences)))
        self._page.change_view(
            loading=None, **({"message": f"Cancelled: {message}"} if message else {})
        )

    def supersede(self) -> None:
        """Cancel the load in progress because other data were opened; the page shows which."""
        cancelled = self._drop()
        if cancelled:
            page = self._page
            page.view = replace(page.view, error=(cancelled, "Open the file again."))

    def _drop(self) -> str:
        """Forget the load in progress; return a sentence about it, "" if there is none."""
        load, page = self._load, self._page
        if load is None:
            return ""
        if page.view.loading is load.loading:  # else the line shows what is being sent
            page.view = replace(page.view, loading=None)
        self._load = None
        return load.cancelled


def lost_answers(before: Session, now: Session, loaded: Session) -> str:
    """Return the end of a sentence that counts the answers that loading a session loses.

    These are the answers that ``now`` has, and neither ``before``, when the load began, nor
    ``loaded`` has; "" if there are none. O(number of answers).
    """
    lost = _answers(now) - _answers(before)
    if loaded.labels == now.labels:
        lost -= _answers(loaded)
    if not lost:
        return ""
    are = "is" if len(lost) == 1 else "are"
    return f"{count_noun(len(lost), 'answer')} given meanwhile {are} not in it."


def _answers(session: Session) -> set[Any]:
    """Return the answers with their authors; a switch or a weight does not matter."""
    constraints = {(each.group, each.apart, each.author) for each in session.constraints}
    return constraints | {(each.question, each.items, each.author) for each in session.choices}
