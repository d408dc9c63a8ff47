"""A page that a real server of this process serves, and a real client that shows it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import panel as pn
from bokeh.client import ClientSession, pull_session
from bokeh.document import Document

from tests.ports import free_port


class Served:
    """One browser session: ``client`` is the browser's side, ``document`` the server's."""

    def __init__(self, server: Any, loop: asyncio.AbstractEventLoop, url: str) -> None:
        self._server, self.loop = server, loop
        self.client: ClientSession = pull_session(url=url)

    @property
    def session(self) -> Any:
        """The server's session."""
        (found,) = self._server.get_sessions("/")
        return found

    @property
    def document(self) -> Document:
        return self.session.document

    def locked(self, call: Callable[[], Any]) -> Any:
        """Call on the server's thread, with the document's lock, and wait until it is released."""

        async def work() -> Any:
            return await self.session.with_document_locked(call)

        return asyncio.run_coroutine_threadsafe(work(), self.loop).result(30)

    def on_thread(self, call: Callable[[], Any]) -> Any:
        """Call on the server's thread, without the lock."""
        done: Future[Any] = Future()
        self.loop.call_soon_threadsafe(lambda: done.set_result(call()))
        return done.result(30)


@contextmanager
def served(make: Callable[[], Any]) -> Iterator[Served]:
    """Serve what ``make`` returns, and show it to a client."""
    port, started, loop = free_port(), threading.Event(), asyncio.new_event_loop()
    found: list[Any] = []

    def run() -> None:
        asyncio.set_event_loop(loop)

        async def start() -> None:
            server = pn.serve(
                {"/": make}, port=port, address="127.0.0.1", start=False, show=False, verbose=False,
                websocket_origin=f"127.0.0.1:{port}",
            )  # fmt: skip
            server.start()
            found.append(server)
            started.set()

        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=run, name="served", daemon=True)
    thread.start()
    assert started.wait(30)
    page = Served(found[0], loop, f"http://127.0.0.1:{port}/")
    try:
        yield page
    finally:
        page.client.close()
        loop.call_soon_threadsafe(found[0].stop)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
