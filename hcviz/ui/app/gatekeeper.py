"""What the server answers, how often, and with which headers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from tornado.httputil import HTTPServerRequest

from hcviz.io.unfinished import is_token
from hcviz.ui.app.rate_limits import RateLimit, seconds
from hcviz.ui.compat.request_guard import Refusal
from hcviz.ui.compat.visitor_cookie import NAME as VISITOR

#: The page and its websocket; what else the page, a login and a browser ask for.
PAGE, SOCKET = "/", "/ws"
ROUTES = frozenset({PAGE, SOCKET, "/favicon.ico", "/login", "/logout"})
FOLDERS = ("/static/", "/components/")

#: Bytes of the body of a request. Files arrive on the websocket; only a login has a body.
MAX_BODY = 1 << 16

#: Why each source is needed, and what is not (docs/security.md): BokehJS compiles callbacks
#: (``unsafe-eval``), Panel's module loader fetches modules from ``blob:``, and Bokeh's style sheets
#: and canvases have inline styles. No inline script runs without the nonce of its answer.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'nonce-{nonce}' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self' blob:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


def security_headers(nonce: str) -> dict[str, str]:
    """Return the headers of an answer whose page has this nonce."""
    return {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY.format(nonce=nonce),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }


class Gatekeeper:
    """Refuses requests for other addresses, and too many of one visitor.

    Parameters
    ----------
    limited : whether to limit how often pages are opened
    clock : seconds
    """

    def __init__(self, limited: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._limited = limited
        self._of_visitor = RateLimit(burst=30, per_minute=30, clock=clock)
        # A classroom may share one address.
        self._of_address = RateLimit(burst=120, per_minute=120, clock=clock)

    def __call__(self, request: HTTPServerRequest) -> Refusal | None:
        """Return why a request is refused, or None."""
        path = request.path
        if path not in ROUTES and not path.startswith(FOLDERS):
            return Refusal(404, "There is no such page.")
        if not self._limited or path not in (PAGE, SOCKET):
            return None
        wait = self._of_address.wait(f"{path} {request.remote_ip}")
        morsel = request.cookies.get(VISITOR)
        if morsel is not None and is_token(morsel.value):
            wait = max(wait, self._of_visitor.wait(f"{path} {morsel.value}"))
        if not wait:
            return None
        sentence = f"You opened many pages. Try again in {seconds(wait)}."
        return Refusal(429, sentence, math.ceil(wait))


class WrongPasswords:
    """Limits the wrong passwords from each address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = RateLimit(burst=30, per_minute=10, clock=clock)

    def refusal(self, address: str) -> str:
        """Return "" if the address may try a password, else a sentence that says when."""
        wait = self._limit.seconds_until(address)
        return f"Too many wrong passwords. Try again in {seconds(wait)}." if wait else ""

    def count(self, address: str) -> None:
        """Count a wrong password."""
        self._limit.wait(address)


__all__ = ["Gatekeeper", "WrongPasswords", "security_headers"]
