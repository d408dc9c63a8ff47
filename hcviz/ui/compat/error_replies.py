"""Errors that Bokeh sends to browsers, without tracebacks and names of files.

Internals of Bokeh 3.9.2: the message ``ERROR`` (``bokeh/protocol/messages/error.py``) has the text
of an exception and its traceback. ``WSHandler._internal_error`` and ``_protocol_error`` close the
socket with the text of an exception as the reason. The server's log keeps all of it.
"""

from __future__ import annotations

import logging
from typing import Any

from bokeh.protocol.messages.error import Error, error
from bokeh.server.views.ws import WSHandler

log = logging.getLogger("hcviz")

SENTENCE = "The server could not handle a message; its log says why."


def _create(cls: type[error], request_id: Any, text: str, **metadata: Any) -> error:
    """Return the message ERROR with one sentence for any exception."""
    header = cls.create_header(request_id=request_id)
    return cls(header, metadata, Error(text=SENTENCE, traceback=None))


def _close(handler: WSHandler, message: str) -> None:
    log.error("A connection was closed: %s", message)
    handler.close(1011, SENTENCE)


def hide_error_details() -> None:
    """Replace Bokeh's texts of errors by one sentence, in this process."""
    error.create = classmethod(_create)  # type: ignore[assignment, method-assign, arg-type]
    WSHandler._internal_error = _close  # type: ignore[assignment, method-assign]
    WSHandler._protocol_error = _close  # type: ignore[assignment, method-assign]


__all__ = ["hide_error_details"]
