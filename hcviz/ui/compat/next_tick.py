"""``on_next_tick``: run a callback on a document's thread, from any thread, in order.

Bokeh 3.9.2 adds a callback by an event of the document. While changes are held (``hold`` in
``bokeh/document/callbacks.py``), it puts the event into a list. ``unhold`` then copies the list
and empties it. An event that another thread adds meanwhile is lost, or a later one overtakes it.
A run could then be "Done" without its tree. So the callback is added on the document's own
thread, by the server's event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bokeh.document import Document

from hcviz.ui.compat.server_session import server_session


def event_loop(document: Document) -> Any:
    """Return the event loop (``tornado.ioloop.IOLoop``) of a served document, else None."""
    server = getattr(document.session_context, "server_context", None)
    application = getattr(server, "application_context", None)
    return getattr(application, "io_loop", None)


def on_next_tick(document: Document, callback: Callable[[], None]) -> None:
    """Run ``callback`` soon on the document's thread; calls of one thread keep their order.

    Nothing happens if the session ends before.
    """
    loop = event_loop(document)
    if loop is None:
        document.add_next_tick_callback(callback)
        return

    def add() -> None:
        session = server_session(document)
        if session is not None and not session.destroyed:
            document.add_next_tick_callback(callback)

    loop.add_callback(add)


__all__ = ["event_loop", "on_next_tick"]
