"""``server_session``: the server's session of a document, and how many browsers show it.

Internals of Bokeh 3.9.2: ``BokehSessionContext.session`` (``bokeh/server/contexts.py``) and
``ServerSession.connection_count`` (``bokeh/server/session.py``). Bokeh has no public event for a
tab that was closed. It destroys a session only some seconds later.
"""

from __future__ import annotations

from typing import Any

from bokeh.document import Document


def server_session(document: Document) -> Any:
    """Return the ``ServerSession`` of a document; None if it is not served."""
    return getattr(document.session_context, "session", None)


def browser_count(document: Document) -> int | None:
    """Return the number of browsers that show a document; None if it is not served."""
    session = server_session(document)
    return None if session is None else int(session.connection_count)


__all__ = ["browser_count", "server_session"]
