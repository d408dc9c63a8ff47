"""The cookie that identifies a visitor. No script can read it (HttpOnly).

Internals of Panel 1.9.4 and Bokeh 3.9.2: ``DocHandler`` and ``WSHandler`` (``panel/io/server.py``).
Bokeh writes all cookies of a request into the token of the page, which scripts can read. So
:func:`keep_visitor_cookies` moves this cookie from the request to an attribute of it, before Bokeh
makes the token.

The cookie is set by the answer that opens the websocket. Of two first pages that a browser opens at
the same time, the second then gets the cookie of the first, and takes over its token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bokeh.document import Document
from bokeh.protocol.exceptions import ProtocolError
from bokeh.util.token import check_token_signature, get_session_id
from panel.io.server import DocHandler, WSHandler
from tornado.httputil import HTTPServerRequest

from hcviz.ui.compat.request_guard import compress_scripts_of

NAME, DAYS = "hcviz-visitor", 365
_KEPT, _CONNECTED = "hcviz_visitor", "_hcviz_connected"

#: Panel's own methods.
prepare_page, prepare_socket = DocHandler.prepare, WSHandler.prepare

#: Gets the token in the browser's cookie, or None, and returns the token that it should have.
Connected = Callable[[str | None], str]


def visitor_of(document: Document) -> str | None:
    """Return the token in the cookie of the request that opened the page; None without one."""
    proxy = getattr(document.session_context, "request", None)
    request = getattr(proxy, "_request", None)
    if isinstance(request, HTTPServerRequest):
        return _take(request)
    return None


def when_connected(document: Document, connected: Connected | None) -> None:
    """Call ``connected`` each time that a browser connects to the page; None ends it."""
    setattr(document, _CONNECTED, connected)


def keep_visitor_cookies() -> None:
    """Handle the cookie in the requests of pages and websockets of this process."""
    DocHandler.prepare = prepare_page_with_visitor  # type: ignore[assignment, method-assign]
    WSHandler.prepare = prepare_socket_with_visitor  # type: ignore[method-assign]


def _take(request: HTTPServerRequest) -> str | None:
    """Return the token in the cookie of a request, and remove the cookie from it."""
    if not hasattr(request, _KEPT):
        morsel = request.cookies.pop(NAME, None)
        setattr(request, _KEPT, None if morsel is None else morsel.value)
        if "Cookie" in request.headers and not request.cookies:
            del request.headers["Cookie"]  # Bokeh would write it into the token
    found: str | None = getattr(request, _KEPT)
    return found


async def prepare_page_with_visitor(handler: DocHandler) -> None:
    compress_scripts_of(handler.application)
    await prepare_page(handler)
    _take(handler.request)


async def prepare_socket_with_visitor(handler: WSHandler) -> None:
    await prepare_socket(handler)
    token = _take(handler.request)
    document = None if handler._finished else _document_of(handler)
    connected = getattr(document, _CONNECTED, None)
    wanted = None if connected is None else connected(token)
    if wanted is not None and wanted != token:
        secure = handler.request.protocol == "https"
        handler.set_cookie(
            NAME, wanted, expires_days=DAYS, httponly=True, samesite="Lax", secure=secure
        )


def _document_of(handler: Any) -> Document | None:
    """Return the document of the session that a websocket names, if its token is valid."""
    _, _, token = handler.request.headers.get("Sec-WebSocket-Protocol", "").partition(",")
    application = handler.application
    try:
        if not check_token_signature(
            token.strip(), secret_key=application.secret_key, signed=application.sign_sessions
        ):
            return None
        session_id = get_session_id(token.strip())
        document: Document = handler.application_context.get_session(session_id).document
    except (ProtocolError, ValueError, KeyError, TypeError):  # not a token, or of no session
        return None
    return document


__all__ = ["keep_visitor_cookies", "visitor_of", "when_connected"]
