"""The lines before the body of an HTTP request or answer, as the proxy passes them on."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The cookie that names the server of a browser.
COOKIE = b"hcviz-process"
#: Headers of one connection, which end at the proxy.
OF_CONNECTION = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"upgrade"})
#: Headers by which a proxy names the visitor. A browser must not choose them.
OF_VISITOR = frozenset(
    {b"x-real-ip", b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-scheme"}
    | {b"forwarded"}
)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class BadRequest(ValueError):
    """The bytes are not the head of an HTTP request."""


@dataclass(frozen=True)
class RequestHead:
    """The head of a request.

    Attributes
    ----------
    first : the line with method, path and version
    headers : names in lower case, and values
    """

    first: bytes
    headers: tuple[tuple[bytes, bytes], ...]

    @classmethod
    def read(cls, head: bytes) -> RequestHead:
        """Read the bytes up to the empty line.

        Raises
        ------
        BadRequest
            If a line is no header. Continued lines are refused, as HTTP/1.1 advises.
        """
        first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        if not re.fullmatch(rb"[A-Z]+ [^ \x00-\x1f]+ HTTP/1\.[01]", first):
            raise BadRequest
        headers = []
        for line in lines:
            name, colon, value = line.partition(b":")
            if not colon or not _NAME.fullmatch(name) or b"\n" in value or b"\r" in value:
                raise BadRequest
            headers.append((name.lower(), value.strip()))
        return cls(first, tuple(headers))

    @property
    def opens_websocket(self) -> bool:
        """True if the browser asks for a websocket."""
        asked = any(
            name == b"upgrade" and value.lower() == b"websocket" for name, value in self.headers
        )
        return asked and self.first.startswith(b"GET ")

    @property
    def is_repeatable(self) -> bool:
        """True if the request is for a file that a page loads.

        A page is not asked for twice, since one that ends its server would end the next one, too.
        """
        body = any(name in (b"content-length", b"transfer-encoding") for name, _ in self.headers)
        return re.match(rb"(GET|HEAD) [^ ?]*/static/", self.first) is not None and not body

    @property
    def server(self) -> int | None:
        """The number of the server in the cookie, or None."""
        for name, value in self.headers:
            found = re.search(rb"(?:^|;)\s*" + COOKIE + rb"=(\d{1,4})(?:;|$)", value)
            if name == b"cookie" and found:
                return int(found[1])
        return None

    def passed_on(self, address: str, trusted: bool) -> bytes:
        """Return the head for a server.

        A connection has one request, unless it becomes a websocket, so that no request can hide in
        the body of another one.

        Parameters
        ----------
        address : where the request comes from
        trusted : whether that is a proxy, which names the visitor
        """
        kept = [
            (name, value)
            for name, value in self.headers
            if name not in OF_CONNECTION and (trusted or name not in OF_VISITOR)
        ]
        if not any(name == b"x-real-ip" for name, _ in kept):
            kept.append((b"x-real-ip", address.encode()))
        if self.opens_websocket:
            kept += [(b"connection", b"Upgrade"), (b"upgrade", b"websocket")]
        else:
            kept.append((b"connection", b"close"))
        lines = [self.first, *(b"%s: %s" % each for each in kept)]
        return b"\r\n".join(lines) + b"\r\n\r\n"


def status(head: bytes) -> int:
    """Return the status of an answer, such as 200; 0 if there is none."""
    found = re.match(rb"HTTP/1\.[01] (\d{3})\b", head)
    return int(found[1]) if found else 0


def with_cookie(head: bytes, number: int) -> bytes:
    """Return the head of an answer that also sets the cookie with the number of a server."""
    first, end, rest = head.partition(b"\r\n")
    cookie = b"Set-Cookie: %s=%d; Path=/; HttpOnly; SameSite=Lax\r\n" % (COOKIE, number)
    return first + end + cookie + rest


__all__ = ["COOKIE", "BadRequest", "RequestHead", "status", "with_cookie"]
