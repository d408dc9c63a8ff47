"""The proxy before several servers: small servers, and requests that no browser would send."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from hcviz.serving import sticky_proxy
from hcviz.serving.request_head import COOKIE, BadRequest, RequestHead, with_cookie
from hcviz.serving.sticky_proxy import StickyProxy

GET = b"GET / HTTP/1.1\r\nHost: trees\r\n"
FILE = b"GET /static/js/bokeh.min.js?v=1 HTTP/1.1\r\nHost: trees\r\n"


class SmallServer:
    """Answers each request with its own name and what it was sent; opens websockets at /ws."""

    def __init__(self, name: str) -> None:
        self.name, self.heads = name, []
        self.upgrades = True
        self.n_ends = 0  # requests that it ends without an answer

    async def start(self) -> int:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        with contextlib.suppress(OSError, EOFError):
            while True:  # it keeps the connection, as servers may
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head.lower())
                if self.n_ends:
                    self.n_ends -= 1
                    break
                if b"/ws" in head and self.upgrades:
                    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
                    while found := await reader.read(100):
                        writer.write(found.upper())
                    break
                length = re.search(rb"content-length: (\d+)", head.lower())
                body = await reader.readexactly(int(length[1])) if length else b""
                text = self.name.encode() + body
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
                await writer.drain()
                if b"connection: close" in head.lower():
                    break
        writer.close()


@contextlib.asynccontextmanager
async def proxied(
    n_servers: int = 2, trusted: bool = False
) -> AsyncIterator[tuple[Callable[..., Awaitable[bytes]], list[SmallServer], StickyProxy, int]]:
    servers = [SmallServer(f"server {number}") for number in range(n_servers)]
    proxy = StickyProxy([await each.start() for each in servers], trusted)
    listening = await proxy.listen("127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]

    async def send(request: bytes) -> bytes:
        """Send bytes, and return the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer

    yield send, servers, proxy, port
    listening.close()
    for each in servers:
        each.server.close()


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())


def server_of(answer: bytes) -> int:
    found = re.search(rb"server (\d)", answer)
    assert found, answer
    return int(found[1])


def with_server(number: int, first: bytes = GET) -> bytes:
    return first + b"Cookie: a=b; %s=%d; c=d\r\n\r\n" % (COOKIE, number)


def test_a_cookie_keeps_a_browser_with_its_server():
    async def work():
        async with proxied() as (send, _, _, _):
            first = await send(GET + b"\r\n")
            number = server_of(first)
            assert b"Set-Cookie: hcviz-process=%d; Path=/; HttpOnly" % number in first
            second = await send(GET + b"\r\n")  # of another browser
            assert server_of(second) == 1 - number
            for each in (0, 0, 1, 1, 0):
                answer = await send(with_server(each))
                assert server_of(answer) == each
                assert b"Set-Cookie" not in answer

    run(work)


@pytest.mark.parametrize("cookie", [b"99", b"-1", b"1x", b""])
def test_a_cookie_of_no_server_is_replaced(cookie):
    async def work():
        async with proxied() as (send, _, _, _):
            answer = await send(GET + b"Cookie: %s=%s\r\n\r\n" % (COOKIE, cookie))
            assert b"Set-Cookie: hcviz-process=%d;" % server_of(answer) in answer

    run(work)


def test_a_browser_moves_to_another_server_when_its_own_does_not_listen():
    async def work():
        async with proxied() as (send, servers, _, _):
            servers[0].server.close()
            answer = await send(with_server(0))
            assert server_of(answer) == 1
            assert b"Set-Cookie: hcviz-process=1;" in answer

    run(work)


def test_without_a_server_the_answer_is_a_sentence(monkeypatch):
    monkeypatch.setattr(sticky_proxy, "SERVER_TIME", 0.3)

    async def work():
        async with proxied() as (send, servers, _, _):
            for each in servers:
                each.server.close()
            answer = await send(GET + b"\r\n")
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert answer.endswith(b"The server is starting. Try again in a moment.")

    run(work)


@pytest.mark.parametrize("n_ends", [1, 2])
def test_a_request_for_a_file_is_sent_once_more_if_its_server_ends_before_it_answers(n_ends):
    async def work():
        async with proxied() as (send, servers, _, _):
            servers[0].n_ends = n_ends
            answer = await send(with_server(0, FILE))
            assert len(servers[0].heads) == 2
            if n_ends == 1:
                assert server_of(answer) == 0
            else:
                assert answer.startswith(b"HTTP/1.1 502 ")
                assert answer.endswith(b"The server ended before it answered. Try again.")

    run(work)


def test_a_request_for_a_file_moves_on_if_its_server_ends_for_good():
    async def work():
        async with proxied() as (send, servers, _, _):
            servers[0].n_ends = 1
            answering = asyncio.ensure_future(send(with_server(0, FILE)))
            while not servers[0].heads:
                await asyncio.sleep(0.001)
            servers[0].server.close()
            answer = await answering
            assert server_of(answer) == 1
            assert b"Set-Cookie: hcviz-process=1;" in answer

    run(work)


@pytest.mark.parametrize(
    "request_",
    [
        b"POST /login HTTP/1.1\r\nContent-Length: 2\r\n\r\nab",
        b"GET /static/a.js HTTP/1.1\r\nContent-Length: 2\r\n\r\nab",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /app?/static/ HTTP/1.1\r\n\r\n",
    ],
)
def test_another_request_is_sent_once(request_):
    """A page that ends its server would end the next one, too."""

    async def work():
        async with proxied() as (send, servers, _, _):
            for each in servers:
                each.n_ends = 1
            answer = await send(request_)
            assert answer.startswith(b"HTTP/1.1 502 ")
            assert sum(len(each.heads) for each in servers) == 1

    run(work)


def test_a_request_waits_for_a_server_that_starts():
    async def work():
        async with proxied(1) as (send, servers, proxy, _):
            port = proxy.ports[0]
            servers[0].server.close()
            await servers[0].server.wait_closed()
            waiting = asyncio.ensure_future(send(GET + b"\r\n"))
            await asyncio.sleep(0.3)
            assert not waiting.done()
            servers[0].server = await asyncio.start_server(servers[0].serve, "127.0.0.1", port)
            assert server_of(await waiting) == 0

    run(work)


FORGED = (
    b"X-Real-Ip: 203.0.113.1\r\nx-forwarded-for: 203.0.113.2\r\nForwarded: for=203.0.113.3\r\n"
    b"X-Forwarded-Proto: https\r\nX-Scheme: https\r\nX-Forwarded-Host: evil\r\n"
)


@pytest.mark.parametrize("trusted", [False, True])
def test_only_a_proxy_before_the_proxy_names_the_visitor(trusted):
    async def work():
        async with proxied(1, trusted) as (send, servers, _, _):
            await send(GET + FORGED + b"\r\n")
            (head,) = servers[0].heads
            address = b"203.0.113.1" if trusted else b"127.0.0.1"
            assert head.count(b"x-real-ip: ") == 1
            assert b"x-real-ip: %s\r\n" % address in head
            assert (b"203.0.113.2" in head) == trusted
            assert (b"forwarded: for=203.0.113.3" in head) == trusted
            assert (b"x-forwarded-proto: https" in head) == trusted
            assert b"host: trees" in head

    run(work)


@pytest.mark.parametrize("connection", [b"", b"Connection: keep-alive\r\n", b"Upgrade: h2c\r\n"])
def test_a_connection_has_one_request(connection):
    """A second one could name a visitor, since only the first head is read."""

    async def work():
        async with proxied(1) as (send, servers, _, _):
            second = GET + b"X-Real-Ip: 203.0.113.1\r\n\r\n"
            await send(GET + connection + b"\r\n" + second)
            assert len(servers[0].heads) == 1
            assert b"upgrade" not in servers[0].heads[0]

    run(work)


def test_a_refused_websocket_is_the_end_of_its_connection(monkeypatch):
    monkeypatch.setattr(sticky_proxy, "REFUSAL_TIME", 0.3)

    async def work():
        async with proxied(1) as (send, servers, _, _):
            servers[0].upgrades = False
            ask = b"GET /ws HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\n\r\n"
            answer = await send(ask + GET + b"X-Real-Ip: 203.0.113.1\r\n\r\n")
            assert answer.endswith(b"server 0")
            assert len(servers[0].heads) == 1

    run(work)


def test_a_body_arrives():
    async def work():
        async with proxied(1) as (send, _, _, _):
            body = b"x" * 300_000
            head = b"POST /login HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
            assert (await send(head + body)).endswith(b"server 0" + body)

    run(work)


def test_new_browsers_come_to_the_server_with_the_fewest_websockets():
    async def work():
        async with proxied(3) as (send, _, proxy, port):
            held = []
            for number, name in [(0, b"a"), (0, b"b"), (1, b"c")]:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                cookie = b"Cookie: %s=%d\r\n" % (COOKIE, number)
                writer.write(b"GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n" + cookie + b"\r\n")
                assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
                writer.write(name * 5)
                assert await reader.readexactly(5) == name.upper() * 5
                held.append(writer)
            assert proxy.websockets == [2, 1, 0]
            for _ in range(3):
                assert server_of(await send(GET + b"\r\n")) == 2
            for each in held:
                each.close()
            until = asyncio.get_running_loop().time() + 20
            while any(proxy.websockets):
                assert asyncio.get_running_loop().time() < until
                await asyncio.sleep(0.01)

    run(work)


@pytest.mark.parametrize(
    "head",
    [
        b"\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"get / HTTP/1.1\r\n\r\n",
        b"GET /a b HTTP/1.1\r\n\r\n",
        GET + b" folded\r\n\r\n",
        GET + b"X-Real-Ip : 1\r\n\r\n",
        GET + b"no colon\r\n\r\n",
        GET + b"a: b\nX-Real-Ip: 1\r\n\r\n",
        GET + b"a: b\rX-Real-Ip: 1\r\n\r\n",
        GET + b"a: " + b"b" * 70_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(head):
    async def work():
        async with proxied(1) as (send, servers, _, _):
            assert (await send(head)).startswith(b"HTTP/1.1 400 ")
            assert servers[0].heads == []

    run(work)


def test_a_request_that_does_not_end_is_refused(monkeypatch):
    monkeypatch.setattr(sticky_proxy, "HEAD_TIME", 0.2)

    async def work():
        async with proxied(1) as (send, _, _, _):
            assert (await send(GET)).startswith(b"HTTP/1.1 400 ")

    run(work)


def test_too_many_connections_are_refused(monkeypatch):
    monkeypatch.setattr(sticky_proxy, "MAX_CONNECTIONS", 0)

    async def work():
        async with proxied(1) as (send, _, _, _):
            assert (await send(GET + b"\r\n")).startswith(b"HTTP/1.1 503 ")

    run(work)


def test_a_cookie_follows_the_status_line():
    head = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    assert with_cookie(head, 3) == (
        b"HTTP/1.1 200 OK\r\nSet-Cookie: hcviz-process=3; Path=/; HttpOnly; SameSite=Lax\r\n"
        b"A: b\r\n\r\n"
    )


def test_the_cookie_of_another_name_is_no_server():
    def server(cookie: bytes) -> int | None:
        return RequestHead.read(GET + b"Cookie: " + cookie + b"\r\n\r\n").server

    assert server(b"x=1; hcviz-process=2") == 2
    assert server(b"my-hcviz-process=2") is None
    assert server(b"hcviz-process=2x") is None
    with pytest.raises(BadRequest):
        RequestHead.read(b"")
