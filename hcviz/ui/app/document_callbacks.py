"""``DocumentCallbacks``: runs callbacks on a document's thread, once the browser has the page."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bokeh.document import Document

from hcviz.ui.compat.current_document import current_document
from hcviz.ui.compat.loop_watchdog import WATCHDOG
from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.compat.next_tick import event_loop, on_next_tick


class DocumentCallbacks:
    """Runs callbacks on the document's thread, and holds them back until the browser has the page.

    Panel 1.9.4 drops the changes made after a document was sent and before its session counts as
    connected (``_drain_unconnected_events`` in ``panel/io/document.py``).
    """

    def __init__(self, document: Document | None) -> None:
        self._document = document
        self._lock = threading.Condition()
        self._waiting: list[Callable[[], None]] | None = [] if document is not None else None

    def schedule(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` soon on the document's thread; may be called from any thread."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(callback)
                self._lock.notify_all()
                return
        document = self._document
        if document is None:
            callback()
            return

        def work() -> None:
            # Else Panel uses the document of the context that scheduled this: perhaps another tab.
            WATCHDOG.note(callback)
            with current_document(document), as_one_message(document):
                callback()

        on_next_tick(document, work)

    def later(self, seconds: float, callback: Callable[[], None]) -> None:
        """Run ``callback`` after some seconds; must be called on the document's thread."""
        loop = None if self._document is None else event_loop(self._document)
        if loop is None:
            self.schedule(callback)
        else:
            loop.call_later(seconds, self.schedule, callback)

    def run_first(self, seconds: float) -> None:
        """Run the callbacks that are scheduled within ``seconds`` now."""
        with self._lock:
            self._lock.wait_for(lambda: self._waiting, seconds)
            waiting, self._waiting = self._waiting or [], []
        for callback in waiting:
            callback()

    def open(self) -> None:
        """Run all callbacks from now on: the browser has the page."""
        with self._lock:  # so that no newer callback comes before those that wait
            waiting, self._waiting = self._waiting or [], None
            for callback in waiting:
                self.schedule(callback)


__all__ = ["DocumentCallbacks"]
