"""All that changed, in one message: Bokeh sends each change of a document as a message of its own.

An update of the page is a dozen changes, several of them with arrays, and every message is three
to nine frames of the socket, each written, awaited, read and dealt with by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent


def unhold_as_one(document: Document) -> None:
    """``document.unhold()``, but what the browsers are told goes out as one message.

    As in Bokeh 3.9 the message is queued while the document's lock is held and awaited before the
    lock is let go (``ServerSession._document_patched``). Without a session or its lock, Bokeh does
    it in its own way.
    """
    session: Any = getattr(document.session_context, "session", None)
    pending = getattr(session, "_pending_writes", None)
    if pending is None:
        document.unhold()
        return
    changes: list[DocumentPatchedEvent] = []

    def collect(event: Any) -> None:
        # What was changed by a browser is not sent back to it, but to other viewers: Bokeh knows.
        if isinstance(event, DocumentPatchedEvent) and event.setter is not session:
            changes.append(event)
        else:
            event.dispatch(session)

    callbacks = document.callbacks
    if session not in callbacks._change_callbacks:  # within such a call already: it collects
        document.unhold()
        return
    callbacks.remove_on_change(session)
    callbacks.on_change(collect)
    try:
        document.unhold()
    finally:
        callbacks.remove_on_change(collect)
        callbacks.on_change_dispatch_to(session)
        if changes:
            for connection in session._subscribed_connections:
                message = connection.protocol.create("PATCH-DOC", changes)
                pending.append(connection._socket.send_message(message))


@contextmanager
def as_one(document: Document | None) -> Iterator[None]:
    """What is changed within goes out as one message, unless it is held back already.

    Panel 1.9.4 otherwise writes each change to the socket itself, past that lock; what it queues
    while an earlier write is awaited can stay in the queue for good (``_dispatch_msgs`` in
    ``panel/io/document.py``), and the page then shows the last trees but one for ever. Worse, a
    queued message can arrive after a later one that names a model which only the queued one
    defines. The browser rejects that later message as a whole ("reference p3662 isn't known").
    """
    if document is None or document.session_context is None or document.callbacks.hold_value:
        yield
        return
    document.hold("combine")
    try:
        yield
    finally:
        unhold_as_one(document)
