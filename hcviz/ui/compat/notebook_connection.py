"""``NotebookConnection``: sends the page's changes over a notebook kernel's comm.

In a notebook nothing forwards changes of a Bokeh document. Panel sends the changes of its own
parameters, each at once. It drops other changes that are made while it handles a message of the
page (``MimeRenderMixin._on_msg``). Here all changes are made while Panel's sending is held, and are
sent together. The next message waits until the page confirms that it has drawn the last one. So a
sampler exceeds neither the speed of a browser nor Jupyter's limit on the messages of a cell.

Internals of Panel 1.9.4: ``state._hold`` and ``state._views``; ``_models``, ``_get_model``,
``_cleanup`` and ``_on_msg`` of a viewable; ``Comm._comm``; ``patch_cds_msg`` of
``panel/io/model.py``; ``push`` and ``replace_inline_css`` of ``panel/io/notebook.py``.

Internals of Bokeh 3.9.2: ``_held_events`` of ``Document.callbacks``, ``_new_models`` and
``synced_references`` of ``Document.models``, and ``invoke_with_curdoc``.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from bokeh.core.serialization import DeserializationError
from bokeh.document import Document
from bokeh.document.callbacks import invoke_with_curdoc
from bokeh.models import ImportedStyleSheet
from bokeh.models.ui import UIElement
from panel.io.model import patch_cds_msg
from panel.io.notebook import push, replace_inline_css
from panel.io.state import state

from hcviz.session import actions as act
from hcviz.ui.app.idle_pause import INTERVAL, pause_while_idle, without_browser
from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.compat.next_tick import on_next_tick
from hcviz.ui.compat.notebook_cells import display_of

#: Seconds after which a page that confirms nothing (closed, or a tab in the background) is sent
#: the next message.
TIMEOUT = 5.0


class NotebookConnection:
    """Schedules callbacks on the kernel's thread and sends their changes together.

    ``loop`` is the kernel's event loop. All methods but :meth:`schedule` must be called on its
    thread. Without a loop, in a script, callbacks run at once. An explorer that is served
    (``.show()``) is changed as other served documents are.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._calls: list[Callable[[], None]] = []
        self._view: Any = None
        self._store: Any = None
        self._sheets: WeakKeyDictionary[Document, dict[str, Any]] = WeakKeyDictionary()
        #: True when a page has drawn the explorer. Messages sent before would be lost.
        self._is_drawn = False
        #: When to stop waiting for the page's confirmation of the last message.
        self._wait_until = 0.0

    def attach(self, explorer: Any) -> None:
        """Handle all messages of an explorer that is not displayed yet."""
        self._view, self._store = explorer.view, explorer.store
        self._view._on_msg = self._receive
        self._view.on_shown = self._confirm
        if self._loop is not None:
            explorer.centre.debouncer.timer = self._call_later
        look = pause_while_idle(self._store, self._is_without_browser)
        make, remove = self._view._get_model, self._view._cleanup

        def get_model(document: Document, *where: Any, **how: Any) -> Any:
            model = make(document, *where, **how)
            if document.session_context is not None:
                document.add_periodic_callback(look, INTERVAL)
            return model

        def cleanup(root: Any = None) -> None:
            remove(root)
            if not self._view._models:
                self._stop_run()

        self._view._get_model, self._view._cleanup = get_model, cleanup

    def schedule(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` soon on the kernel's thread; may be called from any thread."""
        served = self._served()
        if served is not None:
            on_next_tick(served, callback)
        elif self._loop is None:
            callback()
        else:
            with self._lock:
                is_first = not self._calls
                self._calls.append(callback)
            if is_first and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._run_scheduled)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send all changes made within the block together."""
        served = self._served()
        if served is not None:
            with as_one_message(served):
                yield
            return
        if state._hold:
            yield
            return
        state._hold = True
        try:
            yield
        finally:
            state._hold = False
            self._send()

    # ------------------------------------------------------------------ inside

    def _is_without_browser(self) -> bool:
        """Return True if the explorer is served (``.show()``) and no browser shows it."""
        models = [model for model, _ in self._view._models.copy().values()]
        return without_browser(model.document for model in models if model.document is not None)

    def _stop_run(self) -> None:
        """Stop computing: the last cell or tab that showed the explorer is gone."""
        self._store.runner.pause()  # at once, on the thread that Panel calls on

        def stop() -> None:
            if self._view._models:  # it was displayed again
                if not self._store.view.paused:
                    self._store.runner.resume()
            elif self._store.session.status == "sampling":
                self._store.dispatch(act.Cancel())

        self.schedule(stop)

    def _run_scheduled(self) -> None:
        """Run the scheduled callbacks when the page has drawn the last message."""
        wait = self._wait_until - time.monotonic()
        if wait > 0:
            self._after(wait, self._run_scheduled)
            return
        with self._lock:
            calls, self._calls = self._calls, []
        with self.together():
            for call in calls:
                call()

    def _call_later(self, callback: Callable[[], None], milliseconds: int) -> None:
        self._after(milliseconds / 1000, lambda: self.schedule(callback))

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        if self._loop is None:
            call()
        else:
            self._loop.call_later(seconds, call)

    def _served(self) -> Document | None:
        """Return the document that a server shows, if any."""
        models = () if self._view is None else self._view._models.copy().values()
        documents = (model.document for model, _ in models)
        return next((d for d in documents if d is not None and d.session_context), None)

    def _displays(self) -> list[tuple[Any, Any]]:
        """Return documents and comms of the cells that show the explorer."""
        if self._view is None:
            return []
        found = [display for ref in self._view._models if (display := display_of(ref))]
        return [(doc, comm) for _, _, doc, comm in found if comm is not None and comm._comm]

    def _send(self) -> None:
        """Send all changes, unless a confirmation is awaited; the document keeps them till then."""
        if not self._is_drawn or self._wait_until > time.monotonic():
            return
        changed = [(d, c) for d, c in self._displays() if d.callbacks._held_events]
        if not changed:
            return
        state._hold = True
        try:
            self._view.beat += 1
            for document, _ in changed:
                self._include_style_sheets(document)
                _drop_unknown_models(document)
        finally:
            state._hold = False
        self._wait_until = time.monotonic() + TIMEOUT
        for document, comm in changed:
            # As text: Panel sends each buffer as two messages of its own. Every message takes the
            # kernel, Jupyter's server and the page about a millisecond each.
            push(document, comm, binary=False)

    def _include_style_sheets(self, document: Document) -> None:
        """Send Panel's style sheets with the update: a notebook's page cannot load them."""
        sheets = self._sheets.setdefault(document, {})

        def included(sheet: Any) -> Any:
            if not isinstance(sheet, ImportedStyleSheet):
                return sheet
            if sheet.url not in sheets:
                sheets[sheet.url] = replace_inline_css(sheet)
            return sheets[sheet.url]

        for model in list(document.models):
            if isinstance(model, UIElement):
                now = [included(sheet) for sheet in model.stylesheets]
                if any(a is not b for a, b in zip(now, model.stylesheets, strict=True)):
                    model.stylesheets = now

    def _receive(self, ref: str, manager: Any, message: Any) -> None:
        """Take a message of the page, on any thread: JupyterLab 4.4 gives comms to subshells."""
        if self._loop is None:
            self._apply(ref, manager, message)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._apply, ref, manager, message)

    def _apply(self, ref: str, manager: Any, message: Any) -> None:
        """Apply the page's changes and send what follows from them, but not the changes back."""
        display = display_of(ref)
        if display is None or display[3] is None:
            return
        _, root, document, comm = display
        # After a message Bokeh treats all models as known to the page, also those not sent yet.
        unsent = set(document.models._new_models)
        with self.together():
            patch_cds_msg(root, message)
            try:
                manager.assemble(message).apply_to_document(document, comm.id)
            except DeserializationError:
                pass  # about a model that was replaced meanwhile
            finally:
                held = document.callbacks._held_events
                document.callbacks._held_events = [e for e in held if e.setter != comm.id]
                document.models._new_models |= unsent & set(document.models)
            # A document that holds its changes has not called the callbacks for the page's yet.
            for event in held:
                if event.setter == comm.id and event.callback_invoker is not None:
                    invoke_with_curdoc(document, event.callback_invoker)

    def _confirm(self, beat: int) -> None:
        """Continue: the page has drawn everything up to ``beat``."""
        is_first, self._is_drawn = not self._is_drawn, True
        if beat >= self._view.beat:
            self._wait_until = 0.0
            self._after(0, self._answer_page if is_first else self._run_scheduled)

    def _answer_page(self) -> None:
        """Send a message even if nothing has changed: the page repeats itself until it gets one."""
        with self.together():
            self._view.beat += 1


def _drop_unknown_models(document: Document) -> None:
    """Drop the changes of models that the page does not have.

    These models are removed again, or new. The change that adds a new model contains its state.
    """
    known = document.models.synced_references
    document.callbacks._held_events = [
        event
        for event in document.callbacks._held_events
        if not hasattr(event, "attr") or getattr(event, "model", None) in known
    ]


__all__ = ["NotebookConnection"]
