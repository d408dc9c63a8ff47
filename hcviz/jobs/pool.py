"""A pool of warm worker processes, shared by all sessions of a server."""

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
import time
from collections.abc import Iterator
from typing import Any

from hcviz.core.errors import HcvizError
from hcviz.jobs import worker
from hcviz.jobs.fair_share import LINE
from hcviz.jobs.task import Task, unpicklable_error

#: Number of warm workers in reserve: one for the next run, one for a run after a quick cancel.
#: The environment variable ``HCVIZ_SPARES`` overrides it. Each worker takes about 300 MB.
SPARES = int(os.environ["HCVIZ_SPARES"]) if os.environ.get("HCVIZ_SPARES", "").isdecimal() else 2
#: Number of workers at most, unless more jobs run at the same time.
MAX_WORKERS = max(SPARES + 2, LINE.places + 1)

#: The program of a worker. It uses the server's path, so that it finds the same modules. It
#: ignores Ctrl-C, which a terminal sends to the whole process group; the server handles it.
BOOT = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = sys.argv[1:]; "
    "from hcviz.jobs.{module} import main; main({options})"
)

log = logging.getLogger(__name__)


class WorkerEnded(HcvizError):
    """The worker process ended before its task."""


class Worker:
    """A worker process. Orders may be sent before it is ready; the pipe stores them.

    ``module`` of ``hcviz.jobs`` has its program, ``options`` are the arguments of its ``main``.
    """

    def __init__(self, warm: bool = True, module: str = "worker", **options: Any) -> None:
        path = [os.path.abspath(entry) for entry in sys.path]
        given = ", ".join(f"{name}={value!r}" for name, value in {"warm": warm, **options}.items())
        self._process = subprocess.Popen(
            [sys.executable, "-c", BOOT.format(module=module, options=given), *path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lock = threading.Lock()
        self.has_started = False  # it was ready once
        self.ready_at = 0.0  # time.perf_counter() when it was
        self.ready = threading.Event()  # also set when the process ends, to release waiting threads

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True if the process runs."""
        return self._process.poll() is None

    def order(self, what: Any) -> None:
        """Send an order. If the process has ended, :meth:`replies` reports it."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            worker.write(self._process.stdin, what)  # type: ignore[arg-type]

    def replies(self) -> Iterator[Any]:
        """Yield the worker's replies.

        Raises
        ------
        WorkerEnded
            When the process ends.
        """
        assert self._process.stdout is not None
        while True:
            try:
                reply = worker.read(self._process.stdout)  # type: ignore[arg-type]
            except (EOFError, pickle.UnpicklingError, OSError, ValueError):
                self.ready.set()
                raise WorkerEnded(
                    f"The worker process ended unexpectedly ({self._exit_reason()}).",
                    "Run again; if it happens again, take fewer items or another method.",
                ) from None
            if reply == "ready":
                self.has_started = True
                self.ready_at = time.perf_counter()
                self.ready.set()
            else:
                yield reply

    def wait_ready(self) -> bool:
        """Wait until the worker is ready; return False if it ended instead."""
        if not self.ready.is_set():
            assert self._process.stdout is not None
            with contextlib.suppress(EOFError, pickle.UnpicklingError, OSError, ValueError):
                assert worker.read(self._process.stdout) == "ready"  # type: ignore[arg-type]
            self.ready.set()
        return self.alive

    def end(self) -> None:
        """Kill the process and wait for its end. May be called twice, from any thread."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()

    def _exit_reason(self) -> str:
        """Return the exit code or signal as text."""
        code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
            return f"{name}, perhaps out of memory" if name == "SIGKILL" else name
        return f"signal {-code}"


class Pool:
    """Worker processes in reserve. A server has one pool for all sessions."""

    def __init__(self, spares: int = SPARES, warm: bool = True, limit: int = MAX_WORKERS) -> None:
        self._spares = spares
        self._limit = limit
        self._warm = warm
        #: Modules whose kernels a worker compiles before the others.
        self.warm_first: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self.reserve: list[Worker] = []
        self._busy: set[Worker] = set()
        self._filler: threading.Thread | None = None
        self._closed = False
        atexit.register(self.close)

    @property
    def has_room(self) -> bool:
        """True if there may be one more busy worker: then a paused job may keep its own."""
        starting = self._filler is not None  # for the reserve
        return len(self._busy) - starting < self._limit

    def take(self) -> Worker:
        """Return a worker from the reserve, or a new one. An empty reserve is refilled."""
        with self._lock:
            if self._closed:
                raise HcvizError("The server is shutting down.")
            while self.reserve:
                found = self.reserve.pop(0)
                if found.alive:
                    break
            else:
                found = self._new_worker()
            self._busy.add(found)
            empty = not self.reserve
        if empty:
            self.fill()
        return found

    def _new_worker(self) -> Worker:
        return Worker(self._warm, first=self.warm_first)

    @property
    def _lacks_spare(self) -> bool:
        spares = min(self._spares, self._limit - len(self._busy))
        return len(self.reserve) < spares

    def give_back(self, used: Worker) -> None:
        """Return a worker after its task. An ended worker is removed."""
        with self._lock:
            self._busy.discard(used)
            lacks = self._lacks_spare or not self.reserve  # one that has started is kept
            keep = used.alive and not self._closed and lacks
            if keep:
                self.reserve.append(used)
        if not keep:
            used.end()
        self.fill()

    def fill(self, wait: bool = False) -> None:
        """Fill the reserve on a thread, one worker at a time."""
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
                self.reserve = [w for w in self.reserve if w.alive]
                if self._closed or not self._lacks_spare:
                    self._filler = None
                    return
                fresh = self._new_worker()
                self._busy.add(fresh)
            usable = fresh.wait_ready()
            with self._lock:
                self._busy.discard(fresh)
                if usable and not self._closed:
                    self.reserve.append(fresh)
                    continue
                self._filler = None
            fresh.end()
            if not self._closed:
                log.error("A worker process could not start; it is started when next needed.")
            return

    def pids(self) -> list[int]:
        """Return the process ids of the workers: reserve first, then busy ones."""
        with self._lock:
            return [w.pid for w in (*self.reserve, *self._busy)]

    def close(self) -> None:
        """End all workers. No worker starts afterwards."""
        with self._lock:
            self._closed = True
            every = (*self.reserve, *self._busy)
            self.reserve, self._busy = [], set()
        for one in every:
            one.end()


POOL = Pool()


def send(found: Worker, task: Task) -> None:
    """Send a task to a worker.

    Raises
    ------
    InvalidData
        If the task cannot be pickled.
    """
    try:
        data = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as fault:
        raise unpicklable_error(fault) from fault
    found.order((task.run, data))
