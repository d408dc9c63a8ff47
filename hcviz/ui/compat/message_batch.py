"""``as_one_message``: send many changes of a document to the browsers as one message.

Bokeh sends each change as a message of its own, in three to nine frames of the socket. An update of
the page is a dozen changes.

Internals of Bokeh 3.9.2 (``bokeh/server/session.py``, ``bokeh/document/callbacks.py``):

- ``ServerSession._pending_writes``: messages that are sent before the document's lock is released
- ``ServerSession._subscribed_connections``, and ``_socket`` and ``protocol`` of each connection
- ``DocumentCallbackManager._change_callbacks``, ``on_change_dispatch_to``, ``remove_on_change``
- ``get_ref`` of ``Serializer``, ``_models`` and ``_new_models`` of
  ``Document.models``: ``patch_doc.create`` makes a table of all models for each message

Panel 1.9.4 otherwise writes each change to the socket itself and does not wait for the lock
(``_dispatch_msgs`` in ``panel/io/document.py``). What it queues while an earlier write is awaited
can stay in the queue for ever, and the page then shows an old tree. A queued message can also
arrive after a later one that refers to a model in the queued one. The browser rejects the whole
later message ("reference p3662 isn't known").
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bokeh.core.serialization import Ref, Serializer
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.document.json import PatchJson
from bokeh.model import Model
from bokeh.protocol.messages.patch_doc import patch_doc

from hcviz.ui.compat.server_session import server_session


class _SyncedSerializer(Serializer):
    """Looks up whether the browser has a model, instead of listing all that it has."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._synced, self._new = document.models._models, document.models._new_models

    def get_ref(self, obj: Any) -> Ref | None:
        if isinstance(obj, Model) and self._synced.get(obj.id) is obj and obj not in self._new:
            return obj.ref
        return super().get_ref(obj)


def patch_message(document: Document, changes: list[DocumentPatchedEvent]) -> patch_doc:
    """Return the message that ``patch_doc.create(changes)`` returns.

    Its cost does not grow with the number of models of the document.
    """
    serializer = _SyncedSerializer(document)
    content = PatchJson(events=serializer.encode(changes))
    document.models.flush_synced(lambda model: not serializer.has_ref(model))
    message = patch_doc(patch_doc.create_header(), {}, content)
    message.add_buffers(*serializer.buffers)
    return message


def unhold_as_one_message(document: Document) -> None:
    """Do what ``document.unhold()`` does, but send all changes in one message.

    As in Bokeh, the message is queued while the document's lock is held, and sent before the lock
    is released. Without a session or its lock this is ``document.unhold()``.
    """
    session = server_session(document)
    pending = getattr(session, "_pending_writes", None)
    if pending is None:
        document.unhold()
        return
    changes: list[DocumentPatchedEvent] = []

    def collect(event: Any) -> None:
        # Bokeh sends a browser's own change to the other browsers only.
        if isinstance(event, DocumentPatchedEvent) and event.setter is not session:
            changes.append(event)
        else:
            event.dispatch(session)

    callbacks = document.callbacks
    if session not in callbacks._change_callbacks:  # an outer call collects the changes
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
                message = patch_message(document, changes)
                pending.append(connection._socket.send_message(message))


@contextmanager
def as_one_message(document: Document | None) -> Iterator[None]:
    """Send the changes made within the block as one message.

    Within another such block the changes are sent with those of the outer block.
    """
    if document is None or document.session_context is None or document.callbacks.hold_value:
        yield
        return
    document.hold("combine")
    try:
        yield
    finally:
        unhold_as_one_message(document)


__all__ = ["as_one_message", "patch_message", "unhold_as_one_message"]
