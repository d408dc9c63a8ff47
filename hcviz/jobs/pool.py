"""The server's side of the workers: a few warmed ones in reserve, shared by all sessions."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from hcviz.core.errors import HcvizError
from hcviz.jobs import worker
from hcviz.jobs.task import Task, untransportable
from hcviz.jobs.warming import warm_modules

#: Warmed workers kept in reserve: one to take, one for who cancels and starts again at once.
#: Where ``HCVIZ_SPARES`` is a number, so many. Each takes some 300 MB.
SPARES = int(os.environ["HCVIZ_SPARES"]) if os.environ.get("HCVIZ_SPARES", "").isdecimal() else 2

#: What a worker's interpreter runs: the server's path, so that it finds the same modules. Ctrl-C
#: at a terminal reaches the whole group, and only the server has something to say to it.
BOOT = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = sys.argv[1:]; "
    "from hcviz.jobs.worker import main; main(warm={warm})"
)

log = logging.getLogger(__name__)


class WorkerEnded(HcvizError):
    """The worker process ended before its task did."""


class Worker:
    """One worker process. ``orders`` may be given before it is ready: the pipe keeps them."""

    def __init__(self, warm: bool = True) -> None:
        path = [os.path.abspath(entry) for entry in sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-c", BOOT.format(warm=warm), *path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lock = threading.Lock()
        self.ready = threading.Event()  # set too when it ended: whoever waits need not any more

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def order(self, what: worker.Order) -> None:
        """Send an order; an ended worker is found out by reading from it, not here."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            worker.write(self._process.stdin, what)  # type: ignore[arg-type]

    def replies(self) -> Iterator[Any]:
        """What the worker says, until it ends; then :class:`WorkerEnded`."""
        assert self._process.stdout is not None
        while True:
            try:
                reply = worker.read(self._process.stdout)  # type: ignore[arg-type]
            except (EOFError, pickle.UnpicklingError, OSError, ValueError):
                self.ready.set()
                raise WorkerEnded(
                    f"The worker process ended unexpectedly ({self._how()}).",
                    "Run again; if it happens again, take fewer items or another method.",
                ) from None
            if reply == "ready":
                self.ready.set()
            else:
                yield reply

    def wait_ready(self) -> bool:
        """Read until the worker is ready; False if it ended instead."""
        if not self.ready.is_set():
            assert self._process.stdout is not None
            with contextlib.suppress(EOFError, pickle.UnpicklingError, OSError, ValueError):
                assert worker.read(self._process.stdout) == "ready"  # type: ignore[arg-type]
            self.ready.set()
        return self.alive

    def end(self) -> None:
        """Kill it and take its remains away; may be called twice, and from any thread."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()

    def _how(self) -> str:
        code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
            return f"{name}, perhaps out of memory" if name == "SIGKILL" else name
        return f"signal {-code}"


class Pool:
    """Workers in reserve. A server has one pool; the sessions' runners share it."""

    def __init__(self, spares: int = SPARES, warm: bool = True) -> None:
        self._spares = spares
        self._warm = warm
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._out: set[Worker] = set()
        self._filler: threading.Thread | None = None
        self._closed = False
        atexit.register(self.close)

    def take(self) -> Worker:
        """A worker, warmed if one is in reserve; an empty reserve is filled behind the scenes."""
        with self._lock:
            if self._closed:
                raise HcvizError("The server is shutting down.")
            while self._idle:
                found = self._idle.pop(0)
                if found.alive:
                    break
            else:
                found = Worker(self._warm)
            self._out.add(found)
            empty = not self._idle
        if empty:
            self.fill()
        return found

    def give_back(self, used: Worker) -> None:
        """Put a worker back that has done its task, or take an ended one's remains away."""
        with self._lock:
            self._out.discard(used)
            keep = used.alive and not self._closed and len(self._idle) < self._spares
            if keep:
                self._idle.append(used)
        if not keep:
            used.end()
        self.fill()

    def fill(self, wait: bool = False) -> None:
        """See to it that the reserve is full, in a thread; one worker starts at a time."""
        with self._lock:
            if self._filler is None and not self._closed:
                self._filler = threading.Thread(target=self._fill, name="hcviz-pool", daemon=True)
                self._filler.start()
            filler = self._filler
        if wait and filler is not None:
            filler.join()

    def _fill(self) -> None:
        while True:
            with self._lock:
                self._idle = [w for w in self._idle if w.alive]
                if self._closed or len(self._idle) >= self._spares:
                    self._filler = None
                    return
                fresh = Worker(self._warm)
                self._out.add(fresh)
            usable = fresh.wait_ready()
            with self._lock:
                self._out.discard(fresh)
                if usable and not self._closed:
                    self._idle.append(fresh)
                    continue
                self._filler = None
            fresh.end()
            if not self._closed:
                log.error("A worker process could not start; it is started when next needed.")
            return

    def pids(self) -> list[int]:
        """The workers that are there: those in reserve, then those at work."""
        with self._lock:
            return [w.pid for w in (*self._idle, *self._out)]

    def close(self) -> None:
        """End every worker. Nothing is started afterwards."""
        with self._lock:
            self._closed = True
            every = (*self._idle, *self._out)
            self._idle, self._out = [], set()
        for one in every:
            one.end()


POOL = Pool()


def send(found: Worker, task: Task) -> None:
    """Give a worker its task; :class:`InvalidData` if the task cannot be pickled."""
    try:
        data = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as fault:
        raise untransportable(fault) from fault
    found.order((task.run, data))


_warming: threading.Thread | None = None


def warm(wait: bool = False) -> None:
    """At a server's start: fill the pool and compile the kernels, in the background, once.

    The workers go first: what they compile goes to the cache on disk, from which this process then
    only loads it, so that the compiler never holds the page up.
    """
    global _warming

    def work() -> None:
        POOL.fill(wait=True)
        warm_modules()

    if _warming is None:
        _warming = threading.Thread(target=work, name="hcviz-warm", daemon=True)
        _warming.start()
    if wait:
        _warming.join()
