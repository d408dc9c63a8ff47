"""``serve_processes``: servers behind a proxy. One that ends is started again."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from hcviz.core.errors import HcvizError, InvalidParameter
from hcviz.io.network_access import LOOPBACK, Access
from hcviz.serving.sticky_proxy import StickyProxy

#: Serves on a port of this machine, and calls the function when it listens.
ServeOne = Callable[[int, Callable[[], None]], None]
MAX_PROCESSES = 32
#: Seconds that a server has to end, and after which one that ended is started again at once.
END_TIME, LONG_TIME = 10.0, 30.0
#: Environment variables that sign sessions and logins, so that each server accepts those of others.
SECRETS = ("BOKEH_SECRET_KEY", "PANEL_COOKIE_SECRET")
_SPAWN = multiprocessing.get_context("spawn")


def serve_processes(number: int, serve_one: ServeOne, access: Access) -> None:
    """Serve with several processes until interrupted.

    Parameters
    ----------
    number
        Of servers.
    serve_one
        Runs in each process. It must be picklable.
    access
        Where the proxy listens.

    Raises
    ------
    InvalidParameter
        If the number is not 1 to ``MAX_PROCESSES``.
    HcvizError
        If the port cannot be used, or the servers cannot start.
    """
    if not 1 <= number <= MAX_PROCESSES:
        raise InvalidParameter(
            f"--processes {number} is not between 1 and {MAX_PROCESSES}.",
            "One for each core is enough.",
        )
    for name in SECRETS:
        os.environ[name] = os.environ.get(name) or secrets.token_urlsafe(32)
    os.environ.setdefault("HCVIZ_SPARES", "1")  # idle workers of each server
    asyncio.run(_Serving(number, serve_one, access).run())


@dataclass
class _Serving:
    """The proxy and its servers."""

    number: int
    serve_one: ServeOne
    access: Access
    ending: bool = False
    announced: bool = False
    processes: dict[int, SpawnProcess] = field(default_factory=dict)

    async def run(self) -> None:
        """Serve until a signal, or an error of a server that has never been reachable."""
        access = self.access
        self.proxy = StickyProxy([0] * self.number, trusted=access.proxied)
        try:
            listening = await self.proxy.listen(access.address, access.port)
        except OSError as fault:
            raise HcvizError(
                f"Port {access.port} of {access.address} cannot be used ({fault.strerror}).",
                "Choose another one with --port.",
            ) from None
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
        self.threads = ThreadPoolExecutor(self.number, "hcviz-servers")
        kept = [loop.create_task(self.keep(each)) for each in range(self.number)]
        stopped = loop.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([*kept, stopped], return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()  # raises a server's error
        finally:
            self.ending = True
            listening.close()
            await self.end(kept)
            stopped.cancel()
            self.threads.shutdown()

    async def keep(self, number: int) -> None:
        """Keep one server running.

        Raises
        ------
        HcvizError
            If it does not start.
        """
        loop = asyncio.get_running_loop()
        failures = 0
        while not self.ending:
            begun = loop.time()
            process, channel = self.start(number)
            answer = await loop.run_in_executor(self.threads, _received, channel)
            if answer is None and not self.announced:
                self.announced = True
                print(self.access.announcement, file=sys.stderr, flush=True)
            await loop.run_in_executor(self.threads, process.join)
            if self.ending:
                return
            if not self.announced or isinstance(answer, HcvizError):
                raise answer or HcvizError("The server ended before it answered.")
            failures = 0 if loop.time() - begun > LONG_TIME else failures + 1
            print(
                f"hcviz: server {number + 1} ended (exit code {process.exitcode}) and is started "
                "again.",
                file=sys.stderr,
                flush=True,
            )
            await asyncio.sleep(min(2**failures - 1, LONG_TIME))

    def start(self, number: int) -> tuple[SpawnProcess, Connection]:
        """Start a server on a free port."""
        self.proxy.ports[number] = port = _free_port()
        channel, childs = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(
            target=_serve_in_child, args=(self.serve_one, port, childs), name=f"hcviz-{number + 1}"
        )
        process.start()
        childs.close()
        self.processes[number] = process
        return process, channel

    async def end(self, kept: list[asyncio.Task[None]]) -> None:
        """End all servers, politely first."""
        for process in self.processes.values():
            process.terminate()
        _, late = await asyncio.wait(kept, timeout=END_TIME)
        if late:
            for process in self.processes.values():
                process.kill()
            await asyncio.wait(kept)


def _serve_in_child(serve_one: ServeOne, port: int, channel: Connection) -> None:
    """Run one server, and tell the parent that it listens, or why it does not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this one
    threading.Thread(target=_end_with_parent, name="hcviz-parent", daemon=True).start()
    try:
        serve_one(port, lambda: channel.send(None))
    except HcvizError as fault:
        channel.send(HcvizError(fault.message, fault.hint))


def _end_with_parent() -> None:
    """End this server when its parent has ended, also if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _received(channel: Connection) -> HcvizError | None:
    """Return what a server says when it starts; an error if it ends without a word."""
    try:
        answer: HcvizError | None = channel.recv()
        return answer
    except (EOFError, OSError):
        return HcvizError("The server ended before it answered.")
    finally:
        channel.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


__all__ = ["MAX_PROCESSES", "SECRETS", "serve_processes"]
