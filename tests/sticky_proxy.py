"""A small proxy before several servers: a cookie keeps each browser with one of them.

It stands for the proxies that ``docs/reliability.md`` shows, in the tests.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from collections.abc import Sequence

from tests.ports import free_port

COOKIE = b"hcviz-process"


class StickyProxy:
    """It listens on ``port`` until :meth:`stop`. A server that does not listen is passed over."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports, self.port = list(ports), free_port()
        self.turns = itertools.cycle(range(len(ports)))
        self.loop = asyncio.new_event_loop()
        begun = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(begun,), daemon=True)
        self.thread.start()
        begun.wait()

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self.cancel(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def cancel(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def run(self, begun: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(
            asyncio.start_server(self.serve, "127.0.0.1", self.port, limit=2**20)
        )
        begun.set()
        self.loop.run_forever()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"\b" + COOKIE + rb"=(\d+)", head)
            wanted = int(found[1]) if found else next(self.turns)
            number, upstream, down = await self.connect(wanted)
            down.write(head)
            cookie = None if found and wanted == number else number
            await asyncio.gather(self.forward(reader, down), self.forward(upstream, writer, cookie))
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def connect(self, wanted: int) -> tuple[int, asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the wanted server, or to the next one that listens."""
        for number in itertools.chain(range(wanted, len(self.ports)), range(wanted)):
            try:
                return number, *await asyncio.open_connection("127.0.0.1", self.ports[number])
            except OSError:
                continue
        raise OSError("no server listens")

    async def forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int | None = None
    ) -> None:
        """Copy bytes until the end. The first answer sets the cookie, if ``number`` is given."""
        try:
            if number is not None:
                status = await reader.readline()
                cookie = b"Set-Cookie: %s=%d; Path=/; HttpOnly\r\n" % (COOKIE, number)
                writer.write(status + cookie)
            while found := await reader.read(2**16):
                writer.write(found)
                await writer.drain()
        finally:
            writer.close()
