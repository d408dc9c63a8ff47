"""``Client``: a browser session without a browser, for :mod:`load`. It speaks Bokeh's protocol.

It fetches the page, pulls its document, and confirms each tree that it gets after the time that a
browser takes to draw one (``DrawConfirmation``). It clicks on names of items and presses keys.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import numpy as np
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httputil import HTTPHeaders
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    websocket_connect,
)

#: Seconds that a browser takes to draw a tree, and waits before it confirms it.
DRAWING = 0.06
#: Seconds after which the server counts as broken.
PATIENCE = 120.0


class Client:
    """One session. Use ``async with Client(...)``, which opens the page and closes it."""

    def __init__(self, port: int, query: dict[str, str] | None = None, code: str = "") -> None:
        self._code, self._cookie = code, ""
        self._place = f"127.0.0.1:{port}"
        self._query = urlencode(query or {})
        self._models: dict[str, dict[str, Any]] = {}
        self._by_name: dict[str, str] = {}
        self._changed = asyncio.Event()
        #: Seconds until the page and a first tree have arrived.
        self.opened = 0.0
        #: Numbers of answered clicks, of messages and of trees.
        self.answered = self.messages = self.trees = 0
        #: Number of the run of the newest tree.
        self.run_of_tree = -1
        self._drawn = 0
        self._confirming: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Client:
        if self._code:
            await self._log_in()
        began = time.perf_counter()
        page = await AsyncHTTPClient().fetch(
            HTTPRequest(
                f"http://{self._place}/?{self._query}", headers={"Cookie": self._cookie},
                request_timeout=PATIENCE,
            )
        )  # fmt: skip
        token = re.search(r'"token":"([^"]+)"', page.body.decode())
        assert token is not None
        cookies = filter(None, [self._cookie, *_cookies(page.headers)])
        self._socket: WebSocketClientConnection = await websocket_connect(
            HTTPRequest(
                f"ws://{self._place}/ws?{self._query}",
                headers={"Cookie": "; ".join(cookies)},
                connect_timeout=PATIENCE, request_timeout=PATIENCE,
            ),
            subprotocols=["bokeh", token[1]], max_message_size=2**30,
        )  # fmt: skip
        await self._receive()  # ACK
        await self._send("PULL-DOC-REQ", {})
        content: dict[str, Any] = {}
        while "doc" not in content:
            content = (await self._receive())[1]
        self._read_models(content["doc"]["roots"])
        self._reading = asyncio.ensure_future(self._read())
        ready = {"type": "event", "name": "document_ready", "values": {"type": "map"}}
        await self._event(ready)
        await self.until(lambda: self.tree_shown)
        self.opened = time.perf_counter() - began
        return self

    async def _log_in(self) -> None:
        """Type the code of a class, and keep the cookie of the login."""
        request = HTTPRequest(
            f"http://{self._place}/login", "POST", body=urlencode({"password": self._code}),
            follow_redirects=False, request_timeout=PATIENCE,
        )  # fmt: skip
        answer = await AsyncHTTPClient().fetch(request, raise_error=False)
        self._cookie = "; ".join(each for each in _cookies(answer.headers) if "user=" in each)

    async def __aexit__(self, *_: object) -> None:
        self._socket.close()
        await self._reading

    # ------------------------------------------------------------------ what the page shows

    @property
    def tree_shown(self) -> bool:
        """True if the page shows a tree."""
        return len(self.rows()) > 2

    @property
    def status(self) -> str:
        """The text of the run's status."""
        return str(self._live().get("text", ""))

    @property
    def run(self) -> int:
        """The number of the newest run."""
        return int(self._live().get("run", -1))

    @property
    def constraints(self) -> int:
        """The number of constraints in the list."""
        return len(self._state("ConstraintsPanel")["items"])

    @property
    def class_answers(self) -> int:
        """The number of answers in the list of students on a teacher's page."""
        return sum(each["answers"] for each in self._state("Sheet_classroom")["students"])

    def rows(self) -> dict[str, tuple[float, float]]:
        """Return where the name of each item is: name -> (x, y)."""
        data = dict(self._models[self._by_name["label-text"]]["data"].get("entries", ()))
        if "text" not in data:
            return {}
        names, x, y = (_array(data[key]) for key in ("text", "x", "y"))
        return {str(n): (float(a), float(b)) for n, a, b in zip(names, x, y, strict=True)}

    def _live(self) -> dict[str, Any]:
        return self._part("TopBar", "live")

    def _state(self, part: str) -> dict[str, Any]:
        return self._part(part, "state")

    def _part(self, part: str, name: str) -> dict[str, Any]:
        """Return what a part of the page shows, which is sent as JSON text."""
        data = self._models[str(self._models[self._by_name[part]]["data"]["id"])]
        found: dict[str, Any] = json.loads(data[name])
        return found

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the page shows something.

        Raises
        ------
        TimeoutError
            If it does not within :data:`PATIENCE` seconds.
        """
        async with asyncio.timeout(PATIENCE):
            while not condition():
                if self._reading.done():
                    raise ConnectionError("The server has closed the connection.")
                self._changed.clear()
                await self._changed.wait()

    # ------------------------------------------------------------------ what a person does

    async def press(self, key: str) -> None:
        """Press a key."""
        await self._part_event("Shell", {"act": "key", "key": key})

    async def click(self, name: str) -> float:
        """Click on the name of an item; return the seconds until the server's answer."""
        x, y = self.rows()[name]
        before, began = self.answered, time.perf_counter()
        where = [["sx", 10.0], ["sy", 10.0], ["x", x], ["y", y]]
        keys = {"type": "map", "entries": [["shift", False], ["ctrl", False], ["alt", False]]}
        entries = [["model", {"id": self._by_name["labels"]}], *where, ["modifiers", keys]]
        await self._event(
            {"type": "event", "name": "tap", "values": {"type": "map", "entries": entries}}
        )
        await self.until(lambda: self.answered > before)
        return time.perf_counter() - began

    # ------------------------------------------------------------------ the protocol

    async def _send(self, kind: str, content: dict[str, Any]) -> None:
        parts = ({"msgid": uuid.uuid4().hex, "msgtype": kind}, {}, content)
        with contextlib.suppress(WebSocketClosedError):
            # All are queued before the first is awaited, since two messages must not mix.
            await asyncio.gather(*[self._socket.write_message(json.dumps(part)) for part in parts])

    async def _event(self, event: dict[str, Any]) -> None:
        sent = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}
        await self._send("PATCH-DOC", {"events": [sent]})

    async def _part_event(self, part: str, message: dict[str, Any]) -> None:
        data = {"type": "map", "entries": [list(pair) for pair in message.items()]}
        entries = [["model", {"id": self._by_name[part]}], ["data", data]]
        await self._event(
            {"type": "event", "name": "data_event", "values": {"type": "map", "entries": entries}}
        )

    async def _receive(self) -> tuple[str, dict[str, Any]]:
        """Return kind and content of the next message, its buffers in their places."""
        header = json.loads(await self._frame())
        await self._frame()
        text = await self._frame()
        buffers = {}
        for _ in range(header.get("num_buffers", 0)):
            name = json.loads(await self._frame())["id"]
            buffers[name] = await self._frame()

        def filled(found: dict[str, Any]) -> Any:
            if found.get("type") == "bytes" and isinstance(found["data"], dict):
                return {"type": "bytes", "data": buffers[found["data"]["id"]]}
            return found

        return header["msgtype"], json.loads(text, object_hook=filled)

    async def _frame(self) -> Any:
        found = await self._socket.read_message()
        if found is None:
            raise ConnectionError
        return found

    async def _read(self) -> None:
        try:
            while True:
                kind, content = await self._receive()
                self.messages += 1
                if kind == "PATCH-DOC":
                    self._take(content["events"])
                self._changed.set()
        except ConnectionError:
            self._changed.set()

    def _take(self, events: list[dict[str, Any]]) -> None:
        """Apply the changes of one message."""
        fresh = False
        for event in events:
            if event["kind"] == "ModelChanged":
                value = event["new"]
            elif event["kind"] == "ColumnDataChanged" and event["cols"] is None:
                value = event["data"]
            else:
                continue
            self._read_models(value)
            model, name = event["model"]["id"], event["attr"]
            self._models.setdefault(model, {})[name] = value
            if model == self._by_name["click-answer"]:
                self.answered += 1
            fresh = fresh or (model == self._by_name["tree-lines"] and name == "data")
        if fresh:
            self.trees += 1
            self.run_of_tree = self.run
            asyncio.get_running_loop().call_later(DRAWING, self._confirm)

    def _confirm(self) -> None:
        self._drawn += 1
        data = {"type": "map", "entries": [["count", [self._drawn]]]}
        change = {
            "kind": "ModelChanged", "model": {"id": self._by_name["drawn"]}, "attr": "data",
            "new": data,
        }  # fmt: skip
        if not self._reading.done():
            self._confirming = asyncio.ensure_future(self._send("PATCH-DOC", {"events": [change]}))

    def _read_models(self, content: Any) -> None:
        """Note each model below ``content``, by id, and some by name."""
        for model in _models_in(content):
            attributes, kind = model.get("attributes", {}), model["name"]
            self._models[model["id"]] = attributes
            if isinstance(attributes.get("name"), str) and kind in ("ColumnDataSource", "Figure"):
                self._by_name[attributes["name"]] = model["id"]
            elif kind == "panel.models.esm.ReactiveESM":
                self._by_name[attributes["class_name"]] = model["id"]
            elif kind == "CustomJS" and "isInNotebook(answer.document)" in attributes["code"]:
                self._by_name["drawn"] = dict(attributes["args"]["entries"])["answer"]["id"]


def _models_in(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, dict):
        if content.get("type") == "object" and "id" in content:
            yield content
        for value in content.values():
            yield from _models_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from _models_in(value)


def _cookies(headers: HTTPHeaders) -> list[str]:
    """Return the cookies that an answer sets, without their attributes."""
    return [each.partition(";")[0] for each in headers.get_list("Set-Cookie")]


def _array(sent: Any) -> Any:
    """Return an array as Bokeh sends it: a list, or bytes with a type and a shape."""
    if isinstance(sent, list):
        return sent
    content = sent["array"]
    if sent["dtype"] == "object" or isinstance(content, list):
        return content
    return np.frombuffer(content["data"], sent["dtype"])


if __name__ == "__main__":  # `make bench` runs every file of this folder
    print(Client.__name__, "is used by load.py.")
