"""How changes of the page reach the browser: together, and in a notebook over the kernel's comms.

In a notebook nobody forwards what is changed in a Bokeh document: Panel sends the changes of its
own parameters, each at once, and drops the rest of what is changed while a message of the page is
dealt with (``MimeRenderMixin._on_msg`` in Panel 1.9.4). Here everything is changed with Panel's
sending held, and goes out together afterwards; then the page's word that it has drawn it is
awaited before the next, so that a sampler never floods a slow browser, nor Jupyter's limit on the
messages of a cell.
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
from hcviz.ui.compat.message_batch import as_one

#: Seconds until a page that says nothing (closed, or a tab in the back) is sent more all the same.
PATIENCE = 5.0


class Wire:
    """What :class:`Explorer` needs from a kernel: later, together, and sent.

    ``loop`` is the kernel's event loop; everything but :meth:`schedule` belongs to its thread.
    Without one, in a script, what is scheduled is done at once. An explorer that is served after
    all (``.show()``) is changed as served documents are.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._calls: list[Callable[[], None]] = []
        self._view: Any = None
        self._store: Any = None
        self._sheets: WeakKeyDictionary[Document, dict[str, Any]] = WeakKeyDictionary()
        #: A page has drawn the explorer: what was sent before would be lost.
        self._ready = False
        #: Until then the page's word on what was sent last is awaited.
        self._patient_until = 0.0

    def attach(self, explorer: Any) -> None:
        """Take over the traffic of an explorer that is not displayed yet."""
        self._view, self._store = explorer.view, explorer.store
        self._view._on_msg = self._receive
        self._view.on_shown = self._shown
        if self._loop is not None:
            explorer.centre.soon.timer = self._call_later
        look = pause_while_idle(self._store, self._nobody)
        make, forget = self._view._get_model, self._view._cleanup

        def shown(document: Document, *where: Any, **how: Any) -> Any:
            model = make(document, *where, **how)
            if document.session_context is not None:
                document.add_periodic_callback(look, INTERVAL)
            return model

        def gone(root: Any = None) -> None:
            forget(root)
            if not self._view._models:
                self._leave()

        self._view._get_model, self._view._cleanup = shown, gone

    def schedule(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` soon on the kernel's thread; may be called from any thread."""
        served = self._served()
        if served is not None:
            served.add_next_tick_callback(callback)
        elif self._loop is None:
            callback()
        else:
            with self._lock:
                first = not self._calls
                self._calls.append(callback)
            if first and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._turn)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Everything changed within goes to the page as one."""
        served = self._served()
        if served is not None:
            with as_one(served):
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

    def _nobody(self) -> bool:
        """Whether it is served (``.show()``), and to nobody."""
        models = [model for model, _ in self._view._models.copy().values()]
        return without_browser(model.document for model in models if model.document is not None)

    def _leave(self) -> None:
        """The last cell or tab that showed the explorer is gone for good: stop computing."""
        self._store.runner.pause()  # at once, on whatever thread Panel says so

        def stop() -> None:
            if self._view._models:  # shown again meanwhile
                if not self._store.view.paused:
                    self._store.runner.resume()
            elif self._store.session.status == "sampling":
                self._store.dispatch(act.Cancel())

        self.schedule(stop)

    def _turn(self) -> None:
        """Do what has been scheduled, once the page has drawn what it was sent."""
        wait = self._patient_until - time.monotonic()
        if wait > 0:
            self._after(wait, self._turn)
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
        models = () if self._view is None else self._view._models.copy().values()
        documents = (model.document for model, _ in models)
        return next((d for d in documents if d is not None and d.session_context), None)

    def _displays(self) -> list[tuple[Any, Any]]:
        """Documents and comms of the cells that show the explorer."""
        if self._view is None:
            return []
        found = [state._views[ref] for ref in self._view._models if ref in state._views]
        return [(doc, comm) for _, _, doc, comm in found if comm is not None and comm._comm]

    def _send(self) -> None:
        """Send what has changed; what may not be sent yet stays in the document, combined."""
        if not self._ready or self._patient_until > time.monotonic():
            return
        changed = [(d, c) for d, c in self._displays() if d.callbacks._held_events]
        if not changed:
            return
        state._hold = True
        try:
            self._view.beat += 1
            for document, _ in changed:
                self._carry_styles(document)
                _forget_strangers(document)
        finally:
            state._hold = False
        self._patient_until = time.monotonic() + PATIENCE
        for document, comm in changed:
            # As text: Panel sends each buffer as two messages of its own, and every message costs
            # the kernel, Jupyter's server and its page about a millisecond each.
            push(document, comm, binary=False)

    def _carry_styles(self, document: Document) -> None:
        """Send Panel's style sheets along, where an update refers to its server of such things."""
        sheets = self._sheets.setdefault(document, {})

        def carried(sheet: Any) -> Any:
            if not isinstance(sheet, ImportedStyleSheet):
                return sheet
            if sheet.url not in sheets:
                sheets[sheet.url] = replace_inline_css(sheet)
            return sheets[sheet.url]

        for model in list(document.models):
            if isinstance(model, UIElement):
                now = [carried(sheet) for sheet in model.stylesheets]
                if any(a is not b for a, b in zip(now, model.stylesheets, strict=True)):
                    model.stylesheets = now

    def _receive(self, ref: str, manager: Any, message: Any) -> None:
        """A message of the page, on any thread: JupyterLab 4.4 lets comms talk to subshells."""
        if self._loop is None:
            self._apply(ref, manager, message)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._apply, ref, manager, message)

    def _apply(self, ref: str, manager: Any, message: Any) -> None:
        """Do what the page says and send what comes of it, but not back what it said."""
        if ref not in state._views:
            return
        _, root, document, comm = state._views[ref]
        if comm is None:
            return
        # Bokeh takes every model for known to a page that has sent something: not those unsent.
        unsent = set(document.models._new_models)
        with self.together():
            patch_cds_msg(root, message)
            try:
                manager.assemble(message).apply_to_document(document, comm.id)
            except DeserializationError:
                pass  # about a model that has been replaced meanwhile
            finally:
                held = document.callbacks._held_events
                document.callbacks._held_events = [e for e in held if e.setter != comm.id]
                document.models._new_models |= unsent & set(document.models)
            # A document that holds its changes has called nobody about those of the page yet.
            for event in held:
                if event.setter == comm.id and event.callback_invoker is not None:
                    invoke_with_curdoc(document, event.callback_invoker)

    def _shown(self, beat: int) -> None:
        """The page has drawn everything up to ``beat``."""
        first, self._ready = not self._ready, True
        if beat >= self._view.beat:
            self._patient_until = 0.0
            self._after(0, self._greet if first else self._turn)

    def _greet(self) -> None:
        """Say something, even if nothing has changed: the page repeats itself until it is heard."""
        with self.together():
            self._view.beat += 1


def _forget_strangers(document: Document) -> None:
    """Drop changes of models that the page does not have.

    They are gone again, or new: then the change that brings them carries them as they are now.
    """
    known = document.models.synced_references
    document.callbacks._held_events = [
        event
        for event in document.callbacks._held_events
        if not hasattr(event, "attr") or getattr(event, "model", None) in known
    ]
