"""``StickyProxy``: one address for several servers. A cookie keeps each browser with one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from hcviz.io.network_access import LOOPBACK
from hcviz.serving.request_head import BadRequest, RequestHead, status, with_cookie

#: Bytes of the head of a request or answer, seconds within which a request arrives, seconds in
#: which some server must listen, and seconds for the rest of an answer that refuses a websocket.
MAX_HEAD, HEAD_TIME, SERVER_TIME, REFUSAL_TIME = 1 << 16, 30.0, 20.0, 1.0
#: Connections that may be open at once. Each takes two of the process's files, often at most 1,024.
MAX_CONNECTIONS = 450
_CHUNK = 1 << 16
#: Seconds between two attempts to reach a server.
_PAUSE = 0.1


class NoServer(OSError):
    """No server listens."""


class ServerEnded(OSError):
    """A server ended before the head of its answer was complete."""


class StickyProxy:
    """Passes each connection on to one of several servers of this machine.

    A browser without the cookie comes to the server with the fewest websockets. If the server of a
    browser does not listen, the browser moves to another one. If it ends before it answers, a
    request for a file is sent once more, to another server if its own listens no longer.

    Parameters
    ----------
    ports
        The ports of the servers. Their places in the list are the numbers in the cookie.
    trusted
        Whether all requests come from another proxy, whose headers name the visitors.
    """

    def __init__(self, ports: Sequence[int], trusted: bool = False) -> None:
        self.ports = list(ports)
        self._trusted = trusted
        #: Open websockets of each server.
        self.websockets = [0] * len(self.ports)
        self._connections = 0
        self._chosen = 0

    async def listen(self, address: str, port: int) -> asyncio.Server:
        """Start to listen.

        Raises
        ------
        OSError
            If the port cannot be used.
        """
        return await asyncio.start_server(self._serve, address, port, limit=MAX_HEAD)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            try:
                head = await _read_request(reader)
            except BadRequest:
                writer.write(_answer(400, "Bad Request", "This is no request of a browser."))
                return
            if head is None:
                return
            if self._connections > MAX_CONNECTIONS:
                sentence = "Too many people are here. Try again later."
                writer.write(_answer(503, "Service Unavailable", sentence))
                return
            try:
                await self._pass_on_with_retry(head, reader, writer)
            except NoServer:
                sentence = "The server is starting. Try again in a moment."
                writer.write(_answer(503, "Service Unavailable", sentence))
            except ServerEnded:
                sentence = "The server ended before it answered. Try again."
                writer.write(_answer(502, "Bad Gateway", sentence))
        except (OSError, EOFError, ValueError):  # an end went away, or an answer without end
            pass
        finally:
            self._connections -= 1
            await _closed(writer)

    async def _pass_on_with_retry(
        self, head: RequestHead, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Pass a request on; send it once more if a server ends before it answers.

        Raises
        ------
        ServerEnded
            If the second server ends, too, or the request is for no file.
        """
        try:
            await self._pass_on(head, reader, writer)
        except ServerEnded:
            if not head.is_repeatable:
                raise
            await asyncio.sleep(_PAUSE)
            await self._pass_on(head, reader, writer)

    async def _pass_on(
        self, head: RequestHead, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Send the request to a server, and the bytes of both until one of them ends.

        Raises
        ------
        ServerEnded
            If the server ends before it answers.
        """
        async with self._connected(head.server) as (number, upstream, down):
            peer = writer.get_extra_info("peername")
            down.write(head.passed_on(str(peer[0]) if peer else LOOPBACK, self._trusted))
            cookie = None if head.server == number else number
            if not head.opens_websocket:
                await _first_ended(_copy(reader, down), _answered(upstream, writer, cookie))
                return
            # The browser's next bytes are for a websocket only.
            if await _pass_head(upstream, writer, cookie) != 101:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(_copy(upstream, writer), REFUSAL_TIME)
                return
            self.websockets[number] += 1
            try:
                await _first_ended(_copy(reader, down), _copy(upstream, writer))
            finally:
                self.websockets[number] -= 1

    @contextlib.asynccontextmanager
    async def _connected(
        self, wanted: int | None
    ) -> AsyncIterator[tuple[int, asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect to the wanted server, or to another one that listens.

        Raises
        ------
        NoServer
            If none listens for ``SERVER_TIME`` seconds.
        """
        number, reader, writer = await self._connect(wanted)
        try:
            yield number, reader, writer
        finally:
            await _closed(writer)

    async def _connect(
        self, wanted: int | None
    ) -> tuple[int, asyncio.StreamReader, asyncio.StreamWriter]:
        clock = asyncio.get_running_loop().time
        until = clock() + SERVER_TIME
        while True:
            for number in self._order(wanted):
                try:
                    reader, writer = await asyncio.open_connection(
                        LOOPBACK, self.ports[number], limit=MAX_HEAD
                    )
                except OSError:
                    continue
                return number, reader, writer
            if clock() > until:
                raise NoServer
            await asyncio.sleep(_PAUSE)

    def _order(self, wanted: int | None) -> list[int]:
        """Return the servers, the best first: the wanted one, then those with few websockets.

        Of servers with equally many, each comes first in turn, since a page's websocket is opened
        later than the page.
        """
        n_servers = len(self.ports)
        if wanted is None:
            self._chosen += 1
        turn = self._chosen
        return sorted(
            range(n_servers),
            key=lambda each: (each != wanted, self.websockets[each], (each - turn) % n_servers),
        )


async def _read_request(reader: asyncio.StreamReader) -> RequestHead | None:
    """Read the head of a request; None if the browser ends the connection instead.

    Raises
    ------
    BadRequest
        If it is no head, too long, or late.
    """
    try:
        return RequestHead.read(await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_TIME))
    except asyncio.IncompleteReadError:
        return None
    except (asyncio.LimitOverrunError, TimeoutError):
        raise BadRequest from None


async def _pass_head(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int | None
) -> int:
    """Pass the head of an answer on, with the cookie if there is a number; return its status.

    Raises
    ------
    ServerEnded
        If the server ends before the head does.
    """
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            raise ServerEnded from None
        found = status(head)
        if 100 <= found < 200 and found != 101:  # "go on": the answer comes later
            writer.write(head)
            continue
        writer.write(head if number is None else with_cookie(head, number))
        await writer.drain()
        return found


async def _answered(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int | None
) -> None:
    """Pass a whole answer on."""
    await _pass_head(reader, writer, number)
    await _copy(reader, writer)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy bytes until there are no more."""
    while found := await reader.read(_CHUNK):
        writer.write(found)
        await writer.drain()


async def _first_ended(*copies: object) -> None:
    """Run the coroutines until one ends, and stop the other ones.

    Raises
    ------
    ServerEnded
        If one of them does.
    """
    tasks = [asyncio.ensure_future(each) for each in copies]  # type: ignore[call-overload]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in tasks:
            each.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, ServerEnded):
            raise end


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection when its last bytes are written."""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _answer(number: int, reason: str, sentence: str) -> bytes:
    """Return an answer of the proxy's own."""
    return (
        f"HTTP/1.1 {number} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(sentence)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n{sentence}"
    ).encode()


__all__ = ["NoServer", "ServerEnded", "StickyProxy"]
