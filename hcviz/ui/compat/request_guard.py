"""What every request to the server passes, and what every answer carries.

Internals of Bokeh 3.9.2: ``Server._tornado``, the Tornado application, and ``Server._http``, its
HTTP server. Bokeh has no option for headers of answers, nor a hook before its handlers. Tornado's
``Router``, ``OutputTransform``, ``Application.add_transform`` and ``Application.transforms`` are
public. Of Tornado's ``GZipContentEncoding`` the method ``_compressible_type`` is replaced.

A *gate* is a function of a request. It returns None, or why the request is refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, HTTPServerRequest
from tornado.routing import Router
from tornado.web import Application, GZipContentEncoding, OutputTransform, RequestHandler


@dataclass(frozen=True)
class Refusal:
    """The answer to a refused request: an HTTP status, one sentence, and the seconds to wait."""

    status: int
    sentence: str
    retry_after: int = 0


Gate = Callable[[HTTPServerRequest], Refusal | None]


class _RefusalHandler(RequestHandler):
    """Answers with a refusal, whatever the method of the request."""

    def initialize(self, refusal: Refusal) -> None:
        self._refusal = refusal

    async def prepare(self) -> None:
        self.set_status(self._refusal.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        if self._refusal.retry_after:
            self.set_header("Retry-After", str(self._refusal.retry_after))
        self.finish(self._refusal.sentence + "\n")


class _GuardedApplication(Router):
    """Bokeh's application behind a gate."""

    def __init__(self, application: Application, gate: Gate) -> None:
        self._application, self._gate = application, gate

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        refusal = self._gate(request)
        if refusal is None:
            return self._application.find_handler(request, **kwargs)
        return self._application.get_handler_delegate(
            request, _RefusalHandler, {"refusal": refusal}
        )


def guard_requests(server: Any, gate: Gate) -> None:
    """Let requests reach the server's handlers only through ``gate``. Call before it answers."""
    server._http.request_callback = _GuardedApplication(server._tornado, gate)


def add_headers(server: Any, headers: Callable[[str], dict[str, str]], page: str) -> None:
    """Add headers to every answer of the server, errors included.

    Parameters
    ----------
    server : the Bokeh server, before it answers
    headers : function from a nonce to the headers
    page : path of the page. Its scripts get the nonce of the answer as an attribute.
    """

    class Headers(OutputTransform):
        def __init__(self, request: HTTPServerRequest) -> None:
            self._is_page = request.path == page

        def transform_first_chunk(
            self, status_code: int, headers_: HTTPHeaders, chunk: bytes, finishing: bool
        ) -> tuple[int, HTTPHeaders, bytes]:
            nonce = secrets.token_urlsafe(18)
            if self._is_page and status_code == 200 and finishing:
                chunk = chunk.replace(b"<script", b'<script nonce="%s"' % nonce.encode())
                if "Content-Length" in headers_:
                    headers_["Content-Length"] = str(len(chunk))
            for name, value in headers(nonce).items():
                headers_[name] = value
            del headers_["Server"]  # its version
            return status_code, headers_, chunk

    server._tornado.add_transform(Headers)


class CompressedScripts(GZipContentEncoding):
    """Compresses scripts and styles, piece by piece; a browser then keeps them.

    Nothing else is compressed: a page has a secret, and the size of an answer could tell of it.
    """

    GZIP_LEVEL = 4  # half the time of 6, for files that are a twelfth larger

    def _compressible_type(self, ctype: str) -> bool:
        return ctype in {"text/javascript", "application/javascript", "text/css"}


def compress_scripts(server: Any) -> None:
    """Send scripts and styles compressed to browsers that accept this."""
    compress_scripts_of(server._tornado)


def compress_scripts_of(application: Application) -> None:
    """Do the same for a Tornado application. It may be called again.

    ``panel serve`` gives a page no way to its server. So the first request of a page calls this
    with its own application (``visitor_cookie.py``); a browser asks for scripts after the page.
    Without ``--warm``, the first page of a server imports hcviz too late for this.
    """
    if CompressedScripts not in application.transforms:
        application.add_transform(CompressedScripts)


__all__ = [
    "CompressedScripts",
    "Gate",
    "Refusal",
    "add_headers",
    "compress_scripts",
    "compress_scripts_of",
    "guard_requests",
]
