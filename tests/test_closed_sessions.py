"""A session that was closed leaves nothing in the server's memory. Real server, real sockets."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.conftest import ROOT
from tests.ports import free_port

#: Opened and closed one after the other.
SESSIONS = 6
#: Seconds until the last is discarded (3 + 0.5 by the server's options), or the server answers, at
#: a loaded machine.
PATIENCE = 60.0


class Census:
    """A server, and what is alive in its process."""

    def __init__(self, folder: Path) -> None:
        self.port, self.file = free_port(), folder / "census.json"
        environment = os.environ | {
            "HCVIZ_CENSUS": str(self.file), "HCVIZ_STATE": str(folder / "state"),
        }  # fmt: skip
        self.log = folder / "server.log"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "panel", "serve", str(ROOT / "tests" / "census_app.py"),
             "--port", str(self.port), "--address", "127.0.0.1",
             "--allow-websocket-origin", f"127.0.0.1:{self.port}",
             "--unused-session-lifetime", "3000", "--check-unused-sessions", "500"],
            cwd=ROOT, env=environment | {"PYTHONPATH": str(ROOT)},
            stdout=self.log.open("wb"), stderr=subprocess.STDOUT,
        )  # fmt: skip

    def count(self) -> dict[str, Any]:
        self.file.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + 60
        while not self.file.exists():
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.05)
        found: dict[str, Any] = json.loads(self.file.read_text())
        return found

    def fetch(self, query: str = "") -> str:
        address = f"http://127.0.0.1:{self.port}/census_app{query}"
        with urllib.request.urlopen(address, timeout=60) as reply:
            page: str = reply.read().decode()
        return page

    async def visit(self, query: str, seconds: float) -> None:
        """What a browser does: fetch the page, pull the document, say that it is drawn, go."""
        page = await asyncio.to_thread(self.fetch, query)
        token = re.search(r'"token":"([^"]+)"', page)
        assert token is not None
        socket = await websocket_connect(
            HTTPRequest(
                f"ws://127.0.0.1:{self.port}/census_app/ws",
                connect_timeout=PATIENCE, request_timeout=PATIENCE,
            ),
            subprotocols=["bokeh", token[1]], max_message_size=2**30,
        )  # fmt: skip
        for _part in ("header", "metadata", "content of ACK"):
            assert await socket.read_message() is not None
        await send(socket, "PULL-DOC-REQ", {})
        while '"doc"' not in str(part := await socket.read_message())[:20]:
            assert part is not None
        drawn = {"type": "event", "name": "document_ready", "values": {"type": "map"}}
        event = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": drawn}
        await send(socket, "PATCH-DOC", {"events": [event]})
        reading = asyncio.ensure_future(drain(socket))
        await asyncio.sleep(seconds)
        socket.close()
        await reading


async def drain(socket: WebSocketClientConnection) -> None:
    while await socket.read_message() is not None:
        pass


async def send(socket: WebSocketClientConnection, kind: str, content: dict[str, Any]) -> None:
    for part in ({"msgid": uuid.uuid4().hex, "msgtype": kind}, {}, content):
        await socket.write_message(json.dumps(part))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Census]:
    made = Census(tmp_path)
    try:
        until = time.monotonic() + 180
        while True:
            try:
                made.fetch("?method=average")  # discarded as the others are
                break
            except OSError:
                assert made.process.poll() is None, made.log.read_text()
                assert time.monotonic() < until, made.log.read_text()
                time.sleep(0.2)
        yield made
    finally:
        made.process.terminate()
        made.process.wait(PATIENCE)


def test_closed_sessions_leave_nothing_behind(server: Census) -> None:
    """Half of them are closed while the sampler is at work, half when a linkage has finished."""

    async def visits() -> None:
        for number in range(SESSIONS):
            await server.visit("?method=ddt" if number % 2 else "?method=average", 0.3)

    asyncio.run(visits())
    until = time.monotonic() + PATIENCE
    while (found := server.count())["alive"] or found["frozen"]:
        assert time.monotonic() < until, found
        time.sleep(1)
